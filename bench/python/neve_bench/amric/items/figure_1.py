# SPDX-License-Identifier: BSD-3-Clause
"""Figure 1: three time steps of a run, and how its boxes follow."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from ...paper import output
from ...paper.item import DESCRIBED, NOT_HERE, Finding, Item
from ..files import File, Settings, runs_of
from ..requests import Plane
from ..results import Results, span_and_mean

STEPS = 3


def _shown(steps: list[File]) -> list[File]:
    """The first, the middle and the last."""
    return [steps[0], steps[len(steps) // 2], steps[-1]]


def needs(file: File, settings: Settings) -> Iterator[Plane]:
    if file.steps >= STEPS and file.dims > 1:
        for field in file.curve_fields(settings)[:1]:
            yield Plane(field, settings.axis, settings.at)


def find(results: Results) -> Finding:
    series = {run: steps for run, steps in runs_of(results.files).items() if len(steps) >= STEPS}
    paper = "Nyx: the boxes follow the universe as it evolves"
    if not series:
        return Finding(
            NOT_HERE, paper, "-", "-", "no run of three steps or more is among the inputs"
        )
    blocks, said = [], []
    for run, steps in series.items():
        densities = [100 * steps_of.levels[-1]["density"] for steps_of in steps]
        said.append(f"{run}: finest level on {span_and_mean(densities, ' %')} of the domain")
        for file in _shown(steps):
            for request in needs(file, results.settings):
                result = results.result(file, request)
                if result is None:
                    blocks.append(output.text(f"{file.name}: {results.said(file, request)}"))
                    continue
                blocks.append(output.text(f"{file.name}, {request.field}:"))
                png = base64.b64decode(result["png"])
                name = f"pictures/figure-1-{results.files.index(file)}"
                blocks.append(output.picture(name, png))
    return Finding(DESCRIBED, paper, "; ".join(said), "neve plot FILE", blocks=blocks)


ITEM = Item("figure-1", "Figure 1", "Three time steps with the boxes of each level", needs, find)
