# SPDX-License-Identifier: BSD-3-Clause
"""`neve study acb`: arguments, plan, report."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from neve._command import command_path
from neve._errors import Error

from ..machines import machines_of
from ..paper.command import Paper, Planned
from ..paper.frame import Content, Frame, Tick, paths_of, planned
from ..paper.options import add_items, items_of, ranks, whole, wholes
from ..paper.results import read_units
from ..records import Records
from . import cases, mpi_io, plan, points, requests, work
from .items import ITEMS
from .results import Results
from .settings import Settings
from .words import WORDS

RANKS = (1, 2, 4, 8)
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
    add_items(what, ITEMS)
    what.add_argument(
        "--units",
        type=wholes(UNITS, 1, MOST_UNITS),
        default=UNITS,
        metavar="N,N,N",
        help="units of 225 boxes along x, y and z, of what is measured here (1,1,1)",
    )
    what.add_argument(
        "--box-cells",
        type=whole(1, MOST_BOX_CELLS),
        default=BOX_CELLS,
        metavar="N",
        help=f"edge of a box of what is measured here ({BOX_CELLS}; the paper's is 64)",
    )
    what.add_argument(
        "--ranks",
        nargs="+",
        type=ranks,
        default=list(RANKS),
        metavar="N",
        help=f"of what is measured here ({' '.join(map(str, RANKS))})",
    )
    what.add_argument(
        "--repeats",
        type=whole(1, 1000),
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
        items_of(options, ITEMS),
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
    units = plan.units(plan.wanted(settings), paths_of(command, records))
    return planned(units, work.version(command), settings)


def _results(content: Content, records: Records, _: Tick) -> Results:
    read = read_units(content["units"], records, requests.from_json)
    return Results(Settings.from_json(content["settings"]), read, machines_of(read.values()))


def _head(results: Results) -> list[str]:
    """With which settings it was measured."""
    settings = results.settings
    io = f" by {' and '.join(settings.mpi_io)}" if settings.mpi_io else ""
    return [
        f"measured here: {' '.join(settings.bench_words)}, on "
        f"{', '.join(map(str, settings.ranks))} ranks{io}; the median of {settings.repeats}",
        "the paper's machines, Edison and Cori, are the model's; a line says by the model, or "
        "measured here",
    ]


FRAME = Frame(
    title="ACB redone",
    source=SOURCE,
    items=ITEMS,
    words=WORDS,
    columns=points.COLUMNS,
    version=lambda: work.version(command_path()),
    results=_results,
    needs=lambda item, results: item.needs(results.settings),
    head=_head,
    rows=points.rows,
    name_of=requests.name_of,
)
PAPER = Paper(
    "acb",
    "Redo the tables and figures of the ACB paper (CUG 2016) by model and measurement",
    EXAMPLES,
    "neve_bench.acb.work",
    add_arguments,
    ("items", "units", "box_cells", "ranks", "repeats", "mpi_io", "system"),
    prepare,
    FRAME.report,
)
