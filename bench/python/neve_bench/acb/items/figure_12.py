# SPDX-License-Identifier: BSD-3-Clause
"""Figure 12: the grid of the BISICLES Antarctica benchmark."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from .. import cases, drawing, tell
from ..requests import Grid, Modelled, Request
from ..results import Plan, Results
from ..settings import Settings

GRID = Grid(("--grid", "bisicles"))
SHARES = "Some ranks have none of the finest boxes: all levels together are shared evenly"
MADE = (
    "The paper's boxes come from a run's ice velocity and are not printed: the grid here was made "
    "so that its counts and the sizes of Tables II and III come out"
)


SHARED = Modelled(cases.BISICLES[cases.PLOT_FILE])
MOST_BOXES = 6  # of the finest level on one rank


def needs(_: Settings) -> Iterator[Request]:
    yield GRID
    yield SHARED


def _of_ranks(plan: Plan) -> list[tell.Check]:
    """Limits, where the paper names no number of its own: beyond one, ours stands beside it."""
    of = plan.content["finest_boxes_of_a_rank"]
    return [
        tell.Check("its boxes on a rank, at least", 1, min(1, of["least"])),
        tell.Check("its boxes on a rank, at most", MOST_BOXES, max(MOST_BOXES, of["most"])),
    ]


def find(results: Results) -> Finding:
    paper = (
        "5 levels, 768^2 cells on the coarsest, ratio 2; 896 boxes on the finest, the largest of "
        "4096 cells and 16 times the smallest; at least one, 1.56 on average and at most 6 boxes "
        "of it on a rank"
    )
    grid = results.result(GRID)
    plan = results.plan(SHARED.words)
    if grid is None or plan is None:
        return tell.without_numbers(paper)
    finest = grid["levels"][-1]["boxes"]
    cells = [math.prod(shape) for _, shape in finest]
    sides = [level["domain"][0] for level in grid["levels"]]
    checks = [
        tell.Check("levels", 5, len(sides)),
        tell.Check("cells a side of the coarsest level", 768, sides[0]),
        *(
            tell.Check(f"ratio of level {n}", 2, finer // coarser)
            for n, (coarser, finer) in enumerate(zip(sides, sides[1:], strict=False))
        ),
        tell.Check("boxes on the finest level", 896, len(finest)),
        tell.Check("cells of its largest box", 4096, max(cells)),
        tell.Check("largest box over smallest", 16, max(cells) // min(cells)),
        tell.Check("its boxes a rank, mean", 1.56, round(len(finest) / cases.BISICLES_RANKS, 2)),
        *_of_ranks(plan),
    ]
    of_rank = plan.content["finest_boxes_of_a_rank"]
    counts = [len(level["boxes"]) for level in grid["levels"]]
    return Finding(
        tell.verdict(checks),
        paper,
        f"made here: {', '.join(map(str, counts))} boxes by level; by the model "
        f"{of_rank['least']} to {of_rank['most']} of the finest on a rank",
        "the same grid",
        tell.joined(tell.misses(checks), SHARES if not of_rank["least"] else "", MADE),
        [
            output.picture(
                "pictures/figure-12",
                partial(drawing.flat, "The grid, and a part of it", grid["levels"]),
            ),
            tell.table(checks),
        ],
        tell.as_json(checks),
    )


ITEM = Item("figure-12", "Figure 12", "The grid of the BISICLES benchmark", needs, find)
