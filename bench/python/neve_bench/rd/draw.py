# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of `neve bench rd --plot`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from neve._errors import Error
from neve._picture import write
from neve.plot._place import Place

from ..amr import catalog, pictures
from ..amr.equal_ratio import at_ratio, between
from ..amr.hierarchy import Hierarchy
from ..amr.neve_ways import CODECS
from ..amr.rate_distortion import rate_distortion
from ..amr.subject import subject
from ..amr.way import Way
from . import sweep
from .sweep import CannotMeasure, Measuring, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURED = ("amric:lm", "amric:adaptive", "neve:auto")
TRIALS = 4  # that a search of an equal ratio takes, about
PICTURE_SECONDS = 1.0
# Of these there is a picture of their own: all curves in one would be a tangle.
VARIANTS = ("amric:sle", "amric:lm", "amric:interp-linear")
COMPARED_AT = 1e-3  # the best settings of a method are those at the bound nearest to it


@dataclass(frozen=True)
class Drawing:
    """What is to be drawn of planes; `ways` is empty where there are none."""

    field: str
    ways: tuple[Way, ...]
    place: Place


def planned(
    hierarchy: Hierarchy, field: str | None, pictured: Sequence[str] | None, place: Place
) -> Drawing:
    """neve.Error for what cannot be drawn, before anything is measured."""
    chosen = hierarchy.fields[0] if field is None else field
    if chosen not in hierarchy.fields:
        raise Error(
            f"--slice-field {field!r} is not studied; there are {', '.join(hierarchy.fields)}"
        )
    ways = tuple(catalog.way(text) for text in pictured or PICTURED)
    if hierarchy.dims == 1 and not pictured and place == pictures.MIDDLE:
        return Drawing(chosen, (), place)
    pictures.plane_of(hierarchy, subject(hierarchy, chosen, COMPARED_AT), None, place)
    return Drawing(chosen, ways, place)


def seconds(drawing: Drawing | None, hierarchy: Hierarchy, ways: Sequence[Way]) -> float:
    """About how long all pictures take."""
    if drawing is None:
        return 0.0
    pictures_of_curves = len(hierarchy.fields) + len(_groups(ways))
    return PICTURE_SECONDS * (pictures_of_curves + 2 * bool(drawing.ways)) + sum(
        _search_seconds(drawing, hierarchy, way) for way in drawing.ways
    )


def _search_seconds(drawing: Drawing, hierarchy: Hierarchy, way: Way) -> float:
    return TRIALS * sweep.seconds(sweep.Point(drawing.field, COMPARED_AT, way), hierarchy)


def draw(
    folder: Path,
    hierarchy: Hierarchy,
    rows: Sequence[Row],
    ways: Sequence[Way],
    drawing: Drawing,
    how: Measuring,
) -> None:
    for name, picture in _pictures(hierarchy, rows, ways, drawing, how):
        how.ticker.now(f"drawing {name}")
        figure = picture()
        if figure is not None:
            write(figure, folder / f"{name}.png")
        how.ticker.add(PICTURE_SECONDS)


def _pictures(
    hierarchy: Hierarchy,
    rows: Sequence[Row],
    ways: Sequence[Way],
    drawing: Drawing,
    how: Measuring,
) -> Iterator[tuple[str, Callable[[], Figure | None]]]:
    """The name of each, and what makes it."""

    def curves(field: str, labels: Mapping[str, str]) -> Callable[[], Figure | None]:
        return lambda: rate_distortion(hierarchy.name, field, rows, labels)

    labels = {way.text: way.label for way in ways}
    for field in hierarchy.fields:
        best = {way: labels[way] for way in _best_of_each(rows, field)}
        yield f"rate_distortion_{_file_name(field)}", curves(field, best)
    name = _file_name(drawing.field)
    for group, of_group in _groups(ways).items():
        yield f"arrangements_{group}_{name}", curves(drawing.field, of_group)
    shown = _at_equal_ratio(hierarchy, rows, drawing, how)
    if shown:
        yield (
            f"error_slices_{name}",
            partial(pictures.error_slices, hierarchy, shown, drawing.place),
        )
        yield (
            f"side_by_side_{name}",
            partial(pictures.side_by_side, hierarchy, shown, drawing.place),
        )


def _groups(ways: Sequence[Way]) -> dict[str, dict[str, str]]:
    """Labels by text of AMRIC's ways and of each codec's, where there are several."""
    starts = {"amric": "amric:"} | {codec: f"neve:{codec}" for codec in CODECS}
    found = {
        name: {way.text: way.label for way in ways if way.text.startswith(start)}
        for name, start in starts.items()
    }
    return {name: labels for name, labels in found.items() if len(labels) > 1}


def _file_name(field: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in field)


def _best_of_each(rows: Sequence[Row], field: str) -> list[str]:
    """Neve's choice at all efforts, and of each other method the best of its settings."""
    bounds = {row["rel"] for row in rows}
    rel = min(bounds, key=lambda rel: max(rel / COMPARED_AT, COMPARED_AT / rel))
    stored = {
        row["way"]: row["stored_bytes"]
        for row in rows
        if row["field"] == field and row["rel"] == rel and row.get("ratio")
    }
    methods: dict[str, list[str]] = {}
    for way in stored:
        method = way.partition(",")[0]
        methods.setdefault(way if method == "neve:auto" else method, []).append(way)
    return [min(of, key=stored.__getitem__) for m, of in methods.items() if m not in VARIANTS]


def _at_equal_ratio(
    hierarchy: Hierarchy, rows: Sequence[Row], drawing: Drawing, how: Measuring
) -> list[pictures.Shown]:
    """Of the ways that can, each at the bound that gives it the ratio amid all of theirs at the
    widest bound, where errors are seen best.
    """
    if not drawing.ways:
        return []
    rel = max(row["rel"] for row in rows)
    asked = subject(hierarchy, drawing.field, rel, how.cells)
    ratios = {}
    for way in drawing.ways:
        how.ticker.now(f"error slices: {way.text}")
        try:
            ratios[way.text] = sweep.measured(way, asked, how).row["ratio"]
        except CannotMeasure as reason:
            how.ticker.say(f"not drawn: {way.text}: {reason}")
    ratios = {text: ratio for text, ratio in ratios.items() if ratio}
    shown = []
    for way in (way for way in drawing.ways if way.text in ratios):
        how.ticker.now(f"error slices: {way.text}")
        try:
            found = at_ratio(
                way,
                hierarchy,
                drawing.field,
                how.cells,
                between(list(ratios.values())),
                rel,
                lambda way, asked: sweep.measured(way, asked, how),
            )
            shown.append(pictures.Shown(way.label, *found))
        except CannotMeasure as reason:
            how.ticker.say(f"not drawn: {way.text}: {reason}")
        how.ticker.add(_search_seconds(drawing, hierarchy, way))
    return shown
