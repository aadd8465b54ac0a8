# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of measure(), recomputed from the stored bytes and the decoded values."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from made_hierarchies import FIELD, MADE

from neve_bench.amr.catalog import way
from neve_bench.amr.hierarchy import load
from neve_bench.amr.measure import measure
from neve_bench.amr.subject import CELLS, Part, Subject, subject
from neve_bench.amr.way import Way

WAYS = ("neve:auto", "amric:adaptive", "amrex:1d,ranks=2")


def check(text: str, asked: Subject) -> None:
    found = measure(way(text), asked)
    encode, _ = way(text).prepare(asked)
    stored = encode()
    row = found.row
    raw = sum(v.size * v.itemsize for part in asked.parts for v in part.values)
    assert row["raw_bytes"] == raw
    assert row["stored_bytes"] == sum(len(piece) for piece in stored)
    if row["stored_bytes"]:
        assert row["ratio"] == pytest.approx(raw / row["stored_bytes"])
    relative = []  # all errors in units of their level's range
    for part, boxes, level in zip(asked.parts, found.values, row["levels"], strict=True):
        true = np.concatenate([v[h] for v, h in zip(part.values, part.held, strict=True)])
        got = np.concatenate([v[h] for v, h in zip(boxes, part.held, strict=True)])
        assert level["held_cells"] == true.size
        assert level["cells"] == sum(v.size for v in part.values)
        ordinary = np.isfinite(true) & ~((true == 0) & np.signbit(true))
        error = np.abs(true[ordinary].astype(float) - got[ordinary].astype(float))
        assert level["violations"] == np.count_nonzero(error > part.bound_abs) == 0
        assert level["specials_lost"] == 0
        assert level["max_abs_error"] == error.max(initial=0)
        every = np.concatenate([v.ravel() for v in part.values]).astype(float)
        every = every[np.isfinite(every)]
        spread = np.ptp(every) if every.size else 0.0
        assert level["bound_abs"] == pytest.approx(asked.rel * spread, rel=1e-15)
        mean_square = np.mean(error**2) if error.size else 0.0
        assert level["rms_error"] == pytest.approx(math.sqrt(mean_square))
        if mean_square > 0 and spread > 0:
            psnr = 20 * math.log10(spread) - 10 * math.log10(mean_square)
            assert level["psnr_db"] == pytest.approx(psnr)
        else:
            assert level["psnr_db"] is None
        relative.append(error / spread if spread > 0 else error)
    everything = np.concatenate(relative)
    assert row["held_cells"] == sum(level["held_cells"] for level in row["levels"])
    if everything.any():
        assert row["psnr_db"] == pytest.approx(-10 * math.log10(np.mean(everything**2)))
        assert row["max_error_over_bound"] == pytest.approx(everything.max() / asked.rel)
    else:
        assert row["psnr_db"] is None


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("made", MADE)
def test_numbers_of_made_hierarchies(made, cells):
    for text in WAYS:
        check(text, subject(MADE[made](), FIELD, 1e-3, cells))


@pytest.mark.parametrize("rel", [1e-2, 1e-4])
@pytest.mark.parametrize("cells", CELLS)
def test_numbers_of_the_sample(sample, cells, rel):
    made = load(sample, ["density", "Temp"])
    for field in made.fields:
        for text in WAYS:
            check(text, subject(made, field, rel, cells))


def a_way_that_returns(levels: list[list[np.ndarray]]) -> Way:
    return Way("made", "made", "", lambda asked: (lambda: [b"12"] * len(levels), lambda _: levels))


def copied(asked: Subject) -> list[list[np.ndarray]]:
    return [[values.copy(order="F") for values in part.values] for part in asked.parts]


def first_held(part: Part) -> tuple[int, ...]:
    return tuple(np.argwhere(part.held[0])[0])


def test_broken_bounds_and_lost_specials_are_counted():
    asked = subject(MADE["specials"](), FIELD, 1e-3)
    levels = copied(asked)
    bound = asked.parts[1].bound_abs
    values = levels[1][0]
    ordinary = [tuple(place) for place in np.argwhere(np.isfinite(values) & (values != 0))]
    values[ordinary[0]] += 0.5 * bound
    values[ordinary[1]] -= 3 * bound
    values[ordinary[2]] = np.nan
    for place in np.argwhere(np.isinf(values))[:4]:
        values[tuple(place)] = 0
    for place in np.argwhere((values == 0) & np.signbit(values))[:2]:
        values[tuple(place)] = 0.0
    row = measure(a_way_that_returns(levels), asked).row
    assert row["violations"] == 2
    assert row["specials_lost"] == 6
    assert row["max_error_over_bound"] == pytest.approx(3)
    assert row["levels"][0]["violations"] == 0


def test_cells_that_are_not_held_do_not_count():
    asked = subject(MADE["in units"](), FIELD, 1e-3)
    levels = copied(asked)
    for values, held in zip(levels[0], asked.parts[0].held, strict=True):
        values[~held] = 1e9
    row = measure(a_way_that_returns(levels), asked).row
    assert row["violations"] == 0
    assert row["psnr_db"] is None


def test_what_decodes_to_another_shape_is_refused():
    asked = subject(MADE["2D"](), FIELD, 1e-3)
    levels = copied(asked)
    levels[1][0] = levels[1][0][:-1]
    with pytest.raises(ValueError, match=r"level 1: a box decoded to float64 of \(15, 16\), not"):
        measure(a_way_that_returns(levels), asked)


def test_errors_of_huge_values_have_a_psnr():
    made = MADE["in units"]()
    for values in made.levels[1].values[FIELD]:
        values *= 1e305
    asked = subject(made, FIELD, 1e-3)
    row = measure(way("amric:adaptive"), asked).row
    assert row["violations"] == 0
    assert 60 < row["levels"][1]["psnr_db"] < 120


@pytest.mark.parametrize("text", ["neve:auto", "amric:sle", "amric:interp,ranks=2", "amrex:1d"])
def test_levels_without_boxes_or_held_cells_cost_nothing(text):
    made = MADE["covered wholly"]()
    empty = replace(made.levels[1], boxes=(), values={FIELD: []})
    made = replace(
        made, levels=(replace(made.levels[0], ref_ratio=(2, 2, 2)), made.levels[1], empty)
    )
    row = measure(way(text), subject(made, FIELD, 1e-3)).row
    coarse, fine, none = row["levels"]
    assert (coarse["held_cells"], coarse["stored_bytes"], coarse["ratio"]) == (0, 0, None)
    assert (none["cells"], none["raw_bytes"], none["stored_bytes"]) == (0, 0, 0)
    assert row["stored_bytes"] == fine["stored_bytes"] > 0
    assert row["psnr_db"] == pytest.approx(fine["psnr_db"])
    assert row["held_cells"] == fine["held_cells"] == 16**3
