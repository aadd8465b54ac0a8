# SPDX-License-Identifier: BSD-3-Clause
"""Units of work for what the items need."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..paper.unit import Unit, key_of
from . import requests, work
from .items import ITEMS
from .requests import Counted, Disk, Request, Stored, Surface, Timed
from .settings import Settings

# Estimated seconds.
OF_LAUNCH, OF_RANK = 0.7, 0.2
OF_SURFACE = 0.2
OF_DISK = 0.6
MEGABYTE_SECONDS = 0.012  # of storing a MB by one output and reading it back
LAYOUTS = 2


def wanted(settings: Settings) -> list[Request]:
    """Each request once: what is counted first, then what is timed, a repeat after the other."""
    found: dict[Request, None] = {}
    for item in ITEMS:
        if item.name in settings.items:
            found.update(dict.fromkeys(item.needs(settings)))
    return sorted(found, key=lambda one: (_ORDER.index(type(one)), getattr(one, "repeat", 0)))


_ORDER = (Surface, Stored, Counted, Disk, Timed)


def units(asked: Iterable[Request], paths: dict[str, str], settings: Settings) -> list[Unit]:
    version = work.version(Path(paths["neve"]))
    return [
        Unit(
            key_of(version, requests.as_json(one)),
            requests.name_of(one),
            _seconds(one, settings),
            requests.as_json(one),
            paths,
            isinstance(one, Timed | Disk),
        )
        for one in asked
    ]


def _seconds(request: Request, settings: Settings) -> float:
    if isinstance(request, Surface):
        return OF_SURFACE
    x, y, depth = settings.count_grid if isinstance(request, Counted) else settings.grid
    grid_seconds = 4 * x * y * depth / 1e6 * MEGABYTE_SECONDS
    if isinstance(request, Counted):
        return OF_LAUNCH + LAYOUTS * len(request.tiles) * len(request.outputs) * grid_seconds
    launch = OF_LAUNCH + OF_RANK * request.ranks
    if isinstance(request, Disk):
        return launch + OF_DISK
    writes = int(work.WRITES) if isinstance(request, Timed) else 2
    return launch + LAYOUTS * len(request.outputs) * writes * grid_seconds
