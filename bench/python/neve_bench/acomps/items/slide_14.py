# SPDX-License-Identifier: BSD-3-Clause
"""Slide 14: output sizes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import cycles, drawing, measured, tell
from ..cycles import ACOMPS_RATIO, ACOMPS_SPEED, LABELS, NETCDF, NONE, RATIO, SLIDE_14, SPEED
from ..measured import Runs
from ..requests import Cycle
from ..results import Results, Subject

SOURCE = (
    "GB: netCDF + binary 283, ADIOS 191, zlib 73, bzip2 72.6, LZO 80.03, ACOMPS by speed 67.5, by "
    "ratio 62.8; 77 % better than the original, 13 % than bzip2"
)
PLAIN = ("zlib", "bzip2", "lzo")
NEAR = 0.10  # of the original's bytes: an improvement that is so near is the same


def needs(subject: Subject) -> Iterator[Cycle]:
    yield from cycles.runs(subject.settings)


def saved(runs: Runs, method: str, over: str = NETCDF) -> float:
    return 1 - runs.bytes(method) / runs.bytes(over)


def _improves(runs: Runs) -> tell.Claim:
    stated = 1 - SLIDE_14[ACOMPS_RATIO] / SLIDE_14[NETCDF]
    here = saved(runs, ACOMPS_RATIO)
    return tell.claim_of(
        here >= stated - NEAR,
        slide=14,
        what="77 % improvement in size over the original (10 points less are as good)",
        source=f"77 %; 62.8 of 283 GB are {tell.percent(stated)}",
        ours=tell.percent(here),
        neve=tell.percent(saved(runs, RATIO)),
        why="" if here >= stated - NEAR else "this model's fields have other bits of noise",
    )


def _better_than_bzip2(runs: Runs) -> tell.Claim:
    here = saved(runs, ACOMPS_RATIO, "bzip2")
    return tell.claim_of(
        here > 0,
        slide=14,
        what="ACOMPS by ratio is smaller than bzip2",
        source="13 %",
        ours=tell.percent(here),
        neve=tell.percent(saved(runs, RATIO, "bzip2")),
        why="" if here > 0 else "bzip2 here is B-bzip2: it has the preprocessing, too",
    )


def _better_than_all(runs: Runs) -> tell.Claim:
    others = [m for m in PLAIN if runs.bytes(m) <= runs.bytes(ACOMPS_SPEED)]
    least = min(runs.bytes(m) for m in PLAIN)
    return tell.claim_of(
        not others,
        slide=14,
        what="ACOMPS, also by speed, is smaller than zlib, bzip2 and LZO",
        source="67.5 against 72.6 GB and more",
        ours=f"by speed {tell.percent(runs.bytes(ACOMPS_SPEED) / least - 1)} over the least",
        neve=f"by speed {tell.percent(runs.bytes(SPEED) / least - 1)}",
        why=f"smaller: {', '.join(LABELS[m] for m in others)}" if others else "",
    )


def _order(runs: Runs) -> tell.Claim:
    order = ("lzo", "zlib", "bzip2")
    sizes = [runs.bytes(m) for m in order]
    is_so = sizes == sorted(sizes, reverse=True)
    return tell.claim_of(
        is_so,
        slide=14,
        what="LZO is larger than zlib, zlib than bzip2",
        source="80.03, 73, 72.6 GB",
        ours=", ".join(tell.size(size) for size in sizes),
        neve="-",
        why="" if is_so else "another order here",
    )


def _by_ratio(runs: Runs) -> tell.Claim:
    is_so = runs.bytes(ACOMPS_RATIO) <= runs.bytes(ACOMPS_SPEED)
    return tell.claim_of(
        is_so,
        slide=14,
        what="by ratio is smaller than by speed",
        source="62.8 against 67.5 GB",
        ours=f"{tell.size(runs.bytes(ACOMPS_RATIO))} against {tell.size(runs.bytes(ACOMPS_SPEED))}",
        neve=f"{tell.size(runs.bytes(RATIO))} against {tell.size(runs.bytes(SPEED))}",
        why="" if is_so else "larger here",
    )


def claims(results: Results) -> list[tell.Claim]:
    runs = measured.on_disk(results)
    if runs is None:
        return []
    judge = (_improves, _better_than_bzip2, _better_than_all, _order, _by_ratio)
    return [one(runs) for one in judge]


def find(results: Results) -> Finding:
    runs = measured.on_disk(results)
    if runs is None:
        return tell.without_numbers(SOURCE)
    told = claims(results)
    draw = partial(
        drawing.bars,
        "Output sizes",
        {
            "slide 14": ("gigabytes", {LABELS[m]: size for m, size in SLIDE_14.items()}),
            "here": ("megabytes", {LABELS[m]: runs.bytes(m) / 1e6 for m in runs.methods}),
        },
    )
    header = ("method", "slide, GB", "of netCDF + binary", "here, MB", "of netCDF + binary")
    header += ("of no compression",)
    rows = [
        (
            LABELS[m],
            number(SLIDE_14.get(m)),
            tell.percent(SLIDE_14[m] / SLIDE_14[NETCDF]) if m in SLIDE_14 else "-",
            number(runs.bytes(m) / 1e6),
            tell.percent(runs.bytes(m) / runs.bytes(NETCDF)),
            tell.percent(runs.bytes(m) / runs.bytes(NONE)),
        )
        for m in runs.methods
    ]
    return tell.finding(
        told,
        SOURCE,
        f"{told[0].ours} smaller than netCDF + binary, {told[1].ours} than bzip2",
        f"by ratio {told[0].neve} smaller, {told[1].neve} than bzip2",
        [output.picture("pictures/slide-14", draw), output.table(header, rows)],
        {"bytes": {m: runs.bytes(m) for m in runs.methods}},
    )


ITEM = Item("slide-14", "Slide 14", "Output sizes", needs, find)
