# SPDX-License-Identifier: BSD-3-Clause
"""Units of work for what the items need."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from ..paper.unit import Unit, key_of
from . import cycles, requests, work
from .inputs import Inputs
from .items import ITEMS
from .requests import Chunks, Cycle, Followed, Request, Speeds, StepTables, Table, Threads, Weighed
from .results import Subject

# Estimated seconds.
OF_UNIT = 0.03
OF_MEGABYTE_BY_ALL = 0.65  # encoded and decoded once by every method
OF_MEGABYTE_CHOSEN = 0.06
OF_CYCLE = 16.0
OF_CELLS = cycles.GRID[0] * cycles.GRID[1]  # of the grid of which that is


def wanted(subject: Subject) -> list[Request]:
    """Each request once; the quick ones first, and last what takes all cores."""
    found: dict[Request, None] = {}
    for item in ITEMS:
        if item.name in subject.settings.items:
            found.update(dict.fromkeys(item.needs(subject)))
    return sorted(found, key=lambda one: _ORDER.index(type(one)))


_ORDER = (Speeds, Chunks, Table, Weighed, StepTables, Followed, Threads, Cycle)


def units(asked: Iterable[Request], subject: Subject, paths: dict[str, str]) -> list[Unit]:
    version = work.version(Path(paths["neve"]))
    return [
        Unit(
            key_of(version, requests.as_json(one)),
            requests.name_of(one),
            _seconds(one, subject),
            requests.as_json(one),
            {**paths, **_places(one, subject.inputs)},
            isinstance(one, Cycle | Threads),
        )
        for one in asked
    ]


def _places(request: Request, inputs: Inputs) -> dict[str, str]:
    """Where a unit's files lie, and which variable of theirs it reads."""
    if isinstance(request, Cycle | Speeds):
        return {}
    if isinstance(request, StepTables | Followed):
        series = next(one for one in inputs.series if one.name == request.series)
        files, variable = series.files, series.variable
    else:
        of_file = (v for v in inputs.variables if v.label == request.variable)
        one = next(v for v in of_file if v.identity == request.identity)
        files, variable = (one.identity,), one.name
    return {
        **{f"file{n}": str(inputs.paths[file]) for n, file in enumerate(files)},
        "variable": variable,
    }


def _megabytes(request: Request, inputs: Inputs) -> float:
    if isinstance(request, StepTables | Followed):
        return request.steps * min(0.15, request.most_bytes / 1e6)
    one = next(v for v in inputs.variables if v.label == request.variable)
    return min(math.prod(one.shape) * int(one.dtype[5:]) / 8, request.most_bytes) / 1e6


def _seconds(request: Request, subject: Subject) -> float:
    settings = subject.settings
    if isinstance(request, Cycle):
        work_of_grid = math.prod(settings.grid) / OF_CELLS * settings.members / 2
        return 2 + OF_CYCLE * work_of_grid * settings.cycles
    if isinstance(request, Speeds):
        return OF_UNIT
    megabytes = _megabytes(request, subject.inputs)
    if isinstance(request, Table | StepTables):
        return OF_UNIT + OF_MEGABYTE_BY_ALL * megabytes * (1 + request.repeats)
    runs = 1
    if isinstance(request, Weighed):
        runs = 2 * len(requests.WEIGHTS)  # explained, and compressed
    elif isinstance(request, Followed):
        runs = len(requests.WEIGHTS_OF_SERIES) * len(requests.DELTAS)
    return OF_UNIT + OF_MEGABYTE_CHOSEN * megabytes * runs
