# SPDX-License-Identifier: BSD-3-Clause
"""Fields on a grid of one resolution: the files hold what the boxes hold."""

from __future__ import annotations

import os

import h5py
import numpy as np
import pytest
import small_amr

import neve
from neve.export import export, main


@pytest.fixture(params=(1, 2, 3))
def file(request, tmp_path):
    path = small_amr.write(tmp_path / "a.h5", request.param, "<f4" if request.param == 2 else "<f8")
    with neve.open(path) as opened:
        yield opened


@pytest.fixture(params=(1 << 27, 300))
def part_bytes(request, monkeypatch):
    """Files are written whole, and layer by layer."""
    monkeypatch.setattr("neve.export._region.PART_BYTES", request.param)


@pytest.mark.parametrize("level", (0, 1))
@pytest.mark.parametrize("order", "FC")
def test_an_array_of_the_whole_domain(file, tmp_path, part_bytes, level, order):
    out = tmp_path / "out.npy"
    told = export(file.path, out, "a", level=level, order=order)
    found = np.load(out)
    assert found.dtype == file.dtype
    assert found.flags.f_contiguous if order == "F" else found.flags.c_contiguous
    np.testing.assert_array_equal(found, file[level]["a"].composite())
    assert f"order {order}" in told and f"of level {level}" in told


