# SPDX-License-Identifier: BSD-3-Clause
"""_core.encode_boxes: boxes of a level as one frame, without a file around it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from arrays import assert_same_bits, assert_within, value_range

import neve
from neve import _core

BOUND = 1e-2
LOSSY = ("dual_quant", "lorenzo_regression", "interpolation", "context", "axis_passes")
ARRANGEMENTS = [
    *({"arrangement": "linear", "unit": unit} for unit in ("0", "8", "16", "32", "64")),
    *({"arrangement": "cluster", "unit": unit} for unit in ("0", "8", "16", "32", "64")),
    {"arrangement": "in_place"},
    {"arrangement": "linear", "unit": "8", "merge-units": "true"},
    {},
]
MERGING = ("lorenzo_regression", "interpolation")
# First and last cell of each box: touching, apart, of one cell.
BOXES = {
    1: [((-40,), (59,)), ((60,), (99,)), ((500,), (500,))],
    2: [((0, 0), (32, 16)), ((33, 0), (40, 39)), ((-9, 100), (-9, 100))],
    3: [((0, 0, 0), (15, 15, 15)), ((16, 0, 0), (31, 15, 15)), ((40, -8, 3), (48, 5, 4))],
    4: [((0, 0, 0, 0), (8, 7, 7, 3)), ((9, 0, 0, 0), (16, 7, 7, 3))],
}


class Boxes:
    """Boxes of a smooth field with covered rectangles, as the call takes them."""

    def __init__(self, dims: int, dtype: str = "f8", special: bool = False) -> None:
        self.dims, self.dtype = dims, np.dtype(dtype)
        self.boxes = BOXES[dims]
        self.values: list[np.ndarray] = []
        random = np.random.default_rng(dims)
        for lo, hi in self.boxes:
            shape = tuple(last - first + 1 for first, last in zip(lo, hi, strict=True))
            lines = [np.arange(n) + first for n, first in zip(shape, lo, strict=True)]
            axes = np.meshgrid(*lines, indexing="ij")
            field = sum(np.sin(0.1 * (d + 1) * axis) for d, axis in enumerate(axes))
            field = field + 1e-3 * random.standard_normal(shape)
            self.values.append(np.asfortranarray(field, dtype=self.dtype))
        if special:
            for values in self.values[:2]:
                flat = values.reshape(-1, order="F")
                flat[3:24:3] = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e30, 1e-40]
                values[...] = flat.reshape(values.shape, order="F")
        # Of the first box the lower half along x; of the second one two pieces and a hole between.
        (lo, hi), (lo2, hi2) = self.boxes[:2]
        middle = (lo[0] + hi[0]) // 2
        self.covered: list[Any] = [
            [(lo, (middle, *hi[1:]))],
            [(lo2, (lo2[0] + 1, *hi2[1:])), ((lo2[0] + 4, *lo2[1:]), (lo2[0] + 5, *hi2[1:]))],
        ] + [[] for _ in self.boxes[2:]]
        self.held = [np.ones(values.shape, bool) for values in self.values]
        for (first, _), rects, held in zip(self.boxes, self.covered, self.held, strict=True):
            for a, b in rects:
                held[
                    tuple(slice(x - o, y - o + 1) for x, y, o in zip(a, b, first, strict=True))
                ] = False

    def arguments(self, **changed: Any) -> dict[str, Any]:
        finite = np.concatenate([v[np.isfinite(v) & (np.abs(v) < 1e9)] for v in self.values])
        return {
            "is_double": self.dtype.itemsize == 8,
            "ndim": self.dims,
            "boxes": self.boxes,
            "covered": self.covered,
            "values": self.values,
            "keep": [],
            "bound_abs": BOUND,
            "lowest": float(finite.min()),
            "highest": float(finite.max()),
            "options": {},
        } | changed

    def encode(self, **changed: Any) -> bytes:
        return _core.encode_boxes(**self.arguments(**changed))


def decode(boxes: Boxes, stored: bytes) -> list[np.ndarray]:
    frame = _core.Frame(stored)
    assert frame.is_double == (boxes.dtype.itemsize == 8)
    assert frame.box_count == len(boxes.boxes)
    decoded = []
    for number, values in enumerate(boxes.values):
        out = np.empty(values.shape, boxes.dtype, order="F")
        frame.decode_box(number, 0, out)
        decoded.append(out)
    return decoded


def assert_held_within(boxes: Boxes, stored: bytes, bound: float = BOUND) -> None:
    for found, values, held in zip(decode(boxes, stored), boxes.values, boxes.held, strict=True):
        assert_within(found[held], values[held], bound)
        assert np.isfinite(found[~held]).all()


@pytest.mark.parametrize("codec", ["auto", *LOSSY])
@pytest.mark.parametrize("dims", BOXES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_held_cells_are_within_the_bound(codec, dims, dtype):
    for special, arrangement in itertools.product([False, True], ARRANGEMENTS):
        if "merge-units" in arrangement and codec not in MERGING:
            continue
        boxes = Boxes(dims, dtype, special)
        stored = boxes.encode(options={"codec": codec, **arrangement})
        assert_held_within(boxes, stored)


@pytest.mark.parametrize("effort", ["fast", "balanced", "max"])
@pytest.mark.parametrize("dims", BOXES)
def test_auto_at_every_effort(effort, dims):
    boxes = Boxes(dims, "f8", special=True)
    assert_held_within(boxes, boxes.encode(options={"effort": effort, "threads": "2"}))


@pytest.mark.parametrize("codec", ["auto", "lossless", "exact"])
@pytest.mark.parametrize("dims", BOXES)
def test_without_a_bound_held_cells_keep_every_bit(codec, dims):
    boxes = Boxes(dims, "f4", special=True)
    stored = boxes.encode(bound_abs=0.0, options={"codec": codec})
    for found, values, held in zip(decode(boxes, stored), boxes.values, boxes.held, strict=True):
        assert_same_bits(found[held], values[held])


@pytest.mark.parametrize("dims", BOXES)
@pytest.mark.parametrize("codec", LOSSY)
def test_covered_cells_that_are_marked_are_kept(codec, dims):
    boxes = Boxes(dims)
    random = np.random.default_rng(7)
    marks = [np.asfortranarray(random.random(held.shape) < 0.2) for held in boxes.held]
    # Far from what is around them: an interpolated stand-in would not be within the bound.
    for values, held, mark in zip(boxes.values, boxes.held, marks, strict=True):
        values[mark & ~held] += 5
        held |= mark
    keep = [mark.astype(np.uint8, order="F") for mark in marks]
    stored = boxes.encode(keep=keep, options={"codec": codec})
    assert_held_within(boxes, stored)
    without = boxes.encode(options={"codec": codec})
    assert len(without) < len(stored)


def test_left_out_cells_cost_nothing():
    boxes = Boxes(3)
    random = np.random.default_rng(1)
    ends = {"lowest": -3.0, "highest": 3.0}
    quiet = boxes.encode(**ends)
    for values, held in zip(boxes.values, boxes.held, strict=True):
        values[~held] = random.standard_normal(int((~held).sum())) * 1e6
    assert boxes.encode(**ends) == quiet


def test_covered_rectangles_may_overlap():
    """A cell is left out once, however often it is named."""
    boxes = Boxes(2)
    lo, hi = boxes.boxes[0]
    boxes.covered[0] = [(lo, (lo[0] + 3, hi[1])), ((lo[0] + 2, lo[1]), (lo[0] + 5, hi[1]))]
    boxes.held[0][:] = True
    boxes.held[0][:6] = False
    assert_held_within(boxes, boxes.encode())


def test_the_frame_says_its_bound_and_its_codec():
    boxes = Boxes(3)
    frame = _core.Frame(boxes.encode(options={"codec": "interpolation", "unit": "8"}))
    (component,) = frame.components
    assert component["bound_abs"] == BOUND
    assert component["max_abs_error"] <= BOUND
    assert {(s["codec"], s["unit"]) for s in frame.sections} == {("interpolation", 8)}
    held = np.concatenate([v[h] for v, h in zip(boxes.values, boxes.held, strict=True)])
    assert value_range(held) > 100 * BOUND  # so that the bound is no empty promise


def test_box_tuples_of_any_kind():
    boxes = Boxes(3)
    box = neve.plotfile.Box
    named = [box(lo, hi) for lo, hi in boxes.boxes]
    lists = [[list(lo), np.array(hi)] for lo, hi in boxes.boxes]
    assert boxes.encode(boxes=named) == boxes.encode(boxes=lists) == boxes.encode()


# --- wrong arguments ------------------------------------------------------------------------------

BIG = 2**31 - 1
OTHER = ((0, 0, 0), (3, 3, 3))
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no dimensions": ({"ndim": 0}, "0 dimensions; 1 to 4 are allowed"),
    "negative dimensions": ({"ndim": -1}, "-1 dimensions; 1 to 4 are allowed"),
    "five dimensions": ({"ndim": 5}, "5 dimensions; 1 to 4 are allowed"),
    "other dimensions": ({"ndim": 2}, "a corner has 3 entries, must have 2"),
    "no boxes": ({"boxes": [], "covered": [], "values": []}, "no boxes"),
    "a number for a box": ({"boxes": [3, *BOXES[3][1:]]}, "a box is no sequence"),
    "a number for a corner": ({"boxes": [(3, 4), *BOXES[3][1:]]}, "a corner is no sequence"),
    "three corners": ({"boxes": [(*OTHER, (0, 0, 0)), *BOXES[3][1:]]}, "a box has 3 entries"),
    "a negative size": ({"boxes": [((0, 0, 0), (3, -2, 3)), *BOXES[3][1:]]}, "a box has -1 cells"),
    "an empty side": ({"boxes": [((0, 0, 0), (3, -1, 3)), *BOXES[3][1:]]}, "a box has 0 cells"),
    "a corner past 32 bits": (
        {"boxes": [((0, 0, 0), (2**31, 3, 3)), *BOXES[3][1:]]},
        "whole numbers from -2147483648 to 2147483647",
    ),
    "a corner past 64 bits": (
        {"boxes": [((0, -(2**70), 0), (3, 3, 3)), *BOXES[3][1:]]},
        "whole numbers",
    ),
    "a fractional corner": ({"boxes": [((0, 0.5, 0), (3, 3, 3)), *BOXES[3][1:]]}, "whole numbers"),
    "no number in a corner": (
        {"boxes": [((0, None, 0), (3, 3, 3)), *BOXES[3][1:]]},
        "whole numbers",
    ),
    "more cells than fit": (
        {"boxes": [((-BIG, -BIG, -BIG), (BIG, BIG, BIG)), *BOXES[3][1:]]},
        "all sides multiplied",
    ),
    "boxes of more cells than fit": (
        {"boxes": [((0, 0, 0), (2**20 - 1, 2**19, 0))] * 3, "covered": [[]] * 3},
        "boxes of more than 1099511627776 cells together",
    ),
    "fewer lists of covered cells": ({"covered": [[], []]}, "has 2 entries, must have 3"),
    "more lists of covered cells": ({"covered": [[]] * 4}, "has 4 entries, must have 3"),
    "covered cells that are no list": (
        {"covered": [3, [], []]},
        "covered cells of a box is no seq",
    ),
    "covered cells outside": (
        {"covered": [[((0, 0, 0), (16, 1, 1))], [], []]},
        "leaves its 16 cells",
    ),
    "covered cells below": (
        {"covered": [[((-1, 0, 0), (1, 1, 1))], [], []]},
        "leaves its 16 cells",
    ),
    "empty covered cells": ({"covered": [[((4, 0, 0), (3, 1, 1))], [], []]}, "a box has 0 cells"),
    "covered cells twice": ({"covered": [[BOXES[3][0]] * 2, [], []]}, "so they overlap"),
    "a negative bound": ({"bound_abs": -1.0}, "bound"),
    "no bound": ({"bound_abs": float("nan")}, "bound"),
    "an infinite bound": ({"bound_abs": float("inf")}, "bound"),
    "an endless range": ({"highest": float("inf")}, "finite numbers are allowed"),
    "no range": ({"lowest": float("nan")}, "finite numbers are allowed"),
    "a bound among the options": (
        {"options": {"bound": "abs=1"}},
        'option "bound"; allowed: codec',
    ),
    "a fill value": ({"options": {"fill": "3"}}, 'option "fill"; allowed: codec'),
    "an option of plotfiles": ({"options": {"covered": "drop"}}, 'option "covered"; allowed'),
    "an unknown option": ({"options": {"speed": "3"}}, 'option "speed"; allowed'),
    "an unknown codec": ({"options": {"codec": "sz"}}, '"sz" unknown'),
    "a wrong unit": ({"options": {"unit": "7"}}, "unit is 7; 0, 8, 16, 32 and 64 are allowed"),
    "too many threads": ({"options": {"threads": "9999"}}, "threads is 9999"),
    "an idle option": ({"options": {"codec": "exact", "merge-units": "true"}}, "no meaning"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused_by_name(case):
    changed, says = WRONG[case]
    with pytest.raises(neve.Error) as refused:
        Boxes(3).encode(**changed)
    assert says in str(refused.value)
    assert refused.value.code == 2


BUFFERS: dict[str, tuple[Any, str]] = {
    "fewer": (lambda v: v[:-1], "of 2 boxes, for 3"),
    "more": (lambda v: [*v, v[0]], "of 4 boxes, for 3"),
    "none": (lambda v: [], "of 0 boxes, for 3"),
    "too small": (lambda v: [v[0][:-1].copy(order="F"), *v[1:]], "of box 0 have"),
    "too large": (lambda v: [*v[:-1], np.zeros(1000)], "of box 2 have"),
    "x slowest": (lambda v: [np.ascontiguousarray(v[0]), *v[1:]], "with x fastest"),
    "with gaps": (lambda v: [np.zeros((32, 16, 16), order="F")[::2], *v[1:]], "without gaps"),
    "no buffer": (lambda v: [*v[:2], 5], "of box 2 are no buffer"),
    "text": (lambda v: [*v[:2], "values"], "of box 2 are no buffer"),
}


@pytest.mark.parametrize("case", BUFFERS)
@pytest.mark.parametrize("name", ["values", "keep"])
def test_wrong_buffers_are_refused_by_name(case, name):
    change, says = BUFFERS[case]
    boxes = Boxes(3)
    right = boxes.values
    if name == "keep":
        if case == "none":  # then nothing is kept
            return
        right = [np.zeros(values.shape, np.uint8, order="F") for values in boxes.values]
    with pytest.raises(neve.Error) as refused:
        boxes.encode(**{name: change(right)})
    assert says in str(refused.value)
    assert ("values" if name == "values" else "marks to keep") in str(refused.value)


@pytest.mark.parametrize(
    "changed",
    [
        {"boxes": 3},
        {"covered": None},
        {"values": 3},
        {"keep": 3},
        {"options": {"unit": 8}},
        {"options": None},
        {"bound_abs": "1"},
        {"ndim": 2**40},
    ],
    ids=str,
)
def test_arguments_of_another_type(changed):
    with pytest.raises(TypeError):
        Boxes(3).encode(**changed)


def test_lists_that_change_their_length_while_they_are_read():
    class Liar(list):
        def __len__(self) -> int:
            return 3

    boxes = Boxes(3)
    with pytest.raises((neve.Error, IndexError)):
        boxes.encode(covered=Liar([[]]))
    with pytest.raises((neve.Error, IndexError)):
        boxes.encode(boxes=Liar([*boxes.boxes, OTHER]))
