# SPDX-License-Identifier: BSD-3-Clause
"""Past the slides: Neve's choice among `all`, its default, over the best of the nine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ... import report
from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import number
from .. import tell
from ..inputs import Variable
from ..methods import ACOMPS, EVERY, NINE, SPEED_UNIT, best_of, speed_of, usable
from ..requests import WEIGHTS, Table, Weighed
from ..results import Record, Results, Subject
from .slide_3 import least_bytes
from .slide_6 import BY_RATIO

SOURCE = "the nine alone"
BY_SPEED = WEIGHTS.index((0.0, 1.0))


def needs(subject: Subject) -> Iterator[Table | Weighed]:
    for one in subject.inputs.variables:
        yield subject.table_of(one)
        yield subject.weighed_of(one, EVERY)
        yield subject.weighed_of(one, ACOMPS)


def gains(results: Results) -> dict[Variable, dict[str, float]]:
    """Of each variable: by ratio, bytes of the best of the nine over those of Neve's choice; by
    speed, its coding over the fastest of the nine.
    """
    found = {}
    tables = results.tables()
    for variable, choices in results.weighed(EVERY).items():
        table = tables[variable]
        fastest = best_of({m: speed_of(table, m) for m in usable(table, NINE)})
        seconds = choices[BY_SPEED]["coding_s"] + choices[BY_SPEED]["choosing_s"]
        found[variable] = {
            "by ratio": least_bytes(table, NINE) / choices[BY_RATIO]["bytes"],
            "by speed": table["methods"][fastest]["encode_s"] / max(seconds, 1e-9),
            "bytes by speed": table["methods"][fastest]["bytes"] / choices[BY_SPEED]["bytes"],
        }
    return found


def find(results: Results) -> Finding:
    of = gains(results)
    if not of:
        return tell.without_numbers(SOURCE)
    tables = results.tables()
    smaller = [v for v, gain in of.items() if gain["by ratio"] >= 1]
    missed = [v.label for v in of if v not in smaller]
    means = {
        what: report.geomean(gain[what] for gain in of.values())
        for what in ("by ratio", "by speed", "bytes by speed")
    }
    nine = sum(least_bytes(tables[v], NINE) for v in of)
    ours = sum(results.weighed(EVERY)[v][BY_RATIO]["bytes"] for v in of)
    header = ("variable", "Neve by ratio", "best of the nine, bytes", "Neve's, bytes", "gain")
    header += ("coding, MB/s",)
    rows = [_row(v, tables[v], results.weighed(EVERY)[v][BY_RATIO]) for v in of]
    return Finding(
        verdict_of(len(smaller), len(of)),
        SOURCE,
        f"best of the nine: {tell.size(nine)}",
        f"Neve's choice by ratio: {tell.size(ours)}, {tell.smaller(nine / ours)}, "
        f"geometric mean {number(means['by ratio'])}; by speed "
        f"{number(means['by speed'])} times as fast and "
        f"{tell.smaller(means['bytes by speed'])} than the fastest of the nine",
        tell.joined(f"larger in {tell.first(missed)}" if missed else "", _of_speeds(results, of)),
        [output.table(header, rows)],
        {"gains": {v.label: gain for v, gain in of.items()}, "means": means},
    )


def _of_speeds(results: Results, of: Iterable[Variable]) -> str:
    """They are told, and not judged."""
    busy = results.busy(results.subject.weighed_of(one, EVERY) for one in of)
    return f"bytes are counted; {busy}" if busy else ""


def _row(variable: Variable, table: Record, chosen: Record) -> tuple[str, ...]:
    least = least_bytes(table, NINE)
    speed = table["raw_bytes"] / SPEED_UNIT * 100 / max(chosen["coding_s"], 1e-9)
    return (
        variable.label,
        chosen["method"],
        str(least),
        str(chosen["bytes"]),
        number(least / chosen["bytes"]),
        number(speed),
    )


ITEM = Item("past-the-slides", "Past the slides", "Neve's choice over the nine", needs, find)
