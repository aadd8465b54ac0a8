# SPDX-License-Identifier: BSD-3-Clause
"""TAC's partitions against exhaustive searches, and its ways on uneven hierarchies."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import uneven_hierarchies
from conftest import SAMPLE

from neve._errors import Error
from neve.plotfile import Box
from neve_bench.amr import catalog, hierarchy, measure
from neve_bench.amr.subject import Part, Subject, subject
from neve_bench.amr.tac import akdtree, cuboids, gsp, level_units, opst
from neve_bench.amr.tac import ways as tac_ways
from neve_bench.amr.tac.empty_cells import filled
from neve_bench.amr.way import NotPossible

SHAPES = [(9,), (5, 7), (8, 8), (4, 4, 4), (3, 5, 4), (6, 1, 5)]


def occupancies():
    rng = np.random.default_rng(5)
    for shape in SHAPES:
        for density in (0.05, 0.3, 0.6, 0.85, 0.97):
            yield rng.random(shape) < density
        yield np.ones(shape, bool)
        yield np.zeros(shape, bool)
        solid = np.zeros(shape, bool)  # a block with a bite
        solid[tuple(slice(n // 3, None) for n in shape)] = True
        solid[tuple(n - 1 for n in shape)] = False
        yield solid


@pytest.mark.parametrize("partition", [opst.partition, akdtree.partition])
def test_every_unit_that_is_not_empty_is_in_one_cuboid(partition):
    for occupied in occupancies():
        times = np.zeros(occupied.shape, int)
        for cuboid in partition(occupied):
            times[cuboid.slices] += 1
        assert np.array_equal(times, occupied.astype(int))


def largest_cube(free: np.ndarray) -> int:
    for side in range(min(free.shape), 0, -1):
        for lo in itertools.product(*(range(n - side + 1) for n in free.shape)):
            if free[tuple(slice(a, a + side) for a in lo)].all():
                return side
    return 0


def test_opst_takes_the_largest_cube_of_what_is_left_each_time():
    for occupied in occupancies():
        free = occupied.copy()
        for cube in opst.partition(occupied):
            assert cube.shape == (largest_cube(free),) * free.ndim
            free[cube.slices] = False


def test_full_cubes_are_those_of_the_papers_dynamic_programme():
    for occupied in occupancies():
        side = np.zeros(occupied.shape, int)  # of the largest cube that ends at a unit
        for place in itertools.product(*map(range, occupied.shape)):
            if occupied[place]:
                steps = list(itertools.product((0, 1), repeat=occupied.ndim))[1:]
                before = [tuple(np.subtract(place, step)) for step in steps]
                before = [side[b] if min(b) >= 0 else 0 for b in before]
                side[place] = 1 + min(before)
        for n in range(1, min(occupied.shape) + 1):
            ends = tuple(slice(n - 1, None) for _ in occupied.shape)
            assert np.array_equal(opst.full_cubes(occupied, n), side[ends] >= n)


def kd_leaves(occupied: np.ndarray, lo: tuple[int, ...], shape: tuple[int, ...]) -> list:
    """Of cubes whose side is a power of two, as the paper tells it."""
    part = occupied[tuple(slice(a, a + n) for a, n in zip(lo, shape, strict=True))]
    if not part.any():
        return []
    if part.all():
        return [(lo, shape)]
    best = None
    for d in range(occupied.ndim):
        if shape[d] == max(shape):
            half = shape[d] // 2
            first, second = np.split(part, [half], axis=d)
            difference = abs(int(first.sum()) - int(second.sum()))
            if best is None or difference > best[0]:
                best = (difference, d, half)
    _, d, half = best
    halved = (*shape[:d], half, *shape[d + 1 :])
    above = (*lo[:d], lo[d] + half, *lo[d + 1 :])
    return kd_leaves(occupied, lo, halved) + kd_leaves(occupied, above, halved)


@pytest.mark.parametrize("shape", [(16,), (8, 8), (4, 4, 4), (8, 8, 8)])
@pytest.mark.parametrize("density", [0.2, 0.55, 0.9])
def test_akdtree_of_cubes_is_the_papers(shape, density):
    occupied = np.random.default_rng(len(shape)).random(shape) < density
    occupied[tuple(slice(n // 2) for n in shape)] = True  # a part that need not be cut
    leaves = {(leaf.lo, leaf.shape) for leaf in akdtree.partition(occupied)}
    assert leaves == set(kd_leaves(occupied, (0,) * len(shape), shape))
    assert max(math.prod(shape) for _, shape in leaves) > 1


@pytest.mark.parametrize("unit", [(4, 4, 4), (4, 4, 2)])
@pytest.mark.parametrize("partition", [opst.partition, akdtree.partition])
def test_merged_cuboids_hold_every_cell_once_and_split_again(partition, unit):
    rng = np.random.default_rng(3)
    occupied = rng.random((4, 6, 5)) < 0.6
    occupied[:2, :4, :2] = True
    numbers = np.full(occupied.shape, -1)
    numbers[occupied] = np.arange(occupied.sum())
    blocks = np.arange(occupied.sum() * math.prod(unit)).reshape(-1, *unit)
    groups = cuboids.groups_of(partition(occupied), unit)
    merged = [cuboids.merge(group, numbers, blocks) for group in groups]
    assert sorted(np.concatenate([m.ravel() for m in merged])) == list(range(blocks.size))
    assert len({m.shape[1:] for m in merged if m.shape[0] > 1}) > 1
    back = np.zeros_like(blocks)
    for group, array in zip(groups, merged, strict=True):
        assert array.shape == (group.sides[0] * len(group.members), *group.sides[1:])
        cuboids.split(group, numbers, array, back)
    assert np.array_equal(back, blocks)


def test_members_of_a_merged_array_lie_as_in_space():
    """x is the fastest direction of a cube; of others the odd side is the slowest."""
    unit = (2, 2, 2)
    numbers = np.arange(8).reshape(2, 2, 2)
    cells = np.arange(64).reshape(4, 4, 4)  # [x, y, z]
    blocks = cells.reshape(2, 2, 2, 2, 2, 2).transpose(0, 2, 4, 1, 3, 5).reshape(8, 2, 2, 2)
    for lo, shape, axes in [
        ((0, 0, 0), (2, 2, 2), (2, 1, 0)),
        ((1, 0, 0), (1, 2, 2), (0, 2, 1)),
        ((0, 1, 1), (2, 1, 1), (0, 2, 1)),
        ((0, 1, 0), (2, 1, 2), (1, 2, 0)),
    ]:
        cuboid = cuboids.Cuboid(lo, shape)
        (group,) = cuboids.groups_of([cuboid], unit)
        region = tuple(slice(2 * a, 2 * (a + n)) for a, n in zip(lo, shape, strict=True))
        assert np.array_equal(cuboids.merge(group, numbers, blocks), cells[region].transpose(axes))


def units_from(occupied: np.ndarray, side: int) -> level_units.LevelUnits:
    numbers = np.full(occupied.shape, -1)
    numbers[occupied] = np.arange(occupied.sum())
    unit = (side,) * occupied.ndim
    lattice = level_units.Lattice(unit, (0,) * occupied.ndim, occupied.shape)
    return level_units.LevelUnits((), lattice, numbers)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (3, 3, 2)])
def test_ghost_shells_are_means_of_the_neighbours_last_cells(shape):
    rng = np.random.default_rng(8)
    side, depth, dims = 6, 3, len(shape)
    occupied = rng.random(shape) < 0.6
    occupied[(0,) * dims] = True
    units = units_from(occupied, side)
    blocks = rng.random((units.count, *units.lattice.unit))
    array = gsp.padded(units, blocks, blocks).T  # [x, y, z]
    cells = np.zeros([n * side for n in shape])
    for place in np.argwhere(occupied):
        where = tuple(slice(p * side, (p + 1) * side) for p in place)
        cells[where] = blocks[units.numbers[tuple(place)]]
    for cell in itertools.product(*map(range, cells.shape)):
        unit = tuple(c // side for c in cell)
        if occupied[unit]:
            assert array[cell] == cells[cell]
            continue
        means = []
        for d, step in itertools.product(range(dims), (-1, 1)):
            beside = (*unit[:d], unit[d] + step, *unit[d + 1 :])
            if not 0 <= beside[d] < shape[d] or not occupied[beside]:
                continue
            from_face = cell[d] % side if step < 0 else side - 1 - cell[d] % side
            if from_face < depth:
                first = beside[d] * side + (side - depth if step < 0 else 0)
                row = cells[(*cell[:d], slice(first, first + depth), *cell[d + 1 :])]
                means.append(row.mean())
        expected = np.mean(means) if means else blocks.mean()
        assert array[cell] == pytest.approx(expected)
    assert np.array_equal(gsp.unpadded(units, array.T), blocks)


def test_empty_cells_repeat_the_nearest_held_value_before_them():
    nan, inf = np.nan, np.inf
    values = np.array([[[1.0, 2, 3], [4, 5, 6], [7, 8, 9]], [[nan, inf, 3], [4, 5, 6], [7, 8, 9]]])
    held = np.ones(values.shape, bool)
    held[0, 1, 1] = held[0, 0, 2] = held[0, 2] = False
    # The first axis of a block is x: column by column.
    assert filled(values, held)[0].tolist() == [[1, 2, 6], [4, 2, 6], [4, 2, 6]]
    assert filled(values, held)[1].tolist() == [[4, 5, 3], [4, 5, 6], [7, 8, 9]]
    assert not filled(values, np.zeros(values.shape, bool)).any()


WAYS = ["tac:auto", "tac:opst", "tac:akdtree", "tac:gsp", "tac:auto,unit=16", "tac:gsp,unit=16"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cells", ["uncovered", "all", "restorable"])
@pytest.mark.parametrize(("dims", "dtype"), [(1, "f8"), (2, "f4"), (3, "f8")])
def test_every_held_cell_comes_back_within_the_bound(way, cells, dims, dtype):
    whole = uneven_hierarchies.hierarchy(dims, dtype, specials=True)
    field = subject(whole, "a", 1e-3, cells)
    row = measure.measure(catalog.way(way), field).row
    assert row["violations"] == row["specials_lost"] == 0
    assert row["held_cells"] == sum(part.held_cells for part in field.parts) > 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cells", ["uncovered", "restorable"])
def test_a_reader_needs_the_boxes_alone(way, cells):
    field = subject(uneven_hierarchies.hierarchy(3, smooth=False), "a", 1e-3, cells)
    encode, _ = catalog.way(way).prepare(field)
    _, decode = catalog.way(way).prepare(uneven_hierarchies.without_values(field))
    for part, values in zip(field.parts, decode(encode()), strict=True):
        errors = measure.errors_of(part, values)
        assert errors["violations"] == errors["specials_lost"] == 0


def test_bound_0_keeps_every_bit():
    whole = uneven_hierarchies.hierarchy(3, smooth=False)
    for way in WAYS:
        row = measure.measure(catalog.way(way), subject(whole, "a", 0.0)).row
        assert row["violations"] == 0 and row["psnr_db"] is None


def level_of(occupied: np.ndarray, side: int) -> Part:
    """A box for each unit that is not empty, of a smooth field."""
    lo = np.argwhere(occupied) * side
    boxes = tuple(Box(tuple(a), tuple(n + side - 1 for n in a)) for a in lo.tolist())
    values = []
    for box in boxes:
        x, y, z = np.meshgrid(
            *(np.arange(a, b + 1.0) for a, b in zip(box.lo, box.hi, strict=True)), indexing="ij"
        )
        wave = np.sin(x / 9) + np.cos(y / 11) * np.sin(z / 7 + x / 13)
        values.append(np.asfortranarray(wave))
    return Part(
        0,
        Box((0, 0, 0), tuple(n * side - 1 for n in occupied.shape)),
        boxes,
        (1, 1, 1),
        tuple(values),
        ((),) * len(boxes),
        tuple(np.ones(box.shape, bool, order="F") for box in boxes),
        -2.0,
        2.0,
        4e-3,
    )


def with_units(shape: tuple[int, ...], count: int) -> np.ndarray:
    occupied = np.zeros(math.prod(shape), bool)
    occupied[np.random.default_rng(1).permutation(occupied.size)[:count]] = True
    return occupied.reshape(shape)


@pytest.mark.parametrize(
    ("full", "name"),
    [(49, "opst"), (50, "akdtree"), (60, "akdtree"), (61, "gsp"), (100, "gsp"), (1, "opst")],
)
def test_auto_chooses_by_density(full, name):
    part = level_of(with_units((5, 5, 4), full), 8)
    encode_auto, _ = tac_ways.level_coders(part, "auto", "8")
    encode_named, _ = tac_ways.level_coders(part, name, "8")
    assert encode_auto() == encode_named()
    others = {"opst", "akdtree", "gsp"} - {name}
    if 1 < full < 100:
        assert all(
            tac_ways.level_coders(part, other, "8")[0]() != encode_auto() for other in others
        )


def test_what_is_done_to_a_level_is_told():
    units = with_units((5, 5, 4), 55)
    row = measure.measure(catalog.way("tac:auto,unit=8"), subject_of(level_of(units, 8))).row
    assert row["about"] == "akdtree of 55 units of 8 x 8 x 8 cells"
    row = measure.measure(catalog.way("tac:gsp,unit=8"), subject_of(level_of(units, 8))).row
    assert row["about"] == "gsp of 55 units of 8 x 8 x 8 cells"


def sizes_of(part: Part) -> dict[str, int]:
    names = ("opst", "akdtree", "gsp")
    return {name: len(tac_ways.level_coders(part, name, "8")[0]()) for name in names}


def test_opst_and_akdtree_beat_padding_where_little_is_there():
    """The paper's reason for partitions at low density."""
    occupied = np.zeros((8, 8, 8), bool)
    occupied[1:4, 2:5, 1:4] = occupied[6, 6, 6] = occupied[6, 0, 1] = True
    part = level_of(occupied, 8)
    sizes = {
        name: len(tac_ways.level_coders(part, name, "8")[0]())
        for name in ("opst", "akdtree", "gsp")
    }
    assert sizes["opst"] < sizes["akdtree"] < sizes["gsp"], sizes


