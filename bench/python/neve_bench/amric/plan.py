# SPDX-License-Identifier: BSD-3-Clause
"""Units of work for what the items need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..paper.inputs import Input
from ..paper.unit import Unit, key_of
from . import requests, work
from .files import File, Settings
from .items import ITEMS
from .requests import Look, Panels, Plane, Point, Request, Writes

# Estimated seconds for a cell, encoded and decoded, by what a way begins with; the longest counts.
SECONDS_OF_CELL = {
    "neve:auto,effort=fast": 1e-7,
    "neve:auto": 3e-7,
    "neve:auto,effort=max": 1.7e-6,
    "amric:": 3e-7,
    "amrex:": 3e-7,
    "tac:": 5e-7,
    "zmesh:": 7e-7,
}
SECONDS_OF_UNIT = 0.02  # beside its cells
SECONDS_OF_LOOK = 0.2
SECONDS_OF_PICTURE = 2.0
SECONDS_OF_LAUNCH = 1.0
WRITTEN_BYTES_PER_SECOND = 3e7
# Of the report: reading a record, and drawing the pictures of a file that are of several records.


def look_units(inputs: Sequence[Input]) -> list[Unit]:
    return [_unit(one.name, one.identity, one.path, Look(), SECONDS_OF_LOOK, {}) for one in inputs]


def wanted(files: Sequence[File], settings: Settings) -> list[tuple[File, Request]]:
    """Each request once, those of a file, a field and a bound in a row; no pictures of files that
    --slice does not cut.
    """
    found: dict[tuple[File, Request], None] = {}
    for item in ITEMS:
        if item.name in settings.items:
            for file in files:
                is_cut = file.why_not_cut(settings) is None
                for one in item.needs(file, settings):
                    if is_cut or not isinstance(one, Panels | Plane):
                        found[(file, one)] = None
    return in_order(found, files)


def in_order(
    pairs: Iterable[tuple[File, Request]], files: Sequence[File]
) -> list[tuple[File, Request]]:
    """As they are measured."""
    return sorted(pairs, key=lambda pair: _order(files.index(pair[0]), pair[1]))


def _order(place: int, request: Request) -> tuple:
    if isinstance(request, Point):
        return (place, 0, request.field, request.cells, request.rel, request.way)
    return (place, 1, request.kind, getattr(request, "field", ""), str(request), "")


def units(
    pairs: Iterable[tuple[File, Request]], paths: dict[str, str], of_files: dict[str, str]
) -> list[Unit]:
    """`of_files`: where each file lies, by its identity; `paths` are of all units."""
    return [
        _unit(
            file.name,
            file.identity,
            of_files[file.identity],
            request,
            _seconds(file, request),
            paths,
        )
        for file, request in pairs
    ]


def key(identity: str, request: Request) -> str:
    return key_of(work.version(), identity, requests.as_json(request))


def _unit(
    name: str, identity: str, path, request: Request, seconds: float, paths: dict[str, str]
) -> Unit:
    return Unit(
        key(identity, request),
        f"{name} {requests.name_of(request)}",
        seconds,
        requests.as_json(request),
        {"file": str(path), **paths},
        isinstance(request, Writes),
    )


def _seconds(file: File, request: Request) -> float:
    if isinstance(request, Point):
        return SECONDS_OF_UNIT + file.cells * _of_cell(request.way)
    if isinstance(request, Panels):
        ways = sum(_of_cell(way) for way in request.ways)
        rounds = 3 if request.is_at_equal_ratio else 1
        return SECONDS_OF_PICTURE + rounds * ways * file.cells
    if isinstance(request, Plane):
        return SECONDS_OF_PICTURE
    assert isinstance(request, Writes)
    written = len(request.ways) * (request.repeats + 1) * file.look["raw_bytes"]
    return SECONDS_OF_LAUNCH + written / WRITTEN_BYTES_PER_SECOND


def _of_cell(way: str) -> float:
    return SECONDS_OF_CELL[max((k for k in SECONDS_OF_CELL if way.startswith(k)), key=len)]
