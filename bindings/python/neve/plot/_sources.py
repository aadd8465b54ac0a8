# SPDX-License-Identifier: BSD-3-Clause
"""What a file offers to pictures, whatever kind it is of."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ._drawing import Drawing
from ._place import Place


class PlotSource(Protocol):
    path: Path
    time: float | None  # of all that it holds; None where it has none, or many

    def fields(self) -> list[str]:
        """The names of all that can be drawn."""

    def name_of(self, asked: str) -> str | None:
        """The field that is meant by a name, or None. neve.Error where it may be several."""

    def first_fields(self) -> list[str]:
        """Those that whoever names none wants to see, in the file's order."""

    def dimensions(self, field: str) -> dict[str, int]:
        """The length of each dimension of a field, slowest first; AMR files' are of the level."""

    def draw(self, field: str, place: Place) -> Drawing:
        """The plane or line that `place` leaves. Reads no more than that."""

    def close(self) -> None: ...
