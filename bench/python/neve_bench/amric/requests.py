# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked to be measured of a plotfile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..paper import kinds


@dataclass(frozen=True)
class Look:
    """The grids, and the ends of every field."""

    kind = "look"


@dataclass(frozen=True)
class Point:
    """A field by a way at a bound: bytes, errors, times."""

    field: str
    way: str
    rel: float
    cells: str
    kind = "point"


@dataclass(frozen=True)
class Panels:
    """A slice of a field by several ways: their values, or their errors, side by side. The first
    way has the bound `rel`, the others the one at which their ratio is nearest to its; or all have
    `rel`, or each the one of `rels` in its place.
    """

    field: str
    ways: tuple[str, ...]
    rel: float
    cells: str
    shown: str  # "errors", "values"
    is_at_equal_ratio: bool
    axis: str  # "x", "y", "z"; "" for the last
    at: float | None  # place on it; None: the middle
    rels: tuple[float, ...] = ()
    kind = "panels"


@dataclass(frozen=True)
class Plane:
    """A slice of the file as it is, with the outlines of its boxes."""

    field: str
    axis: str
    at: float | None
    kind = "plane"


@dataclass(frozen=True)
class Writes:
    """The times of parallel writes, by stage."""

    ways: tuple[str, ...]  # of `neve-bench layouts`
    fields: tuple[str, ...]
    rel: float
    ranks: int
    repeats: int
    kind = "writes"


Request = Look | Point | Panels | Plane | Writes
KINDS: dict[str, type] = {one.kind: one for one in (Look, Point, Panels, Plane, Writes)}


as_json = kinds.as_json


def from_json(content: dict[str, Any]) -> Request:
    return kinds.from_json(KINDS, content)


def name_of(request: Request) -> str:
    """For people, behind the name of the file."""
    if isinstance(request, Point):
        return f"{request.field}: {request.way} at {request.rel:g}"
    if isinstance(request, Panels):
        return f"{request.field}: slices of {' and '.join(request.ways)}"
    if isinstance(request, Plane):
        return f"{request.field}: picture"
    if isinstance(request, Writes):
        return f"writes on {request.ranks} ranks"
    return "a look at it"
