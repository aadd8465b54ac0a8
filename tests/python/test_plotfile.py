# SPDX-License-Identifier: BSD-3-Clause
"""neve.open: native, Chombo and converted plotfiles, against yt and against each other."""

from __future__ import annotations

import shutil

import h5py
import numpy as np
import pytest
from arrays import assert_same_bits

import neve

REL = 1e-3


def level_range(level, field) -> float:
    low = min(float(box.min()) for box in level[field])
    high = max(float(box.max()) for box in level[field])
    return high - low


def test_native_plotfile_description(sample):
    with neve.open(sample) as plotfile:
        assert plotfile.kind == "AMReX plotfile"
        assert (plotfile.dims, plotfile.dtype, len(plotfile)) == (3, np.float64, 2)
        assert plotfile.components[:2] == ("density", "Temp")
        assert plotfile.time == 0.000477355925744804
        coarse, fine = plotfile.levels
        assert coarse.domain.shape == (32, 32, 32)
        assert (coarse.ref_ratio, coarse.dx, fine.dx) == ((2,) * 3, (0.25,) * 3, (0.125,) * 3)
        assert len(fine.boxes) == len(fine["density"]) == 3
        assert set(fine) == set(plotfile.components)


def test_native_values_are_those_of_the_fab(sample):
    """The first FAB's bytes, read without Neve: x fastest, components one after another."""
    raw = (sample / "Level_0" / "Cell_D_00000").read_bytes()
    values = np.frombuffer(raw[raw.index(b"\n") + 1 :], "<f8").reshape(8, 32, 32, 32)
    with neve.open(sample) as plotfile:
        for number, name in enumerate(plotfile.components):
            box = plotfile[0][name][0]
            assert box.flags.f_contiguous
            np.testing.assert_array_equal(box, values[number].T)


def test_sequences_behave_as_lists(sample):
    with neve.open(sample) as plotfile:
        field = plotfile[1]["density"]
        np.testing.assert_array_equal(field[-1], field[2])
        assert [a.shape for a in field[:2]] == [box.shape for box in field.boxes[:2]]
        assert [a.shape for a in field] == [box.shape for box in field.boxes]
        assert "density" in plotfile[0] and "rho" not in plotfile[0]
        with pytest.raises(IndexError):
            field[3]
        with pytest.raises(IndexError):
            plotfile[2]


