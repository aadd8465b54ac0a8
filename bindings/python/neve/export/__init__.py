# SPDX-License-Identifier: BSD-3-Clause
"""Fields of a plotfile on a grid of one resolution, written part by part: what `neve export` does
(docs/pictures.md).

For arrays in memory, `neve.open(path)[level][field].composite(lo, hi)` gives the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._keywords import checks_keywords
from ._calls import export_fields
from ._command import main

__all__ = ["export", "main"]


@checks_keywords
def export(
    path: str | Path,
    out: str | Path,
    field: str | Sequence[str] | None = None,
    *,
    level: int = 0,
    lo: Sequence[float] | None = None,
    hi: Sequence[float] | None = None,
    cells: bool = False,
    order: str = "F",
    follow_external: bool = False,
) -> str:
    """Writes `out`; returns a line that says what it holds. Each cell of `level` is the mean of
    finer cells where a finer box holds all of them, else the level's own value, else that of the
    coarse cell it lies in; NaN where no level has a box.

    out       .npy: one field, [x, y, z]. .h5 or .nc: a variable for each field, [z, y, x], with
              coordinates, which netCDF-4, xarray and h5py read
    field     a name, or several; None: all of them
    lo, hi    corners of a part of the domain, in the domain's coordinates: every cell that has a
              part between them; with `cells` cells of the level, both included
    order     of the values in a .npy file: "F", x fastest, or "C", x slowest
    follow_external  also read files outside the folder of a file that refers to them

    neve.Error names what is wrong, and leaves what was at `out`.
    """
    return export_fields(path, out, field, level, lo, hi, cells, order, follow_external)
