# SPDX-License-Identifier: BSD-3-Clause
"""Every order of importing neve, netCDF4, hdf5plugin and h5py leaves each one's filters found."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest

import neve

MODULES = ("neve", "netCDF4", "hdf5plugin", "h5py")

# After the imports: each package writes with each of its filters, and reads what neve.Filter made.
EVERY_FILTER = """
import sys
import numpy as np

values = (np.arange(4000) % 61 / 7).astype("f4").reshape(40, 100)
folder = sys.argv[1]

with netCDF4.Dataset(folder + "/n.nc", "w") as file:
    file.createDimension("y", 40)
    file.createDimension("x", 100)
    for name in ("zlib", "zstd", "bzip2", "blosc_lz4", "blosc_zstd"):
        file.createVariable(name, "f4", ("y", "x"), compression=name)[:] = values
with netCDF4.Dataset(folder + "/n.nc") as file:
    for name in file.variables:
        assert (file[name][:] == values).all(), name

with h5py.File(folder + "/h.h5", "w") as file:
    file.create_dataset("neve", data=values, chunks=(20, 50), **neve.Filter(abs=0.01))
    for name in ("Blosc", "Blosc2", "Zstd", "LZ4", "Bitshuffle", "BZip2", "Zfp", "SZ3"):
        arguments = getattr(hdf5plugin, name)()
        file.create_dataset(name, data=values, chunks=(20, 50), **dict(arguments))
with h5py.File(folder + "/h.h5") as file:
    for name in file:
        assert abs(file[name][()] - values).max() <= 0.02, name
with netCDF4.Dataset(folder + "/h.h5") as file:
    assert abs(file["neve"][:] - values).max() <= 0.01
"""


def run(script: str, folder, **variables) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "HDF5_PLUGIN_PATH"} | variables
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def needs(*modules: str) -> None:
    for module in modules:
        pytest.importorskip(module, reason=f"{module} is not installed")


@pytest.mark.parametrize("order", list(itertools.permutations(MODULES)), ids="-".join)
def test_every_filter_of_each_works(tmp_path, order):
    needs(*MODULES)
    run("\n".join(f"import {module}" for module in order) + EVERY_FILTER, tmp_path)


@pytest.mark.parametrize("order", list(itertools.permutations(MODULES[:2])), ids="-".join)
def test_a_library_that_runs_already_is_told(tmp_path, order):
    """netCDF4's HDF5 has looked at the variable when its first file is opened."""
    needs("netCDF4", "hdf5plugin", "h5py")
    script = (
        f"import {order[0]}\nimport netCDF4\n"
        "netCDF4.Dataset('x', 'w', diskless=True).close()\n"
        f"import {order[1]}, h5py, hdf5plugin\n"
    )
    run(script + EVERY_FILTER, tmp_path)


@pytest.mark.parametrize("later", [True, False], ids=["imported later", "never imported"])
def test_what_h5py_read_before_neve_it_reads_after(tmp_path, later):
    """With netCDF4's Blosc, where hdf5plugin is installed and nobody has imported it."""
    needs("netCDF4", "hdf5plugin", "h5py")
    path = tmp_path / "blosc.nc"
    write = f"""
import netCDF4, numpy as np
with netCDF4.Dataset({str(path)!r}, "w") as file:
    file.createDimension("x", 1000)
    file.createVariable("x", "f4", ("x",), compression="blosc_lz4")[:] = np.arange(1000)
"""
    run(write, tmp_path)
    read = f"with h5py.File({str(path)!r}) as file: assert file['x'][999] == 999\n"
    script = "import netCDF4, h5py\n" + read + "import neve\n" + read
    if later:
        script += "import hdf5plugin\n" + EVERY_FILTER
    run(script, tmp_path)
    run("import netCDF4, h5py, neve\n" + read, tmp_path)


def test_what_the_variable_named_goes_on_to_be_found(tmp_path):
    """The user's own folder, with a plugin in it that nobody else has."""
    needs("netCDF4")
    script = """
import os, neve
assert os.environ["HDF5_PLUGIN_PATH"].split(":")[1:] == ["/some/where", "/else"]
import importlib
importlib.reload(neve._plugin).register()
assert os.environ["HDF5_PLUGIN_PATH"].split(":")[1:] == ["/some/where", "/else"]
"""
    run(script, tmp_path, HDF5_PLUGIN_PATH="/some/where:/else")


def test_without_netcdf4_and_without_the_variable(tmp_path):
    script = """
import sys, os
sys.modules["netCDF4"] = None
import neve, h5py
folders = os.environ["HDF5_PLUGIN_PATH"].split(":")
assert folders[0] == str(neve.plugin_dir()) and len(folders) == len(set(folders))
with h5py.File(sys.argv[1] + "/a.h5", "w") as file:
    file.create_dataset("x", data=[1.0, 2.0], **neve.Filter(abs=0.1))
"""
    run(script, tmp_path)


def test_children_find_the_plugin(tmp_path, h5dump):
    path = tmp_path / "a.h5"
    script = f"""
import subprocess, sys, neve, h5py
with h5py.File({str(path)!r}, "w") as file:
    file.create_dataset("x", data=[2.5] * 50, **neve.Filter(abs=0.1))
done = subprocess.run([{h5dump!r}, "-d", "/x", {str(path)!r}], capture_output=True, text=True)
assert done.returncode == 0, done.stderr
assert done.stdout.count("2.5") + done.stdout.count("2.4") == 50
"""
    run(script, tmp_path)
    assert str(neve.plugin_dir()) in os.environ["HDF5_PLUGIN_PATH"]
