# SPDX-License-Identifier: BSD-3-Clause
"""Figure 10: original, original SZ_L/R, AMRIC's and Neve's, and the artifacts between levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...amr.equal_ratio import is_close
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import number
from .. import tell
from ..files import File, Settings
from ..requests import Panels
from ..results import Record, Results, listed, worst
from ..ways import ADAPTIVE, LM, NEVE

WAYS = (LM, ADAPTIVE, NEVE["balanced"])


def needs(file: File, settings: Settings) -> Iterator[Panels]:
    if file.is_last and file.dims > 1 and len(file.levels) > 1:
        for field in file.curve_fields(settings)[:1]:
            yield Panels(
                field,
                WAYS,
                max(settings.bounds),
                settings.cells,
                "values",
                True,
                settings.axis,
                settings.at,
            )


def _of_range(way: Record) -> float | None:
    """The rms jump of the error across level borders in units of the range: what an eye sees, and
    for the most part the size of the error. The artifact's own jump is in units of the bounds.
    """
    return None if way["jump_rms"] is None else way["jump_rms"] * way["rel"]


Compared = list[tuple[File, list[Record]]]  # the ways of each file, at one ratio


def _mean(compared: Compared, place: int, of: Callable[[Record], float | None]) -> float | None:
    there = [value for _, each in compared if (value := of(each[place])) is not None]
    return sum(there) / len(there) if there else None


def _relative(way: Record) -> float | None:
    return way["jump"]


def _tested(compared: Compared) -> tuple[list[bool], list[File], list[str]]:
    """Whether AMRIC's artifact is the smaller one, of each file where one is seen; the files
    where none is; and where AMRIC's is not smaller, its numbers beside those of the original.

    Below 1 the error jumps no more between levels than within them: that is no artifact. An
    artifact is smaller where the jump is, both of the range and over that within levels.
    """
    held, without, behind = [], [], []
    for file, (original, amric, *_) in compared:
        relative = [_relative(original), _relative(amric)]
        seen = [_of_range(original), _of_range(amric)]
        if None in (*relative, *seen):
            continue
        if max(relative) < 1:
            without.append(file)
            continue
        held.append(relative[1] < relative[0] and seen[1] < seen[0])
        if not held[-1]:
            said = (
                f"{file.name} (AMRIC {number(relative[1])}, original {number(relative[0])}; of the "
                f"range {number(seen[1])}, {number(seen[0])})"
            )
            behind.append((relative[1] - relative[0], said))
    return held, without, [said for _, said in sorted(behind, reverse=True)]


def _of_neve(results: Results, asked: Sequence[tuple[File, Panels]]) -> list[str]:
    """The files where the error of Neve jumps more between levels than within them."""
    found = []
    for file, one in asked:
        result = results.result(file, one)
        if result is not None:
            original, _, way = result["ways"]
            relative = _relative(way)
            if relative is not None and relative > 1:
                said = (
                    f"{file.name} ({number(relative)}; of the range {number(_of_range(way))}, "
                    f"original {number(_of_range(original))})"
                )
                found.append((relative, said))
    return [said for _, said in sorted(found, reverse=True)]


def _why(results: Results, asked: Sequence[tuple[File, Panels]]) -> str:
    compared, apart = tell.panels_of(results, asked)
    _, without, behind = _tested(compared)
    said = []
    if behind:
        said.append(f"AMRIC's jump is not the smaller one on {worst(behind)}")
    if without:
        said.append(f"no artifact seen in either on {worst([file.name for file in without])}")
    neves = _of_neve(results, asked)
    if neves:
        said.append(
            f"Neve's error jumps more between levels than within them on {worst(neves)}: "
            "neighbours within a level have errors alike there, those across a border have not"
        )
    return "; ".join([*said, *filter(None, [tell.left_out(apart)])])


def find(results: Results) -> Finding:
    asked = [(f, one) for f in results.files for one in needs(f, results.settings)]
    compared, _ = tell.panels_of(results, asked)
    held, without, _ = _tested(compared)
    jump = [_mean(compared, place, _relative) for place in range(2)]
    border = [_mean(compared, place, _of_range) for place in range(2)]
    # A ratio of Neve that is another one is no match for theirs.
    near = [(f, each) for f, each in compared if is_close(each[2]["ratio"], each[0]["ratio"])]
    jump.append(_mean(near, 2, _relative))
    border.append(_mean(near, 2, _of_range))
    band = [_mean(compared, place, lambda way: way["band"]) for place in range(2)]
    band.append(_mean(near, 2, lambda way: way["band"]))
    return Finding(
        verdict_of(sum(held), len(held)),
        "original SZ_L/R (ratio 51.7) shows artifacts between levels, AMRIC (53.2) does not",
        f"an artifact in either is seen on {len(held)} of {len(held) + len(without)} files, and "
        f"AMRIC's is smaller on {sum(held)}; jump of the error at level borders over that within "
        f"levels: {number(jump[0])} by original SZ_L/R, {number(jump[1])} by AMRIC (above 1 it is "
        f"an artifact); of the range: {listed(border[:2])}",
        f"jump {number(jump[2])} of that within levels, {number(border[2])} of the range",
        _why(results, asked),
        tell.panels_blocks(results, "figure-10", asked),
        {"jump": jump, "band": band, "jump_of_range": border},
    )


ITEM = Item(
    "figure-10", "Figure 10", "Original, original SZ_L/R, AMRIC: level borders", needs, find
)
