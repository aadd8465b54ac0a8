# SPDX-License-Identifier: BSD-3-Clause
"""Options that several papers' studies have, and the types of their values."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

from .item import Item

RANKS_OF_CORE = 8  # at most
COUNTS = {2: "two", 3: "three"}


def whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(
                f"'{text}'; allowed are whole numbers from {least} to {most}"
            )
        return int(text)

    return read


def wholes(example: Sequence[int], least: int, most: int) -> Callable[[str], tuple[int, ...]]:
    """As many as the example has, joined by commas."""
    one = whole(least, most)

    def read(text: str) -> tuple[int, ...]:
        words = text.split(",")
        if len(words) != len(example):
            raise argparse.ArgumentTypeError(
                f"'{text}'; allowed are {COUNTS[len(example)]} whole numbers, as {joined(example)}"
            )
        return tuple(map(one, words))

    return read


def joined(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0))


def ranks(text: str) -> int:
    """Far more ranks than cores measure how cores are shared, for hours."""
    most = RANKS_OF_CORE * cores()
    try:
        return whole(1, most)(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(
            f"{error} here, {RANKS_OF_CORE} for each of the {cores()} cores"
        ) from None


def add_items(group: Any, items: Sequence[Item]) -> None:
    names = [item.name for item in items]
    group.add_argument(
        "--items",
        nargs="+",
        choices=names,
        metavar="ITEM",
        help=f"of {', '.join(names)} (all)",
    )


def items_of(options: argparse.Namespace, items: Sequence[Item]) -> tuple[str, ...]:
    """The names of those asked for, each once."""
    return tuple(dict.fromkeys(options.items or (item.name for item in items)))
