# SPDX-License-Identifier: BSD-3-Clause
"""Slide 2: why data are reduced."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import cycles, measured, tell
from ..cycles import ACOMPS_RATIO, ACOMPS_SPEED, NETCDF, NONE, RATIO, SPEED
from ..measured import Runs
from ..requests import Cycle
from ..results import Results, Subject

SOURCE = (
    "1.3 million grid points; about 65 minutes for a forecast of nine hours, of which I/O and "
    "extraneous work take about 60 %; about 283 GB a simulation"
)
EXTRANEOUS = ("preprocessing", "conversion", "write", "read")


def needs(subject: Subject) -> Iterator[Cycle]:
    yield from cycles.runs(subject.settings)


def share(runs: Runs, method: str = NETCDF) -> float:
    """Of I/O and extraneous work."""
    phases = runs.phases(method)
    return sum(phases[name] for name in EXTRANEOUS) / sum(phases.values())


def _volume(runs: Runs) -> tell.Claim:
    def times(method: str) -> str:
        return f"{runs.bytes(NETCDF) / runs.bytes(method):.3g} times less"

    smaller = [m for m in runs.methods if runs.bytes(m) < runs.bytes(NONE) or m in (NONE, NETCDF)]
    missed = [cycles.LABELS[m] for m in runs.methods if m not in smaller]
    return tell.claim_of(
        not missed,
        slide=2,
        what="compression reduces the volume of data",
        source="283 GB to 62.8 GB (slide 14): 4.51 times less",
        ours=times(ACOMPS_RATIO),
        neve=times(RATIO),
        why=f"not by {', '.join(missed)}" if missed else "",
    )


def bandwidth(runs: Runs, method: str) -> float:
    """Values stored over the seconds of writing them, MB/s."""
    return runs.raw_bytes / runs.least(method, "write") / measured.MEGABYTE


def _bandwidth(runs: Runs) -> tell.Claim:
    is_so = bandwidth(runs, ACOMPS_SPEED) > bandwidth(runs, NONE)
    told = {m: f"{number(bandwidth(runs, m))} MB/s" for m in (NONE, ACOMPS_SPEED, SPEED)}
    return tell.claim_of(
        is_so,
        slide=2,
        what=f"compression increases effective I/O bandwidth ({runs.place})",
        source="said",
        ours=f"{told[ACOMPS_SPEED]} against {told[NONE]} without",
        neve=told[SPEED],
        how=tell.MODEL,
        why="" if is_so else _below(runs),
    )


def _below(runs: Runs) -> str:
    there = runs.break_even(ACOMPS_SPEED, NONE)
    told = "" if there is None else f"; the cycle gains below {number(there)} MB/s"
    return f"coding takes longer than it saves{told}"


def _share(disk: Runs, storage: Runs) -> tell.Claim:
    is_so = share(storage) > 0.5
    return tell.claim_of(
        is_so,
        slide=2,
        what=f"I/O and extraneous work take most of the time with netCDF and binary files "
        f"({storage.place})",
        source="60 %",
        ours=f"{tell.percent(share(disk))} on this disk, {tell.percent(share(storage))} on "
        f"{storage.place}",
        neve=f"{tell.percent(share(storage, SPEED))} by speed",
        how=tell.MODEL,
        why="" if is_so else "computing takes longer here",
    )


def claims(results: Results) -> list[tell.Claim]:
    disk = measured.on_disk(results)
    if disk is None:
        return []
    places = [disk.on(bandwidth) for bandwidth in cycles.bandwidths(results.settings)]
    of_places = [judge for there in places for judge in (_bandwidth(there), _share(disk, there))]
    busy = measured.busy(results)
    return [_volume(disk), *(tell.unless(busy, one) for one in of_places)]


def find(results: Results) -> Finding:
    told = claims(results)
    if not told:
        return tell.without_numbers(SOURCE)
    return tell.finding(
        told,
        SOURCE,
        f"{told[0].ours}; {told[2].ours}",
        f"{told[0].neve}; effective bandwidth {told[1].neve}",
    )


ITEM = Item("slide-2", "Slide 2", "Why data are reduced", needs, find)
