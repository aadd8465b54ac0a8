# SPDX-License-Identifier: BSD-3-Clause
"""Runs as rows of medians, and what two layouts or two compressions show against each other."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from ..machines import Machine, machines_of
from .deck import Cell, Deck
from .runs import Store

MEGABYTE = 1e6
UNCOMPRESSED = ("none", "chunked")
# A sign test of fewer pairs of runs than this cannot tell anything from chance.
OTHERS = {"neve": "hdf5"}
CONTROL = "one rank (the same tiles twice)"
MIN_PAIRS = 6
LIKELY_CHANCE = 0.05

COLUMNS = (
    "app",
    "part",
    "output",
    "container",
    "compression",
    "covered",
    "layout",
    "ranks",
    "runs",
    "failed_runs",
    "raw_bytes",
    "file_bytes",
    "ratio",
    "write_seconds",
    "write_seconds_min",
    "write_seconds_max",
    "write_MBps",
    "read_seconds",
    "read_MBps",
    "make_seconds",
    "compress_seconds",
    "max_over_mean",
    "points_max_over_mean",
    "rank_bytes_max_over_mean",
    "tile_bytes_max_over_mean",
    "max_abs_error",
    "wrong_values",
    "disk_MBps",
    "of_disk",
    "error",
)


def disk_bandwidth(deck: Deck, store: Store) -> dict[int, float]:
    """Median MB/s by ranks; without those that failed."""
    found = {}
    for cell in deck.disk:
        results = [record["result"] for record in _records(store, cell, deck.repeats).values()]
        values = [result["write_MBps"] for result in results if result is not None]
        if values:
            found[cell.ranks] = statistics.median(values)
    return found


def rows(deck: Deck, store: Store) -> list[dict[str, Any]]:
    """One of each cell, or of each part of one (the grid and the surface of cartiso); a cell whose
    runs all failed has its error alone. Cells that were not run yet are left out.
    """
    disk = disk_bandwidth(deck, store)
    found = []
    for cell in deck.cells:
        records = _records(store, cell, deck.repeats)
        if not records:
            continue
        errors = [record["error"] for record in records.values() if record["error"] is not None]
        head = {
            "app": cell.app,
            "part": "",
            "output": cell.output,
            "layout": cell.layout,
            "ranks": cell.ranks,
            "runs": len(records),
            "failed_runs": len(errors),
            "error": errors[0] if errors else None,
        }
        by_part: dict[str, dict[int, dict[str, Any]]] = {}
        for repeat, record in records.items():
            for part, run in _parts(cell.app, record["result"]):
                by_part.setdefault(part, {})[repeat] = run
        if not by_part:
            found.append(head)
        for part, runs in by_part.items():
            found.append({**head, "part": part, **_medians(runs, disk.get(cell.ranks))})
    return found


def machines(deck: Deck, store: Store) -> list[Machine | None]:
    return machines_of(
        record
        for cell in (*deck.disk, *deck.cells)
        for record in _records(store, cell, deck.repeats).values()
    )


def _records(store: Store, cell: Cell, repeats: int) -> dict[int, dict[str, Any]]:
    records = {repeat: store.get(cell, repeat) for repeat in range(repeats)}
    return {repeat: record for repeat, record in records.items() if record is not None}


def _parts(app: str, result: dict[str, Any] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """(part, what was measured of one run)."""
    if result is None:
        return
    common: dict[str, Any] = {"make_seconds": result.get("make_seconds")}
    if app == "struct":
        layout = result["layouts"][0]
        keys = ("make_seconds", "max_over_mean", "points_max_over_mean")
        yield "", {**{key: layout[key] for key in keys}, **layout["outputs"][0]}
    elif app == "amr":
        common["covered"] = result.get("covered")
        common["max_over_mean"] = max(step["max_over_mean"] for step in result["steps"])
        yield "", {**common, **result["methods"][0]}
    else:
        parts = {"cartiso": ("grid", "surface"), "unstruct": ("value", "connectivity")}[app]
        for part in parts:
            for output in result[f"{part}_outputs"]:
                yield part, {**common, **output}


def _medians(by_repeat: dict[int, dict[str, Any]], disk_mbps: float | None) -> dict[str, Any]:
    runs = list(by_repeat.values())

    def median(key: str) -> float | None:
        values = [run[key] for run in runs if run.get(key) is not None]
        return statistics.median(values) if values else None

    first = runs[0]
    verified = [run["verified"] for run in runs if "verified" in run]
    writes = [run["write_seconds"] for run in runs]
    seconds = statistics.median(writes)
    row = {
        "container": first["container"],
        "compression": first["compression"],
        "covered": first.get("covered"),  # of amr: what becomes of cells a finer level covers
        "raw_bytes": first["raw_bytes"],
        "file_bytes": int(statistics.median(run["file_bytes"] for run in runs)),
        "ratio": median("ratio"),
        "write_seconds": seconds,
        "write_seconds_min": min(writes),
        "write_seconds_max": max(writes),
        "write_runs": {repeat: run["write_seconds"] for repeat, run in by_repeat.items()},
        "write_MBps": first["raw_bytes"] / seconds / MEGABYTE,
        "read_seconds": median("read_seconds"),
        "read_MBps": median("read_MBps"),
        "make_seconds": median("make_seconds"),
        "compress_seconds": median("compress_seconds"),
        "max_over_mean": median("max_over_mean"),
        "points_max_over_mean": median("points_max_over_mean"),
        # Of bytes: in the file, and of each rank's part compressed by itself.
        "rank_bytes_max_over_mean": median("rank_bytes_max_over_mean"),
        "tile_bytes_max_over_mean": median("tile_bytes_max_over_mean"),
        "max_abs_error": max((one["max_abs_error"] for one in verified), default=None),
        "wrong_values": sum(one["wrong"] for one in verified) if verified else None,
        "disk_MBps": disk_mbps,
        "of_disk": None,
    }
    if disk_mbps:
        row["of_disk"] = row["write_MBps"] / disk_mbps
    return row


def as_csv(table: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def measured(table: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in table if "write_seconds" in row]


# ---- comparisons ------------------------------------------------------------------------------


def sign_test(wins: int, losses: int) -> float:
    """Chance of as many wins or losses, or more, of either of two that are alike."""
    count, most = wins + losses, max(wins, losses)
    if count == 0:
        return 1.0
    tail = sum(math.comb(count, k) for k in range(most, count + 1)) / 2**count
    return min(1.0, 2 * tail)


def against(first: Iterable[dict[str, Any]], second: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Rows of two lists that belong together, by their runs: the seconds of the second over those
    of the first. Runs of one repeat are compared with each other.
    """
    factors = [
        other["write_runs"][repeat] / seconds
        for one, other in zip(first, second, strict=True)
        for repeat, seconds in one["write_runs"].items()
        if repeat in other["write_runs"]
    ]
    wins, losses = sum(f > 1 for f in factors), sum(f < 1 for f in factors)
    return {
        "pairs": len(factors),
        "wins": wins,
        "median": statistics.median(factors) if factors else None,
        "min": min(factors, default=None),
        "max": max(factors, default=None),
        "chance": sign_test(wins, losses),
        "factors": factors,
    }


