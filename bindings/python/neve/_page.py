# SPDX-License-Identifier: BSD-3-Clause
"""One HTML file that needs nothing else: tables that can be sorted, and pictures in it."""

from __future__ import annotations

import base64
import io
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from ._picture import pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 110
# Of a character; surrogates stand for bytes of a path that are no UTF-8.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1280px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px; }
th, td { border-bottom: 1px solid #ddd; padding: 2px 9px; text-align: right; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; max-width: 34em; }
th[data-sort] { cursor: pointer; text-decoration: underline dotted; }
tr.sum td { font-weight: 600; background: #f4f4f4; }
img { max-width: 100%; }
.warnings { border-left: 5px solid #d55e00; padding: .1em 1em; background: #fdf3ec; }
.wide { overflow-x: auto; }
"""
# A click on a column's head puts the largest first, a second one the smallest; sums stay below.
SCRIPT = """
for (const head of document.querySelectorAll("th[data-sort]")) head.onclick = () => {
  const body = head.closest("table").tBodies[0], column = head.cellIndex;
  const down = head.dataset.sort !== "down";
  for (const other of head.parentNode.cells) if (other.dataset.sort) other.dataset.sort = "none";
  head.dataset.sort = down ? "down" : "up";
  const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const rows = [...body.rows].filter(row => row.className !== "sum");
  const isWord = (a, b) => isNaN(key(a)) || isNaN(key(b));
  rows.sort((a, b) => isWord(a, b) ? key(a).localeCompare(key(b)) : key(b) - key(a));
  if (!down) rows.reverse();
  rows.reverse().forEach(row => body.prepend(row));
};
"""


class Cell(NamedTuple):
    text: str
    value: float | None = None  # to sort by


def shown(text: str) -> str:
    """A name with what no reader sees as \\xNN, \\uNNNN or \\UNNNNNNNN: control characters, and
    those that reorder, join or hide the text beside them (tools/common/visible.cpp shows the same).
    """
    return "".join(c if unicodedata.category(c) not in _UNSEEN else _escape(c) for c in text)


def _escape(character: str) -> str:
    point = ord(character)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def shown_lines(text: str) -> str:
    """The same of text of several lines."""
    return "\n".join(map(shown, text.split("\n")))


def _cell_html(cell: Cell | str) -> str:
    if isinstance(cell, str):
        cell = Cell(cell)
    value = "" if cell.value is None else f' data-value="{cell.value}"'
    return f"<td{value}>{escape(shown(cell.text))}</td>"


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[Cell | str]],
    sums: Sequence[Sequence[Cell | str]] = (),
    over: str = "",
    sortable: bool = False,
) -> str:
    """`over` is a first row of heads, as HTML; `sums` are rows that stay below."""
    mark = ' data-sort="none"' if sortable else ""
    head = "".join(f"<th{mark}>{escape(shown(name))}</th>" for name in heads)
    lines = ["<tr>" + "".join(map(_cell_html, row)) + "</tr>" for row in rows]
    lines += ['<tr class="sum">' + "".join(map(_cell_html, row)) + "</tr>" for row in sums]
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table>\n<thead>{over}<tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody>\n</table></div>"
    )


def picture(figure: Figure, words: str) -> str:
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=DPI)
    pyplot().close(figure)
    data = base64.b64encode(image.getvalue()).decode()
    return f'<p><img alt="{escape(shown(words))}" src="data:image/png;base64,{data}"></p>'


def document(title: str, body: str) -> str:
    """`title` as text, `body` as HTML."""
    title = escape(shown(title))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n"
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
