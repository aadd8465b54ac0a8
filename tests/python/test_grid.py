# SPDX-License-Identifier: BSD-3-Clause
"""Fields on a regular grid hold what the boxes hold, cell by cell."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import neve
from neve import _grid


def cells(box):
    return np.ndindex(*box.shape)


def of_boxes(level, field):
    """{index: value} of a level, a cell at a time."""
    found = {}
    for box, values in zip(level.boxes, level[field], strict=True):
        for at in cells(box):
            found[tuple(a + b for a, b in zip(at, box.lo, strict=True))] = values[at]
    return found


def test_a_level_on_its_domain(sample):
    with neve.open(sample) as plotfile:
        level = plotfile[1]
        grid = level["density"].grid()
        assert grid.shape == level.domain.shape
        wanted = np.full(grid.shape, np.nan)
        for index, value in of_boxes(level, "density").items():
            wanted[index] = value
        np.testing.assert_array_equal(grid, wanted)
        part = level["density"].grid((3, 20, 7), (30, 40, 7))
        np.testing.assert_array_equal(part, wanted[3:31, 20:41, 7:8])


def test_finer_levels_are_averaged_and_coarser_repeated(sample):
    with neve.open(sample) as plotfile:
        coarse, fine = of_boxes(plotfile[0], "Temp"), of_boxes(plotfile[1], "Temp")
        down = plotfile[0]["Temp"].composite()
        for index, value in coarse.items():
            under = [
                fine.get(tuple(2 * n + d for n, d in zip(index, corner, strict=True)))
                for corner in cells(neve.plotfile.Box((0,) * 3, (1,) * 3))
            ]
            wanted = value if None in under else np.mean(under)
            assert down[index] == pytest.approx(wanted, rel=1e-14)
        up = plotfile[1]["Temp"].composite()
        for index in cells(plotfile[1].domain):
            assert up[index] == fine.get(index, coarse[tuple(n // 2 for n in index)])
        part = plotfile[1]["Temp"].composite((5, 8, 31), (20, 8, 50))
        np.testing.assert_array_equal(part, up[5:21, 8:9, 31:51])


def test_covered_cells(sample):
    with neve.open(sample) as plotfile:
        region = plotfile[0].domain
        mask = _grid.covered(plotfile._source, 0, region)
        fine = of_boxes(plotfile[1], "Temp")
        for index in cells(region):
            assert mask[index] == (tuple(2 * n for n in index) in fine)
        assert not _grid.covered(plotfile._source, 1, plotfile[1].domain).any()


def test_files_that_leave_covered_cells_out(neve_command, sample, tmp_path):
    out = tmp_path / "without.h5"
    words = [neve_command, "convert", sample, out, "--bound", "lossless", "--covered", "auto"]
    subprocess.run(words, check=True, capture_output=True, timeout=120)
    with neve.open(sample) as whole, neve.open(out) as without:
        for name in whole.components:
            np.testing.assert_array_equal(without[0][name].composite(), whole[0][name].composite())


@pytest.mark.parametrize(
    ("lo", "hi"), [((0, 0), (1, 1)), ((-1, 0, 0), None), (None, (32, 1, 1)), ((5, 5, 5), (4, 5, 5))]
)
def test_cells_outside_the_domain_are_refused(sample, lo, hi):
    with neve.open(sample) as plotfile:
        with pytest.raises(neve.Error, match=r"allowed in level 0: cells from \(0, 0, 0\) to"):
            plotfile[0]["Temp"].grid(lo, hi)
