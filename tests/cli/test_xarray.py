# SPDX-License-Identifier: BSD-3-Clause
"""xarray opens every kind of file that neve.open opens, with the same values."""

import sys

import numpy as np
import pytest

import neve as package

from . import amrex_files, chombo_files
from .conftest import run_as_stranger, shared
from .readers.xarray_checks import check_field, with_dask, with_datatree, xarray

netCDF4 = pytest.importorskip("netCDF4", reason="netCDF4 is not installed")


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("words", [(), ("--bound", "abs=1e-6"), ("--covered", "auto")])
def test_a_domain_that_begins_elsewhere_and_its_original(neve, tmp_path, dims, words):
    places = amrex_files.Places(
        dims, (-1.0, 7.0, 2.0)[:dims], (0.1, 0.3, 0.7)[:dims], (-4, 6, 2)[:dims], (16, 8, 12)[:dims]
    )
    amrex_files.write(tmp_path / "plt", places)
    neve("convert", tmp_path / "plt", tmp_path / "plt.h5", *words)
    for name in ("plt", "plt.h5"):
        with_datatree(tmp_path / name)
        with_dask(tmp_path / name)
        with xarray.open_datatree(tmp_path / name, engine="neve") as tree:
            for level in tree.children.values():
                for axis in "xyz"[:dims]:  # each field is the place of its cells
                    field = level[f"{axis}_centre"]
                    wanted = level[axis].broadcast_like(field)
                    found = field.where(field.notnull(), wanted)
                    np.testing.assert_allclose(found, wanted, atol=0.01)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_plotfiles_and_checkpoints_of_chombo(neve, tmp_path, dims):
    variables = [
        chombo_files.Variable("data", components=2, ghosts=1, gap=3),
        chombo_files.Variable("thickness", dtype="<f8", reverse=True),
        chombo_files.Variable("velocity", components=2, ghosts=1),
    ]
    source, copy = tmp_path / "chk.h5", tmp_path / "copy.h5"
    chombo_files.write(source, dims, variables, components=("rho", "a/b"))
    neve("convert", source, copy)
    for path in (source, copy):
        with_datatree(path)
        with_dask(path)
    with xarray.open_datatree(copy, engine="neve") as tree:
        names = ["rho", "a_b", "thickness", "velocity 0", "velocity 1"]
        assert list(tree["level_0"].data_vars) == names
        assert tree["level_0"]["a_b"].attrs["field"] == "a/b"


def test_a_field_called_like_a_coordinate(neve, tmp_path):
    variables = [chombo_files.Variable("data", components=4)]
    chombo_files.write(
        tmp_path / "plt.h5", 2, variables, restart=False, components=("x", "time", "z", "a_/b")
    )
    with xarray.open_dataset(tmp_path / "plt.h5", engine="neve", group="level_0") as data:
        assert list(data.data_vars) == ["x_field", "time_field", "z_field", "a__b"]
        with package.open(tmp_path / "plt.h5") as plotfile:
            check_field(data["x_field"].values, plotfile[0], "x")


@pytest.mark.parametrize("name", ["ramp.000020.3d.hdf5", "explosion_density.000020.3d.hdf5"])
def test_real_files_with_ghosts_and_gzip(neve, tmp_path, name):
    with_dask(shared(f"chombo/{name}"))
    neve("convert", shared(f"chombo/{name}"), tmp_path / "small.h5", "--bound", "rel=1e-4")
    with_dask(tmp_path / "small.h5")


def make_netcdf(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 4000)
        file.createVariable("here", "f4", ("x",), chunksizes=(1000,))[:] = np.sin(np.arange(4000))
        group = file.createGroup("deeper")
        group.createVariable("there", "f8", ("x",), chunksizes=(1000,))[:] = np.arange(4000) / 7


def test_data_files_and_their_groups(neve, tmp_path):
    make_netcdf(tmp_path / "source.nc")
    neve("convert", tmp_path / "source.nc", tmp_path / "small.nc", "--bound", "abs=1e-3")
    with_datatree(tmp_path / "small.nc")
    with_dask(tmp_path / "small.nc")
    with pytest.raises(package.Error, match="is a data file.*without engine"):
        xarray.open_dataset(tmp_path / "small.nc", engine="neve")
    assert not package.xarray.XarrayBackend().guess_can_open(tmp_path / "small.nc")


@pytest.mark.parametrize("engine", ["", ", engine='h5netcdf'"])
def test_programs_that_do_not_import_neve_read_data_files(neve, tmp_path, engine):
    """xarray itself loads every engine when it looks for one, Neve's with its plugin."""
    make_netcdf(tmp_path / "source.nc")
    neve("convert", tmp_path / "source.nc", tmp_path / "small.nc", "--bound", "abs=1e-3")
    opened = f"xarray.open_dataset({str(tmp_path / 'small.nc')!r}{engine})"
    before = "xarray.backends.list_engines(); " if engine else ""
    words = f"import os, xarray; del os.environ['HDF5_PLUGIN_PATH']; {before}"
    said = run_as_stranger(sys.executable, "-c", words + f"print(float({opened}.here[5]))")
    assert float(said) == pytest.approx(np.sin(5), abs=1.1e-3)
