# SPDX-License-Identifier: BSD-3-Clause
"""Figure 15: errors of AMRIC and of AMReX where each rank's bound is relative to its own range."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import number, span
from .. import tell, ways
from ..files import File, Settings
from ..requests import Panels, Point
from ..results import Results, listed
from ..ways import ADAPTIVE, AMREX, NEVE

RANKS = 8
OF_RANKS = tuple(f"{way},ranks={RANKS},ranges=rank" for way in (ADAPTIVE, AMREX))
# AMRIC's and AMReX's bounds of the paper's Nyx runs (table 1).
BOUNDS_OF_NYX = (1e-3, 1e-2)
SHOWN = (*OF_RANKS, NEVE["balanced"])


def needs(file: File, settings: Settings) -> Iterator[Panels | Point]:
    if not file.is_last:
        return
    for field in file.curve_fields(settings)[:1]:
        for way in OF_RANKS:
            for rel in settings.bounds:
                yield Point(field, way, rel, settings.cells)
        if file.dims > 1:
            if set(BOUNDS_OF_NYX) <= set(settings.bounds):
                mine, other = BOUNDS_OF_NYX
                yield _panels(field, settings, (mine, other, mine))
            yield _panels(field, settings, (settings.middle,) * len(SHOWN))


def _panels(field: str, settings: Settings, rels: tuple[float, ...]) -> Panels:
    return Panels(
        field,
        SHOWN,
        rels[0],
        settings.cells,
        "errors",
        False,
        settings.axis,
        settings.at,
        rels,
    )


def _rows(results: Results, bounds: tuple[float, float]) -> list[tuple[File, dict, dict]]:
    """AMRIC's and AMReX's row of each file, each at its bound."""
    found = []
    for file in results.files:
        for field in file.curve_fields(results.settings)[:1]:
            rows = [
                results.row(file, field, way, rel)
                for way, rel in zip(OF_RANKS, bounds, strict=True)
            ]
            if None not in rows and None not in [row["psnr_db"] for row in rows]:
                found.append((file, *rows))
    return found


def _busy(found: list[tuple[File, dict, dict]]) -> dict[str, list[int]]:
    """By file: how many ranks hold something of each level."""
    return {
        file.name: [level["ranks_with_cells"] for level in mine["levels"]]
        for file, mine, _ in found
    }


def _said(busy: dict[str, list[int]]) -> str:
    """By level, from the coarsest; over the files from the least to the most."""
    if not busy:
        return ""
    of_levels = [
        [of[number_of_level] for of in busy.values() if number_of_level < len(of)]
        for number_of_level in range(max(map(len, busy.values())))
    ]
    said = [f"{span(of)} on level {n}" for n, of in enumerate(of_levels)]
    return f", of which hold something: {', '.join(said)}"


def find(results: Results) -> Finding:
    middle = results.settings.middle
    equal = _rows(results, (middle, middle))
    nyx = _rows(results, BOUNDS_OF_NYX)
    busy = _busy([*equal, *nyx])
    held = sum(mine["psnr_db"] > other["psnr_db"] for _, mine, other in nyx)
    asked = [
        (file, one)
        for file in results.files
        for one in needs(file, results.settings)
        if isinstance(one, Panels)
    ]
    table = output.table(
        (
            "file",
            "ranks that hold something, by level",
            "AMRIC's bound",
            "AMReX's",
            "AMRIC, dB",
            "AMReX, dB",
            "AMRIC, ratio",
            "AMReX, ratio",
        ),
        [
            (
                file.name,
                listed(busy[file.name], str),
                *(f"{row['rel']:g}" for row in rows),
                *(number(row["psnr_db"], 4) for row in rows),
                *(number(row["ratio"]) for row in rows),
            )
            for file, *rows in [*equal, *nyx]
        ],
    )
    difference = [mine["psnr_db"] - other["psnr_db"] for _, mine, other in equal]
    gain = sum(difference) / len(difference) if difference else None
    return Finding(
        verdict_of(held, len(nyx)),
        "AMRIC's errors are far below AMReX's, in blocks of ranks (Nyx_2, 512 ranks, bounds 1e-3 "
        "and 1e-2)",
        f"with the paper's two bounds AMRIC has the higher PSNR on {held} of {len(nyx)} files "
        f"({RANKS} ranks{_said(busy)}); at one bound for both it is {number(gain)} dB higher",
        f"{ways.label(NEVE['balanced'])}: bounds are of a level, the same on any number of ranks",
        blocks=[table, *tell.panels_blocks(results, "figure-15", asked)],
        numbers={"psnr_gain_at_equal_bound_db": gain, "ranks_with_cells": busy},
    )


ITEM = Item("figure-15", "Figure 15", "Errors where bounds are of each rank's range", needs, find)
