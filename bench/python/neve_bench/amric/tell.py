# SPDX-License-Identifier: BSD-3-Clause
"""What several items do: ask for curves, compare ways at equal PSNR, draw."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ..amr.equal_ratio import is_close
from ..paper import output
from ..paper.item import MEASURED, Finding, verdict_of
from ..paper.numbers import number
from ..study.page import Block
from . import drawing, ways
from .files import File, Settings
from .requests import Panels, Point
from .results import Record, Results, geomean, times, worst

Levels = Callable[[File], Sequence[int | None]]


def curves(file: File, settings: Settings, of: Sequence[str]) -> Iterator[Point]:
    """Over the bounds of curves, for a few fields of the last step of a run. Units that no box
    holds would be the boxes again.
    """
    if file.is_last:
        for field in file.curve_fields(settings):
            for way in (one for one in of if file.holds(ways.unit_of(one))):
                for rel in settings.curve_bounds:
                    yield Point(field, way, rel, settings.cells)


def tables(
    file: File, settings: Settings, of: Sequence[str], cells: str | None = None
) -> Iterator[Point]:
    """At the bounds of tables, for all fields."""
    for field in file.fields(settings):
        for way in (one for one in of if file.holds(ways.unit_of(one))):
            for rel in settings.bounds:
                yield Point(field, way, rel, cells or settings.cells)


# What a factor says of a claim. A difference within EQUAL_WITHIN is none, ahead or behind; none of
# times within the spread of their repeats can be told (write_times.py).
AHEAD, EQUAL, BEHIND, UNTOLD = "ahead", "equal", "behind", "no difference can be told"
EQUAL_WITHIN = 1e-3
RULE = (
    "A claim is judged on each file, level and field that it speaks of, by the unrounded factors: "
    "it holds where all are above 1, it holds in part where some are. Factors within 0.1 % of 1 "
    "count as equal, which is not above. Seconds differ only where the spreads of their repeats, "
    "least to most, lie apart; else no difference can be told. Levels of which no box holds a "
    "whole unit block are not judged by ways with that unit. Tables 2 and 3 are judged by their "
    "lines, which are means as the paper's, and past the paper by file."
)


def standing(factor: float) -> str:
    if factor > 1 + EQUAL_WITHIN:
        return AHEAD
    return BEHIND if factor < 1 / (1 + EQUAL_WITHIN) else EQUAL


@dataclass(frozen=True)
class Gain:
    file: File
    field: str
    level: int | None
    factor: float  # of ratios at equal PSNR
    rel: float | None = None  # or of ratios at this bound

    @property
    def place(self) -> str:
        level = [] if self.level is None else [f"level {self.level}"]
        bound = [] if self.rel is None else [f"bound {self.rel:g}"]
        return " ".join([self.file.name, self.field, *level, *bound])


def gains(
    results: Results,
    mine: str,
    other: str,
    levels: Levels = lambda _: (None,),
) -> list[Gain]:
    """`mine` over `other` wherever both have curves that share PSNRs, and a box that holds a whole
    unit of theirs.
    """
    found = []
    units = [ways.unit_of(mine), ways.unit_of(other)]
    for file in results.files:
        for field in file.fields(results.settings):
            for level in levels(file):
                if not all(file.holds(unit, level) for unit in units):
                    continue
                factor = results.gain(file, field, mine, other, level)
                if factor is not None:
                    found.append(Gain(file, field, level, factor))
    return found


def gains_at_bounds(results: Results, mine: str, other: str) -> list[Gain]:
    """The same of all levels together, at each bound of tables."""
    found = []
    for file in results.files:
        for field in file.fields(results.settings):
            for rel in results.settings.bounds:
                rows = [results.row(file, field, way, rel) for way in (mine, other)]
                if None not in rows:
                    factor = rows[1]["stored_bytes"] / rows[0]["stored_bytes"]
                    found.append(Gain(file, field, None, factor, rel))
    return found


def finest(file: File) -> Sequence[int | None]:
    return (len(file.levels) - 1,)


def coarsest(_: File) -> Sequence[int | None]:
    return (0,)


def each_level(file: File) -> Sequence[int | None]:
    return range(len(file.levels))


def verdict_of_standings(standings: Sequence[str]) -> str:
    if all(one == UNTOLD for one in standings):
        return MEASURED
    return verdict_of(standings.count(AHEAD), len(standings))


def verdict(found: Iterable[Gain]) -> str:
    return verdict_of_standings([standing(gain.factor) for gain in found])


def where_not(found: Iterable[Gain]) -> str:
    """Where the claim does not hold, with the factors; the worst alone, if many."""
    by_factor = sorted(found, key=lambda gain: gain.factor)
    said = []
    for which, words in ((BEHIND, "not on"), (EQUAL, "equal on")):
        there = [gain for gain in by_factor if standing(gain.factor) == which]
        if there:
            named = worst([f"{gain.place} ({gain.factor:.4f})" for gain in there])
            said.append(f"{words} {len(there)} of {len(by_factor)}: {named}")
    return "; ".join(said)


def not_whole(results: Results, way: str, levels: Levels) -> list[str]:
    """The levels of which no box, or only some, hold a whole unit of the way."""
    unit = ways.unit_of(way)
    if unit is None:
        return []
    found = []
    for file in (one for one in results.files if one.is_last):
        for level in (one for one in levels(file) if one is not None):
            holding, boxes = file.boxes_that_hold(unit, level), file.levels[level]["boxes"]
            if holding < boxes:
                share = f"{holding} of {boxes} boxes hold" if holding else "no box holds"
                found.append(f"{file.name} level {level}: {share} a unit of {unit}")
    return found


def gains_table(title: str, found: Sequence[Gain]) -> Block:
    return output.table(
        ("file", "field", "level", title),
        [
            (g.file.name, g.field, "all" if g.level is None else str(g.level), times(g.factor))
            for g in found
        ],
    )


def mean_of(found: Sequence[Gain]) -> float | None:
    return geomean(gain.factor for gain in found)


def curve_picture(
    results: Results, name: str, panels: Sequence[tuple[str, int | None, Sequence[str]]]
) -> list[Block]:
    """Of each last step's first field: panels of (title, level counted from either end, ways)."""
    blocks = []
    for number_of_file, file in enumerate(results.files):
        fields = file.curve_fields(results.settings)
        if not file.is_last or not fields:
            continue
        field = fields[0]
        drawn = []
        for title, level, of in panels:
            place = level if level is None or level >= 0 else len(file.levels) + level
            there = [way for way in of if file.holds(ways.unit_of(way), place)]
            lines = {way: results.curve(file, field, way, place) for way in there}
            drawn.append((title, {ways.label(way): line for way, line in lines.items() if line}))
        if any(lines for _, lines in drawn):
            draw = partial(drawing.curves, f"{file.name}: {field}", drawn)
            blocks.append(output.picture(f"pictures/{name}-{number_of_file}", draw))
    return blocks


