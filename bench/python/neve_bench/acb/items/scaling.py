# SPDX-License-Identifier: BSD-3-Clause
"""Figures 6 and 7: write times of three sizes of file, by the model that is fitted to them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number, span
from .. import cases, drawing, stated, tell
from ..requests import Modelled
from ..results import Plan, Results
from ..settings import Settings
from ..strategies import AGGREGATED, COLLECTIVE, COMPRESSED, INDEPENDENT, METHODS, SKELETON, label

SHOWN = (*METHODS, SKELETON, COMPRESSED)
FITTED = (
    "The model's constants are fitted to the ends of these ranges, and to nothing else of the "
    "paper's speedups. The paper prints no seconds: its figures show them, its text has ratios"
)


def plans(results: Results, system: str) -> dict[str, Plan]:
    """By size of the file."""
    found = {size: results.plan(words) for size, words in cases.scaling(system)}
    return {size: plan for size, plan in found.items() if plan is not None}


def checks(results: Results, system: str) -> list[tell.Check]:
    there = plans(results, system).values()
    if len(there) < len(cases.SCALING):
        return []
    return [
        check
        for one in stated.of(stated.OF_SCALING, system)
        for check in tell.of_range(
            one, [plan.speedup(one.mine, one.other) for plan in there], tell.FITTED_WITHIN
        )
    ]


def needs_of(system: str) -> Iterator[Modelled]:
    for _, words in cases.scaling(system):
        yield Modelled(words)


def _figure(number_of_figure: int, system: str) -> Item:
    def needs(_: Settings) -> Iterator[Modelled]:
        return needs_of(system)

    def find(results: Results) -> Finding:
        there = plans(results, system)
        paper = tell.ranges(stated.of(stated.OF_SCALING, system))
        held = checks(results, system)
        if not held:
            return tell.without_numbers(paper)
        every = there.values()
        name = f"pictures/figure-{number_of_figure}"
        lines = {label(one): [plan.seconds(one) for plan in every] for one in SHOWN}
        title = f"Scalability on {system.capitalize()}, by the model"
        return Finding(
            tell.verdict(held),
            paper,
            "by the model: ACB over Ind. I/O "
            f"{span(plan.speedup(AGGREGATED, INDEPENDENT) for plan in every)}, Coll. I/O over "
            f"Ind. I/O {span(plan.speedup(COLLECTIVE, INDEPENDENT) for plan in every)}",
            "by the model: skeleton over ACB "
            f"{span(p.speedup(SKELETON, AGGREGATED) for p in every)}"
            f", compressed over ACB {span(p.speedup(COMPRESSED, AGGREGATED) for p in every)}",
            tell.joined(tell.misses(held), FITTED),
            [
                output.picture(
                    name, partial(drawing.lines, title, "file", list(there), {"": lines})
                ),
                tell.table(held),
                output.table(
                    ("file", *(f"{label(one)}, s" for one in SHOWN)),
                    [(size, *(number(p.seconds(s)) for s in SHOWN)) for size, p in there.items()],
                ),
            ],
            tell.as_json(held),
        )

    return Item(
        f"figure-{number_of_figure}",
        f"Figure {number_of_figure}",
        f"Scalability on {system.capitalize()}",
        needs,
        find,
    )


figure_6 = _figure(6, cases.CORI)
figure_7 = _figure(7, cases.EDISON)
