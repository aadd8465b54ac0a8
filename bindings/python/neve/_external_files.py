# SPDX-License-Identifier: BSD-3-Clause
"""Other files that an HDF5 file leads to: by external links, external storage, virtual datasets.

What src/io/hdf5/external_files.cpp is for the command: a file of unknown origin must not decide
which files of its reader are read. Those in its own folder or below, symbolic links resolved, are
allowed.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import h5py

from ._errors import FAILURE, USAGE, Error


def check(file: h5py.File, path: Path) -> None:
    """To be called after a file was opened and before anything in it is."""
    folder = path.resolve().parent
    seen = {path.resolve()}
    waiting = deque([path])
    while waiting:
        at = waiting.popleft()
        if at == path:
            found = list(_named_places(file, at))
        else:
            try:
                with h5py.File(at, "r") as other:
                    found = list(_named_places(other, at))
            except OSError:
                continue  # its reader will find the same
        for what, places in found:
            target = _first_existing(what, at, places, folder)
            if target is not None and target.resolve() not in seen:
                seen.add(target.resolve())
                waiting.append(target)


def _named_places(file: h5py.File, path: Path) -> Iterator[tuple[str, list[Path]]]:
    try:
        yield from _places(file, path)
    except UnicodeDecodeError as error:
        raise Error(
            f"{path}: a name in it, {error.object!r}, is not UTF-8, which h5py cannot look up"
        ) from None


def _first_existing(what: str, by: Path, places: list[Path], folder: Path) -> Path | None:
    """What HDF5 would open: it looks on where it cannot open what it finds."""
    for place in places:
        if not os.path.exists(place):
            continue
        if not place.resolve().is_relative_to(folder):
            raise Error(
                f"{by}: {what} leads to {place}, which lies outside of {folder}; allowed are files "
                "in that folder and below, others with follow_external",
                USAGE,
            )
        # To open a pipe waits for somebody at its other end; a device may do anything. HDF5 tries a
        # folder in vain.
        if not place.is_file() and not place.is_dir():
            raise Error(f"{by}: {what} leads to {place}, which is not a regular file", FAILURE)
        if place.is_file() and h5py.is_hdf5(place):
            return place
    return None


def _places(file: h5py.File, path: Path) -> Iterator[tuple[str, list[Path]]]:
    """Of each other file that is named: where in this file, and where HDF5 looks for it."""
    groups = deque([file["/"]])
    known = set()
    while groups:
        group = groups.pop()
        for name in group:
            place = f"{group.name.rstrip('/')}/{name}"
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                yield (
                    f"{place}, an external link,",
                    _search(link.filename, "HDF5_EXT_PREFIX", path),
                )
            if not isinstance(link, h5py.HardLink):
                continue
            try:
                item = group[name]
            except (KeyError, OSError, RuntimeError):
                continue  # its reader will find the same
            if isinstance(item, h5py.Dataset):
                yield from _of_dataset(item, place, path)
            elif isinstance(item, h5py.Group):
                address = h5py.h5o.get_info(item.id).addr
                if address not in known:
                    known.add(address)
                    groups.append(item)


def _of_dataset(dataset: h5py.Dataset, place: str, path: Path) -> Iterator[tuple[str, list[Path]]]:
    creation = dataset.id.get_create_plist()
    layout = creation.get_layout()
    if layout == h5py.h5d.CONTIGUOUS:
        for i in range(creation.get_external_count()):
            name = os.fsdecode(creation.get_external(i)[0])
            yield f"{place}, by its external storage,", [_storage_place(name, path)]
    if layout == h5py.h5d.VIRTUAL:
        names = {creation.get_virtual_filename(i) for i in range(creation.get_virtual_count())}
        for name in names - {"."}:
            yield from _sources(name, place, path)


def _sources(pattern: str, place: str, path: Path) -> Iterator[tuple[str, list[Path]]]:
    """%b stands for a number from 0 on, as far as there are such files, %% for %."""
    number = 0
    while True:
        parts = [part.replace("%b", str(number)) for part in pattern.split("%%")]
        places = _search("%".join(parts), "HDF5_VDS_PREFIX", path)
        yield f"{place}, a virtual dataset,", places
        number += 1
        has_number = any("%b" in part for part in pattern.split("%%"))
        if not has_number or not any(os.path.exists(p) for p in places):
            return


def _search(name: str, prefixes: str, by: Path) -> list[Path]:
    """Where HDF5 looks for the file of an external link or a virtual dataset, in its order."""
    places, wanted = [], Path(name)
    if wanted.is_absolute():
        places.append(wanted)
        wanted = Path(wanted.name)  # where a whole folder was moved
    places += [Path(p) / wanted for p in os.environ.get(prefixes, "").split(":") if p]
    return [*places, by.absolute().parent / wanted, wanted, by.resolve().parent / wanted]


def _storage_place(name: str, by: Path) -> Path:
    prefix = os.environ.get("HDF5_EXTFILE_PREFIX", "")
    if os.path.isabs(name) or prefix in ("", "."):
        return Path(name)
    return Path(prefix.replace("${ORIGIN}", str(by.absolute().parent), 1)) / name
