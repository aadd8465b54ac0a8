# SPDX-License-Identifier: BSD-3-Clause
"""Neve over the better one of the paper's two ways, on the same cells: with the paper's units, and
with whichever unit serves a field at a bound best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...paper import output
from ...paper.item import Finding, Item
from .. import tell
from ..files import File, Settings
from ..requests import Point
from ..results import Results, geomean, listed, times, worst
from ..ways import BEST, NEVE, UNITS, with_unit

EFFORTS = tuple(NEVE)
PAPER_UNITS, BEST_UNIT = "the paper's units", "the best unit"  # over which ways
BOUND, PSNR = "equal bound", "equal PSNR"


def units_apart(file: File) -> list[int]:
    """Those that do not cut every level as unit=auto does."""
    auto = {level["auto_unit"] for level in file.levels}
    return [unit for unit in UNITS if auto != {unit}]


def ways_over(file: File) -> dict[str, tuple[str, ...]]:
    """What Neve is compared with, of which the best counts."""
    cut = (with_unit(way, unit) for way in BEST for unit in units_apart(file))
    return {PAPER_UNITS: BEST, BEST_UNIT: (*BEST, *cut)}


def needs(file: File, settings: Settings) -> Iterator[Point]:
    yield from tell.tables(file, settings, [*ways_over(file)[BEST_UNIT], *NEVE.values()])


def at_equal_bound(
    results: Results, file: File, rel: float, effort: str, over: str
) -> float | None:
    """Geometric mean over the fields of the best way's bytes over Neve's."""
    factors = []
    for field in file.fields(results.settings):
        mine = results.row(file, field, NEVE[effort], rel)
        rows = [results.row(file, field, way, rel) for way in ways_over(file)[over]]
        others = [row["stored_bytes"] for row in rows if row is not None]
        if mine is not None and others:
            factors.append(min(others) / mine["stored_bytes"])
    return geomean(factors)


def at_equal_psnr(results: Results, file: File, effort: str, over: str) -> float | None:
    """Geometric mean over the fields of Neve's smallest gain over any of the ways."""
    factors = []
    for field in file.fields(results.settings):
        gains = [results.gain(file, field, NEVE[effort], way) for way in ways_over(file)[over]]
        there = [gain for gain in gains if gain is not None]
        if there:
            factors.append(min(there))
    return geomean(factors)


@dataclass(frozen=True)
class Factor:
    """None where it was not measured."""

    file: File
    at: str  # BOUND or PSNR
    rel: float | None
    effort: str
    over: str
    value: float | None


def _factors(results: Results) -> list[Factor]:
    found = []
    for file in results.files:
        for over in (PAPER_UNITS, BEST_UNIT):
            for effort in EFFORTS:
                for rel in results.settings.bounds:
                    value = at_equal_bound(results, file, rel, effort, over)
                    found.append(Factor(file, BOUND, rel, effort, over, value))
                value = at_equal_psnr(results, file, effort, over)
                found.append(Factor(file, PSNR, None, effort, over, value))
    return found


def _table(found: list[Factor]) -> output.Block:
    """A line for each file and bound, and one for equal PSNR."""
    lines: dict[tuple[File, float | None], dict[tuple[str, str], float | None]] = {}
    for one in found:
        lines.setdefault((one.file, one.rel), {})[one.over, one.effort] = one.value
    columns = [(over, effort) for over in (PAPER_UNITS, BEST_UNIT) for effort in EFFORTS]
    return output.table(
        ("file", "at", *(f"{effort} / {over}" for over, effort in columns)),
        [
            (
                file.name,
                PSNR if rel is None else f"bound {rel:g}",
                *(times(values[column]) for column in columns),
            )
            for (file, rel), values in lines.items()
        ],
    )


def _mean(found: list[Factor], over: str, at: str, effort: str) -> float | None:
    return geomean(f.value for f in found if (f.over, f.at, f.effort) == (over, at, effort))


def find(results: Results) -> Finding:
    found = _factors(results)
    means = {
        over: {f"{e} at {at}": _mean(found, over, at, e) for at in (BOUND, PSNR) for e in EFFORTS}
        for over in (PAPER_UNITS, BEST_UNIT)
    }
    # Claimed is, over the stronger of both: balanced on every file, and fast in the mean at equal
    # bound.
    fast = means[BEST_UNIT][f"fast at {BOUND}"]
    balanced = [
        f for f in found if f.over == BEST_UNIT and f.effort == "balanced" and f.value is not None
    ]
    claimed = [*(f.value for f in balanced), *([] if fast is None else [fast])]
    said = [
        f"over {over} {listed((of[f'{e} at {BOUND}'] for e in EFFORTS), times)} at {BOUND}, "
        f"{listed((of[f'{e} at {PSNR}'] for e in EFFORTS), times)} at {PSNR}"
        for over, of in means.items()
    ]
    return Finding(
        tell.verdict_of_standings([tell.standing(factor) for factor in claimed]),
        "-",
        "1: the better one of SZ_L/R and SZ_Interp for each field, with the paper's units "
        "(unit=auto), and with the best of unit=auto, 8, 16, 32, 64 for each field and bound",
        f"fast, balanced, max: {'; '.join(said)}",
        _why([f for f in balanced if _is_not_ahead(f.value)], fast),
        [_table(found)],
        {f"over {over}": of for over, of in means.items()},
    )


def _is_not_ahead(factor: float) -> bool:
    return tell.standing(factor) != tell.AHEAD


def _why(behind: list[Factor], fast: float | None) -> str:
    names = [
        f"{f.file.name} at {f.at if f.rel is None else f'bound {f.rel:g}'} ({times(f.value)})"
        for f in sorted(behind, key=lambda f: f.value)
    ]
    said = [f"balanced is not ahead of {BEST_UNIT} on {worst(names)}"] if names else []
    if fast is not None and _is_not_ahead(fast):
        said.append(f"fast is not ahead of {BEST_UNIT} at {BOUND} ({times(fast)})")
    return "; ".join(said)


ITEM = Item("past-the-paper", "Past the paper", "Neve over AMRIC's better way", needs, find)
