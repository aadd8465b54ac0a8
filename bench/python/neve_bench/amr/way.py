# SPDX-License-Identifier: BSD-3-Clause
"""A way of coding a field, and what it takes to be one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .subject import Part, Subject

Levels = list[list[np.ndarray]]  # by level and box, each of its box's shape; only held cells count
Coders = tuple[Callable[[], list[bytes]], Callable[[list[bytes]], Levels]]
PartCoders = tuple[Callable[[], bytes], Callable[[bytes], list[np.ndarray]]]


class NotPossible(Exception):
    """The way has nothing for this subject; the reason is the message."""


@dataclass(frozen=True)
class Way:
    """`prepare` gives what is timed: encode(), which makes everything that a reader needs beside
    the boxes of the hierarchy, the bound, the range and the rule by which cells are held, and
    decode(), which has nothing else. Their own reordering of values is timed, too; what follows
    from the hierarchy alone, as a list of unit blocks, may be made before.
    """

    text: str  # as it is asked for, with every setting: "amric:sle,unit=16"
    label: str  # in tables and pictures: "AMRIC SLE, unit 16"
    source: str  # the paper and section that it follows, or the program
    prepare: Callable[[Subject], Coders]  # raises NotPossible
    is_foreign: bool = False  # a program that may crash: it runs in a child
    # A line on what it does to this subject, as the units that it chose; "" for nothing to say.
    about: Callable[[Subject], str] = lambda subject: ""
    ranks: int = 1  # that a level is shared out among, each coded alone


def nothing_of(part: Part) -> PartCoders:
    """Of a level without a held cell no way has to store anything."""

    def decode(stored: bytes) -> list[np.ndarray]:
        if stored:
            raise ValueError(f"level {part.number} holds nothing, and has {len(stored)} bytes")
        return [np.zeros_like(values) for values in part.values]

    return (lambda: b""), decode


def by_level(prepare_part: Callable[[Part], PartCoders]) -> Callable[[Subject], Coders]:
    """Of a way that codes each level alone: one stored text a level, in order. Levels without a
    held cell never get to `prepare_part`.
    """

    def prepare(subject: Subject) -> Coders:
        coders = [
            prepare_part(part) if part.held_cells else nothing_of(part) for part in subject.parts
        ]

        def encode() -> list[bytes]:
            return [encode_part() for encode_part, _ in coders]

        def decode(stored: Sequence[bytes]) -> Levels:
            return [
                decode_part(text) for (_, decode_part), text in zip(coders, stored, strict=True)
            ]

        return encode, decode

    return prepare
