# SPDX-License-Identifier: BSD-3-Clause
"""Every way on every field at every bound: a row each, or a note where a way cannot."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..amr.artifact import artifact
from ..amr.hierarchy import Hierarchy
from ..amr.in_child import measure_in_child
from ..amr.measure import MEGABYTE, Measured, measure
from ..amr.subject import Subject, subject
from ..amr.way import NotPossible, Way
from .ticker import Ticker

Row = dict[str, Any]
# MB a second, encoding and decoding together, about: what is left of the time is told by it. By
# what a way's text begins with, the longest first.
SPEED = {
    "neve:auto,effort=fast": 40.0,
    "neve:auto,effort=max": 1.0,
    "neve:auto": 10.0,
    "neve:context": 3.0,
    "neve:": 10.0,
    "amrex:": 3.0,
}
SPEED_OF_OTHERS = 5.0


class CannotMeasure(Exception):
    """The reason is the message."""


@dataclass(frozen=True)
class Point:
    field: str
    rel: float
    way: Way


@dataclass(frozen=True)
class Measuring:
    """How each point is measured."""

    cells: str
    repeats: int
    limit: float  # seconds, of a foreign program; others are not asked again
    ticker: Ticker


def points(fields: Sequence[str], bounds: Sequence[float], ways: Sequence[Way]) -> list[Point]:
    """In the order in which they are measured."""
    return [Point(field, rel, way) for field in fields for rel in bounds for way in ways]


def seconds(point: Point, hierarchy: Hierarchy) -> float:
    """About how long it takes."""
    cells = sum(level.cells() for level in hierarchy.levels)
    text = point.way.text
    speed = next((n for start, n in SPEED.items() if text.startswith(start)), SPEED_OF_OTHERS)
    return cells * hierarchy.dtype.itemsize / MEGABYTE / speed


def measured(way: Way, asked: Subject, how: Measuring) -> Measured:
    """Foreign programs in a child, which ends after `limit` seconds. Raises CannotMeasure."""
    try:
        if not way.is_foreign:
            return measure(way, asked, how.repeats)
        found = measure_in_child(way, asked, how.repeats, how.limit)
    except NotPossible as reason:
        raise CannotMeasure(str(reason)) from None
    except Exception as error:  # whatever one way raises is the result of its own rows alone
        raise CannotMeasure(f"{type(error).__name__}: {error}") from error
    if isinstance(found, str):
        raise CannotMeasure(found)
    return found


def sweep(hierarchy: Hierarchy, wanted: Sequence[Point], how: Measuring) -> Iterator[Row]:
    """A way that took longer than the limit on a field gets no further bound of it."""
    too_long: dict[tuple[str, str], str] = {}
    asked: Subject | None = None
    for point in wanted:
        how.ticker.now(f"{point.field}, rel={point.rel:g}: {point.way.text}")
        if asked is None or (asked.field, asked.rel) != (point.field, point.rel):
            asked = subject(hierarchy, point.field, point.rel, how.cells)
        key = (point.field, point.way.text)
        start = time.monotonic()
        try:
            if key in too_long:
                raise CannotMeasure(too_long[key])
            found = measured(point.way, asked, how)
            yield found.row | {"artifact": artifact(asked, found.values)}
        except CannotMeasure as reason:
            yield _note(point, how.cells, str(reason))
        took = time.monotonic() - start
        if took > how.limit:
            too_long[key] = (
                f"not run: at rel={point.rel:g} it took {took:.0f} s; --time-limit is {how.limit:g}"
            )
        how.ticker.add(seconds(point, hierarchy))


def _note(point: Point, cells: str, reason: str) -> Row:
    return {
        "field": point.field,
        "way": point.way.text,
        "rel": point.rel,
        "cells": cells,
        "note": reason,
    }
