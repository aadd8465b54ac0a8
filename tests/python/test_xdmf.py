# SPDX-License-Identifier: BSD-3-Clause
"""neve.xdmf: what is read where the source is missing, refused names, what it says. What viewers
read there: tests/cli/test_paraview.py.
"""

from xml.etree import ElementTree

import h5py
import numpy as np
import pytest

import neve
from neve import xdmf


def write_steps(path, *names):
    with h5py.File(path, "w") as file:
        for name in names:
            values = np.arange(24).reshape(2, 3, 4).astype(name)
            file.create_dataset(name, data=values, maxshape=(None, 3, 4))


def test_without_its_source_each_type_has_a_value_of_its_own(tmp_path):
    write_steps(tmp_path / "x.h5", "f4", "f8", "i2", "u1")
    xdmf.describe(tmp_path / "x.h5", tmp_path / "x.xdmf")
    (tmp_path / "x.h5").unlink()
    with h5py.File(tmp_path / "x.steps.h5") as file:
        assert np.isnan(file["f4/0"][()]).all() and np.isnan(file["f8/1"][()]).all()
        assert (file["i2/0"][()] == -32768).all() and (file["u1/0"][()] == 255).all()


def test_names_that_xdmf_cannot_have_are_refused(tmp_path):
    write_steps(tmp_path / "x.h5", "f4")
    with pytest.raises(neve.Error, match="cannot name a:b.steps.h5 .* name OUT so"):
        xdmf.describe(tmp_path / "x.h5", tmp_path / "a:b.xdmf")
    np.save(tmp_path / "a|b.npy", np.zeros((2, 3)))
    with pytest.raises(neve.Error, match=r"a\|b.npy: XDMF cannot name this file.*rename it"):
        xdmf.describe(tmp_path / "a|b.npy", tmp_path / "x.xdmf")


def test_a_source_elsewhere_has_to_keep_its_place(tmp_path):
    (tmp_path / "in").mkdir()
    write_steps(tmp_path / "in" / "x.h5", "f4")
    said = xdmf.describe(tmp_path / "in" / "x.h5", tmp_path / "x.xdmf").text()
    assert "looks for at in/x.h5: keep that relative place" in said
    assert "x.steps.h5 names its values" in said


def test_curvilinear_grids_are_told_and_bounds_left_out(tmp_path):
    with h5py.File(tmp_path / "nemo.h5", "w") as file:
        for name in ("sst", "nav_lat", "nav_lon"):
            file[name] = np.arange(12.0).reshape(3, 4)
        file["nav_lat"].attrs["bounds"] = "lat_bounds"
        file["lat_bounds"] = np.zeros((3, 4, 4))
        file["sst"].attrs["coordinates"] = "nav_lat nav_lon not_there"
    report = xdmf.describe(tmp_path / "nemo.h5", tmp_path / "nemo.xdmf")
    assert report.by_index == {"sst": ["nav_lat", "nav_lon"]}
    assert "sst: shown by index, as the grid is curvilinear: nav_lat, nav_lon" in report.text()
    assert list(report.left_out) == ["lat_bounds"]


def npy(path, shape, values=64):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    size = len(header).to_bytes(2, "little")
    path.write_bytes(b"\x93NUMPY\x01\0" + size + header + b"\0" * values)


@pytest.mark.parametrize(
    ("shape", "code", "said"),
    [
        ((2**33,), 2, "axes of up to 8589934592 points"),
        ((2**31, 2, 2, 2), 2, "2147483648 time steps"),
        ((-4,), 2, "no values"),
        ((100, 100), 4, "64 bytes of values; shape (100, 100) of float64 needs 80000"),
    ],
)
def test_an_array_that_has_not_what_it_says_is_refused(tmp_path, shape, code, said):
    npy(tmp_path / "x.npy", shape)
    with pytest.raises(neve.Error) as refused:
        xdmf.describe(tmp_path / "x.npy", tmp_path / "x.xdmf")
    assert refused.value.code == code and said in str(refused.value)
    assert not (tmp_path / "x.xdmf").exists()


def test_what_cannot_be_shown_is_left_out_and_told(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["shown"] = np.ones((4, 4))
        file["a\x01b"] = np.ones((4, 4))
        file.create_dataset("endless", (2**33,), "f4", chunks=(1024,))
        file["odd"] = np.ones((4, 4))
        file["odd"].attrs["scale_factor"] = np.zeros(0)
        file["y"] = np.arange(4.0)
        file["y"].make_scale("y")
        file["y"].attrs["NAME"] = "y"  # of variable length, as h5py writes it
        file["shown"].dims[0].attach_scale(file["y"])
    report = xdmf.describe(tmp_path / "x.h5", tmp_path / "x.xdmf")
    assert sorted(report.variables) == ["odd (packed)", "shown"]
    assert "XML" in report.left_out["a\x01b"]
    assert "8589934592 points" in report.left_out["endless"]
    ElementTree.parse(tmp_path / "x.xdmf")


def test_a_file_with_a_user_block(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w", userblock_size=512) as file:
        file["shown"] = np.ones((4, 4))
    assert xdmf.describe(tmp_path / "x.h5", tmp_path / "x.xdmf").variables == ["shown"]
