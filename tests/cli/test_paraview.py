# SPDX-License-Identifier: BSD-3-Clause
"""VTK, PyVista and ParaView show what neve.open reads: values, places, covered cells, pixels."""

import json
import os
import re
import shutil

import h5py
import numpy as np
import pytest

import neve

from . import amrex_files, chombo_files
from .conftest import ROOT, SAMPLE
from .readers import vtk_checks

THREE = amrex_files.Places(3, (-1.0, 0.5, 2.0), (0.1, 0.3, 0.05), (-8, 0, 6), (32, 16, 16))
TWO = amrex_files.Places(2, (5.0, -3.0), (0.25, 0.5), (-4, 12), (16, 24))


def box_type(dims):
    return chombo_files.box_type(dims)


def write_ratios(path, ratio, dtype="<f8"):
    """Two levels of one box each, refined by `ratio`, with NaN and -0 among the values."""
    shape, cells = np.array((16, 8, 8)), np.array((8, 4, 4))
    lo = np.array((4, 2, 2)) * ratio
    random = np.random.default_rng(5)
    with h5py.File(path, "w", libver="earliest") as file:
        file.create_group("Chombo_global").attrs["SpaceDim"] = np.int32(3)
        file.attrs.update({"num_levels": np.int32(2), "num_components": np.int32(2), "time": 0.75})
        file.attrs["component_0"], file.attrs["component_1"] = np.bytes_("a"), np.bytes_("b/c")
        for level, (domain, boxes) in enumerate(
            [
                ((0, 0, 0, *(shape - 1)), [(0, 0, 0, *(shape - 1))]),
                ((0, 0, 0, *(shape * ratio - 1)), [(*lo, *(lo + cells * ratio - 1))]),
            ]
        ):
            group = file.create_group(f"level_{level}")
            dx = np.array((1.0, 2.0, 0.5)) / (ratio if level else 1)
            group.attrs.update({"dx": dx[0], "Vec_dx": dx, "time": 0.75})
            group.attrs["ref_ratio"] = np.array(ratio, "<i4")
            group.attrs["prob_domain"] = np.array(tuple(domain), box_type(3))
            group["boxes"] = np.array([tuple(box) for box in boxes], box_type(3))
            counts = [2 * int(np.prod(np.array(b[3:]) - b[:3] + 1)) for b in boxes]
            values = random.standard_normal(sum(counts)).astype(dtype)
            values[3], values[5] = np.nan, -0.0
            group["data:offsets=0"] = np.concatenate([[0], np.cumsum(counts)]).astype("<i8")
            group["data:datatype=0"] = values
            group.create_group("data_attributes").attrs["comps"] = np.int32(2)


def made_files(folder, neve_command):
    """Of every kind that neve.open reads, odd ones among them; by name."""
    amrex_files.write(folder / "plt3", THREE)
    amrex_files.write(folder / "plt2", TWO)
    neve_command("convert", folder / "plt3", folder / "neve3.h5", "--bound", "rel=1e-4")
    neve_command("convert", folder / "plt2", folder / "neve2.h5", "--bound", "abs=1e-3")
    neve_command("convert", SAMPLE, folder / "auto.h5", "--covered", "auto")
    neve_command("convert", folder / "plt3", folder / "plain.h5", "--uncompressed")
    write_ratios(folder / "ratio4.h5", np.array((4, 4, 4)), "<f4")
    data = chombo_files.Variable("data", components=2, ghosts=1, gap=3)
    chombo_files.write(
        folder / "ghosts.h5", 3, [data], components=("rho", "e"), restart=False, extras=False
    )
    gaps = chombo_files.Variable("data", components=2, gap=5, reverse=True, dtype="<f4")
    chombo_files.write(
        folder / "reverse.h5", 2, [gaps], components=("rho", "e"), restart=False, extras=False
    )
    chombo_files.write(
        folder / "empty_level.h5",
        1,
        [gaps],
        components=("rho", "e"),
        restart=False,
        empty_level=True,
    )
    several = [
        chombo_files.Variable("thickness"),
        chombo_files.Variable("velocity", components=2, reverse=True),
    ]
    chombo_files.write(folder / "check.h5", 2, several)
    neve_command("convert", folder / "check.h5", folder / "check_small.h5")


