# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a write goes, by strategy (figures 17 and 18 of the AMRIC paper)."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import methods

STRATEGIES = ("skeleton", "filtered", methods.AMREX_1D)
NATIVE = "uncompressed"  # AMReX's plotfile of the same fields: one stage, write
STAGES = ("plan", "encode", "place", "put", "sync", "write")


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
        launch = ["mpirun", "--oversubscribe", "-n", str(rank_count)]
        if os.geteuid() == 0:
            launch.insert(1, "--allow-run-as-root")
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in (*STRATEGIES, NATIVE)}
        for _ in range(max(repeats, 1)):
            for strategy, reports in runs.items():  # in turns: a disturbance meets all
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
                reports.append(methods.run_json([*launch, *words], limit))
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
