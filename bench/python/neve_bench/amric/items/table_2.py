# SPDX-License-Identifier: BSD-3-Clause
"""Table 2: compression ratios, means over fields and steps."""

from __future__ import annotations

from ...paper import output
from ...paper.item import Finding, Item
from .. import tables, tell
from ..results import Results, geomean, listed, times, worst
from ..ways import NEVE

# Run, AMReX (1D), AMRIC (SZ_L/R), AMRIC (SZ_Interp).
PAPER = (
    ("WarpX_1", 16.4, 267.3, 482.1),
    ("WarpX_2", 117.5, 461.2, 2406.0),
    ("WarpX_3", 29.6, 949.0, 4753.7),
    ("Nyx_1", 8.8, 15.0, 14.0),
    ("Nyx_2", 8.8, 16.6, 14.2),
    ("Nyx_3", 8.7, 16.3, 13.6),
)

ARITHMETIC = "the arithmetic mean of the ratios of all fields and steps, as the paper's"
MEANS = "geometric means over runs, each at each bound once, of the table's arithmetic means"
GAINS = (
    "all bytes of the better way for each field and step over Neve's, geometric mean over runs and "
    "bounds"
)


def _why(factors: list[tuple[float, tables.Line]]) -> str:
    behind = [(factor, line) for factor, line in factors if tell.standing(factor) != tell.AHEAD]
    if not behind:
        return ""
    names = [
        f"{line.run} at {line.cells[1]} ({times(factor)})"
        for factor, line in sorted(behind, key=lambda pair: pair[0])
    ]
    at_one = any(line.bound == line.amrex_bound for _, line in behind)
    said = "" if at_one else ": only where AMReX has a bound 5 or 10 times as large"
    return f"not for {worst(names)}{said}"


def find(results: Results) -> Finding:
    lines = tables.lines(results, "ratio")
    # The paper's claim is of its own pairs of bounds, and holds the more at one bound for both.
    compared = [line for line in lines if line.values[0] is not None and tables.best_of_amric(line)]
    once = tables.at_one_bound(lines)
    gains = [
        geomean(tables.bytes_over(results, line, way) for line in once) for way in NEVE.values()
    ]
    factors = [(tables.best_of_amric(line) / line.values[0], line) for line in compared]
    return Finding(
        tell.verdict_of_standings([tell.standing(factor) for factor, _ in factors]),
        "AMReX / SZ_L/R / SZ_Interp: Nyx 8.8 / 15.0 to 16.6 / 13.6 to 14.2; WarpX 16.4 to 117.5 / "
        "267 to 949 / 482 to 4754",
        f"{MEANS}: {listed(tables.column(once, p) for p in (0, 2, 3))}",
        f"fast, balanced, max: {listed(tables.column(once, p) for p in (4, 5, 6))}; over the "
        f"better of AMRIC's: {listed(gains, times)} ({GAINS})",
        _why(factors),
        [
            tables.paper_table(PAPER),
            output.text(f"Each value is {ARITHMETIC}."),
            tables.table(lines),
        ],
        {
            "over_amric": dict(zip(NEVE, gains, strict=True)),
            "lines": [
                {"run": line.run, "bound": line.bound, "amrex_bound": line.amrex_bound}
                | dict(zip(tables.COLUMNS[2:], line.values, strict=True))
                for line in lines
            ],
        },
    )


ITEM = Item("table-2", "Table 2", "Compression ratios", tables.needs, find)
