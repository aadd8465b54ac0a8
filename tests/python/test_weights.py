# SPDX-License-Identifier: BSD-3-Clause
"""Where speed and ratio have weights, codec lossless chooses by its own score, at every effort."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from weighing import (
    EFFORTS,
    NEEDS_A_LIBRARY,
    NINE,
    WEIGHTS,
    Coded,
    Coder,
    Weights,
    climate_variables,
    typical_speeds,
)

CHECKOUT = Path(__file__).parents[2]
# Variables are cut to so many bytes; the long test takes them whole.
MOST_BYTES = 2**63 if os.environ.get("NEVE_TEST_LONG") else 1 << 20

LEAST_SHARE = 0.95  # of the best score that any method which every reader has reaches
LEAST_SHARE_OF_ALL = 0.945  # with those by bzip2
SLACK, SLACK_BYTES = 1.01, 16  # of the bytes, where the ratio's weight rises

SPEEDS = typical_speeds(CHECKOUT)


@dataclass
class Variable:
    name: str
    array: np.ndarray
    by_effort: dict[str, dict[str, Coded]]  # forced methods
    chosen: dict[str, dict[Weights, Coded]]

    def share(self, effort: str, weights: Weights, left_out: tuple[str, ...]) -> float:
        """The choice's score, of the best that a method reaches."""
        others = [c for name, c in self.by_effort[effort].items() if name not in left_out]
        best = max(coded.score(SPEEDS, weights) for coded in others)
        return self.chosen[effort][weights].score(SPEEDS, weights) / best


@pytest.fixture(scope="module")
def climate(shared_data: Path) -> list[Variable]:
    coder = Coder(SPEEDS)
    heeding = [name for name in SPEEDS if name not in NINE]
    found = []
    for name, array in climate_variables(shared_data, MOST_BYTES):
        nine = coder.forced(array, "fast", list(NINE))
        forced = {effort: nine | coder.forced(array, effort, heeding) for effort in EFFORTS}
        chosen = {
            effort: {weights: coder.chosen(array, effort, weights) for weights in WEIGHTS}
            for effort in EFFORTS
        }
        found.append(Variable(name, array, forced, chosen))
    assert len(found) >= 50
    assert {v.array.dtype.name for v in found} >= {"float32", "float64", "int8", "int32"}
    return found


def _table(climate: list[Variable], left_out: tuple[str, ...]) -> tuple[float, list[str]]:
    """The least share, and for each effort how many choices lie below which one."""
    lines, least_of_all = [], 1.0
    for effort in EFFORTS:
        shares = [(v.share(effort, w, left_out), v.name, w) for v in climate for w in WEIGHTS]
        least, name, weights = min(shares)
        below = {
            f"{most}": sum(share < most for share, _, _ in shares) for most in (0.9, 0.95, 0.99)
        }
        lines.append(
            f"{effort}: {len(shares)} choices, below 0.9, 0.95, 0.99: {list(below.values())}, "
            f"least {least:.4f}: {name} by speed {weights.speed:g}, ratio {weights.ratio:g}"
        )
        least_of_all = min(least_of_all, least)
    return least_of_all, lines


def test_choices_score_as_the_best_method_that_every_reader_has(climate):
    least, lines = _table(climate, NEEDS_A_LIBRARY)
    print(*lines, sep="\n")
    assert least >= LEAST_SHARE, lines


def test_choices_score_nearly_as_methods_that_need_a_library(climate):
    least, lines = _table(climate, ())
    print(*lines, sep="\n")
    assert least >= LEAST_SHARE_OF_ALL, lines


def test_the_ratio_does_not_fall_where_its_weight_rises(climate):
    broken = []
    for variable in climate:
        for effort in EFFORTS:
            chosen = [(w, variable.chosen[effort][w]) for w in WEIGHTS]  # speed weighs ever more
            for k, (weights, coded) in enumerate(chosen):
                for other, by_speed in chosen[k + 1 :]:
                    if coded.stored_bytes > SLACK * by_speed.stored_bytes + SLACK_BYTES:
                        broken.append((variable.name, effort, weights, other))
    assert not broken


def test_by_speed_alone_the_fastest_method_is_taken(climate):
    fastest = max(SPEEDS, key=SPEEDS.__getitem__)
    for variable in climate:
        for effort in EFFORTS:
            sections = variable.chosen[effort][Weights(1, 0)].sections
            assert {section.method for section in sections} == {fastest}
