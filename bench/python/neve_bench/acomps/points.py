# SPDX-License-Identifier: BSD-3-Clause
"""Every measured method, choice, step and cycle as a line of the CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .requests import WEIGHTS, Cycle, Followed, StepTables, Table, Weighed
from .results import Results

COLUMNS = (
    "how",  # method: one that was named; chosen: Neve's choice; step: in a series; cycle
    "what",  # variable or series
    "step",
    "method",
    "candidates",
    "ratio_weight",
    "speed_weight",
    "delta",
    "speeds",
    "reason",
    "performance",
    "raw_bytes",
    "bytes",
    "ratio",
    "encode_seconds",
    "decode_seconds",
    "choosing_seconds",
    "is_exact",
)
Row = dict[str, Any]


def rows(results: Results) -> Iterator[Row]:
    for request, record in results.records.items():
        made = _BY_KIND.get(type(request))
        if made is not None and record["result"] is not None:
            for row in made(request, record["result"]):
                yield {"is_exact": None, **row}


def _of_methods(what: str, table: Mapping[str, Any], step: Any = "") -> Iterator[Row]:
    for method, one in table["methods"].items():
        if "bytes" in one:
            yield {
                "how": "method",
                "what": what,
                "step": step,
                "method": method,
                "raw_bytes": table["raw_bytes"],
                "bytes": one["bytes"],
                "ratio": table["raw_bytes"] / one["bytes"],
                "encode_seconds": one["encode_s"],
                "decode_seconds": one["decode_s"],
                "is_exact": one["is_exact"],
            }


def _table(request: Table, result: Mapping[str, Any]) -> Iterator[Row]:
    yield from _of_methods(request.variable, result)


def _step_tables(request: StepTables, result: Mapping[str, Any]) -> Iterator[Row]:
    for step, table in enumerate(result["steps"]):
        yield from _of_methods(request.series, table, step)


def _weighed(request: Weighed, result: Mapping[str, Any]) -> Iterator[Row]:
    for (ratio_weight, speed_weight), one in zip(WEIGHTS, result["choices"], strict=True):
        yield {
            "how": "chosen",
            "what": request.variable,
            "method": one["method"],
            "candidates": request.candidates,
            "ratio_weight": ratio_weight,
            "speed_weight": speed_weight,
            "speeds": "typical",
            "bytes": one["bytes"],
            "encode_seconds": one["coding_s"],
            "choosing_seconds": one["choosing_s"],
        }


def _followed(request: Followed, result: Mapping[str, Any]) -> Iterator[Row]:
    for run in result["runs"]:
        for step, one in enumerate(run["log"]):
            yield {
                "how": "step",
                "what": request.series,
                "step": step,
                "method": one["method"],
                "candidates": request.candidates,
                "ratio_weight": run["weights"][0],
                "speed_weight": run["weights"][1],
                "delta": run["delta"],
                "speeds": request.speeds,
                "reason": one["reason"],
                "performance": one["performance"],
                "bytes": one["bytes"],
                "encode_seconds": one["coding_s"],
                "choosing_seconds": one["choosing_s"],
            }


def _cycle(request: Cycle, result: Mapping[str, Any]) -> Iterator[Row]:
    for one in result["methods"]:
        yield {
            "how": "cycle",
            "what": " ".join(request.words),
            "step": request.number,
            "method": one["name"],
            "raw_bytes": result["raw_bytes"],
            "bytes": one["bytes"],
            "ratio": result["raw_bytes"] / one["bytes"],
            "encode_seconds": one["seconds"]["write"],
            "decode_seconds": one["seconds"]["read"],
        }


_BY_KIND: dict[type, Any] = {
    Table: _table,
    StepTables: _step_tables,
    Weighed: _weighed,
    Followed: _followed,
    Cycle: _cycle,
}
