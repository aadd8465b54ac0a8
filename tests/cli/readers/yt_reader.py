# SPDX-License-Identifier: BSD-3-Clause
"""yt: every cell against Neve's own reader of the boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neve

from .matrix import Reason, Refused, Row
from .sample_files import DATA_FILES, Sample

Level = dict[tuple[int, ...], float]


def _loaded(sample: Sample, by: str) -> Any:
    yt = pytest.importorskip("yt", reason="yt is not installed")
    yt.set_log_level(50)
    try:
        return (yt.load if by == "yt.load" else neve.load_yt)(str(sample.path))
    except (yt.utilities.exceptions.YTUnidentifiedDataType, neve.Error) as error:
        raise Refused(f"{type(error).__name__}: {error}") from error


def _grids(by: str) -> Row:
    def act(sample: Sample, folder: Path) -> None:
        dataset = _loaded(sample, by)
        with neve.open(sample.path) as file:
            boxes = [(level, box) for level in file for box in range(len(level.boxes))]
            for grid, (level, box) in zip(dataset.index.grids, boxes, strict=True):
                for name in file.components:
                    found, values = grid["chombo", name].d, level[name][box]
                    assert np.array_equal(found, values, equal_nan=True), name

    return Row(by, "all grids", act, IMPOSSIBLE[by])


def _cells(sample: Sample, component: str) -> list[Level]:
    """The value of each cell by its indices, level by level."""
    levels: list[Level] = []
    with neve.open(sample.path) as file:
        for level in file:
            cells: Level = {}
            for number, box in enumerate(level.boxes):
                values = level[component][number]
                for index in np.ndindex(values.shape):
                    cells[tuple(np.add(index, box.lo[: values.ndim]))] = float(values[index])
            levels.append(cells)
    return levels


def _assert_cells(region: Any, sample: Sample, dataset: Any) -> None:
    for _, name in dataset.field_list:
        cells = _cells(sample, name)
        values = region["chombo", name].d
        assert len(values) > 0
        levels = region["index", "grid_level"].d.astype(int)
        indices = region.icoords.astype(int)
        for value, level, index in zip(values, levels, indices, strict=True):
            wanted = cells[level][tuple(index.tolist())]
            assert value == wanted or np.isnan([value, wanted]).all(), (name, level, index)


def _slice(by: str) -> Row:
    def act(sample: Sample, folder: Path) -> None:
        dataset = _loaded(sample, by)
        _assert_cells(dataset.slice(1, 0.3 * dataset.domain_right_edge[1]), sample, dataset)

    return Row(by, "slice", act, IMPOSSIBLE[by])


def _mean(by: str) -> Row:
    """Of all cells that no finer ones cover; yt sums in an order of its own."""

    def act(sample: Sample, folder: Path) -> None:
        dataset = _loaded(sample, by)
        everything = dataset.all_data()
        _assert_cells(everything, sample, dataset)
        for field in dataset.field_list:
            mean = everything[field].d.mean()
            assert float(everything.mean(field)) == pytest.approx(mean, rel=1e-12, nan_ok=True)

    return Row(by, "mean", act, IMPOSSIBLE[by])


NOT_AMR = {
    "yt.load": Reason("yt has no reader for such files", "YTUnidentifiedDataType"),
    "neve.load_yt": Reason("yt has no reader for such files", "is a data file"),
}
IMPOSSIBLE = {by: {kind: reason for kind in DATA_FILES} for by, reason in NOT_AMR.items()}

ROWS = tuple(make(by) for by in NOT_AMR for make in (_grids, _slice, _mean))
