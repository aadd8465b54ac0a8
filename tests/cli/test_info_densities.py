# SPDX-License-Identifier: BSD-3-Clause
"""Densities of levels in `neve info`: AMRIC's table 1, against boxes painted cell by cell."""

from __future__ import annotations

import itertools

import h5py
import numpy as np
import pytest

from .conftest import shared


def boxes_of(path) -> tuple[list[np.ndarray], list[np.ndarray], list[int]]:
    """Of a file in Chombo's layout: corners of all boxes and of the domain, and ratio, by level."""
    boxes, domains, ratios = [], [], []
    with h5py.File(path) as file:
        for number in itertools.count():
            level = file.get(f"level_{number}")
            if level is None:
                return boxes, domains, ratios
            corners = [list(box) for box in level["boxes"][()].tolist()]
            boxes.append(np.array(corners).reshape(len(corners), 2, -1))
            domains.append(np.array(list(level.attrs["prob_domain"])).reshape(2, -1))
            ratios.append(int(np.max(level.attrs.get("ref_ratio", 1))))


def painted(path) -> list[tuple[float, float]]:
    """Fill and density of each level, of boxes that are aligned to the ratio."""
    boxes, domains, ratios = boxes_of(path)
    grids = []
    for of_level, (lo, hi) in zip(boxes, domains, strict=True):
        grid = np.zeros(hi - lo + 1, bool)
        for first, last in of_level:
            grid[tuple(slice(a, b + 1) for a, b in zip(first - lo, last - lo, strict=True))] = True
        grids.append(grid)
    found = []
    for number, grid in enumerate(grids):
        uncovered = grid
        if number + 1 < len(grids):
            ratio = ratios[number]
            blocks = [n for size in grid.shape for n in (size, ratio)]
            axes = tuple(range(1, len(blocks), 2))
            uncovered = grid & ~grids[number + 1].reshape(blocks).all(axis=axes)
        found.append((grid.mean(), uncovered.mean()))
    return found


def assert_as_painted(neve, path, of_file=None) -> None:
    levels = neve("info", path, "--json").json["levels"]
    expected = painted(of_file or path)
    assert len(levels) == len(expected)
    for level, (fills, density) in zip(levels, expected, strict=True):
        assert level["fills"] == pytest.approx(fills, rel=1e-12)
        assert level["density"] == pytest.approx(density, rel=1e-12)
    total = sum(level["density"] for level in levels)
    assert total == pytest.approx(levels[0]["fills"], rel=1e-12)
    lines = [line for line in neve("info", path).out.splitlines() if line.startswith("level ")]
    for line, (fills, density) in zip(lines, expected, strict=True):
        assert f"fills {100 * fills:.4g} % of the domain, density {100 * density:.4g} %" in line


def test_of_the_sample_and_of_what_it_becomes(neve, sample, converted, tmp_path):
    assert_as_painted(neve, converted)
    assert_as_painted(neve, sample, of_file=converted)
    uncompressed = tmp_path / "plain.h5"
    neve("convert", sample, uncompressed, "--uncompressed")
    assert_as_painted(neve, uncompressed)


@pytest.mark.parametrize("name", ["ramp.000020.3d.hdf5", "explosion_density.000020.3d.hdf5"])
def test_of_chombo_files(neve, name):
    assert_as_painted(neve, shared(f"chombo/{name}"))


def test_of_a_checkpoint(neve, tmp_path):
    options = ("--file", "checkpoint", "--grid", "bisicles", "--box-cells", "2")
    repeats = ("--components", "3", "--strategies", "skeleton", "--repeats", "1", "--keep")
    neve("bench", "chombo", *options, *repeats, "--folder", tmp_path)
    levels = neve("info", tmp_path / "neve_chombo_skeleton.h5", "--json").json["levels"]
    assert levels[-1]["density"] == levels[-1]["fills"] > 0
    for level, finer in itertools.pairwise(levels):
        assert level["fills"] - finer["fills"] == pytest.approx(level["density"], abs=1e-12)


@pytest.mark.parametrize("ghosts", ["keep", "drop"])
def test_ghosts_of_a_file_of_neve(neve, tmp_path, ghosts):
    source = shared("chombo/ramp.000020.3d.hdf5")
    neve("convert", source, tmp_path / "x.h5", "--ghosts", ghosts)
    stored = [level["ghosts"] for level in neve("info", source, "--json").json["levels"]]
    assert stored == [[1, 1, 1]] * 3
    levels = neve("info", tmp_path / "x.h5", "--json").json["levels"]
    assert [level["ghosts"] for level in levels] == (
        [[1, 1, 1]] if ghosts == "keep" else [[0] * 3]
    ) * 3
    words = "1, 1, 1 layers of ghost cells" if ghosts == "keep" else "no ghost cells"
    assert neve("info", tmp_path / "x.h5").out.count(words) == 3
