# SPDX-License-Identifier: BSD-3-Clause
"""What `neve bench rd` measures where no --ways are given."""

from __future__ import annotations

from collections.abc import Iterator

from ..amr import foreign, neve_ways
from ..amr.hierarchy import Hierarchy

UNITS = (8, 16, 32, 64)
AMRIC = ("adaptive", "sle", "lm", "interp", "interp-linear")
AMREX = ("amrex:1d", "amrex:1d,codec=interp")
OTHER_PAPERS = ("tac:auto", "zmesh:lr")
# The codecs that an effort has time for. The best of them, forced, is what auto is held against.
EFFORT_CODECS = {
    "max": neve_ways.CODECS,
    "balanced": ("dual_quant", "axis_passes", "interpolation"),
    "fast": ("dual_quant", "axis_passes"),
}
AUTO = tuple(
    "neve:auto" if effort == "balanced" else f"neve:auto,effort={effort}"
    for effort in neve_ways.EFFORTS
)


def units_that_fit(hierarchy: Hierarchy) -> list[int]:
    """Those that some box of every level holds: any larger one would be the boxes again."""
    sides = [
        max(min(box.shape) for box in level.boxes) for level in hierarchy.levels if level.boxes
    ]
    return [unit for unit in UNITS if unit <= min(sides)]


def default_ways(hierarchy: Hierarchy) -> list[str]:
    """Their texts, those of the foreign programs that are installed among them."""
    units = units_that_fit(hierarchy)
    installed, _ = foreign.at_hand()
    return [*AUTO, *_amric(units), *AMREX, *OTHER_PAPERS, *_forced(units), *installed]


def _amric(units: list[int]) -> Iterator[str]:
    for name in AMRIC:
        yield f"amric:{name}"
        yield from (f"amric:{name},unit={unit}" for unit in units)


def _forced(units: list[int]) -> Iterator[str]:
    arrangements = ["arrangement=in_place", "arrangement=linear"]
    arrangements += [f"arrangement={a},unit={u}" for a in ("linear", "cluster") for u in units]
    for effort, codecs in EFFORT_CODECS.items():
        said = "" if effort == "max" else f"effort={effort},"
        yield from (f"neve:{codec},{said}{how}" for codec in codecs for how in arrangements)
