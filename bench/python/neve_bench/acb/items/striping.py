# SPDX-License-Identifier: BSD-3-Clause
"""Figures 8 and 9: write times over stripe counts and sizes, predicted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import number, span
from .. import cases, drawing, stated, tell
from ..requests import Modelled
from ..results import Plan, Results, percent
from ..settings import Settings
from ..strategies import AGGREGATED, COLLECTIVE, INDEPENDENT, METHODS, SKELETON, label

SHOWN = (*METHODS, SKELETON)
TRENDS = (
    "all are faster on more OSTs; the stripe size hardly matters to Coll. I/O and ACB, a larger "
    "one helps Ind. I/O slightly"
)
Grid = dict[tuple[int, int], Plan]  # by (stripe count, stripe size in MiB)


def plans(results: Results, system: str) -> Grid:
    found = {place: results.plan(words) for place, words in cases.striping(system).items()}
    return {place: plan for place, plan in found.items() if plan is not None}


def checks(results: Results, system: str) -> list[tell.Check]:
    there = plans(results, system)
    if len(there) < len(cases.striping(system)):
        return []
    return [
        check
        for one in stated.of(stated.OF_STRIPING, system)
        for check in tell.of_range(
            one,
            [plan.speedup(one.mine, one.other) for plan in there.values()],
            tell.PREDICTED_WITHIN,
        )
    ]


def of_sizes(there: Grid, strategy: str, count: int) -> float:
    """What the largest stripe makes of the smallest's seconds, as a difference."""
    least, most = min(cases.STRIPE_MIB), max(cases.STRIPE_MIB)
    return there[count, most].seconds(strategy) / there[count, least].seconds(strategy) - 1


def trends(there: Grid) -> list[tuple[str, bool, str]]:
    """(the paper's claim, whether the model has it, its numbers)."""
    counts = sorted({count for count, _ in there})
    found = []
    for method in METHODS:
        first, last = counts[0], counts[-1]
        gains = [
            there[first, mib].seconds(method) / there[last, mib].seconds(method)
            for mib in cases.STRIPE_MIB
        ]
        held = all(
            there[more, mib].seconds(method) < there[few, mib].seconds(method)
            for mib in cases.STRIPE_MIB
            for few, more in zip(counts, counts[1:], strict=False)
        )
        said = f"{first} to {last} OSTs: {span(gains)} times as fast"
        found.append((f"{label(method)}: faster on more OSTs", held, said))
    for method in (COLLECTIVE, AGGREGATED):
        changes = [of_sizes(there, method, count) for count in counts]
        held = all(abs(change) <= tell.HARDLY for change in changes)
        said = f"{percent(min(changes))} to {percent(max(changes))} of the seconds"
        found.append((f"{label(method)}: stripe size hardly matters", held, said))
    changes = [of_sizes(there, INDEPENDENT, count) for count in counts]
    held = all(-2 * tell.HARDLY <= change < 0 for change in changes)
    said = f"{percent(min(changes))} to {percent(max(changes))} of the seconds"
    found.append((f"{label(INDEPENDENT)}: larger stripes slightly faster", held, said))
    return found


def needs_of(system: str) -> Iterator[Modelled]:
    for words in cases.striping(system).values():
        yield Modelled(words)


def _lines(there: Grid) -> dict[str, dict[str, list[float]]]:
    """Seconds over stripe counts, a panel for each stripe size."""
    counts = sorted({count for count, _ in there})
    return {
        f"stripes of {mib} MiB": {
            label(one): [there[count, mib].seconds(one) for count in counts] for one in SHOWN
        }
        for mib in cases.STRIPE_MIB
    }


def _figure(number_of_figure: int, system: str) -> Item:
    def needs(_: Settings) -> Iterator[Modelled]:
        return needs_of(system)

    def find(results: Results) -> Finding:
        there = plans(results, system)
        paper = f"{tell.ranges(stated.of(stated.OF_STRIPING, system))}; {TRENDS}"
        held = checks(results, system)
        if not held:
            return tell.without_numbers(paper)
        of_trends = trends(there)
        kept = sum(one.held for one in held) + sum(is_so for _, is_so, _ in of_trends)
        not_so = "; ".join(f"{what}: {said}" for what, is_so, said in of_trends if not is_so)
        every = there.values()
        title = f"Striping on {system.capitalize()}, by the model"
        counts = sorted({str(count) for count, _ in there}, key=int)
        return Finding(
            verdict_of(kept, len(held) + len(of_trends)),
            paper,
            "predicted by the model: ACB over Ind. I/O "
            f"{span(plan.speedup(AGGREGATED, INDEPENDENT) for plan in every)}, Coll. I/O over "
            f"Ind. I/O {span(plan.speedup(COLLECTIVE, INDEPENDENT) for plan in every)}; "
            f"{sum(is_so for _, is_so, _ in of_trends)} of {len(of_trends)} trends",
            "by the model: skeleton over ACB "
            f"{span(p.speedup(SKELETON, AGGREGATED) for p in every)}",
            tell.joined(tell.misses(held), not_so),
            [
                output.picture(
                    f"pictures/figure-{number_of_figure}",
                    partial(drawing.lines, title, "OSTs", counts, _lines(there)),
                ),
                tell.table(held),
                output.table(
                    ("trend", "model", ""),
                    [(what, said, "so" if is_so else "not so") for what, is_so, said in of_trends],
                ),
                output.table(
                    ("OSTs", "stripe, MiB", *(f"{label(one)}, s" for one in SHOWN)),
                    [
                        (str(count), str(mib), *(number(plan.seconds(one)) for one in SHOWN))
                        for (count, mib), plan in sorted(there.items())
                    ],
                ),
            ],
            {**tell.as_json(held), "trends": {what: is_so for what, is_so, _ in of_trends}},
        )

    return Item(
        f"figure-{number_of_figure}",
        f"Figure {number_of_figure}",
        f"Striping on {system.capitalize()}",
        needs,
        find,
    )


figure_8 = _figure(8, cases.CORI)
figure_9 = _figure(9, cases.EDISON)
