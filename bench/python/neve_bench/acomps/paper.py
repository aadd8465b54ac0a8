# SPDX-License-Identifier: BSD-3-Clause
"""`neve study acomps`: arguments, inputs, plan, report."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

from neve._command import command_path

from ..machines import machines_of
from ..paper import output
from ..paper.command import SCRATCH, Paper, Planned, Reported, refuse_other_code
from ..paper.item import Finding, Item
from ..records import Records
from ..study.page import Page
from . import inputs, plan, points, requests, work
from .inputs import Inputs
from .items import ITEMS
from .results import Results, Subject
from .settings import Settings
from .words import WORDS

MOST_MIB = 1.0
REPEATS = 3
RANKS_OF_CORE = 8  # at most
GRID = (181, 151)
LEAST_SIDE, MOST_SIDE = 16, 4096
MEMBERS, CYCLES = 2, 1
STORAGE = 129.0  # MB/s: of slide 11's conversion (docs/acomps.md)
SOURCE = (
    "Singhal and Sussman, Adaptive Compression to Improve I/O Performance for Climate Simulations, "
    "DRBSD-2 2017, the slides"
)
EXAMPLES = """examples:
  neve study acomps                                every slide, in minutes
  neve study acomps wrfout.nc --into mine          variables of one's own files
  neve study acomps out_*.nc --variables T QVAPOR  the same variables, step by step
  neve study acomps --items slide-5 slide-8 --most-mib 0.2 --repeats 1
  neve study acomps --into mine --report-only      the page again, from what is measured
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="netCDF, HDF5, .npy, plotfiles, and folders that hold some; without any, "
        "../shared/data/climate where it is there, and the sample that comes with Neve",
    )
    what = parser.add_argument_group("what is measured")
    what.add_argument(
        "--items",
        nargs="+",
        choices=[item.name for item in ITEMS],
        metavar="ITEM",
        help=f"of {', '.join(item.name for item in ITEMS)} (all)",
    )
    what.add_argument(
        "--variables",
        nargs="+",
        metavar="NAME",
        help="of the files (all of float32 and float64 with 1024 values or more)",
    )
    what.add_argument(
        "--most-mib",
        type=_number(2**-10, 2**14),
        default=MOST_MIB,
        metavar="MIB",
        help=f"of a variable, or of a step of a series; its rest is cut off ({MOST_MIB:g})",
    )
    what.add_argument(
        "--repeats",
        type=_whole(1, 1000),
        default=REPEATS,
        metavar="N",
        help=f"of what is timed; the least counts ({REPEATS}; of the cycle 2 at most)",
    )
    cycle = parser.add_argument_group("the ensemble cycle (slides 2, 11, 14, 15)")
    cycle.add_argument(
        "--grid",
        type=_grid,
        default=GRID,
        metavar="NX,NY",
        help=f"cells of the model ({GRID[0]},{GRID[1]}, the slides')",
    )
    cycle.add_argument(
        "--members", type=_whole(2, 10_000), default=MEMBERS, metavar="N", help=f"({MEMBERS})"
    )
    cycle.add_argument(
        "--cycles", type=_whole(1, 1000), default=CYCLES, metavar="N", help=f"({CYCLES})"
    )
    cycle.add_argument(
        "--ranks",
        type=_ranks,
        default=min(2, len(os.sched_getaffinity(0))),
        metavar="N",
        help="of the cycle, and threads of slide 16 (2, or one where there is one core)",
    )
    cycle.add_argument(
        "--storage",
        type=_number(1e-3, 1e9),
        default=STORAGE,
        metavar="MBPS",
        help=f"bandwidth of the storage that is imitated, for all ranks together ({STORAGE:g}: "
        "that of the slides' conversion)",
    )


def _number(least: float, most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"'{text}'; allowed are numbers from {least:g} to {most:g}"
            )
        return value

    return read


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


def _grid(text: str) -> tuple[int, int]:
    words = text.split(",")
    if len(words) != 2:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed are two whole numbers, as 181,151")
    nx, ny = map(_whole(LEAST_SIDE, MOST_SIDE), words)
    return nx, ny


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        tuple(dict.fromkeys(options.items or (item.name for item in ITEMS))),
        tuple(dict.fromkeys(options.variables or ())),
        options.most_mib,
        options.repeats,
        options.ranks,
        tuple(options.grid),
        options.members,
        options.cycles,
        options.storage,
    )


