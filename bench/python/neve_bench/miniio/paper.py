# SPDX-License-Identifier: BSD-3-Clause
"""`neve study miniio`: arguments, plan, report."""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from neve._command import command_path

from ..machines import machines_of
from ..paper.command import Paper, Planned
from ..paper.frame import Content, Frame, Row, Tick, paths_of, planned
from ..paper.options import add_items, cores, items_of, joined, ranks, whole, wholes
from ..paper.results import read_units
from ..records import Records
from ..study.summary import MIN_PAIRS
from . import measured, outputs, plan, points, requests, told, work
from .items import ITEMS
from .requests import Stored, Timed
from .results import Results
from .settings import Settings
from .words import WORDS

GRID, COUNT_GRID = (192, 192, 32), (256, 256, 64)
MOST_DEFAULT_RANKS = 16
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
    add_items(what, ITEMS)
    what.add_argument(
        "--grid",
        type=wholes(GRID, LEAST_CELLS, MOST_CELLS),
        default=GRID,
        metavar="N,N,N",
        help=f"points along x, y and depth of what is stored and timed ({joined(GRID)})",
    )
    what.add_argument(
        "--count-grid",
        type=wholes(GRID, LEAST_CELLS, MOST_CELLS),
        default=COUNT_GRID,
        metavar="N,N,N",
        help=f"of tiles whose bytes are counted ({joined(COUNT_GRID)})",
    )
    what.add_argument(
        "--ranks",
        nargs="+",
        type=ranks,
        default=default_ranks(cores()),
        metavar="N",
        help="of what is timed, with 1; those with a core each are judged (powers of 2 up to the "
        f"cores, {MOST_DEFAULT_RANKS} at most)",
    )
    what.add_argument(
        "--tiles",
        nargs="+",
        type=whole(2, MOST_TILES),
        default=list(TILES),
        metavar="N",
        help=f"numbers of tiles whose bytes are counted ({' '.join(map(str, TILES))})",
    )
    what.add_argument(
        "--repeats",
        type=whole(1, 1000),
        default=REPEATS,
        metavar="N",
        help=f"runs of what is timed: the pairs of a sign test ({REPEATS}); below {MIN_PAIRS} are "
        "too few pairs: times are shown, and none is judged",
    )
    what.add_argument(
        "--seed", type=whole(0, 2**32), default=1, metavar="N", help="seed of the noise (1)"
    )


def _settings(options: argparse.Namespace, bench: Path) -> Settings:
    settings = Settings(
        items_of(options, ITEMS),
        tuple(options.grid),
        tuple(options.count_grid),
        tuple(sorted({1, *options.ranks})),
        tuple(sorted(set(options.tiles))),
        options.repeats,
        options.seed,
        cores(),
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
    units = plan.units(wanted, paths_of(command, records), settings)
    return planned(units, work.version(command), settings)


def _results(content: Content, records: Records, _: Tick) -> Results:
    read = read_units(content["units"], records, requests.from_json)
    return Results(Settings.from_json(content["settings"]), read, machines_of(read.values()))


def _wrong(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.get("wrong_values")]


def _head(results: Results) -> list[str]:
    """With which settings it was measured."""
    settings = results.settings
    stored = sum(isinstance(one, Stored) for one in results.records)
    return [
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


FRAME = Frame(
    title="MiniIO redone",
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
    broken=_wrong,
)
PAPER = Paper(
    "miniio",
    "Redo the figure and the claims of the MiniIO paper by counting, measurement and model",
    EXAMPLES,
    "neve_bench.miniio.work",
    add_arguments,
    ("items", "grid", "count_grid", "ranks", "tiles", "repeats", "seed"),
    prepare,
    FRAME.report,
)
