# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles and checkpoints in HDF5: Chombo's layout, AMReX's two, and Neve's.

Neve's chunks are read raw and decoded here, only the sections of the box and field asked for. Every
other file is read through HDF5, copies of Chombo's checkpoints too, whose frames know no boxes.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from . import _core, _external_files
from ._amr_file import (
    CHOMBO_CHECKPOINT,
    NEVE_CHECKPOINT,
    Variable,
    chombo_levels,
    chombo_variables,
    kind_of,
    neve_variables,
    plain_text,
    refuse_data_file,
    says_data_file,
)
from ._array import empty_array
from ._errors import CORRUPT, FAILURE, PLUGIN_MISSING, Error
from ._first_bytes import NETCDF_CLASSIC, NPY
from ._held_values import HeldValues
from ._hierarchy import Box, LevelInfo
from ._value_runs import NeedsCoarserLevel, ValueRuns, has_usual_filters

# Frames kept open: a compressed frame is a small thing, and boxes are often asked for in file
# order.
HELD_FRAMES = 16
# Of decoded values of regions: the next region may cut the same boxes, or want others of a frame.
HELD_BYTES = 64 << 20
# Boxes of files with other filters share chunks, too; HDF5 itself keeps 1 MiB.
HDF5_CACHE_BYTES = 32 << 20
_N = TypeVar("_N", int, float)
AXES = "ijk"  # of a box's corners
LAYOUT_VERSION = 1  # of Neve's plotfiles and checkpoints


