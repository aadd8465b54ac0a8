# SPDX-License-Identifier: BSD-3-Clause
"""Peers on a level of a hierarchy: they know arrays only, so its cells are put into arrays first.

boxes    each box an array of its own; a level without holes is one array ("dense")
cluster  cubes of the first of UNIT_SIDES that divides all boxes, as AMRIC cuts them, stacked to
         the most compact box; cubes that a finer level covers wholly
         are left out where Neve left covered cells out as well
1d       1024 values of a box at a time, each compressed alone: what AMReX's HDF5 output does
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from neve.plotfile import Box

from .. import trial
from ..case import Case
from ..codec_methods import SZ3_DEFAULT, SZ3_LORENZO, sperr, sz3, zfp
from ..method import MEGABYTE, Coders, Method, megabytes_per_second
from . import methods
from .hierarchy import Hierarchy, HierarchyLevel

CHUNK_1D = 1024
UNIT_SIDES = (16, 8, 4)


@dataclass(frozen=True)
class Codec:
    name: str
    package: str  # as PyPI and the import system both call it
    prepare: Callable[[Case, float], Coders]  # as a Method has it
    arrangements: tuple[str, ...]


CODECS = (
    Codec("SZ3", "pysz", sz3(SZ3_DEFAULT), ("boxes", "cluster")),
    Codec("SZ3 Lorenzo+reg", "pysz", sz3(SZ3_LORENZO), ("boxes", "cluster", "1d")),
    Codec("ZFP", "zfpy", zfp, ("boxes", "cluster")),
    Codec("SPERR", "hdf5plugin", sperr, ("boxes", "cluster")),
)


def at_hand() -> tuple[list[Codec], list[str]]:
    """The peers installed, and a line about each that is not."""
    found, missing = [], []
    for codec in CODECS:
        if importlib.util.find_spec(codec.package) is None:
            missing.append(f"{codec.name}: not measured, {codec.package} is not installed")
        else:
            found.append(codec)
    return found, missing


def versions(codecs: Sequence[Codec]) -> dict[str, str]:
    return {c.package: metadata.version(c.package) for c in codecs}


def method_names(codec: Codec) -> list[str]:
    return [f"{codec.name} {arrangement}" for arrangement in codec.arrangements]


def _joined(level: HierarchyLevel, field: str) -> np.ndarray | None:
    """The level as one array when its boxes leave no hole in their bounding box."""
    lo = tuple(min(box.lo[d] for box in level.boxes) for d in range(len(level.domain.lo)))
    hi = tuple(max(box.hi[d] for box in level.boxes) for d in range(len(level.domain.lo)))
    hull = Box(lo, hi)
    if hull.cells != level.cells():
        return None
    values = np.empty(hull.shape, level.values[field][0].dtype, order="F")
    for box, part in zip(level.boxes, level.values[field], strict=True):
        values[box.within(hull)] = part
    return values


def _covered_units(level: HierarchyLevel, finer: HierarchyLevel | None, side: int) -> set:
    """Corners (in cells) of the cubes that lie wholly under the finer level."""
    if finer is None:
        return set()
    shape = level.domain.shape
    covered = np.zeros(shape, bool)
    for box in finer.boxes:
        coarse = box.coarsen_inside((level.ref_ratio,) * len(shape))
        inside = coarse.intersect(level.domain) if coarse else None
        if inside:
            covered[inside.within(level.domain)] = True
    found = set()
    for box in level.boxes:
        for corner in _corners(box, side):
            unit = Box(corner, tuple(c + side - 1 for c in corner))
            if covered[unit.within(level.domain)].all():
                found.add(corner)
    return found


def _corners(box: Box, side: int) -> list[tuple[int, ...]]:
    axes = [range(lo, hi + 1, side) for lo, hi in zip(box.lo, box.hi, strict=True)]
    mesh = np.meshgrid(*axes, indexing="ij")
    return [tuple(int(c) for c in corner) for corner in np.stack(mesh, -1).reshape(-1, len(axes))]


@dataclass(frozen=True)
class Pieces:
    arrays: list[np.ndarray]  # C order, x last: each is compressed alone
    held: int  # of all their cells, in order, those that are the field's and not padding
    unit_side: int | None = None  # of the cubes that the one array is tiled with

    def flat(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Cells in the order of the file, out of these arrays or what was decoded for them."""
        if self.unit_side is not None:
            arrays = [_untile(array, self.unit_side) for array in arrays]
        return np.concatenate([array.ravel() for array in arrays])[: self.held]


