# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/readers.md, as the rows say it."""

from __future__ import annotations

import functools
import importlib.metadata
import re
import shutil
import subprocess
from collections.abc import Sequence

from ..conftest import ROOT
from .matrix import Row
from .sample_files import KINDS

PAGE = ROOT / "docs" / "readers.md"
BEGIN = "<!-- made by tests/cli/test_readers.py -->\n"
END = "<!-- end of the table of readers -->\n"

DISTRIBUTIONS = {"netCDF4 (Python)": "netCDF4", "yt.load": "yt", "neve.load_yt": "yt"}


@functools.cache
def _version(tool: str) -> str:
    if shutil.which(tool):
        command = [tool] if tool in ("ncdump", "nccopy") else [tool, "--version"]
        done = subprocess.run(command, capture_output=True, text=True)
        found = re.search(r"\d+\.\d+(\.\d+)?", done.stdout + done.stderr)
        assert found is not None, done.stdout + done.stderr
        return found.group()
    try:
        return importlib.metadata.version(DISTRIBUTIONS.get(tool, tool.partition(",")[0]))
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def made_table(rows: Sequence[Row]) -> str:
    """A line for each row, and below it the footnotes, numbered as they come."""
    notes: list[str] = []
    lines = [
        f"| tool | version | operation | {' | '.join(KINDS)} |\n",
        "|---" * (3 + len(KINDS)) + "|\n",
    ]
    for row in rows:
        cells = []
        for kind in KINDS:
            word, note = row.outcome(kind)
            if note and note not in notes:
                notes.append(note)
            cells.append(f"{word} ({notes.index(note) + 1})" if note else word)
        lines.append(f"| {row.tool} | {_version(row.tool)} | {row.operation} | ")
        lines[-1] += " | ".join(cells) + " |\n"
    listed = [f"{number}. {note}\n" for number, note in enumerate(notes, 1)]
    return "".join([*lines, "\n", *listed])


def without_versions(table: str) -> str:
    return re.sub(r"^(\| [^|]+) \| [^|]+ \|", r"\1 | |", table, flags=re.MULTILINE)


def _parts() -> tuple[str, str, str]:
    head, _, rest = PAGE.read_text().partition(BEGIN)
    table, _, tail = rest.partition(END)
    return head + BEGIN, table, END + tail


def shown_table() -> str:
    return _parts()[1]


def write_table(rows: Sequence[Row]) -> None:
    head, _, tail = _parts()
    PAGE.write_text(head + made_table(rows) + tail)
