# SPDX-License-Identifier: BSD-3-Clause
"""The bound at which a way has a given ratio, so that errors of several ways can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .hierarchy import Hierarchy
from .measure import Measured, measure
from .subject import Subject, subject
from .way import Way

MAX_TRIALS = 10
CLOSE_ENOUGH = 0.01  # of the ratio
WIDEST_REL, NARROWEST_REL = 0.3, 1e-7
Measure = Callable[[Way, Subject], Measured]


def is_close(ratio: float, wanted: float) -> bool:
    """What counts as the same ratio."""
    return abs(math.log(ratio / wanted)) <= CLOSE_ENOUGH


def between(ratios: Sequence[float]) -> float:
    """One that none of the ways goes far for: the geometric middle of the best and the worst."""
    return math.sqrt(min(ratios) * max(ratios))


def at_ratio(
    way: Way,
    hierarchy: Hierarchy,
    field: str,
    cells: str,
    wanted: float,
    start_rel: float,
    measure_way: Measure = measure,
) -> tuple[Subject, Measured]:
    """The nearest that MAX_TRIALS bounds come to it. What measure_way raises is raised."""
    search = _Search(math.log(start_rel))
    nearest: tuple[float, Subject, Measured] | None = None
    for _ in range(MAX_TRIALS):
        asked = subject(hierarchy, field, math.exp(search.at), cells)
        found = measure_way(way, asked)
        off = math.log(found.row["ratio"] / wanted)
        if nearest is None or abs(off) < abs(nearest[0]):
            nearest = (off, asked, found)
        if is_close(found.row["ratio"], wanted):
            break
        search.step(off)
    assert nearest is not None
    return nearest[1], nearest[2]


class _Search:
    """Of the logarithm of the bound at which `off`, which rises with it, is 0."""

    def __init__(self, at: float):
        self.at = at
        # (place, off) of the nearest on either side; the ends have not been measured.
        self._low: tuple[float, float | None] = (math.log(NARROWEST_REL), None)
        self._high: tuple[float, float | None] = (math.log(WIDEST_REL), None)
        self._moved = ""  # the side that the last step moved

    def step(self, off: float) -> None:
        side = "low" if off < 0 else "high"
        is_stuck = side == self._moved
        self._moved = side
        if off < 0:
            self._low = (self.at, off)
        else:
            self._high = (self.at, off)
        (low, off_low), (high, off_high) = self._low, self._high
        middle = (low + high) / 2
        if off_low is None or off_high is None:
            # Halving the bits takes about the square root of the precision: a step of 2 in the log
            # of the bound for each in that of the ratio is a fair first guess.
            guess = self.at - 2 * off
        elif is_stuck:
            guess = middle  # one side stays where it is: halving is quicker than its secant
        else:
            guess = low + (high - low) * off_low / (off_low - off_high)
        self.at = guess if low < guess < high else middle
