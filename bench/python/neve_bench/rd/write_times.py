# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a write goes, by strategy (figures 17 and 18 of the AMRIC paper)."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import timing
from ..programs import json_of, mpirun
from . import methods

STRATEGIES = ("skeleton", "filtered", methods.AMREX_1D)
NATIVE = "uncompressed"  # AMReX's plotfile of the same fields: one stage, write
STAGES = ("plan", "encode", "place", "write", "sync")


def measure(
    command: Path,
    source: Path,
    scratch: Path,
    rel: float,
    ranks: Sequence[int],
    repeats: int,
    limit: float,
    covered: str,
) -> list[dict[str, Any]]:
    """A row for each strategy and number of ranks: medians of each stage, codec auto fast."""
    rows = []
    for rank_count in ranks:

        def write(strategy: str) -> dict[str, Any]:
            target = scratch / ("plain" if strategy == NATIVE else "write.h5")
            if target.is_dir():
                shutil.rmtree(target)
            target.unlink(missing_ok=True)
            words = [str(command), "convert", str(source), str(target), "--json"]
            if strategy != NATIVE:
                words += ["--bound", f"rel={rel!r}", "--strategy", strategy]
                words += ["--ghosts", "drop"]
                if strategy != methods.AMREX_1D:  # which stores every cell
                    words += ["--covered", covered]
            return json_of([*mpirun(rank_count), *words], limit)  # noqa: B023

        runs = timing.in_turns((*STRATEGIES, NATIVE), max(repeats, 1), write)
        for strategy, reports in runs.items():
            rows.append(
                {
                    "strategy": strategy,
                    "ranks": rank_count,
                    "stored_bytes": reports[0]["stored_bytes"],
                    "seconds": {
                        stage: statistics.median(r["seconds"].get(stage, 0.0) for r in reports)
                        for stage in STAGES
                    },
                }
            )
    return rows
