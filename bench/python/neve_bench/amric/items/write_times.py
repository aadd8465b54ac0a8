# SPDX-License-Identifier: BSD-3-Clause
"""Figures 17 and 18: the times of parallel writes by stage, over ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ...paper import output
from ...paper.item import NOT_HERE, Finding, Item
from ...paper.numbers import number, span
from .. import drawing, tell
from ..files import WARPX, File, Settings
from ..requests import Writes
from ..results import Results, worst

NO_COMPRESSION, AMREX, LR, INTERP = "nocomp", "amrex:1024", "amric-lr", "amric-interp"
LARGER_AMREX = "amrex:4096"
NEVE, BEHIND = "neve", "neve-behind"
# Those of section 3.3 run with them, so that all are measured in turns.
WAYS = (
    NO_COMPRESSION,
    AMREX,
    LARGER_AMREX,
    LR,
    INTERP,
    "padded-lr",
    "per-rank-lr",
    "per-field-lr",
    NEVE,
    BEHIND,
)
# Those that are shown, by the paper's names.
NAMES = {
    NO_COMPRESSION: "NoComp",
    AMREX: "AMReX",
    LR: "AMRIC (SZ_L/R)",
    INTERP: "AMRIC (SZ_Interp)",
    NEVE: "Neve",
    BEHIND: "Neve behind",
}
ACROSS_FIELDS = (
    "Chunks of the writes run across fields, and each is held to the tightest bound of the fields "
    "in it: the larger the chunk, the more fields it joins, so chunks of 4096 can lose ratio here "
    "where they gain it for a field that stands alone (section 3.3)."
)
STAGES = ("prepare", "encode", "write", "sync")
FILES = (
    "Seconds are of the whole call. AMRIC's (SZ_L/R, SZ_Interp) and Neve's are whole plotfiles, "
    "with what readers need; those without compression, AMReX's and the layouts of section 3.3 "
    "hold only values, boxes and offsets. So sizes and ratios here are of the values' datasets "
    "alone."
)
SCALE = (
    "Summit's 2 to 128 nodes with 64 to 4096 ranks and its file system are not here, nor runs that "
    "grow with the ranks: times are of one file on this machine, written by few ranks"
)


def needs(file: File, settings: Settings) -> Iterator[Writes]:
    fields = tuple(file.fields(settings))
    if file.is_last and fields:
        for ranks in settings.ranks:
            yield Writes(WAYS, fields, settings.middle, ranks, settings.repeats)


def rows_of(results: Results, file: File) -> list[tuple[int, dict[str, dict]]]:
    """(ranks, row by way), without the ways that failed."""
    return [
        (ranks, {row["way"]: row for row in result["rows"] if not row.get("error")})
        for ranks, result in results.writes(file)
    ]


def total(row: dict) -> float:
    return row["seconds"]["total"]


@dataclass(frozen=True)
class Compared:
    """The seconds of two ways that wrote the same."""

    file: File
    ranks: int
    mine: dict
    other: dict

    @property
    def factor(self) -> float:
        return total(self.mine) / total(self.other)

    @property
    def ends(self) -> tuple[float, float]:
        """The factor at the ends of both ways' spreads."""
        (least, most), (least_of_other, most_of_other) = self.mine["spread"], self.other["spread"]
        return least / most_of_other, most / least_of_other

    def slower(self, limit: float = 1.0) -> str:
        """Whether `mine` takes more than `limit` times as long: a standing."""
        least, most = self.ends
        if least <= limit <= most or least == most:  # a single run has no spread
            return tell.UNTOLD
        return tell.AHEAD if least > limit else tell.BEHIND

    @property
    def reason(self) -> str:
        """The stage that makes most of the difference, if one makes more than half of it."""
        difference = total(self.mine) - total(self.other)
        shares = {
            stage: (_of(self.mine, stage) - _of(self.other, stage)) / difference
            for stage in STAGES
            if difference
        }
        stage = max(shares, key=lambda one: shares[one], default=None)
        if stage is None or shares[stage] <= 0.5:
            return "reason not known"
        mine, other = (number(_of(row, stage)) for row in (self.mine, self.other))
        return f"{stage} {mine} s against {other} s"

    @property
    def place(self) -> str:
        return f"{self.file.name} on {self.ranks}"


def _of(row: dict, stage: str) -> float:
    return row["seconds"].get(stage) or 0.0


def compared(results: Results, mine: str, other: str) -> list[Compared]:
    return [
        Compared(file, ranks, rows[mine], rows[other])
        for file in results.files
        for ranks, rows in rows_of(results, file)
        if mine in rows and other in rows
    ]


