# SPDX-License-Identifier: BSD-3-Clause
"""What tables 2 and 3 share: means over fields and steps of a run, a bound for each side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..paper import output
from ..paper.numbers import number
from . import tell, ways
from .files import File, Settings
from .requests import Point
from .results import Results, geomean
from .ways import ADAPTIVE, AMREX, BEST, INTERP, NEVE

# AMRIC's and AMReX's bounds of the paper's WarpX and Nyx runs (table 1).
PAPER_BOUNDS = ((1e-3, 5e-3), (1e-3, 1e-2), (1e-4, 5e-4))
COLUMNS = (
    "run",
    "bounds",
    "AMReX 1D, all cells",
    "AMReX 1D, same cells",
    "AMRIC SZ_L/R",
    "AMRIC SZ_Interp",
    "Neve fast",
    "Neve balanced",
    "Neve max",
)


@dataclass(frozen=True)
class Line:
    """A run, at the bound of AMRIC and Neve and the one of AMReX."""

    run: str
    steps: tuple[File, ...]
    bound: float
    amrex_bound: float
    values: tuple[float | None, ...]  # of COLUMNS from the third on

    @property
    def cells(self) -> list[str]:
        bounds = (
            f"{self.bound:g}"
            if self.bound == self.amrex_bound
            else (f"{self.bound:g}; AMReX {self.amrex_bound:g}")
        )
        return [self.run, bounds, *map(number, self.values)]


def needs(file: File, settings: Settings) -> Iterator[Point]:
    """AMReX as in the paper, with all cells, and on the cells of the others."""
    yield from tell.tables(file, settings, [AMREX], "all")
    yield from tell.tables(file, settings, [AMREX, ADAPTIVE, INTERP, *NEVE.values()])


def bounds_of(settings: Settings) -> list[tuple[float, float]]:
    """The paper's pairs, of those that were measured, and one bound for both."""
    pairs = [pair for pair in PAPER_BOUNDS if set(pair) <= set(settings.bounds)]
    return [*pairs, *((bound, bound) for bound in settings.bounds)]


def lines(results: Results, of: str) -> list[Line]:
    """Means of a row's number, "ratio" or "psnr_db"."""
    found = []
    for run, steps in results.runs.items():
        for bound, amrex_bound in bounds_of(results.settings):
            values = [
                results.mean(steps, AMREX, amrex_bound, of, "all"),
                results.mean(steps, AMREX, amrex_bound, of),
                *(results.mean(steps, w, bound, of) for w in (ADAPTIVE, INTERP, *NEVE.values())),
            ]
            found.append(Line(run, tuple(steps), bound, amrex_bound, tuple(values)))
    return found


def table(found: Sequence[Line]) -> output.Block:
    return output.table(COLUMNS, [line.cells for line in found])


def paper_table(rows: Sequence[tuple[str, float, float, float]]) -> output.Block:
    header = ("paper's run", *(ways.label(way) for way in (AMREX, ADAPTIVE, INTERP)))
    return output.table(header, [(run, *(f"{value:g}" for value in of)) for run, *of in rows])


def best_of_amric(line: Line) -> float | None:
    """The better one of SZ_L/R and SZ_Interp."""
    return max((value for value in line.values[2:4] if value is not None), default=None)


def at_one_bound(found: Sequence[Line]) -> list[Line]:
    """Each run and bound once: the lines with a larger bound for AMReX repeat the others' values,
    and AMReX's own at its bound.
    """
    return [line for line in found if line.bound == line.amrex_bound]


def column(found: Sequence[Line], place: int) -> float | None:
    """Geometric mean over the lines."""
    return geomean(line.values[place] for line in found)


def bytes_over(results: Results, line: Line, way: str) -> float | None:
    """All bytes of the better of AMRIC's two ways for each field and step over those of `way`, of
    the fields and steps that all have. Large fields weigh as their bytes do, so a gain on a field
    that takes next to nothing does not count for much.
    """
    theirs = ours = 0
    for file in line.steps:
        for field in file.fields(results.settings):
            mine = results.row(file, field, way, line.bound)
            rows = [results.row(file, field, each, line.bound) for each in BEST]
            others = [row["stored_bytes"] for row in rows if row is not None]
            if mine is not None and others:
                theirs += min(others)
                ours += mine["stored_bytes"]
    return theirs / ours if ours else None
