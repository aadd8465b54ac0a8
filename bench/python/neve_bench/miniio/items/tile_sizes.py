# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 2: blanked points compress trivially, and so compressed tiles are alike in size. The
bytes of every tile are counted, by every compression; no time is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import span
from .. import drawing, measured, outputs, told
from ..requests import Counted, Stored
from ..results import BALANCED, EQUAL, Results, stored_by
from ..settings import Settings

LOSSLESS_WITHIN, BOUNDED_WITHIN = 1.06, 1.10  # of balanced tiles, busiest / mean
PICTURED = ("hdf5-shuffle-zlib", "hdf5-neve")  # whose tiles are drawn one by one
IN_FILES = ("output", "layout", "in the file", "counted by", "tiles alone")


def needs(settings: Settings) -> Iterator[Counted | Stored]:
    yield measured.tiles(settings)
    yield measured.files(settings)


def allowed(name: str) -> float:
    return LOSSLESS_WITHIN if name in outputs.LOSSLESS else BOUNDED_WITHIN


def spreads(results: Results, layout: str) -> dict[str, dict[int, float]]:
    """Busiest / mean by output and number of tiles."""
    found: dict[str, dict[int, float]] = {}
    for (name, tiles), count in measured.tile_counts(results).items():
        if name == layout and tiles > 1:
            for one in count["outputs"]:
                of = found.setdefault(one["output"], {})
                of[tiles] = one["tile_bytes_max_over_mean"]
    return found


def raw_spread(results: Results, layout: str) -> dict[int, float]:
    counts = measured.tile_counts(results)
    return {
        tiles: one["points_max_over_mean"]
        for (name, tiles), one in counts.items()
        if name == layout and tiles > 1
    }


def find(results: Results) -> Finding:
    paper = "blanked areas compress trivially: compressed data tiles are similar in size"
    balanced, equal = spreads(results, BALANCED), spreads(results, EQUAL)
    within = {
        (name, tiles): value <= allowed(name)
        for name, of in balanced.items()
        for tiles, value in of.items()
    }
    off = [
        f"{name} on {tiles} tiles {balanced[name][tiles]:.3f}"
        for (name, tiles), is_so in within.items()
        if not is_so
    ]
    raw = raw_spread(results, BALANCED)
    return Finding(
        verdict_of(sum(within.values()), len(within)),
        paper,
        f"busiest / mean of balanced tiles: raw {span(raw.values(), digits=4)}; "
        + _said(balanced, outputs.is_papers),
        _said(balanced, lambda name: not outputs.is_papers(name)),
        told.joined(
            f"counted. Alike is up to {LOSSLESS_WITHIN:g} without loss, {BOUNDED_WITHIN:g} within "
            "a bound",
            f"further off: {told.first(off)}" if off else "",
        ),
        _blocks(results, balanced, equal),
        {
            "balanced": balanced,
            "equal": equal,
            "raw": {BALANCED: raw, EQUAL: raw_spread(results, EQUAL)},
        },
    )


def _said(spreads_of: dict[str, dict[int, float]], is_ours) -> str:
    words = [
        f"{name} {span(of.values(), digits=4)}" for name, of in spreads_of.items() if is_ours(name)
    ]
    return ", ".join(words) or "-"


def _blocks(results: Results, balanced, equal) -> list:
    lines = {
        panel: {drawing.RAW_BYTES: raw_spread(results, layout), **of}
        for panel, layout, of in (
            ("tiles of equal load", BALANCED, balanced),
            ("tiles of equal size", EQUAL, equal),
        )
    }
    blocks = [output.table(*_table(layout_name, drawn)) for layout_name, drawn in lines.items()]
    if any(lines["tiles of equal load"].values()):
        draw = partial(
            drawing.lines, "Bytes of tiles, each compressed by itself", "tiles", "busiest / mean"
        )
        blocks.insert(0, output.picture("pictures/tile-sizes", partial(draw, lines)))
        one_by_one = _one_by_one(results)
        if one_by_one:
            blocks.insert(1, one_by_one)
    return [*blocks, *_in_files(results)]


def _table(panel: str, drawn: dict[str, dict[int, float]]):
    tiles = sorted({count for of in drawn.values() for count in of})
    header = (f"{panel}: busiest / mean of", *(f"{count} tiles" for count in tiles))
    rows = [
        (name, *(f"{of[count]:.3f}" if count in of else "-" for count in tiles))
        for name, of in drawn.items()
    ]
    return header, rows


def _one_by_one(results: Results):
    most = results.settings.most_tiles
    counts = measured.tile_counts(results)
    panels = {}
    for panel, layout in (("tiles of equal load", BALANCED), ("tiles of equal size", EQUAL)):
        count = counts.get((layout, most))
        if count is None:
            return None
        of = {"valid points": count["valid_points"], drawing.RAW_BYTES: count["raw_bytes"]}
        for one in count["outputs"]:
            if one["output"] in PICTURED:
                of[one["output"]] = one["tile_bytes"]
        panels[panel] = {name: _over_mean(values) for name, values in of.items()}
    title = f"What each of {most} tiles has, over the mean"
    draw = partial(drawing.bars, title, "tile", "over the mean", panels)
    return output.picture("pictures/tiles-one-by-one", draw)


def _over_mean(values: list[int]) -> list[float]:
    mean = sum(values) / len(values)
    return [value / mean for value in values]


def _in_files(results: Results) -> list:
    """Of every output, also of those whose chunks are no tiles."""
    request = measured.files(results.settings)
    result = results.result(request)
    if result is None:
        return []
    rows = []
    for layout in measured.LAYOUTS:
        for name, one in stored_by(result, layout).items():
            rows.append(
                (
                    name,
                    layout,
                    f"{one['rank_bytes_max_over_mean']:.3f}",
                    one["rank_bytes_by"],
                    f"{one['tile_bytes_max_over_mean']:.3f}",
                )
            )
    return [
        output.text(
            f"**Every output on {request.ranks} ranks**, busiest / mean by bytes in its file. The "
            "chunks of HDF5 are of the grid, and no tiles: each counts for the rank that has most "
            "of it, which is the one that HDF5 lets compress it."
        ),
        output.table(IN_FILES, rows),
    ]


ITEM = Item("tile-sizes", "Paragraph 2, tiles", "Compressed tiles are alike in size", needs, find)