def arrange(
    hierarchy: Hierarchy, number: int, field: str, arrangement: str, leaves_out: bool
) -> Pieces | None:
    """None: no cube of UNIT_SIDES divides the level's boxes."""
    level = hierarchy.levels[number]
    parts = level.values[field]
    if arrangement == "1d":
        lines = [part.ravel(order="F") for part in parts]
        chunks = [c for line in lines for c in np.split(line, range(CHUNK_1D, len(line), CHUNK_1D))]
        return Pieces(chunks, level.cells())
    if arrangement == "boxes":
        whole = _joined(level, field)
        arrays = [np.ascontiguousarray(p.T) for p in ([whole] if whole is not None else parts)]
        return Pieces(arrays, level.cells())

    sides = [s for s in UNIT_SIDES if all(n % s == 0 for box in level.boxes for n in box.shape)]
    if not sides:
        return None
    side = sides[0]
    finer = hierarchy.levels[number + 1] if number + 1 < len(hierarchy.levels) else None
    covered = _covered_units(level, finer, side) if leaves_out else set()
    cubes = []
    for box, part in zip(level.boxes, parts, strict=True):
        for corner in _corners(box, side):
            if corner not in covered:
                unit = Box(corner, tuple(c + side - 1 for c in corner))
                cubes.append(part[unit.within(box)].T)
    if not cubes:
        return Pieces([], 0)
    # As many cubes along each axis as bring a cube nearest; the last one repeats in the gap. Cubes
    # come one after another in the first axis of `stacked`, so padding is at its end.
    dims = hierarchy.dims
    along = max(1, round(len(cubes) ** (1 / dims)))
    grid = [along] * (dims - 1)
    grid.insert(0, math.ceil(len(cubes) / along ** (dims - 1)))
    stacked = np.stack(cubes + [cubes[-1]] * (math.prod(grid) - len(cubes)))
    return Pieces([_tile(stacked, grid, side)], len(cubes) * side**dims, side)


def _tile(stacked: np.ndarray, grid: Sequence[int], side: int) -> np.ndarray:
    dims = len(grid)
    spread = stacked.reshape(*grid, *[side] * dims)
    order = [axis for d in range(dims) for axis in (d, dims + d)]
    return np.ascontiguousarray(spread.transpose(order)).reshape([n * side for n in grid])


def _untile(tiled: np.ndarray, side: int) -> np.ndarray:
    dims = tiled.ndim
    split = tiled.reshape([n for size in tiled.shape for n in (size // side, side)])
    return split.transpose([*range(0, 2 * dims, 2), *range(1, 2 * dims, 2)])


def _in_pieces(codec: Codec, pieces: Pieces, rel: float) -> Method:
    """A method whose array is what `pieces` holds, in the order of the file."""

    def prepare(case: Case, bound_abs: float) -> Coders:
        coders = [
            codec.prepare(Case("rd", case.name, array, rel), bound_abs) for array in pieces.arrays
        ]
        sizes: list[int] = []

        def encode() -> bytes:
            streams = [memoryview(encode_one()).tobytes() for encode_one, _ in coders]
            sizes[:] = [len(stream) for stream in streams]
            return b"".join(streams)

        def decode(stored: bytes) -> np.ndarray:
            ends = np.cumsum([0, *sizes])
            decoded = [
                decode_one(np.frombuffer(stored[begin:end], np.uint8))
                if codec.package == "pysz"
                else decode_one(stored[begin:end])
                for (_, decode_one), begin, end in zip(coders, ends, ends[1:], strict=False)
            ]
            return pieces.flat(decoded)

        return encode, decode

    return Method(codec.name, "", prepare)


def measure(
    hierarchy: Hierarchy,
    field: str,
    codec: Codec,
    arrangement: str,
    rel: float,
    leaves_out: Sequence[bool],
    repeats: int,
    limit_seconds: float,
) -> dict[str, Any]:
    """The row of a field; `leaves_out` says for each level whether wholly covered cubes go."""
    what = {"field": field, "method": f"{codec.name} {arrangement}", "rel": rel}
    levels, seconds = [], 0.0
    for number, level in enumerate(hierarchy.levels):
        pieces = arrange(hierarchy, number, field, arrangement, leaves_out[number])
        if pieces is None:
            return {**what, "note": f"level {number}: no cube of {UNIT_SIDES} divides its boxes"}
        spread = level.range_of(field)
        bound_abs = rel * spread
        if bound_abs == 0:
            return {**what, "note": f"level {number} has no range: no bound for a peer"}
        raw = level.cells() * hierarchy.dtype.itemsize
        if not pieces.arrays:
            found = {"stored_bytes": 0, "rms_error": 0.0, "max_abs_error": 0.0}
            found |= {"violations": 0, "specials_lost": 0}
        else:
            array = pieces.flat(pieces.arrays)
            case = Case("rd", field, array, rel)
            method = _in_pieces(codec, pieces, rel)
            found = trial.run(method, case, bound_abs, repeats, limit_seconds)
            if "ratio" not in found:
                reason = found.get("error") or f"not run: {found['skipped']}"
                return {**what, "note": f"level {number}: {reason}"}
            speed = found.get("encode_mb_per_s")
            seconds += array.nbytes / MEGABYTE / speed if speed else 0.0
        rms_error = found["rms_error"]
        levels.append(
            {
                "level": number,
                "raw_bytes": raw,
                "stored_bytes": found["stored_bytes"],
                "cells": level.cells(),
                "held_cells": pieces.held,
                # The range is the level's, whatever is left out: so it is for Neve's methods.
                "psnr_db": 20 * math.log10(spread / rms_error) if rms_error else None,
                "max_abs_error": found["max_abs_error"],
                "bound_abs": bound_abs,
                "violations": found["violations"],
                "specials_lost": found["specials_lost"],
                "codec": codec.name,
                "arrangement": arrangement,
            }
        )
    row = methods.row_of(levels, **what)
    row["encode_mb_per_s"] = megabytes_per_second(row["raw_bytes"], seconds)
    return row
