# SPDX-License-Identifier: BSD-3-Clause
"""Files that users see are written here: whole or not at all, keeping the mode of the replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ._core import GrowingFile
from ._core import write_file as _write_file


def write_bytes(path: str | Path, content: bytes) -> None:
    """Replaces the file, or makes it. A failure is `neve.Error`, and leaves what was there."""
    _write_file(os.fsencode(path), content)


def write_text(path: str | Path, text: str) -> None:
    write_bytes(path, text.encode())


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Where to write the file, part by part: nothing is there yet. It gets its name at the end of
    the `with` block. An exception in the block leaves what was there.
    """
    file = GrowingFile(os.fsencode(path))
    try:
        yield Path(os.fsdecode(file.path))
        file.commit()
    finally:
        file.discard()
