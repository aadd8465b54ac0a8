# SPDX-License-Identifier: BSD-3-Clause
"""The slides' rule (slides 8 and 9), step by step over what each method comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .methods import best_of

FIRST, DRIFT, KEPT = "first", "drift", "kept"
BLIND_BELOW = 0.97  # of the best of a step


@dataclass(frozen=True)
class Decision:
    method: str
    reason: str  # FIRST, DRIFT or KEPT; Neve's own rule has more
    performance: float


def follow(steps: Sequence[Mapping[str, float]], delta: float) -> list[Decision]:
    """`steps` has the performance of each method. At a step the method is kept if what it came to
    at the step before lay strictly between best - delta and best + delta, where best is what it
    came to when it was chosen; else all methods are tried. `delta` is a fraction of best.
    """
    found: list[Decision] = []
    best = 0.0
    for scores in steps:
        latest = found[-1].performance if found else 0.0
        is_kept = bool(found) and best - delta * best < latest < best + delta * best
        method = found[-1].method if is_kept else best_of(scores)
        if not is_kept:
            best = scores[method]
        reason = KEPT if is_kept else DRIFT if found else FIRST
        found.append(Decision(method, reason, scores[method]))
    return found


def rechoices(decisions: Sequence[Decision]) -> int:
    """After the first choice."""
    return sum(one.reason != KEPT for one in decisions[1:])


def kept(decisions: Sequence[Decision], steps: Sequence[Mapping[str, float]]) -> list[float]:
    """Of each step: what was reached over the best that was to be had."""
    return [
        one.performance / max(scores.values()) for one, scores in zip(decisions, steps, strict=True)
    ]


def longest_blind(shares: Sequence[float], delta: float = 0.0) -> int:
    """Most steps in a row at which a rival is better by more than delta, and than 3 %."""
    below = min(BLIND_BELOW, 1 / (1 + delta))
    longest = run = 0
    for share in shares:
        run = run + 1 if share < below else 0
        longest = max(longest, run)
    return longest
