# SPDX-License-Identifier: BSD-3-Clause
"""Units of work for what the items need."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..paper.unit import Unit, key_of
from . import requests, work
from .items import ITEMS
from .requests import Contents, Grid, Modelled, Request, Staged, Timed, Traced
from .settings import Settings

# Estimated seconds.
OF_MODEL = 0.8
OF_LAUNCH, OF_RANK = 0.7, 0.2
OF_WRITE = 0.12  # of one, by one strategy: a small file and its fsync
OF_STEPS = 0.5  # of those of neve bench amr
TRACED_LONGER = 1.5


def wanted(settings: Settings) -> list[Request]:
    """Each request once: the model's first, which are many and quick."""
    found: dict[Request, None] = {}
    for item in ITEMS:
        if item.name in settings.items:
            found.update(dict.fromkeys(item.needs(settings)))
    return sorted(found, key=lambda one: _ORDER.index(type(one)))


_ORDER = (Modelled, Grid, Traced, Contents, Staged, Timed)


def units(asked: Iterable[Request], paths: dict[str, str]) -> list[Unit]:
    version = work.version(Path(paths["neve"]))
    return [
        Unit(
            key_of(version, requests.as_json(one)),
            requests.name_of(one),
            _seconds(one),
            requests.as_json(one),
            paths,
            isinstance(one, Timed | Staged),
        )
        for one in asked
    ]


def _seconds(request: Request) -> float:
    if isinstance(request, Modelled | Grid):
        return OF_MODEL
    launch = OF_LAUNCH + OF_RANK * request.ranks
    if isinstance(request, Staged):
        return 2 * (launch + OF_STEPS * request.repeats)
    writes = len(request.strategies) * OF_WRITE
    if isinstance(request, Timed):
        return launch + writes * request.repeats
    return launch + writes * TRACED_LONGER
