# SPDX-License-Identifier: BSD-3-Clause
"""Artifacts at level borders, against loops over single cells."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from refined_hierarchies import FIELD, hierarchy

from neve.plotfile import Box
from neve_bench.amr.artifact import artifact
from neve_bench.amr.subject import subject

REL = 1e-2


def box(*ends):
    return Box(tuple(lo for lo, _ in ends), tuple(hi for _, hi in ends))


MADE = {
    "1D, ratio 2": (box((0, 23)), [[box((4, 9)), box((12, 15))]], [(2,)]),
    "1D, ratio 4": (box((-6, 17)), [[box((-4, 3)), box((10, 11))]], [(4,)]),
    "2D, ratio 2": (
        box((0, 11), (0, 9)),
        [[box((2, 5), (2, 7)), box((6, 7), (2, 3))]],
        [(2, 2)],
    ),
    "2D, ratio 4 by 2, to the edge": (box((3, 12), (0, 7)), [[box((3, 6), (2, 7))]], [(4, 2)]),
    "2D, three levels that meet": (
        box((0, 9), (0, 9)),
        [[box((2, 7), (2, 7))], [box((4, 9), (6, 11))]],
        [(2, 2), (2, 2)],
    ),
    "3D, ratio 2": (
        box((0, 7), (0, 7), (0, 5)),
        [[box((2, 5), (2, 3), (0, 3)), box((2, 3), (4, 5), (2, 3))]],
        [(2, 2, 2)],
    ),
    "3D, ratio 4": (box((0, 5), (0, 5), (0, 5)), [[box((2, 3), (1, 4), (2, 5))]], [(4, 4, 4)]),
    "3D, three levels": (
        box((0, 7), (0, 7), (0, 7)),
        [[box((1, 6), (1, 6), (2, 5))], [box((4, 9), (4, 7), (6, 9))]],
        [(2, 2, 2), (2, 2, 2)],
    ),
}


def study(name, cells="uncovered"):
    return subject(hierarchy(*MADE[name]), FIELD, REL, cells)


def decoded(asked, errors):
    """The values plus errors[level][box], which are in units of the level's bound."""
    return [
        [v + e * part.bound_abs for v, e in zip(part.values, of_level, strict=True)]
        for part, of_level in zip(asked.parts, errors, strict=True)
    ]


def noise(asked, seed=1):
    random = np.random.default_rng(seed)
    return [[random.normal(size=v.shape) for v in part.values] for part in asked.parts]


class Loops:
    """The same figures from a dictionary of cells."""

    def __init__(self, asked, errors):
        self.parts = asked.parts
        self.levels, self.box_of = [], []
        for part, of_level in zip(asked.parts, errors, strict=True):
            cells, box_of = {}, {}
            for number, (b, error) in enumerate(zip(part.boxes, of_level, strict=True)):
                for at in np.ndindex(b.shape):
                    cell = tuple(lo + n for lo, n in zip(b.lo, at, strict=True))
                    cells[cell], box_of[cell] = float(error[at]), number
            self.levels.append(cells)
            self.box_of.append(box_of)
        for level in range(len(self.levels) - 1):  # finer levels last: they are still complete
            for cell in [c for c in self.levels[level] if self.is_covered(level, c)]:
                del self.levels[level][cell]

    def is_covered(self, level, cell):
        return all(child in self.box_of[level + 1] for child in self.children(level, cell))

    def children(self, level, cell):
        ratio = self.parts[level].ref_ratio
        ranges = [range(n * r, (n + 1) * r) for n, r in zip(cell, ratio, strict=True)]
        return list(product(*ranges))

    def faces(self):
        """(level, coarse cell, finer cells, jump)"""
        for level, cells in enumerate(self.levels[:-1]):
            for cell, axis, step in product(cells, range(len(self.parts[0].domain.lo)), (-1, 1)):
                beside = tuple(n + step * (d == axis) for d, n in enumerate(cell))
                if not self.is_covered(level, beside):
                    continue
                children = self.children(level, beside)
                edge = (min if step > 0 else max)(child[axis] for child in children)
                finer = [c for c in children if c[axis] == edge and c in self.levels[level + 1]]
                if finer:
                    mean = np.mean([self.levels[level + 1][c] for c in finer])
                    yield level, cell, finer, cells[cell] - mean

    def interior(self, level):
        squares = []
        for cell, error in self.levels[level].items():
            for axis in range(len(cell)):
                beside = tuple(n + (d == axis) for d, n in enumerate(cell))
                if beside in self.levels[level]:
                    if self.box_of[level][beside] == self.box_of[level][cell]:
                        squares.append((error - self.levels[level][beside]) ** 2)
        return np.mean(squares)

    def found(self):
        faces = list(self.faces())
        band = [set() for _ in self.levels]
        for level, cell, finer, _ in faces:
            band[level].add(cell)
            band[level + 1].update(finer)
        over = under = count = 0
        for cells, marked in zip(self.levels, band, strict=True):
            inside = [cells[c] ** 2 for c in marked]
            outside = [e**2 for c, e in cells.items() if c not in marked]
            if inside and outside:
                over += sum(inside)
                under += len(inside) * np.mean(outside)
                count += len(inside)
        jumps = np.array([jump for *_, jump in faces])
        within = np.mean(
            [(self.interior(level) + self.interior(level + 1)) / 2 for level, *_ in faces]
        )
        return {
            "border_faces": len(faces),
            "band_cells": sum(map(len, band)),
            "band": math.sqrt(over / under),
            "jump": math.sqrt(np.mean(jumps**2) / within),
            "band_rms": math.sqrt(over / count),
            "elsewhere_rms": math.sqrt(under / count),
            "jump_rms": math.sqrt(np.mean(jumps**2)),
            "interior_rms": math.sqrt(within),
            "largest_in_band": max(
                abs(cells[c])
                for cells, marked in zip(self.levels, band, strict=True)
                for c in marked
            ),
            "largest_jump": np.abs(jumps).max(),
        }


