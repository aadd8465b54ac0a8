# SPDX-License-Identifier: BSD-3-Clause
"""The log of a series' choices as a text, which Neve's operator of ADIOS2 writes: the rules in the
first line, the names of the columns, and a line for each choice, with commas between. Nobody knows
who has made such a file: no more of it is held than a log can have, and rows share the values that
they have in common, so that a log takes some three times the memory that its file has bytes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from ._choice import Choice, short
from ._choice_columns import MOST_ROWS
from ._errors import CORRUPT, USAGE, Error

_BEGIN = "# neve choices "
VERSION = 1
MOST_BYTES = 2**30
MOST_ROW = 2**16  # characters
_NUMBERS = ("delta", "speed_weight", "ratio_weight")
_WHOLE = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]{1,3})?|inf|nan)", re.ASCII)
_READERS = {
    "text": (re.compile(".*", re.DOTALL), str, "a text"),
    "int": (_WHOLE, int, "a whole number"),
    "float": (_NUMBER, float, "a number such as 0.5 or 1e-07"),
}


def is_text_log(path: Path) -> bool:
    """Of a regular file."""
    try:
        with path.open("rb") as file:
            return file.read(len(_BEGIN)) == _BEGIN.encode()
    except OSError:
        return False


def read(path: Path, kinds: Mapping[str, str]) -> tuple[dict[str, Any], tuple[Choice, ...]]:
    """Rules and choices of a file that is_text_log; `kinds`: of Choice's values, in their order:
    "text", "int" or "float" by name.
    """
    place = f"{path}: its log of choices"
    if (found := path.stat().st_size) > MOST_BYTES:
        raise Error(f"{place} has {found} bytes; allowed are up to {MOST_BYTES}", CORRUPT)
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        lines = _Lines(file, place)
        said = _rules_text(lines.first(), path)
        rows = lines.rows()
        if next(rows, None) != list(kinds):
            raise Error(f"{place} has other columns than {', '.join(kinds)}", CORRUPT)
        choices = tuple(_choice(row, number, kinds, place) for number, row in enumerate(rows))
    return _rules(said, place), choices


class _Lines:
    """The first line of an open file, then rows of what lies between commas."""

    def __init__(self, file: TextIO, place: str):
        self._file = file
        self._place = place
        self._row = -1  # the names of the columns
        self._held = 0  # characters of the row that is being read

    def first(self) -> str:
        return next(self._lines(), "").rstrip("\r\n")

    def rows(self) -> Iterator[list[str]]:
        self._held = 0
        reader = csv.reader(self._lines(), strict=True)
        try:
            for row in reader:
                if self._row == MOST_ROWS:
                    raise Error(f"{self._place} has more rows than {MOST_ROWS}", CORRUPT)
                yield row
                self._row += 1
                self._held = 0
        except csv.Error:
            raise Error(
                f"{self._place}: {self._name()} cannot be read; allowed are values with commas "
                "between, in quotation marks where they hold commas or ends of lines",
                CORRUPT,
            ) from None

    def _lines(self) -> Iterator[str]:
        """As parts of a row: values in quotation marks may hold ends of lines."""
        while line := self._file.readline(MOST_ROW + 1):
            self._held += len(line)
            if self._held > MOST_ROW:
                raise Error(
                    f"{self._place}: {self._name()} has more than {MOST_ROW} characters", CORRUPT
                )
            if not line.endswith("\n"):
                raise Error(
                    f"{self._place}: {self._name()} is cut off: its line has no end", CORRUPT
                )
            yield line

    def _name(self) -> str:
        return "its head" if self._row < 0 else f"row {self._row}"


def _rules_text(line: str, path: Path) -> str:
    version, _, said = line.removeprefix(_BEGIN).partition(": ")
    if version != str(VERSION):
        raise Error(
            f"{path}: a log of choices of version {short(version)}; allowed is {VERSION}",
            USAGE if re.fullmatch(_WHOLE, version) else CORRUPT,
        )
    return said


def _rules(text: str, place: str) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    for item in text.split(";"):
        name, equals, value = item.partition("=")
        if not equals or name in rules:
            raise Error(
                f"{place}: its rules have {short(item)}; allowed is NAME=VALUE of each once, "
                "with ; between",
                CORRUPT,
            )
        kind = "float" if name in _NUMBERS else "text"
        rules[name] = _value(value, kind, f"{place}: {short(name)} of its rules")
    return rules


def _choice(row: Sequence[str], number: int, kinds: Mapping[str, str], place: str) -> Choice:
    if len(row) != len(kinds):
        raise Error(f"{place}: row {number} has {len(row)} values; needed: {len(kinds)}", CORRUPT)
    try:
        return Choice(*map(_known, row, kinds.values()))
    except ValueError:
        of_row = [
            _value(text, kind, f"{place}: {name} of row {number}")
            for (name, kind), text in zip(kinds.items(), row, strict=True)
        ]
        return Choice(*of_row)


def _known(text: str, kind: str) -> Any:
    """The value, one object for all rows that have it; ValueError where it is not allowed."""
    return _shared_text(text) if kind == "text" else _shared_number(text, kind)


@lru_cache(maxsize=2**16)  # names of very many variables
def _shared_text(text: str) -> str:
    return text


@lru_cache(maxsize=2**12)
def _shared_number(text: str, kind: str) -> Any:
    allowed, read_it, _ = _READERS[kind]
    if not allowed.fullmatch(text):
        raise ValueError
    return read_it(text)


def _value(text: str, kind: str, of_what: str) -> Any:
    try:
        return _known(text, kind)
    except ValueError:
        words = _READERS[kind][2]
        raise Error(f"{of_what} is {short(text)}; allowed is {words}", CORRUPT) from None