class _LevelData:
    """Where the values of one level's boxes are."""

    def __init__(
        self,
        group: h5py.Group,
        variable: Variable,
        boxes: tuple[Box, ...],
        dims: int,
        has_frames: bool,
    ):
        base = variable.base
        self.name = group.name
        self.components = len(variable.components)
        self.single = f"{base}:datatype=1" not in group
        names = (
            [f"{base}:datatype=0"]
            if self.single
            else [f"{base}:datatype={c}" for c in range(self.components)]
        )
        for name in [*names, f"{base}:offsets=0"]:
            if name not in group:
                raise Error(f"{group.file.filename}:{group.name}: no dataset {name!r}", CORRUPT)
        self.datasets = [group[name] for name in names]
        for dataset in self.datasets:
            if (
                dataset.ndim != 1
                or dataset.dtype.kind != "f"
                or dataset.dtype.itemsize not in (4, 8)
            ):
                raise Error(
                    f"{group.file.filename}:{dataset.name}: shape {dataset.shape} of "
                    f"{dataset.dtype}; "
                    "allowed is one dimension of float32 or float64",
                    CORRUPT,
                )
        self.offsets = group[f"{base}:offsets=0"][()].astype(np.int64)
        if len(self.offsets) < len(boxes):
            raise Error(
                f"{group.file.filename}:{group.name}: {len(self.offsets)} offsets for "
                f"{len(boxes)} boxes",
                CORRUPT,
            )
        self.box_count = len(boxes)
        self.ghosts = variable.ghosts or _ghosts(group, f"{base}_attributes", dims)
        self._check_offsets(boxes)
        self.table = group.get(f"{base}_neve_fields", group.get("neve_fields"))
        self.chunk_elements = self._chunk_elements() if has_frames else 0
        self.frame_boxes = self._boxes_by_chunk() if self.chunk_elements else {}
        self.place_in_frame = np.zeros(self.box_count, np.int64)
        for of_frame in self.frame_boxes.values():
            self.place_in_frame[of_frame] = np.arange(len(of_frame))

    def _check_offsets(self, boxes: tuple[Box, ...]) -> None:
        """Each box has its values in the datasets."""
        if min(self.ghosts) < 0:
            raise Error(
                f"{self.datasets[0].file.filename}:{self.name}: {self.ghosts} layers of ghost "
                "cells; 0 or more are allowed",
                CORRUPT,
            )
        values = self.components if self.single else 1
        runs = []
        for number, box in enumerate(boxes):
            begin = int(self.offsets[number])
            grown = (n + 2 * g for n, g in zip(box.shape, self.ghosts, strict=True))
            runs.append((begin, begin + values * math.prod(grown), number))
        extent = min(int(dataset.shape[0]) for dataset in self.datasets)
        runs.sort()
        for (begin, end, number), after in zip(runs, [*runs[1:], (extent, 0, 0)], strict=True):
            if begin < 0 or end > after[0]:
                raise Error(
                    f"{self.datasets[0].file.filename}:{self.datasets[0].name}: box {number} needs "
                    f"elements {begin} to {end}; the dataset has {extent}, and the next box begins "
                    f"at {after[0]}",
                    CORRUPT,
                )

    def _chunk_elements(self) -> int:
        """Elements of one frame; 0 when the level is not stored as frames."""
        dataset = self.datasets[0]
        if len(self.datasets) > 1 or dataset.chunks is None:
            return 0
        filters = dataset.id.get_create_plist()
        ids = [filters.get_filter(i)[0] for i in range(filters.get_nfilters())]
        return dataset.chunks[0] if len(ids) == 1 and ids[0] in _core.FILTER_IDS else 0

    def _boxes_by_chunk(self) -> dict[int, list[int]]:
        """Boxes whose first element lies in a chunk, in the order of their offsets."""
        found: dict[int, list[int]] = {}
        for box in np.argsort(self.offsets[: self.box_count], kind="stable"):
            found.setdefault(int(self.offsets[box]) // self.chunk_elements, []).append(int(box))
        return found


def _ghosts(group: h5py.Group, attributes: str, dims: int) -> tuple[int, ...]:
    """Ghost layers around each stored box. (`ghost` beside `outputGhost` is what the run used, not
    the file.)
    """
    holder = group.get(attributes)
    value = None if holder is None else holder.attrs.get("outputGhost")
    if value is None:
        value = group.attrs.get("ngrow")
        return (0,) * dims if value is None else (int(np.ravel(value)[0]),) * dims
    return tuple(int(v) for v in np.asarray(value).item())[:dims]


def _no_hdf5(path: Path) -> Error:
    try:
        with open(path, "rb") as file:
            begin = file.read(6)
    except OSError as error:
        return Error(f"{path}: {error.strerror}", FAILURE)
    if begin.startswith((NPY, NETCDF_CLASSIC)):
        return Error(says_data_file(path))
    return Error(f"{path}: not a readable HDF5 file", FAILURE)


def _attribute(file: h5py.File, where: h5py.Group, name: str) -> Any:
    if name not in where.attrs:
        raise Error(
            f"{file.filename}:{where.name}: no attribute {name!r}, which every plotfile has",
            CORRUPT,
        )
    return where.attrs[name]


def _check_layout(file: h5py.File) -> None:
    """Refuses a plotfile or checkpoint of Neve whose layout is newer than this reader."""
    if "neve" not in file:
        return
    version = int(_attribute(file, file["neve"], "layout_version"))
    if version != LAYOUT_VERSION:
        raise Error(
            f"{file.filename}: neve/layout_version is {version}; this Neve reads {LAYOUT_VERSION}"
        )


def _first_attribute(file: h5py.File, where: h5py.Group, *names: str) -> Any:
    for name in names[:-1]:
        if name in where.attrs:
            return where.attrs[name]
    return _attribute(file, where, names[-1])


def _boxes(records: np.ndarray, dims: int) -> tuple[Box, ...]:
    names = AXES[:dims]
    lo = np.stack([records[f"lo_{n}"] for n in names], axis=-1).reshape(-1, dims)
    hi = np.stack([records[f"hi_{n}"] for n in names], axis=-1).reshape(-1, dims)
    return tuple(Box(tuple(map(int, a)), tuple(map(int, b))) for a, b in zip(lo, hi, strict=True))


def _vector(value: Any, dims: int, kind: Callable[[Any], _N]) -> tuple[_N, ...]:
    """A scalar or a vector (plain or compound) of the file as `dims` numbers."""
    value = np.asarray(value)
    numbers = list(value.item()) if value.dtype.names else np.ravel(value).tolist()
    if len(numbers) == 1:
        numbers *= dims
    return tuple(kind(n) for n in numbers[:dims])


# What numpy and h5py raise where a thing of the file is of another kind than a plotfile has there.
_DAMAGED = (
    AttributeError,
    LookupError,
    OSError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
)


class Hdf5Source:
    """See plotfile.Source."""

    def __init__(self, path: Path, follow_external: bool):
        self._path = path
        if not h5py.is_hdf5(path):
            raise _no_hdf5(path)
        try:
            self._file = h5py.File(path, "r", rdcc_nbytes=HDF5_CACHE_BYTES)
        except OSError as error:
            raise Error(f"{path}: not a readable HDF5 file: {error}", FAILURE) from None
        try:
            refuse_data_file(self._file, path)
            if not follow_external:
                _external_files.check(self._file, path)
            self._read_hierarchy()
        except BaseException as error:
            self._file.close()
            if isinstance(error, _DAMAGED) and not isinstance(error, Error):
                raise Error(f"{path}: damaged, or no plotfile: {error}", CORRUPT) from None
            raise
        self._frames: OrderedDict[tuple[str, int], _core.Frame] = OrderedDict()
        self._frames_lock = threading.Lock()
        self._held = HeldValues(HELD_BYTES)

    def _read_hierarchy(self) -> None:
        file = self._file
        _check_layout(file)
        self.kind = kind_of(file)
        self.time = float(file.attrs.get("time", 0.0))
        self.dims = self._dims()
        variables = self._variables()
        self.components = tuple(name for v in variables for name in v.field_names())
        self._where = [(v, c) for v, of in enumerate(variables) for c in range(len(of.components))]
        self.prob_lo = self._prob_lo()
        groups = self._level_groups()
        self.levels = tuple(self._level(group, is_finest=group is groups[-1]) for group in groups)
        self._check_hierarchy()
        self._data = [
            [_LevelData(group, v, level.boxes, self.dims, "neve" in file) for v in variables]
            for group, level in zip(groups, self.levels, strict=True)
        ]
        self.dtype = self._data[0][0].datasets[0].dtype.newbyteorder("=")

    def _level_groups(self) -> list[h5py.Group]:
        """Those of the levels that have boxes: the levels before the first without."""
        file = self._file
        if self.kind == CHOMBO_CHECKPOINT:
            return [file[f"level_{index}"] for index in range(chombo_levels(file))]
        count = int(_attribute(file, file, "num_levels"))
        groups = []
        for index in range(count):
            name = f"level_{index}"
            if name not in file:
                raise Error(
                    f"{file.filename}: no group {name!r} though num_levels is {count}", CORRUPT
                )
            group = file[name]
            if "boxes" not in group:
                raise Error(f"{file.filename}:{group.name}: no dataset 'boxes'", CORRUPT)
            if not group["boxes"].size:
                break
            groups.append(group)
        return groups

    def _level(self, group: h5py.Group, is_finest: bool) -> LevelInfo:
        file = self._file
        boxes = _boxes(group["boxes"][()], self.dims)
        domain = _boxes(np.asarray(_attribute(file, group, "prob_domain")), self.dims)[0]
        # The first name is Neve's own and says it for each direction; the last is all Chombo has.
        # In uncompressed files Neve's stand apart, because Chombo's reader knows only scalars.
        exact = file.get(f"neve{group.name}", group)
        dx = _vector(_first_attribute(file, exact, "neve_dx", "Vec_dx", "dx"), self.dims, float)
        ratio = (1,) * self.dims
        if not is_finest:
            found = _first_attribute(file, exact, "neve_ref_ratio", "ref_ratio")
            ratio = _vector(found, self.dims, int)
        return LevelInfo(domain, boxes, dx, ratio)

    def _check_hierarchy(self) -> None:
        """As every reader of Neve does, before a box or a size is used."""
        levels = [(level.domain, level.boxes, level.dx, level.ref_ratio) for level in self.levels]
        try:
            _core.check_hierarchy(self.dims, self.components, self.prob_lo, levels)
        except Error as error:
            raise Error(f"{self._path}: {error}", CORRUPT) from None

    def _variables(self) -> list[Variable]:
        file = self._file
        if self.kind == NEVE_CHECKPOINT:
            return neve_variables(file)
        if self.kind == CHOMBO_CHECKPOINT:
            return chombo_variables(file, self.dims)
        count = int(_attribute(file, file, "num_components"))
        names = (plain_text(_attribute(file, file, f"component_{c}")) for c in range(count))
        return [Variable("data", None, tuple(names), None)]

    def _at(self, level: int, component: int) -> tuple[_LevelData, int]:
        """Where a field is, and its number there."""
        variable, number = self._where[component]
        return self._data[level][variable], number

    def ghosts(self, level: int, component: int) -> tuple[int, ...]:
        self._check_is_open()
        return self._at(level, component)[0].ghosts

    def frames(self, level: int, component: int) -> list[list[int]]:
        data, _ = self._at(level, component)
        if data.chunk_elements:
            return list(data.frame_boxes.values())
        return [[number] for number in range(len(self.levels[level].boxes))]

    def runs(self, level: int, component: int) -> ValueRuns | None:
        """Where the field's values lie, where any reader that has the filter gets what read_box
        gives; None where that is not so: around ghost cells, with cells that the file leaves out,
        with filters of others. Raises NeedsCoarserLevel.
        """
        self._check_is_open()
        data, number = self._at(level, component)
        dataset = data.datasets[0 if data.single else number]
        if any(data.ghosts) or not has_usual_filters(dataset) or not self.levels[level].boxes:
            return None
        for boxes in self.frames(level, component) if data.chunk_elements else ():
            for box in boxes:
                for frame, _ in self._frames_of(level, box, data):
                    if any(section["arrangement"] == "nested" for section in frame.sections):
                        raise NeedsCoarserLevel(f"{dataset.file.filename}:{dataset.name}")
                if self.left_out(level, box, component) is not None:
                    return None
        begins = data.offsets[: data.box_count]
        if data.single:
            begins = begins + number * np.array([box.cells for box in self.levels[level].boxes])
        return ValueRuns(dataset.name, int(dataset.shape[0]), dataset.dtype, begins)

    def _dims(self) -> int:
        if "Chombo_global" in self._file:
            dims = int(_attribute(self._file, self._file["Chombo_global"], "SpaceDim"))
        else:
            dims = int(_attribute(self._file, self._file, "dim"))
        if not 1 <= dims <= len(AXES):
            raise Error(f"{self._path}: {dims} dimensions; 1 to {len(AXES)} are allowed", CORRUPT)
        return dims

    def _prob_lo(self) -> tuple[float, ...]:
        for where in (self._file.get("neve"), self._file["level_0"], self._file):
            if where is not None and "prob_lo" in where.attrs:
                return _vector(where.attrs["prob_lo"], self.dims, float)
        return (0.0,) * self.dims

    def close(self) -> None:
        with self._frames_lock:
            self._frames.clear()
        self._held.clear()
        self._file.close()

    def _check_is_open(self) -> None:
        if not self._file:
            raise Error(
                f"{self._path}: the plotfile is closed; read inside its `with` block, or before "
                "close()"
            )

    def read_box(self, level: int, box: int, component: int, average: bool) -> np.ndarray:
        self._check_is_open()
        if not self._at(level, component)[0].chunk_elements:
            return self._read_plain(level, box, component)
        values = self._read_frames(level, box, component)
        return self._average_left_out(level, box, component, values) if average else values

    def read_boxes(
        self, level: int, boxes: np.ndarray, component: int, average: bool
    ) -> Iterator[tuple[int, np.ndarray]]:
        self._check_is_open()
        data, _ = self._at(level, component)
        ordered = boxes[np.argsort(data.offsets[boxes], kind="stable")].tolist()
        if not data.chunk_elements:
            for box in ordered:
                yield box, self._read_plain(level, box, component)
            return
        elements = data.chunk_elements
        for chunk, of_chunk in itertools.groupby(ordered, lambda b: data.offsets[b] // elements):
            wanted = list(of_chunk)
            leaves_out = average and self._leaves_out(level, int(chunk), component)
            for box, values in self._read_some(level, int(chunk), wanted, component):
                if leaves_out:
                    values = self._average_left_out(level, box, component, values)
                yield box, values

    def _leaves_out(self, level: int, chunk: int, component: int) -> bool:
        """Whether the boxes that begin in a chunk may lack cells. To ask for each takes longer."""
        data, number = self._at(level, component)
        frame = self._frame(data, chunk)
        return frame.is_split or bool(frame.components[number]["drops_covered"])

    def _read_some(
        self, level: int, chunk: int, wanted: list[int], component: int
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Boxes that begin in a chunk. Those that share a frame are taken from the component
        decoded whole: a section holds many boxes.
        """
        data, number = self._at(level, component)
        key = (data.datasets[0].name, chunk, number)
        if len(data.frame_boxes[chunk]) == 1:
            (box,) = wanted
            yield box, self._held.get(key, lambda: self._read_frames(level, box, component))
            return
        try:
            values = self._held.get(key, lambda: self._decode_whole(level, chunk, component))
        except Error:
            # Damage to other boxes must not reach these; read alone, each says its own.
            for box in wanted:
                yield box, self._read_frames(level, box, component)
            return
        for box in wanted:
            shape = self._stored_shape(level, box, data)
            begin = (int(data.offsets[box]) - chunk * data.chunk_elements) // data.components
            cells = int(np.prod(shape, dtype=np.int64))
            stored = values[begin : begin + cells].reshape(shape, order="F")
            yield box, self._without_ghosts(level, box, data, stored)

    def _decode_whole(self, level: int, chunk: int, component: int) -> np.ndarray:
        """All boxes of a frame, one after the other as the file has them."""
        data, component = self._at(level, component)
        frame = self._frame(data, chunk)
        cells = 0
        for number, box in enumerate(data.frame_boxes[chunk]):
            self._check_frame(frame, level, box, data, chunk, number)
            cells += int(np.prod(self._stored_shape(level, box, data), dtype=np.int64))
        values = empty_array((cells,), self.dtype, order="F")
        frame.decode_component(component, values)
        return values

    def left_out(self, level: int, box: int, component: int) -> np.ndarray | None:
        self._check_is_open()
        data, within = self._at(level, component)
        if not data.chunk_elements:
            return None
        shape = self._stored_shape(level, box, data)
        mask = None
        for frame, number in self._frames_of(level, box, data):
            part = frame.left_out(number, within)
            if part:
                part = np.frombuffer(part, np.uint8).reshape(shape, order="F") != 0
                mask = part if mask is None else mask | part
        if mask is not None:
            mask = self._without_ghosts(level, box, data, mask)
        return mask if mask is not None and mask.any() else None

    def bound_abs(self, level: int, component: int) -> float | None:
        self._check_is_open()
        if not self.levels[level].boxes:
            return None
        data, number = self._at(level, component)
        if not data.chunk_elements:
            return None if data.table is None else float(data.table["bound_abs"][number])
        # The same in every frame of a level.
        return float(self._frame(data, 0).components[number]["bound_abs"])

    def bound_asked(self, level: int, component: int) -> str | None:
        self._check_is_open()
        data, number = self._at(level, component)
        if not self.levels[level].boxes or not data.chunk_elements:
            return None
        return str(self._frame(data, 0).components[number]["asked"])

    def _read_plain(self, level: int, box: int, component: int) -> np.ndarray:
        data, component = self._at(level, component)
        grown = self._stored_shape(level, box, data)
        cells = int(np.prod(grown, dtype=np.int64))
        begin = int(data.offsets[box])
        if data.single:
            dataset, begin = data.datasets[0], begin + component * cells
        else:
            dataset = data.datasets[component]
        try:
            values = dataset[begin : begin + cells]
        except OSError as error:
            raise self._read_error(dataset, error) from None
        values = values.astype(self.dtype, copy=False).reshape(grown, order="F")
        return self._without_ghosts(level, box, data, values)

    def _stored_shape(self, level: int, box: int, data: _LevelData) -> tuple[int, ...]:
        """With the ghost cells that stand around the box in the file."""
        shape = self.levels[level].boxes[box].shape
        return tuple(n + 2 * g for n, g in zip(shape, data.ghosts, strict=True))

    def _without_ghosts(
        self, level: int, box: int, data: _LevelData, values: np.ndarray
    ) -> np.ndarray:
        shape = self.levels[level].boxes[box].shape
        inner = tuple(np.s_[g : g + n] for n, g in zip(shape, data.ghosts, strict=True))
        return np.asfortranarray(values[inner])

    def _read_error(self, dataset: h5py.Dataset, error: OSError) -> Error:
        text = str(error)
        code = PLUGIN_MISSING if "required filter" in text or "plugin" in text else FAILURE
        return Error(f"{self._file.filename}:{dataset.name}: {text}", code)

    def _read_frames(self, level: int, box: int, component: int) -> np.ndarray:
        data, component = self._at(level, component)
        values = empty_array(self._stored_shape(level, box, data), self.dtype, order="F")
        for frame, number in self._frames_of(level, box, data):
            frame.decode_box(number, component, values)
        return self._without_ghosts(level, box, data, values)

    def _frames_of(self, level: int, box: int, data: _LevelData) -> list[tuple[_core.Frame, int]]:
        """The frames that hold the box, and its number in each: several only when the box was
        cut.
        """
        shape = self._stored_shape(level, box, data)
        elements = int(np.prod(shape, dtype=np.int64)) * data.components
        begin = int(data.offsets[box])
        first = begin // data.chunk_elements
        last = (begin + elements - 1) // data.chunk_elements
        number = int(data.place_in_frame[box])
        found = []
        held = 0
        for chunk in range(first, last + 1):
            frame = self._frame(data, chunk)
            self._check_frame(frame, level, box, data, chunk, number)
            held += frame.split_count if frame.is_split else elements
            found.append((frame, number))
        if held != elements:
            raise Error(
                f"{self._file.filename}:{data.datasets[0].name}: the frames of box {box} hold "
                f"{held} of its "
                f"{elements} elements",
                CORRUPT,
            )
        return found

    def _check_frame(
        self,
        frame: _core.Frame,
        level: int,
        box: int,
        data: _LevelData,
        chunk: int,
        number: int,
    ) -> None:
        """A frame is whole by its checksum; this says it is the one the file's box list means."""
        corner = self.levels[level].boxes[box].lo
        expected = tuple(n - g for n, g in zip(corner, data.ghosts, strict=True))
        shape = self._stored_shape(level, box, data)
        if number >= frame.box_count:
            raise Error(
                f"{self._place(data, chunk)}: {frame.box_count} boxes; box {box} should be number "
                f"{number}",
                CORRUPT,
            )
        lo, size = frame.box(number)
        if tuple(lo[: self.dims]) != expected or tuple(size[: self.dims]) != shape:
            raise Error(
                f"{self._place(data, chunk)}: box number {number} starts at {lo} with size {size}; "
                f"the box list says {expected} and {shape}",
                CORRUPT,
            )

    def _place(self, data: _LevelData, chunk: int) -> str:
        """Of a frame, for messages."""
        return f"{self._file.filename}:{data.datasets[0].name}: chunk {chunk}"

    def _frame(self, data: _LevelData, chunk: int) -> _core.Frame:
        key = (data.datasets[0].name, chunk)
        with self._frames_lock:
            if key not in self._frames:
                self._frames[key] = self._read_frame(data, chunk)
                if len(self._frames) > HELD_FRAMES:
                    self._frames.popitem(last=False)
            self._frames.move_to_end(key)
            return self._frames[key]

    def _read_frame(self, data: _LevelData, chunk: int) -> _core.Frame:
        dataset = data.datasets[0]
        where = self._place(data, chunk)
        try:
            skipped_filters, raw = dataset.id.read_direct_chunk((chunk * data.chunk_elements,))
        except (OSError, ValueError, RuntimeError) as error:
            raise Error(f"{where}: {error}", CORRUPT) from None
        if skipped_filters:
            raise Error(f"{where}: stored without Neve's filter; Neve writes none such", CORRUPT)
        try:
            frame = _core.Frame(raw)
        except Error as error:
            raise Error(f"{where}: {error}", error.code) from None
        components = len(frame.components)
        if frame.is_double != (self.dtype.itemsize == 8) or components != data.components:
            raise Error(
                f"{where}: a frame of {components} components, is_double={frame.is_double}; "
                f"the file says {data.components} of {self.dtype}",
                CORRUPT,
            )
        return frame

    def _average_left_out(
        self, level: int, box: int, component: int, values: np.ndarray
    ) -> np.ndarray:
        """A box's values, with the average of the finer cells where the file holds none."""
        mask = self.left_out(level, box, component)
        if mask is None:
            return values
        values = values.copy(order="F")
        info = self.levels[level]
        coarse = info.boxes[box]
        if level + 1 == len(self.levels):
            raise Error(
                f"{self._file.filename}: cells of the finest level {level} are left out", CORRUPT
            )
        filled = np.zeros(values.shape, bool, order="F")
        parts = {}  # of the box that finer boxes hold
        finer_level = self.levels[level + 1]
        for number in finer_level.meeting(coarse.refine(info.ref_ratio)).tolist():
            inside = finer_level.boxes[number].coarsen_inside(info.ref_ratio)
            shared = None if inside is None else coarse.intersect(inside)
            if shared is not None and mask[shared.within(coarse)].any():
                parts[number] = shared
        numbers = np.array([*parts], np.int64)
        for number, finer in self.read_boxes(level + 1, numbers, component, True):
            fine, shared = finer_level.boxes[number], parts[number]
            part = empty_array(shared.shape, self.dtype, order="F")
            _core.average_down(self.dtype.itemsize == 8, shared, info.ref_ratio, finer, fine, part)
            where = shared.within(coarse)
            chosen = mask[where]
            values[where][chosen] = part[chosen]
            filled[where] |= chosen
        if not filled[mask].all():
            raise Error(
                f"{self._file.filename}: {int((mask & ~filled).sum())} left-out cells of box "
                f"{box} of level "
                f"{level} have no finer cells over them",
                CORRUPT,
            )
        return values
