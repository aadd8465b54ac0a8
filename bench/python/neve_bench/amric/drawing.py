# SPDX-License-Identifier: BSD-3-Clause
"""The study's pictures, as PNG."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import neve.plot
from neve._picture import pyplot
from neve.plot._place import Place

from ..amr import pictures
from ..amr.artifact import artifact
from ..amr.equal_ratio import is_close
from ..amr.hierarchy import Hierarchy
from ..amr.measure import Measured
from ..amr.subject import Subject
from . import ways
from .requests import Panels

DPI = 110
PAPERS_WAYS = 2  # come first in a picture, and are what it compares
NEAREST = "nearest ratio that this way reaches"  # where it is not the wanted one
PANEL_INCHES = (4.6, 3.6)
MARKERS = "osv^Dx+*<>"
BARS = ("prepare", "encode", "write", "sync")
BAR_COLOURS = {"prepare": "#8fbf7f", "encode": "#d9822b", "write": "#3b6fb5", "sync": "#b9b9b9"}


def place_of(axis: str, at: float | None) -> Place:
    return Place(axis=axis or None, coord=at)


def panels(
    hierarchy: Hierarchy, asked: Panels, found: Sequence[tuple[str, Subject, Measured]]
) -> tuple[bytes, list[dict[str, Any]]]:
    """The picture, and the artifact of each way."""
    wanted = found[0][2].row["ratio"] if asked.is_at_equal_ratio else None
    shown = [
        pictures.Shown(
            _label(text, measured.row["ratio"], wanted)
            + (f", bound {subject.rel:g}" if asked.rels else ""),
            subject,
            measured,
        )
        for text, subject, measured in found
    ]
    draw = pictures.error_slices if asked.shown == "errors" else pictures.side_by_side
    figure = draw(hierarchy, shown, place_of(asked.axis, asked.at), PAPERS_WAYS)
    return _png(figure), [artifact(subject, measured.values) for _, subject, measured in found]


def _label(text: str, ratio: float, wanted: float | None) -> str:
    """Of a panel; one whose ratio is another than the wanted one says so."""
    is_off = wanted is not None and not is_close(ratio, wanted)
    return f"{ways.label(text)}\n({NEAREST})" if is_off else ways.label(text)


def plane(path: Path, field: str, axis: str, at: float | None) -> bytes:
    """With the outlines of the boxes."""
    place = {"axis": axis, "coord": at} if axis else {}
    return _png(neve.plot.plot(path, field, dpi=DPI, **place))


def curves(
    title: str, drawn: Sequence[tuple[str, Mapping[str, Sequence[tuple[float, float]]]]]
) -> bytes:
    """PSNR over ratio, as the paper draws it: a panel for each (title, {label: (PSNR, ratio)})."""
    width, height = PANEL_INCHES
    figure, axes = pyplot().subplots(
        1, len(drawn), figsize=(width * len(drawn), height), layout="constrained", squeeze=False
    )
    for place, (panel, lines) in zip(axes.flat, drawn, strict=True):
        for number, (label, line) in enumerate(lines.items()):
            psnr, ratio = np.array(line).T
            marker = MARKERS[number % len(MARKERS)]
            place.plot(ratio, psnr, label=label, marker=marker, markersize=4, linewidth=1.2)
        place.set_title(panel, fontsize=9)
        place.set_xlabel("compression ratio", fontsize=8)
        place.set_ylabel("PSNR, dB", fontsize=8)
        place.grid(linewidth=0.3, alpha=0.6)
        if lines:
            place.legend(fontsize=6)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def write_times(
    title: str,
    by_ranks: Sequence[tuple[int, Sequence[Mapping[str, Any]]]],
    names_of_ways: Mapping[str, str],
) -> bytes:
    """A panel a way, a bar for each number of ranks, stages stacked, seconds on a log axis; a line
    from the least to the most that the repeats took.
    """
    names = list(dict.fromkeys(row["way"] for _, rows in by_ranks for row in rows))
    figure, axes = pyplot().subplots(
        1,
        len(names),
        figsize=(1.5 * len(names) + 1, PANEL_INCHES[1]),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for place, name in zip(axes.flat, names, strict=True):
        ranks = [n for n, rows in by_ranks if any(row["way"] == name for row in rows)]
        rows = [row for _, of in by_ranks for row in of if row["way"] == name]
        bottom = np.zeros(len(rows))
        for stage in BARS:
            seconds = np.array([row["seconds"].get(stage) or 0.0 for row in rows])
            place.bar(
                list(map(str, ranks)), seconds, bottom=bottom, label=stage, color=BAR_COLOURS[stage]
            )
            bottom += seconds
        least, most = np.array([row["spread"] for row in rows]).T
        place.vlines(list(map(str, ranks)), least, most, colors="black", linewidth=1)
        place.set_title(names_of_ways[name], fontsize=8)
        place.set_xlabel("ranks", fontsize=8)
        place.set_yscale("log")
    axes.flat[0].set_ylabel("seconds", fontsize=8)
    axes.flat[-1].legend(fontsize=6)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def _png(figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    pyplot().close(figure)
    return buffer.getvalue()
