# SPDX-License-Identifier: BSD-3-Clause
"""Planes of decoded hierarchies and pictures of them, against arrays put together cell by cell."""

from __future__ import annotations

import io

import numpy as np
import pytest
from refined_hierarchies import FIELD, hierarchy

from neve._errors import Error
from neve.plot._place import Place
from neve.plotfile import Box
from neve_bench.amr import pictures
from neve_bench.amr.artifact import artifact
from neve_bench.amr.measure import Measured
from neve_bench.amr.subject import subject

matplotlib = pytest.importorskip("matplotlib")

REL = 1e-2
RATIO = (2, 2, 2)
DX = (0.5, 0.25, 1.0)


def box(*ends):
    return Box(tuple(lo for lo, _ in ends), tuple(hi for _, hi in ends))


def made(dims=3):
    """Two levels; cells are not square, and the domain does not begin at cell 0."""
    domain = box((-2, 9), (3, 12), (0, 7))
    fine = box((2, 5), (5, 8), (2, 5))
    if dims == 2:
        domain, fine = (Box(b.lo[:2], b.hi[:2]) for b in (domain, fine))
    return hierarchy(domain, [[fine]], [RATIO[:dims]], dx=DX[:dims])


def finest(asked, values):
    """All levels on the finest one's cells, cell by cell; and which level each is of."""
    coarse, fine = asked.parts
    whole = np.full(fine.domain.shape, np.nan)
    level_of = np.full(fine.domain.shape, -1)
    for part, of_level in zip(asked.parts, values, strict=True):
        step = np.array(coarse.ref_ratio if part.number == 0 else (1,) * asked.dims)
        for b, array in zip(part.boxes, of_level, strict=True):
            for at in np.ndindex(b.shape):
                first = (np.array(b.lo) + at) * step - fine.domain.lo
                cells = tuple(slice(f, f + s) for f, s in zip(first, step, strict=True))
                whole[cells] = array[at]
                level_of[cells] = part.number
    return whole, level_of


def with_errors(asked, seed=3):
    random = np.random.default_rng(seed)
    return [
        [v + part.bound_abs * random.uniform(-1, 1, v.shape) for v in part.values]
        for part in asked.parts
    ]


def shown(label, asked, values):
    row = {"ratio": 12.5, "psnr_db": 50.0}
    return pictures.Shown(label, asked, Measured(row, values))


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("index", ["first", 3, "last"])
def test_plane_by_index(axis, index):
    h = made()
    asked = subject(h, FIELD, REL)
    values = with_errors(asked)
    normal = "xyz".index(axis)
    domain = h.levels[1].domain
    ends = {"first": domain.lo[normal], "last": domain.hi[normal]}
    cell = ends[index] if isinstance(index, str) else domain.lo[normal] + index
    plane = pictures.plane_of(h, asked, values, Place(index={axis: cell}))
    whole, level_of = finest(asked, values)
    expected = np.take(whole, cell - domain.lo[normal], axis=normal)
    np.testing.assert_array_equal(plane.values.T, expected)
    levels = np.take(level_of, cell - domain.lo[normal], axis=normal)
    np.testing.assert_array_equal(plane.levels.T, levels)


def test_plane_by_coordinate_and_its_extent():
    h = made()
    asked = subject(h, FIELD, REL)
    whole, _ = finest(asked, [part.values for part in asked.parts])
    # Along y cells of the finest level are 0.125 wide: 0.4 lies in the fourth one.
    plane = pictures.plane_of(h, asked, None, Place("y", 0.4))
    np.testing.assert_array_equal(plane.values.T, whole[:, 3, :])
    assert (plane.x.label, plane.y.label) == ("x", "z")
    assert (plane.x.edges[0], plane.x.edges[-1]) == (0, pytest.approx(12 * 0.5))
    assert plane.y.edges[-1] == pytest.approx(8.0)
    middle = pictures.plane_of(h, asked, None)
    np.testing.assert_array_equal(middle.values.T, whole[:, :, 8])


def test_plane_of_two_dimensions():
    h = made(2)
    asked = subject(h, FIELD, REL)
    values = with_errors(asked)
    plane = pictures.plane_of(h, asked, values)
    np.testing.assert_array_equal(plane.values.T, finest(asked, values)[0])
    with pytest.raises(Error, match="no dimension 'z'"):
        pictures.plane_of(h, asked, values, Place("z"))


def test_a_line_is_no_picture():
    h = hierarchy(box((0, 9)), [], [])
    with pytest.raises(Error, match="a picture needs a plane of cells"):
        pictures.plane_of(h, subject(h, FIELD, REL), None)


@pytest.mark.parametrize("place", [Place("x", 99.0), Place(index={"z": 16}), Place(index={"y": 5})])
def test_a_place_outside_is_refused(place):
    h = made()
    with pytest.raises(Error, match="allowed are cells|outside the domain"):
        pictures.plane_of(h, subject(h, FIELD, REL), None, place)


def test_what_is_not_held_is_never_seen():
    h = made()
    asked = subject(h, FIELD, REL)
    values = with_errors(asked)
    for held, array in zip(asked.parts[0].held, values[0], strict=True):
        array[~held] = 1e9
    for axis in "xyz":
        assert pictures.plane_of(h, asked, values, Place(axis)).values.max() < 10


