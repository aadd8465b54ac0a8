# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of a report: PNG bytes, to be embedded."""

from __future__ import annotations

import io
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from neve._picture import pyplot

from .summary import measured

DPI = 110
COLOURS = {
    "none": "#8c8c8c",
    "chunked": "#555555",
    "zlib": "#d9822b",
    "szip": "#4f9d58",
    "shuffle-zlib": "#c4504b",
    "zfp": "#a35fa8",
    "neve": "#3b6fb5",
    "neve-lossless": "#5fb0d6",
}
MORE_COLOURS = ("#7a5c3e", "#b5a33b", "#3bb59a", "#d67fb0", "#1f2f6b")
FINE_TICKS = (0.1, 0.2, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 5, 10)
TICKS = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)
DECADES = tuple(10.0**power for power in range(-6, 7))
FINE_SPAN, WIDE_SPAN = 20, 2000  # most over least, up to which these ticks stand apart
INCHES_OF_NAME = 1.2  # in a legend
PHASES = (
    ("compute", "#8fbf7f"),
    ("compress", "#d9822b"),
    ("write", "#3b6fb5"),
    ("read back", "#b9b9b9"),
)


def _colour(compression: str, known: list[str]) -> str:
    if compression in COLOURS:
        return COLOURS[compression]
    if compression not in known:
        known.append(compression)
    return MORE_COLOURS[known.index(compression) % len(MORE_COLOURS)]


