# SPDX-License-Identifier: BSD-3-Clause
"""zMesh's order against a walk through the tree, and its ways on uneven hierarchies."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import uneven_hierarchies
from conftest import SAMPLE

from neve._errors import Error
from neve.plotfile import Box
from neve_bench.amr import catalog, chunks, hierarchy, measure
from neve_bench.amr.hierarchy import Hierarchy, HierarchyLevel
from neve_bench.amr.space_filling import ORDERS, tree_order
from neve_bench.amr.subject import Part, subject
from neve_bench.amr.way import NotPossible

Cell = tuple[int, ...]


def held_cells(parts: Sequence[Part]) -> list[tuple[int, Cell]]:
    """Level and place of all: level by level, box by box, x fastest."""
    found = []
    for number, part in enumerate(parts):
        for box, held in zip(part.boxes, part.held, strict=True):
            for place in itertools.product(*(range(n) for n in reversed(box.shape))):
                if held[place[::-1]]:
                    found.append((number, tuple(np.add(box.lo, place[::-1]).tolist())))
    return found


def path_of(parts: Sequence[Part], number: int, cell: Cell) -> list[Cell]:
    """The cell of level 0 around a cell, then finer ones, each as its place in the one before."""
    path = []
    while number > 0:
        number -= 1
        ratio = parts[number].ref_ratio
        path.append(tuple(c % r for c, r in zip(cell, ratio, strict=True)))
        cell = tuple(c // r for c, r in zip(cell, ratio, strict=True))
    return [cell, *reversed(path)]


def z_place(cell: Cell) -> int:
    bits = [(bit, d) for bit in range(max(cell).bit_length()) for d in range(len(cell))]
    return sum((cell[d] >> bit & 1) << (bit * len(cell) + d) for bit, d in bits)


@pytest.mark.parametrize("cells", ["uncovered", "all", "restorable"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_z_order_walks_the_tree(dims, cells):
    """Cells of level 0 follow the Z curve, each before those inside, which follow it again."""
    parts = subject(uneven_hierarchies.hierarchy(dims, smooth=False), "a", 1e-2, cells).parts
    found = held_cells(parts)
    paths = [path_of(parts, *cell) for cell in found]
    corners = [path_of(parts, n, box.lo)[0] for n, part in enumerate(parts) for box in part.boxes]
    origin = np.min(corners, axis=0)

    def key(place: int) -> tuple[int, ...]:  # of a cell it begins those of the cells inside
        root, *inside = paths[place]
        return tuple(map(z_place, [tuple(np.subtract(root, origin).tolist()), *inside]))

    places = tree_order(parts, [part.held for part in parts], "z").tolist()
    assert places == sorted(range(len(found)), key=key)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_a_cell_comes_directly_before_the_cells_inside(dims, order):
    parts = subject(uneven_hierarchies.hierarchy(dims), "a", 1e-2, "all").parts
    found = held_cells(parts)
    places = tree_order(parts, [part.held for part in parts], order).tolist()
    assert sorted(places) == list(range(len(found)))
    families: dict[tuple[Cell, ...], list[int]] = {}
    for at, place in enumerate(places):
        path = path_of(parts, *found[place])
        for end in range(1, len(path) + 1):
            families.setdefault(tuple(path[:end]), []).append(at)
    for path, ats in families.items():
        assert ats == list(range(ats[0], ats[0] + len(ats))), path
        first = path_of(parts, *found[places[ats[0]]])
        own = [at for at in ats if len(path_of(parts, *found[places[at]])) == len(path)]
        assert own in ([], [ats[0]]) and tuple(first[: len(path)]) == path


@pytest.mark.parametrize("shape", [(16,), (16, 16), (8, 8, 8), (32, 32, 32)])
def test_hilbert_goes_from_neighbour_to_neighbour(shape):
    part = one_level(shape, (-3,) * len(shape))
    places = tree_order([part], [part.held], "hilbert")
    coordinates = np.array(np.unravel_index(places, shape, order="F"))
    assert (np.abs(np.diff(coordinates)).sum(0) == 1).all()
    assert sorted(places) == list(range(part.cells))


def one_level(shape: Sequence[int], lo: Sequence[int]) -> Part:
    box = Box(tuple(lo), tuple(a + n - 1 for a, n in zip(lo, shape, strict=True)))
    values = np.zeros(shape, order="F")
    held = np.ones(shape, bool, order="F")
    return Part(0, box, (box,), (1,) * len(shape), (values,), ((),), (held,), 0.0, 1.0, 1e-3)


@pytest.mark.parametrize("way", ["zmesh:lr", "zmesh:lr,order=hilbert"])
@pytest.mark.parametrize("cells", ["uncovered", "all", "restorable"])
@pytest.mark.parametrize(("dims", "dtype"), [(1, "f8"), (2, "f4"), (3, "f8")])
def test_every_held_cell_comes_back_within_the_bound(way, cells, dims, dtype):
    field = subject(uneven_hierarchies.hierarchy(dims, dtype, specials=True), "a", 1e-3, cells)
    row = measure.measure(catalog.way(way), field).row
    assert row["violations"] == row["specials_lost"] == 0
    assert row["held_cells"] == sum(part.held_cells for part in field.parts) > 0


@pytest.mark.parametrize("cells", ["uncovered", "restorable"])
def test_a_reader_needs_the_boxes_alone(cells):
    field = subject(uneven_hierarchies.hierarchy(3, smooth=False), "a", 1e-3, cells)
    encode, _ = catalog.way("zmesh:lr").prepare(field)
    _, decode = catalog.way("zmesh:lr").prepare(uneven_hierarchies.without_values(field))
    stored = encode()
    assert len(stored) == 1
    for part, values in zip(field.parts, decode(stored), strict=True):
        assert measure.errors_of(part, values)["violations"] == 0


def test_all_levels_keep_to_the_smallest_bound():
    field = subject(uneven_hierarchies.hierarchy(3, smooth=False), "a", 1e-2)
    first, *others = field.parts
    wide = replace(field, parts=(replace(first, bound_abs=100 * first.bound_abs), *others))
    row = measure.measure(catalog.way("zmesh:lr"), wide).row
    smallest = min(part.bound_abs for part in wide.parts)
    for level in row["levels"]:
        assert 0 < level["max_abs_error"] <= smallest


def test_a_level_that_keeps_every_bit_does_not_bind_the_others():
    field = subject(uneven_hierarchies.hierarchy(2, smooth=False), "a", 1e-2)
    first, *others = field.parts
    exact = replace(field, parts=(replace(first, bound_abs=0.0), *others))
    row = measure.measure(catalog.way("zmesh:lr"), exact).row
    assert row["levels"][0]["max_abs_error"] == 0 < row["levels"][1]["max_abs_error"]
    assert row["violations"] == 0
    all_exact = subject(uneven_hierarchies.hierarchy(2, smooth=False), "a", 0.0)
    row = measure.measure(catalog.way("zmesh:lr"), all_exact).row
    assert row["violations"] == 0 and row["psnr_db"] is None


def test_specials_stand_bit_for_bit_in_all_levels():
    whole = uneven_hierarchies.hierarchy(2, specials=True)
    payload = np.frombuffer(np.uint64(0x7FF8_0000_DEAD_BEEF).tobytes(), np.float64)[0]
    whole.levels[0].values["a"][0][0, 0] = payload
    field = subject(whole, "a", 1e-3, "all")
    values = measure.measure(catalog.way("zmesh:lr"), field).values
    assert values[0][0][0, 0].view(np.uint64) == 0x7FF8_0000_DEAD_BEEF
    for part, decoded in zip(field.parts, values, strict=True):
        for true, got in zip(part.values, decoded, strict=True):
            special = ~np.isfinite(true) | ((true == 0) & np.signbit(true))
            assert special.any()
            assert np.array_equal(true[special].view(np.uint64), got[special].view(np.uint64))


def test_the_order_costs_no_bytes():
    """Where nothing covered is held: beside SZ's bytes stand the lengths and a byte."""
    field = subject(uneven_hierarchies.hierarchy(3), "a", 1e-3)
    encode, _ = catalog.way("zmesh:lr").prepare(field)
    flags, lossy, exact = chunks.split(encode()[0])
    assert flags == b"\0" and exact == b"" and len(lossy) > 0