def panels_blocks(
    results: Results, name: str, requests: Sequence[tuple[File, Panels]]
) -> list[Block]:
    """Picture and numbers of each slice."""
    blocks = []
    for place, (file, request) in enumerate(requests):
        result = results.result(file, request)
        if result is None:
            blocks.append(output.text(f"{file.name}: {results.said(file, request)}"))
            continue
        png = base64.b64decode(result["png"])
        blocks.append(output.text(f"{file.name}, {request.field}:"))
        blocks.append(output.picture(f"pictures/{name}-{place}", png))
        blocks.append(
            output.table(
                ("way", "bound", "ratio", "PSNR, dB", "band", "jump", "note"),
                [
                    (
                        ways.label(one["way"]),
                        f"{one['rel']:.3g}",
                        number(one["ratio"]),
                        number(one["psnr_db"], digits=4),
                        number(one["band"]),
                        number(one["jump"]),
                        "" if is_as_wanted(request, result, one) else drawing.NEAREST,
                    )
                    for one in result["ways"]
                ],
            )
        )
    return blocks


def is_as_wanted(request: Panels, panels: Record, way: Record) -> bool:
    """Whether a way's ratio is that of the first one, where that is what was asked for."""
    wanted = panels["ways"][0]["ratio"]
    return not request.is_at_equal_ratio or is_close(way["ratio"], wanted)


def panels_of(
    results: Results, requests: Sequence[tuple[File, Panels]]
) -> tuple[list[tuple[File, list[Record]]], list[File]]:
    """(file, its ways) where the second way has the ratio of the first; the files where it has
    not, of which the numbers are not to be compared.
    """
    found, apart = [], []
    for file, request in requests:
        result = results.result(file, request)
        if result is None:
            continue
        if is_as_wanted(request, result, result["ways"][1]):
            found.append((file, result["ways"]))
        else:
            apart.append(file)
    return found, apart


def left_out(apart: Sequence[File]) -> str:
    """For a summary that does not count them; "" without any."""
    if not apart:
        return ""
    names = worst([file.name for file in apart])
    return f"{names}: not counted, as the second way reaches no ratio within 1 % of the first's"


def without_data(what: str) -> Finding:
    return Finding(verdict_of(0, 0), "", "-", "-", what)
