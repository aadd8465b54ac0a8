# SPDX-License-Identifier: BSD-3-Clause
"""netCDF-4 and HDF5 data files: their variables, with coordinates and without missing values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

from .. import _external_files
from .._core import FILTER_IDS
from .._errors import CORRUPT, PLUGIN_MISSING, Error
from .._filter import stored_bound
from .._listed import listed
from ._attributes import Decoding, decoding_of, first_text, numbers, text, units_of
from ._drawing import Drawing, Masked
from ._grid_view import Dimension, Index, Points, Variable, draw
from ._place import Place
from ._times import is_time

_NETCDF_PLACEHOLDER = "This is a netCDF dimension but not a netCDF variable"
# Attributes that name variables which describe the grid, as CF and its forerunners have them.
_NAMING = (
    *("coordinates", "bounds", "climatology", "associate", "ancillary_variables"),
    *("cell_measures", "formula_terms", "grid_mapping"),
)
_LATITUDE = re.compile(r"degrees?_?(north|N)$", re.IGNORECASE)
_LONGITUDE = re.compile(r"degrees?_?(east|E)$", re.IGNORECASE)
_PRESSURE = re.compile(r"(hPa|Pa|mb|mbar|millibars?)$", re.IGNORECASE)
_MOST_LISTED = 20


class DataFileSource:
    def __init__(self, file: h5py.File, path: Path, follow_external: bool):
        self._file = file
        self.path = path
        self.time: float | None = None
        if not follow_external:
            _external_files.check(file, path)
        self._datasets = dict(_datasets(file))
        self._drawable = {n: d for n, d in self._datasets.items() if _is_drawable(d)}
        if not self._drawable:
            raise Error(f"{path}: it holds no variable of numbers with a dimension")

    def close(self) -> None:
        self._file.close()

    def fields(self) -> list[str]:
        return list(self._drawable)

    def name_of(self, asked: str) -> str | None:
        """A variable by its whole path, with or without "/" before it, or the only one of that name
        in any group, as the command's rules for fields find it.
        """
        name = asked.strip("/")
        if name in self._datasets:
            return name
        if asked.startswith("/"):
            return None
        found = [n for n in self._drawable if n.endswith(f"/{name}")]
        if len(found) > 1:
            raise Error(f"{self.path}: field {asked!r} may be any of {listed(found, _MOST_LISTED)}")
        return found[0] if found else None

    def first_fields(self) -> list[str]:
        """Planes before lines, and none that describes the grid where there is another."""
        named = self._named_by_others()
        fields = [n for n, d in self._drawable.items() if not _describes_grid(n, d, named)]
        sides = {n: sum(size > 1 for size in self._drawable[n].shape) for n in self._drawable}
        filled = [n for n in fields if self._drawable[n].size]
        for wanted in (
            [n for n in filled if sides[n] > 1 and _is_real(self._drawable[n])],
            [n for n in filled if sides[n] > 1],
            [n for n in filled if sides[n] == 1],
            [n for n in self._drawable if sides[n] > 0],
        ):
            if wanted:
                return wanted
        raise Error(f"{self.path}: none of its variables has more than one value")

    def dimensions(self, field: str) -> dict[str, int]:
        dataset = self._dataset(field)
        names = [_dimension_name(dataset, i) for i in range(dataset.ndim)]
        return dict(zip(names, dataset.shape, strict=True))

    def draw(self, field: str, place: Place) -> Drawing:
        return draw(self.variable(field), place)

    def variable(self, field: str) -> Variable:
        dataset = self._dataset(field)
        decoding = decoding_of(dataset)
        return Variable(
            field,
            tuple(self._dimension(dataset, i) for i in range(dataset.ndim)),
            lambda index: self._read(dataset, decoding, index),
            units_of(dataset),
            lambda index, y, x: self._points(dataset, index, y, x),
            _bound(dataset),
        )

    def _dataset(self, field: str) -> h5py.Dataset:
        name = self.name_of(field)
        if name in self._drawable:
            return self._drawable[name]
        if name is not None:
            dataset = self._datasets[name]
            raise Error(
                f"{self.path}: {name} has shape {dataset.shape} and type {dataset.dtype}; plots "
                "are of numbers, in one dimension or more"
            )
        names = [*self.first_fields(), *(n for n in self._drawable if n not in self.first_fields())]
        raise Error(f"{self.path}: no field {field!r}; the file has {listed(names, _MOST_LISTED)}")

    def _read(self, dataset: h5py.Dataset, decoding: Decoding, index: Index) -> Masked:
        try:
            stored = np.asarray(dataset[index])
        except OSError as error:
            raise Error(
                f"{self.path}: {dataset.name}: cannot be read: {error}",
                PLUGIN_MISSING if "filter" in str(error) else CORRUPT,
            ) from None
        return decoding.values(stored.astype(stored.dtype.newbyteorder("="), copy=False))

    def _dimension(self, dataset: h5py.Dataset, number: int) -> Dimension:
        name, size = _dimension_name(dataset, number), dataset.shape[number]
        is_named = not name.isdecimal()
        scale = self._scale(dataset, number, name)
        if scale is None:
            return Dimension(name, size, is_named)
        values = self._read(scale, decoding_of(scale), (slice(None),))
        is_longitude = _is_longitude(scale)
        if np.ma.is_masked(values) or not _is_monotonic(values.data, is_longitude):
            return Dimension(name, size, is_named)
        units = units_of(scale)
        is_degrees = is_longitude or _is_latitude(scale) or units in ("degrees", "degree")
        return Dimension(
            name,
            size,
            is_named,
            first_text(scale, "long_name", "standard_name"),
            units,
            text(scale, "calendar"),
            text(scale, "positive").lower() == "down" or bool(_PRESSURE.match(units)),
            is_longitude,
            is_degrees,
            values.data.astype(np.float64),
        )

    def _scale(self, dataset: h5py.Dataset, number: int, name: str) -> h5py.Dataset | None:
        """The variable with the coordinates of a dimension."""
        if dataset.is_scale and dataset.ndim == 1:
            return None  # it is drawn over its own indices
        for scale in dataset.dims[number].values():
            is_there = not text(scale, "NAME").startswith(_NETCDF_PLACEHOLDER)
            if is_there and scale.shape == (dataset.shape[number],) and scale.dtype.kind in "iuf":
                return scale
        return None

    def _points(self, dataset: h5py.Dataset, index: Index, y: int, x: int) -> Points | None:
        """Of longitudes and latitudes in two dimensions, where the variable names some."""
        found = {}
        sizes = dict(enumerate(dataset.shape))
        for name in re.split(r"[\s,]+", first_text(dataset, "coordinates", "associate")):
            other = self._by_name(dataset, name)
            if other is None or other.ndim < 2 or other.shape[-2:] != (sizes[y], sizes[x]):
                continue
            which = "x" if _is_longitude(other) else "y" if _is_latitude(other) else ""
            leading = [i for i in range(dataset.ndim) if i < y][: other.ndim - 2]
            if which and [sizes[i] for i in leading] == list(other.shape[:-2]):
                place = (*(index[i] for i in leading), index[y], index[x])
                found[which] = (other, self._read(other, decoding_of(other), place))
        if len(found) < 2:
            return None
        (east, longitudes), (north, latitudes) = found["x"], found["y"]
        if np.ma.is_masked(longitudes) or np.ma.is_masked(latitudes):
            return None
        labels = [
            f"{first_text(d, 'long_name', 'standard_name') or d.name.rsplit('/', 1)[-1]} "
            f"({text(d, 'units')})"
            for d in (east, north)
        ]
        return Points(longitudes.data, latitudes.data, (labels[0], labels[1]))

    def _by_name(self, dataset: h5py.Dataset, name: str) -> h5py.Dataset | None:
        """As CF looks it up: in the variable's group, then in those above it."""
        folder = dataset.name.strip("/").split("/")[:-1]
        for depth in range(len(folder), -1, -1):
            found = self._datasets.get("/".join([*folder[:depth], name]))
            if found is not None and found.dtype.kind in "iuf":
                return found
        return None

    def _named_by_others(self) -> set[str]:
        return {
            word.rsplit("/", 1)[-1]
            for dataset in self._datasets.values()
            for attribute in _NAMING
            for word in re.split(r"[\s,:()]+", text(dataset, attribute))
        }