@pytest.mark.parametrize("cells", ["uncovered", "all"])
@pytest.mark.parametrize("name", MADE)
def test_equal_to_loops_over_cells(name, cells):
    asked = study(name, cells)
    errors = noise(asked)
    assert artifact(asked, decoded(asked, errors)) == pytest.approx(Loops(asked, errors).found())


@pytest.mark.parametrize("name", MADE)
def test_one_error_everywhere_is_no_jump(name):
    asked = study(name)
    errors = [[np.full(v.shape, 0.7) for v in part.values] for part in asked.parts]
    found = artifact(asked, decoded(asked, errors))
    assert found["largest_jump"] == pytest.approx(0, abs=1e-9)
    assert found["jump_rms"] == pytest.approx(0, abs=1e-9)
    assert found["band"] == pytest.approx(1)


def test_each_level_with_an_error_of_its_own_is_all_jump():
    asked = study("3D, ratio 2")
    errors = [
        [np.full(v.shape, 0.25 - 0.5 * part.number) for v in part.values] for part in asked.parts
    ]
    found = artifact(asked, decoded(asked, errors))
    assert found["jump_rms"] == pytest.approx(0.5)
    assert found["interior_rms"] == pytest.approx(0, abs=1e-9)


def test_errors_beside_borders_only():
    asked = study("3D, three levels")
    errors = noise(asked)
    loops = Loops(asked, errors)
    band = {(level, cell) for level, cell, *_ in loops.faces()}
    band |= {(level + 1, c) for level, _, finer, _ in loops.faces() for c in finer}
    for part, of_level in zip(asked.parts, errors, strict=True):
        for b, error in zip(part.boxes, of_level, strict=True):
            for at in np.ndindex(b.shape):
                cell = tuple(lo + n for lo, n in zip(b.lo, at, strict=True))
                error[at] = float((part.number, cell) in band)
    found = artifact(asked, decoded(asked, errors))
    assert (found["band_rms"], found["elsewhere_rms"]) == pytest.approx((1, 0), abs=1e-9)
    assert found["band_cells"] == len(band)


@pytest.mark.parametrize(("ratio", "neighbours"), [((2, 2, 2), 4), ((4, 4, 4), 16)])
def test_independent_noise_is_below_one(ratio, neighbours):
    made = hierarchy(box((0, 23), (0, 23), (0, 23)), [[box((4, 15), (4, 15), (4, 15))]], [ratio])
    asked = subject(made, FIELD, REL)
    found = artifact(asked, decoded(asked, noise(asked)))
    assert found["jump"] == pytest.approx(math.sqrt((1 + 1 / neighbours) / 2), rel=0.05)
    assert found["band"] == pytest.approx(1, rel=0.05)


def test_what_is_not_seen_or_not_finite_takes_no_part():
    asked = study("2D, three levels that meet", "all")
    errors = noise(asked)
    before = artifact(asked, decoded(asked, errors))
    covered = study("2D, three levels that meet")
    values = decoded(asked, errors)
    for part, of_level in zip(covered.parts, values, strict=True):
        for held, result in zip(part.held, of_level, strict=True):
            result[~held] = 1e30
    assert artifact(asked, values) == pytest.approx(before)
    values[0][0][0, 0] = np.nan
    values[1][0][2, 2] = 1e300
    found = artifact(asked, values)
    assert all(math.isfinite(value) for value in found.values())
    assert found["border_faces"] == before["border_faces"]


def test_without_borders_there_is_no_figure():
    one_level = subject(hierarchy(box((0, 7), (0, 7)), [], []), FIELD, REL)
    whole = subject(hierarchy(box((0, 7), (0, 7)), [[box((0, 7), (0, 7))]], [(2, 2)]), FIELD, REL)
    for asked in (one_level, whole):
        found = artifact(asked, decoded(asked, noise(asked)))
        assert (found.pop("border_faces"), found.pop("band_cells")) == (0, 0)
        assert set(found.values()) == {None}


def test_without_errors():
    asked = study("3D, ratio 2")
    found = artifact(asked, [list(part.values) for part in asked.parts])
    assert (found["band"], found["jump"], found["largest_jump"]) == (0, 0, 0)
