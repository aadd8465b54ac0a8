# SPDX-License-Identifier: BSD-3-Clause
"""Table 3: PSNR, means over fields and steps."""

from __future__ import annotations

from ...paper.item import Finding, Item, verdict_of
from .. import tables
from ..results import Results, listed

# Run, AMReX (1D), AMRIC (SZ_L/R), AMRIC (SZ_Interp), dB.
PAPER = (
    ("Nyx_1", 52.5, 66.8, 66.5),
    ("Nyx_2", 56.7, 69.1, 68.9),
    ("Nyx_3", 54.9, 68.3, 68.0),
    ("WarpX_1", 73.6, 80.3, 79.9),
    ("WarpX_2", 78.5, 83.8, 88.7),
    ("WarpX_3", 82.5, 97.9, 103.1),
)


def find(results: Results) -> Finding:
    lines = tables.lines(results, "psnr_db")
    # The paper's two sides have bounds of their own: AMReX's is 5 or 10 times as large.
    apart = [line for line in lines if line.bound != line.amrex_bound]
    compared = [line for line in apart if line.values[0] is not None and tables.best_of_amric(line)]
    held = [tables.best_of_amric(line) > line.values[0] for line in compared]
    equal = tables.at_one_bound(lines)
    means = [_mean([line.values[place] for line in equal]) for place in range(7)]
    why = (
        "the paper's AMReX has a bound that is 5 or 10 times AMRIC's (table 1); at one bound for "
        f"both, AMReX on the same cells has {listed(means[1:2])} dB and AMRIC {listed(means[2:4])}"
    )
    return Finding(
        verdict_of(sum(held), len(held)),
        "AMReX / SZ_L/R / SZ_Interp, dB: Nyx 52.5 to 56.7 / 66.8 to 69.1 / 66.5 to 68.9; WarpX "
        "73.6 to 82.5 / 80.3 to 97.9 / 79.9 to 103.1",
        f"with the paper's bounds AMRIC is above AMReX on {sum(held)} of {len(held)} lines",
        f"at one bound for all, fast, balanced, max: {listed(means[4:7])} dB (arithmetic means, "
        "as the paper's)",
        why,
        [tables.paper_table(PAPER), tables.table(lines)],
        {
            "lines": [
                {"run": line.run, "bound": line.bound, "amrex_bound": line.amrex_bound}
                | dict(zip(tables.COLUMNS[2:], line.values, strict=True))
                for line in lines
            ]
        },
    )


def _mean(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


ITEM = Item("table-3", "Table 3", "PSNR", tables.needs, find)
