# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 6: zfp at an accuracy of 1e-4 reached 9x on average. On which field is not printed:
its smoothness, found by trying, is fitted; that it can be had, and through ADIOS too, is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import MEASURED, Finding, Item, verdict_of
from ...paper.numbers import number
from .. import drawing, measured, outputs, told
from ..requests import Stored
from ..results import BALANCED, Record, Results, stored_by
from ..settings import Settings

PAPERS_RATIO = 9.0
WITHIN = 0.05
# The deck bench/apps/struct/decks/zfp-9x.toml has the same field.
GRID = (256, 256, 64)
SPACE_PER_POINT, MASK_PER_POINT = 0.0046, 0.004
STEPS = 2  # "on average"
TRIED = (0.001, 0.002, 0.005, 0.01, 0.02, 0.04)  # noise cells a point
HEADER = (
    "noise cells a point",
    "grid",
    "land cells a point",
    "land cells across",
    "steps",
    "output",
    "ratio",
    "largest error",
)


def _words(settings: Settings, per_point: float) -> tuple[str, ...]:
    return (
        *("--seed", str(settings.seed), *measured.BOUND, "--balance", "on"),
        *("--space-frequency-per-point", f"{per_point:g}"),
        *("--mask-frequency-per-point", f"{MASK_PER_POINT:g}"),
    )


def deck(settings: Settings) -> Stored:
    names = settings.built(
        outputs.ZFP, outputs.ADIOS_ZFP, outputs.ADIOS_ZFP_C_ORDER, outputs.HDF5_NEVE, outputs.NEVE
    )
    words = _words(settings, SPACE_PER_POINT)
    grid = ("--grid", ",".join(map(str, GRID)), "--steps", str(STEPS))
    return Stored("struct", (*grid, *words), names, 1)


def _tried(settings: Settings, per_point: float) -> Stored:
    words = ("--grid", ",".join(map(str, settings.grid)), *_words(settings, per_point))
    return Stored("struct", words, settings.built(outputs.ZFP, outputs.HDF5_NEVE), 1)


def needs(settings: Settings) -> Iterator[Stored]:
    yield deck(settings)
    for per_point in TRIED:
        yield _tried(settings, per_point)


def find(results: Results) -> Finding:
    paper = f"zfp at accuracy 0.0001: {PAPERS_RATIO:g}x on average"
    rows = stored_by(results.result(deck(results.settings)), BALANCED)
    if outputs.ZFP not in rows:
        return Finding(MEASURED, paper, "-", "-", "not measured")
    papers = {n: one["ratio"] for n, one in rows.items() if n in (outputs.ZFP, outputs.ADIOS_ZFP)}
    is_so = {name: abs(of / PAPERS_RATIO - 1) <= WITHIN for name, of in papers.items()}
    natural = rows.get(outputs.ADIOS_ZFP_C_ORDER)
    ours = {n: one["ratio"] for n, one in rows.items() if not outputs.is_papers(n)}
    return Finding(
        verdict_of(sum(is_so.values()), len(is_so)),
        paper,
        ", ".join(f"{name} {number(of)}" for name, of in papers.items()),
        "within the same bound " + ", ".join(f"{name} {number(of)}" for name, of in ours.items()),
        told.joined(
            f"within {WITHIN:.0%}. The paper's field is not printed: {SPACE_PER_POINT:g} noise "
            f"cells a point, {MASK_PER_POINT:g} of land, on a grid of "
            f"{_sides(GRID)} are fitted to its ratio. --grid has fewer land cells and points: its "
            "ratios are others at the same noise",
            "Neve's filter and its writer choose their codecs apart (neve info names them; "
            "docs/miniio.md has these)",
            f"ADIOS' zfp takes the slowest dimension of a C program for the fastest: "
            f"{number(natural['ratio'])} that way"
            if natural
            else "",
        ),
        _blocks(results, rows),
        {name: one["ratio"] for name, one in rows.items()},
    )


def _blocks(results: Results, rows: dict[str, Record]) -> list:
    by_frequency: dict[float, dict[str, Record]] = {}
    for per_point in TRIED:
        found = stored_by(results.result(_tried(results.settings, per_point)), BALANCED)
        if found:
            by_frequency[per_point] = found
    lines = {
        name: {f: of[name]["ratio"] for f, of in by_frequency.items()}
        for name in (outputs.ZFP, outputs.HDF5_NEVE)
    }
    grid = results.settings.grid
    table = _table(SPACE_PER_POINT, GRID, STEPS, rows)
    for per_point, found in by_frequency.items():
        table += _table(per_point, grid, 1, found)
    apart = {
        f"{name}, {_sides(GRID)}": (name, {SPACE_PER_POINT: rows[name]["ratio"]})
        for name in (outputs.ZFP, outputs.HDF5_NEVE, outputs.NEVE)
        if name in rows
    }
    draw = partial(
        drawing.lines,
        f"Ratio within 1e-4, by the field's smoothness, on {_sides(grid)}",
        "noise cells a point",
        "raw / stored bytes",
        {"": lines},
        log=True,
        level=(PAPERS_RATIO, "the paper's 9x"),
        apart=apart,
    )
    picture = [output.picture("pictures/zfp-9x", draw)] if by_frequency else []
    return [*picture, output.table(HEADER, table)]


def _sides(grid: tuple[int, int, int]) -> str:
    return " x ".join(map(str, grid))


def _table(
    per_point: float, grid: tuple[int, int, int], steps: int, rows: dict[str, Record]
) -> list[tuple[str, ...]]:
    land = MASK_PER_POINT * max(grid[:2])
    field = (f"{per_point:g}", _sides(grid), f"{MASK_PER_POINT:g}", f"{land:.3g}", str(steps))
    return [
        (*field, name, number(one["ratio"]), number(one["verified"]["max_abs_error"]))
        for name, one in rows.items()
    ]


ITEM = Item("zfp-9x", "Paragraph 6, zfp", "zfp's 9x at an accuracy of 1e-4", needs, find)
