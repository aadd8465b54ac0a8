# SPDX-License-Identifier: BSD-3-Clause
"""`neve study amric`: arguments, inputs, plan, report."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from neve._command import command_path
from neve._errors import FAILURE, Error
from neve.plotfile import AXIS_NAMES

from .. import arguments
from ..amr.subject import CELLS, DEFAULT_CELLS
from ..machines import machines_of
from ..paper import inputs, output
from ..paper.command import Paper, Planned
from ..paper.frame import Content, Frame, Row, Tick, paths_of, planned
from ..paper.inputs import Input, LeftAside
from ..paper.item import Item
from ..paper.numbers import counted
from ..paper.options import add_items, items_of, ranks, whole
from ..paper.unit import brief
from ..records import Records
from ..study.page import Page
from . import plan, points, requests, work
from .files import File, Settings, runs_of
from .items import ITEMS
from .requests import Request
from .results import Results
from .words import WORDS

BOUNDS = (1e-3, 5e-3, 1e-2)  # the paper's table 1
CURVE_BOUNDS = (2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 3e-4)  # the ends are those of figures 5 and 7
RANKS = (1, 2, 4)
MOST_REPEATS = 4096
AXES = tuple(AXIS_NAMES)
SOURCE = (
    "Wang et al., AMRIC: A Novel In Situ Lossy Compression Framework for Efficient I/O in Adaptive "
    "Mesh Refinement Applications, SC 2023"
)
EXAMPLES = """examples:
  neve study amric                                 the sample that comes with Neve, in minutes
  neve study amric plt00196 plt00200 plt00204      steps of one run: tables give their means
  neve study amric steps.tar.xz plt.h5 --into mine files, folders and archives that hold some
  neve study amric plt00113 --items table-2 figure-7 --fields density
  neve study amric --into mine --report-only       the page again, from what is measured
