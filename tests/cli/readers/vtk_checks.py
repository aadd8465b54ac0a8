# SPDX-License-Identifier: BSD-3-Clause
"""VTK, PyVista and ParaView as readers of Neve's files: each function raises where a value differs
from what neve.open or h5py reads, and returns nothing, or why the tool cannot read such files.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import neve

from ..conftest import PLUGIN_DIR, ROOT, environment

SCRIPTS = Path(__file__).parent / "vtk_scripts"
READER = ROOT / "bindings" / "paraview" / "NeveReader.py"
TIMEOUT_SECONDS = 200
XDMF_READERS = {2: "XDMFReader", 3: "Xdmf3ReaderS"}  # of paraview.simple, by XDMF's version


def need(module):
    """Skips where a Python package is not installed. It is not imported here: VTK is large."""
    import importlib.util

    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: pip install {module}")


def run_script(program, script, *words, **changes):
    """A script of SCRIPTS in a process that knows the plugin's folder; what it prints."""
    done = subprocess.run(
        [*program, str(SCRIPTS / script), *map(str, words)],
        env=environment(HDF5_PLUGIN_PATH=str(PLUGIN_DIR), PYTHONWARNINGS="ignore", **changes),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done


def python(script, *words):
    return run_script([sys.executable], script, *words)


def pvpython(script, *words, **changes):
    """pvpython has a Python and an HDF5 of its own system, with numpy and h5py for these."""
    if shutil.which("pvpython") is None:
        pytest.skip("pvpython is not installed: apt-get install python3-paraview python3-h5py")
    package = Path(neve.__file__).parent.parent
    changes = {"PYTHONPATH": str(package), "NEVE_READER": str(READER), **changes}
    program = ["pvpython", "--force-offscreen-rendering"]
    return run_script(program, script, *words, **changes)


def pvpython_with_neve(script, *words, **changes):
    """Skips where the Python of ParaView is not the one that this build of neve is for."""
    probe = pvpython("versions.py").stdout.split()
    if probe[0] != f"{sys.version_info[0]}.{sys.version_info[1]}":
        pytest.skip(
            f"pvpython is Python {probe[0]}, and neve was built for {sys.version.split()[0]}"
        )
    if probe[1] != "h5py":
        pytest.skip("ParaView's Python has no h5py: apt-get install python3-h5py")
    return pvpython(script, *words, **changes)


# --- what they have to find ---


def covered_by_finer(file, level, box):
    """Cells over which a finer box lies, by marking every finer cell."""
    mask = np.zeros(box.shape, bool)
    if level + 1 == len(file):
        return mask
    ratio = file[level].ref_ratio
    for fine in file[level + 1].boxes:
        lo = [f // r - b for f, r, b in zip(fine.lo, ratio, box.lo, strict=True)]
        hi = [f // r - b + 1 for f, r, b in zip(fine.hi, ratio, box.lo, strict=True)]
        mask[tuple(slice(max(a, 0), max(b, 0)) for a, b in zip(lo, hi, strict=True))] = True
    return mask


def place(file, level, box):
    """Where the low corner of a box is: counted from the domain's corner on level 0."""
    first = np.array(file[0].domain.lo)
    for coarser in range(level):
        first = first * np.array(file[coarser].ref_ratio)
    return np.array(file.prob_lo) + (np.array(box.lo) - first) * np.array(file[level].dx)


def check_amr(found, path, levels=None, fields=None):
    """All that VTK holds against neve.open: places, hidden cells, every bit of every value."""
    with neve.open(path) as file:
        levels = sum(len(level.boxes) > 0 for level in file) if levels is None else levels
        fields = file.components if fields is None else fields
        assert float(found["time"]) == file.time
        blocks = {}
        for key in found.files:
            if "|" in key:
                level, number, name = key.split("|", 2)
                blocks.setdefault(int(level), {}).setdefault(int(number), {})[name] = found[key]
        assert sorted(blocks) == list(range(levels))
        for level in range(levels):
            assert len(blocks[level]) == len(file[level].boxes)
            by_place = {tuple(place(file, level, b)): n for n, b in enumerate(file[level].boxes)}
            for block in blocks[level].values():
                check_block(block, file, level, by_place, fields, level + 1 == levels)


def check_block(block, file, level, by_place, fields, is_last):
    dims = file.dims
    origin = block["origin"][:dims]
    dx = np.array(file[level].dx)
    near = [at for at in by_place if np.allclose(at, origin, rtol=0, atol=1e-6 * dx.min())]
    assert len(near) == 1, origin
    number = by_place[near[0]]
    box = file[level].boxes[number]
    np.testing.assert_allclose(block["spacing"][:dims], dx, rtol=1e-14)
    assert tuple(block["points"][:dims]) == tuple(n + 1 for n in box.shape)
    layers = max(block["hidden"].size // box.cells, 1)  # of a file of two dimensions
    hidden = np.zeros(box.shape, bool) if is_last else covered_by_finer(file, level, box)
    found = block["hidden"].reshape(layers, -1)
    np.testing.assert_array_equal(found, np.tile(hidden.ravel(order="F"), (layers, 1)))
    # A file has no slash in the name of a dataset; the scripts write one as a backslash.
    block = {name.replace("\\", "_"): values for name, values in block.items()}
    assert {n for n in block if n.startswith("field|")} == {
        "field|" + name.replace("/", "_") for name in fields
    }
    for name in fields:
        wanted = np.tile(file[level][name][number].ravel(order="F"), layers)
        assert block["field|" + name.replace("/", "_")].tobytes() == wanted.tobytes(), name


# --- the tools ---


def as_vtkhdf(neve_command, path, folder):
    made = folder / (Path(path).name + ".vtkhdf")
    neve_command("convert", path, made, "--follow-external")
    return made


def with_vtk(neve_command, path, folder):
    """A plotfile or checkpoint by `neve convert PATH x.vtkhdf`, read by VTK from PyPI."""
    need("vtk")
    made = as_vtkhdf(neve_command, path, folder)
    python("by_vtk.py", made, folder / "vtk.npz")
    check_amr(np.load(folder / "vtk.npz"), path)


def with_pyvista(neve_command, path, folder):
    """The same, as PyVista's objects. (pyvista.read takes no AMR: "not currently supported".)"""
    need("pyvista")
    made = as_vtkhdf(neve_command, path, folder)
    python("by_pyvista.py", made, folder / "pyvista.npz")
    check_amr(np.load(folder / "pyvista.npz"), path)


def with_pvpython(path, folder, levels=0, fields=None):
    """A plotfile or checkpoint by Neve's reader in ParaView."""
    words = [folder / "pv.npz", levels, "-", ",".join(fields) if fields else "-", path]
    pvpython_with_neve("by_plugin.py", *words)
    check_amr(np.load(folder / "pv.npz"), path, levels or None, fields)


def stored(path):
    """Numbers of a data file as they are stored, by name."""
    found = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu" and item.shape:
            found[name] = item[()]

    with h5py.File(path) as file:
        file.visititems(take)
    return found


def with_xdmf(neve_command, path, folder, reader):
    """A netCDF-4 or HDF5 data file by `neve convert PATH x.xdmf`, read by ParaView's reader of XDMF
    2 or 3, or by "vtk" or "pyvista": every variable of every step.
    """
    made = folder / "made.xdmf"
    if reader not in XDMF_READERS:
        need(reader)
    report = neve_command("convert", path, made, "--json", "--follow-external").json
    out = folder / f"xdmf{reader}.npz"
    if reader in XDMF_READERS:
        pvpython("grids.py", XDMF_READERS[reader], made, out)
    else:
        python("xdmf_by_vtk.py", made, out, reader)
    found, wanted = np.load(out), stored(path)
    steps = max(len(found["times"]), 1)
    for shown in report["variables"]:
        values = wanted[shown.removesuffix(" (packed)")]
        key = shown.replace("/", "\\")
        whole = found[f"0|{key}"].size == values.size
        for step in range(1 if whole else steps):
            part = values if whole else values[step]
            assert found[f"{step}|{key}"].tobytes() == part.tobytes(), (shown, step)


def with_paraview_netcdf(path, folder):
    """A netCDF-4 file by ParaView's netCDF reader, which unpacks and takes fill values for NaN: it
    is compared with numbers that are neither.
    """
    out = folder / "netcdf.npz"
    pvpython("grids.py", "NetCDFReader", path, out)
    found, wanted = np.load(out), stored(path)
    compared = 0
    for key in found.files:
        if key.count("|") != 1 or not key.startswith("0|"):
            continue
        values = wanted.get(key[2:])
        if values is None or values.dtype.kind != "f":
            continue
        for step in range(len(found["times"])):
            part = found[f"{step}|{key[2:]}"]
            truth = values[step].ravel()
            shown = ~np.isnan(part)
            assert part[shown].astype(truth.dtype).tobytes() == truth[shown].tobytes(), key
            compared += int(shown.sum())
    assert compared, found.files


@contextlib.contextmanager
def x_server():
    """Debian's ParaView draws on an X server only; this one has no screen. Yields its display."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed: apt-get install xvfb libgl1-mesa-dri")
    told, tells = os.pipe()
    # Without -noreset it starts anew after its first client, just when the second comes.
    command = ["Xvfb", "-displayfd", str(tells), "-screen", "0", "800x800x24", "-noreset"]
    server = subprocess.Popen(command, pass_fds=[tells], stderr=subprocess.DEVNULL)
    os.close(tells)
    try:
        with os.fdopen(told) as file:
            yield f":{file.readline().strip()}"  # told when it is ready
    finally:
        server.terminate()
        server.wait(TIMEOUT_SECONDS)


def draw(path, field, limits, coord, out, pixels, *colours):
    words = [path, field, *limits, "-" if coord is None else coord, out, pixels, *colours]
    with x_server() as display:
        pvpython_with_neve("picture.py", *words, DISPLAY=display)


def drawn(path, field, limits, coord, folder, pixels):
    """Gray values 0 to 1 of ParaView's picture of a plane [x, y], NaN where nothing is drawn."""
    from matplotlib.image import imread

    out = folder / "picture.png"
    draw(path, field, limits, coord, out, pixels)
    rgb = imread(out)[::-1, :, :3].transpose(1, 0, 2)
    gray = rgb[:, :, 0].astype(float)
    is_background = (rgb[:, :, 2] == 1) & (rgb[:, :, 0] == 0)
    return np.where(is_background, np.nan, gray)
