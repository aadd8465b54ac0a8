# SPDX-License-Identifier: BSD-3-Clause
"""Truncation into unit blocks, against blocks that are cut one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from made_hierarchies import FIELD, IN_UNITS, MADE, hierarchy

from neve._errors import Error
from neve_bench.amr import amric
from neve_bench.amr.catalog import way
from neve_bench.amr.flags import pack_flags, unpack_flags
from neve_bench.amr.holes import filled
from neve_bench.amr.measure import measure
from neve_bench.amr.rectangles import rectangles_of
from neve_bench.amr.subject import CELLS, subject
from neve_bench.amr.units import Truncation, covered_masks, fitting_side
from neve_bench.amr.way import NotPossible


def blocks_one_by_one(part, side: int, arrays) -> list[np.ndarray]:
    """Those with a held cell, cut off at their box."""
    found = []
    for box, held, array in zip(part.boxes, part.held, arrays, strict=True):
        corners = [range(0, n, side) for n in box.shape[::-1]]
        for corner in itertools.product(*corners):  # x fastest
            where = tuple(slice(n, n + side) for n in corner[::-1])
            if held[where].any():
                found.append(array[where])
    return found


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("made", MADE)
def test_blocks_are_those_with_a_held_cell(made, cells):
    for part in subject(MADE[made](), FIELD, 1e-3, cells).parts:
        if part.held_cells == 0:
            continue
        truncation = Truncation(part, 8)
        units, told = truncation.held(part)
        again = Truncation(part, 8).held_again(told)
        expected = blocks_one_by_one(part, 8, part.values)
        stack = units.stack(part.values)
        assert units.count == again.count == len(stack) == len(expected)
        for block, array in zip(stack, expected, strict=True):
            cut = block.T[tuple(slice(n) for n in array.shape)]
            assert cut.tobytes() == array.tobytes()
        held = blocks_one_by_one(part, 8, part.held)
        for block, mask in zip(units.stack(part.held), held, strict=True):
            assert block.sum() == mask.sum()  # none past the box
        outside = [
            ~cut for cut in blocks_one_by_one(part, 8, [~mask for mask in covered_masks(part)])
        ]
        for block, mask in zip(truncation.outside(units), outside, strict=True):
            assert (~block).sum() == (~mask).sum()
        for mask, box, true in zip(part.held, again.unstack(stack), part.values, strict=True):
            assert box[mask].tobytes() == true[mask].tobytes()


def test_wholly_covered_blocks_take_no_bytes_to_tell():
    for cells in ("uncovered", "all"):
        for part in subject(MADE["in units"](), FIELD, 1e-3, cells).parts:
            assert Truncation(part, 8).held(part)[1] == b"\0"


@pytest.mark.parametrize("side", [8, 16, 32, 64])
def test_the_fitting_side_divides_boxes_and_what_is_held(side):
    made = hierarchy(
        [
            [((0, 0, 0), (3 * side - 1, side - 1, 2 * side - 1))],
            [((0, 0, 0), (2 * side - 1, 2 * side - 1, 2 * side - 1))],
        ]
    )
    coarse, fine = subject(made, FIELD, 1e-3).parts
    assert fitting_side(coarse) == side
    assert fitting_side(fine) == min(2 * side, 64)
    coarse, _ = subject(made, FIELD, 1e-3, "all").parts
    assert fitting_side(coarse) == side


def test_what_is_covered_may_ask_for_smaller_units_than_the_boxes():
    # Boxes of 32 in x; 8 of them are covered.
    made = hierarchy([[((0, 0), (31, 31))], [((0, 0), (15, 63))]])
    assert fitting_side(subject(made, FIELD, 1e-3).parts[0]) == 8
    assert fitting_side(subject(made, FIELD, 1e-3, "all").parts[0]) == 32
    assert fitting_side(subject(MADE["odd, ratio 4"](), FIELD, 1e-3).parts[0]) == 8


def test_the_row_says_which_units_came_out():
    row = measure(way("amric:sle"), subject(hierarchy(IN_UNITS), FIELD, 1e-3)).row
    assert row["about"] == "unit blocks of 8, 16 cells, by level"


def test_units_much_larger_than_the_boxes_are_not_possible():
    boxes = [
        ((0, 0, 0), (63, 63, 63)),
        *[((64 + 8 * n, 0, 0), (71 + 8 * n, 7, 7)) for n in range(9)],
    ]
    asked = subject(hierarchy([boxes]), FIELD, 1e-3)
    with pytest.raises(NotPossible, match="unit 64: level 0 has boxes so much smaller"):
        measure(way("amric:sle,unit=64"), asked)


def test_frames_are_given_whole_units_in_boxes_that_they_do_not_cut():
    asked = subject(hierarchy([[((0, 0, 0), (191, 191, 63))]]), FIELD, 1e-2)  # more than 2^21 cells
    (part,) = asked.parts
    truncation = Truncation(part, 32)
    units, _ = truncation.held(part)
    layout = amric._layout(part, units, truncation, amric._units_a_box(units))
    assert [box.shape for box in layout.boxes] == [(32, 32, 32 * 64), (32, 32, 32 * 8)]
    assert measure(way("amric:sle,unit=32"), asked).row["violations"] == 0


def test_the_block_of_adaptive_is_equation_1s():
    asked = subject(MADE["in units"](), FIELD, 1e-3, "all")

    def decoded(name: str, unit: int) -> list[bytes]:
        levels = measure(way(f"amric:{name},unit={unit}"), asked).values
        return [array.tobytes() for boxes in levels for array in boxes]

    # 8 mod 6 is 2: blocks of 4. 16 mod 6 is 4: blocks of 6, as sle has them.
    assert decoded("adaptive", 8) != decoded("sle", 8)
    assert decoded("adaptive", 16) == decoded("sle", 16)
    assert decoded("sle", 16) != decoded("lm", 16)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("amric:sle,unit=12", r"unit is '12'; allowed are auto, 8, 16, 32, 64"),
        ("amric:sle,block=4", r"has no setting 'block=4'; it has unit=, ranks=, ranges="),
        ("amric:cluster", r"there is no 'amric:cluster'"),
        ("amric:sle,unit=8,unit=16", r"unit is set twice"),
        ("amrex:1d,codec=zfp", r"codec is 'zfp'; allowed are lr, interp"),
        ("amrex:1d,chunk=0", r"chunk is '0'; allowed are whole numbers from 1"),
        ("sperr:abs,pieces=1d", r"pieces is '1d'; allowed are boxes, cluster"),
    ],
)
def test_unknown_settings_are_refused_by_name(text, message):
    with pytest.raises(Error, match=message):
        way(text)


masks = hnp.arrays(bool, hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))


@given(masks)
def test_rectangles_are_disjoint_and_have_the_marked_cells(mask):
    count = np.zeros(mask.shape, int)
    for box in rectangles_of(mask):
        count[tuple(slice(a, b + 1) for a, b in zip(box.lo, box.hi, strict=True))] += 1
    assert (count == mask).all()


def test_rectangles_of_a_corner_that_is_cut_out_are_few():
    mask = np.ones((8, 8, 8), bool)
    mask[4:, 4:, 4:] = False
    assert len(rectangles_of(mask)) == 3


@given(st.lists(st.booleans(), max_size=100))
def test_flags_come_back(flags):
    array = np.array(flags, bool)
    assert (unpack_flags(pack_flags(array), len(flags)) == array).all()
    assert any(flags) or pack_flags(array) == b"\0"


def test_holes_are_filled_between_their_neighbours():
    row = np.array([9.0, 1.0, 9.0, 9.0, 4.0, 9.0])
    held = np.array([False, True, False, False, True, False])
    assert filled(row, held).tolist() == [1.0, 1.0, 2.0, 3.0, 4.0, 4.0]
    # A line along x without any has its values from along y.
    rows = np.array([[1.0, 2.0], [9.0, 9.0], [3.0, 6.0]]).T
    known = np.array([[True, True], [False, False], [True, True]]).T
    assert filled(rows, known).T.tolist() == [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]


@given(
    hnp.array_shapes(min_dims=1, max_dims=3, max_side=6).flatmap(
        lambda shape: st.tuples(
            hnp.arrays(np.float64, shape, elements=st.floats(-1, 1)), hnp.arrays(bool, shape)
        )
    )
)
def test_filling_keeps_what_is_held_and_stays_in_its_range(pair):
    array, held = pair
    got = filled(array, held)
    assert (got[held] == array[held]).all()
    if held.any():
        assert got.min() >= array[held].min() - 1e-12
        assert got.max() <= array[held].max() + 1e-12
