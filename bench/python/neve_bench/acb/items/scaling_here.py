# SPDX-License-Identifier: BSD-3-Clause
"""Section IV-B on this machine: measured write times over ranks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...paper import output
from ...paper.item import HOLDS, IN_PART, Finding, Item, verdict_of
from ...paper.numbers import counted, number, span
from .. import drawing, measured, strategies, tell
from ..results import Record, Results
from ..settings import Settings
from ..strategies import (
    AGGREGATED,
    COLLECTIVE,
    COMPRESSED,
    HDF5,
    INDEPENDENT,
    SKELETON,
)

SHOWN = (*HDF5.values(), AGGREGATED, SKELETON, COMPRESSED)
SCALE = (
    "One machine, a file that fits in memory, ranks that share cores, no Lustre: seconds here are "
    "of calls and copies, not of disks"
)
HEADER = ("ranks", "strategy", "seconds, median", "least", "write", "sync", "read", "MB/s")


UNDECIDED = "no difference can be told"
Comparisons = Mapping[str, bool | None]  # by what is compared; None: undecided


def seconds(row: Record) -> float:
    return row["seconds"]["total"]


def faster(mine: Record, other: Record) -> bool | None:
    """None where the spreads of both, from the least to the median, meet, or there is none."""
    (a, b), (c, d) = ((row["seconds"]["min"], seconds(row)) for row in (mine, other))
    if a == b or c == d:  # one write has no spread
        return None
    return True if b < c else False if d < a else None


def verdict(judged: Comparisons) -> str:
    """What is undecided does not hold, and does not fail."""
    told = [is_so for is_so in judged.values() if is_so is not None]
    found = verdict_of(sum(told), len(told))
    return IN_PART if found == HOLDS and len(told) < len(judged) else found


def decided(judged: Comparisons) -> str:
    """The comparisons by name: slower, faster, and how many cannot be told."""
    of = {
        word: [what for what, is_so in judged.items() if is_so is which]
        for word, which in (("slower", False), ("faster", True))
    }
    untold = sum(is_so is None for is_so in judged.values())
    return tell.joined(
        *(f"{word}: {tell.first(names)}" for word, names in of.items() if names),
        f"{UNDECIDED} in {untold} of {counted(len(judged), 'comparison')}" if untold else "",
    )


def pairs(results: Results, mine: str, other: str) -> list[tuple[str, Record, Record]]:
    """(where, rows of both) of every run that has both."""
    found = []
    for ranks, mpi_io in measured.places(results.settings):
        rows = results.timed(measured.timed(results.settings, ranks, mpi_io))
        if mine in rows and other in rows:
            found.append((measured.where(ranks, mpi_io), rows[mine], rows[other]))
    return found


def gains(results: Results, mine: str, other: str) -> list[float]:
    return [seconds(b) / seconds(a) for _, a, b in pairs(results, mine, other)]


def ratios(results: Results, mine: str, other: str) -> str:
    """The ratios of what is decided; of the rest that it is not."""
    there = pairs(results, mine, other)
    told = [seconds(b) / seconds(a) for _, a, b in there if faster(a, b) is not None]
    if not there:
        return "-"
    if not told:
        return UNDECIDED
    untold = len(there) - len(told)
    return span(told) + (f" ({UNDECIDED} in {untold} of {len(there)})" if untold else "")


def compared(results: Results, mine: str, other: str) -> dict[str, bool | None]:
    return {
        f"{mine} over {other}, {where}": faster(a, b) for where, a, b in pairs(results, mine, other)
    }


def find(results: Results) -> Finding:
    paper = "collective and ACB outperform independent, ACB collective"
    settings = results.settings
    acb, collective, independent = HDF5[AGGREGATED], HDF5[COLLECTIVE], HDF5[INDEPENDENT]
    judged = {**compared(results, acb, collective), **compared(results, acb, independent)}
    if not judged:
        return tell.without_numbers(paper)
    return Finding(
        verdict(judged),
        paper,
        f"measured here, through HDF5: ACB over collective {ratios(results, acb, collective)}, "
        f"over independent {ratios(results, acb, independent)}",
        f"measured here: skeleton over ACB {ratios(results, SKELETON, acb)}, compressed over "
        f"ACB {ratios(results, COMPRESSED, acb)}",
        tell.joined(decided(judged), SCALE),
        _blocks(results, settings),
        {
            "decided": judged,
            **{
                f"{mine} over {other}": gains(results, mine, other)
                for mine, other in ((acb, collective), (acb, independent), (SKELETON, acb))
            },
        },
    )


def _blocks(results: Results, settings: Settings) -> list:
    blocks = []
    for mpi_io in settings.ways_of_mpi_io:
        runs = {
            ranks: results.timed(measured.timed(settings, ranks, mpi_io))
            for ranks in settings.ranks
        }
        runs = {ranks: rows for ranks, rows in runs.items() if rows}
        if not runs:
            continue
        lines = {
            name: [seconds(rows[name]) if name in rows else None for rows in runs.values()]
            for name in SHOWN
        }
        title = f"Write times here{', ' + mpi_io if mpi_io else ''}"
        name = f"pictures/scaling-here-{mpi_io or 'mpi'}"
        draw = partial(drawing.lines, title, "ranks", list(map(str, runs)), {"": lines})
        blocks += [
            output.picture(name, draw),
            output.text(f"**{title}**, {' '.join(settings.plan_words)}:"),
            output.table(
                HEADER,
                [
                    _line(ranks, rows[name])
                    for ranks, rows in runs.items()
                    for name in strategies.MEASURED
                    if name in rows
                ],
            ),
        ]
    return blocks


def _line(ranks: int, row: Record) -> tuple[str, ...]:
    of = row["seconds"]
    return (
        str(ranks),
        row["name"],
        number(of["total"]),
        number(of["min"]),
        number(of["write"]),
        number(of["sync"]),
        number(row.get("read_seconds")),
        number(row["MBps"]),
    )


ITEM = Item(
    "scaling-here", "Section IV-B, here", "Scalability on this machine", measured.every_timed, find
)
