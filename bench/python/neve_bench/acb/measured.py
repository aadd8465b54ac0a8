# SPDX-License-Identifier: BSD-3-Clause
"""The runs on this machine that several items share."""

from __future__ import annotations

from collections.abc import Iterator

from .requests import Modelled, Timed, Traced
from .results import Plan, Results
from .settings import Settings
from .strategies import MEASURED

# What `neve plan` counts for a file system of this machine's, which has no stripes: of its own, by
# the MPI-IO that was used.
OF_NEITHER = "romio"  # where the library knows no choice: MPICH and its derivatives have ROMIO


def timed(settings: Settings, ranks: int, mpi_io: str) -> Timed:
    return Timed(settings.bench_words, MEASURED, ranks, mpi_io, settings.repeats)


def traced(settings: Settings, ranks: int, mpi_io: str) -> Traced:
    return Traced(settings.bench_words, MEASURED, ranks, mpi_io)


def places(settings: Settings) -> list[tuple[int, str]]:
    """(ranks, MPI-IO) of all runs."""
    return [(ranks, io) for ranks in settings.ranks for io in settings.ways_of_mpi_io]


def every_timed(settings: Settings) -> Iterator[Timed]:
    for ranks, mpi_io in places(settings):
        yield timed(settings, ranks, mpi_io)


def every_traced(settings: Settings) -> Iterator[Traced]:
    for ranks, mpi_io in places(settings):
        yield traced(settings, ranks, mpi_io)


def counted(settings: Settings, ranks: int, mpi_io: str) -> Modelled:
    """The model's counts of the same writes."""
    words = ("--ranks", str(ranks), "--mpi-io", mpi_io or OF_NEITHER)
    return Modelled((*settings.plan_words, *words))


def plan_of(results: Results, ranks: int, mpi_io: str) -> Plan | None:
    result = results.result(counted(results.settings, ranks, mpi_io))
    return None if result is None else Plan(result)


def where(ranks: int, mpi_io: str) -> str:
    return f"{ranks} rank{'s' * (ranks > 1)}" + (f", {mpi_io}" if mpi_io else "")
