# SPDX-License-Identifier: BSD-3-Clause
"""Figure 5: the grid of the Chombo I/O benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from .. import drawing, tell
from ..requests import Grid
from ..results import Results
from ..settings import Settings

# One unit: its boxes are counted, so the smallest serve.
UNIT = Grid(("--units", "1,1,1", "--box-cells", "4"))
LEVELS, COARSEST = 3, 64  # of boxes of 64^3
# Of a unit: the paper's 115,200 boxes are those of 8x8x8 units.
BOXES = 225


def needs(_: Settings) -> Iterator[Grid]:
    yield UNIT


def find(results: Results) -> Finding:
    paper = "a unit has 3 levels, 64^3 cells on the coarsest, ratio 4"
    unit = results.result(UNIT)
    if unit is None:
        return tell.without_numbers(paper)
    counts = [len(level["boxes"]) for level in unit["levels"]]
    sides = [level["domain"][0] for level in unit["levels"]]
    ratios = [finer // coarser for coarser, finer in zip(sides, sides[1:], strict=False)]
    box = unit["levels"][0]["boxes"][0][1][0]
    checks = [
        tell.Check("levels", LEVELS, len(counts)),
        tell.Check(
            "cells a side of the coarsest level, with boxes of 64^3",
            COARSEST,
            sides[0] * COARSEST // box,
        ),
        *(tell.Check(f"ratio of level {n}", 4, ratio) for n, ratio in enumerate(ratios)),
        tell.Check("boxes of a unit (the paper's 115,200 over 8x8x8)", BOXES, sum(counts)),
    ]
    return Finding(
        tell.verdict(checks),
        paper,
        f"made here: {' + '.join(map(str, counts))} boxes on {len(counts)} levels",
        "the same grid",
        tell.joined(
            tell.misses(checks),
            "Which boxes the finer levels have is not printed: their layout was found by "
            "trying those that give the paper's counts",
        ),
        [
            output.picture(
                "pictures/figure-5", partial(drawing.views, "One unit of the grid", unit["levels"])
            ),
            tell.table(checks),
        ],
        tell.as_json(checks),
    )


ITEM = Item("figure-5", "Figure 5", "The grid of the Chombo I/O benchmark", needs, find)
