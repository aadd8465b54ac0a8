# SPDX-License-Identifier: BSD-3-Clause
"""`neve study acb`: arguments, plan, report."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

from neve._command import command_path
from neve._errors import Error

from ..machines import machines_of
from ..paper import output
from ..paper.command import SCRATCH, Paper, Planned, Reported, refuse_other_code
from ..paper.item import Finding, Item
from ..records import Records
from ..study.page import Page
from . import cases, mpi_io, plan, points, requests, work
from .items import ITEMS
from .results import Results
from .settings import Settings
from .words import WORDS

RANKS = (1, 2, 4, 8)
RANKS_OF_CORE = 8  # at most
UNITS, BOX_CELLS = (1, 1, 1), 16
MOST_UNITS, MOST_BOX_CELLS = 64, 128
SOURCE = (
    "Devendran et al., Collective I/O Optimizations for Adaptive Mesh Refinement Data Writes on "
    "Lustre File System, CUG 2016"
)
EXAMPLES = """examples:
  neve study acb                                   every item, in minutes
  neve study acb --items table-1 figure-6 figure-13
  neve study acb --ranks 1 2 4 --box-cells 8 --mpi-io ompio --into small
  neve study acb --into small --report-only        the page again, from what is measured
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what is modelled and measured")
    what.add_argument(
        "--items",
        nargs="+",
        choices=[item.name for item in ITEMS],
        metavar="ITEM",
        help=f"of {', '.join(item.name for item in ITEMS)} (all)",
    )
    what.add_argument(
        "--units",
        type=_units,
        default=UNITS,
        metavar="N,N,N",
        help="units of 225 boxes along x, y and z, of what is measured here (1,1,1)",
    )
    what.add_argument(
        "--box-cells",
        type=_whole(1, MOST_BOX_CELLS),
        default=BOX_CELLS,
        metavar="N",
        help=f"edge of a box of what is measured here ({BOX_CELLS}; the paper's is 64)",
    )
    what.add_argument(
        "--ranks",
        nargs="+",
        type=_ranks,
        default=list(RANKS),
        metavar="N",
        help=f"of what is measured here ({' '.join(map(str, RANKS))})",
    )
    what.add_argument(
        "--repeats",
        type=_whole(1, 1000),
        default=3,
        metavar="N",
        help="timed writes of each strategy; the median counts (3)",
    )
    what.add_argument(
        "--mpi-io",
        nargs="+",
        choices=mpi_io.NAMES,
        metavar="NAME",
        help="MPI-IO to measure with: ompio, romio (all that the MPI library has)",
    )
    what.add_argument(
        "--system",
        choices=cases.SYSTEMS,
        default=cases.EDISON,
        help="whose numbers the model has where the paper names none: boxes aggregated at a time "
        "(edison)",
    )


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(
                f"'{text}'; allowed are whole numbers from {least} to {most}"
            )
        return int(text)

    return read


def _ranks(text: str) -> int:
    """Far more ranks than cores measure how cores are shared, for hours."""
    return _whole(1, RANKS_OF_CORE * len(os.sched_getaffinity(0)))(text)


def _units(text: str) -> tuple[int, int, int]:
    words = text.split(",")
    if len(words) != 3:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed are three whole numbers, as 1,1,1")
    x, y, z = map(_whole(1, MOST_UNITS), words)
    return x, y, z


def _settings(options: argparse.Namespace) -> Settings:
    there = tuple(mpi_io.components())
    asked = tuple(dict.fromkeys(options.mpi_io or there))
    missing = [name for name in asked if name not in there]
    if missing:
        raise Error(
            f"--mpi-io {missing[0]}: the MPI library does not have it; it has "
            f"{', '.join(there) or 'no choice'}"
        )
    return Settings(
        tuple(dict.fromkeys(options.items or (item.name for item in ITEMS))),
        tuple(options.units),
        options.box_cells,
        tuple(sorted(set(options.ranks))),
        asked,
        options.repeats,
        options.system,
    )


def prepare(
    options: argparse.Namespace,
    records: Records,
    _: Callable[[Sequence[Any]], None],
    __: Callable[[str], None],
) -> Planned:
    settings = _settings(options)
    command = command_path()
    paths = {
        "neve": str(command),
        "neve-bench": str(command.with_name("neve-bench")),
        "scratch": str(records.folder.resolve() / SCRATCH),
    }
    units = plan.units(plan.wanted(settings), paths)
    content = {
        "code": work.version(command),
        "settings": settings.as_json(),
        "units": [{"key": u.key, "name": u.name, "request": u.request} for u in units],
    }
    return Planned(units, content)


def report_of(
    content: dict[str, Any],
    records: Records,
    with_pictures: bool,
    tick: Callable[[str], None],
) -> Reported:
    results = _results(content, records)
    tick("what was measured is read")
    findings = _findings(results)
    output.settle_pictures(findings.values(), with_pictures, tick)
    tick("the page")
    rows = list(points.rows(results))
    failures = results.failures()
    recorded = {
        "paper": SOURCE,
        "command": content["command"],
        "date": content["date"],
        "version": content["version"],
        "machines": results.machines,
        "settings": results.settings.as_json(),
        "items": output.as_json(findings),
        "points": rows,
        "failures": [{"what": requests.name_of(one), "error": error} for one, error in failures],
    }
    page = _page(results, findings, content)
    return Reported(page, points.COLUMNS, rows, recorded, len(failures), 0, 0)


def _results(content: dict[str, Any], records: Records) -> Results:
    """What is recorded of a plan."""
    refuse_other_code(content, work.version(command_path()), records.folder)
    read = {
        requests.from_json(unit["request"]): record
        for unit in content["units"]
        if (record := records.read(unit["key"])) is not None
    }
    return Results(Settings.from_json(content["settings"]), read, machines_of(read.values()))


def _findings(results: Results) -> dict[Item, Finding]:
    failed = dict(results.failures())
    findings = {}
    for item in ITEMS:
        if item.name in results.settings.items:
            finding = item.find(results)
            needs = list(dict.fromkeys(item.needs(results.settings)))
            errors = [failed[one] for one in needs if one in failed]
            finding.add_failures(errors, len(needs), f"see {output.FAILED_HEADING}")
            findings[item] = finding
    return findings


def _page(results: Results, findings: dict[Item, Finding], content: dict[str, Any]) -> Page:
    page = Page("ACB redone")
    page.text(f"{SOURCE}. Words are explained at the end.")
    page.code(content["command"])
    page.points(_head(results, content))
    output.add_items(page, findings)
    failures = [(requests.name_of(one), error) for one, error in results.failures()]
    output.add_failures(page, failures)
    output.add_words(page, WORDS)
    return page


def _head(results: Results, content: dict[str, Any]) -> list[str]:
    """What was measured, where, with which settings."""
    settings = results.settings
    io = f" by {' and '.join(settings.mpi_io)}" if settings.mpi_io else ""
    return [
        *output.head(content, results.machines, len(results.records), len(results.failures())),
        f"measured here: {' '.join(settings.bench_words)}, on "
        f"{', '.join(map(str, settings.ranks))} ranks{io}; the median of {settings.repeats}",
        "the paper's machines, Edison and Cori, are the model's; a line says by the model, or "
        "measured here",
    ]


PAPER = Paper(
    "acb",
    "Redo the tables and figures of the ACB paper (CUG 2016) by model and measurement",
    EXAMPLES,
    "neve_bench.acb.work",
    add_arguments,
    ("items", "units", "box_cells", "ranks", "repeats", "mpi_io", "system"),
    prepare,
    report_of,
)
