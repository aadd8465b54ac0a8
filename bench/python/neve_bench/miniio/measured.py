# SPDX-License-Identifier: BSD-3-Clause
"""The runs that several items share."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from ..paper import load
from . import outputs, told
from .requests import Counted, Disk, Stored, Timed
from .results import BALANCED, EQUAL, Place, Record, Results
from .settings import Settings

MEGABYTE = 1e6
BOUND = ("--bound", "abs=1e-4")  # the paper's accuracy
WEAK = "--weak"


def stores(settings: Settings, *more: str) -> tuple[str, ...]:
    """Whose writes are timed: without those that a chunk of the grid would stop. What stands in
    chunks of a grid that grows is not tried beforehand.
    """
    names = settings.built(*outputs.TIMED)
    risky = (outputs.SZIP,) if WEAK in more else settings.left_out
    return tuple(name for name in names if name not in risky)


def timed(settings: Settings, ranks: int, repeat: int, *more: str) -> Timed:
    grown = more if ranks > 1 else ()  # one rank has the same grid either way
    words = (*settings.grid_words, *BOUND, *grown)
    return Timed(words, stores(settings, *grown), ranks, repeat)


def every_timed(settings: Settings, *more: str) -> Iterator[Timed]:
    """Repeat after repeat: what is compared lies close in time. A grid that grows is for ranks
    that are judged.
    """
    every = (1, *settings.judged_ranks) if WEAK in more else settings.ranks
    for repeat in range(settings.repeats):
        for ranks in every:
            yield timed(settings, ranks, repeat, *more)


def every_disk(settings: Settings) -> Iterator[Disk]:
    for repeat in range(settings.repeats):
        for ranks in settings.ranks:
            yield Disk(ranks, repeat)


def seconds(results: Results, *more: str) -> dict[Place, dict[int, float]]:
    """Of a write, by repeat."""
    found: dict[Place, dict[int, float]] = {}
    for place, repeat, one in _rows(results, *more):
        found.setdefault(place, {})[repeat] = one["write_seconds"]
    return found


def rows(results: Results, *more: str) -> dict[Place, list[Record]]:
    """What was measured, a record a repeat."""
    found: dict[Place, list[Record]] = {}
    for place, _, one in _rows(results, *more):
        found.setdefault(place, []).append(one)
    return found


def _rows(results: Results, *more: str) -> Iterator[tuple[Place, int, Record]]:
    for request in every_timed(results.settings, *more):
        result = results.result(request)
        for layout in () if result is None else result["layouts"]:
            for one in layout["outputs"]:
                place = Place(request.ranks, layout["name"], one["output"])
                yield place, request.repeat, one


def busy(results: Results) -> str:
    """Why times are not trusted: others were at work beside the runs; "" where none were."""
    loads = [
        result["load"]
        for more in ((), (WEAK,))
        for request in every_timed(results.settings, *more)
        if (result := results.result(request)) is not None
    ]
    return load.busy(loads, results.settings.cores)


def unjudged(results: Results) -> str:
    """Why comparisons of times are not judged; "" where they are."""
    return told.joined(told.too_few(results.settings.repeats), busy(results))


def disk_bandwidth(results: Results) -> dict[int, float]:
    """Median MB/s of the file system, by ranks."""
    found: dict[int, list[float]] = {}
    for request in every_disk(results.settings):
        result = results.result(request)
        if result is not None:
            found.setdefault(request.ranks, []).append(result["write_MBps"])
    return {ranks: statistics.median(values) for ranks, values in found.items()}


def throughput(row: list[Record]) -> float:
    """Raw MB/s of the median write."""
    return row[0]["raw_bytes"] / statistics.median(r["write_seconds"] for r in row) / MEGABYTE


def compressing(results: Results, output: str) -> float | None:
    """Raw MB/s of compression alone on one rank; None where it was not measured."""
    row = rows(results).get(Place(1, EQUAL, output), [])
    times = [one["compress_seconds"] for one in row if one.get("compress_seconds")]
    return row[0]["raw_bytes"] / statistics.median(times) / MEGABYTE if times else None


def tiles(settings: Settings) -> Counted:
    words = (*settings.count_words, *BOUND)
    return Counted(words, settings.built(*outputs.COUNTED), settings.tiles)


def tile_counts(results: Results) -> dict[tuple[str, int], Record]:
    """By layout and number of tiles."""
    result = results.result(tiles(results.settings))
    found = [] if result is None else result["tile_counts"]
    return {(one["name"], one["tiles"]): one for one in found}


def spread(count: Record, output: str) -> float | None:
    """Busiest over mean of the tiles' compressed bytes."""
    for one in count["outputs"]:
        if one["output"] == output:
            return one["tile_bytes_max_over_mean"]
    return None


def files(settings: Settings) -> Stored:
    """All outputs once, read back, with bytes counted in the files."""
    names = (*stores(settings), outputs.RAW)
    words = (*settings.grid_words, *BOUND)
    return Stored("struct", words, names, settings.ranks[-1])


LAYOUTS = (EQUAL, BALANCED)
