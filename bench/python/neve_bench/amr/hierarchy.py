# SPDX-License-Identifier: BSD-3-Clause
"""The fields under study, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import neve
from neve._errors import FAILURE, Error
from neve.plotfile import Box

ARRAY_FIELD = "data"


def ends_of(arrays: Sequence[np.ndarray]) -> tuple[float, float]:
    """Least and largest finite value; (0, 0) without any."""
    ends = []
    for values in arrays:
        finite = values[np.isfinite(values)]
        if finite.size:
            ends += [float(finite.min()), float(finite.max())]
    return (min(ends), max(ends)) if ends else (0.0, 0.0)


@dataclass(frozen=True)
class HierarchyLevel:
    domain: Box
    boxes: tuple[Box, ...]
    dx: tuple[float, ...]
    ref_ratio: tuple[int, ...]  # to the next finer level; ones on the finest
    values: dict[str, list[np.ndarray]]  # a field's boxes, indexed [x, y, z], x fastest in memory

    def cells(self) -> int:
        return sum(box.cells for box in self.boxes)

    def ends_of(self, field: str) -> tuple[float, float]:
        """What a relative bound refers to."""
        return ends_of(self.values[field])


@dataclass(frozen=True)
class Hierarchy:
    name: str
    dims: int
    dtype: np.dtype
    time: float
    fields: tuple[str, ...]
    levels: tuple[HierarchyLevel, ...]
    prob_lo: tuple[float, ...] = ()  # the domain's lowest corner, where dx has a unit; (): at 0


def load(path: Path, fields: Sequence[str] | None) -> Hierarchy:
    """A plotfile's `fields` (None: all), or the array of a .npy file as one box."""
    if path.suffix == ".npy":
        return _load_array(path, fields)
    with neve.open(path) as source:
        chosen = _chosen(path, source.components, fields)
        levels = []
        for level in source.levels:
            levels.append(
                HierarchyLevel(
                    level.domain,
                    tuple(level.boxes),
                    tuple(map(float, level.dx)),
                    tuple(map(int, level.ref_ratio)),
                    {field: list(level[field]) for field in chosen},
                )
            )
        return Hierarchy(
            path.name,
            source.dims,
            np.dtype(source.dtype),
            source.time,
            chosen,
            tuple(levels),
            tuple(map(float, source.prob_lo)),
        )


def _load_array(path: Path, fields: Sequence[str] | None) -> Hierarchy:
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise Error(f"{path}: cannot read: {error}", FAILURE) from None
    if array.dtype.kind != "f" or array.dtype.itemsize not in (4, 8) or not 1 <= array.ndim <= 3:
        raise Error(
            f"{path}: {array.dtype} of {array.ndim} dimensions; allowed are float32 and float64 "
            "of 1 to 3"
        )
    chosen = _chosen(path, (ARRAY_FIELD,), fields)
    values = np.asfortranarray(array.astype(array.dtype.newbyteorder("=")).T)
    box = Box((0,) * array.ndim, tuple(n - 1 for n in values.shape))
    ones = (1.0,) * array.ndim
    level = HierarchyLevel(box, (box,), ones, (1,) * array.ndim, {ARRAY_FIELD: [values]})
    return Hierarchy(path.name, array.ndim, values.dtype, 0.0, chosen, (level,))


def _chosen(path: Path, there: Sequence[str], wanted: Sequence[str] | None) -> tuple[str, ...]:
    for name in wanted or ():
        if name not in there:
            raise Error(f"{path}: no field {name!r}; the file has {', '.join(there)}")
    return tuple(dict.fromkeys(wanted)) if wanted else tuple(there)