def is_told(comparison: dict[str, Any]) -> bool:
    return comparison["pairs"] >= MIN_PAIRS and comparison["chance"] < LIKELY_CHANCE


def layouts_compared(table: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Unbalanced tiles against balanced ones of struct: without and with compression, and by
    compression. On one rank both are the same: what differs there is noise.
    """
    by_place: dict[tuple, dict[str, dict[str, Any]]] = {}
    for row in measured(table):
        if row["app"] == "struct":
            place = (row["output"], row["ranks"])
            by_place.setdefault(place, {})[row["layout"]] = row
    both = [pair for pair in by_place.values() if {"unbalanced", "balanced"} <= pair.keys()]
    groups: dict[str, list[dict[str, dict[str, Any]]]] = {}
    for pair in both:
        compression = pair["balanced"]["compression"]
        if pair["balanced"]["ranks"] == 1:
            groups.setdefault(CONTROL, []).append(pair)
            continue
        group = "without compression" if compression in UNCOMPRESSED else "with compression"
        groups.setdefault(group, []).append(pair)
        if compression not in UNCOMPRESSED:
            groups.setdefault(compression, []).append(pair)
    return {
        name: against([p["unbalanced"] for p in pairs], [p["balanced"] for p in pairs])
        for name, pairs in groups.items()
    }


def compressions_compared(
    table: Iterable[dict[str, Any]], app: str, name: str, other: str
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Rows of an app with one compression, and those with another in the same place: the same
    container, or that of HDF5 for Neve's own.
    """
    rows = [row for row in measured(table) if row["app"] == app]
    place = ("part", "layout", "ranks")
    return [
        (ours, theirs)
        for ours in rows
        for theirs in rows
        if ours["compression"] == name
        and theirs["compression"] == other
        and all(ours[key] == theirs[key] for key in place)
        and theirs["container"] in (ours["container"], OTHERS.get(ours["container"]))
    ]
