# SPDX-License-Identifier: BSD-3-Clause
"""The log of a series' choices as a text, which Neve's operator of ADIOS2 writes: the rules in the
first line, the names of the columns, and a line for each choice, with commas between.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._errors import CORRUPT, USAGE, Error

_BEGIN = "# neve choices "
VERSION = 1
_NUMBERS = ("delta", "speed_weight", "ratio_weight")


def is_text_log(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_BEGIN)) == _BEGIN.encode()
    except OSError:
        return False


def read(
    path: Path, types: Mapping[str, Callable[[str], Any]]
) -> tuple[dict[str, Any], list[list[Any]]]:
    """Rules and rows of a file that is_text_log; `types`: of the columns, in their order."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        first = file.readline().rstrip("\n").removeprefix(_BEGIN)
        text = file.read()
    version, _, said = first.partition(": ")
    if version != str(VERSION):
        raise Error(
            f"{path}: a log of choices of version {version[:20]}; allowed is {VERSION}",
            USAGE if version.isdecimal() else CORRUPT,
        )
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))
        if not lines or lines[0] != list(types):
            raise ValueError(f"its columns are not {', '.join(types)}")
        return _rules(said), [_row(line, types) for line in lines[1:]]
    except (ValueError, csv.Error) as error:
        raise Error(f"{path}: its log of choices cannot be read: {error}", CORRUPT) from None


def _rules(text: str) -> dict[str, Any]:
    said = dict(item.split("=", 1) for item in text.split(";"))
    return {name: float(value) if name in _NUMBERS else value for name, value in said.items()}


def _row(line: Sequence[str], types: Mapping[str, Callable[[str], Any]]) -> list[Any]:
    return [read(text) for read, text in zip(types.values(), line, strict=True)]
