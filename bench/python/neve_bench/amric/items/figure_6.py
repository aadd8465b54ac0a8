# SPDX-License-Identifier: BSD-3-Clause
"""Figure 6: errors of unit SLE and of linear merging at about the same ratio."""

from __future__ import annotations

from .. import ways
from ..slices import SliceItem

ITEM = SliceItem(
    "figure-6",
    "Figure 6",
    "Errors of SLE and linear merging, about equal ratio, unit 16",
    (ways.with_unit(ways.SLE, 16), ways.with_unit(ways.LM, 16), ways.NEVE["balanced"]),
    "SLE (ratio 91.4) has smaller errors than linear merging (86.1), most at the borders of units",
    "SLE over linear merging",
).item
