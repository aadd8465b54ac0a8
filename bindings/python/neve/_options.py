# SPDX-License-Identifier: BSD-3-Clause
"""The options of whole arrays as one record."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ._bound import Bound, parse_bound

# Those that compress() heeds itself. All others the library knows by their names.
_HEEDED_HERE = ("rel", "abs", "ratio", "psnr", "lossless", "fill", "detect_fill", "threads")


@dataclass(frozen=True)
class ArrayOptions:
    """What compress() and explain() take beside the array; compress() says what each means.

    None, and the default, stand for what the library chooses.
    """

    rel: float | None = None
    abs: float | None = None
    ratio: float | None = None
    psnr: float | None = None
    lossless: bool = False
    fill: float | None = None
    detect_fill: bool = True
    codec: str = "auto"
    arrangement: str = "auto"
    unit: int | None = None
    block: int | None = None
    merge_units: bool = False
    method: str = "auto"
    speed_weight: float = 0.0
    ratio_weight: float = 1.0
    effort: str = "fast"
    threads: int | None = None

    def bound(self, caller: str) -> Bound:
        """The one that is given; Error where there is none, or a second."""
        names = ("abs", "rel", "ratio", "psnr", "lossless")
        return parse_bound(caller, {name: getattr(self, name) for name in names})

    def texts(self) -> dict[str, str]:
        """Options as neve/options.hpp takes them: what is the library's own default is not said."""
        return {
            field.name: _text(value)
            for field in fields(self)
            if field.name not in _HEEDED_HERE
            and (value := getattr(self, field.name)) is not None
            and value != field.default
        }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
