# SPDX-License-Identifier: BSD-3-Clause
"""The speedups of the abstract, beside those of the sections that it sums up."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import span
from .. import cases, stated, tell
from ..requests import Modelled
from ..results import Results
from ..settings import Settings
from ..stated import Speedup
from ..strategies import COLLECTIVE, INDEPENDENT, label
from . import figure_13, scaling, striping

DIFFER = (
    "The paper's sections state different ranges: the abstract's 2 to 9.1 over Ind. I/O is that of "
    "striping, where scalability has 2.6 to 9.6; its 3.4 over Coll. I/O stands in no section (2.6 "
    "is the most of scalability, and 3.4 is ACB over Ind. I/O of striping on Edison). Each range "
    "is judged by the runs of its section, the abstract's by those of striping on both systems"
)


def needs(settings: Settings) -> Iterator[Modelled]:
    for system in cases.SYSTEMS:
        yield from scaling.needs_of(system)
        yield from striping.needs_of(system)
    yield from figure_13.ITEM.needs(settings)


def _found(results: Results, one: Speedup) -> list[float]:
    """The model's speedups of the runs that a stated range is of."""
    systems = cases.SYSTEMS if one.system == stated.BOTH_SYSTEMS else (one.system,)
    of = scaling.plans if one.section == stated.SCALING else striping.plans
    return [
        plan.speedup(one.mine, one.other)
        for system in systems
        for plan in of(results, system).values()
    ]


def find(results: Results) -> Finding:
    paper = tell.ranges(stated.OF_ABSTRACT) + "; BISICLES 13.1 to 20 and 6.4 to 12.8"
    every = (*stated.OF_ABSTRACT, *stated.OF_SCALING, *stated.OF_STRIPING)
    found = {one: _found(results, one) for one in every}
    of_bisicles = figure_13.checks(results)
    if not all(found.values()) or not of_bisicles:
        return tell.without_numbers(paper)
    checks = [
        check
        for one in stated.OF_ABSTRACT
        for check in tell.of_range(one, found[one], tell.PREDICTED_WITHIN)
    ]
    checks += of_bisicles
    over_both = {one.other: found[one] for one in stated.OF_ABSTRACT}
    return Finding(
        tell.verdict(checks),
        paper,
        f"by the model: ACB over Ind. I/O {span(over_both[INDEPENDENT])}, over Coll. I/O "
        f"{span(over_both[COLLECTIVE])}",
        "see figures 6 to 9 and 13",
        tell.joined(tell.misses(checks), DIFFER),
        [
            output.text(tell.RULE),
            output.table(
                ("section", "system", "", "paper", "model"),
                [
                    (
                        one.section,
                        one.of_systems,
                        f"{label(one.mine)} over {label(one.other)}",
                        f"{one.least:g} to {one.most:g}",
                        span(found[one]),
                    )
                    for one in every
                ],
            ),
            tell.table(checks),
        ],
        tell.as_json(checks),
    )


ITEM = Item("abstract", "Abstract", "The stated speedups, by section", needs, find)
