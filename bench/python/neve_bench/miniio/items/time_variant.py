# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 2: values change with time, on a grid and with land that do not. Values of the surface
and bytes of the grid are looked at in steps that follow one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...paper import output
from ...paper.item import MEASURED, Finding, Item, verdict_of
from ...paper.numbers import counted, number
from .. import measured, outputs, told
from ..requests import Stored, Surface
from ..results import EQUAL, Results, stored_by
from ..settings import Settings
from .filling import FILL

STEPS = (0, 1, 2)
SHOWN = (outputs.SHUFFLE, outputs.ZFP, outputs.HDF5_NEVE)


@dataclass(frozen=True)
class Change:
    """Of a surface against that of the first step."""

    is_land_alike: bool
    share: float  # of valid points whose value is another
    largest: float
    correlation: float

    @property
    def is_so(self) -> bool:
        return self.is_land_alike and self.share > 0


def _surface(settings: Settings, step: int) -> Surface:
    return Surface(("--seed", str(settings.seed), "--first-step", str(step)))


def _stored(settings: Settings, step: int) -> Stored:
    words = (*settings.grid_words, *measured.BOUND, "--balance", "off", "--first-step", str(step))
    return Stored("struct", words, SHOWN, 1)


def needs(settings: Settings) -> Iterator[Surface | Stored]:
    for step in STEPS:
        yield _surface(settings, step)
        yield _stored(settings, step)


def change(first: Sequence[Sequence[float]], later: Sequence[Sequence[float]]) -> Change:
    before, after = np.array(first), np.array(later)
    land = before == FILL
    both = ~land & (after != FILL)
    a, b = before[both], after[both]
    return Change(
        bool(np.array_equal(land, after == FILL)),
        float(np.mean(a != b)),
        float(np.max(np.abs(a - b))),
        float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else 1.0,
    )


def find(results: Results) -> Finding:
    paper = "a static, structured 3D grid, blanked values, and time-variant data values"
    surfaces = {step: results.result(_surface(results.settings, step)) for step in STEPS}
    rows = {
        step: stored_by(results.result(_stored(results.settings, step)), EQUAL) for step in STEPS
    }
    if None in surfaces.values() or not all(rows.values()):
        return Finding(MEASURED, paper, "-", "-", "not measured")
    values = {step: one["values"] for step, one in surfaces.items() if one is not None}
    changes = {step: change(values[STEPS[0]], values[step]) for step in STEPS[1:]}
    sizes = {name: [rows[step][name]["file_bytes"] for step in STEPS] for name in SHOWN}
    held = [one.is_so for one in changes.values()]

    def said(names: Sequence[str]) -> str:
        return "; ".join(f"{name} {', '.join(map(str, sizes[name]))} bytes" for name in names)

    return Finding(
        verdict_of(sum(held), len(held)),
        paper,
        f"of valid points {_percents([one.share for one in changes.values()])} have another value "
        f"{counted(len(changes), 'step')} on; steps {', '.join(map(str, STEPS))}: "
        + said([name for name in SHOWN if outputs.is_papers(name)]),
        said([name for name in SHOWN if not outputs.is_papers(name)]),
        told.joined(
            "; ".join(
                f"step {step}: land is elsewhere"
                for step, one in changes.items()
                if not one.is_land_alike
            ),
            "counted, with struct's --time-frequency of 0.1 noise cells a step; each step is "
            "compressed by itself",
        ),
        [output.table(*_table(changes, rows))],
        {
            "correlation": {str(step): one.correlation for step, one in changes.items()},
            "bytes": sizes,
        },
    )


def _percents(shares: Sequence[float]) -> str:
    return " and ".join(dict.fromkeys(f"{share:.0%}" for share in shares))


def _table(changes: dict[int, Change], rows: dict[int, dict]):
    header = (
        "step",
        "valid points with another value than in step 0",
        "largest change",
        "correlation with step 0",
        "land is the same",
        *(f"{name}, bytes" for name in SHOWN),
    )
    lines = []
    for step in STEPS:
        one = changes.get(step)
        told_of = ("-",) * 4
        if one is not None:
            alike = "yes" if one.is_land_alike else "no"
            told_of = (f"{one.share:.0%}", number(one.largest), number(one.correlation), alike)
        sizes = (str(rows[step][name]["file_bytes"]) for name in SHOWN)
        lines.append((str(step), *told_of, *sizes))
    return header, lines


ITEM = Item(
    "time-variant", "Paragraph 2, time", "Values change with time, land does not", needs, find
)
