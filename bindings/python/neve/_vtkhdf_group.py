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
from ._referring import in_virtual_dataset, missing_value
from ._value_runs import ValueRuns
from ._vtk_place import SPACE, TIME, filled_levels, in_space, vtk_corners

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
    # VTK's reader takes no flat boxes. A level of a file of two dimensions is as many layers of the
    # same values thick as its cells are finer than those of level 0.
    _write_text(group, "GridDescription", "XYZ")
    layers = 1
    group.attrs["Origin"] = in_space(source.prob_lo, 0.0)
    first = np.array(source.levels[0].domain.lo)
    thickness = source.levels[0].dx[0]
    reports = []
    for level, info in enumerate(source.levels[: filled_levels(source)]):
        at = group.create_group(f"Level{level}")
        at.attrs["Spacing"] = in_space(info.dx, thickness / layers)
        at.create_group("PointData")  # empty; VTK 9.4 complains where it is missing
        copies = layers ** (SPACE - source.dims)
        runs = [_runs(source, level, c) for c in range(len(names))]
        order = _order(source, level, runs)
        at["AMRBox"] = vtk_corners(info, order, first, layers)
        # A static file has no other place for it. VTK 9.4 takes a number for each box.
        at.create_group("FieldData")[TIME] = np.full(len(order), source.time)
        copied = 0
        for component, name in enumerate(names):
            found = runs[component]
            if found is not None and _is_virtual(found, order, copies):
                _write_virtual(at, name, info, order, copies, found, refers_to)
            else:
                _write_copy(at, name, source, level, component, order, copies)
                copied += 1
        reports.append(LevelReport(len(order), len(names) - copied, copied))
        first = first * np.array(info.ref_ratio)
        layers *= info.ref_ratio[0]
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


def _is_virtual(runs: ValueRuns, order: npt.NDArray[np.int64], copies: int) -> bool:
    """One selection takes elements in rising order only."""
    is_short = len(order) * copies <= VIRTUAL_BOXES
    return is_short and bool((np.diff(runs.begins[order]) > 0).all())


def _write_virtual(
    at: h5py.Group,
    name: str,
    info: LevelInfo,
    order: npt.NDArray[np.int64],
    copies: int,
    runs: ValueRuns,
    refers_to: str,
) -> None:
    cells = np.array([info.boxes[n].cells for n in order], np.int64)
    ends = np.cumsum(cells * copies)
    chosen = _selection(runs.extent, runs.begins[order], cells)
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_layout(h5py.h5d.VIRTUAL)
    creation.set_fill_value(missing_value(runs.dtype))
    place = in_virtual_dataset(refers_to).encode(), in_virtual_dataset(runs.dataset).encode()
    for copy in range(copies):
        begins = ends - cells * (copies - copy)
        space = _selection(int(ends[-1]), begins, cells)
        creation.set_virtual(space, *place, chosen)
    space = h5py.h5s.create_simple((int(ends[-1]),))
    holder = at.require_group("CellData")
    h5py.h5d.create(holder.id, name.encode(), h5py.h5t.py_create(runs.dtype), space, creation)


def _selection(
    extent: int, begins: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> h5py.h5s.SpaceID:
    """Of `extent` elements the runs of `counts` elements from each of `begins` on."""
    space = h5py.h5s.create_simple((extent,))
    operation = h5py.h5s.SELECT_SET
    for begin, count in zip(begins.tolist(), counts.tolist(), strict=True):
        space.select_hyperslab((begin,), (1,), None, (count,), op=operation)
        operation = h5py.h5s.SELECT_OR
    return space


def _write_copy(
    at: h5py.Group,
    name: str,
    source: Source,
    level: int,
    component: int,
    order: npt.NDArray[np.int64],
    copies: int,
) -> None:
    total = copies * sum(source.levels[level].boxes[n].cells for n in order)
    chunk = min(CHUNK_BYTES // source.dtype.itemsize, max(total, 1))
    dataset = at.require_group("CellData").create_dataset(
        name,
        shape=(total,),
        dtype=source.dtype,
        chunks=(chunk,),
        **Filter(lossless=True, rewrite=False),
    )
    at_cell = 0
    for values in _whole_chunks(_boxes(source, level, component, order, copies), chunk):
        dataset[at_cell : at_cell + len(values)] = values
        at_cell += len(values)


def _boxes(
    source: Source, level: int, component: int, order: npt.NDArray[np.int64], copies: int
) -> Iterator[npt.NDArray[np.floating]]:
    for number in order.tolist():
        values = source.read_box(level, number, component, True).ravel(order="F")
        yield np.tile(values, copies)


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
