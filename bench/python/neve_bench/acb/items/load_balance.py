# SPDX-License-Identifier: BSD-3-Clause
"""Section II-A: boxes shared out by load: Morton order, then exchanges as Kernighan and Lin's."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import HOLDS, IN_PART, Finding, Item
from ...paper.numbers import number, span
from .. import cases, tell
from ..requests import Modelled
from ..results import Results
from ..settings import Settings

CHOMBO, GREEDY, EVEN_RUNS = "chombo", "greedy", "even-runs"
METHODS = (CHOMBO, GREEDY, EVEN_RUNS)
GRIDS = (
    ("4x4x4 units", ("--chombo", "4x4x4"), 576),
    ("8x8x8 units", ("--chombo", "8x8x8"), 2304),
    ("8x8x8 units", ("--chombo", "8x8x8"), 3072),
    ("16x8x8 units", ("--chombo", "16x8x8"), 5856),
    ("BISICLES", ("--bisicles",), cases.BISICLES_RANKS),
)


def _request(words: tuple[str, ...], ranks: int, method: str) -> Modelled:
    return Modelled((*words, "--ranks", str(ranks), "--distribution", method))


def needs(_: Settings) -> Iterator[Modelled]:
    for _, words, ranks in GRIDS:
        for method in METHODS:
            yield _request(words, ranks, method)


def find(results: Results) -> Finding:
    paper = "Morton order, then Kernighan-Lin, balances the load as much as possible"
    loads: dict[tuple[str, int], dict[str, float]] = {}
    for name, words, ranks in GRIDS:
        for method in METHODS:
            result = results.result(_request(words, ranks, method))
            if result is None:
                return tell.without_numbers(paper)
            loads.setdefault((name, ranks), {})[method] = result["max_over_mean_load"]
    best = [of[CHOMBO] <= min(of.values()) for of in loads.values()]
    spans = {method: span(of[method] for of in loads.values()) for method in METHODS}
    return Finding(
        HOLDS if all(best) else IN_PART,
        paper,
        f"busiest rank over the mean, Morton order with exchange {spans[CHOMBO]}, greedy runs "
        f"{spans[GREEDY]}, even runs {spans[EVEN_RUNS]}",
        "the same distribution",
        "It holds where no other of the three is more even. No rank can hold a part of a box: "
        "equal boxes that their number does not divide are never even",
        [
            output.table(
                ("grid", "ranks", *METHODS),
                [
                    (name, str(ranks), *(number(of[method], 4) for method in METHODS))
                    for (name, ranks), of in loads.items()
                ],
            )
        ],
        {f"{name} on {ranks}": of for (name, ranks), of in loads.items()},
    )


ITEM = Item("load-balance", "Section II-A", "Boxes shared out by load", needs, find)
