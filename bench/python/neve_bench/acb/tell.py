# SPDX-License-Identifier: BSD-3-Clause
"""When a number is the paper's: the rules of every verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..paper import output
from ..paper.item import MEASURED, Finding, verdict_of
from ..paper.numbers import number
from ..study.page import Block
from . import stated
from .results import percent
from .stated import Speedup
from .strategies import label

EXACT = 0.0
FITTED_WITHIN = 0.25  # of ratios to which the model's constants were fitted
PREDICTED_WITHIN = 0.40  # of those to which they were not
POSIX_WITHIN = 0.10  # of a plan's POSIX writes against the traced ones, beside the structure's
MOST_AMPLIFIED = 1.05  # of a strategy that reads nothing back
HARDLY = 0.10  # what stripe sizes may change where they "hardly matter"
MOST_TOLD = 4  # misses in one sentence
RULE = (
    "A count of the model has to be exactly the paper's. A ratio that the model was fitted to has "
    f"to be within {FITTED_WITHIN:.0%} of it, one that it predicts within {PREDICTED_WITHIN:.0%}; "
    "of a range, both ends. A line holds where all of its numbers do, and holds in part where "
    "some do; those that do not are named beside the paper's."
)


@dataclass(frozen=True)
class Check:
    """A number of the paper against ours."""

    what: str
    paper: float
    ours: float
    within: float = EXACT

    @property
    def off(self) -> float:
        return self.ours / self.paper - 1 if self.paper else float(self.ours != 0)

    @property
    def held(self) -> bool:
        return abs(self.off) <= self.within

    @property
    def said(self) -> str:
        return f"{self.what}: {_told(self.ours)} for {_told(self.paper)} ({percent(self.off)})"


def _told(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else number(value)


def verdict(checks: Iterable[Check]) -> str:
    all_of_them = list(checks)
    return verdict_of(sum(one.held for one in all_of_them), len(all_of_them))


def misses(checks: Iterable[Check]) -> str:
    """Those that are not within, the farthest first; "" of none."""
    missed = sorted((one for one in checks if not one.held), key=lambda one: -abs(one.off))
    return first([one.said for one in missed])


def first(reasons: Sequence[str]) -> str:
    """A few of them, and how many more there are; "" of none."""
    more = [f"and {len(reasons) - MOST_TOLD} more"] if len(reasons) > MOST_TOLD else []
    return "; ".join([*reasons[:MOST_TOLD], *more])


def table(checks: Sequence[Check]) -> Block:
    return output.table(
        ("what", "paper", "here", "difference", "allowed", ""),
        [
            (
                one.what,
                _told(one.paper),
                _told(one.ours),
                percent(one.off),
                "none" if one.within == EXACT else f"{one.within:.0%}",
                "within" if one.held else "not within",
            )
            for one in checks
        ],
    )


def as_json(checks: Iterable[Check]) -> dict[str, dict[str, float | bool]]:
    return {
        one.what: {
            "paper": one.paper,
            "here": one.ours,
            "off": one.off,
            "within": one.within,
            "held": one.held,
        }
        for one in checks
    }


def of_range(speedup: Speedup, found: Sequence[float], within: float) -> list[Check]:
    """Both ends of a stated range against those of what was found."""
    name = f"{speedup.of_systems}, {label(speedup.mine)} over {label(speedup.other)}"
    return [
        Check(f"{name}, least", speedup.least, min(found), within),
        Check(f"{name}, most", speedup.most, max(found), within),
    ]


def ranges(speedups: Iterable[Speedup]) -> str:
    """For the paper's column, with the name of the section."""
    said: dict[str, list[str]] = {}
    for one in speedups:
        place = one.section if one.system == stated.BOTH_SYSTEMS else one.place
        words = f"{label(one.mine)} over {label(one.other)} {one.least:g} to {one.most:g}"
        said.setdefault(place, []).append(words)
    return "; ".join(f"{place}: {', '.join(words)}" for place, words in said.items())


def joined(*sentences: str) -> str:
    """Those that say something."""
    return ". ".join(one for one in sentences if one)


def without_numbers(paper: str) -> Finding:
    """Where nothing came of what an item needs; its failures become the reason."""
    return Finding(MEASURED, paper, "-", "-", "not measured")