NAMES = (
    "plt3 plt2 neve3.h5 neve2.h5 auto.h5 plain.h5 ratio4.h5 ghosts.h5 reverse.h5 check.h5 "
    "check_small.h5 empty_level.h5"
).split()


@pytest.fixture(scope="module")
def folder(neve, tmp_path_factory):
    path = tmp_path_factory.mktemp("paraview")
    made_files(path, neve)
    return path


# --- VTK from PyPI, PyVista ---


@pytest.fixture(scope="module")
def by_vtk(neve, folder):
    """One process for all: starting VTK takes longer than reading these."""
    vtk_checks.need("vtk")
    words = []
    for name in NAMES:
        neve("convert", folder / name, folder / f"{name}.vtkhdf")
        words += [folder / f"{name}.vtkhdf", folder / f"{name}.vtk.npz"]
    vtk_checks.python("by_vtk.py", *words)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_vtk_reads_what_convert_makes(neve, by_vtk, name):
    source, made = by_vtk / name, by_vtk / f"{name}.vtkhdf"
    holds_values = source.is_dir()
    vtk_checks.check_amr(np.load(by_vtk / f"{name}.vtk.npz"), made if holds_values else source)
    if holds_values:
        assert neve("verify", source, made).code == 0


@pytest.mark.parametrize("options", [["--covered", "auto"], ["--uncompressed"]])
def test_vtk_reads_plotfiles_with_the_group_inside(neve, folder, options, tmp_path):
    vtk_checks.need("vtk")
    made = tmp_path / "made.vtkhdf"
    neve("convert", SAMPLE, made, *options)
    vtk_checks.python("by_vtk.py", made, tmp_path / "found.npz")
    vtk_checks.check_amr(np.load(tmp_path / "found.npz"), made)


def test_pyvista_wraps_the_blocks(neve, folder, tmp_path):
    vtk_checks.with_pyvista(neve, folder / "neve3.h5", tmp_path)


# --- Neve's reader in ParaView ---


@pytest.fixture(scope="module")
def by_plugin(folder):
    write_ratios(folder / "unequal.h5", np.array((4, 2, 1)))
    words = []
    for name in (*NAMES, "unequal.h5"):
        words += [folder / name, folder / f"{name}.pv.npz"]
    vtk_checks.pvpython_with_neve("each_by_plugin.py", *words)
    return folder


@pytest.mark.parametrize("name", (*NAMES, "unequal.h5"))
def test_paraview_reads_by_the_plugin(by_plugin, name):
    vtk_checks.check_amr(np.load(by_plugin / f"{name}.pv.npz"), by_plugin / name)


def test_newer_vtk_takes_what_the_plugin_makes(folder, tmp_path):
    """Newer ParaView has newer VTK, whose functions differ."""
    vtk_checks.need("vtk")
    write_ratios(tmp_path / "unequal.h5", np.array((4, 2, 1)))
    files = [folder / "plt3", folder / "plt2", folder / "auto.h5", tmp_path / "unequal.h5"]
    outs = [tmp_path / f"{number}.npz" for number in range(len(files))]
    vtk_checks.python("in_memory.py", *[w for pair in zip(files, outs, strict=True) for w in pair])
    for file, out in zip(files, outs, strict=True):
        vtk_checks.check_amr(np.load(out), file)


def test_paraview_reads_chosen_fields_and_levels(folder, tmp_path):
    vtk_checks.with_pvpython(folder / "neve3.h5", tmp_path, 1, ["y_centre"])


def test_paraview_reads_the_header_of_a_directory_and_the_steps_of_a_series(folder, tmp_path):
    header = folder / "plt3" / "Header"
    words = [tmp_path / "found.npz", 0, 0.5, "-", folder / "ratio4.h5", header]
    times = json.loads(vtk_checks.pvpython_with_neve("by_plugin.py", *words).stdout)
    assert times == [0.5, 0.75]
    vtk_checks.check_amr(np.load(tmp_path / "found.npz"), folder / "plt3", fields=None)


