# SPDX-License-Identifier: BSD-3-Clause
"""Past the paper: Neve within zfp's bound, and bit for bit against the best of HDF5's filters;
bytes are counted, times are pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import number
from .. import measured, outputs, told
from ..requests import Stored, Timed
from ..results import BALANCED, Place, Results, stored_by
from ..settings import Settings
from . import file_system

AGAINST = (
    (outputs.HDF5_NEVE, outputs.ZFP),
    (outputs.NEVE, outputs.ZFP),
    (outputs.HDF5_NEVE, outputs.ADIOS_ZFP),
    (outputs.HDF5_NEVE_LOSSLESS, outputs.SHUFFLE),
    (outputs.NEVE_LOSSLESS, outputs.SHUFFLE),
)
HEADER = ("Neve", "against", "bytes, theirs / Neve's")
SPEEDS = ("output", "MB/s of compression on one rank")


def needs(settings: Settings) -> Iterator[Stored | Timed]:
    yield measured.files(settings)
    yield from measured.every_timed(settings)


def smaller(results: Results) -> dict[tuple[str, str], float]:
    rows = stored_by(results.result(measured.files(results.settings)), BALANCED)
    return {
        (ours, theirs): rows[theirs]["file_bytes"] / rows[ours]["file_bytes"]
        for ours, theirs in AGAINST
        if ours in rows and theirs in rows
    }


def faster(results: Results) -> list[told.Comparison]:
    seconds = measured.seconds(results)
    found = []
    for ours, theirs in AGAINST:
        for ranks in (1, *results.settings.judged_ranks):
            places = [Place(ranks, BALANCED, name) for name in (theirs, ours)]
            if all(place in seconds for place in places):
                what = f"{ours} over {theirs}, {ranks} rank{'s' * (ranks > 1)}"
                found.append(told.compare(what, *(seconds[place] for place in places)))
    return [one for one in found if one is not None]


def find(results: Results) -> Finding:
    paper = "zlib, szip, shuffle + zlib, zfp"
    bytes_, times = smaller(results), faster(results)
    is_smaller = {f"{ours} against {theirs}": of > 1 for (ours, theirs), of in bytes_.items()}
    unjudged = measured.unjudged(results)
    told_apart = {one.what: one.is_so for one in times if one.is_so is not None}
    judged = is_smaller if unjudged else {**is_smaller, **told_apart}
    speeds = file_system.speeds(results)
    return Finding(
        verdict_of(sum(judged.values()), len(judged)),
        paper,
        "times as small: "
        + ", ".join(f"{ours} {number(of)} of {theirs}" for (ours, theirs), of in bytes_.items()),
        f"times as fast: {told.decided(times)}",
        told.joined("bytes are counted", unjudged),
        [
            output.table(HEADER, [(*pair, number(of)) for pair, of in bytes_.items()]),
            *([told.table(times)] if times else []),
            output.table(SPEEDS, [(name, number(mbps)) for name, mbps in speeds.items()]),
        ],
        {"bytes": {f"{a} against {b}": of for (a, b), of in bytes_.items()}, **told.as_json(times)},
    )


ITEM = Item("past-the-paper", "Past the paper", "Neve beside the paper's compressions", needs, find)
