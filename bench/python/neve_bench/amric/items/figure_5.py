# SPDX-License-Identifier: BSD-3-Clause
"""Figure 5: SZ_Interp over units in a line and in a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper.item import Finding, Item
from .. import tell
from ..files import File, Settings
from ..requests import Point
from ..results import Results, times
from ..ways import INTERP, INTERP_LINEAR, NEVE

WAYS = (INTERP, INTERP_LINEAR, NEVE["balanced"])


def needs(file: File, settings: Settings) -> Iterator[Point]:
    yield from tell.curves(file, settings, WAYS)


def find(results: Results) -> Finding:
    fine = tell.gains(results, INTERP, INTERP_LINEAR, tell.finest)
    coarse = tell.gains(results, INTERP, INTERP_LINEAR, tell.coarsest)
    neve = tell.gains(results, NEVE["balanced"], INTERP)
    found = tell.gains(results, INTERP, INTERP_LINEAR, tell.each_level)
    picture = tell.curve_picture(
        results, "figure-5", [("finest level", -1, WAYS), ("coarsest level", 0, WAYS)]
    )
    return Finding(
        tell.verdict(found),
        "cluster above linear on both levels, most at high ratios (2 levels, 17.4 and 82.3 %)",
        f"cluster / linear at equal PSNR: {times(tell.mean_of(fine))} on the finest level, "
        f"{times(tell.mean_of(coarse))} on the coarsest",
        f"Neve balanced / cluster: {times(tell.mean_of(neve))}",
        tell.where_not(found),
        [*picture, tell.gains_table("cluster / linear", found)],
        {"finest": tell.mean_of(fine), "coarsest": tell.mean_of(coarse)},
    )


ITEM = Item("figure-5", "Figure 5", "SZ_Interp: linear against cluster", needs, find)
