# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench rd`: arguments, and the study from the file to the tables."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import neve
from neve._errors import BOUND_VIOLATED, FAILURE, Error
from neve.plot._place import Place

from .. import arguments, figures, report
from ..amr import catalog, foreign
from ..amr.hierarchy import Hierarchy, load
from ..amr.subject import CELLS, DEFAULT_CELLS
from ..amr.way import Way
from ..paper.progress import Progress
from . import conclusions, curves, draw, regrets, sweep, tables
from .default_ways import default_ways
from .ticker import Ticker

PROGRAM = "neve bench rd"
DEFAULT_BOUNDS = (1e-2, 5e-3, 1e-3, 1e-4, 1e-5)
EXAMPLES = """examples:
  neve bench rd plt00113 --fields density Temp --plot pictures -o rd.md --json rd.json
  neve bench rd plt00113 --ways neve:auto amric:sle amric:sle,unit=16 --bounds 1e-2 1e-4
  neve bench rd plt00113 --fields density --plot pictures --axis x --at 3.5
  neve bench rd field.npy --bounds 1e-2,1e-4
"""
REMOVED = {
    "--codecs": "ways are named by --ways (neve bench rd --list-ways)",
    "--covered": f"--cells says which cells every way holds: {', '.join(CELLS)}",
    "--ranks": "neve bench layouts measures the times of writes",
    "--sweep-repeats": "--repeats is that of every row",
    "--scratch": "no file is written but those of --plot, -o and --json",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Measures ways of coding each field of a file at relative bounds: Neve's choice, forced\n"
        "codecs, the ways of the AMRIC, AMReX, TAC and zMesh papers, installed peers (SZ3: pysz,\n"
        "ZFP: zfpy, SPERR: hdf5plugin). All hold the same cells. Errors are measured in every row."
    )
    parser.epilog = EXAMPLES
    parser.add_argument("file", help="AMR plotfile that neve.open reads, or a .npy array")
    parser.add_argument("--fields", nargs="+", metavar="NAME", help="fields to study (all)")
    arguments.add_bounds(parser, "--bounds", DEFAULT_BOUNDS, "bounds relative to a level's range")
    parser.add_argument(
        "--cells",
        choices=CELLS,
        default=DEFAULT_CELLS,
        help="the cells that every way holds: "
        + "; ".join(f"{name}: {what}" for name, what in CELLS.items())
        + f" ({DEFAULT_CELLS})",
    )
    parser.add_argument(
        "--ways",
        nargs="+",
        type=_ways_of,
        action=arguments.Flat,
        metavar="PAPER:METHOD[,SETTING=VALUE]...",
        help="what is measured (Neve's at each effort and with each codec and arrangement, the "
        "papers' at each unit that fits, installed peers)",
    )
    parser.add_argument(
        "--list-ways", action=_ListWays, nargs=0, help="list methods and their settings, and exit"
    )
    parser.add_argument(
        "--levels", action="store_true", help="also a table of the levels of each row"
    )
    parser.add_argument(
        "--brief",
        action="store_true",
        help="leave forced codecs' rows, and the levels of all, out of what is kept",
    )
    arguments.add_measurement(parser, 1, data=False, time_limit=300)
    arguments.add_report(parser, pictures=True)
    _add_pictures(parser)
    arguments.add_removed(parser, REMOVED)