def test_padding_beats_partitions_where_little_is_missing():
    """The paper's reason for padding at high density."""
    part = level_of(with_units((6, 6, 6), 200), 8)
    sizes = {
        name: len(tac_ways.level_coders(part, name, "8")[0]())
        for name in ("opst", "akdtree", "gsp")
    }
    assert sizes["gsp"] < min(sizes["akdtree"], sizes["opst"]), sizes


def test_levels_that_would_take_too_much_memory_are_not_possible():
    def far(side: int) -> Part:
        part = level_of(with_units((2, 2, 2), 2), 8)
        hi = tuple(side + 7 for _ in range(3))
        box = Box((side, side, side), hi)
        return Part(**(vars(part) | {"boxes": (part.boxes[0], box), "domain": Box((0, 0, 0), hi)}))

    with pytest.raises(NotPossible, match="gsp: the rectangle around the level's boxes has"):
        catalog.way("tac:gsp").prepare(subject_of(far(1024)))
    assert catalog.way("tac:auto").prepare(subject_of(far(1024)))
    with pytest.raises(NotPossible, match=f"lie in {(2**17 + 1) ** 3} units; allowed are 16777216"):
        catalog.way("tac:auto").prepare(subject_of(far(1 << 20)))


def subject_of(part: Part) -> Subject:
    return Subject("a", 1e-3, "uncovered", part.values[0].dtype, (part,))


def test_unknown_settings_are_refused():
    for text, words in {
        "tac:nast": "there is no 'tac:nast'",
        "tac:auto,unit=12": "unit is '12'; allowed are auto, 8, 16, 32, 64",
        "tac:opst,effort=fast": "has no setting 'effort=fast'",
    }.items():
        with pytest.raises(Error, match=words):
            catalog.way(text)


def test_the_sample():
    whole = hierarchy.load(SAMPLE, ["density"])
    field = subject(whole, "density", 1e-3)
    for way in ("tac:auto", "tac:opst", "tac:akdtree", "tac:gsp"):
        row = measure.measure(catalog.way(way), field).row
        assert row["violations"] == 0 and row["ratio"] > 5
        assert len(row["levels"]) == len(whole.levels)
        assert sum(level["stored_bytes"] for level in row["levels"]) == row["stored_bytes"]
