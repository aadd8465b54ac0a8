# SPDX-License-Identifier: BSD-3-Clause
"""Slide 4: what is lost with one method for everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import counted
from .. import tell
from ..inputs import Series
from ..methods import ALL, NINE, best_of, ratio_of, usable
from ..requests import StepTables, Table
from ..results import Results, Subject

SOURCE = (
    "one method for all variables, chosen once, loses: the best method differs for different "
    "variables and may change for the same variable over time"
)
NOTICED = 1e-3  # of the bytes: less is no loss


def needs(subject: Subject) -> Iterator[Table | StepTables]:
    for one in subject.inputs.variables:
        yield subject.table_of(one)
    for series in subject.inputs.series:
        yield subject.steps_of(series)


def one_for_all(results: Results, among: tuple[str, ...]) -> tuple[str, int, int] | None:
    """(the method that is smallest if all variables have it, its bytes, those of each one's best).
    None where no method codes everything.
    """
    tables = list(results.tables().values())
    common = [name for name in among if all(name in usable(t, among) for t in tables)]
    if not tables or not common:
        return None
    sums = {name: sum(t["methods"][name]["bytes"] for t in tables) for name in common}
    single = min(sums, key=sums.__getitem__)
    own = sum(min(t["methods"][m]["bytes"] for m in usable(t, among)) for t in tables)
    return single, sums[single], own


def best_by_step(steps: list[dict[str, Any]], among: tuple[str, ...]) -> list[str]:
    """By ratio."""
    return [best_of({m: ratio_of(step, m) for m in usable(step, among)}) for step in steps]


def changes(best: list[str]) -> int:
    return sum(a != b for a, b in zip(best, best[1:], strict=False))


def _loses(results: Results) -> tell.Claim:
    nine, every = one_for_all(results, NINE), one_for_all(results, ALL)

    def told(of: tuple[str, int, int] | None) -> str:
        if of is None:
            return "no method codes all"
        return f"{of[0]} for all is {tell.percent(of[1] / of[2] - 1)} larger than each one's best"

    is_so = None if nine is None else nine[1] > (1 + NOTICED) * nine[2]
    reasons = {None: "no method codes all variables", False: "one is the best of each, or nearly"}
    return tell.claim_of(
        is_so,
        slide=4,
        what="one method for all variables loses compression",
        source="loss of compression benefits",
        ours=told(nine),
        neve=told(every),
        why=reasons.get(is_so, ""),
    )


def _over_time(results: Results) -> tell.Claim:
    of = {s: t for s in results.inputs.series if (t := results.step_tables(s)) is not None}
    own = {s: t for s, t in of.items() if not s.is_made}
    changed = [s.name for s, t in own.items() if changes(best_by_step(t, NINE))]
    changed_of_all = [s.name for s, t in own.items() if changes(best_by_step(t, ALL))]
    return tell.claim_of(
        bool(changed) if own else None,
        slide=4,
        what="the best method may change for the same variable over time",
        source="may",
        ours=f"it does in {len(changed)} of {counted(len(own), 'series')}"
        + (f": {tell.first(changed)}" if changed else ""),
        neve=f"among all methods in {len(changed_of_all)}",
        why="" if changed else "no series of the files has another best method at some step",
    )


def claims(results: Results) -> list[tell.Claim]:
    return [_loses(results), _over_time(results)]


def _row(series: Series, steps: list[dict[str, Any]]) -> tuple[str, ...]:
    nine, every = best_by_step(steps, NINE), best_by_step(steps, ALL)
    return (
        *(series.name, str(len(steps)), str(changes(nine)), ", ".join(dict.fromkeys(nine))),
        *(str(changes(every)), ", ".join(dict.fromkeys(every))),
    )


def find(results: Results) -> Finding:
    if not results.tables():
        return tell.without_numbers(SOURCE)
    told = claims(results)
    header = ("series", "steps", "changes", "best of the nine", "changes", "best of all")
    rows = [
        _row(series, steps)
        for series in results.inputs.series
        if (steps := results.step_tables(series)) is not None
    ]
    return tell.finding(
        told,
        SOURCE,
        "; ".join(one.ours for one in told),
        "; ".join(one.neve for one in told),
        [output.table(header, rows)],
    )


ITEM = Item("slide-4", "Slide 4", "Which method for the given data", needs, find)
