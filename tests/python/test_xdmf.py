# SPDX-License-Identifier: BSD-3-Clause
"""neve.xdmf: what is read where the source is missing, refused names, what it says. What viewers
read there: tests/cli/test_paraview.py.
"""

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
