# SPDX-License-Identifier: BSD-3-Clause
"""Small plotfiles in Chombo's layout whose every value is known: two levels, made by h5py."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

AXES = "ijk"
BASE_CELLS = 8  # of level 0 in each direction
FINE = ((4, 4, 4), (11, 9, 11))  # the one box of level 1: lowest and highest cell
FIRST_CELL = (-2, 3, 0)  # of level 0's domain
PROB_LO = (-1.0, 10.0, 0.5)
DX = (0.5, 0.25, 1.0)  # of level 0


def box_type(dims: int) -> np.dtype:
    return np.dtype([(f"{side}_{a}", "<i4") for side in ("lo", "hi") for a in AXES[:dims]])


def boxes_of(level: int, dims: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Level 0: two boxes side by side along x; level 1: one box in the middle."""
    first = FIRST_CELL[:dims]
    if level == 1:
        lo = tuple(2 * f + n for f, n in zip(first, FINE[0], strict=False))
        hi = tuple(2 * f + n for f, n in zip(first, FINE[1], strict=False))
        return [(lo, hi)]
    last = tuple(f + BASE_CELLS - 1 for f in first)
    half = first[0] + BASE_CELLS // 2
    return [(first, (half - 1, *last[1:])), ((half, *first[1:]), last)]


def value(level: int, cells: tuple[np.ndarray, ...]) -> np.ndarray:
    """Of the field a, by index: every cell has one of its own."""
    return 1000.0 * (level + 1) + sum(c * 50.0**d / 10 for d, c in enumerate(cells))


def write(
    path: Path,
    dims: int,
    dtype: str = "<f8",
    error: float = 0.0,
    time: float = 0.25,
    scale: float = 1.0,
) -> Path:
    """Fields a (`value`) and b (minus a). `error` is added to the cells of level 1's border."""
    with h5py.File(path, "w") as file:
        file.create_group("Chombo_global").attrs["SpaceDim"] = np.int32(dims)
        file.attrs["num_levels"] = np.int32(2)
        file.attrs["time"] = np.float64(time)
        file.attrs["num_components"] = np.int32(2)
        file.attrs["component_0"] = np.bytes_("a")
        file.attrs["component_1"] = np.bytes_("b")
        for level in range(2):
            _write_level(file, level, dims, dtype, error, scale)
        vector = np.dtype([(f"x{d}", "<f8") for d in range(dims)])
        file["level_0"].attrs["prob_lo"] = np.array(tuple(PROB_LO[:dims]), vector)
    return path


def _write_level(
    file: h5py.File, level: int, dims: int, dtype: str, error: float, scale: float
) -> None:
    group = file.create_group(f"level_{level}")
    times = 2**level
    lo = tuple(times * f for f in FIRST_CELL[:dims])
    hi = tuple(f + times * BASE_CELLS - 1 for f in lo)
    group.attrs["prob_domain"] = np.array(lo + hi, "<i4").view(box_type(dims))[0]
    vector = np.dtype([(f"x{d}", "<f8") for d in range(dims)])
    group.attrs["Vec_dx"] = np.array(tuple(dx / times for dx in DX[:dims]), vector)
    group.attrs["ref_ratio"] = np.int32(2)
    boxes = boxes_of(level, dims)
    group["boxes"] = np.array([a + b for a, b in boxes], box_type(dims))
    parts, offsets = [], [0]
    for a, b in boxes:
        ranges = [np.arange(i, j + 1) for i, j in zip(a, b, strict=True)]
        values = scale * value(level, tuple(np.meshgrid(*ranges, indexing="ij")))
        if level == 1 and error:
            inside = np.zeros(values.shape, bool)
            inside[(slice(1, -1),) * dims] = True
            values = np.where(inside, values, values + error)
        for field in (values, -values):
            parts.append(field.ravel(order="F").astype(dtype))
        offsets.append(offsets[-1] + 2 * values.size)
    group["data:datatype=0"] = np.concatenate(parts)
    group["data:offsets=0"] = np.array(offsets, "<i8")
