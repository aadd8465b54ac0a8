# SPDX-License-Identifier: BSD-3-Clause
"""Figure 7: SZ_L/R with adaptive blocks (Adp-4), SLE, linear merging (LM) and 1D."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item
from .. import tell, ways
from ..files import File, Settings
from ..requests import Point
from ..results import Results, times, worst
from ..ways import ADAPTIVE, AMREX, LM, NEVE, SLE, UNITS, with_unit

FINE_UNIT, COARSE_UNIT = 16, 8
# (mine, other, unit, of which level), as the paper claims them of its two levels.
CLAIMS = (
    (SLE, LM, FINE_UNIT, tell.finest),
    (ADAPTIVE, SLE, COARSE_UNIT, tell.coarsest),
    (ADAPTIVE, AMREX, FINE_UNIT, tell.finest),
    (ADAPTIVE, AMREX, COARSE_UNIT, tell.coarsest),
)


def needs(file: File, settings: Settings) -> Iterator[Point]:
    cut = [with_unit(way, unit) for way in (ADAPTIVE, SLE, LM) for unit in UNITS]
    yield from tell.curves(file, settings, [*cut, AMREX, NEVE["balanced"]])


def _cut(way: str, unit: int) -> str:
    return way if way == AMREX else with_unit(way, unit)


def _table(results: Results) -> output.Block:
    """Every unit on every level, and the paper's two marked by their place."""
    rows = []
    for unit in UNITS:
        for mine, other in ((SLE, LM), (ADAPTIVE, SLE), (ADAPTIVE, AMREX)):
            found = [
                _cell(results, _cut(mine, unit), _cut(other, unit), levels)
                for levels in (tell.finest, tell.coarsest)
            ]
            name = f"{ways.label(mine)} / {ways.label(other)}"
            rows.append((name, str(unit), *found))
    return output.table(("ratio at equal PSNR", "unit", "finest level", "coarsest level"), rows)


def _cell(results: Results, mine: str, other: str, levels: tell.Levels) -> str:
    unit = ways.unit_of(mine)
    files = [file for file in results.files if file.is_last]
    if files and not any(file.holds(unit, level) for file in files for level in levels(file)):
        return "no box holds it"
    return times(tell.mean_of(tell.gains(results, mine, other, levels)))


def _where_not(results: Results, found: list[list[tell.Gain]]) -> str:
    said = []
    for (mine, other, unit, _), gains in zip(CLAIMS, found, strict=True):
        where = tell.where_not(gains)
        if where:
            said.append(f"{ways.label(mine)} over {ways.label(other)} at unit {unit} {where}")
    not_whole = worst(_not_whole(results))
    return "; ".join(filter(None, (*said, not_whole)))


def _not_whole(results: Results) -> list[str]:
    """Each unit and level once."""
    fine = tell.not_whole(results, with_unit(SLE, FINE_UNIT), tell.finest)
    return [*fine, *tell.not_whole(results, with_unit(SLE, COARSE_UNIT), tell.coarsest)]


def find(results: Results) -> Finding:
    found = [
        tell.gains(results, _cut(mine, unit), _cut(other, unit), levels)
        for mine, other, unit, levels in CLAIMS
    ]
    means = [tell.mean_of(gains) for gains in found]
    neve = tell.gains(results, NEVE["balanced"], with_unit(ADAPTIVE, COARSE_UNIT))
    shown = [with_unit(way, FINE_UNIT) for way in (ADAPTIVE, SLE, LM)]
    coarse = [with_unit(way, COARSE_UNIT) for way in (ADAPTIVE, SLE, LM)]
    picture = tell.curve_picture(
        results,
        "figure-7",
        [
            ("finest level, unit 16", -1, [*shown, AMREX, NEVE["balanced"]]),
            ("coarsest level, unit 8", 0, [*coarse, AMREX, NEVE["balanced"]]),
        ],
    )
    return Finding(
        tell.verdict([gain for gains in found for gain in gains]),
        "fine level, unit 16: SLE above LM, adaptive as SLE; coarse level, unit 8: adaptive above "
        "SLE, which is as LM; 1D below all",
        f"SLE / LM at unit 16, finest: {times(means[0])}; adaptive / SLE at unit 8, coarsest: "
        f"{times(means[1])}; adaptive / 1D: {times(means[2])}, {times(means[3])}",
        f"Neve balanced / adaptive at unit 8: {times(tell.mean_of(neve))}",
        _where_not(results, found),
        [*picture, _table(results), *_judged(found)],
        {"sle_over_lm": means[0], "adaptive_over_sle": means[1], "over_1d": means[2:]},
    )


def _judged(found: list[list[tell.Gain]]) -> list[output.Block]:
    return [
        tell.gains_table(f"{_cut(mine, unit)} / {_cut(other, unit)}", gains)
        for (mine, other, unit, _), gains in zip(CLAIMS, found, strict=True)
    ]


ITEM = Item("figure-7", "Figure 7", "SZ_L/R: adaptive, SLE, linear merging, 1D", needs, find)
