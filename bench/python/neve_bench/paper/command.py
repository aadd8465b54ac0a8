# SPDX-License-Identifier: BSD-3-Clause
"""`neve study NAME`: the part that is the same for every paper."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neve
from neve import _files
from neve._arguments import Parser
from neve._errors import BOUND_VIOLATED, FAILURE, Error

from ..records import Records, is_sealed, sealed
from ..study.page import Page
from . import output
from .inputs import name_of
from .progress import Progress
from .run import Runner, outstanding, seconds_of
from .unit import Unit, brief

SCRATCH = "scratch"  # in a study's folder, for what is written to be measured
PLAN = "plan.json"
OF_A_PLAN = {"command", "date", "version", "units"}  # what every paper's has
DEFAULT_LIMIT_SECONDS = 900.0


@dataclass(frozen=True)
class Planned:
    units: list[Unit]
    content: dict[str, Any]  # all that the report needs beside the records; "units" among it: JSON


@dataclass(frozen=True)
class Reported:
    page: Page
    columns: Sequence[str]  # of the CSV
    rows: Iterable[Mapping[str, Any]]
    recorded: dict[str, Any]  # the JSON file
    failures: int
    broken: int  # of what was measured and broke its bound
    refused: int  # inputs that were named and could not be measured


@dataclass(frozen=True)
class Paper:
    name: str  # "amric": of the command, and of the files
    description: str
    examples: str
    module: str  # its measure(request, paths) measures a unit in a worker
    add_arguments: Callable[[argparse.ArgumentParser], None]
    own_arguments: tuple[str, ...]  # what add_arguments adds, as the parser stores it
    # (options, records, run these units first, say) -> what is measured
    prepare: Callable[..., Planned]
    # (the plan's content, records, with pictures, tick) -> what is written; tick hears what is made
    report: Callable[[dict[str, Any], Records, bool, Callable[[str], None]], Reported]


def _parser(paper: Paper) -> argparse.ArgumentParser:
    parser = Parser(
        prog=f"neve study {paper.name}",
        description=f"{paper.description}.\nWhat is measured is recorded: the same command goes on "
        "where a killed one was.",
        epilog=paper.examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    paper.add_arguments(parser)
    how = parser.add_argument_group("how")
    how.add_argument(
        "--into", metavar="DIR", help=f"folder for records and report ({paper.name}-study)"
    )
    how.add_argument("--retry", action="store_true", help="measure again what failed")
    how.add_argument(
        "--report-only",
        action="store_true",
        help="make the report of what is measured, and measure nothing",
    )
    how.add_argument("--list", action="store_true", help="say what is done, and measure nothing")
    how.add_argument(
        "--dry-run", action="store_true", help="say what would be measured, and measure nothing"
    )
    how.add_argument("--no-pictures", action="store_true", help="make the report without pictures")
    how.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that measure at once (one for each core)",
    )
    how.add_argument(
        "--time-limit",
        type=float,
        default=DEFAULT_LIMIT_SECONDS,
        metavar="SECONDS",
        help=f"for what is measured together ({DEFAULT_LIMIT_SECONDS:g})",
    )
    return parser


def _refuse_idle(paper: Paper, parser: argparse.ArgumentParser, options) -> None:
    """Options that would do nothing beside the others end with a usage error."""
    only = [name for name in ("list", "dry_run", "report_only") if getattr(options, name)]
    if len(only) > 1:
        parser.error(f"{_option(only[0])} and {_option(only[1])} exclude each other")
    if options.workers is not None and options.workers < 1:
        parser.error(f"--workers {options.workers}; allowed are whole numbers from 1 on")
    if not options.time_limit > 0:
        parser.error(f"--time-limit {options.time_limit:g}; allowed are seconds above 0")
    if options.no_pictures and (options.list or options.dry_run):
        parser.error("--no-pictures has no meaning where no report is written")
    if options.retry and (options.list or options.report_only):
        parser.error("--retry has no meaning where nothing is measured")
    if options.list or options.report_only:
        for name in (*paper.own_arguments, "workers", "time_limit"):
            if getattr(options, name) != parser.get_default(name):
                if not (name == "files" and getattr(options, name) == []):
                    parser.error(
                        f"{_option(name)} has no meaning beside {_option(only[0])}, which tells "
                        "what is in the folder"
                    )


def _option(name: str) -> str:
    return "FILE" if name == "files" else "--" + name.replace("_", "-")


def main(paper: Paper, arguments: Sequence[str]) -> int:
    parser = _parser(paper)
    options = parser.parse_args(list(arguments))
    _refuse_idle(paper, parser, options)
    program = f"neve study {paper.name}"
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(paper, options, program, _told(program, arguments, options))
    except Error as error:
        print(f"{program}: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print(f"{program}: stopped; the same command goes on where it was", file=sys.stderr)
        return FAILURE
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: object) -> None:
    """SIGTERM ends a study as Ctrl-C does: once, for the workers are to be ended in peace."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _told(program: str, arguments: Sequence[str], options: argparse.Namespace) -> str:
    """The command as it was given, with names instead of places of the machine."""
    places = {*getattr(options, "files", ()), *([options.into] if options.into else ())}
    words = []
    for word in arguments:
        option, _, value = word.partition("=")
        if word in places:
            word = name_of(Path(word))
        elif option == "--into":
            word = f"{option}={name_of(Path(value))}" if value else word
        words.append(word)
    return f"{program} {shlex.join(words)}".strip()


