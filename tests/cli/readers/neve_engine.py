# SPDX-License-Identifier: BSD-3-Clause
"""xarray with the engine that Neve brings: every box against neve.open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neve

from .matrix import Reason, Refused, Row
from .sample_files import DATA_FILES, Sample


def _opened(sample: Sample, **options: Any) -> Any:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    try:
        return xarray.open_datatree(sample.path, engine="neve", **options)
    except neve.Error as error:
        raise Refused(str(error)) from error


def _compare(tree: Any, sample: Sample) -> None:
    with neve.open(sample.path) as file:
        for number, level in enumerate(file):
            origin = np.min([box.lo[: file.dims] for box in level.boxes], axis=0)
            for name in file.components:
                values = tree[f"level_{number}"][name].values
                for index, box in enumerate(level.boxes):
                    wanted = level[name][index]
                    begin = np.subtract(box.lo[: file.dims], origin)
                    place = tuple(map(slice, begin, begin + wanted.shape))
                    assert np.ascontiguousarray(values[place]).tobytes() == wanted.tobytes("C")


def _tree(sample: Sample, folder: Path) -> None:
    with _opened(sample) as tree:
        _compare(tree, sample)


def _chunks(sample: Sample, folder: Path) -> None:
    pytest.importorskip("dask", reason="dask is not installed")
    with _opened(sample, chunks={}) as tree:
        _compare(tree, sample)


NOT_AMR = {
    kind: Reason(
        "the engine is for plotfiles and checkpoints", "neither a plotfile nor a checkpoint"
    )
    for kind in DATA_FILES
}
ROWS = (
    Row("xarray, neve", "open_datatree", _tree, NOT_AMR),
    Row("xarray, neve", "open_datatree, dask chunks", _chunks, NOT_AMR),
)