def test_slice_takes_the_finest_values(sample):
    with neve.open(sample) as plotfile:
        fine, coarse = plotfile[1]["density"], plotfile[0]["density"][0]
        box = fine.boxes[0]
        coord = (box.lo[1] + 0.5) * plotfile[1].dx[1]
        plane = plotfile.slice("density", "y", coord)
        assert plane.values.shape == (64, 64)
        where = np.s_[box.lo[0] : box.hi[0] + 1, box.lo[2] : box.hi[2] + 1]
        np.testing.assert_array_equal(plane.values[where], fine[0][:, 0, :])
        assert (plane.levels[where] == 1).all()
        outside = plane.levels == 0
        repeated = np.repeat(np.repeat(coarse[:, box.lo[1] // 2, :], 2, axis=0), 2, axis=1)
        np.testing.assert_array_equal(plane.values[outside], repeated[outside])
        assert not np.isnan(plane.values).any()
        assert (plane.axes, plane.extent) == (("x", "z"), (0.0, 8.0, 0.0, 8.0))


def test_slice_at_a_coarse_level(sample):
    with neve.open(sample) as plotfile:
        plane = plotfile.slice("Temp", "x", level=0)
        np.testing.assert_array_equal(plane.values, plotfile[0]["Temp"][0][16])
        np.testing.assert_array_equal(np.asarray(plane), plane.values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rho",), "no field 'rho'; the file has density, Temp"),
        (("density", "w"), "axis 'w'; allowed in a 3D file: x, y, z"),
        (("density", "z", 9.0), "coord 9.0 is outside the domain 0.0..8.0 along z"),
        (("density", "z", None, 2), "level is 2; 0 to 1 are allowed"),
    ],
)
def test_what_a_slice_cannot_be_is_named(sample, arguments, message):
    with neve.open(sample) as plotfile, pytest.raises(neve.Error, match=message):
        plotfile.slice(*arguments)


def test_chombo_file_without_its_ghosts(shared_data):
    path = shared_data / "chombo" / "ramp.000020.3d.hdf5"
    with neve.open(path) as plotfile, h5py.File(path) as file:
        assert plotfile.components[0] == "density" and len(plotfile) == 3
        group = file["level_2"]
        box, begin = plotfile[2].boxes[3], int(group["data:offsets=0"][3])
        grown = tuple(n + 2 for n in box.shape)
        raw = group["data:datatype=0"][begin : begin + int(np.prod(grown))]
        inner = raw.reshape(grown, order="F")[1:-1, 1:-1, 1:-1]
        np.testing.assert_array_equal(plotfile[2]["density"][3], inner)


@pytest.mark.parametrize(
    "name", ["amr/nyx_za64_plt00088", "amr/cns_rt_plt00450", "chombo/check.000050.3d.hdf5"]
)
def test_real_files_agree_with_yt(shared_data, name):
    yt = pytest.importorskip("yt")
    yt.set_log_level(50)
    path = shared_data / name
    dataset = yt.load(str(path), hint="NyxDataset" if "nyx" in name else None)
    kind = "chombo" if "chombo" in name else "boxlib"
    with neve.open(path) as plotfile:
        compare_grids(dataset, kind, plotfile)


def compare_grids(dataset, kind: str, plotfile) -> None:
    """Every box and field equals yt's grid at its place, to the bit."""
    grids = {}
    for grid in dataset.index.grids:
        lo = tuple(int(n) for n in grid.get_global_startindex())
        grids[int(grid.Level), lo] = grid
    assert len(grids) == sum(len(level.boxes) for level in plotfile.levels)
    for level in plotfile.levels:
        for name in plotfile.components:
            for box, values in zip(level.boxes, level[name], strict=True):
                lo = tuple(a - b for a, b in zip(box.lo, level.domain.lo, strict=True))
                found = np.asarray(grids[level.index, lo][kind, name])
                assert_same_bits(np.ascontiguousarray(found), np.ascontiguousarray(values))


def test_converted_file_holds_its_bounds(converted, sample):
    with neve.open(converted) as copy, neve.open(sample) as original:
        assert copy.kind == "Neve HDF5"
        assert copy.components == original.components
        assert copy.time == original.time
        for mine, theirs in zip(copy.levels, original.levels, strict=True):
            assert mine.boxes == theirs.boxes
            assert (mine.dx, mine.ref_ratio) == (theirs.dx, theirs.ref_ratio)
            for name in original.components:
                bound = REL * level_range(theirs, name)
                assert mine[name].bound_abs <= bound * (1 + 1e-12)
                for found, expected in zip(mine[name], theirs[name], strict=True):
                    assert np.abs(found - expected).max() <= bound * (1 + 1e-12)


def test_left_out_cells_are_the_average_of_the_finer(converted):
    found_some = False
    with neve.open(converted) as plotfile:
        coarse_box = plotfile[0].boxes[0]
        for name in plotfile.components:
            mask = plotfile[0][name].left_out(0)
            values = plotfile[0][name][0]
            expected = np.full(mask.shape, np.nan)
            for box, fine in zip(plotfile[1].boxes, plotfile[1][name], strict=True):
                total = np.zeros(tuple(n // 2 for n in box.shape))
                # The order of the additions is part of the format: x fastest, then y, then z.
                for k in range(2):
                    for j in range(2):
                        for i in range(2):
                            total = total + fine[i::2, j::2, k::2]
                where = tuple(
                    slice(a // 2 - lo, (b + 1) // 2 - lo)
                    for a, b, lo in zip(box.lo, box.hi, coarse_box.lo, strict=True)
                )
                expected[where] = total / 8
            found_some |= bool(mask.any())
            assert not mask[np.isnan(expected)].any(), "a cell without finer cells is left out"
            np.testing.assert_array_equal(values[mask], expected[mask])
    assert found_some, "the converted Nyx file leaves no covered cell out"


def test_yt_reads_the_converted_file(converted):
    """Unmodified yt through the plugin: cells the file holds are Neve's to the bit, left-out ones
    are finite."""
    yt = pytest.importorskip("yt")
    yt.set_log_level(50)
    dataset = yt.load(str(converted))
    with neve.open(converted) as plotfile:
        assert len(dataset.index.grids) == 4
        for level in plotfile.levels:
            for name in plotfile.components:
                field = level[name]
                for number, box in enumerate(level.boxes):
                    (grid,) = (
                        g
                        for g in dataset.index.grids
                        if g.Level == level.index
                        and tuple(g.get_global_startindex()) == tuple(box.lo)
                    )
                    found = np.ascontiguousarray(np.asarray(grid["chombo", name]))
                    held = ~field.left_out(number)
                    np.testing.assert_array_equal(found[held], field[number][held])
                    assert np.isfinite(found).all()


def test_yt_slice_equals_neve_slice(converted):
    yt = pytest.importorskip("yt")
    yt.set_log_level(50)
    with neve.open(converted) as plotfile:
        coord = 4.1
        plane = plotfile.slice("density", "z", coord)
        dataset = yt.load(str(converted))
        cut = dataset.slice("z", coord)
        image = cut.to_frb(8.0, 64, periodic=False)["chombo", "density"]
        np.testing.assert_array_equal(np.asarray(image).T, plane.values)


def test_a_closed_plotfile_says_so(converted):
    with neve.open(converted) as plotfile:
        field = plotfile[0]["density"]
        field[0]
    for use in (lambda: field[0], lambda: field.bound_abs, lambda: plotfile.slice("density")):
        with pytest.raises(neve.Error, match="the plotfile is closed; read inside its `with`"):
            use()
    plotfile.close()


def test_damaged_converted_file_is_an_error(converted, tmp_path):
    path = tmp_path / "damaged.h5"
    shutil.copy(converted, path)
    with h5py.File(path, "r") as file:
        place = file["level_1/data:datatype=0"].id.get_chunk_info(0)
    with open(path, "r+b") as file:
        file.seek(place.byte_offset + 40)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))
    with neve.open(path) as plotfile, pytest.raises(neve.Error, match="chunk 0") as caught:
        for name in plotfile.components:
            list(plotfile[1][name])
    assert caught.value.code == 4


def test_what_is_not_a_plotfile_is_named(tmp_path):
    with pytest.raises(neve.Error, match="nothing.h5: no such file"):
        neve.open(tmp_path / "nothing.h5")
    text = tmp_path / "text.h5"
    text.write_text("not HDF5")
    with pytest.raises(neve.Error, match="text.h5: not a readable HDF5 file"):
        neve.open(text)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(neve.Error, match="other.h5 is a data file; neve.open is for plotfiles"):
        neve.open(tmp_path / "other.h5")
    (tmp_path / "folder").mkdir()
    with pytest.raises(neve.Error, match="Header"):
        neve.open(tmp_path / "folder")
