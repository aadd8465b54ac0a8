# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 3: with which values a mini-app is filled decides what compression can do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import FAILS, HELD, HOLDS, MEASURED, Finding, Item, verdict_of
from ...paper.numbers import number
from .. import drawing, measured, outputs, told
from ..requests import Stored, Surface
from ..results import Results, stored_by
from ..settings import Settings

CONSTANT, NOISE, RANDOM = "constant", "coherent noise", "pseudo-random"
RANDOM_CELLS = "1e5"  # noise cells across the grid: hundreds between two points
NOISE_CELLS = "10"
FREQUENCIES = {CONSTANT: "0", NOISE: NOISE_CELLS, RANDOM: RANDOM_CELLS}
ALL_VALID = ("--valid", "1")
SHOWN = (outputs.ZLIB, outputs.SHUFFLE, outputs.ZFP, outputs.HDF5_NEVE)
LAND = ("--valid", "0.65", "--mask-slope", "0")
CONTINENTS = {"2": "2", "4": "4", "8": "8"}  # mask frequencies
FILL = -999.0


def _stored(settings: Settings, frequency: str) -> Stored:
    words = (*settings.grid_words, *measured.BOUND, *ALL_VALID, "--balance", "off")
    return Stored("struct", (*words, "--space-frequency", frequency), SHOWN, 1)


def _field(settings: Settings, frequency: str) -> Surface:
    words = ("--seed", str(settings.seed), *ALL_VALID, "--space-frequency", frequency)
    return Surface(words)


def _land(settings: Settings, frequency: str) -> Surface:
    return Surface(("--seed", str(settings.seed), *LAND, "--mask-frequency", frequency))


def needs(settings: Settings) -> Iterator[Stored | Surface]:
    for frequency in FREQUENCIES.values():
        yield _stored(settings, frequency)
        yield _field(settings, frequency)


def needs_of_land(settings: Settings) -> Iterator[Surface]:
    for frequency in CONTINENTS.values():
        yield _land(settings, frequency)


def find(results: Results) -> Finding:
    paper = "a constant compresses trivially, pseudo-random values poorly; coherent noise is fair"
    settings = results.settings
    rows = {
        what: stored_by(results.result(_stored(settings, f)), "unbalanced")
        for what, f in FREQUENCIES.items()
    }
    if not all(rows.values()):
        return Finding(MEASURED, paper, "-", "-", "not measured")
    ratios = {what: {o: of[o]["ratio"] for o in SHOWN} for what, of in rows.items()}
    in_order = {
        name: ratios[CONSTANT][name] > ratios[NOISE][name] > ratios[RANDOM][name] for name in SHOWN
    }
    surfaces = {
        what: result["values"]
        for what, f in FREQUENCIES.items()
        if (result := results.result(_field(settings, f))) is not None
    }

    def said(name: str) -> str:
        return f"{name} {', '.join(number(ratios[what][name]) for what in FREQUENCIES)}"

    return Finding(
        verdict_of(sum(in_order.values()), len(in_order)),
        paper,
        "ratios of a constant, of noise, of random values: "
        + "; ".join(said(name) for name in SHOWN[:-1]),
        said(SHOWN[-1]),
        told.joined(
            _missed(settings, ratios, in_order),
            "counted. The same app with --space-frequency 0, "
            f"{NOISE_CELLS} and {RANDOM_CELLS}, without land, within 1e-4 where it is bounded",
        ),
        [
            output.picture(
                "pictures/filling",
                partial(drawing.maps, "Values of the surface", surfaces, FILL),
            )
        ]
        if surfaces
        else [],
        ratios,
    )


def _missed(
    settings: Settings, ratios: dict[str, dict[str, float]], in_order: dict[str, bool]
) -> str:
    """Which compressions have another order, and why; "" where none has."""
    missed = [name for name, is_so in in_order.items() if not is_so]
    if not missed:
        return ""
    said = "; ".join(
        f"{name} has {number(ratios[NOISE][name])} of noise, {number(ratios[RANDOM][name])} of "
        "random values"
        for name in missed
    )
    points = max(settings.grid[:2])
    return (
        f"{sum(in_order.values())} of {len(in_order)} are {HELD}: {said}. On {points} points "
        f"{NOISE_CELLS} noise cells are {float(NOISE_CELLS) / points:.2g} a point, which is rough; "
        "a larger --grid is smoother from point to point"
    )


def find_land(results: Results) -> Finding:
    paper = "noise makes the blanked regions; large continents by adjusting its frequency"
    there = {
        f: result["values"]
        for f in CONTINENTS.values()
        if (result := results.result(_land(results.settings, f))) is not None
    }
    if len(there) < len(CONTINENTS):
        return Finding(MEASURED, paper, "-", "-", "not measured")
    borders = {f: shore(values) for f, values in there.items()}
    rising = list(borders.values())
    is_so = all(a < b for a, b in zip(rising, rising[1:], strict=False))
    surfaces = {f"--mask-frequency {f}": values for f, values in there.items()}
    return Finding(
        HOLDS if is_so else FAILS,
        paper,
        "shores (neighbours of which one is land) at --mask-frequency "
        f"{', '.join(there)}: {', '.join(map(str, rising))}",
        "the same",
        "counted on a surface with 65 % valid points: a lower frequency makes fewer, larger "
        "continents, whose shores are shorter",
        [
            output.picture(
                "pictures/continents",
                partial(drawing.maps, "Land (grey) by the frequency of its noise", surfaces, FILL),
            )
        ],
        {"shores": borders},
    )


def shore(values: list[list[float]]) -> int:
    """Pairs of neighbours of which one is land."""
    land = [[one == FILL for one in row] for row in values]
    along = sum(a != b for row in land for a, b in zip(row, row[1:], strict=False))
    across = sum(
        a != b
        for row, next_row in zip(land, land[1:], strict=False)
        for a, b in zip(row, next_row, strict=True)
    )
    return along + across


fields = Item("filling", "Paragraph 3, values", "Values that are fair to compression", needs, find)
land = Item("continents", "Paragraph 3, land", "Land from noise", needs_of_land, find_land)