def test_the_finer_level_counts_where_it_is(tmp_path):
    """By the definition, without Neve's reader."""
    path = small_amr.write(tmp_path / "a.h5", 2)
    export(path, tmp_path / "a.npy", "a", level=1)
    values = np.load(tmp_path / "a.npy")
    for i in range(16):
        for j in range(16):
            cell = (i - 4, j + 6)
            inside = 0 <= cell[0] <= 7 and 10 <= cell[1] <= 15
            level, index = (1, cell) if inside else (0, (cell[0] // 2, cell[1] // 2))
            assert values[i, j] == small_amr.value(level, tuple(map(np.asarray, index)))
    export(path, tmp_path / "b.npy", "a")
    fine = values[4:12, 4:10].reshape(4, 2, 3, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(np.load(tmp_path / "b.npy")[2:6, 2:5], fine, rtol=1e-15)


def test_cells_and_coordinates(tmp_path):
    path = small_amr.write(tmp_path / "a.h5", 2)
    out = tmp_path / "a.npy"
    export(path, out, "a", level=1)
    whole = np.load(out)
    for keywords, part in (
        ({"lo": (-3, 7), "hi": (5, 9), "cells": True}, np.s_[1:10, 1:4]),
        ({"lo": (-0.5, 10.5), "hi": (0.3, 10.75)}, np.s_[2:6, 4:6]),
        ({"lo": (-1, 10), "hi": (3, 12)}, np.s_[:, :]),
        ({"hi": (-0.9, 10.01)}, np.s_[:1, :1]),
        ({"lo": (2.99, 11.99)}, np.s_[15:, 15:]),
        ({"lo": (-1, 10.6), "hi": (3, 10.6)}, np.s_[:, 4:5]),
        ({"lo": (-1, 12), "hi": (3, 12)}, np.s_[:, 15:]),
    ):
        export(path, out, "a", level=1, **keywords)
        np.testing.assert_array_equal(np.load(out), whole[part], err_msg=str(keywords))


def test_several_fields_with_coordinates(file, tmp_path, part_bytes):
    out = tmp_path / "out.nc"
    export(file.path, out, level=1)
    with h5py.File(out) as grid:
        assert list(grid) == [*"xyz"[: file.dims], "a", "b"]
        for name in "ab":
            assert [d[0].name for d in grid[name].dims] == [f"/{n}" for n in "zyx"[3 - file.dims :]]
            np.testing.assert_array_equal(grid[name][()].T, file[1][name].composite())
        low = small_amr.PROB_LO[0]
        np.testing.assert_allclose(grid["x"][()], low + 0.25 * (np.arange(16) + 0.5))
        assert grid.attrs["time"] == 0.25


def test_other_tools_read_it(tmp_path):
    netCDF4 = pytest.importorskip("netCDF4")
    path = small_amr.write(tmp_path / "a.h5", 3)
    out = tmp_path / "out.nc"
    export(path, out, "a", lo=(-1, 10, 0.5), hi=(1, 12, 3.5))
    with netCDF4.Dataset(out) as grid, neve.open(path) as file:
        assert grid["a"].dimensions == ("z", "y", "x")
        np.testing.assert_array_equal(grid["z"][:], [1, 2, 3])
        np.testing.assert_array_equal(grid["a"][:].T, file[0]["a"].composite()[:4, :, :3])


def test_cells_that_no_level_has_are_nan_and_told(tmp_path, capsys):
    path = small_amr.write(tmp_path / "a.h5", 2)
    with h5py.File(path, "r+") as file:
        group = file["level_0"]
        boxes = group["boxes"][()][:1]
        del group["boxes"]
        group["boxes"] = boxes
    out = tmp_path / "a.npy"
    assert main([str(path), str(out), "--field", "a"]) == 0
    values = np.load(out)
    # Under the finer box its mean is there; its left half lies over the box that is left.
    assert np.isnan(values).sum() == 4 * 8 - 2 * 3
    assert "; 26 values are NaN" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.npy"], "a .npy file holds one field; name it with --field, one of a, b"),
        (["a.npy", "--field", "a,b"], "a .npy file holds one field, not 2"),
        (["a.nc", "--field", "a", "--field", "a"], "a field is named twice: a, a"),
        (["a.npy", "--field", "c"], "no field 'c'; the file has a, b"),
        (["a.txt", "--field", "a"], "allowed are .npy, .h5, .hdf5, .nc, .nc4"),
        (["a.nc", "--order", "C"], "order C is of .npy"),
        (["a.nc", "--level", "2"], "level is 2; 0 to 1 are allowed"),
        (["a.nc", "--lo", "1"], "lo has 1 numbers; 2 are allowed: x,y"),
        (["a.nc", "--lo", "1,x"], "--lo 1,x: allowed are numbers with commas"),
        (["a.nc", "--lo", "-3,11"], "lo has x = -3; the domain reaches from -1 to 3"),
        (["a.nc", "--cells", "--lo", "-9,3"], "cells -9,3 to 5,10; level 0 has -2,3 to 5,10"),
        (["a.nc", "--cells", "--lo", "0.5,3"], "cells are counted in whole numbers"),
        (["a.nc", "--lo", "1,11", "--hi", "0,11"], "lowest first"),
        (["a.nc", "--lo", "nan,11"], "allowed are finite numbers"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    small_amr.write(tmp_path / "in.h5", 2)
    (tmp_path / words[0]).write_text("earlier")
    assert main(["in.h5", *words]) == 2
    assert message in capsys.readouterr().err
    assert (tmp_path / words[0]).read_text() == "earlier"
    assert len(os.listdir(tmp_path)) == 2


def test_names_bounds_and_renamed_fields(tmp_path, monkeypatch, capsys):
    path = small_amr.write(tmp_path / "in.h5", 2)
    with h5py.File(path, "r+") as file:
        file.attrs["component_0"] = np.bytes_("a/b")
        file.attrs["component_1"] = np.bytes_("a_b")
    from neve._hdf5_plotfile import Hdf5Source

    monkeypatch.setattr(Hdf5Source, "bound_abs", lambda self, level, component: 0.5 - 0.25 * level)
    assert main([str(path), str(tmp_path / "out.nc")]) == 0
    said = capsys.readouterr().out
    assert "a/b, a_b [y, x]" in said and said.endswith("; field a/b is variable a_b_\n")
    with h5py.File(tmp_path / "out.nc") as grid, neve.open(path) as file:
        assert grid["a_b_"].attrs["field"] == "a/b" and "field" not in grid["a_b"].attrs
        assert grid["a_b"].attrs["bound_abs"] == 0.5  # the larger one: of level 0
        np.testing.assert_array_equal(grid["a_b_"][()].T, file[0]["a/b"].composite())


def test_a_data_file_is_on_one_grid_already(tmp_path, capsys):
    with h5py.File(tmp_path / "nemo.nc", "w") as file:
        file["temp"] = np.ones((2, 3))
    np.save(tmp_path / "f.npy", np.ones(3))
    assert main([str(tmp_path / "f.npy"), str(tmp_path / "g.npy")]) == 2
    assert "f.npy: neither a plotfile's directory nor HDF5" in capsys.readouterr().err
    assert main([str(tmp_path / "nemo.nc"), str(tmp_path / "g.npy")]) == 2
    assert "a data file, whose variables are on one grid already; neve export is for plotfiles" in (
        capsys.readouterr().err
    )


def test_a_file_does_not_replace_itself(tmp_path):
    path = small_amr.write(tmp_path / "a.h5", 2)
    (tmp_path / "b.h5").symlink_to(path)
    with pytest.raises(neve.Error, match="it is the file that is read"):
        export(path, tmp_path / "b.h5")
    assert export(path, tmp_path / "c.h5").startswith("wrote")


def test_an_earlier_file_stays_where_reading_fails(tmp_path, monkeypatch):
    path = small_amr.write(tmp_path / "a.h5", 2)
    out = tmp_path / "a.npy"
    out.write_text("earlier")
    out.chmod(0o640)

    def fail(*arguments):
        raise neve.Error("half of it is damaged")

    with monkeypatch.context() as patch:
        patch.setattr("neve._grid.composite_region", fail)
        with pytest.raises(neve.Error, match="damaged"):
            export(path, out, "a")
    assert out.read_text() == "earlier"
    assert sorted(os.listdir(tmp_path)) == ["a.h5", "a.npy"]
    export(path, out, "a")
    assert np.load(out).shape == (8, 8) and out.stat().st_mode & 0o777 == 0o640