def test_paraview_says_what_is_wrong_with_a_file(tmp_path):
    (tmp_path / "no.h5").write_bytes(b"nothing")
    words = [tmp_path / "found.npz", 0, "-", "-", tmp_path / "no.h5"]
    done = vtk_checks.pvpython_with_neve("by_plugin.py", *words)
    assert re.search(r"Neve Reader: .*no\.h5", done.stdout + done.stderr)


# --- pictures ---

PIXELS = 240


@pytest.mark.parametrize(("name", "coord"), [("plt3", 2.51), ("plt2", None)])
def test_pixels_are_the_values(folder, name, coord, tmp_path):
    """The picture's grays, as values, against a slice at the pixels' places."""
    pytest.importorskip("matplotlib")
    with neve.open(folder / name) as file:
        shown = file.slice("x_centre", coord=coord)
    low, high = float(np.nanmin(shown.values)), float(np.nanmax(shown.values))
    gray = vtk_checks.drawn(folder / name, "x_centre", (low, high), coord, tmp_path, PIXELS)
    x0, x1, y0, y1 = shown.extent
    half = max(x1 - x0, y1 - y0) / 2
    along = (np.arange(PIXELS) + 0.5) / PIXELS * 2 * half - half
    cells = []
    for middle, begin, end, count in zip(
        ((x0 + x1) / 2, (y0 + y1) / 2), (x0, y0), (x1, y1), shown.values.shape, strict=True
    ):
        cells.append((middle + along - begin) / (end - begin) * count)
    inside = [(at > 0) & (at < shown.values.shape[d]) for d, at in enumerate(cells)]
    # Pixels at the edge of a cell may have either side's colour.
    clear = [i & (np.abs(at - np.rint(at)) > 0.2) for at, i in zip(cells, inside, strict=True)]
    picked = np.ix_(*[np.flatnonzero(c) for c in clear])
    index = np.ix_(*[np.floor(at[c]).astype(int) for at, c in zip(cells, clear, strict=True)])
    values = low + gray[picked] * (high - low)
    assert values.size > 2000
    assert not np.isnan(values).any()
    np.testing.assert_allclose(values, shown.values[index], rtol=0, atol=(high - low) / 250)
    outside = gray[np.ix_(~inside[0], ~inside[1])]
    assert np.isnan(outside[2:-2, 2:-2]).all()


def test_the_picture_of_the_documents(tmp_path):
    """NEVE_WRITE_TABLE=1 makes docs/images/paraview.png anew."""
    with neve.open(SAMPLE) as file:
        shown = file.slice("density")
    out = tmp_path / "paraview.png"
    limits = (shown.values.min(), shown.values.max())
    colours = "Viridis (matplotlib)"
    vtk_checks.draw(SAMPLE, "density", limits, shown.coord * 1.0001, out, 480, colours)
    assert out.stat().st_size > 5000
    if os.environ.get("NEVE_WRITE_TABLE"):
        shutil.copy(out, ROOT / "docs" / "images" / "paraview.png")


