# SPDX-License-Identifier: BSD-3-Clause
"""Files that users see are written here: whole or not at all, keeping the mode of the replaced."""

from __future__ import annotations

import os
from pathlib import Path

from ._core import write_file as _write_file


def write_bytes(path: str | Path, content: bytes) -> None:
    """Replaces the file, or makes it. A failure is `neve.Error`, and leaves what was there."""
    _write_file(os.fsencode(path), content)


def write_text(path: str | Path, text: str) -> None:
    write_bytes(path, text.encode())
