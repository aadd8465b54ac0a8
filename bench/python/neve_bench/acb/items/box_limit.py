# SPDX-License-Identifier: BSD-3-Clause
"""Future work of the paper: how many boxes ACB aggregates at a time, against the memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import FAILS, HOLDS, IN_PART, Finding, Item
from ...paper.numbers import number
from .. import cases, drawing, measured, tell
from ..requests import Modelled, Request, Timed
from ..results import Record, Results, size
from ..settings import Settings
from ..strategies import AGGREGATED, HDF5, SKELETON
from .scaling_here import UNDECIDED, faster

BOXES = (1, 2, 4, 8, 16, 32, 0)  # of a rank in one write; 0: all
ACB = HDF5[AGGREGATED]
STRATEGIES = (ACB, AGGREGATED)
OSTS = 96  # that both of the paper's systems have been measured with


def _timed(settings: Settings) -> Timed:
    words = (*settings.bench_words, "--aggregate-boxes", ",".join(map(str, BOXES)))
    return Timed(words, STRATEGIES, settings.most_ranks, settings.first_mpi_io, settings.repeats)


def _modelled(settings: Settings, boxes: int) -> Modelled:
    case, _ = cases.STRIPED[settings.system]
    words = case.words(settings.system, OSTS, cases.DARSHAN_STRIPE_MIB)
    return Modelled((*words, "--aggregate-boxes", str(boxes)) if boxes else words)


def needs(settings: Settings) -> Iterator[Request]:
    for boxes in BOXES:
        yield _modelled(settings, boxes)
    yield _timed(settings)


def _measured(results: Results) -> dict[int, dict[str, Record]]:
    """By boxes aggregated, and strategy."""
    found: dict[int, dict[str, Record]] = {}
    for row in results.timed(_timed(results.settings)).values():
        found.setdefault(row["aggregate_boxes"], {})[row["strategy"]] = row
    return found


def _planned(results: Results) -> dict[int, Record]:
    """Of the paper's file of 494 GB on 96 OSTs, by boxes aggregated."""
    found = {}
    for boxes in BOXES:
        plan = results.plan(_modelled(results.settings, boxes).words)
        name = f"{AGGREGATED}, {boxes} boxes" if boxes else AGGREGATED
        if plan is not None and name in plan:
            found[boxes] = plan[name]
    return found


def find(results: Results) -> Finding:
    paper = (
        "more boxes in a buffer take more memory and are to be faster; not measured (future work)"
    )
    settings = results.settings
    rows = _measured(results)
    planned = _planned(results)
    modelled = {boxes: of["seconds"]["total"] for boxes, of in planned.items()}
    if not rows.keys() >= {1, 0} or not modelled.keys() >= {1, 0}:
        return tell.without_numbers(paper)
    place = measured.where(settings.most_ranks, settings.first_mpi_io)
    judged = {
        "by the model, all boxes at a time are faster than 1": modelled[0] <= modelled[1],
        "1 box at a time takes less memory than all": _peak(rows[1]) <= _peak(rows[0]),
        "measured here, all boxes at a time are faster than 1": faster(rows[0][ACB], rows[1][ACB]),
    }
    return Finding(
        _verdict(judged),
        paper,
        f"measured here, {place}: {_told(rows, 1)} and {_told(rows, 0)}; by the model of 494 GB: "
        f"{_modelled_told(modelled, 1)}, {_modelled_told(modelled, 0)}",
        f"{SKELETON} writes from the boxes: one call a rank, and no buffer",
        tell.joined(
            *(f"not so: {what}" for what, is_so in judged.items() if is_so is False),
            *(f"{what}: {UNDECIDED}" for what, is_so in judged.items() if is_so is None),
            "Memory is what a rank's buffers for packing take at most",
        ),
        [
            output.picture("pictures/box-limit", partial(_draw, rows, modelled, place)),
            output.table(
                ("boxes in a write", "strategy", "MPI-IO writes", "seconds", "buffer"),
                [
                    (
                        str(boxes or "all"),
                        name,
                        str(row["mpi_writes"]),
                        number(row["seconds"]["total"]),
                        size(row["peak_buffer_bytes"]),
                    )
                    for boxes, of in rows.items()
                    for name, row in of.items()
                ],
            ),
            output.table(
                ("boxes in a write, 494 GB by the model", "seconds", "buffer"),
                [
                    (str(boxes or "all"), number(modelled[boxes]), size(of["buffer_bytes"]))
                    for boxes, of in planned.items()
                ],
            ),
        ],
        {
            "judged": judged,
            "measured": {
                str(boxes or "all"): {
                    "seconds": of[ACB]["seconds"]["total"],
                    "bytes": _peak(of),
                    "mpi_writes": of[ACB]["mpi_writes"],
                }
                for boxes, of in rows.items()
            },
            "model": {str(boxes or "all"): seconds for boxes, seconds in modelled.items()},
        },
    )


def _verdict(judged: dict[str, bool | None]) -> str:
    """What cannot be told keeps the line from holding."""
    if all(judged.values()):
        return HOLDS
    return IN_PART if any(judged.values()) else FAILS


def _peak(of: dict[str, Record]) -> int:
    return of[ACB]["peak_buffer_bytes"]


def _told(rows: dict[int, dict[str, Record]], boxes: int) -> str:
    if boxes not in rows:
        return "-"
    row = rows[boxes][ACB]
    return (
        f"{'all' if not boxes else boxes} {'boxes' if boxes != 1 else 'box'} at a time "
        f"{number(row['seconds']['total'])} s, {size(row['peak_buffer_bytes'])}"
    )


def _modelled_told(modelled: dict[int, float], boxes: int) -> str:
    if boxes not in modelled:
        return "-"
    return f"{boxes or 'all'} {number(modelled[boxes])} s"


def _draw(rows: dict[int, dict[str, Record]], modelled: dict[int, float], place: str) -> bytes:
    names = [str(boxes or "all") for boxes in BOXES]
    measured_here = {
        name: [
            rows[boxes][name]["seconds"]["total"] if name in rows.get(boxes, {}) else None
            for boxes in BOXES
        ]
        for name in STRATEGIES
    }
    buffers = {
        name: [
            rows[boxes][name]["peak_buffer_bytes"] / 1e6 if name in rows.get(boxes, {}) else None
            for boxes in BOXES
        ]
        for name in STRATEGIES
    }
    panels = {
        f"seconds here, {place}": measured_here,
        "MB of buffers of a rank, here": buffers,
        "seconds of 494 GB, by the model": {"ACB": [modelled.get(boxes) for boxes in BOXES]},
    }
    return drawing.lines("Boxes aggregated at a time", "boxes", names, panels, shared=False)


ITEM = Item("box-limit", "Future work, K", "Boxes aggregated at a time, and memory", needs, find)
