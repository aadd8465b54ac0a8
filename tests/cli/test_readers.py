# SPDX-License-Identifier: BSD-3-Clause
"""docs/readers.md: what each tool makes of a plotfile, a checkpoint and a netCDF file of Neve.

Every tool runs as a stranger: it knows the plugin's folder and nothing else of Neve. What it gives
is compared with what h5py reads, and that with where it came from. NEVE_WRITE_TABLE=1 writes the
page's table anew.
"""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

import neve as package

from . import amrex_files, chombo_files
from .conftest import PLUGIN_DIR, ROOT, environment

netCDF4 = pytest.importorskip("netCDF4", reason="netCDF4 is not installed")

PAGE = ROOT / "docs" / "readers.md"
KINDS = ("plotfile", "checkpoint", "netCDF")
IDENTICAL = "identical"
REFUSED = "refused"

PLACES = amrex_files.Places(3, (-1.0, 0.0, 2.0), (0.1, 0.1, 0.1), (0, 0, 0), (32, 16, 16))


def stranger(*command, check=True, **kwargs):
    done = subprocess.run(
        [str(word) for word in command],
        env=environment(HDF5_PLUGIN_PATH=str(PLUGIN_DIR)),
        capture_output=True,
        text=True,
        timeout=300,
        **kwargs,
    )
    if check:
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done


def python(script, *arguments):
    return stranger(sys.executable, "-c", script, *arguments).stdout


# --- the files ---


def make_netcdf(path):
    random = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w") as file:
        for name, size in (("time", None), ("lat", 40), ("lon", 60), ("letters", 8)):
            file.createDimension(name, size)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(12.0)
        file["time"].units = "days since 2000-01-01"
        file.createVariable("lat", "f8", ("lat",))[:] = np.linspace(-80, 80, 40)
        file["lat"].units = "degrees_north"
        file.createVariable("lon", "f8", ("lon",))[:] = np.linspace(0, 354, 60)
        file["lon"].units = "degrees_east"
        shape = (12, 40, 60)
        smooth = np.cumsum(random.standard_normal(shape), axis=2)
        grid = ("time", "lat", "lon")
        air = file.createVariable("air", "f4", grid, fill_value=-999.0, chunksizes=(6, 40, 60))
        air.units = "K"
        air[:] = np.ma.masked_where(random.random(shape) < 0.1, 280 + smooth)
        file.createVariable("pressure", "f8", grid, chunksizes=(4, 40, 60))[:] = 1e5 + 10 * smooth
        chunks = (12, 40, 60)
        packed = file.createVariable("wind", "i2", grid, fill_value=-32768, chunksizes=chunks)
        packed.scale_factor, packed.add_offset = 0.01, 1.0
        packed[:] = smooth
        file.createVariable("mask_land", "i4", grid, chunksizes=chunks)[:] = smooth.astype("i4")
        names = file.createVariable("name", "S1", ("lat", "letters"))
        names[:] = np.array([list(f"row {i:4d}") for i in range(40)], "S1")


@pytest.fixture(scope="module")
def files(neve, tmp_path_factory):
    """Of each kind: the source, what `neve convert` made of it, the values h5py reads in that."""
    folder = tmp_path_factory.mktemp("readers")
    amrex_files.write(folder / "plt", PLACES)
    make_netcdf(folder / "source.nc")
    variables = [chombo_files.Variable("data", components=2)]
    chombo_files.write(folder / "source_chk.h5", 3, variables, components=("rho", "energy"))
    made = {
        "plotfile": ("plt", "plotfile.h5", ["--bound", "rel=1e-4"]),
        "checkpoint": ("source_chk.h5", "checkpoint.h5", []),
        "netCDF": ("source.nc", "packed.nc", ["--bound", "rel=1e-4"]),
    }
    result = {}
    for kind, (source, target, options) in made.items():
        outcome = neve("convert", folder / source, folder / target, *options)
        assert outcome.code == 0, outcome.err
        result[kind] = folder / target
        assert neve("verify", folder / source, folder / target).code == 0
    return result


def numeric(path):
    """Values of a file's datasets of numbers and letters, by name, as h5py has them."""
    found = {}

    def take(name, item):
        if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "fiuS" or not item.size:
            return
        is_bare_dimension = b"not a netCDF variable" in bytes(item.attrs.get("NAME", b""))
        if not is_bare_dimension and not name.startswith("neve/"):
            found[name] = item[()]

    with h5py.File(path) as file:
        file.visititems(take)
    return found


@pytest.fixture(scope="module")
def truth(files):
    return {kind: numeric(path) for kind, path in files.items()}


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name in wanted:
        assert found[name].tobytes() == wanted[name].tobytes(), name


# --- the tools: each returns nothing, or REFUSED ---


