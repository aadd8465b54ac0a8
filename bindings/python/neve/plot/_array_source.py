# SPDX-License-Identifier: BSD-3-Clause
"""One array in a file: .npy, or what `neve compress` and neve.compress make."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .. import _core
from .._array import decompress
from .._errors import CORRUPT, Error
from .._listed import listed
from ._drawing import Drawing, Masked
from ._grid_view import Dimension, Index, Variable, draw
from ._place import Place

DRAWN = "plots are of integers, floating-point numbers and booleans"


class ArraySource:
    """Its one field has the file's name, its dimensions are called 0, 1, ..."""

    def __init__(self, path: Path, array: np.ndarray, bound_abs: float | None = None):
        self.path = path
        self.time: float | None = None
        if array.dtype.kind not in "iufb":
            raise Error(f"{path}: an array of {_type_name(array.dtype)}; {DRAWN}")
        dims = tuple(Dimension(str(i), n, False) for i, n in enumerate(array.shape))
        self._variable = Variable(path.stem, dims, self._read, bound_abs=bound_abs)
        self._array = array

    def close(self) -> None:
        self._array = np.empty(0, self._array.dtype)  # lets go of the mapped file

    def fields(self) -> list[str]:
        return [self._variable.name]

    def name_of(self, asked: str) -> str | None:
        return asked if asked == self._variable.name else None

    def first_fields(self) -> list[str]:
        return self.fields()

    def dimensions(self, field: str) -> dict[str, int]:
        return self.variable(field).sizes

    def draw(self, field: str, place: Place) -> Drawing:
        return draw(self.variable(field), place)

    def variable(self, field: str) -> Variable:
        if field != self._variable.name:
            raise Error(f"{self.path}: no field {field!r}; it is one array, {self._variable.name}")
        return self._variable

    def _read(self, index: Index) -> Masked:
        """Without NaN, infinities and the value that seems to stand for missing ones."""
        values = np.array(self._array[index])
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        mask = np.zeros(values.shape, bool)
        if values.dtype.kind == "f":
            mask = ~np.isfinite(values)
        if values.dtype.name in ("float32", "float64") and values.size:
            flat = np.ascontiguousarray(values)
            fill = _core.measure(flat, values.dtype.itemsize == 4, None, [], True)["fill"]
            if fill is not None:
                mask = mask | (values == values.dtype.type(fill))
        return np.ma.array(values, mask=mask)


def open_npy(path: Path) -> ArraySource:
    """The file is mapped: only what is drawn is read."""
    try:
        has_objects = _stored_type(path).hasobject
        array = np.empty(0) if has_objects else np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise Error(f"{path}: not a complete .npy file of numbers: {error}", CORRUPT) from None
    if has_objects:
        raise Error(f"{path}: an array of Python objects; {DRAWN}")
    return ArraySource(path, array)


def _stored_type(path: Path) -> np.dtype:
    """As the header has it: numpy maps no objects, and reads none without running their code."""
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        read_header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        dtype: np.dtype = read_header(file)[2]
        return dtype


def _type_name(dtype: np.dtype) -> str:
    """In words where numpy's own name says little: "<U5", a list of a record's parts."""
    if dtype.names is not None:
        return f"records ({listed(dtype.names)})"
    return "texts" if dtype.kind in "SU" else str(dtype)


def open_compressed(path: Path) -> ArraySource:
    """Decoded as a whole: a frame or stream of one array."""
    data = path.read_bytes()
    try:
        array = decompress(data)
    except Error as error:
        raise Error(f"{path}: {error}", error.code) from None
    return ArraySource(path, array, _bound(data))


def _bound(data: bytes) -> float | None:
    if _core.is_stream(data):
        return None
    bounds = [component["bound_abs"] for component in _core.describe_frame(data)["components"]]
    return max(bounds) if bounds else None
