# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a log of choices in an HDF5 file, of which nobody knows who has made it: nothing is
read from other files, and no more than the file can hold.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py

from ._choice import short
from ._errors import CORRUPT, Error

MOST_ROWS = 10_000_000
_MOST_RATIO = 1100  # of what filters make smaller: that of deflate's best case is 1032
_ROWS_AT_ONCE = 1000  # of texts


def read(group: h5py.Group, kinds: Mapping[str, str], path: Path) -> list[list[Any]]:
    """The values of each column, in the order of `kinds`: "text", "int" or "float" by name.

    neve.Error of code 4 says which column is not what it can be.
    """
    if lacks := [name for name in kinds if group.get(name, getlink=True) is None]:
        raise Error(f"{path}: its log of choices lacks {', '.join(lacks)}", CORRUPT)
    columns = {name: _own_dataset(group, name, path) for name in kinds}
    shapes = {dataset.shape for dataset in columns.values()}
    if len(shapes) != 1 or len(next(iter(shapes)) or ()) != 1:
        raise Error(f"{path}: the columns of its log of choices are not equally long", CORRUPT)
    for name, dataset in columns.items():
        _check_type(dataset, name, kinds[name], path)
        _check_rows(dataset, name, path)
    return [
        _texts(dataset, name, path) if kinds[name] == "text" else dataset[...].tolist()
        for name, dataset in columns.items()
    ]


def _own_dataset(group: h5py.Group, name: str, path: Path) -> h5py.Dataset:
    where = f"{path}: {name} of its log of choices"
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise Error(f"{where} is a link to elsewhere; allowed are datasets", CORRUPT)
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset):
        raise Error(f"{where} is no dataset", CORRUPT)
    creation = dataset.id.get_create_plist()
    layout = creation.get_layout()
    if layout == h5py.h5d.VIRTUAL:
        raise Error(f"{where} is a virtual dataset; its values must lie in it", CORRUPT)
    if layout == h5py.h5d.CONTIGUOUS and creation.get_external_count() > 0:
        other = short(os.fsdecode(creation.get_external(0)[0]))
        words = f"has its values in another file, {other}; they must lie in it"
        raise Error(f"{where} {words}", CORRUPT)
    return dataset


def _check_type(dataset: h5py.Dataset, name: str, kind: str, path: Path) -> None:
    if h5py.check_string_dtype(dataset.dtype) is not None:
        found = "text"
    else:
        is_simple = dataset.dtype.itemsize <= 8
        found = {"i": "int", "u": "int", "f": "float"}.get(dataset.dtype.kind * is_simple, "")
    if found != kind:
        raise Error(
            f"{path}: {name} of its log of choices is {str(dataset.dtype)[:60]}; needed: {kind}",
            CORRUPT,
        )


def _check_rows(dataset: h5py.Dataset, name: str, path: Path) -> None:
    """The shape is a number in the file: what is stored says how many rows there can be."""
    stored = dataset.id.get_storage_size()
    ratio = _MOST_RATIO if dataset.id.get_create_plist().get_nfilters() else 1
    allowed = min(MOST_ROWS, path.stat().st_size, ratio * stored // dataset.dtype.itemsize)
    if dataset.shape[0] > allowed:
        raise Error(
            f"{path}: {name} of its log of choices has {dataset.shape[0]} rows; as {stored} bytes "
            f"of it are stored, up to {allowed} are allowed",
            CORRUPT,
        )


def _texts(dataset: h5py.Dataset, name: str, path: Path) -> list[str]:
    """All rows may refer to one long text: what they hold together is bounded, too."""
    rows = dataset.shape[0]
    allowed = _MOST_RATIO * path.stat().st_size
    texts: list[str] = []
    read = 0
    for begin in range(0, rows, _ROWS_AT_ONCE):
        some = dataset.asstr(errors="replace")[begin : begin + _ROWS_AT_ONCE].tolist()
        read += sum(map(len, some))
        if read > allowed:
            raise Error(
                f"{path}: {name} of its log of choices has more than {allowed} characters, which "
                "a file of its size cannot hold",
                CORRUPT,
            )
        texts += some
    return texts
