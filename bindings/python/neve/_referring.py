# SPDX-License-Identifier: BSD-3-Clause
"""Files whose values lie in another one: how they name it, and what is read where it is missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def name_from(out: str | Path, source: str | Path) -> str:
    """`source` relative to the folder of `out`."""
    return os.path.relpath(Path(source).resolve(), Path(out).resolve().parent)


def keep_together(out: str | Path, source: str | Path) -> str:
    """What the user has to know of the two."""
    name = name_from(out, source)
    if os.path.basename(name) == name:
        return f"values stay in {source}: keep it beside {out}"
    return f"values stay in {source}, which {out} looks for at {name}: keep that relative place"


def in_virtual_dataset(name: str) -> str:
    """The name of a file or dataset as virtual datasets have it: HDF5 takes % for a format."""
    return name.replace("%", "%%")


def name_of_source(in_virtual: str) -> str:
    """in_virtual_dataset back."""
    return in_virtual.replace("%%", "%")


def missing_value(dtype: np.dtype) -> npt.NDArray[Any]:
    """What a virtual dataset shows where its source is not found: NaN; of integers, the lowest
    signed or the highest unsigned one. HDF5 would show zeros.
    """
    if dtype.kind == "f":
        return np.full((), np.nan, dtype)
    limits = np.iinfo(dtype)
    return np.full((), limits.min if dtype.kind == "i" else limits.max, dtype)
