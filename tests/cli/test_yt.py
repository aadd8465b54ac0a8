# SPDX-License-Identifier: BSD-3-Clause
"""neve.load_yt puts every cell where it lies: fields that hold the places of cells agree."""

import numpy as np
import pytest

import neve as package

from . import amrex_files
from .amrex_files import Places

yt = pytest.importorskip("yt", reason="yt is not installed")
yt.set_log_level(50)

PLACES = {
    "at the origin": Places(3, (0, 0, 0), (0.1, 0.1, 0.1), (0, 0, 0), (16, 8, 8)),
    "prob_lo": Places(3, (-3.0, 10.0, 0.25), (0.1, 0.1, 0.1), (0, 0, 0), (16, 8, 8)),
    "cells that are no cubes": Places(3, (-1e3, 0, 5), (0.1, 30.0, 1e-3), (0, 0, 0), (16, 8, 8)),
    "index space from 8": Places(3, (-3.0, 10.0, 0.3), (0.1, 0.2, 0.3), (8, 24, 16), (16, 8, 8)),
    "index space from -8": Places(3, (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (-8, -8, -16), (16, 8, 8)),
    "two dimensions": Places(2, (-3.0, 10.0), (0.1, 0.3), (4, -8), (16, 8)),
    "one dimension": Places(1, (-3.0,), (0.1,), (-4,), (16,)),
    "r and z": Places(2, (0.0, -4.0), (0.1, 0.3), (0, 0), (16, 8), coordinate_system=1),
}
AXES = {0: "xyz", 1: "rz"}


def converted(neve, tmp_path, places):
    amrex_files.write(tmp_path / "plt", places)
    outcome = neve("convert", tmp_path / "plt", tmp_path / "plt.h5", "--bound", "lossless")
    assert outcome.code == 0, outcome.err
    return tmp_path / "plt.h5"


def assert_fields_are_places(dataset, places):
    width = np.array(places.cells) * np.array(places.dx)
    left = np.array(places.prob_lo)
    dims = places.dims
    assert np.allclose(dataset.domain_left_edge.d[:dims], left, rtol=1e-14, atol=0)
    assert np.allclose(dataset.domain_right_edge.d[:dims], left + width, rtol=1e-14, atol=1e-13)
    everything = dataset.all_data()
    cells = np.prod(places.cells)
    covered = cells // 2**dims
    assert everything["index", AXES[places.coordinate_system][0]].size == 2 * cells - covered
    for d, axis in enumerate(AXES[places.coordinate_system][:dims]):
        field = next(f for f in dataset.field_list if f[1] == f"{'xyz'[d]}_centre")
        found = everything["index", axis].d
        assert np.allclose(found, everything[field].d, rtol=0, atol=1e-12 * abs(found).max())
        spacing = everything["index", f"d{axis}"].d
        assert np.allclose(np.unique(spacing), [places.dx[d] / 2, places.dx[d]], rtol=1e-12)


@pytest.mark.parametrize("name", PLACES)
def test_every_cell_is_in_its_place(neve, tmp_path, name):
    path = converted(neve, tmp_path, PLACES[name])
    assert_fields_are_places(package.load_yt(path), PLACES[name])
    # yt's own load before it, of the same path, changes nothing.
    yt.load(str(path))
    assert_fields_are_places(package.load_yt(path), PLACES[name])


def test_directories_are_yts_own(neve, tmp_path):
    places = PLACES["prob_lo"]
    amrex_files.write(tmp_path / "plt", places)
    assert_fields_are_places(package.load_yt(tmp_path / "plt"), places)


def test_converted_back_lies_where_it_lay(neve, tmp_path):
    """Both of AMReX's ways to count the places of boxes, in an index space from 8."""
    for is_shifted in (True, False):
        places = PLACES["index space from 8"]
        places = Places(**{**vars(places), "is_shifted": is_shifted})
        folder = tmp_path / str(is_shifted)
        folder.mkdir()
        path = converted(neve, folder, places)
        assert_fields_are_places(package.load_yt(path), places)
        outcome = neve("convert", path, folder / "back")
        assert outcome.code == 0, outcome.err
        assert_fields_are_places(yt.load(str(folder / "back")), places)


def test_a_slice_shows_the_place(neve, tmp_path):
    places = PLACES["index space from 8"]
    dataset = package.load_yt(converted(neve, tmp_path, places))
    centre = [-2.2, 10.8, 1.5]
    ray = dataset.ray([-3.0, *centre[1:]], [-1.4, *centre[1:]])
    order = np.argsort(ray["index", "x"])
    along = ray["chombo", "x_centre"].d[order]
    assert np.allclose(along, ray["index", "x"].d[order], rtol=0, atol=1e-12)
    slab = dataset.slice("z", 1.5).to_frb((1.6, "code_length"), 64, height=(1.6, "code_length"))
    found = slab["chombo", "y_centre"].d
    rows = 10.0 + 1.6 * (np.arange(64) + 0.5) / 64
    assert abs(found - rows[:, None]).max() <= 0.1 + 1e-12  # half a coarse cell


def test_units_are_handed_on(neve, tmp_path):
    path = converted(neve, tmp_path, PLACES["prob_lo"])
    dataset = package.load_yt(path, units_override={"length_unit": (2.0, "km")})
    assert dataset.domain_left_edge.to("km").d[0] == -6


def test_what_yt_cannot_show_is_refused_by_name(tmp_path):
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(package.Error, match="not a readable HDF5 file"):
        package.load_yt(tmp_path / "text.h5")
    with pytest.raises(package.Error, match="no such file"):
        package.load_yt(tmp_path / "nothing.h5")


@pytest.mark.parametrize("prob_lo", [(-3.0, 10.0, 0.25), (-200.0, 300.0, -150.0)])
def test_every_point_of_a_domain_far_from_the_origin_has_a_cell(neve, tmp_path, prob_lo):
    places = Places(3, prob_lo, (0.1, 0.2, 0.3), (0, 0, 0), (16, 8, 8))
    dataset = package.load_yt(converted(neve, tmp_path, places))
    assert dataset.periodicity == (False, False, False)
    width = np.array(places.cells) * np.array(places.dx)
    field = next(f for f in dataset.field_list if f[1] == "x_centre")
    for fraction in np.random.default_rng(5).uniform(0.01, 0.99, (30, 3)):
        point = np.array(prob_lo) + fraction * width
        found = dataset.point(point)[field]
        assert len(found) == 1
        assert abs(found.d[0] - point[0]) <= places.dx[0] / 2 * (1 + 1e-9)
    corner = dataset.sphere(dataset.domain_left_edge, (3 * min(places.dx), "code_length"))
    # Nothing of the other end of the domain belongs to it.
    assert np.all(corner["index", "x"].d < prob_lo[0] + width[0] / 2)
