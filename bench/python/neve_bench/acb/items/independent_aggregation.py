# SPDX-License-Identifier: BSD-3-Clause
"""Future work of the paper: aggregated boxes, written in independent mode."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import measured, tell
from ..requests import Request
from ..results import Results, size
from ..settings import Settings
from ..strategies import AGGREGATED, COLLECTIVE, HDF5, HDF5_AGGREGATED_INDEPENDENT, INDEPENDENT
from .scaling_here import compared, decided, ratios, verdict

MINE, ACB = HDF5_AGGREGATED_INDEPENDENT, HDF5[AGGREGATED]
BOX_BY_BOX = HDF5[INDEPENDENT]
SHOWN = (BOX_BY_BOX, HDF5[COLLECTIVE], ACB, MINE)


def needs(settings: Settings) -> Iterator[Request]:
    yield from measured.every_timed(settings)
    yield from measured.every_traced(settings)


def find(results: Results) -> Finding:
    paper = "expected: ACB performs best with collective buffering; independent not measured"
    settings = results.settings
    judged = compared(results, ACB, MINE)
    if not judged:
        return tell.without_numbers(paper)
    return Finding(
        verdict(judged),
        paper,
        f"measured here: aggregated in independent mode over a box a write "
        f"{ratios(results, MINE, BOX_BY_BOX)}, ACB (collective) over it "
        f"{ratios(results, ACB, MINE)}",
        "skeleton is collective as well",
        tell.joined(
            decided(judged),
            "A rank's boxes lie apart in the file: independent mode writes them one by one below "
            "the call, or reads and writes back what lies between",
        ),
        [
            output.table(
                ("run", "strategy", "MPI-IO writes", "POSIX writes", "seconds", "buffer"),
                [
                    (
                        measured.where(ranks, mpi_io),
                        name,
                        *_counts(results, settings, ranks, mpi_io, name),
                        number(rows[name]["seconds"]["total"]),
                        size(rows[name]["peak_buffer_bytes"]),
                    )
                    for ranks, mpi_io in measured.places(settings)
                    for rows in [results.timed(measured.timed(settings, ranks, mpi_io))]
                    for name in SHOWN
                    if name in rows
                ],
            )
        ],
        judged,
    )


def _counts(
    results: Results, settings: Settings, ranks: int, mpi_io: str, name: str
) -> tuple[str, str]:
    traced = results.traced(measured.traced(settings, ranks, mpi_io)).get(name)
    if traced is None:
        return "-", "-"
    return str(traced["mpi"]["writes"]), str(traced["posix"]["writes"])


TITLE = "Aggregation in independent mode"
ITEM = Item("independent-aggregation", "Future work, independent mode", TITLE, needs, find)
