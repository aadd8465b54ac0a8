# SPDX-License-Identifier: BSD-3-Clause
"""What netCDF's conventions say in attributes: names, units, missing and packed values."""

from __future__ import annotations

from dataclasses import dataclass

import h5py
import numpy as np

from ._drawing import Masked

# What netCDF writes where nobody has written, by kind and bytes of a number.
NETCDF_FILL = {
    "f4": 9.969209968386869e36,
    "f8": 9.969209968386869e36,
    "i1": -127,
    "i2": -32767,
    "i4": -2147483647,
    "u2": 65535,
    "u4": 4294967295,
}


def text(dataset: h5py.Dataset, name: str) -> str:
    """Empty where the attribute is missing or no text."""
    try:
        value = dataset.attrs.get(name)
    except (OSError, TypeError, ValueError):
        return ""  # of a type that h5py does not read
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.ravel()[0]
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    return value.strip() if isinstance(value, str) else ""


def numbers(dataset: h5py.Dataset, name: str) -> np.ndarray:
    """Of an attribute; none where it is missing or no number."""
    try:
        value = np.ravel(dataset.attrs.get(name, []))
    except (OSError, TypeError, ValueError):
        return np.zeros(0)
    return value if value.dtype.kind in "iuf" else np.zeros(0)


@dataclass(frozen=True)
class Decoding:
    """From stored numbers to values: what is missing, and what packing has done."""

    missing: tuple[float, ...] = ()
    low: float = -np.inf
    high: float = np.inf
    scale: float = 1.0
    offset: float = 0.0
    unsigned: bool = False

    def values(self, stored: np.ndarray) -> Masked:
        if self.unsigned and stored.dtype.kind == "i":
            stored = stored.view(stored.dtype.str.replace("i", "u"))
        mask = np.zeros(stored.shape, bool)
        if stored.dtype.kind == "f":
            mask |= ~np.isfinite(stored)
        for value in self.missing:
            # In the dataset's own precision: 1e20 means the float32 nearest to it.
            with np.errstate(over="ignore"):
                mask |= stored == np.asarray(value).astype(stored.dtype)
        with np.errstate(invalid="ignore"):
            if np.isfinite(self.low):
                mask |= stored < self.low
            if np.isfinite(self.high):
                mask |= stored > self.high
        if (self.scale, self.offset) != (1.0, 0.0):
            stored = stored * self.scale + self.offset
        return np.ma.array(stored, mask=mask)


def decoding_of(dataset: h5py.Dataset) -> Decoding:
    missing = [*numbers(dataset, "_FillValue"), *numbers(dataset, "missing_value")]
    if not len(numbers(dataset, "_FillValue")):
        default = NETCDF_FILL.get(dataset.dtype.newbyteorder("<").str[1:])
        if default is not None and dataset.dtype.itemsize > 1:
            missing.append(default)
    limits = numbers(dataset, "valid_range")
    low, high = limits if len(limits) == 2 else (-np.inf, np.inf)
    for value in numbers(dataset, "valid_min"):
        low = value
    for value in numbers(dataset, "valid_max"):
        high = value
    if low > high:  # as some models write it where they know no limits
        low, high = -np.inf, np.inf
    scale, offset = numbers(dataset, "scale_factor"), numbers(dataset, "add_offset")
    return Decoding(
        tuple(float(v) for v in missing),
        float(low),
        float(high),
        float(scale[0]) if len(scale) else 1.0,
        float(offset[0]) if len(offset) else 0.0,
        text(dataset, "_Unsigned").lower() == "true",
    )


def first_text(dataset: h5py.Dataset, *names: str) -> str:
    """The first of the attributes that says something."""
    return next((found for name in names if (found := text(dataset, name))), "")


def units_of(dataset: h5py.Dataset) -> str:
    """Empty where the attribute says that there are none."""
    units = text(dataset, "units")
    return "" if units in ("1", "none", "-", "unitless", "dimensionless") else units
