# SPDX-License-Identifier: BSD-3-Clause
"""Which cells are held, ranges and bounds, against a search cell by cell."""

from __future__ import annotations

import itertools
import json
import subprocess

import numpy as np
import pytest
from made_hierarchies import FIELD, MADE, hierarchy

from neve_bench.amr.hierarchy import load
from neve_bench.amr.subject import CELLS, subject


def covered_cells(made, number: int) -> set[tuple[int, ...]]:
    """Coarse cells of which one finer box has every part."""
    if number + 1 == len(made.levels):
        return set()
    ratio = made.levels[number].ref_ratio
    found = set()
    for box in made.levels[number].boxes:
        for cell in itertools.product(*(range(a, b + 1) for a, b in zip(*box, strict=True))):
            for fine in made.levels[number + 1].boxes:
                first = [c * r for c, r in zip(cell, ratio, strict=True)]
                last = [c * r + r - 1 for c, r in zip(cell, ratio, strict=True)]
                if all(
                    lo <= a and b <= hi
                    for lo, hi, a, b in zip(fine.lo, fine.hi, first, last, strict=True)
                ):
                    found.add(cell)
    return found


def cells_of(box, mask: np.ndarray) -> set[tuple[int, ...]]:
    return {
        tuple(int(n) + lo for n, lo in zip(place, box.lo, strict=True))
        for place in np.argwhere(mask)
    }


@pytest.mark.parametrize("name", MADE)
def test_uncovered_cells_are_those_of_which_no_finer_box_has_every_part(name):
    made = MADE[name]()
    for part in subject(made, FIELD, 1e-3, "uncovered").parts:
        covered = covered_cells(made, part.number)
        for box, held, rects in zip(part.boxes, part.held, part.covered, strict=True):
            every = cells_of(box, np.ones(box.shape, bool))
            assert cells_of(box, held) == every - covered
            listed = [cell for rect in rects for cell in cells_of(rect, np.ones(rect.shape, bool))]
            assert len(listed) == len(set(listed))
            assert set(listed) == every & covered


def test_a_coarse_cell_that_two_finer_boxes_share_is_held():
    made = MADE["odd, ratio 4"]()
    part = subject(made, FIELD, 1e-3).parts[0]
    assert part.held[0][7 - -3, 3, 2]  # fine cells 28 to 31 along x, of which 30 begins a box
    assert not part.held[0][6 - -3, 3, 2]


@pytest.mark.parametrize("name", MADE)
def test_all_cells_are_held(name):
    for part in subject(MADE[name](), FIELD, 1e-3, "all").parts:
        assert all(held.all() for held in part.held)
        assert not any(part.covered)


@pytest.mark.parametrize("rel", [1e-3, 0.05])
@pytest.mark.parametrize("name", MADE)
def test_restorable_cells_are_left_out_where_the_average_serves(name, rel):
    made = MADE[name]()
    for part in subject(made, FIELD, rel, "restorable").parts:
        ratio = made.levels[part.number].ref_ratio
        covered = covered_cells(made, part.number)
        missed, near = set(), set()
        for box, values in zip(part.boxes, part.values, strict=True):
            for place in np.ndindex(box.shape):
                cell = tuple(n + lo for n, lo in zip(place, box.lo, strict=True))
                if cell in covered:
                    mean = _mean_of_finer(made, part.number, cell, ratio)
                    if not serves(mean, values[place], part.bound_abs):
                        missed.add(cell)
                    if abs(abs(mean - values[place]) - part.bound_abs) < 1e-6 * part.bound_abs:
                        near.add(cell)
        assert not near  # the mean's last bits decide nothing
        expected = covered if len(missed) > len(covered) / 8 else missed
        for box, held in zip(part.boxes, part.held, strict=True):
            every = cells_of(box, np.ones(box.shape, bool))
            assert cells_of(box, held) == every - covered | every & expected


def serves(mean: float, value: np.floating, bound_abs: float) -> bool:
    if np.isfinite(value) and not (value == 0 and np.signbit(value)) and bound_abs > 0:
        return abs(mean - float(value)) <= bound_abs
    return value.dtype.type(mean).tobytes() == value.tobytes()


def _mean_of_finer(made, number, cell, ratio) -> float:
    finer = made.levels[number + 1]
    for box, values in zip(finer.boxes, finer.values[FIELD], strict=True):
        first = [c * r - lo for c, r, lo in zip(cell, ratio, box.lo, strict=True)]
        if all(0 <= a and a + r <= n for a, r, n in zip(first, ratio, box.shape, strict=True)):
            where = tuple(slice(a, a + r) for a, r in zip(first, ratio, strict=True))
            with np.errstate(all="ignore"):
                return float(values[where].astype(np.float64).mean())
    raise AssertionError(f"no finer box has {cell}")


def test_a_bound_is_relative_to_the_finite_values_of_all_cells():
    for name in ("odd, ratio 4", "specials, f4"):
        for part in subject(MADE[name](), FIELD, 1e-3).parts:
            every = np.concatenate([v.ravel() for v in part.values]).astype(np.float64)
            every = every[np.isfinite(every)]
            assert (part.lowest, part.highest) == (every.min(), every.max())
            assert part.bound_abs == 1e-3 * (every.max() - every.min())


def test_a_range_beyond_doubles_gives_a_finite_bound():
    def change(level, box, values):
        values.flat[0], values.flat[1] = -1.7e308, 1.7e308

    made = hierarchy([[((0, 0), (7, 7))]], change=change)
    (part,) = subject(made, FIELD, 1e-3).parts
    assert part.bound_abs == pytest.approx(1e-3 * np.finfo(np.float64).max)


def test_the_sets_of_cells_are_nested():
    made = MADE["in units"]()
    held = {cells: subject(made, FIELD, 1e-3, cells).parts[0].held_cells for cells in CELLS}
    assert held["uncovered"] <= held["restorable"] <= held["all"]
    assert held["uncovered"] < held["all"]


def test_held_cells_are_those_of_the_command(neve_command, sample, tmp_path):
    """Of fields on which the codec decides nothing: averages are far within the bound or beyond."""
    made = load(sample, ["density", "Temp", "pressure", "x_velocity"])
    for cells, covered in (("uncovered", "drop"), ("all", "keep"), ("restorable", "auto")):
        words = [neve_command, "convert", sample, tmp_path / "out.h5", "--bound", "rel=1e-3"]
        done = subprocess.run(
            [*map(str, words), "--covered", covered, "--json"],
            check=True,
            capture_output=True,
            timeout=120,
        )
        (tmp_path / "out.h5").unlink()
        for level in json.loads(done.stdout)["levels"]:
            for field in level["fields"]:
                if field["name"] in made.fields:
                    part = subject(made, field["name"], 1e-3, cells).parts[level["level"]]
                    assert part.cells == field["cells"]
                    assert part.cells - part.held_cells == field["left_out_cells"]
                    assert part.bound_abs == pytest.approx(field["bound_abs"], rel=1e-15)
