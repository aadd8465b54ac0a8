# SPDX-License-Identifier: BSD-3-Clause
"""Past the paper: Neve's skeleton and compressed writes beside ACB, in the paper's runs
and here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number, span
from .. import cases, drawing, measured, tell
from ..requests import Modelled, Request
from ..results import Plan, Results
from ..settings import Settings
from ..strategies import AGGREGATED, COMPRESSED, HDF5, SKELETON, label
from . import figure_13, scaling
from .scaling_here import compared, decided, ratios, verdict

SHOWN = (AGGREGATED, SKELETON, COMPRESSED)
ACB = HDF5[AGGREGATED]
# ACB through HDF5, and without it: what is gained by the file's structure alone is seen.
HERE = ((SKELETON, ACB), (SKELETON, AGGREGATED), (COMPRESSED, ACB))
BASIS = (
    f"The model's compressed writes have a ratio of {cases.RATIO} and the codec speed of one "
    "machine (docs/io-model.md)"
)


def needs(settings: Settings) -> Iterator[Request]:
    for system in cases.SYSTEMS:
        yield from scaling.needs_of(system)
    for words in cases.BISICLES.values():
        yield Modelled(words)
    yield from measured.every_timed(settings)


def runs(results: Results) -> dict[str, Plan]:
    """The paper's, by name."""
    found = {
        f"{system.capitalize()}, {size}": plan
        for system in cases.SYSTEMS
        for size, plan in scaling.plans(results, system).items()
    }
    of_bisicles = figure_13.plans(results)
    return found | {
        f"{cases.EDISON.capitalize()}, BISICLES {kind}": plan for kind, plan in of_bisicles.items()
    }


def find(results: Results) -> Finding:
    paper = "ACB is the fastest of three; compression is not a subject"
    there = runs(results)
    if not there:
        return tell.without_numbers(paper)
    by_model = {
        f"{label(mine)} over ACB, {run}": plan.speedup(mine, AGGREGATED) >= 1
        for mine in (SKELETON, COMPRESSED)
        for run, plan in there.items()
    }
    here = {k: v for mine, other in HERE for k, v in compared(results, mine, other).items()}
    judged: dict[str, bool | None] = {**by_model, **here}
    slower = [what for what, is_so in by_model.items() if not is_so]
    bars = {label(one): [plan.seconds(one) for plan in there.values()] for one in SHOWN}
    return Finding(
        verdict(judged),
        paper,
        "measured here, times as fast: "
        + ", ".join(f"{mine} over {other} {ratios(results, mine, other)}" for mine, other in HERE),
        f"by the model, over ACB: skeleton {_over(there, SKELETON)}, compressed "
        f"{_over(there, COMPRESSED)} times as fast",
        tell.joined(
            f"by the model, slower: {tell.first(slower)}" if slower else "",
            f"measured here, {decided(here)}" if here else "",
            BASIS,
        ),
        [
            output.picture(
                "pictures/past-the-paper",
                partial(
                    drawing.bars, "The paper's runs, by the model", "seconds", list(there), bars
                ),
            ),
            output.table(
                ("run, by the model", *(f"{label(one)}, s" for one in SHOWN)),
                [(run, *(number(p.seconds(s)) for s in SHOWN)) for run, p in there.items()],
            ),
        ],
        judged,
    )


def _over(there: dict[str, Plan], mine: str) -> str:
    return span(plan.speedup(mine, AGGREGATED) for plan in there.values())


TITLE = "Neve's skeleton and compressed writes beside ACB"
ITEM = Item("past-the-paper", "Past the paper", TITLE, needs, find)
