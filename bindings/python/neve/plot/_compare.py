# SPDX-License-Identifier: BSD-3-Clause
"""What differs between an original and its copy: in the plane that is drawn, and in all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .._errors import Error
from ._amr_source import AmrSource
from ._array_source import ArraySource
from ._borders import BorderErrors
from ._data_file import DataFileSource
from ._drawing import Drawing, Masked, Plane
from ._grid_view import Variable
from ._sources import PlotSource

PART_VALUES = 1 << 24  # of a variable are compared at a time


@dataclass(frozen=True)
class Worst:
    """The largest |error| of a field, and its bound: a level each, or one of all."""

    errors: tuple[float, ...]
    bounds: tuple[float, ...]  # none where the copy records none
    is_by_level: bool

    def text(self, field: str) -> str:
        by = ", worst by level:" if self.is_by_level else ", worst:"
        told = f"error of {field}{by} {_listed(self.errors)}"
        if self.bounds:
            told += f"\nbound{' by level' if self.is_by_level else ''}: {_listed(self.bounds)}"
        return told

    def broken(self) -> str:
        """Of which levels the bound is broken; empty where it holds everywhere."""
        where = [
            f"level {i}"
            for i, (error, bound) in enumerate(zip(self.errors, self.bounds, strict=False))
            if error > bound
        ]
        if not where:
            return ""
        return "the bound is broken" + (f": {', '.join(where)}" if self.is_by_level else "")


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{v:.3g}" for v in values)


def check_alike(copy: PlotSource, original: PlotSource) -> None:
    """Both AMR files, or neither."""
    if isinstance(copy, AmrSource) != isinstance(original, AmrSource):
        raise Error(
            f"{original.path} and {copy.path} are of different kinds; a plotfile is compared with "
            "a plotfile, a data file or an array with one of these"
        )


def error_of(copy: Drawing, original: Drawing) -> Drawing:
    """Copy minus original; masked where one of them has no value."""
    same = type(copy) is type(original) and copy.values.shape == original.values.shape
    if isinstance(copy, Plane) and isinstance(original, Plane) and same:
        same = copy.levels is None or np.array_equal(copy.levels, np.asarray(original.levels))
        if not same:
            raise Error(
                "the two files differ in their boxes; an error is drawn between a file and the one "
                "that it was made from"
            )
    if not same:
        raise Error(
            f"{copy.field}: shapes {original.values.shape} and {copy.values.shape} in the two "
            "files; an error is drawn between a file and the one that it was made from"
        )
    error = _difference(copy.values, original.values)
    missing = np.ma.getmaskarray(copy.values) != np.ma.getmaskarray(original.values)
    notes = copy.notes
    if missing.any():
        notes = (
            *notes,
            f"{copy.field}: {int(missing.sum())} values are missing in one of the files",
        )
    return replace(copy, values=error, notes=notes)


def _difference(copy: Masked, original: Masked) -> Masked:
    with np.errstate(invalid="ignore"):
        values = np.ma.getdata(copy).astype(np.float64) - np.ma.getdata(original).astype(np.float64)
    mask = np.ma.getmaskarray(copy) | np.ma.getmaskarray(original)
    return np.ma.array(values, mask=mask)


def worst_of(
    copy: PlotSource,
    original: PlotSource,
    names: tuple[str, str],
    last: int,
    borders: BorderErrors | None,
) -> Worst:
    """Over every value that both have, not only those in the plane. `names`: the field's in the
    copy and in the original. `borders` gets the errors of AMR files, box by box.
    """
    if isinstance(copy, AmrSource) and isinstance(original, AmrSource):
        return _worst_by_level(copy, original, names[0], last, borders)
    assert isinstance(copy, (ArraySource, DataFileSource))
    assert isinstance(original, (ArraySource, DataFileSource))
    mine, theirs = copy.variable(names[0]), original.variable(names[1])
    largest = 0.0
    for index in _parts(mine):
        error = _difference(mine.read(index), theirs.read(index)).compressed()
        largest = max(largest, float(np.abs(error[np.isfinite(error)]).max(initial=0.0)))
    bounds = () if mine.bound_abs is None else (mine.bound_abs,)
    return Worst((largest,), bounds, is_by_level=False)


def _parts(variable: Variable) -> Iterator[tuple[slice, ...]]:
    """Slabs along the first dimension."""
    shape = [d.size for d in variable.dims]
    rest = max(1, int(np.prod(shape[1:], dtype=np.int64)))
    step = max(1, PART_VALUES // rest)
    for begin in range(0, shape[0], step):
        yield (slice(begin, begin + step), *(slice(None) for _ in shape[1:]))


def bounds_of(copy: AmrSource, field: str, last: int) -> tuple[float, ...]:
    """The absolute bound of each level; none where the file records none."""
    bounds = [copy.plotfile[level][field].bound_abs for level in range(last + 1)]
    known = tuple(b for b in bounds if b is not None)
    return known if len(known) == len(bounds) else ()


def _worst_by_level(
    copy: AmrSource, original: AmrSource, field: str, last: int, borders: BorderErrors | None
) -> Worst:
    mine, theirs = copy.plotfile, original.plotfile
    worst = []
    for level in range(last + 1):
        if mine[level].boxes != theirs[level].boxes:
            raise Error(
                f"the boxes of level {level} differ between {copy.path} and {original.path}"
            )
        largest = 0.0
        for number, (a, b) in enumerate(zip(mine[level][field], theirs[level][field], strict=True)):
            with np.errstate(invalid="ignore"):
                error = a.astype(np.float64) - b
            largest = max(largest, float(np.abs(error[np.isfinite(error)]).max(initial=0.0)))
            if borders is not None:
                borders.add(level, number, error)
        worst.append(largest)
    return Worst(tuple(worst), bounds_of(copy, field, last), is_by_level=True)


def reach_of(error: Drawing) -> float:
    """The largest |error| that is drawn; 1 where there is none, for a scale."""
    shown = np.abs(error.values.compressed())
    return float(shown[np.isfinite(shown)].max(initial=0.0)) or 1.0
