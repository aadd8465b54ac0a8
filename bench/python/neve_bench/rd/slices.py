# SPDX-License-Identifier: BSD-3-Clause
"""Errors of several methods at about equal ratio (figures 6, 9, 10 and 15 of the AMRIC paper)."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import neve
from neve.plotfile import Slice

from ..programs import json_of
from . import methods

SHOWN = (methods.auto_name("max"), methods.SLE, methods.MERGED, methods.AMREX_1D)
MAX_TRIALS = 8
CLOSE_ENOUGH = 0.02  # of the ratio
WIDEST_REL, NARROWEST_REL = 0.3, 1e-7


def target_ratio(rows: Sequence[dict[str, Any]], field: str, rel: float) -> float | None:
    """Between the best and the worst of the shown at `rel`, so that neither goes far from it."""
    ratios = [
        row["ratio"]
        for row in rows
        if row["field"] == field and row["rel"] == rel and row["method"] in SHOWN and "ratio" in row
    ]
    return math.sqrt(min(ratios) * max(ratios)) if len(ratios) > 1 else None


def at_ratio(
    command: Path,
    method: methods.Method,
    source: Path,
    target: Path,
    wanted: float,
    start_rel: float,
    limit: float,
) -> dict[str, Any]:
    """Searches the bound whose ratio is `wanted`; `target` holds the last file tried. Regula falsi
    in the logarithms, bisection where it stalls.
    """
    low, high = NARROWEST_REL, WIDEST_REL
    rel = start_rel
    row: dict[str, Any] = {}
    for _ in range(MAX_TRIALS):
        (row,) = methods.measure(command, method, source, target, rel, 1, limit)
        off = math.log(row["ratio"] / wanted)
        if abs(off) <= CLOSE_ENOUGH:
            break
        low, high = (rel, high) if off < 0 else (low, rel)
        # Halving the bits takes about the square root of the precision: a step of 2 in the log
        # of the bound for each in that of the ratio is a fair first guess.
        guess = math.log(rel) - 2 * off
        inside = math.log(low) < guess < math.log(high)
        rel = math.exp(guess if inside else (math.log(low) + math.log(high)) / 2)
    return row


def errors(
    command: Path, original: Path, copy: Path, field: str, limit: float
) -> tuple[Slice, np.ndarray]:
    # A plain plotfile of the copy: chunks of 1024 values hold no boxes that a reader could ask for.
    plain = copy.with_name("plain")
    shutil.rmtree(plain, ignore_errors=True)
    json_of([str(command), "convert", str(copy), str(plain), "--json"], limit)
    with neve.open(original) as source, neve.open(plain) as copied:
        theirs, mine = source.slice(field), copied.slice(field)
    with np.errstate(invalid="ignore"):
        return theirs, np.abs(mine.values.astype(np.float64) - theirs.values.astype(np.float64))
