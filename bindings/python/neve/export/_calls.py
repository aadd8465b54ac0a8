# SPDX-License-Identifier: BSD-3-Clause
"""What `neve.export.export` and `neve export` do: fields of a plotfile, read and written part by
part.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

from .. import _grid
from .._amr_file import is_data_file
from .._errors import Error
from .._hierarchy import Box
from .._listed import listed
from .._ranges import check_range
from .._told_steps import Steps
from ..plotfile import Plotfile, check_field
from ..plotfile import open as open_plotfile
from ._region import parts, region_of
from ._writers import GRID_FILES, NPY, variable_name, write_grid_file, write_npy

ORDERS = ("F", "C")


def export_fields(
    path: str | Path,
    out: str | Path,
    field: str | Sequence[str] | None,
    level: int,
    lo: Sequence[float] | None,
    hi: Sequence[float] | None,
    cells: bool,
    order: str,
    follow_external: bool,
) -> str:
    """Writes the file; says what it holds."""
    out = Path(out)
    if out.suffix not in NPY + GRID_FILES:
        raise Error(f"{out}: allowed are {', '.join(NPY + GRID_FILES)}")
    if order not in ORDERS:
        raise Error(f"order is {order!r}; allowed are F and C")
    if order == "C" and out.suffix in GRID_FILES:
        raise Error(f"order C is of .npy; {out.suffix} has variables [z, y, x]")
    if out.exists() and Path(path).exists() and out.samefile(path):
        raise Error(f"{out}: it is the file that is read; another name is allowed")
    _check_kind(Path(path))
    with open_plotfile(path, follow_external=follow_external) as file:
        check_range("export", "level", level, 0, len(file) - 1)
        fields = _fields(file, field, out)
        region = region_of(file, file[level], lo, hi, cells)
        axis = 0 if order == "C" else file.dims - 1
        slabs = sum(1 for _ in parts(region, file.dtype.itemsize, axis))
        reader = _Reader(file, level, len(fields) * slabs if slabs > 1 else 0)
        if out.suffix in NPY:
            write_npy(out, file, fields[0], region, order, reader.read)
            layout = f"[{', '.join('xyz'[: file.dims])}], order {order}"
        else:
            write_grid_file(out, file, fields, file[level], region, reader.read)
            layout = f"[{', '.join('xyz'[: file.dims][::-1])}]"
        told = (
            f"wrote {out}: {listed(fields)} {layout}, "
            f"{' x '.join(map(str, region.shape))} cells of level {level}, {file.dtype}"
        )
        empty = f"; {reader.empty} values are NaN" if reader.empty else ""
        return told + (_renamed(file, fields) if out.suffix in GRID_FILES else "") + empty


def _renamed(file: Plotfile, fields: Sequence[str]) -> str:
    """Which variables are not called as their fields."""
    names = {field: variable_name(file, field) for field in fields}
    changed = [f"field {listed([f])} is variable {n}" for f, n in names.items() if n != f]
    return "".join(f"; {words}" for words in changed)


def _check_kind(path: Path) -> None:
    """neve.open would miss what makes a plotfile, which does not tell what to do instead."""
    if not path.is_file() or not os.access(path, os.R_OK):
        return
    if not h5py.is_hdf5(path):
        raise Error(
            f"{path}: neither a plotfile's directory nor HDF5; neve export is for plotfiles and "
            "checkpoints"
        )
    if is_data_file(path):
        raise Error(
            f"{path}: a data file, whose variables are on one grid already; neve export is for "
            "plotfiles and checkpoints"
        )


class _Reader:
    """Values of all levels at the resolution of one."""

    def __init__(self, file: Plotfile, level: int, count: int):
        self._file = file
        self._level = level
        self._steps = Steps("neve export", "part", count)  # 0: they are few
        self.empty = 0  # values that are NaN, where no level has a box, too

    def read(self, field: str, region: Box) -> np.ndarray:
        self._steps.tell_next()
        source, component = self._file._source, self._file.components.index(field)
        values = _grid.composite_region(source, self._level, component, region)
        self.empty += int(np.isnan(values).sum())
        return values


def _fields(file: Plotfile, asked: str | Sequence[str] | None, out: Path) -> list[str]:
    if asked is None:
        if out.suffix in NPY and len(file.components) > 1:
            raise Error(
                f"{out}: a .npy file holds one field; name it with --field, one of "
                f"{listed(file.components)}; or write all of them into .h5 or .nc"
            )
        return list(file.components)
    words = [asked] if isinstance(asked, str) else list(asked)
    fields = []
    for word in words:
        fields += [word] if word in file.components or "," not in word else word.split(",")
    for name in fields:
        check_field(file._source, name)
    if len(set(fields)) < len(fields):
        raise Error(f"a field is named twice: {listed(fields)}")
    if out.suffix in NPY and len(fields) != 1:
        raise Error(f"{out}: a .npy file holds one field, not {len(fields)}; use .h5 or .nc")
    return fields