def test_levels_together_are_smoother_than_one_after_another():
    """The paper's claims where coarse cells are held with the finer ones in them: less difference
    from value to value than along the same curve level by level, and least on Hilbert's.
    """
    parts = subject(hierarchy.load(SAMPLE, ["density"]), "density", 1e-3, "all").parts
    held = [part.held for part in parts]
    rows = np.concatenate([values.T.ravel() for part in parts for values in part.values])
    level = np.repeat([part.number for part in parts], [part.cells for part in parts])
    roughness = {}
    for order in ORDERS:
        places = tree_order(parts, held, order)
        apart = places[np.argsort(level[places], kind="stable")]
        roughness[order] = np.abs(np.diff(rows[places])).sum()
        assert roughness[order] < np.abs(np.diff(rows[apart])).sum()
    assert roughness["hilbert"] < 0.85 * roughness["z"]


def big_hierarchy() -> Hierarchy:
    """64^3, and two levels of as many cells."""
    levels = []
    for number in range(3):
        lo = 64 * 2**number // 4 if number else 0
        box = Box((lo,) * 3, (lo + 63,) * 3)
        domain = Box((0,) * 3, (64 * 2**number - 1,) * 3)
        values = np.asfortranarray(np.random.default_rng(number).random((64,) * 3))
        ratio = (2,) * 3 if number < 2 else (1,) * 3
        levels.append(HierarchyLevel(domain, (box,), (1.0,) * 3, ratio, {"a": [values]}))
    return Hierarchy("big", 3, np.dtype("f8"), 0.0, ("a",), tuple(levels))