"""
MOST_TOLD = 5  # reasons in one message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="plotfiles (AMReX folder, HDF5), folders that hold some, archives (.tar, .tar.gz, "
        ".tar.xz); without any, the sample that comes with Neve",
    )
    what = parser.add_argument_group("what is measured")
    add_items(what, ITEMS)
    what.add_argument("--fields", nargs="+", metavar="FIELD", help="(all; curves: the first two)")
    arguments.add_bounds(what, "--bounds", BOUNDS, "of tables, relative to the range")
    arguments.add_bounds(what, "--curve-bounds", CURVE_BOUNDS, "of curves")
    what.add_argument(
        "--cells",
        choices=tuple(CELLS),
        default=DEFAULT_CELLS,
        help="; ".join(f"{name}: {text}" for name, text in CELLS.items()) + f" ({DEFAULT_CELLS})",
    )
    what.add_argument(
        "--ranks",
        nargs="+",
        type=ranks,
        metavar="N",
        default=list(RANKS),
        help=f"of the writes that are timed ({_listed(RANKS)})",
    )
    what.add_argument(
        "--repeats",
        type=whole(1, MOST_REPEATS),
        default=3,
        metavar="N",
        help="timed writes; the one with the median total counts (3)",
    )
    what.add_argument(
        "--slice",
        type=_slice,
        default=("", None),
        metavar="axis=A,at=PLACE",
        help="the plane of pictures: axis=x, y or z, at a coordinate (axis=z, its middle)",
    )


def _listed(values: Sequence[float]) -> str:
    return " ".join(f"{value:g}" for value in values)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _slice(text: str) -> tuple[str, float | None]:
    axis, at = "", None
    for word in text.split(","):
        name, _, value = word.partition("=")
        number = _number(value)
        if name == "axis" and value in AXES and not axis:
            axis = value
        elif name == "at" and number is not None and abs(number) < float("inf") and at is None:
            at = number
        else:
            raise argparse.ArgumentTypeError(
                f"'{text}': {word!r}; allowed are axis={', '.join(AXES)} and at=COORDINATE, each "
                "once"
            )
    if at is not None and not axis:
        raise argparse.ArgumentTypeError(f"'{text}': at needs axis=")
    return axis, at


def _settings(options: argparse.Namespace) -> Settings:
    axis, at = options.slice
    return Settings(
        items_of(options, ITEMS),
        tuple(dict.fromkeys(options.fields or ())),
        tuple(options.bounds),
        tuple(options.curve_bounds),
        options.cells,
        tuple(sorted(set(options.ranks))),
        options.repeats,
        axis,
        at,
    )


def sample(command: Path) -> Path:
    """Of the checkout that the command was built in, or of an installation."""
    name = "nyx_lya32_plt00113"
    prefix = command.parent.parent
    places = [prefix.parent / "examples/samples" / name, prefix / "share/neve/samples" / name]
    for place in places:
        if (place / "Header").is_file():
            return place
    raise Error(f"the sample {name} is not installed; name a plotfile", FAILURE)


def prepare(
    options: argparse.Namespace,
    records: Records,
    run: Callable[[Sequence[Any]], None],
    say: Callable[[str], None],
) -> Planned:
    """Finds the inputs, has a look at each, and plans the rest."""
    settings = _settings(options)
    command = command_path()
    words = options.files or [str(sample(command))]
    found, aside = inputs.find(words, records.folder / "unpacked", say)
    if not found:
        raise Error(
            "no plotfile among the inputs: " + "; ".join(f"{a.name}: {a.reason}" for a in aside),
            FAILURE,
        )
    looks = plan.look_units(found)
    run(looks)
    files, more_aside = _files(found, [records.read(unit.key) for unit in looks])
    for one in more_aside:
        if one.is_named:
            say(f"{one.name}: {one.reason}")
    aside += more_aside
    _check(files, settings, aside)
    pairs = plan.wanted(files, settings)
    lie = {one.identity: str(one.path) for one in found}
    units = plan.units(pairs, paths_of(command, records), lie)
    made = planned(
        units,
        work.version(),
        settings,
        left_aside=[vars(one) for one in aside],
        files=[{**vars(file), "look": plan.key(file.identity, requests.Look())} for file in files],
    )
    for (file, _), unit in zip(pairs, made.content["units"], strict=True):
        unit["file"] = file.identity
    return made


def _files(
    found: Sequence[Input], looks: Sequence[dict[str, Any] | None]
) -> tuple[list[File], list[LeftAside]]:
    """Those that a look at went well, as steps of their runs."""
    good, aside = [], []
    for one, record in zip(found, looks, strict=True):
        if record is None or record["error"] is not None:
            reason = record["error"] if record is not None else "not looked at"
            aside.append(LeftAside(one.place, brief(reason), one.is_named))
        else:
            good.append((one, record["result"]))
    steps: dict[str, list[Input]] = {}
    for one, _ in good:
        steps.setdefault(one.run, []).append(one)
    files = []
    for one, look in good:
        of_run = steps[one.run]
        name = one.name if len(of_run) == 1 else f"{of_run[0].name}..{of_run[-1].step}"
        files.append(
            File(one.name, one.identity, name, one.step, one is of_run[-1], len(of_run), look)
        )
    return files, aside


def _check(files: Sequence[File], settings: Settings, aside: Sequence[LeftAside]) -> None:
    """Something has to be left to measure, and each field asked for to be somewhere."""
    if not files:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in aside)
        raise Error(f"no plotfile among the inputs can be read: {reasons}", FAILURE)
    there = {field for file in files for field in file.look["ends"]}
    for field in settings.fields:
        if field not in there:
            known = f"no input has it; there are {', '.join(sorted(there))}"
            if os.path.exists(field):
                known = "a path; put inputs before --fields, or after --"
            raise Error(f"--fields {field}: {known}")
    reasons = {file.why_not_cut(settings): file.name for file in files}
    if None not in reasons:
        told = [f"{reason} in {name}" for reason, name in reasons.items()]
        more = f"; and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
        raise Error(f"{'; '.join(told[:MOST_TOLD])}{more}")


def _results(content: Content, records: Records, tick: Tick) -> Results:
    """What is recorded of a plan."""
    looks = {one["look"]: records.read(one["look"]) for one in content["files"]}
    files = [
        File(**{**one, "look": look["result"]})
        for one in content["files"]
        if (look := looks[one["look"]]) is not None
    ]
    by_identity = {file.identity: file for file in files}
    read = {}
    for number, unit in enumerate(content["units"]):
        if number % 100 == 0:
            tick("reading what was measured")
        record = records.read(unit["key"])
        if record is not None and unit["file"] in by_identity:
            request = requests.from_json(unit["request"])
            read[(by_identity[unit["file"]], request)] = record
    machines = machines_of([*filter(None, looks.values()), *read.values()])
    return Results(Settings.from_json(content["settings"]), files, read, machines)


def _needs(item: Item, results: Results) -> list[tuple[File, Request]]:
    settings = results.settings
    pairs = {(file, one) for file in results.files for one in item.needs(file, settings)}
    return plan.in_order(pairs, results.files)


def _name_of(pair: tuple[File, Request]) -> str:
    file, request = pair
    return f"{file.name} {requests.name_of(request)}"


def _failure_as_json(pair: tuple[File, Request]) -> dict[str, str]:
    file, request = pair
    return {"file": file.name, "what": requests.name_of(request)}


def _broken_bounds(page: Page, broken: Sequence[Row]) -> None:
    if broken:
        page.text("**Bounds were broken, or special values lost:**")
        page.points([f"{r['file']} {r['field']}: {r['way']} at {r['rel']:g}" for r in broken])


def _head(results: Results) -> list[str]:
    """With which settings, and of what, it was measured."""
    settings = results.settings
    plane = f"{settings.axis or 'z'} at {'its middle' if settings.at is None else settings.at}"
    return [
        f"fields: {', '.join(settings.fields) or 'all'}",
        f"cells (--cells {settings.cells}), the same for every way unless a column says otherwise: "
        f"{CELLS[settings.cells]}",
        f"tables: bounds {_listed(settings.bounds)}, means over the fields and steps of a run",
        f"curves: bounds {_listed(settings.curve_bounds)}, the last step of a run",
        f"slices: across {plane}",
        f"writes: on {', '.join(map(str, settings.ranks))} ranks; the median of {settings.repeats}",
    ]


def _inputs(page: Page, results: Results, content: Content) -> None:
    page.heading("Inputs")
    for run, steps in runs_of(results.files).items():
        without = steps[-1].without_range(results.settings)
        said = f"; no range, so no relative bound: {', '.join(without)}" if without else ""
        curves = ", ".join(steps[-1].curve_fields(results.settings))
        page.text(
            f"**{run}**: {counted(len(steps), 'step')}; curves of {curves or 'nothing'}{said}."
        )
    aside = content["left_aside"]
    if aside:
        page.text("Left aside:")
        output.add_list(page, [f"{one['name']}: {one['reason']}" for one in aside])


FRAME = Frame(
    title="AMRIC redone",
    source=SOURCE,
    items=ITEMS,
    words=WORDS,
    columns=points.COLUMNS,
    version=work.version,
    results=_results,
    needs=_needs,
    head=_head,
    rows=points.rows,
    name_of=_name_of,
    broken=points.broken,
    left_aside=lambda content: content["left_aside"],
    before_items=_broken_bounds,
    after_items=_inputs,
    also_recorded=lambda results: {"writes": points.writes(results)},
    failure_as_json=_failure_as_json,
)
PAPER = Paper(
    "amric",
    "Redo the tables and figures of the AMRIC paper (SC 2023) on plotfiles",
    EXAMPLES,
    "neve_bench.amric.work",
    add_arguments,
    ("files", "items", "fields", "bounds", "curve_bounds", "cells", "ranks", "repeats", "slice"),
    prepare,
    FRAME.report,
)
