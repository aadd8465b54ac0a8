# SPDX-License-Identifier: BSD-3-Clause
"""Slide 7: nine techniques."""

from __future__ import annotations

from collections.abc import Iterator

from ... import report
from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import tell
from ..methods import ALL, NINE, OWN, SPEED_UNIT, ratio_of, speed_of, usable
from ..requests import Request, Speeds
from ..results import Record, Results, Subject

SOURCE = "3 preprocessing techniques x LZO, zlib, bzip2 = 9; others, lossy too, can be added"


def needs(subject: Subject) -> Iterator[Request]:
    yield Speeds()
    for one in subject.inputs.variables:
        yield subject.table_of(one)


def _exact(results: Results, among: tuple[str, ...], what: str, source: str) -> tell.Claim:
    tables = results.tables()
    runs = [t["methods"][m] for t in tables.values() for m in among]
    good = [one for one in runs if one.get("is_exact")]
    refused = [one for one in runs if "error" in one]
    return tell.Claim(
        slide=7,
        what=what,
        source=source,
        ours=f"{len(good)} of {len(runs)} codings came back bit for bit",
        neve="-",
        held=len(good) + len(refused) * (among is OWN),
        tried=len(runs),
        why=f"{len(refused)} cannot hold the values: {refused[0]['error']}" if refused else "",
    )


def claims(results: Results) -> list[tell.Claim]:
    return [
        _exact(results, NINE, "nine techniques, all lossless", "9"),
        _exact(results, OWN, "other techniques can be added", "said"),
    ]


def mean_of(tables: list[Record], method: str, what) -> float:
    """Geometric, over the variables that the method can code."""
    return report.geomean(what(t, method) for t in tables if method in usable(t))


def find(results: Results) -> Finding:
    tables = list(results.tables().values())
    if not tables:
        return tell.without_numbers(SOURCE)
    typical = results.typical() or {}
    told = claims(results)
    megabyte = SPEED_UNIT / 1e6
    numbers = {
        name: {
            "ratio": mean_of(tables, name, ratio_of),
            "MBps": megabyte * mean_of(tables, name, speed_of),
            "typical_MBps": megabyte * typical[name] if name in typical else None,
        }
        for name in ALL
        if any(name in usable(t) for t in tables)
    }
    header = ("method", "variables", "ratio", "MB/s measured", "MB/s typical", "measured / typical")
    rows = [
        (
            name,
            str(sum(name in usable(t) for t in tables)),
            *map(number, (of["ratio"], of["MBps"], of["typical_MBps"])),
            number(of["MBps"] / of["typical_MBps"] if of["typical_MBps"] else None),
        )
        for name, of in numbers.items()
    ]
    return tell.finding(
        told,
        SOURCE,
        f"{told[0].ours}; geometric mean ratios {tell.span(_of(numbers, NINE, 'ratio'))}",
        f"{len(OWN)} more: ratios {tell.span(_of(numbers, OWN, 'ratio'))}",
        [output.text("Geometric means over the variables."), output.table(header, rows)],
        {"methods": numbers},
    )


def _of(numbers: dict[str, dict[str, float]], among: tuple[str, ...], what: str) -> list[float]:
    return [numbers[name][what] for name in among if name in numbers]


ITEM = Item("slide-7", "Slide 7", "Nine compression techniques", needs, find)