def test_error_slices_show_the_errors():
    h = made()
    asked = subject(h, FIELD, REL)
    both = [shown("one", asked, with_errors(asked, 1)), shown("two", asked, with_errors(asked, 2))]
    figure = pictures.error_slices(h, both, Place(index={"z": 7}))
    original, _ = finest(asked, [part.values for part in asked.parts])
    panels = figure.axes[:2]
    for one, axes in zip(both, panels, strict=True):
        expected = np.abs(finest(asked, one.measured.values)[0] - original)[:, :, 7]
        np.testing.assert_allclose(axes.images[0].get_array().T, expected)
        assert axes.get_title() == f"{one.label}\nratio 12.5, PSNR 50.0 dB"
    assert panels[0].images[0].get_clim() == panels[1].images[0].get_clim()


def test_the_scale_of_errors_is_of_the_ways_that_are_compared():
    """And not of a third one whose errors are a hundredth of theirs."""
    h = made()
    asked = subject(h, FIELD, REL)
    random = np.random.default_rng(5)
    three = []
    for size in (1.0, 2.0, 0.01):
        values = [
            [v + size * random.uniform(-1, 1, v.shape) for v in part.values] for part in asked.parts
        ]
        three.append(shown(str(size), asked, values))
    place = Place(index={"z": 7})
    panels = pictures.error_slices(h, three, place, compared=2).axes[:3]
    errors = np.abs(
        finest(asked, three[1].measured.values)[0]
        - finest(asked, [part.values for part in asked.parts])[0]
    )
    end = pytest.approx(np.percentile(errors[:, :, 7], 99))
    assert [axes.images[0].get_clim() for axes in panels] == [(0, end)] * 3
    zoomed = pictures.side_by_side(h, three, place, compared=2).axes[9:12]
    ends = {axes.images[0].get_clim() for axes in zoomed}
    assert len(ends) == 1 and 1 < ends.pop()[1] <= 2


def test_side_by_side():
    h = made()
    asked = subject(h, FIELD, REL)
    exact = [list(part.values) for part in asked.parts]
    jumping = [[v.copy() for v in of_level] for of_level in exact]
    # One cell of the fine box, at its border with the coarse level and in the plane: x cell 4 is
    # its first one.
    jumping[1][0][0, 3, 2] += asked.parts[1].bound_abs
    both = [shown("exact", asked, exact), shown("jumping", asked, jumping)]
    figure = pictures.side_by_side(h, both, Place(index={"z": 6}))
    whole, zoomed, errors = figure.axes[:3], figure.axes[3:6], figure.axes[6:9]

    assert [axes.get_title().splitlines()[0] for axes in whole] == ["original", "exact", "jumping"]
    found = artifact(asked, jumping)
    assert f"jump x {found['jump']:.3g}"[:10] in whole[2].get_title()
    for axes, values in zip(whole, [exact, exact, jumping], strict=True):
        expected = finest(asked, values)[0][:, :, 6]
        np.testing.assert_array_equal(axes.images[0].get_array().T, expected)
    assert len({axes.images[0].get_clim() for axes in (*whole, *zoomed)}) == 1

    fine = h.levels[1]
    x = (4 - fine.domain.lo[0] + 0.5) * fine.dx[0]
    y = (10 + 3 - fine.domain.lo[1] + 0.5) * fine.dx[1]
    for axes in (*zoomed, *errors[1:]):
        (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
        assert x0 < x < x1 and y0 < y < y1
        assert x1 - x0 == pytest.approx(24 / 4 * fine.dx[0])
        assert y1 - y0 == pytest.approx(20 / 4 * fine.dx[1])
    assert not errors[0].get_visible()
    figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_dotted_lines_lie_between_levels():
    h = made()
    asked = subject(h, FIELD, REL)
    exact = [list(part.values) for part in asked.parts]
    figure = pictures.side_by_side(h, [shown("exact", asked, exact)], Place(index={"z": 6}))
    (lines,) = figure.axes[0].collections
    found = {tuple(map(tuple, np.round(line, 9))) for line in lines.get_segments()}
    # The fine region's coarse cells are 2 to 5 and 5 to 8 of a domain from -2 and 3.
    x0, x1, y0, y1 = 4 * 0.5, 8 * 0.5, 2 * 0.25, 6 * 0.25
    assert found == {
        ((x0, y0), (x0, y1)),
        ((x1, y0), (x1, y1)),
        ((x0, y0), (x1, y0)),
        ((x0, y1), (x1, y1)),
    }
    assert lines.get_linestyle()[0][1] is not None


def test_without_borders_the_largest_error_is_zoomed_at():
    h = hierarchy(box((0, 15), (0, 15)), [], [])
    asked = subject(h, FIELD, REL)
    values = [[v.copy() for v in part.values] for part in asked.parts]
    values[0][3][6, 5] += 0.5  # of the box from (8, 8)
    figure = pictures.side_by_side(h, [shown("way", asked, values)])
    (x0, x1), (y0, y1) = figure.axes[2].get_xlim(), figure.axes[2].get_ylim()
    assert x0 < 14.5 < x1 and y0 < 13.5 < y1
    assert figure.axes[1].get_title() == "way\nratio 12.5, PSNR 50.0 dB"
