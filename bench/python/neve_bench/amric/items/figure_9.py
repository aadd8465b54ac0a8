# SPDX-License-Identifier: BSD-3-Clause
"""Figure 9: errors of adaptive blocks and of unit SLE at units of 8."""

from __future__ import annotations

from .. import ways
from ..slices import SliceItem

ITEM = SliceItem(
    "figure-9",
    "Figure 9",
    "Errors of adaptive blocks and SLE, about equal ratio, unit 8",
    (ways.with_unit(ways.ADAPTIVE, 8), ways.with_unit(ways.SLE, 8), ways.NEVE["balanced"]),
    "adaptive blocks (ratio 39.8) have smaller errors than SLE (38.8)",
    "adaptive blocks over SLE",
).item
