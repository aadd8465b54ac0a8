# SPDX-License-Identifier: BSD-3-Clause
"""What the command reports, as an object that shows itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ._tables import Table, as_html, as_text, bound_text, size_text

Values = Mapping[str, Any]


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.3g}"


def _ratio(value: Any) -> str:
    return "" if not value else f"{value:.2f}"


def _bound(row: Values) -> str:
    if row.get("bound_abs") is not None:
        return bound_text(row["bound_abs"])
    return str(row.get("bound") or "")


# A column is shown where a row has one of its values.
_COLUMNS: dict[str, tuple[tuple[str, ...], Callable[[Values], str]]] = {
    "level": (("level",), lambda row: str(row["level"])),
    "name": (("name",), lambda row: str(row["name"])),
    "ok": (("ok",), lambda row: "ok" if row["ok"] else "BROKEN"),
    "type": (("dtype",), lambda row: str(row["dtype"])),
    "shape": (("dims",), lambda row: " x ".join(map(str, row["dims"])) or "-"),
    "values": (("raw_bytes",), lambda row: size_text(row["raw_bytes"])),
    "stored": (("stored_bytes",), lambda row: size_text(row["stored_bytes"])),
    "ratio": (("ratio",), lambda row: _ratio(row["ratio"])),
    "bound": (("bound_abs", "bound"), _bound),
    "largest error": (("max_abs_error",), lambda row: _number(row["max_abs_error"])),
    "PSNR, dB": (("psnr_db",), lambda row: _number(row["psnr_db"])),
    "as it is because": (("why_not",), lambda row: str(row["why_not"])),
}


def _rows(values: Values) -> list[Values]:
    """Those of fields and variables, wherever this report has them."""
    levels = values.get("levels")
    if levels is None:
        rows = values.get("variables", values.get("fields", []))
        return [row for row in rows if isinstance(row, Mapping)]
    return [
        {"level": level.get("level", number), **field}
        for number, level in enumerate(levels)
        for field in level.get("fields", [])
    ]


def table_of(values: Values) -> Table:
    rows = _rows(values)
    columns = {
        head: text
        for head, (keys, text) in _COLUMNS.items()
        if any(row.get(key) is not None for row in rows for key in keys)
    }

    def cell(head: str, row: Values) -> str:
        keys, text = _COLUMNS[head]
        return text(row) if any(row.get(key) is not None for key in keys) else ""

    return Table(tuple(columns), [tuple(cell(head, row) for head in columns) for row in rows])


class Report(Mapping[str, Any]):
    """What a command reports: the mapping that it prints with --json. Values at its top are
    attributes, too: `report.ratio` is `report["ratio"]`. It shows sizes, the ratio, and for each
    field or variable the bound and the largest error.

    `notes` are remarks of the command, such as what a copy leaves behind.
    """

    def __init__(self, head: str, values: Values, notes: tuple[str, ...] = ()) -> None:
        self._head = head
        self._values = dict(values)
        self.notes = notes

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._values:
            raise AttributeError(f"the report has no {name!r}; it has {', '.join(self)}")
        return self._values[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def _top(self) -> str:
        return "\n".join([self._head, *self.notes])

    def __repr__(self) -> str:
        return as_text(self._top(), table_of(self._values))

    def _repr_html_(self) -> str:
        return as_html(self._top(), table_of(self._values))