# --- data files ---


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A netCDF file with time, coordinates, packed and small integers; arrays."""
    netCDF4 = pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    path = tmp_path_factory.mktemp("xdmf")
    random = np.random.default_rng(3)
    with netCDF4.Dataset(path / "air.nc", "w") as file:
        for name, size in (("time", None), ("lev", 3), ("lat", 8), ("lon", 12), ("five", 5)):
            file.createDimension(name, size)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(4) * 0.5
        file["time"].units = "days since 2000-01-01"
        file.createVariable("lat", "f8", ("lat",))[:] = np.linspace(80, -80, 8)
        file.createVariable("lon", "f4", ("lon",))[:] = np.arange(12) ** 1.5
        grid = ("time", "lat", "lon")
        file.createVariable("air", "f4", grid, fill_value=-999.0)[:] = random.random((4, 8, 12))
        packed = file.createVariable("wind", "i2", grid)
        packed.scale_factor, packed.add_offset = 0.01, 1.0
        packed[:] = random.random((4, 8, 12))
        deep = file.createVariable("deep/t", "f8", ("time", "lev", "lat", "lon"))
        deep[:] = random.random((4, 3, 8, 12))
        for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8"):
            file.createVariable(kind, kind, ("lat", "lon"))[:] = random.integers(0, 99, (8, 12))
        file.createVariable("letters", "S1", ("five",))[:] = np.array(list("abcde"), "S1")
    return path


@pytest.mark.parametrize("version", [2, 3, "vtk", "pyvista"])
def test_paraview_reads_data_files_by_xdmf(neve, data, version, tmp_path):
    neve("convert", data / "air.nc", tmp_path / "small.nc", "--bound", "rel=1e-4")
    vtk_checks.with_xdmf(neve, tmp_path / "small.nc", tmp_path, version)
    found = np.load(tmp_path / f"xdmf{version}.npz")
    assert found["times"].tolist() == [0.0, 0.5, 1.0, 1.5]
    assert found["1|air|X"].tolist() == (np.arange(12) ** 1.5).astype("f4").tolist()
    assert found["1|air|Y"].tolist() == np.linspace(80, -80, 8).tolist()


ODD_NAMES = ("a:b", "c|d", "e<f>&g", "50%b", "9%d", "gr:p/x", "x;\u00e4", "l m")


@pytest.mark.parametrize("reader", [2, 3, "vtk", "pyvista"])
@pytest.mark.parametrize("has_time", [False, True])
def test_odd_names_are_read(neve, reader, has_time, tmp_path):
    """Those that XDMF, or virtual datasets, take for something else."""
    source = tmp_path / "wrf_2001-01-01_00:00:00 9%d|&.h5"
    with h5py.File(source, "w") as file:
        for number, name in enumerate(ODD_NAMES):
            values = np.arange(24.0).reshape(2, 3, 4) + number
            file.create_dataset(name, data=values, maxshape=(None if has_time else 2, 3, 4))
    vtk_checks.with_xdmf(neve, source, tmp_path, reader)


def test_paraview_reads_netcdf_itself(neve, tmp_path):
    """ParaView 5.11 refuses files with integers of 64 bits, or unsigned ones."""
    netCDF4 = pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    with netCDF4.Dataset(tmp_path / "air.nc", "w") as file:
        for name, size in (("time", None), ("lat", 40), ("lon", 60)):
            file.createDimension(name, size)
            file.createVariable(name, "f8", (name,))[:] = np.arange(size or 5) * 1.5
        file["time"].units = "days since 2000-01-01"
        air = file.createVariable("air", "f4", ("time", "lat", "lon"), fill_value=-999.0)
        air[:] = np.random.default_rng(4).random((5, 40, 60))
        air[2, 3] = np.ma.masked
    neve("convert", tmp_path / "air.nc", tmp_path / "small.nc", "--bound", "rel=1e-4")
    vtk_checks.with_paraview_netcdf(tmp_path / "small.nc", tmp_path)


ARRAYS = {
    "c": np.random.default_rng(1).random((5, 6, 7)).astype(">f4"),
    "fortran": np.asfortranarray(np.random.default_rng(2).random((5, 6))),
    "steps": np.arange(360, dtype="i4").reshape(3, 4, 5, 6),
}


@pytest.mark.parametrize("version", [2, 3])
def test_paraview_reads_arrays_by_xdmf(neve, version, tmp_path):
    words = []
    for name, array in ARRAYS.items():
        np.save(tmp_path / f"{name}.npy", array)
        neve("convert", tmp_path / f"{name}.npy", tmp_path / f"{name}.xdmf")
        words += [tmp_path / f"{name}.xdmf", tmp_path / f"{name}.npz"]
    vtk_checks.pvpython("grids.py", vtk_checks.XDMF_READERS[version], *words)
    for name, array in ARRAYS.items():
        found = np.load(tmp_path / f"{name}.npz")
        for step, part in enumerate(array if name == "steps" else [array]):
            order = "F" if name == "fortran" else "C"
            np.testing.assert_array_equal(found[f"{step}|{name}"], part.ravel(order=order))
