# SPDX-License-Identifier: BSD-3-Clause
"""What objects show of themselves: headed tables, as text and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

_MOST_ROWS = 40  # of a table; the rest is counted
_WORDS = (
    "field",
    "name",
    "type",
    "ok",
    "domain",
    "as it is because",
    "method",
    "why",
)  # columns that lie left
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


class Table(NamedTuple):
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def size_text(size_bytes: float) -> str:
    """As the command writes it: "2.8 MiB"."""
    unit = 0
    while size_bytes >= 1024 and unit + 1 < len(_UNITS):
        size_bytes /= 1024
        unit += 1
    return f"{size_bytes:.0f} B" if unit == 0 else f"{size_bytes:.1f} {_UNITS[unit]}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """ "1 level", "2 levels", "3 boxes"."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def bound_text(bound_abs: float | None) -> str:
    """Of an absolute bound as files record it; 0 is lossless, None not known."""
    if bound_abs is None:
        return ""
    return "lossless" if bound_abs == 0 else f"{bound_abs:.3g}"


def _shown(table: Table) -> tuple[Sequence[tuple[str, ...]], str]:
    hidden = len(table.rows) - _MOST_ROWS
    if hidden <= 1:  # a line that says so would take the place of the row
        return table.rows, ""
    return table.rows[:_MOST_ROWS], f"... and {hidden} more"


def lines_of(table: Table) -> list[str]:
    """All rows below their heads: numbers lie right, the first column and words left."""

    def placed(column: int, cell: str, width: int) -> str:
        is_left = column == 0 or table.heads[column] in _WORDS
        return cell.ljust(width) if is_left else cell.rjust(width)

    all_rows = [table.heads, *table.rows]
    widths = [max(len(row[i]) for row in all_rows) for i in range(len(table.heads))]
    return [
        "  ".join(
            placed(i, cell, width) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in all_rows
    ]


def as_text(head: str, table: Table) -> str:
    rows, more = _shown(table)
    if not rows:
        return head
    lines = ["  " + line for line in lines_of(Table(table.heads, rows))]
    return "\n".join([head, *lines, *(["  " + more] if more else [])])


def as_html(head: str, table: Table) -> str:
    """The same for a notebook. Names come from files: they are escaped."""
    rows, more = _shown(table)
    parts = ["<div>", *([f"<p><b>{escape(head)}</b></p>"] if head else [])]
    if rows:
        parts.append(f"<table><thead>{_html_row('th', table.heads)}</thead><tbody>")
        parts += [_html_row("td", row) for row in rows]
        parts.append("</tbody></table>")
    if more:
        parts.append(f"<p>{more}</p>")
    return "".join([*parts, "</div>"])


def _html_row(tag: str, cells: Sequence[Any]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
