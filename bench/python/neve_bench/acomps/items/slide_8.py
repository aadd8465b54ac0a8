# SPDX-License-Identifier: BSD-3-Clause
"""Slide 8: the weighted choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import drawing, tell
from ..inputs import Variable
from ..methods import (
    ACOMPS,
    CANDIDATES,
    EVERY,
    NINE,
    NINETEEN,
    TOLD,
    best_of,
    performance,
    performances,
)
from ..requests import WEIGHTS, Request, Speeds
from ..results import Record, Results, Subject

SOURCE = (
    "performance = compression_speed x WCS + compression_ratio x WCR; the technique with the best "
    "performance is taken"
)
SLACK, SLACK_BYTES = 1.01, 16  # of the bytes at the next weights: a smaller fall is no rise
LEAST_SHARE = 0.95  # of the best forced method's score, of Neve's choice
WAYS = {
    ACOMPS: "Neve's choice among the nine",
    EVERY: f"among {TOLD[EVERY]}",
    NINETEEN: f"among {TOLD[NINETEEN]}",
}
COLUMNS = [f"{ratio:g}/{speed:g}" for ratio, speed in WEIGHTS]


def needs(subject: Subject) -> Iterator[Request]:
    yield Speeds()
    for one in subject.inputs.variables:
        yield subject.table_of(one)
        yield from (subject.weighed_of(one, candidates) for candidates in CANDIDATES)


def by_trial(
    table: Record, among: tuple[str, ...], typical: Record | None
) -> list[tuple[str, float]]:
    """The slide's way: the best of all that are tried, and its performance, at each of WEIGHTS."""
    found = []
    for weights in WEIGHTS:
        scores = performances(table, among, weights, typical)
        best = best_of(scores)
        found.append((best, scores[best]))
    return found


def shares(results: Results, candidates: str) -> dict[Variable, list[float]]:
    """What Neve's choice scores over the best candidate's score, at each of WEIGHTS; typical
    speeds. Above 1 where sections of a variable have different methods.
    """
    typical, tables = results.typical(), results.tables()
    if typical is None:
        return {}
    found = {}
    for variable, choices in results.weighed(candidates).items():
        table = tables[variable]
        best = by_trial(table, CANDIDATES[candidates], typical)
        found[variable] = [
            performance(table["raw_bytes"] / one["bytes"], typical[one["method"]], *weights) / score
            for one, weights, (_, score) in zip(choices, WEIGHTS, best, strict=True)
        ]
    return found


def never_rises(sizes: Sequence[int]) -> bool:
    """The ratio, of the bytes at each of WEIGHTS: that they never fall by more than is noticed."""
    return all(a <= SLACK * b + SLACK_BYTES for a, b in zip(sizes, sizes[1:], strict=False))


def _weights_decide(results: Results) -> tell.Claim:
    """Of each variable, by trial and as Neve chooses."""
    tables, typical = results.tables(), results.typical()
    tried = {
        v: [t["methods"][m]["bytes"] for m, _ in by_trial(t, NINE, typical)]
        for v, t in tables.items()
    }
    ways = {"by trial": tried} | {
        way: {v: [one["bytes"] for one in of] for v, of in results.weighed(candidates).items()}
        for candidates, way in WAYS.items()
    }
    rising = {
        way: [v.label for v, sizes in of.items() if not never_rises(sizes)]
        for way, of in ways.items()
    }

    def told(way: str) -> str:
        of = ways[way]
        return f"{way} in {len(of) - len(rising[way])} of {len(of)}" if of else f"{way} -"

    by_trial_told, of_nine_told, *of_more_told = map(told, ways)
    missed = {label for of in rising.values() for label in of}
    return tell.Claim(
        slide=8,
        what="WCR and WCS decide between ratio and speed: the ratio never rises with WCS",
        source="only CR: best ratio, slower; only CS: best speed",
        ours=f"{by_trial_told} {results.variables}, {of_nine_told}",
        neve="; ".join(of_more_told),
        held=len(tables) - len(missed),
        tried=len(tables),
        why="; ".join(f"{way} not in {tell.first(of)}" for way, of in rising.items() if of),
    )


def _best(results: Results, candidates: str) -> tell.Claim:
    of = shares(results, candidates)
    every = [share for row in of.values() for share in row]
    missed = sum(share < LEAST_SHARE for share in every)
    least = min(of, key=lambda v: min(of[v])).label if of else ""
    told = f"least {number(min(every))} of the best" if every else "not measured"
    is_source = candidates == ACOMPS
    return tell.Claim(
        slide=8,
        what=f"the choice among {TOLD[candidates]} scores {LEAST_SHARE} of its best or more",
        source="by trial of all: 1",
        ours=told if is_source else "-",
        neve="-" if is_source else told,
        held=len(every) - missed,
        tried=len(every),
        why=f"the least is in {least}" if missed else "",
    )


def claims(results: Results) -> list[tell.Claim]:
    return [
        _weights_decide(results),
        *(_best(results, candidates) for candidates in CANDIDATES),
    ]


def _map(results: Results) -> dict[str, list[list[str]]]:
    tables, typical = results.tables(), results.typical()
    panels = {
        "the nine, tried, measured speeds": [
            [m for m, _ in by_trial(t, NINE, None)] for t in tables.values()
        ]
    }
    if typical is not None:
        panels["the nine, tried, typical speeds"] = [
            [m for m, _ in by_trial(t, NINE, typical)] for t in tables.values()
        ]
    for candidates, told in TOLD.items():
        weighed = results.weighed(candidates)
        if weighed.keys() == tables.keys():
            panels[f"Neve's choice, {told}"] = [
                [one["method"] for one in of] for of in weighed.values()
            ]
    return panels


def find(results: Results) -> Finding:
    tables = results.tables()
    if not tables:
        return tell.without_numbers(SOURCE)
    told = claims(results)
    draw = partial(
        drawing.map_of_methods,
        "Best method by weights",
        [v.label for v in tables],
        COLUMNS,
        _map(results),
        "WCR/WCS",
    )
    of_shares = {c: shares(results, c) for c in CANDIDATES}
    header = ("WCR/WCS", *(cell for c in CANDIDATES for cell in (f"{TOLD[c]}: least", "mean")))
    rows = [
        (column, *(cell for c in CANDIDATES for cell in _ends(of_shares[c], place)))
        for place, column in enumerate(COLUMNS)
    ]
    return tell.finding(
        told,
        SOURCE,
        f"the ratio never rises with WCS {told[0].ours}; Neve's choice among them: {told[1].ours}",
        f"Neve's choice among `all`: {told[2].neve}; among all nineteen: {told[3].neve}",
        [
            output.picture("pictures/slide-8", draw),
            output.text("Score of Neve's choice over that of the best method when it is forced."),
            output.table(header, rows),
        ],
        {
            "weights": [list(weights) for weights in WEIGHTS],
            "shares": {c: {v.label: s for v, s in of.items()} for c, of in of_shares.items()},
        },
        "The slide names no unit of speed: here 100 MB/s, so that it counts as a ratio does",
    )


def _ends(of: dict[Variable, list[float]], place: int) -> tuple[str, str]:
    values = [row[place] for row in of.values()]
    if not values:
        return "-", "-"
    return number(min(values)), number(sum(values) / len(values))


ITEM = Item("slide-8", "Slide 8", "The criteria, and the first choice", needs, find)