def _png(figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    pyplot().close(figure)
    return buffer.getvalue()


def throughput(table: Iterable[dict[str, Any]], disk: dict[int, float]) -> bytes:
    """As figure 1 of the MiniIO paper: panels by container and layout, a line each compression."""
    table = measured(table)
    panels: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for row in table:
        lines = panels.setdefault((row["container"], row["layout"]), {})
        lines.setdefault(row["compression"], []).append(row)
    columns = min(len(panels), 4)
    lines_of_panels = -(-len(panels) // columns)
    figure, grid = pyplot().subplots(
        lines_of_panels,
        columns,
        figsize=(3.1 * columns + 0.6, 2.7 * lines_of_panels),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    known: list[str] = []
    for axes, (where, lines) in zip(grid.flat, panels.items(), strict=False):
        for compression, found in lines.items():
            _throughput_line(axes, found, compression, _colour(compression, known))
        if disk:
            axes.plot(list(disk), list(disk.values()), "k--", linewidth=0.9, label="file system")
        axes.set_title(", ".join(word for word in where if word), fontsize=9)
        _throughput_axes(axes, sorted({row["ranks"] for row in table}))
    shown = list(grid.flat)[: len(panels)]
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    _legend_below(figure, shown)
    for axes in grid[-1]:
        axes.set_xlabel("ranks", fontsize=8)
    for axes in grid[:, 0]:
        axes.set_ylabel("raw MB/s", fontsize=8)
    return _png(figure)


def _throughput_line(axes, rows: list[dict[str, Any]], compression: str, colour: str) -> None:
    """Medians over the ranks, with the slowest and the fastest run."""
    rows = sorted(rows, key=lambda row: row["ranks"])
    below, above = [], []
    for row in rows:
        megabytes, middle = row["raw_bytes"] / 1e6, row["write_MBps"]
        below.append(max(0, middle - megabytes / row["write_seconds_max"]))
        above.append(max(0, megabytes / row["write_seconds_min"] - middle))
    axes.errorbar(
        [row["ranks"] for row in rows],
        [row["write_MBps"] for row in rows],
        yerr=[below, above],
        marker="o",
        markersize=3.5,
        linewidth=1.2,
        elinewidth=0.7,
        capsize=2,
        label=compression,
        color=colour,
    )


def _throughput_axes(axes, ranks: list[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(ranks, [str(count) for count in ranks])
    axes.minorticks_off()
    axes.grid(linewidth=0.3, alpha=0.6)


def _legend_below(figure, panels: Sequence[Any]) -> None:
    """All names of all panels, once, where they cover nothing that is drawn."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    fit = max(int(figure.get_size_inches()[0] / INCHES_OF_NAME), 1)
    figure.legend(
        list(found.values()),
        list(found),
        fontsize=7,
        loc="outside lower center",
        ncols=min(len(found), fit),
    )


def _plain_ticks(axes, values: Sequence[float]) -> None:
    """On a log axis across: numbers without powers, few enough to stand apart."""
    least, most = min(*values, 1) / 1.3, max(*values, 1) * 1.3
    span = most / least
    ticks = FINE_TICKS if span < FINE_SPAN else TICKS if span < WIDE_SPAN else DECADES
    inside = [tick for tick in ticks if least < tick < most]
    axes.set_xticks(inside, [f"{tick:g}" for tick in inside], fontsize=8)
    axes.minorticks_off()


def _bars(rows: Sequence[dict[str, Any]], key: str, label: str, line: str) -> bytes:
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7.5, 0.24 * len(rows) + 1.1), layout="constrained")
    known: list[str] = []
    colours = [_colour(row["compression"], known) for row in rows]
    bars = axes.barh(range(len(rows)), [row[key] for row in rows], color=colours, height=0.75)
    axes.axvline(1, color="black", linewidth=0.9, linestyle="--", label=line)
    labels = axes.bar_label(bars, labels=[f"{r[key]:.3g}" for r in rows], fontsize=7, padding=3)
    for label_ in labels:  # a line behind a number would cross it out
        label_.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axes.set_yticks(range(len(rows)), [_row_name(row) for row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.12)
    _plain_ticks(axes, [row[key] for row in rows])
    axes.set_xlabel(label, fontsize=8)
    _legend_below(figure, [axes])
    return _png(figure)


def _row_name(row: dict[str, Any]) -> str:
    words = [row["part"], row["output"], row["layout"]]
    return " ".join(word for word in words if word)


def ratios(table: Iterable[dict[str, Any]]) -> bytes:
    return _bars(_of_max_ranks(table), "ratio", "raw bytes / file bytes", "as it is")


def of_disk(table: Iterable[dict[str, Any]]) -> bytes:
    """Effective bandwidth over the file system's own."""
    rows = [row for row in _of_max_ranks(table) if row["of_disk"]]
    label = "raw bytes over time / what the file system takes"
    return _bars(rows, "of_disk", label, "the file system's own")


def _of_max_ranks(table: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = measured(table)
    most = max(row["ranks"] for row in rows)
    return [row for row in rows if row["ranks"] == most]


def layouts(compared: dict[str, dict[str, Any]]) -> bytes:
    """Each pair of runs a dot: seconds of balanced tiles over those of equal ones."""
    plt = pyplot()
    names = list(compared)
    figure, axes = plt.subplots(figsize=(7.5, 0.34 * len(names) + 1.2), layout="constrained")
    for y, name in enumerate(names):
        factors = sorted(compared[name]["factors"])
        shift = [((i * 7) % 5 - 2) * 0.06 for i in range(len(factors))]
        colour = COLOURS.get(name, "#222222")
        axes.plot(factors, [y + s for s in shift], ".", color=colour, alpha=0.6, markersize=5)
        middle = statistics.median(factors)
        axes.plot([middle, middle], [y - 0.3, y + 0.3], color=colour, linewidth=2)
    axes.axvline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    _plain_ticks(axes, [factor for one in compared.values() for factor in one["factors"]])
    axes.set_xlabel(
        "seconds to write balanced tiles / unbalanced ones (right: unbalanced is faster)",
        fontsize=8,
    )
    axes.grid(axis="x", linewidth=0.3, alpha=0.6)
    return _png(figure)


def phases(table: Iterable[dict[str, Any]]) -> bytes:
    """Where the time of a run goes, at the most ranks."""
    plt = pyplot()
    rows = _of_max_ranks(table)
    figure, axes = plt.subplots(figsize=(7.5, 0.24 * len(rows) + 1.2), layout="constrained")
    left = [0.0] * len(rows)
    for (name, colour), seconds in zip(
        PHASES, zip(*(phase_seconds(row) for row in rows), strict=True), strict=True
    ):
        axes.barh(range(len(rows)), seconds, left=left, color=colour, height=0.75, label=name)
        left = [a + b for a, b in zip(left, seconds, strict=True)]
    axes.set_yticks(range(len(rows)), [_row_name(row) for row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("seconds of a run, slowest rank", fontsize=8)
    _legend_below(figure, [axes])
    return _png(figure)


def phase_seconds(row: dict[str, Any]) -> tuple[float, float, float, float]:
    """Compute, compress, write (what compression leaves of it), read back."""
    compress = min(row["compress_seconds"] or 0.0, row["write_seconds"])
    return (
        row["make_seconds"] or 0.0,
        compress,
        row["write_seconds"] - compress,
        row["read_seconds"] or 0.0,
    )
