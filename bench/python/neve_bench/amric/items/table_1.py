# SPDX-License-Identifier: BSD-3-Clause
"""Table 1: the runs, with the density of each level."""

from __future__ import annotations

import statistics

from ...paper import output
from ...paper.item import DESCRIBED, Finding, Item
from ...paper.numbers import counted, number
from ..files import File, Settings
from ..results import Results, listed, span_and_mean

# Run, ranks, grid of each level, density of each level in percent, size of a step, bounds of AMRIC
# and of AMReX.
PAPER = (
    ("WarpX_1", 64, "256x256x2048, 512x512x4096", (98.04, 1.96), "12.4 GB", (1e-3, 5e-3)),
    ("WarpX_2", 512, "512x512x4096, 1024x1024x8192", (98.05, 1.96), "99.3 GB", (1e-3, 5e-3)),
    ("WarpX_3", 4096, "1024x1024x8192, 2048x2048x16384", (98.96, 1.04), "624 GB", (1e-4, 5e-4)),
    ("Nyx_1", 64, "256x256x256, 512x512x512", (98.6, 1.4), "1.6 GB", (1e-3, 1e-2)),
    ("Nyx_2", 512, "512x512x512, 1024x1024x1024", (96.67, 3.23), "12 GB", (1e-3, 1e-2)),
    ("Nyx_3", 4096, "1024x1024x1024, 2048x2048x2048", (98.3, 1.7), "97.5 GB", (1e-3, 1e-2)),
)
HEADER = ("run", "steps", "levels", "ranks", "grids", "density, %", "size of a step", "bounds")
MEGABYTE = 1e6


def needs(_: File, __: Settings) -> tuple[()]:
    return ()


def _paper_rows() -> list[tuple[str, ...]]:
    return [
        (
            f"paper's {run}",
            "-",
            "2",
            str(ranks),
            grids,
            listed(densities, _percent),
            size,
            _of(pair),
        )
        for run, ranks, grids, densities, size, pair in PAPER
    ]


def _percent(value: float | None) -> str:
    return number(value, 4)


def _of(bounds: tuple[float, ...]) -> str:
    return ", ".join(f"{bound:g}" for bound in bounds)


def densities(steps: list[File]) -> list[list[float]]:
    """Of each level, in percent of its domain, of the steps that have the level."""
    most = max(len(file.levels) for file in steps)
    return [
        [100 * file.levels[level]["density"] for file in steps if level < len(file.levels)]
        for level in range(most)
    ]


def find(results: Results) -> Finding:
    rows = _paper_rows()
    for run, steps in results.runs.items():
        widest = max(steps, key=lambda file: len(file.levels))
        grids = ", ".join("x".join(map(str, level["grid"])) for level in widest.levels)
        size = statistics.fmean(file.look["raw_bytes"] for file in steps) / MEGABYTE
        rows.append(
            (
                run,
                str(len(steps)),
                str(len(widest.levels)),
                ", ".join(map(str, results.settings.ranks)) or "-",
                grids,
                "; ".join(span_and_mean(of_level, digits=4) for of_level in densities(steps)),
                f"{number(size)} MB",
                _of(results.settings.bounds),
            )
        )
    finest = [100 * file.levels[-1]["density"] for file in results.files]
    return Finding(
        DESCRIBED,
        "6 runs of 2 levels, finest on 1.04 to 3.23 % of the domain, 1.6 to 624 GB a step",
        f"{counted(len(results.runs), 'run')}, {counted(len(results.files), 'file')}, finest level "
        f"on {span_and_mean(finest, ' %')} of the domain",
        "neve info shows densities",
        "sizes of hundreds of GB a step need a machine like Summit",
        [output.table(HEADER, rows)],
        {
            run: [statistics.fmean(of_level) for of_level in densities(steps)]
            for run, steps in results.runs.items()
        },
    )


ITEM = Item("table-1", "Table 1", "The runs", needs, find)