def _add_pictures(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pictures (with --plot)")
    group.add_argument("--slice-field", metavar="NAME", help="field of the planes (the first)")
    group.add_argument(
        "--pictured",
        nargs="+",
        metavar="WAY",
        help=f"ways of the planes, at about equal ratio ({' '.join(draw.PICTURED)})",
    )
    group.add_argument("--axis", choices="xyz", help="the axis across the plane (z)")
    place = group.add_mutually_exclusive_group()
    place.add_argument(
        "--at", type=float, metavar="COORDINATE", help="where on it the plane lies (the middle)"
    )
    place.add_argument(
        "--index", type=int, metavar="N", help="the same by a cell of the finest level"
    )


def _ways_of(text: str) -> list[str]:
    """Those of one word: a comma before PAPER: parts ways, every other one parts settings."""
    return re.split(r",(?=[^,=]*:)", text)


class _ListWays(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        for name, method in catalog.METHODS.items():
            print(f"{name}: {method.what}")
            for key, setting in method.settings.items():
                print(f"    {key}={setting.default}   allowed: {setting.allowed}")
        parser.exit()


def run(options: argparse.Namespace) -> int:
    _check(options)
    place = _place(options)
    progress = Progress(PROGRAM)
    progress.show(f"reading {Path(options.file).name}", now=True)
    hierarchy = load(Path(options.file), options.fields)
    ways, missing = _ways(options.ways, hierarchy)
    for line in missing:
        progress.say(line)
    folder = _folder_for_pictures(options)
    drawing = None
    if folder is not None:
        drawing = draw.planned(hierarchy, options.slice_field, options.pictured, place)

    wanted = sweep.points(hierarchy.fields, options.bounds, ways)
    work = sum(sweep.seconds(point, hierarchy) for point in wanted)
    work += draw.seconds(drawing, hierarchy, ways)
    progress = Progress(PROGRAM, work)
    how = sweep.Measuring(options.cells, options.repeats, options.time_limit, Ticker(progress))
    with how.ticker:
        rows = list(sweep.sweep(hierarchy, wanted, how))
    recorded = {
        **_heading(options, hierarchy, ways, missing),
        **_findings(rows, hierarchy.fields, ways),
        "rows": rows,
    }
    kept = brief(recorded) if options.brief else recorded
    report.deliver(options, kept, tables.tables(kept, options.levels))
    if folder is not None and drawing is not None:
        how = replace(how, ticker=Ticker(progress))
        with how.ticker:
            draw.draw(folder, hierarchy, rows, ways, drawing, how)
    # A measurement that finds Neve's promise broken is not a success.
    broken = recorded["neve_violations"] or recorded["neve_specials_lost"]
    return BOUND_VIOLATED if broken else 0


def _check(options: argparse.Namespace) -> None:
    if options.repeats < 1:
        raise Error(f"--repeats {options.repeats}: allowed are whole numbers from 1")
    if not options.time_limit > 0:
        raise Error(f"--time-limit {options.time_limit:g}: allowed are numbers above 0")
    if options.plot is None:
        for name in ("slice_field", "pictured", "axis", "at", "index"):
            if getattr(options, name) is not None:
                option = "--" + name.replace("_", "-")
                raise Error(f"{option} has no meaning without --plot: no pictures are drawn")
    if options.brief and options.levels:
        raise Error("--levels and --brief exclude each other: --brief keeps no levels")


def _place(options: argparse.Namespace) -> Place:
    axis = options.axis
    if options.index is not None:
        return Place(index={axis or "z": options.index})
    if axis is None and options.at is not None:
        axis = "z"
    return Place(axis, options.at)


def _ways(texts: Sequence[str] | None, hierarchy: Hierarchy) -> tuple[list[Way], list[str]]:
    """In their order, each once; and lines about peers that are not installed."""
    if texts is not None:
        ways = [catalog.way(text) for text in texts]
        return list({way.text: way for way in ways}.values()), []
    _, missing = foreign.at_hand()
    return [catalog.way(text) for text in default_ways(hierarchy)], missing


def _folder_for_pictures(options: argparse.Namespace) -> Path | None:
    """Made before minutes of measurements, and only where something can be drawn."""
    if options.plot is None:
        return None
    figures.check_at_hand()
    folder = Path(options.plot)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"{folder}: cannot make the folder: {error.strerror}", FAILURE) from None
    return folder


def _heading(
    options: argparse.Namespace, hierarchy: Hierarchy, ways: Sequence[Way], missing: Sequence[str]
) -> dict[str, Any]:
    return {
        "command": _command(options),
        "file": hierarchy.name,
        "fields": list(hierarchy.fields),
        "levels": [
            {"boxes": len(level.boxes), "cells": level.cells()} for level in hierarchy.levels
        ],
        "dtype": str(hierarchy.dtype),
        "cells": options.cells,
        "machine": report.machine(),
        "versions": {"neve": neve.__version__, **foreign.versions()},
        "timing": f"median of {options.repeats}; CPU time of one process, one field at a time",
        "not_measured": list(missing),
        "ways": [{"way": way.text, "label": way.label, "source": way.source} for way in ways],
    }


def _command(options: argparse.Namespace) -> str:
    words = [PROGRAM, Path(options.file).name, "--bounds"]
    words += [",".join(f"{bound:g}" for bound in options.bounds)]
    words += ["--cells", options.cells, "--repeats", str(options.repeats)]
    for option, given in (("--fields", options.fields), ("--ways", options.ways)):
        if given:
            words += [option, *map(shlex.quote, given)]
    if options.brief:
        words.append("--brief")
    return " ".join(words)


def _findings(
    rows: Sequence[sweep.Row], fields: Sequence[str], ways: Sequence[Way]
) -> dict[str, Any]:
    of_neve = {way.text for way in ways if not way.is_foreign}
    mine = [row for row in rows if row["way"] in of_neve and "note" not in row]
    return {
        "geomeans": curves.geomeans(rows, [way.text for way in ways]),
        "conclusions": [
            found for field in fields for found in conclusions.conclusions(rows, field)
        ],
        "regrets": regrets.regrets(rows),
        "neve_violations": sum(row["violations"] for row in mine),
        "neve_specials_lost": sum(row["specials_lost"] for row in mine),
    }


def brief(recorded: dict[str, Any]) -> dict[str, Any]:
    """Small enough to keep: what was computed of the rows is in it, most rows are not."""
    rows = [
        {key: value for key, value in row.items() if key != "levels"}
        for row in recorded["rows"]
        if not regrets.is_forced(row["way"])
    ]
    return {**recorded, "rows": rows}
