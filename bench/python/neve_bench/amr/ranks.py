# SPDX-License-Identifier: BSD-3-Clause
"""A level shared out among ranks. Each rank's boxes are coded alone: AMRIC's chunk of a rank
(section 3.3), with the rank's true number of values, so no padding. With ranges=rank a rank's
bound is relative to its own range (section 4.3: "relative to the data range in the corresponding
block").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from neve._errors import Error
from neve.plotfile import Box

from . import chunks
from .hierarchy import ends_of
from .parse import Setting, among, whole_number
from .subject import Part, Subject, bound_of
from .way import Coders, PartCoders, by_level, nothing_of

MAX_RANKS = 65536
RANGES = ("level", "rank")


def settings() -> dict[str, Setting]:
    return {"ranks": whole_number(1, 1, MAX_RANKS), "ranges": among("level", *RANGES)}


def label_of(chosen: Mapping[str, str]) -> str:
    """What a way's label says of them: "" with one rank."""
    if chosen["ranks"] == "1":
        return ""
    own = ", each its range" if chosen["ranges"] == "rank" else ""
    return f", {chosen['ranks']} ranks{own}"


def over_ranks(
    text: str, prepare_part: Callable[[Part], PartCoders], chosen: Mapping[str, str]
) -> Callable[[Subject], Coders]:
    """The `prepare` of a way that codes each rank's part of a level alone. `chosen` are the
    settings ranks and ranges of the way `text`. Raises Error.
    """
    ranks = int(chosen["ranks"])
    if chosen["ranges"] == "rank" and ranks == 1:
        raise Error(f"way {text!r}: ranges=rank needs ranks=2 or more, not 1")
    if ranks == 1:
        return by_level(prepare_part)

    def prepare(subject: Subject) -> Coders:
        return by_level(lambda part: _shared_out(part, subject.rel))(subject)

    def _shared_out(part: Part, rel: float) -> PartCoders:
        owned = [numbers for numbers in boxes_of_ranks(part.boxes, ranks) if numbers]
        coders = []
        for numbers in owned:
            piece = part_of(part, numbers)
            if chosen["ranges"] == "rank":
                piece = with_own_range(piece, rel)
            coders.append(prepare_part(piece) if piece.held_cells else nothing_of(piece))

        def encode() -> bytes:
            return chunks.join([encode_piece() for encode_piece, _ in coders])

        def decode(stored: bytes) -> list[np.ndarray]:
            texts = chunks.split(stored)
            found: dict[int, np.ndarray] = {}
            for numbers, (_, decode_piece), text in zip(owned, coders, texts, strict=True):
                found |= dict(zip(numbers, decode_piece(text), strict=True))
            return [found[number] for number in range(len(part.boxes))]

        return encode, decode

    return prepare


def boxes_of_ranks(boxes: Sequence[Box], ranks: int) -> list[list[int]]:
    """The numbers of each rank's boxes: along a Z curve through their first cells, as AMReX's
    space filling curve has them, and cut where the cells before a box's middle fill a rank's share.
    A rank may have none.
    """
    order = sorted(range(len(boxes)), key=lambda number: _morton(boxes, number))
    total = sum(box.cells for box in boxes)
    owned: list[list[int]] = [[] for _ in range(ranks)]
    before = 0
    for number in order:
        cells = boxes[number].cells
        owned[(2 * before + cells) * ranks // (2 * total)].append(number)
        before += cells
    return owned


def ranks_with_cells(part: Part, ranks: int) -> int:
    """How many of them hold something of a level: those with a box of which a cell is held."""
    has_cells = [bool(held.any()) for held in part.held]
    owned = boxes_of_ranks(part.boxes, ranks)
    return sum(any(has_cells[number] for number in numbers) for numbers in owned)


def _morton(boxes: Sequence[Box], number: int) -> int:
    least = [min(box.lo[d] for box in boxes) for d in range(len(boxes[0].lo))]
    place = [lo - first for lo, first in zip(boxes[number].lo, least, strict=True)]
    code = 0
    for bit in range(max(place).bit_length()):
        for d, n in enumerate(place):
            code |= (n >> bit & 1) << (bit * len(place) + d)
    return code


def part_of(part: Part, numbers: Sequence[int]) -> Part:
    """A level with these of its boxes alone; range and bound stay the level's."""
    return replace(
        part,
        boxes=tuple(part.boxes[n] for n in numbers),
        values=tuple(part.values[n] for n in numbers),
        covered=tuple(part.covered[n] for n in numbers),
        held=tuple(part.held[n] for n in numbers),
    )


def with_own_range(part: Part, rel: float) -> Part:
    lowest, highest = ends_of(part.values)
    return replace(part, lowest=lowest, highest=highest, bound_abs=bound_of(rel, lowest, highest))
