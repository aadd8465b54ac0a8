# SPDX-License-Identifier: BSD-3-Clause
"""The file that a dataset's values are read from later.

xarray keeps the files used last open, closes others, and opens them again by their paths, in other
processes too. Values of another file must not appear under the coordinates of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xarray.backends import CachingFileManager

from .. import plotfile as _plotfile
from .._errors import FAILURE, Error

if TYPE_CHECKING:  # in older versions of xarray it is no generic class
    _Files: TypeAlias = CachingFileManager[_plotfile.Plotfile]


class Identity(NamedTuple):
    """Of the file, or of the Header of a directory."""

    inode: int
    size: int
    modified: int  # nanoseconds


def identity_of(path: str | Path) -> Identity:
    path = Path(path)
    try:
        found = (path / "Header" if path.is_dir() else path).stat()
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", FAILURE) from None
    return Identity(found.st_ino, found.st_size, found.st_mtime_ns)


def check_same(path: str | Path, opened: Identity) -> None:
    found = identity_of(path)
    changes = [
        f"its {what} was {before} and is {now}"
        for what, before, now in zip(
            ("inode", "size", "time of modification in ns"), opened, found, strict=True
        )
        if before != now
    ]
    if changes:
        raise Error(
            f"{path} was replaced or changed after it was opened ({', '.join(changes)}); its "
            "values no longer belong to this dataset's coordinates and bounds. Open it again",
            FAILURE,
        )


class KeptFile:
    """It can be pickled, and then remembers which file was opened.

    Raises neve.Error, from all but close(), where the path leads to another file meanwhile.
    """

    def __init__(self, path: Path, follow_external: bool):
        self.path = path
        self.follow_external = follow_external
        self.identity = identity_of(path)
        options = {"follow_external": follow_external, "opened": self.identity}
        self._files: _Files = CachingFileManager(_open_file, str(path), mode="r", kwargs=options)

    @contextmanager
    def open(self) -> Iterator[_plotfile.Plotfile]:
        with self._files.acquire_context() as plotfile:
            try:
                yield plotfile
            finally:  # a directory's files are opened as they are read
                check_same(self.path, self.identity)

    def close(self) -> None:
        self._files.close()


def _open_file(path: str, mode: str, follow_external: bool, opened: Identity) -> _plotfile.Plotfile:
    """`mode` is xarray's: it forgets, when it is pickled, that an opener takes none."""
    assert mode == "r"
    check_same(path, opened)
    return _plotfile.open(path, follow_external=follow_external)
