# SPDX-License-Identifier: BSD-3-Clause
"""`neve study acomps`: arguments, inputs, plan, report."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

from neve._command import command_path

from ..machines import machines_of
from ..paper import output
from ..paper.command import Paper, Planned
from ..paper.frame import Content, Frame, Row, Tick, paths_of, planned
from ..paper.options import add_items, cores, items_of, joined, ranks, whole, wholes
from ..paper.results import read_units
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
    add_items(what, ITEMS)
    what.add_argument(
        "--variables",
        nargs="+",
        metavar="NAME",
        help="of the files (all of float32 and float64 with 1024 values or more)",
    )
    what.add_argument(
        "--most-mib",
        type=_number(0.001, 2**14),
        default=MOST_MIB,
        metavar="MIB",
        help=f"of a variable, or of a step of a series; its rest is cut off ({MOST_MIB:g})",
    )
    what.add_argument(
        "--repeats",
        type=whole(1, 1000),
        default=REPEATS,
        metavar="N",
        help=f"of what is timed; the least counts ({REPEATS}; of the cycle 2 at most)",
    )
    cycle = parser.add_argument_group("the ensemble cycle (slides 2, 11, 14, 15)")
    cycle.add_argument(
        "--grid",
        type=wholes(GRID, LEAST_SIDE, MOST_SIDE),
        default=GRID,
        metavar="NX,NY",
        help=f"cells of the model ({joined(GRID)}, the slides')",
    )
    cycle.add_argument(
        "--members", type=whole(2, 10_000), default=MEMBERS, metavar="N", help=f"({MEMBERS})"
    )
    cycle.add_argument(
        "--cycles", type=whole(1, 1000), default=CYCLES, metavar="N", help=f"({CYCLES})"
    )
    cycle.add_argument(
        "--ranks",
        type=ranks,
        default=min(2, cores()),
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


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        items_of(options, ITEMS),
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
    words = options.files or inputs.default_words(command, say)
    found = inputs.find(words, settings.variables, say, bool(options.files))
    for one in found.left_aside:
        if one.is_named:
            say(f"{one.name}: {one.reason}")
    subject = Subject(settings, found)
    units = plan.units(plan.wanted(subject), subject, paths_of(command, records))
    return planned(units, work.version(command), settings, inputs=found.as_json())


def _results(content: Content, records: Records, _: Tick) -> Results:
    read = read_units(content["units"], records, requests.from_json)
    settings = Settings.from_json(content["settings"])
    subject = Subject(settings, Inputs.from_json(content["inputs"]))
    return Results(subject, read, machines_of(read.values()))


def _changed(rows: Sequence[Row]) -> list[Row]:
    """Of which some bit did not come back."""
    return [row for row in rows if row["is_exact"] is False]


def _left_aside(page: Page, results: Results, _: Content) -> None:
    aside = results.inputs.left_aside
    if aside:
        page.heading("Left aside")
        output.add_list(page, [f"{one.name}: {one.reason}" for one in aside])


def _head(results: Results) -> list[str]:
    """With which settings, and of what, it was measured."""
    settings, variables = results.settings, results.inputs.variables
    files = len({one.identity for one in variables})
    constants = len(results.constants())
    told = f"; {constants} of one value alone are left out" if constants else ""
    names = results.inputs.names
    steps = "" if names == len(variables) else f"; without steps, {names} variables"
    return [
        f"{len(variables)} {results.variables} of {files} files, of each {settings.most_mib:g} MiB "
        f"at most{told}{steps}",
        f"speeds are CPU time of one thread, the least of {settings.repeats}; other processes of "
        "the study measure on the other cores at the same time",
        f"the cycle: {settings.grid[0]} x {settings.grid[1]} cells, {settings.members} members, "
        f"{settings.ranks} ranks; imitated storage of {settings.storage:g} MB/s",
        "Deepthought 2 is not here: a line says by the model, or measured here",
    ]


FRAME = Frame(
    title="ACOMPS redone",
    source=SOURCE,
    items=ITEMS,
    words=WORDS,
    columns=points.COLUMNS,
    version=lambda: work.version(command_path()),
    results=_results,
    needs=lambda item, results: item.needs(results.subject),
    head=_head,
    rows=points.rows,
    name_of=requests.name_of,
    broken=_changed,
    left_aside=lambda content: content["inputs"]["left_aside"],
    after_items=_left_aside,
)
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
    FRAME.report,
)
