# SPDX-License-Identifier: BSD-3-Clause
"""A study's files: one page, the same as Markdown, every measured point as CSV, all of it as
JSON.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from neve import _files

from .. import report
from ..machines import Machine, named
from ..study.page import Block, Page
from .item import Finding, Item
from .unit import brief

SUFFIXES = ("html", "md", "csv", "json")
PICTURES = "pictures"  # the folder of those of the Markdown page
SHORT = 100  # signs of a reason in an item's line
FAILED_HEADING = "What failed"
MOST_LISTED = 40  # failures and inputs left aside that the page names
HEADER = ("item", "what", "paper", "paper's way by us", "Neve's own", "verdict")


def write(
    folder: Path,
    name: str,
    page: Page,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    recorded: dict[str, Any],
) -> list[str]:
    """Writes NAME.html, NAME.md, NAME.csv, NAME.json and pictures/; their names."""
    (folder / PICTURES).mkdir(exist_ok=True)
    for picture, png in page.pictures().items():
        _files.write_bytes(folder / f"{picture}.png", png)
    texts = {
        f"{name}.html": page.html(),
        f"{name}.md": page.markdown(),
        f"{name}.csv": as_csv(columns, rows),
    }
    for file, text in texts.items():
        report.write_text(str(folder / file), text)
    report.write_json(str(folder / f"{name}.json"), recorded)
    return [*texts, f"{name}.json"]


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def add_items(page: Page, findings: Mapping[Item, Finding]) -> None:
    """All items, then each with its own tables and pictures. Markdown is read as text, too: it
    has a short line an item where the page has a table of whole sentences, and these below.
    """
    rows = [
        [item.number, item.title, f.paper, f.ours, f.neve, f.said] for item, f in findings.items()
    ]
    lines = [in_short(item, finding) for item, finding in findings.items()]
    page.blocks.append(Block("table", rows, header=HEADER, only="html"))
    page.blocks.append(Block("list", lines, only="markdown"))
    for item, finding in findings.items():
        page.heading(f"{item.number}: {item.title}")
        page.text(f"**{finding.verdict}**" + (f": {finding.why}" if finding.why else "."))
        said = {"Paper": finding.paper, "Here": finding.ours, "Neve": finding.neve}
        page.blocks += [
            Block("text", f"**{who}**: {words}.", only="markdown")
            for who, words in said.items()
            if words != "-"
        ]
        page.blocks += finding.blocks


def add_list(page: Page, lines: Sequence[str]) -> None:
    """As many as are read; the JSON file has all."""
    page.points(lines[:MOST_LISTED])
    if len(lines) > MOST_LISTED:
        page.text(f"and {len(lines) - MOST_LISTED} more, which the JSON file has.")


def add_failures(page: Page, failures: Sequence[tuple[str, str]]) -> None:
    """(what, error) of each."""
    if failures:
        page.heading(FAILED_HEADING)
        add_list(page, [f"{what}: {brief(error)}" for what, error in failures])


def add_words(page: Page, words: Iterable[tuple[str, str]]) -> None:
    page.heading("Words")
    page.points([f"**{word}**: {meaning}." for word, meaning in words])


def head(
    content: Mapping[str, Any], machines: Sequence[Machine | None], done: int, failed: int
) -> list[str]:
    """Of a plan's content: which version, when, where, how much of it is measured."""
    return [
        f"Neve {content['version']}, {content['date']}",
        named(machines),
        f"{done} of {len(content['units'])} measurements are recorded"
        + (f", of which {failed} failed: see {FAILED_HEADING}" if failed else ""),
    ]


def in_short(item: Item, finding: Finding) -> str:
    """An item's line: its verdict and the begin of the reason."""
    line = f"**{item.number}**: {finding.verdict}"
    if finding.said != finding.verdict:
        return f"**{item.number}**: {finding.said}"
    reason = textwrap.shorten(finding.why, SHORT, placeholder=" ...")
    return f"{line}; {reason}" if reason else line


def as_json(findings: Mapping[Item, Finding]) -> list[dict[str, Any]]:
    return [
        {
            "item": item.name,
            "number": item.number,
            "title": item.title,
            "verdict": finding.verdict,
            "paper": finding.paper,
            "ours": finding.ours,
            "neve": finding.neve,
            "why": finding.why,
            "numbers": finding.numbers,
        }
        for item, finding in findings.items()
    ]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Block:
    return Block("table", [list(row) for row in rows], header=tuple(header))


def text(words: str) -> Block:
    return Block("text", words)


def points(lines: Sequence[str]) -> Block:
    return Block("list", list(lines))


def picture(name: str, png: bytes | Callable[[], bytes]) -> Block:
    """`name` is its place in the study's folder, without the suffix: pictures/figure-7. What gives
    the picture is called by `settle_pictures`.
    """
    return Block("picture", png, name=name)


def settle_pictures(
    findings: Collection[Finding], with_pictures: bool, tick: Callable[[str], None]
) -> None:
    """They are drawn, or left out."""
    if with_pictures:
        _draw(findings, tick)
        return
    for finding in findings:
        finding.blocks = [block for block in finding.blocks if block.kind != "picture"]


def _draw(findings: Iterable[Finding], tick: Callable[[str], None]) -> None:
    """`tick` hears what is drawn."""
    places = [
        (finding.blocks, place)
        for finding in findings
        for place, block in enumerate(finding.blocks)
        if block.kind == "picture"
    ]
    for done, (blocks, place) in enumerate(places):
        tick(f"picture {done + 1} of {len(places)}")
        if callable(blocks[place].content):
            blocks[place] = replace(blocks[place], content=blocks[place].content())
