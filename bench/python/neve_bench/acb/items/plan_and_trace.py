# SPDX-License-Identifier: BSD-3-Clause
"""What `neve plan` counts for this machine's MPI-IO, against what `neve trace` counts here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import counted, span
from .. import measured, tell
from ..requests import Request
from ..results import Results, percent
from ..settings import Settings
from ..strategies import HDF5, INDEPENDENT, is_hdf5

# Whose files are built by HDF5, and whose by Neve: what their structure takes is seen where a box
# is a write.
BOX_BY_BOX = {True: HDF5[INDEPENDENT], False: INDEPENDENT}
NOT_MODELLED = "not modelled"
HEADER = ("run", "strategy", "MPI-IO, plan", "traced", "POSIX, plan", "structure", "traced", "off")
RULE = (
    "Allowed are the plan's POSIX writes, 10 % more or less, beside those of the file's structure: "
    "what is traced beyond a write a box where each box is one write"
)


def needs(settings: Settings) -> Iterator[Request]:
    yield from measured.every_traced(settings)
    for ranks, mpi_io in measured.places(settings):
        yield measured.counted(settings, ranks, mpi_io)


@dataclass(frozen=True)
class Line:
    where: str
    strategy: str
    planned_mpi: int | None  # None: not modelled
    planned_posix: int | None
    traced_mpi: int
    traced_posix: int
    structure: int

    @property
    def off(self) -> float | None:
        """Of the POSIX writes of data."""
        if not self.planned_posix:
            return None
        return (self.traced_posix - self.structure) / self.planned_posix - 1

    @property
    def held(self) -> bool | None:
        if not self.planned_posix:
            return None
        apart = abs(self.traced_posix - self.structure - self.planned_posix)
        return apart <= tell.POSIX_WITHIN * self.planned_posix


def lines(results: Results) -> list[Line]:
    found = []
    for ranks, mpi_io in measured.places(results.settings):
        plan = measured.plan_of(results, ranks, mpi_io)
        traced = results.traced(measured.traced(results.settings, ranks, mpi_io))
        if plan is None or not traced:
            continue
        for name, of in traced.items():
            planned = plan[name] if name in plan else None
            box_by_box = traced[BOX_BY_BOX[is_hdf5(name)]]
            structure = box_by_box["posix"]["writes"] - plan.content["boxes"]
            found.append(
                Line(
                    measured.where(ranks, mpi_io),
                    name,
                    planned and planned["mpi"]["writes"],
                    planned and planned["posix"]["writes"],
                    of["mpi"]["writes"],
                    of["posix"]["writes"],
                    structure,
                )
            )
    return found


def find(results: Results) -> Finding:
    paper = "counts are Darshan's: the paper predicts none"
    there = lines(results)
    judged = [one for one in there if one.held is not None]
    if not judged:
        return tell.without_numbers(paper)
    missed = sorted((one for one in judged if not one.held), key=lambda one: -abs(one.off or 0))
    unmodelled = list(dict.fromkeys(one.strategy for one in there if one.held is None))
    off = [abs(one.off) for one in judged if one.off is not None]
    return Finding(
        verdict_of(len(judged) - len(missed), len(judged)),
        paper,
        f"{len(judged) - len(missed)} of {counted(len(judged), 'count')} within 10 %; "
        f"{span(100 * one for one in off)} % off",
        "neve plan --mpi-io ompio, romio or lustre",
        tell.joined(
            tell.first(
                [
                    f"{one.strategy}, {one.where}: {one.traced_posix - one.structure} traced for "
                    f"{one.planned_posix}"
                    for one in missed
                ]
            ),
            f"{NOT_MODELLED}: {', '.join(unmodelled)}" if unmodelled else "",
            RULE,
        ),
        [output.table(HEADER, [_row(one) for one in there])],
        {
            f"{one.strategy}, {one.where}": {
                "planned": one.planned_posix,
                "traced": one.traced_posix,
                "structure": one.structure,
                "held": one.held,
            }
            for one in there
        },
    )


def _row(one: Line) -> tuple[str, ...]:
    is_modelled = one.off is not None
    return (
        one.where,
        one.strategy,
        str(one.planned_mpi) if is_modelled else NOT_MODELLED,
        str(one.traced_mpi),
        str(one.planned_posix) if is_modelled else NOT_MODELLED,
        str(one.structure),
        str(one.traced_posix),
        percent(one.off) if one.off is not None else "-",
    )


ITEM = Item("plan-and-trace", "Plan and trace", "Predicted against traced writes", needs, find)
