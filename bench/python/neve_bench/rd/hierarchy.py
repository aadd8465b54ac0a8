# SPDX-License-Identifier: BSD-3-Clause
"""The fields under study in memory, and plain plotfiles of any of them for the command to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

import neve
from neve._errors import FAILURE, Error
from neve.plotfile import Box

ARRAY_FIELD = "data"


@dataclass(frozen=True)
class HierarchyLevel:
    domain: Box
    boxes: tuple[Box, ...]
    dx: float
    ref_ratio: int
    values: dict[str, list[np.ndarray]]  # a field's boxes, x fastest

    def cells(self) -> int:
        return sum(box.cells for box in self.boxes)

    def range_of(self, field: str) -> float:
        """Of the finite values, as a relative bound means it."""
        ends = []
        for values in self.values[field]:
            finite = values[np.isfinite(values)]
            if finite.size:
                ends += [float(finite.min()), float(finite.max())]
        return max(ends) - min(ends) if ends else 0.0


@dataclass(frozen=True)
class Hierarchy:
    name: str
    dims: int
    dtype: np.dtype
    time: float
    fields: tuple[str, ...]
    levels: tuple[HierarchyLevel, ...]

    def write(self, path: Path, fields: Sequence[str]) -> None:
        """A Chombo plotfile of `fields`, uncompressed: a study must not depend on what else the
        file holds, and a field's encoding is timed alone.
        """
        axes = "ijk"[: self.dims]
        box_type = np.dtype([(f"{end}_{axis}", "<i4") for end in ("lo", "hi") for axis in axes])

        def corners(boxes: Sequence[Box]) -> np.ndarray:
            return np.array([(*box.lo, *box.hi) for box in boxes], box_type)

        with h5py.File(path, "w", libver="earliest") as out:
            out.attrs["num_levels"] = np.int32(len(self.levels))
            out.attrs["num_components"] = np.int32(len(fields))
            out.attrs["time"] = np.float64(self.time)
            for number, field in enumerate(fields):
                out.attrs[f"component_{number}"] = np.bytes_(field)
            out.create_group("Chombo_global").attrs["SpaceDim"] = np.int32(self.dims)
            for number, level in enumerate(self.levels):
                group = out.create_group(f"level_{number}")
                group.attrs["dx"] = np.float64(level.dx)
                group.attrs["ref_ratio"] = np.int32(level.ref_ratio)
                group.attrs.create("prob_domain", corners([level.domain])[0], dtype=box_type)
                group["boxes"] = corners(level.boxes)
                ends = np.cumsum([box.cells * len(fields) for box in level.boxes])
                group["data:offsets=0"] = np.concatenate([[0], ends]).astype(np.int64)
                flat = [
                    level.values[field][box].ravel(order="F")
                    for box in range(len(level.boxes))
                    for field in fields
                ]
                group["data:datatype=0"] = np.concatenate(flat)


def load(path: Path, fields: Sequence[str] | None) -> Hierarchy:
    """A plotfile's `fields` (None: all), or the array of a .npy file as one box."""
    if path.suffix == ".npy":
        return _load_array(path, fields)
    with neve.open(path) as source:
        chosen = _chosen(path, source.components, fields)
        levels = []
        for level in source.levels:
            if len(set(level.ref_ratio)) != 1:
                raise Error(
                    f"{path}: level {level.index} is refined by {level.ref_ratio}; the study "
                    "takes the same ratio in each direction"
                )
            levels.append(
                HierarchyLevel(
                    level.domain,
                    tuple(level.boxes),
                    float(level.dx[0]),
                    int(level.ref_ratio[0]),
                    {field: list(level[field]) for field in chosen},
                )
            )
        return Hierarchy(
            path.name, source.dims, np.dtype(source.dtype), source.time, chosen, tuple(levels)
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
    level = HierarchyLevel(box, (box,), 1.0, 1, {ARRAY_FIELD: [values]})
    return Hierarchy(path.name, array.ndim, values.dtype, 0.0, chosen, (level,))


def _chosen(path: Path, there: Sequence[str], wanted: Sequence[str] | None) -> tuple[str, ...]:
    for name in wanted or ():
        if name not in there:
            raise Error(f"{path}: no field {name!r}; the file has {', '.join(there)}")
    return tuple(dict.fromkeys(wanted)) if wanted else tuple(there)