@pytest.mark.parametrize("order", ORDERS)
def test_three_levels_of_64_cubed_are_ordered_quickly(order):
    parts = subject(big_hierarchy(), "a", 1e-3, "all").parts
    start = time.process_time()
    places = tree_order(parts, [part.held for part in parts], order)
    assert time.process_time() - start < 4  # some tenths where nothing else runs
    assert np.array_equal(np.sort(places), np.arange(3 * 64**3))


def test_coordinates_of_many_bits_are_ordered_in_several_words():
    """Two boxes far apart, whose places take 34 bits in each direction."""
    ends = [(-(2**30),) * 3, (2**30,) * 3]
    boxes = tuple(Box(lo, tuple(c + 1 for c in lo)) for lo in ends)
    values = tuple(np.zeros((2, 2, 2), order="F") for _ in boxes)
    held = tuple(np.ones((2, 2, 2), bool, order="F") for _ in boxes)
    domain = Box(ends[0], ends[1])
    coarse = Part(0, domain, boxes[::-1], (4, 4, 4), values, ((), ()), held, 0.0, 1.0, 1e-3)
    fine = replace(coarse, number=1, ref_ratio=(1, 1, 1), boxes=boxes)
    for order in ORDERS:
        places = tree_order([coarse, fine], [held, held], order)
        assert sorted(places.tolist()) == list(range(32))
        if order == "hilbert":
            continue
        found = held_cells([coarse, fine])
        paths = [path_of([coarse, fine], *cell) for cell in found]
        origin = np.min([path[0] for path in paths], axis=0).tolist()
        keys = [
            tuple(map(z_place, [tuple(np.subtract(root, origin).tolist()), *inside]))
            for root, *inside in paths
        ]
        assert places.tolist() == sorted(range(32), key=keys.__getitem__)
    deep = [replace(coarse, number=n, ref_ratio=(2**16,) * 3) for n in range(3)]
    with pytest.raises(NotPossible, match="allowed are 62"):
        tree_order(deep, [held] * 3, "z")


def test_unknown_settings_are_refused():
    for text, words in {
        "zmesh:interp": "there is no 'zmesh:interp'",
        "zmesh:lr,order=rows": "order is 'rows'; allowed are z, hilbert",
        "zmesh:lr,unit=8": "has no setting 'unit=8'",
    }.items():
        with pytest.raises(Error, match=words):
            catalog.way(text)


def test_the_sample():
    field = subject(hierarchy.load(SAMPLE, ["density"]), "density", 1e-3)
    for way in ("zmesh:lr", "zmesh:lr,order=hilbert"):
        row = measure.measure(catalog.way(way), field).row
        assert row["violations"] == 0 and row["ratio"] > 4
        assert sum(level["held_cells"] for level in row["levels"]) == row["held_cells"]
