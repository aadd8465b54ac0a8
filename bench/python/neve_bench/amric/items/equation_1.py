# SPDX-License-Identifier: BSD-3-Clause
"""Equation 1: the side of SZ_L/R's blocks by the side of the units."""

from __future__ import annotations

from ...paper import output
from ...paper.item import DESCRIBED, Finding, Item
from .. import ways
from ..files import File, Settings
from ..results import Results

ORIGINAL, SMALLER, LARGE_UNIT = 6, 4, 64


def block_side(unit: int) -> int:
    """4 if unit mod 6 <= 2, 6 if it is more; 6 from units of 64 on."""
    if unit >= LARGE_UNIT:
        return ORIGINAL
    return SMALLER if unit % ORIGINAL <= 2 else ORIGINAL


def needs(_: File, __: Settings) -> tuple[()]:
    return ()


def find(_: Results) -> Finding:
    rows = [
        (str(unit), str(unit % ORIGINAL), str(unit % block_side(unit)), str(block_side(unit)))
        for unit in ways.UNITS
    ]
    header = ("side of the unit", "mod 6", "rest of the unit", "side of the blocks")
    sides = ", ".join(f"{unit}: {block_side(unit)}" for unit in ways.UNITS)
    return Finding(
        DESCRIBED,
        "4 if unit mod 6 is at most 2, else 6; 6 from units of 64 on",
        f"amric:adaptive: {sides}",
        "the same, by the file",
        blocks=[output.table(header, rows)],
    )


ITEM = Item("equation-1", "Equation 1", "Block side by unit side", needs, find)
