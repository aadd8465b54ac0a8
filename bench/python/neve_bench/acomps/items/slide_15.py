# SPDX-License-Identifier: BSD-3-Clause
"""Slide 15: end to end times."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import cycles, drawing, measured, tell
from ..cycles import ACOMPS_RATIO, ACOMPS_SPEED, LABELS, NETCDF, NONE, RATIO, SPEED
from ..measured import Runs
from ..requests import Cycle
from ..results import Results, Subject

SOURCE = (
    "bars without numbers, up to 70 minutes: ACOMPS by speed is close to the fastest, LZO; by "
    "ratio it has a lower overhead than bzip2, with much better compression; its overhead is low"
)
COMPRESSORS = ("zlib", "bzip2", "lzo")
CLOSE = 1.05  # times the seconds of the fastest
LOW = 1.10  # times those without compression
OVERLAP = "the repeats overlap"
STORING = ("write", "read", "preprocessing", "conversion")


def needs(subject: Subject) -> Iterator[Cycle]:
    yield from cycles.runs(subject.settings)


def _over(runs: Runs, mine: str, other: str) -> float:
    return runs.least(mine) / runs.least(other)


def _close_to_fastest(runs: Runs) -> tell.Claim:
    fastest = min(COMPRESSORS, key=runs.least)
    factor = _over(runs, ACOMPS_SPEED, fastest)
    return tell.claim_of(
        factor <= CLOSE,
        slide=15,
        what="ACOMPS by speed is close to the fastest compressor",
        source="close to LZO",
        ours=f"{number(factor)} times {LABELS[fastest]}",
        neve=f"by speed {number(_over(runs, SPEED, fastest))} times",
        why="" if factor <= CLOSE else f"over {tell.percent(CLOSE - 1)} longer",
    )


def _lower_than_bzip2(runs: Runs) -> tell.Claim:
    is_faster = runs.faster(ACOMPS_RATIO, "bzip2", *STORING)
    is_smaller = runs.bytes(ACOMPS_RATIO) < runs.bytes("bzip2")
    is_so = None if is_smaller and is_faster is None else is_smaller and bool(is_faster)
    smaller = 1 - runs.bytes(ACOMPS_RATIO) / runs.bytes("bzip2")
    reasons = [
        *(["it takes longer"] if is_faster is False else []),
        *([OVERLAP] if is_faster is None else []),
        *(["it is not smaller"] if not is_smaller else []),
    ]
    return tell.claim_of(
        is_so,
        slide=15,
        what="ACOMPS by ratio has a lower overhead than bzip2, and is smaller",
        source="lower overhead, much better compression",
        ours=f"storing {number(_storing(runs, ACOMPS_RATIO))} s against "
        f"{number(_storing(runs, 'bzip2'))} s, {tell.percent(smaller)} smaller",
        neve=f"by ratio {number(_storing(runs, RATIO))} s, "
        f"{tell.percent(1 - runs.bytes(RATIO) / runs.bytes('bzip2'))} smaller",
        why="" if is_so else ", ".join(reasons),
    )


def _storing(runs: Runs, method: str) -> float:
    return runs.least(method, *STORING)


def _how(runs: Runs) -> str:
    return tell.HERE if runs.storage is None else tell.MODEL


def _below(runs: Runs, other: str) -> str:
    """Where by speed it is faster than another method."""
    there = runs.break_even(ACOMPS_SPEED, other)
    return (
        "at no bandwidth, by the model"
        if there is None
        else f"coding takes longer than it saves; by the model it is faster than {LABELS[other]} "
        f"below {number(there)} MB/s"
    )


def _low_overhead(runs: Runs) -> tell.Claim:
    factor = _over(runs, ACOMPS_SPEED, NONE)
    return tell.claim_of(
        factor <= LOW,
        slide=15,
        what=f"ACOMPS incurs low overhead: by speed at most 10 % over no compression, {runs.place}",
        source="low overhead",
        ours=f"{number(factor)} times the cycle without",
        neve=f"by speed {number(_over(runs, SPEED, NONE))}, by ratio "
        f"{number(_over(runs, RATIO, NONE))}",
        how=_how(runs),
        why="" if factor <= LOW else _below(runs, NONE),
    )


def _faster_than_netcdf(runs: Runs) -> tell.Claim:
    factor = _over(runs, ACOMPS_SPEED, NETCDF)
    return tell.claim_of(
        factor < 1,
        slide=15,
        what=f"ACOMPS by speed is faster than netCDF and binary files, {runs.place}",
        source="bars of half the height",
        ours=f"{number(factor)} times as long",
        neve=f"by speed {number(_over(runs, SPEED, NETCDF))}, by ratio "
        f"{number(_over(runs, RATIO, NETCDF))}",
        how=_how(runs),
        why="" if factor < 1 else _below(runs, NETCDF),
    )


def claims(results: Results) -> list[tell.Claim]:
    disk = measured.on_disk(results)
    if disk is None:
        return []
    places = [disk, *map(disk.on, cycles.bandwidths(results.settings))]
    of_places = [judge(runs) for runs in places for judge in (_low_overhead, _faster_than_netcdf)]
    busy = measured.busy(results)
    every = [_close_to_fastest(disk), _lower_than_bzip2(disk), *of_places]
    return [tell.unless(busy, one) for one in every]


def find(results: Results) -> Finding:
    disk = measured.on_disk(results)
    if disk is None:
        return tell.without_numbers(SOURCE)
    told = claims(results)
    places = [disk, *map(disk.on, cycles.bandwidths(results.settings))]
    panels = {runs.place: _stacks(runs) for runs in places}
    draw = partial(drawing.stacks, "End to end times, as slide 15", panels, "seconds")
    header = ("method", "MB", *cycles.PHASES, "this disk, s", "least to most, s")
    header += tuple(f"{runs.place}, s" for runs in places[1:])
    rows = [_row(m, *places) for m in disk.methods]
    return tell.finding(
        told,
        SOURCE,
        f"{told[0].ours}; {told[1].ours}",
        f"{told[0].neve}; {told[1].neve}",
        [output.picture("pictures/slide-15", draw), output.table(header, rows)],
        {
            "seconds": {m: disk.seconds(m) for m in disk.methods},
            "on storage": {m: places[1].seconds(m) for m in disk.methods},
        },
    )


def _stacks(runs: Runs) -> dict[str, dict[str, float]]:
    return {LABELS[name]: runs.phases(name) for name in runs.methods}


def _row(method: str, disk: Runs, *storages: Runs) -> tuple[str, ...]:
    phases = disk.phases(method)
    return (
        LABELS[method],
        number(disk.bytes(method) / 1e6),
        *(number(phases[name]) for name in cycles.PHASES),
        number(sum(phases.values())),
        tell.span(disk.seconds(method)) if len(disk.seconds(method)) > 1 else "-",
        *(number(storage.least(method)) for storage in storages),
    )


ITEM = Item("slide-15", "Slide 15", "End to end times", needs, find)
