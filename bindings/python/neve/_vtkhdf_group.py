# SPDX-License-Identifier: BSD-3-Clause
"""The group /VTKHDF: an AMR hierarchy as VTK's own HDF5 format, type OverlappingAMR, has it.

Fields are virtual datasets wherever the source's own datasets serve: nothing is stored twice. VTK
reads a level box by box, and HDF5 looks through all runs of a virtual dataset for each box.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import h5py
import numpy as np
import numpy.typing as npt

from ._errors import Error
from ._filter import Filter
from ._hdf5_plotfile import Hdf5Source
from ._hierarchy import LevelInfo, Source
from ._value_runs import ValueRuns
from ._vtk_place import TIME, in_space, vtk_corners

GROUP = "VTKHDF"
VERSION = (2, 2)  # of the format; VTK 9.4 and later know it
# The most boxes of a level whose runs one virtual dataset lists. Reading takes a microsecond a run
# and box: a second for a field of 1000 boxes, 25 for 5000.
VIRTUAL_BOXES = 1000
# Fits the cache of chunks that HDF5 has by itself, so that a chunk is decoded once for all its
# boxes.
CHUNK_BYTES = 512 << 10


@dataclass(frozen=True)
class LevelReport:
    """What became of a level."""

    boxes: int
    virtual: int  # fields that refer to the source's values
    copied: int  # fields whose values are stored again


def write_group(file: h5py.File, source: Source, refers_to: str) -> list[LevelReport]:
    """Adds the group to `file`, with values of `source`, which lie in the file `refers_to`: a name
    relative to the folder of `file`; "." where it is `file` itself.
    """
    names = _array_names(source.components)
    group = file.create_group(GROUP)
    _write_text(group, "Type", "OverlappingAMR")
    group.attrs["Version"] = np.array(VERSION, np.int64)
    _write_text(group, "GridDescription", "XYZ"[: source.dims])
    group.attrs["Origin"] = in_space(source.prob_lo, 0.0)
    first = np.array(source.levels[0].domain.lo)
    reports = []
    for level, info in enumerate(source.levels):
        at = group.create_group(f"Level{level}")
        at.attrs["Spacing"] = in_space(info.dx, 1.0)
        for kind in ("PointData", "FieldData"):  # empty; VTK 9.4 complains where they are missing
            at.create_group(kind)
        runs = [_runs(source, level, c) for c in range(len(names))]
        order = _order(source, level, runs)
        at["AMRBox"] = vtk_corners(info, order, first)
        copied = 0
        for component, name in enumerate(names):
            found = runs[component]
            if found is not None and _is_virtual(found, order):
                _write_virtual(at, name, info, order, found, refers_to)
            else:
                _write_copy(at, name, source, level, component, order)
                copied += 1
        reports.append(LevelReport(len(order), len(names) - copied, copied))
        first = first * np.array(info.ref_ratio)
    group.create_group("FieldData")[TIME] = np.array([source.time])
    return reports


def _write_text(group: h5py.Group, name: str, text: str) -> None:
    group.attrs.create(name, text, dtype=h5py.string_dtype("ascii", len(text)))


def _array_names(components: tuple[str, ...]) -> list[str]:
    """Fields as HDF5 can name a dataset: a slash would be a folder's."""
    names = [name.replace("/", "_") for name in components]
    for name in names:
        if names.count(name) > 1 or name in (".", ""):
            raise Error(f"fields {', '.join(components)}: VTKHDF cannot tell those called {name!r}")
    return names


def _runs(source: Source, level: int, component: int) -> ValueRuns | None:
    return source.runs(level, component) if isinstance(source, Hdf5Source) else None


def _order(source: Source, level: int, runs: list[ValueRuns | None]) -> npt.NDArray[np.int64]:
    """The boxes in the order in which the file holds them, which virtual datasets need."""
    for found in runs:
        if found is not None:
            return np.argsort(found.begins, kind="stable")
    frames = source.frames(level, 0)
    return np.array([box for frame in frames for box in frame], np.int64)


def _is_virtual(runs: ValueRuns, order: npt.NDArray[np.int64]) -> bool:
    """One selection takes elements in rising order only."""
    return len(order) <= VIRTUAL_BOXES and bool((np.diff(runs.begins[order]) > 0).all())


def _write_virtual(
    at: h5py.Group,
    name: str,
    info: LevelInfo,
    order: npt.NDArray[np.int64],
    runs: ValueRuns,
    refers_to: str,
) -> None:
    cells = [info.boxes[n].cells for n in order]
    chosen = h5py.h5s.create_simple((runs.extent,))
    operation = h5py.h5s.SELECT_SET
    for begin, count in zip(runs.begins[order].tolist(), cells, strict=True):
        chosen.select_hyperslab((begin,), (1,), None, (count,), op=operation)
        operation = h5py.h5s.SELECT_OR
    space = h5py.h5s.create_simple((sum(cells),))
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_layout(h5py.h5d.VIRTUAL)
    creation.set_virtual(space, refers_to.encode(), runs.dataset.encode(), chosen)
    holder = at.require_group("CellData")
    h5py.h5d.create(holder.id, name.encode(), h5py.h5t.py_create(runs.dtype), space, creation)


def _write_copy(
    at: h5py.Group,
    name: str,
    source: Source,
    level: int,
    component: int,
    order: npt.NDArray[np.int64],
) -> None:
    total = sum(source.levels[level].boxes[n].cells for n in order)
    chunk = min(CHUNK_BYTES // source.dtype.itemsize, max(total, 1))
    dataset = at.require_group("CellData").create_dataset(
        name,
        shape=(total,),
        dtype=source.dtype,
        chunks=(chunk,),
        **Filter(lossless=True, rewrite=False),
    )
    at_cell = 0
    for values in _whole_chunks(_boxes(source, level, component, order), chunk):
        dataset[at_cell : at_cell + len(values)] = values
        at_cell += len(values)


def _boxes(
    source: Source, level: int, component: int, order: npt.NDArray[np.int64]
) -> Iterator[npt.NDArray[np.floating]]:
    for number in order.tolist():
        yield source.read_box(level, number, component, True).ravel(order="F")


def _whole_chunks(
    parts: Iterator[npt.NDArray[np.floating]], chunk: int
) -> Iterator[npt.NDArray[np.floating]]:
    """The same values in pieces of whole chunks, so that each is coded once."""
    held: list[npt.NDArray[np.floating]] = []
    count = 0
    for part in parts:
        held.append(part)
        count += len(part)
        if count >= chunk:
            values = np.concatenate(held)
            whole = count - count % chunk
            yield values[:whole]
            held, count = [values[whole:]], count - whole
    if count:
        yield np.concatenate(held)
