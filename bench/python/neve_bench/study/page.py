# SPDX-License-Identifier: BSD-3-Clause
"""Headings, paragraphs, tables and pictures as one HTML file with the pictures in it, or as
Markdown with the pictures beside it.
"""

from __future__ import annotations

import base64
import dataclasses
import html
import re
from collections.abc import Sequence
from typing import Any

from .. import report

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1080px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px; }
th, td { border-bottom: 1px solid #ddd; padding: 2px 9px; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; }
pre { background: #f4f4f4; padding: .6em; overflow-x: auto; font-size: 12px; }
"""


@dataclasses.dataclass(frozen=True)
class Block:
    kind: str  # heading, text, list, code, table, picture
    content: Any
    name: str = ""  # a picture's
    header: tuple[str, ...] = ()  # a table's
    only: str = ""  # "html" or "markdown": the other one is without it


class Page:
    def __init__(self, title: str):
        self.title = title
        self.blocks: list[Block] = []

    def heading(self, text: str) -> None:
        self.blocks.append(Block("heading", text))

    def text(self, text: str) -> None:
        """`**strong**` is known in it."""
        self.blocks.append(Block("text", text))

    def points(self, lines: Sequence[str]) -> None:
        self.blocks.append(Block("list", list(lines)))

    def code(self, text: str) -> None:
        self.blocks.append(Block("code", text))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.blocks.append(Block("table", [list(row) for row in rows], header=tuple(header)))

    def picture(self, name: str, png: bytes) -> None:
        self.blocks.append(Block("picture", png, name=name))

    def pictures(self) -> dict[str, bytes]:
        return {block.name: block.content for block in self.blocks if block.kind == "picture"}

    def html(self) -> str:
        body = "\n".join(_html(block) for block in self.blocks if block.only != "markdown")
        title = html.escape(self.title)
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
            f"{body}\n</body>\n</html>\n"
        )

    def markdown(self) -> str:
        shown = [_markdown(block) for block in self.blocks if block.only != "html"]
        return "\n\n".join([f"# {_plain(self.title)}", *shown]) + "\n"


def _inline(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html.escape(text))


def _html(block: Block) -> str:
    if block.kind == "heading":
        return f"<h2>{html.escape(block.content)}</h2>"
    if block.kind == "text":
        return f"<p>{_inline(block.content)}</p>"
    if block.kind == "list":
        return "<ul>" + "".join(f"<li>{_inline(line)}</li>" for line in block.content) + "</ul>"
    if block.kind == "code":
        return f"<pre>{html.escape(block.content)}</pre>"
    if block.kind == "picture":
        data = base64.b64encode(block.content).decode()
        return f'<p><img alt="{html.escape(block.name)}" src="data:image/png;base64,{data}"></p>'
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in block.header)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n"
        for row in block.content
    )
    return f"<table>\n<tr>{head}</tr>\n{lines}</table>"


def _plain(text: str) -> str:
    """Words of a deck, of which none is markup: on one line, every sign that could be escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&])", r"\\\1", " ".join(text.split()))


def _strong(text: str) -> str:
    """The same, but that `**strong**` is known."""
    parts = re.split(r"\*\*(.+?)\*\*", text)
    return "".join(f"**{_plain(p)}**" if i % 2 else _spaced(p) for i, p in enumerate(parts))


def _spaced(text: str) -> str:
    """Between strong words: the blanks at both ends stay."""
    begin = " " if text[:1].isspace() else ""
    end = " " if text[-1:].isspace() and text.strip() else ""
    return begin + _plain(text) + end


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _markdown(block: Block) -> str:
    if block.kind == "heading":
        return f"## {_plain(block.content)}"
    if block.kind == "list":
        return "\n".join(f"- {_strong(line)}" for line in block.content)
    if block.kind == "code":
        return _fenced(block.content)
    if block.kind == "picture":
        return f"![{_plain(block.name)}]({block.name}.png)"
    if block.kind == "table":
        rows = [[_plain(cell) for cell in row] for row in block.content]
        return report.table([_plain(head) for head in block.header], rows)
    return _strong(block.content)
