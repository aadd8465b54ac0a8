# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a write goes, by strategy (figures 17 and 18 of the AMRIC paper)."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import methods

STRATEGIES = ("skeleton", "filtered", methods.AMREX_1D)
STAGES = ("plan", "encode", "place", "put", "sync")


def measure(
    command: Path,
    source: Path,
    scratch: Path,
    rel: float,
    ranks: Sequence[int],
    repeats: int,
    limit: float,
) -> list[dict[str, Any]]:
    """A row for each strategy and number of ranks: medians of each stage, codec auto fast."""
    rows = []
    for rank_count in ranks:
        launch = ["mpirun", "--oversubscribe", "-n", str(rank_count)]
        if os.geteuid() == 0:
            launch.insert(1, "--allow-run-as-root")
        runs: dict[str, list[dict[str, Any]]] = {strategy: [] for strategy in STRATEGIES}
        for _ in range(max(repeats, 1)):
            for strategy, reports in runs.items():  # in turns: a disturbance meets all
                target = scratch / "write.h5"
                target.unlink(missing_ok=True)
                words = [str(command), "convert", str(source), str(target), "--json"]
                words += ["--bound", f"rel={rel!r}", "--strategy", strategy]
                reports.append(methods.run_json([*launch, *words], limit))
        for strategy, reports in runs.items():
            rows.append(
                {
                    "strategy": strategy,
                    "ranks": rank_count,
                    "stored_bytes": reports[0]["stored_bytes"],
                    "seconds": {
                        stage: statistics.median(r["seconds"][stage] for r in reports)
                        for stage in STAGES
                    },
                }
            )
    return rows
