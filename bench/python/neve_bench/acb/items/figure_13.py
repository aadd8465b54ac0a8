# SPDX-License-Identifier: BSD-3-Clause
"""Figure 13: write times of BISICLES' files, predicted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import cases, drawing, stated, tell
from ..requests import Modelled
from ..results import Plan, Results
from ..settings import Settings
from ..strategies import AGGREGATED, COMPRESSED, METHODS, SKELETON, label

SHOWN = (*METHODS, SKELETON, COMPRESSED)


def needs(_: Settings) -> Iterator[Modelled]:
    for words in cases.BISICLES.values():
        yield Modelled(words)


def plans(results: Results) -> dict[str, Plan]:
    """By kind of file."""
    found = {kind: results.plan(words) for kind, words in cases.BISICLES.items()}
    return {kind: plan for kind, plan in found.items() if plan is not None}


def checks(results: Results) -> list[tell.Check]:
    there = plans(results)
    if len(there) < len(cases.BISICLES):
        return []
    return [
        tell.Check(
            f"{kind}, {label(AGGREGATED)} over {label(other)}",
            paper,
            there[kind].speedup(AGGREGATED, other),
            tell.PREDICTED_WITHIN,
        )
        for (kind, other), paper in stated.OF_BISICLES.items()
    ]


def find(results: Results) -> Finding:
    paper = (
        "ACB over Ind. I/O and Coll. I/O: checkpoint 20 and 12.8, plot file 13.1 and 6.4; "
        "checkpoints take longer than plot files"
    )
    held, there = checks(results), plans(results)
    if not held:
        return tell.without_numbers(paper)
    bars = {label(one): [there[kind].seconds(one) for kind in there] for one in SHOWN}
    title = "BISICLES on 576 ranks of Edison, by the model"
    gains = [number(plan.speedup(SKELETON, AGGREGATED)) for plan in there.values()]
    return Finding(
        tell.verdict(held),
        paper,
        "predicted by the model: " + ", ".join(f"{one.what} {number(one.ours)}" for one in held),
        f"by the model: skeleton over ACB {' and '.join(gains)}",
        tell.misses(held),
        [
            output.picture(
                "pictures/figure-13", partial(drawing.bars, title, "seconds", list(there), bars)
            ),
            tell.table(held),
            output.table(
                ("file", *(f"{label(one)}, s" for one in SHOWN)),
                [(kind, *(number(p.seconds(s)) for s in SHOWN)) for kind, p in there.items()],
            ),
        ],
        tell.as_json(held),
    )


ITEM = Item("figure-13", "Figure 13", "Write times of BISICLES", needs, find)
