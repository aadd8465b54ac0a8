# SPDX-License-Identifier: BSD-3-Clause
"""Slide 11: what the conversion costs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import cycles, drawing, measured, tell
from ..cycles import NETCDF, NONE
from ..measured import Runs
from ..requests import Cycle
from ..results import Results, Subject

SOURCE = (
    "n = 55, m = 400: (9 x 55) files are converted in 36.7 of about 65 minutes, about 56 %; about "
    "283 GB"
)
STATED_SHARE = 0.56
HALF = 0.5  # from which on a conversion is most of the time
MODELLED = (0.1, 1.0, 10.0, 30.0, 60.0, 129.0, 250.0, 500.0, 1000.0)


def needs(subject: Subject) -> Iterator[Cycle]:
    yield from cycles.runs(subject.settings)


def share_by_model(runs: Runs, storage: float) -> float:
    return runs.on(storage).conversion_share()


def storage_of_share(runs: Runs, share: float) -> float | None:
    """The bandwidth at which the model's conversion takes that share; None: at none."""
    low, high = measured.SLOWEST, measured.FASTEST
    if not share_by_model(runs, high) < share < share_by_model(runs, low):
        return None
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if share_by_model(runs, middle) > share else (low, middle)
    return low


def slides_bandwidth() -> float:
    """MB/s of the slides' conversion: it read what ADIOS wrote, 191 GB, and wrote the rest."""
    return cycles.SLIDE_14[NETCDF] * 1e9 / (cycles.CONVERSION_MINUTES * 60) / measured.MEGABYTE


def _arithmetic() -> tell.Claim:
    share = cycles.CONVERSION_MINUTES / cycles.TOTAL_MINUTES
    return tell.claim_of(
        abs(share - STATED_SHARE) < 0.01,
        slide=11,
        what="36.7 of 65 minutes are about 56 %",
        source="~56 %",
        ours=tell.percent(share),
        neve="-",
        how=tell.ARITHMETIC,
    )


def _costly(disk: Runs, bandwidth: float) -> tell.Claim:
    share = share_by_model(disk, bandwidth)
    return tell.claim_of(
        share > HALF,
        slide=11,
        what=f"the conversion takes most of the cycle ({disk.on(bandwidth).place})",
        source="56 %",
        ours=f"{tell.percent(disk.conversion_share())} on this disk, {tell.percent(share)} on "
        f"{disk.on(bandwidth).place}",
        neve="0: nothing is converted",
        how=tell.MODEL,
        why="" if share > HALF else _why_not(disk),
    )


def _why_not(disk: Runs) -> str:
    """What the model says of any bandwidth."""
    there = storage_of_share(disk, STATED_SHARE)
    most = tell.percent(share_by_model(disk, measured.SLOWEST))
    if there is not None:
        return f"by the model it is 56 % at {number(there)} MB/s"
    return f"by the model {most} at most: a conversion here moves no more than that share of bytes"


def claims(results: Results) -> list[tell.Claim]:
    disk = measured.on_disk(results)
    found = [_arithmetic()]
    if disk is not None:
        of_places = [_costly(disk, one) for one in cycles.bandwidths(results.settings)]
        busy = measured.busy(results)
        found += [tell.unless(busy, one) for one in of_places]
    return found


def find(results: Results) -> Finding:
    told = claims(results)
    disk = measured.on_disk(results)
    if disk is None:
        return tell.without_numbers(SOURCE)
    storage, of_process = map(disk.on, cycles.bandwidths(results.settings))
    panels = {runs.place: _stacks(runs) for runs in (disk, storage, of_process)}
    draw = partial(drawing.stacks, "With and without a conversion", panels, "seconds")
    header = ("storage, MB/s", "conversion", "the cycle, s", "without a conversion, s")
    rows = [
        (
            f"{bandwidth:g}",
            tell.percent(share_by_model(disk, bandwidth)),
            *(number(disk.on(bandwidth).least(name)) for name in (NETCDF, NONE)),
        )
        for bandwidth in MODELLED
    ]
    return tell.finding(
        told,
        SOURCE,
        "; ".join(one.ours for one in told[1:]),
        told[-1].neve,
        [
            output.picture("pictures/slide-11", draw),
            output.text("By the model, over the bandwidth of the storage:"),
            output.table(header, rows),
        ],
        {
            "share on disk": disk.conversion_share(),
            "share on storage": storage.conversion_share(),
            "share on storage of a process": of_process.conversion_share(),
            "slides' MB/s": slides_bandwidth(),
        },
        f"The slides' conversion moved 283 GB in 36.7 minutes: {number(slides_bandwidth())} "
        f"MB/s, for {cycles.PROCESSES} processes: the first storage is as fast for all ranks here, "
        "the second one for each of them",
    )


def _stacks(runs: Runs) -> dict[str, dict[str, float]]:
    return {cycles.LABELS[name]: runs.phases(name) for name in (NETCDF, NONE)}


ITEM = Item("slide-11", "Slide 11", "What the conversion costs", needs, find)
