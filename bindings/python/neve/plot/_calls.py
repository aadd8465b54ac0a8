# SPDX-License-Identifier: BSD-3-Clause
"""The functions behind neve.plot's public ones and behind the command: files in, a picture out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from .._picture import write
from ._draw import Picture, draw_against, draw_compared, draw_fields
from ._film import opened
from ._view import View

Fields = str | Sequence[str] | None


def plot_file(path: str | Path, against: str | Path | None, fields: Fields, view: View) -> Picture:
    with ExitStack() as files:
        source = files.enter_context(opened(Path(path), view))
        if against is None:
            return draw_fields(source, fields, view)
        original = files.enter_context(opened(Path(against), view))
        return draw_against(source, original, fields, view)


def compare_files(original: str | Path, copy: str | Path, fields: Fields, view: View) -> Picture:
    with ExitStack() as files:
        before = files.enter_context(opened(Path(original), view))
        after = files.enter_context(opened(Path(copy), view))
        return draw_compared(before, after, fields, view)


def save(picture: Picture, out: str | Path, view: View) -> Path:
    """The path of the file: a PNG where `out` has no suffix."""
    return write(picture.figure, out, view.dpi)
