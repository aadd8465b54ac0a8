# SPDX-License-Identifier: BSD-3-Clause
"""What a bench found: tables, JSON, the machine. It records what a reader needs to
judge a number, and no path of the machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from neve import _files

PROGRESS_COLUMNS = 100
WIDEST_PADDED = 40  # cells of a Markdown table


def deliver(options: argparse.Namespace, recorded: dict[str, Any], text: str) -> None:
    """Prints the report, and writes what the options of arguments.add_report ask for."""
    if options.json == "-":
        print(_json(recorded), end="")
    else:
        print(text)
        write_text(options.json, _json(recorded))
    write_text(options.output, text + "\n")


def progress(text: str) -> None:
    """On one line of a terminal; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text[:PROGRESS_COLUMNS]}", end="", file=sys.stderr, flush=True)


def heading(recorded: dict[str, Any]) -> list[str]:
    """A report's first paragraphs: the command, where it ran, with what, how it was timed."""
    of = recorded["machine"]
    parts = [f"{of['cpu']}, {of['cores']} cores, {of['system']}"]
    if "versions" in recorded:
        parts.append(", ".join(f"{name} {v}" for name, v in recorded["versions"].items()))
    if "timing" in recorded:
        parts.append(recorded["timing"])
    return [f"`{recorded['command']}`", "; ".join(parts) + "."]


def machine() -> dict[str, Any]:
    model = platform.processor() or platform.machine()
    memory_bytes = None
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
        memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except OSError:
        pass  # not Linux: what platform knows is all there is
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": None if memory_bytes is None else round(memory_bytes / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def geomean(values: Iterable[float]) -> float:
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def number(value: Any, digits: int = 3) -> str:
    """A table's number: `digits` significant ones, no exponent where it can be avoided."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 1e-3 <= abs(value) < 1e6:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        return f"{value:.{decimals}f}"
    return f"{value:.{digits - 1}e}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns also line up as plain text; all but the first are
    right-aligned. Cells beyond WIDEST_PADDED signs stand out, so that the others need no blanks
    for them.
    """
    widths = [
        max((len(row[i]) for row in [header, *rows] if len(row[i]) <= WIDEST_PADDED), default=1)
        for i in range(len(header))
    ]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join([first, *rest]) + " |"

    rule = "|" + "|".join(["-" * (widths[0] + 2), *["-" * (w + 1) + ":" for w in widths[1:]]]) + "|"
    return "\n".join([line(header), rule, *map(line, rows)])


def write_text(path: str | None, text: str) -> None:
    if path is None:
        return
    _files.write_text(path, text)


def write_json(path: str | None, content: dict[str, Any]) -> None:
    write_text(path, _json(content))


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"
