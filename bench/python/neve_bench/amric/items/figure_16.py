# SPDX-License-Identifier: BSD-3-Clause
"""Figure 16: AMRIC against TAC; and zMesh, of which the paper speaks in section 5."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item
from .. import tell
from ..files import File, Settings
from ..requests import Point
from ..results import Results, times
from ..ways import ADAPTIVE, NEVE, TAC, ZMESH

ONE_BOUND = (
    "its one array has one bound for all levels, the smallest of theirs, so that some levels are "
    "held closer than was asked for"
)
WAYS = (TAC, ADAPTIVE, ZMESH, NEVE["balanced"])


def needs(file: File, settings: Settings) -> Iterator[Point]:
    yield from tell.curves(file, settings, WAYS)


def find(results: Results) -> Finding:
    over_tac = tell.gains(results, ADAPTIVE, TAC)
    over_zmesh = tell.gains(results, ADAPTIVE, ZMESH)
    neve = tell.gains(results, NEVE["balanced"], TAC)
    most = max((gain.factor for gain in over_tac), default=None)
    return Finding(
        tell.verdict(over_tac),
        "up to 2.2 times TAC's ratio at the same PSNR (TAC's dataset Run1_Z10)",
        f"AMRIC / TAC at equal PSNR: {times(tell.mean_of(over_tac))}, at most {times(most)}; "
        f"AMRIC / zMesh: {times(tell.mean_of(over_zmesh))} ({ONE_BOUND})",
        f"Neve balanced / TAC: {times(tell.mean_of(neve))}",
        tell.where_not(over_tac),
        [
            *tell.curve_picture(results, "figure-16", [("all levels", None, WAYS)]),
            tell.gains_table("AMRIC / TAC", over_tac),
            tell.gains_table("AMRIC / zMesh", over_zmesh),
            output.text(f"zMesh: {ONE_BOUND}."),
        ],
        {"amric_over_tac": tell.mean_of(over_tac), "amric_over_zmesh": tell.mean_of(over_zmesh)},
    )


ITEM = Item("figure-16", "Figure 16", "AMRIC against TAC (and zMesh)", needs, find)
