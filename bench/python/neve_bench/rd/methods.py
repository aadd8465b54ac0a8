# SPDX-License-Identifier: BSD-3-Clause
"""What this project can do to a file, each forced through `neve convert`, and its measurement."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import covered
from ..method import megabytes_per_second
from ..programs import json_of

EFFORTS = ("fast", "balanced", "max")
CODECS = ("dual_quant", "lorenzo_regression", "interpolation", "context")
# (arrangement, side of its unit blocks; None: whole boxes)
ARRANGEMENTS = (
    ("linear", None),
    ("linear", 8),
    ("linear", 16),
    ("cluster", 8),
    ("cluster", 16),
    ("in_place", None),
)
# The codecs an effort's time allows. The best of them, forced, is what auto is held against.
EFFORT_CODECS = {
    "fast": ("dual_quant",),
    "balanced": ("dual_quant", "interpolation"),
    "max": CODECS,
}
AMREX_1D = "amrex-1d"
SLE = "lorenzo_regression linear 8, max"  # AMRIC's: shared encoding, adaptive block
FIXED_BLOCK = "lorenzo_regression linear 8 block 6, max"
MERGED = "lorenzo_regression linear 8 merged, max"


@dataclass(frozen=True)
class Method:
    name: str
    options: tuple[str, ...]
    effort: str | None = None  # with which the codec runs
    forced_codec: str | None = None


def auto_name(effort: str) -> str:
    return f"auto {effort}"


def _forced(codec: str, arrangement: str, unit: int | None, effort: str) -> Method:
    options = ["--codec", codec, "--arrangement", arrangement, "--effort", effort]
    name = f"{codec} {arrangement}"
    if unit is not None:
        options += ["--unit", str(unit)]
        name += f" {unit}"
    return Method(f"{name}, {effort}", tuple(options), effort, codec)


def _sle_variant(name: str, *options: str) -> Method:
    """For the comparison with SLE only: not a candidate for the best forced choice."""
    shared = ("--codec", "lorenzo_regression", "--arrangement", "linear", "--unit", "8")
    return Method(name, (*shared, "--effort", "max", *options), "max")


def methods(covered_cells: str = covered.DEFAULT) -> list[Method]:
    """All of them; `covered_cells` is what `neve convert --covered` is told, but of amrex-1d, which
    stores every cell.
    """
    listed = [
        Method(auto_name(effort), ("--codec", "auto", "--effort", effort), effort)
        for effort in EFFORTS
    ]
    for effort in reversed(EFFORTS):
        for codec in EFFORT_CODECS[effort]:
            listed += [_forced(codec, *arrangement, effort) for arrangement in ARRANGEMENTS]
    listed += [
        _sle_variant(FIXED_BLOCK, "--block", "6"),
        _sle_variant(MERGED, "--block", "6", "--merge-units"),
    ]
    told = ("--covered", covered_cells)
    listed = [replace(method, options=(*method.options, *told)) for method in listed]
    return [*listed, Method(AMREX_1D, ("--strategy", AMREX_1D))]


def convert(
    command: Path, source: Path, target: Path, rel: float, options: Sequence[str], limit: float
) -> dict[str, Any]:
    # Valid cells alone, as all methods and peers: ghosts would keep boxes out of their places.
    words = [str(command), "convert", str(source), str(target), "--bound", f"rel={rel!r}"]
    words += ["--ghosts", "drop"]
    return json_of([*words, "--threads", "1", "--json", *options], limit)


def verify(command: Path, source: Path, copy: Path, limit: float) -> dict[str, Any]:
    # 3: a value outside its bound. That is a result here, and it is counted.
    return json_of([str(command), "verify", str(source), str(copy), "--json"], limit, (0, 3))


def file_psnr(levels: Sequence[dict[str, Any]]) -> float | None:
    """Of the squared errors of all held cells, each in units of its level's range, to which the
    bounds refer. None where there is no error, or no range.
    """
    total = cells = 0.0
    for level in levels:
        cells += level["held_cells"]
        if level["psnr_db"] is not None:
            total += level["held_cells"] * 10 ** (-level["psnr_db"] / 10)
    return -10 * math.log10(total / cells) if total > 0 else None


def row_of(levels: list[dict[str, Any]], **what: Any) -> dict[str, Any]:
    """A field's row out of its levels."""
    raw = sum(level["raw_bytes"] for level in levels)
    stored = sum(level["stored_bytes"] for level in levels)
    cells = sum(level["cells"] for level in levels)
    over = [level["max_abs_error"] / level["bound_abs"] for level in levels if level["bound_abs"]]
    return {
        **what,
        "raw_bytes": raw,
        "stored_bytes": stored,
        "ratio": raw / stored,
        "bits_per_cell": 8 * stored / cells,
        "psnr_db": file_psnr(levels),
        "max_error_over_bound": max(over, default=0.0),
        "violations": sum(level["violations"] for level in levels),
        "specials_lost": sum(level["specials_lost"] for level in levels),
        "levels": levels,
    }


def measure(
    command: Path,
    method: Method,
    source: Path,
    target: Path,
    rel: float,
    repeats: int,
    limit: float,
) -> list[dict[str, Any]]:
    """A row for each field. The encoding time is of all fields together: they share chunks."""
    reports = []
    for _ in range(max(repeats, 1)):
        target.unlink(missing_ok=True)
        reports.append(convert(command, source, target, rel, method.options, limit))
    verdict = verify(command, source, target, limit)
    encode_seconds = statistics.median(r["seconds"]["encode"] for r in reports)
    rows: dict[str, list[dict[str, Any]]] = {}
    for written, checked in zip(reports[0]["levels"], verdict["levels"], strict=True):
        for field, found in zip(written["fields"], checked["fields"], strict=True):
            left_out = found["left_out"]
            rows.setdefault(field["name"], []).append(
                {
                    "level": written["level"],
                    "raw_bytes": found["raw_bytes"],
                    "stored_bytes": found["stored_bytes"],
                    "cells": found["cells"],
                    "held_cells": found["cells"] - left_out["cells"],
                    "psnr_db": found["psnr_db"],
                    "max_abs_error": max(found["max_abs_error"], left_out["max_abs_error"]),
                    "bound_abs": found["bound_abs"],
                    "violations": found["violations"] + left_out["beyond_bound"],
                    "specials_lost": found["special_mismatches"],
                    "codec": field["codec"],
                    "arrangement": field["arrangement"],
                }
            )
    raw = reports[0]["raw_bytes"]
    return [
        row_of(
            levels,
            field=field,
            method=method.name,
            rel=rel,
            encode_mb_per_s=megabytes_per_second(raw, encode_seconds),
        )
        for field, levels in rows.items()
    ]
