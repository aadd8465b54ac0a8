# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a table, a figure or a conclusion of a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..study.page import Block
from .unit import brief

# What a row can come to.
HOLDS = "holds"
IN_PART = "holds in part"
FAILS = "does not hold here"
UNTOLD = "cannot be told"  # what was measured does not decide it
MODELLED = "holds by the model"
MEASURED = "measured"  # nothing is claimed, or nothing that these inputs could show
DESCRIBED = "described"  # a diagram
NOT_HERE = "cannot be had here"
FAILED = "failed"  # nothing came of it, for what it needs could not be measured
# The same of a claim or a comparison, many of which an item may have.
HELD, HELD_IN_PART, NOT_HELD = "held", "held in part", "not held"


@dataclass
class Finding:
    """An item's row in the table of all items, and its part of the page."""

    verdict: str
    paper: str  # the paper's numbers, in a few words
    ours: str  # the paper's way by us
    neve: str  # Neve's own best
    why: str = ""  # where it does not hold, or cannot be had: the reason
    blocks: list[Block] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)  # for the JSON file

    @property
    def said(self) -> str:
        """The verdict, and why where there is nothing else to see."""
        return f"{self.verdict}: {self.why}" if self.verdict == FAILED else self.verdict

    def add_failures(self, errors: Sequence[str], tried: int, where: str) -> None:
        """Of what the item needs: where nothing else came of it, they are its verdict."""
        if not errors:
            return
        told = f"{len(errors)} of {tried} measurements failed: {where}"
        if self.verdict == NOT_HERE or (self.verdict == MEASURED and len(errors) == tried):
            self.verdict, self.why = FAILED, f"{brief(errors[0])} ({told})"
        else:
            self.why = f"{self.why}; {told}" if self.why else told


@dataclass(frozen=True)
class Item:
    name: str  # "table-2", as --items takes it
    number: str  # "Table 2"
    title: str  # the paper's, shortened
    needs: Callable[..., Iterable[Any]]  # what it wants measured
    find: Callable[..., Finding]  # from what was measured


def verdict_of(held: int, tried: int) -> str:
    if tried == 0:
        return MEASURED
    return HOLDS if held == tried else IN_PART if held else FAILS