def where_not(found: Sequence[tuple[Compared, str]]) -> str:
    """Of (what was compared, its standing): where the claim does not hold, or cannot be told."""
    # The farthest from 1 is the worst, on whichever side it is not held.
    found = sorted(found, key=lambda pair: -abs(math.log(pair[0].factor)))
    not_held = [
        f"{one.place} ({number(one.factor)}: {one.reason})"
        for one, standing in found
        if standing == tell.BEHIND
    ]
    untold = [
        f"{one.place} ({number(one.factor)}, {number(one.ends[0])} to {number(one.ends[1])})"
        for one, standing in found
        if standing == tell.UNTOLD
    ]
    said = [f"not on {len(not_held)} of {len(found)}: {worst(not_held)}"] if not_held else []
    if untold:
        said.append(f"{tell.UNTOLD} on {len(untold)} of {len(found)}: {worst(untold)}")
    return "; ".join(said)


def _lines(results: Results, file: File) -> list[tuple[str, ...]]:
    return [
        (
            file.name,
            str(ranks),
            way,
            *(number(row["seconds"].get(stage)) for stage in STAGES),
            number(total(row)),
            span(row["spread"]),
            number(row["call_seconds"]),
            number(row["raw_bytes"] / row["dataset_bytes"]),
        )
        for ranks, rows in rows_of(results, file)
        for way, row in rows.items()
    ]


def _figure(number_of_figure: int, title: str, is_mine: Callable[[File], bool], paper: str) -> Item:
    def needs_of_mine(file: File, settings: Settings) -> Iterator[Writes]:
        return needs(file, settings) if is_mine(file) else iter(())

    def find(results: Results) -> Finding:
        mine = [file for file in results.files if is_mine(file) and file.is_last]
        compared_rows = [rows for file in mine for _, rows in rows_of(results, file)]
        both = [rows for rows in compared_rows if rows.keys() >= {NO_COMPRESSION, AMREX, LR, NEVE}]
        failures = [
            output.text(f"{file.name}: {results.said(file, one)}")
            for file in mine
            for one in needs_of_mine(file, results.settings)
            if results.result(file, one) is None
        ]
        if not both:
            why = "no such file among the inputs" if not mine else "no write was measured"
            return Finding(NOT_HERE, paper, "-", "-", why, failures)
        judged = [(one, one.slower()) for one in compared(results, AMREX, LR) if one.file in mine]
        standings = [standing for _, standing in judged]
        not_where = where_not(judged)
        return Finding(
            tell.verdict_of_standings(standings),
            paper,
            f"AMRIC takes less than AMReX on {standings.count(tell.AHEAD)} of {len(judged)}; "
            f"AMRIC / AMReX {_span(both, LR, AMREX)}, AMRIC / no compression "
            f"{_span(both, LR, NO_COMPRESSION)}",
            f"Neve / no compression {_span(both, NEVE, NO_COMPRESSION)}, Neve / AMReX "
            f"{_span(both, NEVE, AMREX)}",
            f"AMReX slower: {not_where}. {SCALE}" if not_where else SCALE,
            [*failures, *_blocks(results, mine, number_of_figure)],
        )

    return Item(
        f"figure-{number_of_figure}", f"Figure {number_of_figure}", title, needs_of_mine, find
    )


def _blocks(results: Results, files: list[File], number_of_figure: int) -> list[output.Block]:
    blocks = []
    for file in files:
        by_ranks = [
            (ranks, [rows[way] for way in NAMES if way in rows])
            for ranks, rows in rows_of(results, file)
        ]
        if by_ranks:
            title = f"{file.name}: seconds of a write"
            draw = partial(drawing.write_times, title, by_ranks, NAMES)
            place = f"pictures/figure-{number_of_figure}-{results.files.index(file)}"
            blocks.append(output.picture(place, draw))
    header = ("file", "ranks", "way", *STAGES, "total", "least to most", "call", "ratio of values")
    lines = [line for file in files for line in _lines(results, file)]
    texts = [output.text(FILES), output.text(ACROSS_FIELDS)]
    return [*blocks, output.table(header, lines), *texts]


def _span(both: list[dict[str, dict]], mine: str, other: str) -> str:
    """Least and largest factor of seconds."""
    return span(total(rows[mine]) / total(rows[other]) for rows in both)


figure_17 = _figure(
    17,
    "Write times of WarpX by stage and ranks",
    lambda file: file.code == WARPX,
    "AMRIC takes 97, 93 and 89 % less than AMReX, up to 90 % less than no compression",
)
figure_18 = _figure(
    18,
    "Write times of Nyx (and others) by stage and ranks",
    lambda file: file.code != WARPX,
    "AMRIC takes 79, 53 and 64 % less than AMReX",
)
