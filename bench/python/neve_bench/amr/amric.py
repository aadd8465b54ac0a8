# SPDX-License-Identifier: BSD-3-Clause
"""AMRIC's ways (Wang et al., SC 2023) with Neve's codecs: what is held of a level is truncated into
unit blocks (section 3.1), which one frame holds.

adaptive, sle, lm    SZ_L/R. Units follow each other along the slowest direction; each is predicted
                     alone and all share one entropy coding (section 3.2), lm predicts across them
interp               SZ_Interp over the units stacked to the most compact cube (section 3.1)
interp-linear        SZ_Interp over the units in a line, the baseline of figure 5

All run with effort max, so that the baseline is as strong as it can be here.

The units are stacked before they are coded: a frame of the level's own boxes, which leaves
covered cells out by a mask, would keep places for units that are covered wholly. At rel 1e-3 and
1e-2, unit 8, on five files and the sample the stack takes from 10 % less (SZ_Interp, CNS) to 0.7 %
more (SZ_Interp, WarpX), SZ_L/R from 1.5 % less to 0.2 % more. AMRIC does not say what becomes of
units that are covered partly. Here they keep their shape, with a mask: of the coarse levels
SZ_Interp then takes 1 to 24 % less than with the held rectangles cut into units; SZ_L/R is within
4 % either way (CNS's level of some 400 bytes: 100 more).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from neve.plotfile import Box

from . import chunks, frames, ranks
from .parse import Method, among
from .rectangles import rectangles_of
from .subject import Part, Subject
from .units import SIDES, Truncation, Units, fitting_side
from .way import PartCoders, Way

EFFORT = "max"
UNITS = ("auto", *(str(side) for side in reversed(SIDES)))
# A frame cuts larger boxes in pieces (docs/format.md, "Tiles"), which units must not straddle.
MAX_BOX_CELLS = 1 << 21

# name: (label, section of the paper, options of the frames)
VARIANTS = {
    "adaptive": (
        "AMRIC SZ_L/R",
        "3.2",
        {"codec": "lorenzo_regression", "arrangement": "linear"},  # block 0: Eq. 1 by the unit
    ),
    "sle": (
        "AMRIC SLE",
        "3.2",
        {"codec": "lorenzo_regression", "arrangement": "linear", "block": "6"},
    ),
    "lm": (
        "linear merging",
        "3.2",
        {
            "codec": "lorenzo_regression",
            "arrangement": "linear",
            "block": "6",
            "merge_units": "true",
        },
    ),
    "interp": (
        "AMRIC SZ_Interp",
        "3.1",
        {"codec": "interpolation", "arrangement": "cluster"},
    ),
    "interp-linear": (
        "SZ_Interp, linear",
        "3.1",
        {"codec": "interpolation", "arrangement": "linear", "merge_units": "true"},
    ),
}


def side_of(part: Part, unit: str) -> int:
    return fitting_side(part) if unit == "auto" else int(unit)


def _prepare_part(part: Part, unit: str, options: Mapping[str, str]) -> PartCoders:
    side = side_of(part, unit)
    options = {**options, "unit": str(side), "effort": EFFORT}
    # What follows from the hierarchy alone is known before the values are, and is not timed.
    truncation = Truncation(part, side)
    units, told = truncation.held(part)
    each = _units_a_box(units)
    layout = _layout(part, units, truncation, each)

    def encode() -> bytes:
        values = _of_boxes(units.stack(part.values), layout.boxes, each)
        frame = frames.encode_part(replace(layout, values=tuple(values)), options)
        return chunks.join([told, frame])

    def decode(stored: bytes) -> list[np.ndarray]:
        told_again, frame = chunks.split(stored)
        units_again = truncation.held_again(told_again)
        stack = frames.decode_whole(frame, part.values[0].dtype)
        return units_again.unstack(stack.reshape(units_again.count, *units_again.shape[::-1]))

    return encode, decode


def _units_a_box(units: Units) -> int:
    """Many along the slowest direction, where a frame's cut gives units again, else one."""
    is_whole = units.shape[-1] == max(units.shape)
    return max(1, MAX_BOX_CELLS // units.cells_each) if is_whole else 1


def _layout(part: Part, units: Units, truncation: Truncation, each: int) -> Part:
    """The stack of units as a level without values: boxes of `each` of them. Cells of a unit that
    lie past its box count as covered.
    """
    outside = truncation.outside(units)
    boxes, covered = [], []
    thick = units.shape[-1]
    for first in range(0, units.count, each):
        end = min(first + each, units.count)
        lo = (*(0 for _ in units.shape[:-1]), first * thick)
        hi = (*(n - 1 for n in units.shape[:-1]), end * thick - 1)
        boxes.append(Box(lo, hi))
        partial = first + np.flatnonzero(outside[first:end].any(axis=tuple(range(1, outside.ndim))))
        covered.append(
            tuple(
                Box((*rect.lo[:-1], rect.lo[-1] + at), (*rect.hi[:-1], rect.hi[-1] + at))
                for number in partial
                for at in (int(number) * thick,)
                for rect in rectangles_of(outside[number].T)
            )
        )
    held = _of_boxes(units.stack(part.held), boxes, each)
    return replace(part, boxes=tuple(boxes), values=(), covered=tuple(covered), held=tuple(held))


def _of_boxes(stack: np.ndarray, boxes: Sequence[Box], each: int) -> list[np.ndarray]:
    return [
        stack[number * each : (number + 1) * each].reshape(box.shape[::-1]).T
        for number, box in enumerate(boxes)
    ]


def _method(name: str) -> Method:
    label, section, options = VARIANTS[name]

    def make(text: str, chosen: Mapping[str, str]) -> Way:
        def prepare_part(part: Part) -> PartCoders:
            return _prepare_part(part, chosen["unit"], options)

        def about(subject: Subject) -> str:
            sides = (str(side_of(part, chosen["unit"])) for part in subject.parts)
            return f"unit blocks of {', '.join(sides)} cells, by level"

        unit = "" if chosen["unit"] == "auto" else f", unit {chosen['unit']}"
        return Way(
            text,
            f"{label}{unit}{ranks.label_of(chosen)}",
            f"AMRIC, section {section}",
            ranks.over_ranks(text, prepare_part, chosen),
            about=about,
            ranks=int(chosen["ranks"]),
        )

    settings = {"unit": among("auto", *UNITS), **ranks.settings()}
    return Method("amric", name, f"{label}: section {section}", settings, make)


METHODS = [_method(name) for name in VARIANTS]