def has(program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def with_h5py(path, wanted, tmp_path):
    script = (
        "import h5py, sys, json\n"
        "with h5py.File(sys.argv[1]) as file:\n"
        "    for name in json.loads(sys.argv[2]): file[name][()].tofile(sys.argv[3] + '/' + "
        "name.replace('/', '_'))\n"
    )
    python(script, path, json.dumps(list(wanted)), tmp_path)
    for name, values in wanted.items():
        assert (tmp_path / name.replace("/", "_")).read_bytes() == values.tobytes(), name


def with_h5dump(path, wanted, tmp_path):
    has("h5dump")
    for name, values in wanted.items():
        if values.dtype.kind == "S":
            continue  # it writes no letters with -b
        raw = tmp_path / "raw"
        stranger("h5dump", "-d", f"/{name}", "-b", "LE", "-o", raw, path)
        assert raw.read_bytes() == values.tobytes(), name


def with_h5repack(path, wanted, tmp_path):
    has("h5repack")
    stranger("h5repack", "-f", "NONE", path, tmp_path / "plain.h5")
    stranger("h5repack", path, tmp_path / "again.h5")
    stranger("h5repack", "-f", "UD=466,0,0", tmp_path / "plain.h5", tmp_path / "lossless.h5")
    for copy in ("plain.h5", "again.h5", "lossless.h5"):
        same(numeric(tmp_path / copy), wanted)


def with_h5diff(path, wanted, tmp_path):
    has("h5diff")
    stranger("h5repack", "-f", "NONE", path, tmp_path / "plain.h5")
    stranger("h5diff", path, tmp_path / "plain.h5")
    name = next(n for n, v in wanted.items() if v.dtype.kind == "f" and v.size > 100)
    with h5py.File(tmp_path / "plain.h5", "r+") as file:
        file[name][(5,) * file[name].ndim] += 1
    assert stranger("h5diff", path, tmp_path / "plain.h5", check=False).returncode == 1


def with_ncdump(path, wanted, tmp_path):
    has("ncdump")
    for name, values in wanted.items():
        if values.dtype.kind == "S":
            continue
        text = stranger("ncdump", "-p", "9,17", "-v", name, path).stdout
        numbers = re.search(rf"\n {name} =(.*?);", text, re.DOTALL).group(1)
        fill = -999 if name == "air" else -32768
        found = [fill if n.strip() == "_" else float(n) for n in numbers.split(",")]
        assert (np.array(found).astype(values.dtype) == values.ravel()).all(), name


def copied_by(*command):
    def run(path, wanted, tmp_path):
        has(command[0])
        out = tmp_path / "out.nc"
        stranger(*(out if w == "OUT" else path if w == "IN" else w for w in command))
        found = numeric(out)
        for name in ("air", "pressure", "wind", "mask_land"):
            assert found[name].tobytes() == wanted[name].tobytes(), name

    return run


def reduced_by(*command):
    """What the tool computes of the packed file is what it computes of a plain one."""

    def run(path, wanted, tmp_path):
        has(command[0])
        plain = tmp_path / "plain.nc"
        stranger("nccopy", "-d", "0", "-F", "*,none", path, plain)
        results = []
        for source in (path, plain):
            out = tmp_path / f"of_{source.name}"
            stranger(*(out if w == "OUT" else source if w == "IN" else w for w in command))
            results.append({n: v for n, v in numeric(out).items() if n in ("air", "pressure")})
        assert len(results[0]) == 2
        same(results[0], results[1])

    return run


def with_netcdf4(path, wanted, tmp_path):
    script = """
import netCDF4, sys, json
with netCDF4.Dataset(sys.argv[1]) as file:
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)
    for name in json.loads(sys.argv[2]):
        file[name][...].tofile(sys.argv[3] + '/' + name.replace('/', '_'))
"""
    python(script, path, json.dumps(list(wanted)), tmp_path)
    for name, values in wanted.items():
        assert (tmp_path / name.replace("/", "_")).read_bytes() == values.tobytes(), name


def with_xarray(engine):
    def run(path, wanted, tmp_path):
        for module in ("xarray", {"netcdf4": "netCDF4"}.get(engine, engine)):
            pytest.importorskip(module, reason=f"{module} is not installed")
        script = """
import xarray, sys
with xarray.open_dataset(sys.argv[1], engine=sys.argv[2], decode_cf=False) as data:
    for name in ("air", "pressure", "wind", "mask_land"):
        data[name].values.tofile(sys.argv[3] + "/" + name)
"""
        python(script, path, engine, tmp_path)
        for name in ("air", "pressure", "wind", "mask_land"):
            assert (tmp_path / name).read_bytes() == wanted[name].tobytes(), name

    return run


def with_yt(load):
    """Every grid and field, against Neve's own reader of the boxes."""

    def run(path, wanted, tmp_path):
        yt = pytest.importorskip("yt", reason="yt is not installed")
        yt.set_log_level(50)
        try:
            dataset = load(yt)(str(path))
        except (yt.utilities.exceptions.YTUnidentifiedDataType, package.Error):
            return REFUSED
        with package.open(path) as file:
            boxes = [(level, box) for level in file for box in range(len(level.boxes))]
            assert len(boxes) == len(dataset.index.grids)
            for grid, (level, box) in zip(dataset.index.grids, boxes, strict=True):
                for name in file.components:
                    found, values = grid["chombo", name].d, level[name][box]
                    assert np.array_equal(found, values, equal_nan=True), name
        return IDENTICAL

    return run


ALL, NETCDF, AMR = KINDS, ("netCDF",), ("plotfile", "checkpoint")
TOOLS = {
    "h5py": (with_h5py, ALL),
    "h5dump": (with_h5dump, ALL),
    "h5repack": (with_h5repack, ALL),
    "h5diff": (with_h5diff, ALL),
    "netCDF4 (Python)": (with_netcdf4, ALL),
    "xarray, netcdf4": (with_xarray("netcdf4"), NETCDF),
    "xarray, h5netcdf": (with_xarray("h5netcdf"), NETCDF),
    "ncdump": (with_ncdump, NETCDF),
    "nccopy": (copied_by("nccopy", "IN", "OUT"), NETCDF),
    "ncks": (copied_by("ncks", "IN", "OUT"), NETCDF),
    "ncpdq": (copied_by("ncpdq", "-a", "time,lat,lon", "IN", "OUT"), NETCDF),
    "ncra": (reduced_by("ncra", "IN", "OUT"), NETCDF),
    "ncwa": (reduced_by("ncwa", "-a", "time", "IN", "OUT"), NETCDF),
    "cdo": (reduced_by("cdo", "-s", "timmean", "-selname,air,pressure", "IN", "OUT"), NETCDF),
    "yt.load": (with_yt(lambda yt: yt.load), ALL),
    "neve.load_yt": (with_yt(lambda yt: package.load_yt), ALL),
}
RUNS = [(tool, kind) for tool, (_, kinds) in TOOLS.items() for kind in kinds]


def outcome_of(tool, kind, files, truth, tmp_path):
    read, _ = TOOLS[tool]
    return read(files[kind], truth[kind], tmp_path) or IDENTICAL


def page_table():
    """{tool: {kind: outcome}}"""
    row = r"^\| " + r" \| ".join(["(.+?)"] * 5) + r" \|$"
    rows = re.findall(row, PAGE.read_text(), re.MULTILINE)
    return {tool: dict(zip(KINDS, found, strict=True)) for tool, _, *found in rows}


def version_of(tool):
    module = {"netCDF4 (Python)": "netCDF4", "neve.load_yt": "yt"}.get(tool, tool.split(".")[0])
    if shutil.which(tool):
        command = [tool] if tool in ("ncdump", "nccopy") else [tool, "--version"]
        done = subprocess.run(command, capture_output=True, text=True)
        return re.search(r"\d+\.\d+(\.\d+)?", done.stdout + done.stderr).group()
    return importlib.metadata.version(module.split(",")[0])


written = {}


@pytest.mark.parametrize("tool, kind", RUNS)
def test_a_tool_does_what_the_page_says(files, truth, tmp_path, tool, kind):
    found = outcome_of(tool, kind, files, truth, tmp_path)
    if os.environ.get("NEVE_WRITE_TABLE"):
        written.setdefault(tool, {})[kind] = found
    else:
        assert found == page_table()[tool][kind]


def write_table():
    rows = [
        f"| {tool} | {version_of(tool)} | "
        + " | ".join(written[tool].get(kind, "-") for kind in KINDS)
        + " |\n"
        for tool in TOOLS
    ]
    rule = "|---|---|---|---|---|\n"
    head, _, rest = PAGE.read_text().partition(rule)
    PAGE.write_text(head + rule + "".join(rows) + re.sub(r"\A(\|.*\n)*", "", rest))


def test_the_page_has_every_tool_and_no_other():
    if written:
        write_table()
    table = page_table()
    assert [tool for tool in table if tool in TOOLS] == list(TOOLS)
    for tool, (_, kinds) in TOOLS.items():
        for kind in KINDS:
            assert (table[tool][kind] == "-") == (kind not in kinds), (tool, kind)


def test_neves_own_reader_agrees_with_h5py(files, truth):
    """Of the plotfile, whose values h5py gives as the plugin decodes them: box by box."""
    with package.open(files["plotfile"]) as plotfile:
        for number, level in enumerate(plotfile):
            values = truth["plotfile"][f"level_{number}/data:datatype=0"]
            offsets = truth["plotfile"][f"level_{number}/data:offsets=0"]
            for box, begin in enumerate(offsets[: len(level.boxes)]):
                for component, name in enumerate(plotfile.components):
                    cells = level[name][box].size
                    found = values[begin + component * cells :][:cells]
                    assert found.tobytes() == level[name][box].tobytes(order="F")