def _datasets(group: h5py.Group, path: str = "") -> Iterator[tuple[str, h5py.Dataset]]:
    """In the order in which they were made, where the file keeps it; links out of it are left."""
    names = list(group)
    for name in names:
        if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
            continue
        try:
            item = group[name]
        except (KeyError, OSError):
            continue  # a link that leads nowhere
        if isinstance(item, h5py.Dataset):
            yield path + name, item
        elif isinstance(item, h5py.Group) and path.count("/") < 32:
            yield from _datasets(item, f"{path}{name}/")


def _is_drawable(dataset: h5py.Dataset) -> bool:
    if dataset.dtype.kind not in "iufb" or dataset.shape is None or dataset.ndim == 0:
        return False
    return not text(dataset, "NAME").startswith(_NETCDF_PLACEHOLDER)


def _is_real(dataset: h5py.Dataset) -> bool:
    """Packed values too, but no counts or codes."""
    return dataset.dtype.kind == "f" or bool(numbers(dataset, "scale_factor").size)


def _dimension_name(dataset: h5py.Dataset, number: int) -> str:
    """Of the dimension scale; else the label that HDF5 has for it; else its number."""
    if dataset.is_scale and dataset.ndim == 1:
        return str(dataset.name).rsplit("/", 1)[-1]
    dimension = dataset.dims[number]
    names = [scale.name.rsplit("/", 1)[-1] for scale in dimension.values() if scale.name]
    return str(names[0] if names else dimension.label or number)


def _describes_grid(name: str, dataset: h5py.Dataset, named: set[str]) -> bool:
    return (
        dataset.is_scale
        or name.rsplit("/", 1)[-1] in named
        or _is_latitude(dataset)
        or _is_longitude(dataset)
        or is_time(text(dataset, "units"))
        or bool(text(dataset, "grid_mapping_name") or text(dataset, "cf_role"))
        or (dataset.ndim == 1 and text(dataset, "axis") in ("X", "Y", "Z", "T"))
    )


def _is_latitude(dataset: h5py.Dataset) -> bool:
    return text(dataset, "standard_name") == "latitude" or bool(
        _LATITUDE.match(text(dataset, "units"))
    )


def _is_longitude(dataset: h5py.Dataset) -> bool:
    return text(dataset, "standard_name") == "longitude" or bool(
        _LONGITUDE.match(text(dataset, "units"))
    )


def _is_monotonic(values: np.ndarray, is_longitude: bool) -> bool:
    points = values.astype(np.float64)
    if is_longitude:
        points = np.unwrap(points, period=360)
    steps = np.diff(points)
    return bool(np.isfinite(points).all() and ((steps > 0).all() or (steps < 0).all()))


def _bound(dataset: h5py.Dataset) -> float | None:
    """The absolute bound that Neve's filter holds; 0 where it keeps every bit."""
    filters = dataset.id.get_create_plist()
    for i in range(filters.get_nfilters()):
        number, _, words, _ = filters.get_filter(i)
        if number in FILTER_IDS:
            return stored_bound(words)
    return None
