# SPDX-License-Identifier: BSD-3-Clause
"""When a claim of times is told from chance: pairs of runs, a sign test, shares of comparisons."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..paper import output
from ..paper.item import FAILS, HELD, HOLDS, IN_PART, MEASURED, NOT_HELD, UNTOLD
from ..paper.numbers import number
from ..study.page import Block
from ..study.summary import LIKELY_CHANCE, MIN_PAIRS, sign_test

MOST = 0.5  # of comparisons, where a claim says "most"
NEARLY_EVERY = 0.8
MOST_TOLD = 4  # names in one sentence
RULE = (
    "Times are compared by pairs of runs of one repeat. A sign test decides whether one is faster: "
    f"p < {LIKELY_CHANCE:g}, of at least {MIN_PAIRS} pairs; else it cannot be told. A claim of "
    f"most comparisons holds where more than {MOST:.0%} are held, of nearly every one "
    f"{NEARLY_EVERY:.0%}; it cannot be told where those that are undecided could make it so"
)
TOO_FEW = "too few pairs"
HEADER = ("what", "pairs", "factor, median", "least to most", "in favour", "p", "")


@dataclass(frozen=True)
class Comparison:
    """Factors of pairs: above 1 speaks for the claim."""

    what: str
    factors: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.factors)

    @property
    def wins(self) -> int:
        return sum(factor > 1 for factor in self.factors)

    @property
    def chance(self) -> float:
        return sign_test(self.wins, sum(factor < 1 for factor in self.factors))

    @property
    def is_so(self) -> bool | None:
        """None where it cannot be told."""
        if self.is_short or self.chance >= LIKELY_CHANCE:
            return None
        return self.median > 1

    @property
    def is_short(self) -> bool:
        """No test decides so few pairs, whatever they are."""
        return len(self.factors) < MIN_PAIRS

    @property
    def said(self) -> str:
        if self.is_short:
            return f"{UNTOLD}: {TOO_FEW}"
        return {True: HELD, False: NOT_HELD, None: UNTOLD}[self.is_so]


def compare(
    what: str, slower: Mapping[int, float], faster: Mapping[int, float]
) -> Comparison | None:
    """Seconds by repeat: those of the first over those of the second. None without a pair."""
    factors = tuple(slower[one] / faster[one] for one in sorted(slower.keys() & faster.keys()))
    return Comparison(what, factors) if factors else None


def verdict(comparisons: Sequence[Comparison], share: float, unjudged: str = "") -> str:
    """Of a claim that says so of more than a share of them; `unjudged`: why none is judged."""
    if not comparisons:
        return MEASURED
    if unjudged:
        return UNTOLD
    so = sum(one.is_so is True for one in comparisons)
    open_ = sum(one.is_so is None for one in comparisons)
    wanted = share * len(comparisons)
    if so > wanted or so == len(comparisons):
        return HOLDS
    if so + open_ > wanted:
        return UNTOLD
    return IN_PART if so else FAILS


def decided(comparisons: Sequence[Comparison]) -> str:
    """ "5 of 8 held, 1 not held (hdf5), 2 cannot be told (adios; neve)"."""
    if not comparisons:
        return "nothing was compared"
    so = sum(one.is_so is True for one in comparisons)
    parts = [f"{so} of {len(comparisons)} {HELD}"]
    for words in (NOT_HELD, UNTOLD, f"{UNTOLD}: {TOO_FEW}"):
        names = [one.what for one in comparisons if one.said == words]
        if names:
            parts.append(f"{len(names)} {words} ({first(names)})")
    return ", ".join(parts)


def first(names: Sequence[str]) -> str:
    """A few of them, and how many more there are."""
    more = [f"and {len(names) - MOST_TOLD} more"] if len(names) > MOST_TOLD else []
    return "; ".join([*names[:MOST_TOLD], *more])


def too_few(repeats: int) -> str:
    """Why no time of so many repeats is judged; "" where there are enough."""
    if repeats >= MIN_PAIRS:
        return ""
    return (
        f"{TOO_FEW}: --repeats {repeats} decide no comparison of times, which takes {MIN_PAIRS} "
        "or more"
    )


def table(comparisons: Sequence[Comparison]) -> Block:
    return output.table(
        HEADER,
        [
            (
                one.what,
                str(len(one.factors)),
                number(one.median),
                f"{number(min(one.factors))} to {number(max(one.factors))}",
                str(one.wins),
                f"{one.chance:.2g}",
                one.said,
            )
            for one in comparisons
        ],
    )


def as_json(comparisons: Sequence[Comparison]) -> dict[str, dict[str, Any]]:
    return {
        one.what: {"factors": list(one.factors), "p": one.chance, "is_so": one.is_so}
        for one in comparisons
    }


def joined(*sentences: str) -> str:
    """Those that say something."""
    return ". ".join(one for one in sentences if one)
