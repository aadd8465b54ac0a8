# SPDX-License-Identifier: BSD-3-Clause
"""Figures that are diagrams: what each describes, and which command does it."""

from __future__ import annotations

from ...paper.item import DESCRIBED, Finding, Item
from ..results import Results
from ..settings import Settings


def _diagram(number: int, title: str, what: str, ours: str, neve: str) -> Item:
    def needs(_: Settings) -> tuple[()]:
        return ()

    def find(_: Results) -> Finding:
        return Finding(DESCRIBED, what, ours, neve)

    return Item(f"figure-{number}", f"Figure {number}", title, needs, find)


ITEMS = (
    _diagram(
        1,
        "A mesh with three levels",
        "nested levels, ratio 2, boxes, ghosts, values at centres and faces",
        "the grids of figures 5 and 12 are such; their boxes have ghosts",
        "neve plot FILE draws the boxes of any plotfile",
    ),
    _diagram(
        2,
        "Boxes of a rank lie apart in the file",
        "boxes are spread by load, and lie in the file in lexicographic order",
        "neve bench chombo writes in this order, boxes spread by Morton order and exchange",
        "the same order: any Chombo reader finds the boxes",
    ),
    _diagram(
        3,
        "Collective buffering of one box a call",
        "aggregators see one box of each rank at a time; ranks without a box call with nothing",
        "strategies hdf5-collective, collective, cb2-collective",
        "strategy skeleton: one call for all boxes",
    ),
    _diagram(
        4,
        "Aggregated Collective Buffering",
        "a rank's boxes in one buffer, a union of hyperslabs, one collective write a dataset",
        "strategies hdf5-aggregated (H5S_SELECT_OR), aggregated, cb2-aggregated",
        "strategy skeleton: no buffer, all datasets in one call",
    ),
)