def _run(paper: Paper, options: argparse.Namespace, program: str, told: str) -> int:
    def say(text: str) -> None:
        print(f"{program}: {text}", file=sys.stderr, flush=True)

    only_looks = options.list or options.report_only or options.dry_run
    then = "it counts as not measured" if only_looks else "measured again"
    records = Records(Path(options.into or f"{paper.name}-study"), say, then)
    if options.list:
        print(_listing(_read_plan(records), records))
        return 0
    if options.report_only:
        _read_plan(records)  # before the lock, which makes the folder
        with records.locked():
            content = _read_plan(records)
            return _report(paper, options, records, content, Progress(program))
    say("looking at the inputs")
    _refuse_foreign(paper, records)
    with records.locked():
        _without_scratch(records)
        try:
            return _measure(paper, options, records, program, told)
        finally:
            _without_scratch(records)


def _refuse_foreign(paper: Paper, records: Records) -> None:
    """A folder that holds what a study would write over or remove, but no study."""
    reports = [f"{paper.name}.{suffix}" for suffix in output.SUFFIXES]
    names = [PLAN, SCRATCH, output.PICTURES, *reports]
    there = [name for name in names if os.path.lexists(records.folder / name)]
    if not there or records.has_any():
        return
    try:
        _read_plan(records)
    except Error:
        raise Error(
            f"{records.folder}: has {', '.join(there)}, but neither {PLAN} nor records of a study; "
            "name another folder by --into",
            FAILURE,
        ) from None


def _measure(
    paper: Paper, options: argparse.Namespace, records: Records, program: str, told: str
) -> int:
    workers = options.workers or len(os.sched_getaffinity(0))
    runner = Runner(paper.module, records, workers, options.time_limit)
    looking = Progress(program)  # of what is to do nobody knows yet

    def look(units: Sequence[Unit]) -> None:
        runner.run(outstanding(units, records, options.retry), looking)
        looking.clear()

    planned = paper.prepare(options, records, look, looking.say)
    wanted = outstanding(planned.units, records, options.retry)
    if options.dry_run:
        for unit in wanted:
            print(unit.name)
        return 0
    content = {
        "command": told,
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "version": neve.__version__,
        **planned.content,
    }
    _files.write_text(records.folder / PLAN, json.dumps(sealed(PLAN, content), indent=1))
    every, left = seconds_of(planned.units, workers), seconds_of(wanted, workers)
    progress = Progress(program, every, every - left)
    if len(wanted) < len(planned.units):
        done = len(planned.units) - len(wanted)
        progress.say(f"{done} of {len(planned.units)} measurements are done already")
    runner.run(wanted, progress)
    progress.clear()
    # A report takes seconds that no measurement foretells: a share of its own is not told.
    return _report(paper, options, records, content, Progress(program))


def _without_scratch(records: Records) -> None:
    """Also what a killed study has left."""
    scratch = records.folder / SCRATCH
    if not scratch.is_symlink():
        shutil.rmtree(scratch, ignore_errors=True)


def _read_plan(records: Records) -> dict[str, Any]:
    path = records.folder / PLAN
    try:
        content = json.loads(path.read_text())
        if is_sealed(PLAN, content) and content.keys() >= OF_A_PLAN:
            return content
    except OSError as error:
        raise Error(f"{path}: {error.strerror}; no study was made here", FAILURE) from None
    except (ValueError, RecursionError):
        pass
    raise Error(
        f"{path}: damaged, or not written by a study of this version; the command that made the "
        "study, without --list and --report-only, writes it again",
        FAILURE,
    )


def refuse_other_code(content: dict[str, Any], code: str, folder: Path) -> None:
    """Of a plan whose content says by which code it was made."""
    if content["code"] != code:
        raise Error(
            f"{folder}: measured by another version of Neve; the command that made the study, "
            "without --report-only, measures with this one",
            FAILURE,
        )


def _listing(content: dict[str, Any], records: Records) -> str:
    """A line for each unit that is not done, and how many are."""
    lines, done = [], 0
    for unit in content["units"]:
        record = records.read(unit["key"])
        if record is None:
            lines.append(f"to do: {unit['name']}")
        elif record["error"] is not None:
            lines.append(f"failed: {unit['name']}: {brief(record['error'])}")
        else:
            done += 1
    return "\n".join([*lines, f"{done} of {len(content['units'])} measurements are done"])


def _report(
    paper: Paper,
    options: argparse.Namespace,
    records: Records,
    content: dict[str, Any],
    progress: Progress,
) -> int:
    def tick(what: str) -> None:
        progress.show(f"writing the report: {what}")

    progress.show("writing the report", now=True)
    with_pictures = not options.no_pictures
    if with_pictures and importlib.util.find_spec("matplotlib") is None:
        with_pictures = False
        progress.say("matplotlib is not installed: the report has no pictures")
    made = paper.report(content, records, with_pictures, tick)
    names = output.write(
        records.folder, paper.name, made.page, made.columns, made.rows, made.recorded
    )
    progress.clear()
    progress.say(f"{', '.join(names)} and {output.PICTURES}/ are written to {records.folder}")
    return _code(made, progress.say)


def _code(made: Reported, say: Callable[[str], None]) -> int:
    if made.refused:
        say(f"inputs that were named and not measured: {made.refused}; the report says why")
    if made.failures:
        say(f"measurements that failed: {made.failures}; the report says how. --retry repeats them")
    if made.broken:
        say(f"{made.broken} of what was measured broke its bound; the report says which")
        return BOUND_VIOLATED
    return FAILURE if made.failures or made.refused else 0
