# SPDX-License-Identifier: BSD-3-Clause
"""Slide 5: ratio and speed by variable and method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import drawing, tell
from ..inputs import Variable
from ..methods import ALL, NINE, SPEED_UNIT, best_of, ratio_of, speed_of, usable
from ..requests import Table
from ..results import Results, Subject

SOURCE = "of a WRF file's variables, ratios of 1 to 10 and more and speeds of 10 to 10000 MB/s"
RATIO, SPEED = "compression ratio", "compression speed, MB/s"
Tables = dict[Variable, dict[str, Any]]


def needs(subject: Subject) -> Iterator[Table]:
    for one in subject.inputs.variables:
        yield subject.table_of(one)


def megabytes_a_second(table: dict[str, Any], method: str) -> float:
    return speed_of(table, method) * SPEED_UNIT / 1e6


OF: dict[str, Callable[[dict[str, Any], str], float]] = {RATIO: ratio_of, SPEED: megabytes_a_second}


def best_by(tables: Tables, what: str, among: tuple[str, ...]) -> dict[Variable, str]:
    value = OF[what]
    return {v: best_of({m: value(t, m) for m in usable(t, among)}) for v, t in tables.items()}


def claims(results: Results) -> list[tell.Claim]:
    tables = results.tables()
    busy = results.busy(map(results.subject.table_of, tables))
    by_speed = _differs(tables, SPEED, "speed")
    return [_differs(tables, RATIO, "ratio"), tell.unless(busy if by_speed.tried else "", by_speed)]


def _differs(tables: Tables, what: str, name: str) -> tell.Claim:
    nine = Counter(best_by(tables, what, NINE).values())
    every = Counter(best_by(tables, what, ALL).values())
    is_so = len(nine) > 1 if len(tables) > 1 else None
    reasons = {None: "one variable alone", False: "one method is the best everywhere"}
    return tell.claim_of(
        is_so,
        slide=5,
        what=f"the best method by {name} differs for different variables",
        source="the slide's title",
        ours=_listed(nine),
        neve=_listed(every),
        why=reasons.get(is_so, ""),
    )


def _listed(counts: Counter) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "-"


def cells(tables: Tables, what: str, among: tuple[str, ...]) -> list[list[float | None]]:
    value = OF[what]
    return [
        [value(t, m) if m in usable(t, among) else None for m in among] for t in tables.values()
    ]


def _pictures(tables: Tables) -> list:
    names = [v.label for v in tables]
    of_nine = {what: cells(tables, what, NINE) for what in OF}
    lines = {
        what: {name: [row[n] for row in rows] for n, name in enumerate(NINE)}
        for what, rows in of_nine.items()
    }
    as_the_slide = partial(
        drawing.lines_by_variable,
        "The nine methods by variable, as slide 5",
        names,
        {what: {name: values for name, values in of.items()} for what, of in lines.items()},
    )
    every = {what: cells(tables, what, ALL) for what in OF}
    table = partial(
        drawing.table_of_colours,
        "All methods by variable: the nine, then Neve's own",
        names,
        ALL,
        every,
        len(NINE),
    )
    return [
        output.picture("pictures/slide-5", as_the_slide),
        output.picture("pictures/slide-5-all", table),
    ]


def find(results: Results) -> Finding:
    tables = results.tables()
    if not tables:
        return tell.without_numbers(SOURCE)
    told = claims(results)
    spans = {
        (what, among is NINE): tell.span(
            value for row in cells(tables, what, among) for value in row if value is not None
        )
        for what in OF
        for among in (NINE, ALL)
    }
    best = {what: best_by(tables, what, ALL) for what in OF}
    of_nine = {what: best_by(tables, what, NINE) for what in OF}
    header = ("variable", "of the nine by ratio", "", "by speed", "MB/s", "of all by ratio", "")
    header += ("by speed", "MB/s")
    rows = [
        (
            v.label,
            *(
                cell
                for of in (of_nine, best)
                for what in OF
                for cell in _best(t, what, of[what][v])
            ),
        )
        for v, t in tables.items()
    ]
    return tell.finding(
        told,
        SOURCE,
        f"ratios {spans[RATIO, True]}, speeds {spans[SPEED, True]} MB/s by the nine",
        f"ratios {spans[RATIO, False]}, speeds {spans[SPEED, False]} MB/s by all methods",
        [*_pictures(tables), output.table(header, rows)],
        {
            "best": {
                v.label: {
                    "ratio": of_nine[RATIO][v],
                    "speed": of_nine[SPEED][v],
                    "ratio of all": best[RATIO][v],
                    "speed of all": best[SPEED][v],
                }
                for v in tables
            }
        },
        "The slide's bars have no numbers: its axes are quoted",
    )


def _best(table: dict[str, Any], what: str, method: str) -> tuple[str, str]:
    return method, number(OF[what](table, method))


ITEM = Item("slide-5", "Slide 5", "The best method differs for different variables", needs, find)
