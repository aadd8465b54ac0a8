# SPDX-License-Identifier: BSD-3-Clause
"""Section 3.3: padded chunks, a dataset for each rank, one for each field, AMReX's small chunks."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import NOT_HERE, Finding, Item
from ...paper.numbers import number
from .. import tell
from ..files import File, Settings
from ..requests import Point, Writes
from ..results import Results, geomean, times
from ..ways import AMREX, LARGER_CHUNK
from . import write_times

PADDED, PER_RANK, PER_FIELD = "padded-lr", "per-rank-lr", "per-field-lr"
SMALLER, LARGER = write_times.AMREX, write_times.LARGER_AMREX
OURS = write_times.LR
PAPER = (
    "padding to the largest rank costs size and time; a dataset for each rank is written serially; "
    "one for each field takes up to 5 times as long; chunks of 1024 are slow (4096 for WarpX_3)"
)


def needs(file: File, settings: Settings) -> Iterator[Writes | Point]:
    yield from write_times.needs(file, settings)
    if file.is_last:
        for field in file.curve_fields(settings):
            for way in (AMREX, LARGER_CHUNK):
                for rel in settings.bounds:
                    yield Point(field, way, rel, settings.cells)


Row = tuple[str, str, str, str, str, str]  # file, ranks, what, factor, standing, why


def _seconds(results: Results) -> Iterator[Row]:
    for what, mine, other, least in (
        ("padding costs time", PADDED, OURS, 2),
        ("a dataset for each rank is slower", PER_RANK, OURS, 2),
        ("one for each field is slower", PER_FIELD, OURS, 1),
        ("1D in chunks of 1024 is slower", SMALLER, OURS, 1),
        ("chunks of 1024 are slower than of 4096", SMALLER, LARGER, 1),
    ):
        for one in write_times.compared(results, mine, other):
            if one.ranks >= least:  # one rank has nothing to pad, nor several datasets
                least_factor, most = map(number, one.ends)
                factor = f"seconds {number(one.factor)} ({least_factor} to {most})"
                standing = one.slower()
                why = "" if standing == tell.UNTOLD else one.reason
                yield (one.file.name, str(one.ranks), what, factor, standing, why)


def _sizes(results: Results) -> Iterator[Row]:
    for one in write_times.compared(results, PADDED, OURS):
        if one.ranks > 1:
            factor = one.mine["dataset_bytes"] / one.other["dataset_bytes"]
            said = f"bytes of values {factor:.4f}"
            yield (
                one.file.name,
                str(one.ranks),
                "padding costs size",
                said,
                tell.standing(factor),
                "",
            )


def _ratios_of_writes(results: Results) -> list[float]:
    """Chunks of 4096 over chunks of 1024, of each write."""
    return [
        rows[SMALLER]["dataset_bytes"] / rows[LARGER]["dataset_bytes"]
        for file in results.files
        for _, rows in write_times.rows_of(results, file)
        if rows.keys() >= {SMALLER, LARGER}
    ]


HOLDS_WORDS = {
    tell.AHEAD: "yes",
    tell.EQUAL: "equal",
    tell.BEHIND: "no",
    tell.UNTOLD: "cannot be told",
}


def _where_not(lines: list[Row]) -> str:
    """Of each comparison, how often it does not hold, and how often that cannot be told."""
    said = []
    for what in dict.fromkeys(line[2] for line in lines):
        standings = [line[4] for line in lines if line[2] == what]
        counts = [
            f"{standings.count(which)} {HOLDS_WORDS[which]}"
            for which in (tell.BEHIND, tell.EQUAL, tell.UNTOLD)
            if which in standings
        ]
        if counts:
            said.append(f"{what}: of {len(standings)}, {', '.join(counts)}")
    return "; ".join(said)


def find(results: Results) -> Finding:
    lines = [*_sizes(results), *_seconds(results)]
    standings = [line[4] for line in lines]
    sizes = tell.gains(results, LARGER_CHUNK, AMREX)
    size_table = tell.gains_table("AMReX, chunks of 4096 / of 1024, at equal PSNR", sizes)
    if not lines:
        why = "no write was measured"
        return Finding(NOT_HERE, PAPER, "-", "-", why, [size_table])
    of_writes = geomean(_ratios_of_writes(results))
    return Finding(
        tell.verdict_of_standings(standings),
        PAPER,
        f"{standings.count(tell.AHEAD)} of {len(lines)} comparisons as the paper says; ratio of "
        f"AMReX with chunks of 4096 over 1024: {times(tell.mean_of(sizes))} for a field that "
        f"stands alone (at equal PSNR), {times(of_writes)} in the writes, whose chunks run across "
        "fields and are held to the tightest bound of all fields in them",
        "frames of any length for each rank, field and level in one file; no padding",
        _where_not(lines),
        [
            output.text(f"{write_times.FILES} Behind each factor is its spread."),
            output.table(
                ("file", "ranks", "what", "factor", "holds", "the stage that makes the difference"),
                [(*line[:4], HOLDS_WORDS[line[4]], line[5]) for line in lines],
            ),
            size_table,
            output.text(write_times.ACROSS_FIELDS),
        ],
        {
            "chunks_of_4096_over_1024": tell.mean_of(sizes),
            "chunks_of_4096_over_1024_in_writes": of_writes,
        },
    )


ITEM = Item("section-3.3", "Section 3.3", "Layouts of the HDF5 filter", needs, find)
