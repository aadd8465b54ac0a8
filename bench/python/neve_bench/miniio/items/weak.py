# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 7: weak scaling was utilized. A grid that grows has to keep its smoothness from point
to point, or compression gets easier with every rank. Counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import MEASURED, Finding, Item, verdict_of
from ...paper.numbers import number
from .. import drawing, measured, outputs
from ..requests import Stored
from ..results import BALANCED, Results, stored_by
from ..settings import Settings

RANKS = (1, 2, 4)
SHOWN = (outputs.SHUFFLE, outputs.ZFP, outputs.HDF5_NEVE)
FLAT_WITHIN = 0.05  # of the ratio on one rank
ALL_VALID = ("--valid", "1")  # of other coasts other ratios
FIXED, GROWING = "--weak: noise cells a point are kept", "a larger --grid: they are not"
HEADER = ("how the grid grows", "output", *(f"ratio on {ranks} ranks" for ranks in RANKS))


def _weak(settings: Settings, ranks: int) -> Stored:
    words = (*settings.grid_words, *measured.BOUND, *ALL_VALID, "--balance", "on", measured.WEAK)
    return Stored("struct", words, SHOWN, ranks)


def _larger(settings: Settings, ranks: int) -> Stored:
    """The same grid as --weak makes, with frequencies across it."""
    x, y, depth = settings.grid
    factors = {1: (1, 1), 2: (1, 2), 4: (2, 2)}[ranks]
    grid = ",".join(map(str, (x * factors[0], y * factors[1], depth)))
    words = ("--grid", grid, "--seed", str(settings.seed), *measured.BOUND, *ALL_VALID)
    return Stored("struct", (*words, "--balance", "on"), SHOWN, ranks)


def needs(settings: Settings) -> Iterator[Stored]:
    for ranks in RANKS:
        yield _weak(settings, ranks)
        yield _larger(settings, ranks)


def ratios(results: Results) -> dict[str, dict[str, dict[int, float]]]:
    """By how the grid grows, output and ranks."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for how, request in ((FIXED, _weak), (GROWING, _larger)):
        for ranks in RANKS:
            rows = stored_by(results.result(request(results.settings, ranks)), BALANCED)
            for name, one in rows.items():
                of = found.setdefault(how, {}).setdefault(name, {})
                of[ranks] = one["ratio"]
    return found


def drift(by_ranks: dict[int, float]) -> float:
    """The farthest from the ratio on one rank."""
    return max(abs(ratio / by_ranks[1] - 1) for ratio in by_ranks.values())


def find(results: Results) -> Finding:
    paper = "weak scaling being utilized; of the noise's frequency over ranks nothing is said"
    there = ratios(results)
    fixed = {name: of for name, of in there.get(FIXED, {}).items() if 1 in of}
    if not fixed:
        return Finding(MEASURED, paper, "-", "-", "not measured")
    growing = there.get(GROWING, {})
    flat = {name: drift(of) <= FLAT_WITHIN for name, of in fixed.items()}

    def said(of: dict[str, dict[int, float]]) -> str:
        return "; ".join(
            f"{name} {', '.join(map(number, by_ranks.values()))}" for name, by_ranks in of.items()
        )

    lines = {how: {n: dict(by) for n, by in of.items()} for how, of in there.items()}
    draw = partial(
        drawing.lines,
        "Ratio over ranks, by how the grid grows",
        "ranks",
        "raw / stored bytes",
        lines,
        log=True,
    )
    return Finding(
        verdict_of(sum(flat.values()), len(flat)),
        paper,
        f"ratios on {', '.join(map(str, RANKS))} ranks, a larger --grid: {said(growing)}",
        f"--weak: {said(fixed)}",
        f"counted, without land. Flat is within {FLAT_WITHIN:.0%} of the ratio on one rank; only "
        "with --weak is scaling that of cores and not of an easier field",
        [
            output.picture("pictures/weak", draw),
            output.table(
                HEADER,
                [
                    (how, name, *(number(by_ranks.get(ranks)) for ranks in RANKS))
                    for how, of in there.items()
                    for name, by_ranks in of.items()
                ],
            ),
        ],
        there,
    )


ITEM = Item(
    "weak-scaling", "Paragraph 7, weak scaling", "Weak scaling at one smoothness", needs, find
)
