# SPDX-License-Identifier: BSD-3-Clause
"""Levels shared out among ranks."""

from __future__ import annotations

import numpy as np
import pytest
from made_hierarchies import FIELD, MADE, hierarchy

from neve._errors import Error
from neve.plotfile import Box
from neve_bench.amr import chunks, frames, ranks
from neve_bench.amr.catalog import way
from neve_bench.amr.subject import subject


def cube(lo: tuple[int, ...], side: int) -> Box:
    return Box(lo, tuple(n + side - 1 for n in lo))


def grid(per_side: int, side: int) -> list[Box]:
    """x slowest: not the order of a Z curve."""
    steps = range(0, per_side * side, side)
    return [cube((x - 5, y, z), side) for x in steps for y in steps for z in steps]


def test_ranks_have_octants_of_a_cube_along_the_z_curve():
    boxes = grid(4, 8)
    owned = ranks.boxes_of_ranks(boxes, 8)
    for numbers in owned:
        corners = np.array([boxes[n].lo for n in numbers])
        assert len(numbers) == 8
        assert (np.ptp(corners, axis=0) == 8).all()
    # The first octants along the curve: x fastest, then y, then z.
    first = [np.array([boxes[n].lo for n in numbers]).min(axis=0).tolist() for numbers in owned]
    assert first[:4] == [[-5, 0, 0], [11, 0, 0], [-5, 16, 0], [11, 16, 0]]
    assert first[4] == [-5, 0, 16]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 100])
def test_every_box_has_one_rank_and_loads_are_even(count):
    boxes = grid(4, 8)
    owned = ranks.boxes_of_ranks(boxes, count)
    assert len(owned) == count
    assert sorted(n for numbers in owned for n in numbers) == list(range(64))
    assert max(map(len, owned)) <= -(-64 // count)


def test_large_boxes_leave_ranks_without_any():
    boxes = [cube((0, 0), 32), cube((32, 0), 4), cube((36, 0), 4)]
    owned = ranks.boxes_of_ranks(boxes, 4)
    assert sorted(map(len, owned)) == [0, 0, 1, 2]


@pytest.mark.parametrize("count", [1, 2, 8])
def test_ranks_with_cells_are_those_with_a_held_one(count):
    """A box that the finer level covers wholly gives its rank nothing."""
    boxes = [((x, y, 0), (x + 7, y + 7, 7)) for x in (0, 8) for y in (0, 8)]
    asked = subject(hierarchy([boxes, [((0, 0, 0), (15, 15, 15))]]), FIELD, 1e-3)
    coarse, fine = asked.parts
    assert [bool(held.any()) for held in coarse.held].count(False) == 1
    owned = ranks.boxes_of_ranks(coarse.boxes, count)
    expected = len([1 for numbers in owned if sum(coarse.held[n].sum() for n in numbers) > 0])
    assert ranks.ranks_with_cells(coarse, count) == expected == {1: 1, 2: 2, 8: 3}[count]
    assert ranks.ranks_with_cells(fine, count) == 1
    assert way(f"amrex:1d,ranks={count}").ranks == way(f"amric:sle,ranks={count}").ranks == count


@pytest.mark.parametrize("text", ["amrex:1d", "amric:adaptive", "amric:interp"])
def test_a_rank_is_coded_as_if_it_were_alone(text):
    asked = subject(MADE["in units"](), FIELD, 1e-3)
    stored = way(f"{text},ranks=2").prepare(asked)[0]()
    for part, text_of_level in zip(asked.parts, stored, strict=True):
        alone = []
        for box in part.boxes:  # two of equal size: one each, in the order of the curve
            number = part.boxes.index(box)
            piece = ranks.part_of(part, [number])
            only = type(asked)(FIELD, asked.rel, asked.cells, asked.dtype, (piece,))
            alone.append(way(text).prepare(only)[0]()[0])
        assert sorted(chunks.split(text_of_level)) == sorted(alone)


def test_with_ranges_of_ranks_each_keeps_a_bound_of_its_own():
    def change(level, box, values):
        values *= 10.0**-box

    asked = subject(
        hierarchy([[((0, 0, 0), (15, 15, 15)), ((16, 0, 0), (31, 15, 15))]], change=change),
        FIELD,
        1e-2,
    )
    (part,) = asked.parts
    stored = {}
    for ranges in ("level", "rank"):
        chosen = way(f"amric:sle,ranks=2,ranges={ranges}")
        encode, decode = chosen.prepare(asked)
        stored[ranges] = encode()
        (decoded,) = decode(stored[ranges])
        worst = [float(np.abs(a - b).max()) for a, b in zip(decoded, part.values, strict=True)]
        bounds = [1e-2 * float(np.ptp(values)) for values in part.values]
        if ranges == "level":
            assert bounds[1] < worst[1] <= part.bound_abs
        else:
            assert 0.5 * bounds[0] < worst[0] <= bounds[0]
            assert 0.5 * bounds[1] < worst[1] <= bounds[1]
    assert len(stored["rank"][0]) > len(stored["level"][0])


def test_ranges_of_ranks_need_ranks():
    with pytest.raises(Error, match=r"'amric:sle,ranges=rank': ranges=rank needs ranks=2"):
        way("amric:sle,ranges=rank")


@pytest.mark.parametrize("value", ["0", "-1", "two", "65537", ""])
def test_a_number_of_ranks_is_whole_and_positive(value):
    with pytest.raises(Error, match="ranks is .*; allowed are whole numbers from 1 to 65536"):
        way(f"amrex:1d,ranks={value}")


def test_more_ranks_than_boxes_store_what_a_rank_for_each_box_does():
    asked = subject(MADE["in units"](), FIELD, 1e-3)
    few, many = (way(f"amrex:1d,ranks={n}").prepare(asked)[0]() for n in (2, 50))
    assert few == many


def test_pieces_of_1d_are_arrays_of_their_own():
    asked = subject(MADE["odd, ratio 4"](), FIELD, 1e-3)
    for chunk in (100, 1024):
        stored = way(f"amrex:1d,chunk={chunk}").prepare(asked)[0]()
        for part, text in zip(asked.parts, stored, strict=True):
            told, *pieces = chunks.split(text)
            run = [
                float(values[place[::-1]])
                for values, held in zip(part.values, part.held, strict=True)
                for place in np.ndindex(values.shape[::-1])  # x fastest
                if held[place[::-1]]
            ]
            expected = [run[at : at + chunk] for at in range(0, len(run), chunk)]
            assert told == b"\0"
            assert [len(frames.decode_array(piece)) for piece in pieces] == [*map(len, expected)]
            for piece, values in zip(pieces, expected, strict=True):
                error = np.abs(frames.decode_array(piece) - np.array(values))
                assert error.max() <= part.bound_abs


def test_chunks_are_joined_with_their_lengths():
    texts = [b"", b"a", b"b" * 127, b"c" * 128, b"d" * 20000, b""]
    joined = chunks.join(texts)
    assert chunks.split(joined) == texts
    assert len(joined) == sum(map(len, texts)) + 1 + 1 + 1 + 2 + 3 + 1
    with pytest.raises(ValueError, match="before the end"):
        chunks.split(joined[:-2])
    with pytest.raises(ValueError, match="inside of a length"):
        chunks.split(b"\x80")
