# SPDX-License-Identifier: BSD-3-Clause
"""engine="neve" of xarray: plotfiles and checkpoints as trees, their levels as datasets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np
import xarray as xr
from xarray.backends import BackendEntrypoint

from .._amr_file import is_amr_file, is_data_file
from .._errors import FAILURE, Error
from ..plotfile import Plotfile
from ._datasets import COVERED, composite_dataset, level_dataset, root_dataset
from ._kept_file import KeptFile

# Before it, fields of two levels with one name had one name in dask, too, and so the same values.
OLDEST_FOR_TREES = (2025, 3, 1)


class XarrayBackend(BackendEntrypoint):
    """Opens plotfiles and checkpoints, in HDF5 and AMReX's directories, for xarray.

    Keywords of open_dataset, open_datatree and open_groups:
    drop_variables   names of variables to leave out
    covered          what cells have that finer boxes cover: "keep", their own values (the average
                     of the finer cells where the file leaves them out); "nan", so that every place
                     counts once over all levels, and boxes that are covered completely are not
                     read; "average", the mean of the finer cells
    follow_external  as of neve.open

    Of open_dataset alone:
    group      "level_0": the level
    composite  a level: instead of one level, all at the resolution of this one, on its domain

    Raises neve.Error if the file is neither, and for values that are not allowed.
    """

    description: ClassVar[str] = "AMR plotfiles and checkpoints: Neve, AMReX, Chombo"
    supports_groups: ClassVar[bool] = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        path = Path(filename_or_obj)
        if path.is_dir():
            return (path / "Header").is_file() and (path / "Level_0").is_dir()
        return path.is_file() and _is_amr_hdf5(path)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        composite: int | None = None,
        covered: str = "keep",
        follow_external: bool = False,
    ) -> xr.Dataset:
        _check_covered(covered)
        if group is not None and composite is not None:
            raise Error(f"group={group!r} and composite={composite!r}; allowed is one of them")
        if composite is not None and covered != "keep":
            raise Error(f"composite={composite!r} and covered={covered!r}; covered is of a level")
        dropped = _names(drop_variables)

        def make(file: KeptFile, plotfile: Plotfile) -> dict[str, xr.Dataset]:
            if composite is None:
                number = _level_number(group, len(plotfile))
                return {"/": level_dataset(file, plotfile, number, covered, dropped)}
            number = _composite_number(composite, len(plotfile))
            return {"/": composite_dataset(file, plotfile, number, dropped)}

        return _open(filename_or_obj, follow_external, make)["/"]

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        covered: str = "keep",
        follow_external: bool = False,
    ) -> dict[str, xr.Dataset]:
        _check_covered(covered)
        dropped = _names(drop_variables)

        def make(file: KeptFile, plotfile: Plotfile) -> dict[str, xr.Dataset]:
            levels = {
                f"/level_{number}": level_dataset(file, plotfile, number, covered, dropped)
                for number in range(len(plotfile))
            }
            return {"/": root_dataset(plotfile), **levels}

        return _open(filename_or_obj, follow_external, make)

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        covered: str = "keep",
        follow_external: bool = False,
    ) -> xr.DataTree:
        _check_version(xr.__version__)
        groups = self.open_groups_as_dict(
            filename_or_obj,
            drop_variables=drop_variables,
            covered=covered,
            follow_external=follow_external,
        )
        tree = xr.DataTree.from_dict(groups)
        for name, data in groups.items():
            tree[name].set_close(data._close)
        return tree


def _open(
    filename: Any,
    follow_external: bool,
    make: Callable[[KeptFile, Plotfile], dict[str, xr.Dataset]],
) -> dict[str, xr.Dataset]:
    """What `make` makes of the file, which is closed again where that fails."""
    file = KeptFile(_path_of(filename), follow_external)
    try:
        with file.open() as plotfile:
            made = make(file, plotfile)
    except BaseException:
        file.close()
        raise
    for data in made.values():
        data.encoding = {
            "source": str(file.path),
            "follow_external": follow_external,
            "identity": file.identity,
        }
        data.set_close(file.close)
    return made


def _path_of(filename: Any) -> Path:
    """Absolute: it is read later, by other processes too."""
    if not isinstance(filename, (str, os.PathLike)):
        raise Error(f"engine 'neve' was given a {type(filename).__name__}; it opens paths")
    path = Path(os.path.abspath(os.path.expanduser(os.fspath(filename))))
    if not path.exists():
        raise Error(f"{path}: no such file or directory", FAILURE)
    if path.is_file() and is_data_file(path):
        raise Error(
            f"{path} is a data file, neither a plotfile nor a checkpoint: open it without engine, "
            "or with xarray's own (netcdf4, h5netcdf), which read what Neve compressed, too"
        )
    return path


def _is_amr_hdf5(path: Path) -> bool:
    if not h5py.is_hdf5(path):
        return False
    try:
        with h5py.File(path, "r") as file:
            return is_amr_file(file)
    except OSError:
        return False


def _names(dropped: str | Iterable[str] | None) -> set[str]:
    if dropped is None:
        return set()
    return {dropped} if isinstance(dropped, str) else set(dropped)


def _check_version(version: str) -> None:
    found = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    if found < OLDEST_FOR_TREES:
        oldest = ".".join(map(str, OLDEST_FOR_TREES))
        raise Error(
            f"xarray {version} mixes up the levels of a tree in dask; allowed are {oldest} and "
            "later. open_dataset with group= opens a level with this one, too"
        )


def _check_covered(covered: str) -> None:
    if covered not in COVERED:
        raise Error(f"covered={covered!r}; allowed are {', '.join(map(repr, COVERED))}")


def _composite_number(composite: Any, levels: int) -> int:
    is_whole = isinstance(composite, (int, np.integer)) and not isinstance(composite, bool)
    if not is_whole or composite not in range(levels):
        raise Error(f"composite={composite!r}; allowed are 0 to {levels - 1}")
    return int(composite)


def _level_number(group: str | None, levels: int) -> int:
    """Of a group's name."""
    if group is None and levels == 1:
        return 0
    found = re.fullmatch(r"/?level_(\d+)/?", group or "")
    if found is None or int(found[1]) >= levels:
        raise Error(
            f"group={group!r}; allowed are 'level_0' to 'level_{levels - 1}'. "
            "xarray.open_datatree opens all levels, composite= joins them into one dataset"
        )
    return int(found[1])
