# SPDX-License-Identifier: BSD-3-Clause
"""Everything measured, a line each: for the CSV and the JSON file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .requests import Point
from .results import Results

OF_A_LEVEL = (
    "held_cells",
    "raw_bytes",
    "stored_bytes",
    "ratio",
    "psnr_db",
    "violations",
    "specials_lost",
)
OF_A_POINT = ("max_error_over_bound", "encode_seconds", "decode_seconds")
ONLY_OF_A_LEVEL = ("bound_abs", "rms_error", "max_abs_error")
COLUMNS = (
    "file",
    "run",
    "step",
    "field",
    "way",
    "cells",
    "rel",
    "level",  # "all", or a number
    *OF_A_LEVEL,
    *OF_A_POINT,
    *ONLY_OF_A_LEVEL,
    "note",  # why there is nothing
)


def rows(results: Results) -> Iterator[dict[str, Any]]:
    for (file, request), _ in results.records.items():
        if not isinstance(request, Point):
            continue
        head = dict.fromkeys(COLUMNS) | {
            "file": file.name,
            "run": file.run,
            "step": file.step,
            "field": request.field,
            "way": request.way,
            "cells": request.cells,
            "rel": request.rel,
            "level": "all",
        }
        row = results.result(file, request)
        if row is None:
            yield head | {"note": results.reason(file, request)}
            continue
        yield head | {name: row[name] for name in (*OF_A_LEVEL, *OF_A_POINT)}
        for level in row["levels"]:
            there = {name: level.get(name) for name in (*OF_A_LEVEL, *ONLY_OF_A_LEVEL)}
            yield head | {"level": level["level"]} | there


def broken(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The points with values outside of the bound, or special values that did not come back."""
    return [
        row
        for row in found
        if row["level"] == "all" and (row["violations"] or row["specials_lost"])
    ]


def writes(results: Results) -> list[dict[str, Any]]:
    """What the parallel writes took."""
    return [
        {"file": file.name, "ranks": ranks, **row}
        for file in results.files
        for ranks, result in results.writes(file)
        for row in result["rows"]
    ]
