# SPDX-License-Identifier: BSD-3-Clause
"""`neve study miniio`: arguments, plan, report."""

from __future__ import annotations

import argparse
import dataclasses
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from neve._command import command_path

from ..machines import machines_of
from ..paper import output
from ..paper.command import SCRATCH, Paper, Planned, Reported, refuse_other_code
from ..paper.item import Finding, Item
from ..records import Records
from ..study.page import Page
from ..study.summary import MIN_PAIRS
from . import measured, outputs, plan, points, requests, told, work
from .items import ITEMS
from .requests import Stored, Timed
from .results import Results
from .settings import Settings
from .words import WORDS

GRID, COUNT_GRID = (192, 192, 32), (256, 256, 64)
MOST_DEFAULT_RANKS = 16
RANKS_OF_CORE = 8  # at most
TILES = (2, 4, 8, 16)
REPEATS = 7  # a sign test of 7 pairs that agree has p = 0.016, of 6 of 7 0.125
LEAST_CELLS, MOST_CELLS = 8, 4096
MOST_TILES = 1024
SOURCE = (
    "Ziegeler et al., I/O Mini-apps, Compression, and I/O Libraries for Physics-based Simulations"
)
EXAMPLES = """examples:
  neve study miniio                                  every item, in minutes
  neve study miniio --items tile-sizes weak-scaling  what is counted, without a clock
  neve study miniio --grid 256,256,64 --ranks 1 2 4 8 16 --into large
  neve study miniio --into large --report-only       the page again, from what is measured
"""


def default_ranks(cores: int) -> list[int]:
    most = min(cores, MOST_DEFAULT_RANKS)
    return [1 << power for power in range(most.bit_length())]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what is measured")
    what.add_argument(
        "--items",
        nargs="+",
        choices=[item.name for item in ITEMS],
        metavar="ITEM",
        help=f"of {', '.join(item.name for item in ITEMS)} (all)",
    )
    what.add_argument(
        "--grid",
        type=_grid,
        default=GRID,
        metavar="N,N,N",
        help="points along x, y and depth of what is stored and timed "
        f"({','.join(map(str, GRID))})",
    )
    what.add_argument(
        "--count-grid",
        type=_grid,
        default=COUNT_GRID,
        metavar="N,N,N",
        help=f"of tiles whose bytes are counted ({','.join(map(str, COUNT_GRID))})",
    )
    what.add_argument(
        "--ranks",
        nargs="+",
        type=_ranks,
        default=default_ranks(_cores()),
        metavar="N",
        help="of what is timed, with 1; those with a core each are judged (powers of 2 up to the "
        f"cores, {MOST_DEFAULT_RANKS} at most)",
    )
    what.add_argument(
        "--tiles",
        nargs="+",
        type=_whole(2, MOST_TILES),
        default=list(TILES),
        metavar="N",
        help=f"numbers of tiles whose bytes are counted ({' '.join(map(str, TILES))})",
    )
    what.add_argument(
        "--repeats",
        type=_whole(1, 1000),
        default=REPEATS,
        metavar="N",
        help=f"runs of what is timed: the pairs of a sign test ({REPEATS}); below {MIN_PAIRS} are "
        "too few pairs: times are shown, and none is judged",
    )
    what.add_argument(
        "--seed", type=_whole(0, 2**32), default=1, metavar="N", help="seed of the noise (1)"
    )


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(
                f"'{text}'; allowed are whole numbers from {least} to {most}"
            )
        return int(text)

    return read


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _ranks(text: str) -> int:
    """Far more ranks than cores measure how cores are shared, for hours."""
    return _whole(1, RANKS_OF_CORE * _cores())(text)


def _grid(text: str) -> tuple[int, int, int]:
    words = text.split(",")
    if len(words) != 3:
        raise argparse.ArgumentTypeError(
            f"'{text}'; allowed are three whole numbers, as 192,192,32"
        )
    x, y, depth = map(_whole(LEAST_CELLS, MOST_CELLS), words)
    return x, y, depth


def _settings(options: argparse.Namespace, bench: Path) -> Settings:
    settings = Settings(
        tuple(dict.fromkeys(options.items or (item.name for item in ITEMS))),
        tuple(options.grid),
        tuple(options.count_grid),
        tuple(sorted({1, *options.ranks})),
        tuple(sorted(set(options.tiles))),
        options.repeats,
        options.seed,
        _cores(),
        work.outputs_of_build(bench),
        (),
    )
    words = (*settings.grid_words, *measured.BOUND)
    with tempfile.TemporaryDirectory() as folder:
        if work.can_store(bench, words, outputs.SZIP, Path(folder)):
            return settings
    return dataclasses.replace(settings, left_out=(outputs.SZIP,))


def prepare(
    options: argparse.Namespace,
    records: Records,
    _: Callable[[Sequence[Any]], None],
    say: Callable[[str], None],
) -> Planned:
    command = command_path()
    bench = command.with_name("neve-bench")
    settings = _settings(options, bench)
    wanted = plan.wanted(settings)
    too_few = told.too_few(settings.repeats)
    if too_few and any(isinstance(one, Timed) for one in wanted):
        say(too_few)
    paths = {
        "neve": str(command),
        "neve-bench": str(bench),
        "scratch": str(records.folder.resolve() / SCRATCH),
    }
    units = plan.units(wanted, paths, settings)
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
    broken = sum(1 for row in rows if row.get("wrong_values"))
    return Reported(page, points.COLUMNS, rows, recorded, len(failures), broken, 0)


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
    page = Page("MiniIO redone")
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
    stored = sum(isinstance(one, Stored) for one in results.records)
    return [
        *output.head(content, results.machines, len(results.records), len(results.failures())),
        f"{stored} of them store and count, which is exact anywhere; those that are timed are as "
        "good as the machine was quiet",
        f"grid {' x '.join(map(str, settings.grid))}, on {', '.join(map(str, settings.ranks))} "
        f"ranks, {settings.repeats} runs each; tiles {', '.join(map(str, settings.tiles))} of "
        f"{' x '.join(map(str, settings.count_grid))}",
        told.RULE,
        *filter(None, [told.too_few(settings.repeats)]),
        *(
            f"{name} is not timed: a chunk of this grid does not shrink"
            for name in settings.left_out
        ),
    ]


PAPER = Paper(
    "miniio",
    "Redo the figure and the claims of the MiniIO paper by counting, measurement and model",
    EXAMPLES,
    "neve_bench.miniio.work",
    add_arguments,
    ("items", "grid", "count_grid", "ranks", "tiles", "repeats", "seed"),
    prepare,
    report_of,
)
