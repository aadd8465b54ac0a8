# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 2: equal tiles load ranks unevenly, and balanced ones are uneven in bytes. Counted."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import number, span
from .. import measured
from ..requests import Counted
from ..results import BALANCED, EQUAL, Record, Results
from ..settings import Settings

POINTS, BYTES = "max_over_mean", "points_max_over_mean"
HEADER = ("tiles", "layout", "valid points, busiest / mean", "raw bytes, busiest / mean")


def needs(settings: Settings) -> Iterator[Counted]:
    yield measured.tiles(settings)


def _of(counts: dict[tuple[str, int], Record], layout: str, key: str) -> dict[int, float]:
    return {tiles: one[key] for (name, tiles), one in counts.items() if name == layout}


def _table(counts: dict[tuple[str, int], Record]):
    return output.table(
        HEADER,
        [
            (str(tiles), layout, f"{one[POINTS]:.3f}", f"{one[BYTES]:.3f}")
            for (layout, tiles), one in sorted(counts.items(), key=lambda pair: pair[0][::-1])
        ],
    )


def find_load(results: Results) -> Finding:
    paper = "an equally-distributed decomposition creates load imbalance; struct can balance it"
    counts = measured.tile_counts(results)
    equal, balanced = _of(counts, EQUAL, POINTS), _of(counts, BALANCED, POINTS)
    worse = {tiles: equal[tiles] > balanced[tiles] for tiles in equal if tiles > 1}
    return Finding(
        verdict_of(sum(worse.values()), len(worse)),
        paper,
        f"busiest / mean by valid points, {_numbers(equal)} tiles: equal "
        f"{span(equal.values(), digits=4)}",
        f"balanced by recursive bisection {span(balanced.values(), digits=4)}",
        "counted, not timed",
        [_table(counts)],
        {"equal": equal, "balanced": balanced},
    )


def find_bytes(results: Results) -> Finding:
    paper = "blanked points remain in the arrays: balanced load is unbalanced I/O"
    counts = measured.tile_counts(results)
    equal, balanced = _of(counts, EQUAL, BYTES), _of(counts, BALANCED, BYTES)
    worse = {tiles: balanced[tiles] > equal[tiles] for tiles in equal if tiles > 1}
    most = max(balanced, default=None)
    return Finding(
        verdict_of(sum(worse.values()), len(worse)),
        paper,
        f"busiest / mean by raw bytes, {_numbers(balanced)} tiles: equal "
        f"{span(equal.values(), digits=4)}, balanced {span(balanced.values(), digits=4)}",
        "compressed: see tile-sizes",
        f"counted, not timed: {most} balanced tiles come to {number(balanced[most], 4)}"
        if most
        else "",
        [_table(counts)],
        {"equal": equal, "balanced": balanced},
    )


def _numbers(by_tiles: dict[int, float]) -> str:
    return ", ".join(map(str, by_tiles))


load = Item(
    "load-imbalance", "Paragraph 2, load", "Equal tiles are unequal in load", needs, find_load
)
io = Item(
    "io-imbalance", "Paragraph 2, bytes", "Equal loads are unequal in bytes", needs, find_bytes
)
