# SPDX-License-Identifier: BSD-3-Clause
"""Figures 13 and 14: how the fields of Nyx and WarpX look."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from ...paper import output
from ...paper.item import DESCRIBED, NOT_HERE, Finding, Item
from ..files import NYX, WARPX, File, Settings
from ..requests import Plane
from ..results import Results

# The paper's names of fields; the first that a file has is drawn.
DENSITIES = ("baryon_density", "density")
ELECTRIC = ("Ex",)


def _picture(number: int, title: str, code: str, fields: tuple[str, ...], paper: str) -> Item:
    def needs(file: File, settings: Settings) -> Iterator[Plane]:
        there = [field for field in fields if field in file.look["ends"]]
        if file.is_last and file.dims > 1 and file.code == code and there:
            yield Plane(there[0], settings.axis, settings.at)

    def find(results: Results) -> Finding:
        blocks, names = [], []
        for place, file in enumerate(results.files):
            for request in needs(file, results.settings):
                result = results.result(file, request)
                if result is None:
                    blocks.append(output.text(f"{file.name}: {results.said(file, request)}"))
                    continue
                png = base64.b64decode(result["png"])
                blocks.append(output.picture(f"pictures/figure-{number}-{place}", png))
                names.append(file.name)
        if not names:
            why = f"no input is of {code} and has a field {' or '.join(map(repr, fields))}"
            if blocks:
                why = f"no picture of {' or '.join(map(repr, fields))} was made"
            return Finding(NOT_HERE, paper, "-", "-", why, blocks)
        others = [f"{f.name} ({f.of_code})" for f in results.files if f.is_last and f.code != code]
        if others:
            blocks.append(output.text(f"Not drawn, as not of {code}: {', '.join(others)}."))
        return Finding(DESCRIBED, paper, ", ".join(names), "neve plot FILE", blocks=blocks)

    return Item(f"figure-{number}", f"Figure {number}", title, needs, find)


figure_13 = _picture(13, "Baryon density of Nyx", NYX, DENSITIES, "irregular: hard to compress")
figure_14 = _picture(14, "Electric field of WarpX", WARPX, ELECTRIC, "smooth: compresses very well")
