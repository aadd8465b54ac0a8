# SPDX-License-Identifier: BSD-3-Clause
"""Every stored, timed and counted output as a line of the CSV file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .requests import Counted, Disk, Stored, Timed
from .results import Results

COLUMNS = (
    "how",  # stored, timed, counted, disk
    "app",
    "words",  # of the command that made it
    "ranks",  # of counted: tiles
    "repeat",
    "layout",
    "output",
    "raw_bytes",
    "file_bytes",
    "ratio",
    "write_seconds",
    "compress_seconds",
    "write_MBps",
    "wrong_values",
    "max_abs_error",
    "valid_points_busiest_over_mean",
    "raw_bytes_busiest_over_mean",
    "tile_bytes_busiest_over_mean",
    "rank_bytes_busiest_over_mean",
    "rank_bytes_by",
)
Row = dict[str, Any]
COPIED = ("raw_bytes", "file_bytes", "ratio")
OF_TIMES = ("write_seconds", "compress_seconds", "write_MBps")
LISTS = ("methods", "grid_outputs", "surface_outputs", "value_outputs", "connectivity_outputs")


def rows(results: Results) -> Iterator[Row]:
    for request, result in results.of_kind(Stored):
        head = {"how": "stored", "app": request.app, "words": " ".join(request.words)}
        for layout, one in _outputs(result):
            yield {**head, "ranks": request.ranks, **layout, **_stored(one)}
    for request, result in results.of_kind(Timed):
        head = {"how": "timed", "app": "struct", "words": " ".join(request.words)}
        for layout, one in _outputs(result):
            times = {key: one.get(key) for key in OF_TIMES}
            yield {
                **head,
                "ranks": request.ranks,
                "repeat": request.repeat,
                **layout,
                **_stored(one),
                **times,
            }
    for request, result in results.of_kind(Counted):
        head = {"how": "counted", "app": "struct", "words": " ".join(request.words)}
        for count in result["tile_counts"]:
            for one in count["outputs"]:
                yield {
                    **head,
                    "ranks": count["tiles"],
                    **_layout(count),
                    "output": one["output"],
                    "tile_bytes_busiest_over_mean": one["tile_bytes_max_over_mean"],
                }
    for request, result in results.of_kind(Disk):
        yield {
            "how": "disk",
            "ranks": request.ranks,
            "repeat": request.repeat,
            "write_MBps": result["write_MBps"],
        }


def _layout(one: dict[str, Any]) -> Row:
    return {
        "layout": one["name"],
        "valid_points_busiest_over_mean": one["max_over_mean"],
        "raw_bytes_busiest_over_mean": one["points_max_over_mean"],
    }


def _outputs(result: dict[str, Any]) -> Iterator[tuple[Row, dict[str, Any]]]:
    for layout in result.get("layouts", []):
        for one in layout["outputs"]:
            yield _layout(layout), one
    for name in LISTS:
        for one in result.get(name, []):
            yield {}, one


def _stored(one: dict[str, Any]) -> Row:
    verified = one.get("verified", {})
    return {
        "output": one["output"],
        **{key: one[key] for key in COPIED},
        "wrong_values": verified.get("wrong"),
        "max_abs_error": verified.get("max_abs_error"),
        "tile_bytes_busiest_over_mean": one.get("tile_bytes_max_over_mean"),
        "rank_bytes_busiest_over_mean": one.get("rank_bytes_max_over_mean"),
        "rank_bytes_by": one.get("rank_bytes_by"),
    }