def prepare(
    options: argparse.Namespace,
    records: Records,
    _: Callable[[Sequence[Any]], None],
    say: Callable[[str], None],
) -> Planned:
    settings = _settings(options)
    command = command_path()
    words = options.files or inputs.default_words(command)
    found = inputs.find(words, settings.variables, say, bool(options.files))
    for one in found.left_aside:
        if one.is_named:
            say(f"{one.name}: {one.reason}")
    subject = Subject(settings, found)
    paths = {
        "neve": str(command),
        "neve-bench": str(command.with_name("neve-bench")),
        "scratch": str(records.folder.resolve() / SCRATCH),
    }
    units = plan.units(plan.wanted(subject), subject, paths)
    content = {
        "code": work.version(command),
        "settings": settings.as_json(),
        "inputs": found.as_json(),
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
    findings = _findings(results, tick)
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
        "left_aside": content["inputs"]["left_aside"],
        "items": output.as_json(findings),
        "points": rows,
        "failures": [{"what": requests.name_of(one), "error": error} for one, error in failures],
    }
    page = _page(results, findings, content)
    broken = sum(row["is_exact"] is False for row in rows)
    refused = sum(one.is_named for one in results.inputs.left_aside)
    return Reported(page, points.COLUMNS, rows, recorded, len(failures), broken, refused)


def _results(content: dict[str, Any], records: Records) -> Results:
    """What is recorded of a plan."""
    refuse_other_code(content, work.version(command_path()), records.folder)
    read = {
        requests.from_json(unit["request"]): record
        for unit in content["units"]
        if (record := records.read(unit["key"])) is not None
    }
    settings = Settings.from_json(content["settings"])
    subject = Subject(settings, Inputs.from_json(content["inputs"]))
    return Results(subject, read, machines_of(read.values()))


def _findings(results: Results, tick: Callable[[str], None]) -> dict[Item, Finding]:
    failed = dict(results.failures())
    findings = {}
    for item in ITEMS:
        if item.name in results.settings.items:
            tick(item.number)
            finding = item.find(results)
            needs = list(dict.fromkeys(item.needs(results.subject)))
            errors = [failed[one] for one in needs if one in failed]
            finding.add_failures(errors, len(needs), f"see {output.FAILED_HEADING}")
            findings[item] = finding
    return findings


def _page(results: Results, findings: dict[Item, Finding], content: dict[str, Any]) -> Page:
    page = Page("ACOMPS redone")
    page.text(f"{SOURCE}. Words are explained at the end.")
    page.code(content["command"])
    page.points(_head(results, content))
    output.add_items(page, findings)
    aside = results.inputs.left_aside
    if aside:
        page.heading("Left aside")
        output.add_list(page, [f"{one.name}: {one.reason}" for one in aside])
    failures = [(requests.name_of(one), error) for one, error in results.failures()]
    output.add_failures(page, failures)
    output.add_words(page, WORDS)
    return page


def _head(results: Results, content: dict[str, Any]) -> list[str]:
    """What was measured, where, with which settings."""
    settings, variables = results.settings, results.inputs.variables
    files = len({one.identity for one in variables})
    constants = len(results.constants())
    told = f"; {constants} of one value alone are left out" if constants else ""
    names = results.inputs.names
    steps = "" if names == len(variables) else f"; without steps, {names} variables"
    return [
        *output.head(content, results.machines, len(results.records), len(results.failures())),
        f"{len(variables)} {results.variables} of {files} files, of each {settings.most_mib:g} MiB "
        f"at most{told}{steps}",
        f"speeds are CPU time of one thread, the least of {settings.repeats}; other processes of "
        "the study measure on the other cores at the same time",
        f"the cycle: {settings.grid[0]} x {settings.grid[1]} cells, {settings.members} members, "
        f"{settings.ranks} ranks; imitated storage of {settings.storage:g} MB/s",
        "Deepthought 2 is not here: a line says by the model, or measured here",
    ]


PAPER = Paper(
    "acomps",
    "Redo the ACOMPS slides (DRBSD-2 2017) by measurement here",
    EXAMPLES,
    "neve_bench.acomps.work",
    add_arguments,
    (
        *("files", "items", "variables", "most_mib", "repeats", "grid", "members", "cycles"),
        *("ranks", "storage"),
    ),
    prepare,
    report_of,
)
