# SPDX-License-Identifier: BSD-3-Clause
"""Calls, sizes and bytes of every strategy, traced here: what each hands to MPI-IO, and what
reaches the file system.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import number, span
from .. import measured, tell
from ..requests import Request
from ..results import Record, Results
from ..settings import Settings
from ..strategies import COMPRESSED, SKELETON
from .table_1 import row as counts

HEADER = ("run", "strategy", "MPI-IO writes", "POSIX writes", "POSIX sizes, most frequent first")
HEADER += ("bytes written / given", "bytes read", "may read and write back")
CB2 = (
    "Cray's CB2 on Lustre reads nothing back: collective strategies with ROMIO's own buffering "
    "elsewhere are not its equal, cb2-collective and cb2-aggregated are"
)


def needs(settings: Settings) -> Iterator[Request]:
    yield from measured.every_traced(settings)
    yield from measured.every_timed(settings)


def amplification(traced: Record) -> float:
    """Of a strategy that calls no MPI-IO, over the bytes of the file."""
    return traced["posix"]["bytes"] / (traced["mpi"]["bytes"] or traced["file_bytes"])


def rows(results: Results) -> list[tuple[int, str, str, Record, bool | None]]:
    """(ranks, MPI-IO, strategy, traced, whether it says that it may read and write back)."""
    settings = results.settings
    found = []
    for ranks, mpi_io in measured.places(settings):
        timed = results.timed(measured.timed(settings, ranks, mpi_io))
        for name, traced in results.traced(measured.traced(settings, ranks, mpi_io)).items():
            says = timed[name]["read_modify_write"] if name in timed else None
            found.append((ranks, mpi_io, name, traced, says))
    return found


def _told(traced: Record) -> str:
    read = traced["posix"]["bytes_read"]
    return f"{number(amplification(traced))}" + (f", {read:,} B read" if read else "")


def _why(over: dict[str, Record]) -> str:
    """What is written beyond the values: the file's structure, where nothing was read back."""
    unread = sum(not traced["posix"]["bytes_read"] for traced in over.values())
    return tell.joined(
        tell.first([f"{where}: {_told(traced)}" for where, traced in over.items()]),
        f"In {unread} of these {len(over)} nothing was read back: the rest is the file's "
        "structure, which weighs most beside small boxes"
        if unread
        else "",
    )


def find(results: Results) -> Finding:
    paper = (
        "CB2 writes what it is given; collective I/O makes more and smaller POSIX writes than ACB"
    )
    there = rows(results)
    if not there:
        return tell.without_numbers(paper)
    judged = {
        f"{name}, {measured.where(ranks, mpi_io)}": traced
        for ranks, mpi_io, name, traced, says in there
        if says is False
    }
    over = {
        where: traced
        for where, traced in judged.items()
        if amplification(traced) > tell.MOST_AMPLIFIED
    }
    says_so = [amplification(traced) for _, _, _, traced, says in there if says]
    return Finding(
        verdict_of(len(judged) - len(over), len(judged)),
        paper,
        f"traced here: {span(map(amplification, judged.values()))} bytes written for one given"
        + (f", {span(says_so)} where a strategy says that it reads back" if says_so else ""),
        f"skeleton {_span(there, SKELETON)}, compressed {_span(there, COMPRESSED)}",
        tell.joined(
            _why(over),
            f"Allowed are {tell.MOST_AMPLIFIED} where nothing is read back. {CB2}",
        ),
        [output.table(HEADER, [_line(*one) for one in there])],
        {
            f"{name}, {measured.where(ranks, mpi_io)}": {
                "mpi_writes": traced["mpi"]["writes"],
                "posix_writes": traced["posix"]["writes"],
                "amplification": amplification(traced),
                "read_modify_write": says,
            }
            for ranks, mpi_io, name, traced, says in there
        },
    )


def _span(there: list, strategy: str) -> str:
    return span(amplification(traced) for _, _, name, traced, _ in there if name == strategy)


def _line(ranks: int, mpi_io: str, name: str, traced: Record, says: bool | None) -> tuple[str, ...]:
    said = "-" if says is None else "yes" if says else "no"
    more = (number(amplification(traced), 4), f"{traced['posix']['bytes_read']:,}", said)
    return (measured.where(ranks, mpi_io), *counts(name, traced), *more)


TITLE = "Calls, sizes and amplification of every strategy"
ITEM = Item("amplification", "Traced here", TITLE, needs, find)
