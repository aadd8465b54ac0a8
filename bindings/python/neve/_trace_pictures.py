# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of traces: sizes of writes, when files were used, which rank moved how much when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._page import shown
from ._picture import pyplot
from ._tables import size_text
from ._trace_counts import BIN_TITLES, BINS, LEVELS, STDIO, Level, Trace, ranks_in_order, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Okabe and Ito's, which people with any kind of colour vision tell apart.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
GROUP_WIDTH = 0.84  # of the place a bin has
LABELLED_BARS = 40  # a picture of more bars has no room for their counts
USES = (
    ("OPEN", "open", "#000000"),
    ("READ", "read", "#56b4e9"),
    ("WRITE", "write", "#d55e00"),
    ("CLOSE", "close", "#009e73"),
)
MOST_BARS = 40  # rows of a timeline
MOST_COLUMNS = 400  # of a heatmap: beyond, bins are twice as long
MOST_ROWS = 256  # of a heatmap: beyond, neighbouring ranks share one
NAME_LENGTH = 48


def _plain(texts: Iterable[Text]) -> None:
    """Names come from programs: a $ in them starts no formula."""
    for text in texts:
        text.set_parse_math(False)


def _name(trace: Trace) -> str:
    return shown(trace["label"])


def _short(name: str) -> str:
    name = shown(name)
    return name if len(name) <= NAME_LENGTH else "..." + name[3 - NAME_LENGTH :]


def _size_panel(axes: Axes, traces: list[Trace], level: Level) -> None:
    counts = [level.bins(trace["total"]) or [0] * len(BINS) for trace in traces]
    width = GROUP_WIDTH / len(traces)
    shown_bars = sum(count > 0 for one in counts for count in one)
    for i, (trace, one) in enumerate(zip(traces, counts, strict=True)):
        places = [b - GROUP_WIDTH / 2 + (i + 0.5) * width for b in range(len(BINS))]
        colour = COLOURS[i % len(COLOURS)]
        bars = axes.bar(places, one, width * 0.92, label=_name(trace), color=colour)
        if shown_bars <= LABELLED_BARS:
            labels = [f"{count:,}" if count else "" for count in one]
            axes.bar_label(bars, labels=labels, fontsize=6, padding=1, rotation=90)
    largest = max((max(one) for one in counts), default=0)
    axes.set_ylim(0.5, max(10, largest * 12))  # room for the labels; a count of 1 is seen
    axes.set_yscale("log")
    axes.set_xticks(range(len(BINS)), BIN_TITLES, fontsize=7)
    axes.set_xlabel(f"size of a write at the {level.title} level, bytes")
    axes.set_ylabel("writes")
    told = [
        f"{_name(trace)} {sum(one):,}" if level.bins(trace["total"]) else f"{_name(trace)} -"
        for trace, one in zip(traces, counts, strict=True)
    ]
    _plain([axes.set_title(f"{level.title}: {', '.join(told)} writes", fontsize=9, wrap=True)])
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)


def _panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, Any]:
    """A figure of that size in inches, and its axes by row and column."""
    figure: Figure
    figure, axes = pyplot().subplots(
        rows, columns, figsize=(width, height), layout="constrained", squeeze=False
    )
    return figure, axes


def sizes(traces: list[Trace]) -> Figure:
    """How many writes of which size, at the levels where there were some."""
    has_stdio = any(sum(STDIO.bins(trace["total"]) or [0]) for trace in traces)
    levels = LEVELS if has_stdio else LEVELS[:2]
    figure, panels = _panels(1, len(levels), 6.5 * len(levels), 4.8)
    for axes, level in zip(panels[0], levels, strict=True):
        _size_panel(axes, traces, level)
    _plain(panels[0][0].legend(fontsize=8).get_texts())
    return figure


def timeline(rows: Sequence[tuple[str, Mapping[str, Any]]], seconds: float, title: str) -> Figure:
    """A row for each name and its counts: spans of opens, reads, writes and closes."""
    from matplotlib.patches import Patch

    rows = rows[:MOST_BARS]
    figure, [[axes]] = _panels(1, 1, 11, 1.3 + 0.32 * max(1, len(rows)))
    lane = 0.8 / len(USES)
    for lane_number, (what, _, colour) in enumerate(USES):
        bars = []
        for row, (_, counts) in enumerate(rows):
            if (one := span(counts, what)) is not None:
                length = max(one[1] - one[0], seconds * 0.002)  # a short one is seen, too
                bars.append((one[0], length, row - 0.4 + lane_number * lane))
        begins, widths, places = zip(*bars, strict=True) if bars else ((), (), ())
        axes.barh(places, widths, lane, left=begins, align="edge", color=colour)
    axes.set_yticks(range(len(rows)), [_short(name) for name, _ in rows], fontsize=7)
    _plain(axes.get_yticklabels())
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, max(seconds, 1e-9) * 1.01)
    axes.set_xlabel("time from the start of the run, s")
    _plain([axes.set_title(shown(title), fontsize=9)])
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)
    keys = [Patch(color=colour, label=word) for _, word, colour in USES]
    figure.legend(handles=keys, loc="outside right upper", fontsize=8)
    return figure


def bytes_over_time(trace: Trace, level: Level, way: str) -> tuple[np.ndarray, float] | None:
    """A row for each rank, a column for each stretch of time, and how long that is, in seconds."""
    ranks = ranks_in_order(trace)
    width = max((r["heatmap"]["bin_seconds"] for r in ranks if "heatmap" in r), default=0.0)
    found = [
        (row, rank["start"], rank["heatmap"]["bin_seconds"], bins)
        for row, rank in enumerate(ranks)
        if (bins := rank.get("heatmap", {}).get(level.key, {}).get(way))
    ]
    if not found:
        return None
    end = max(start + len(bins) * each for _, start, each, bins in found)
    while end > MOST_COLUMNS * width:  # a process started long after the first
        width *= 2
    columns = int(end / width) + 1
    table = np.zeros((len(ranks), columns))
    for row, start, each, bins in found:
        middles = start + (np.arange(len(bins)) + 0.5) * each
        np.add.at(table[row], (middles / width).astype(int), bins)
    return (table, width) if table.any() else None


def _in_rows(table: np.ndarray) -> np.ndarray:
    return np.add.reduceat(table, np.arange(0, len(table), _ranks_in_row(len(table))), axis=0)


def _size_ticks(smallest: float, largest: float) -> list[float]:
    """1 KiB, 32 KiB, 1 MiB..., some of them."""
    powers = [2.0**p for p in range(0, 64, 5) if smallest <= 2.0**p <= largest]
    return powers[:: -(-len(powers) // 6) or 1] or [smallest, largest]


def _ranks_in_row(ranks: int) -> int:
    return -(-ranks // MOST_ROWS)


def _heat_panel(axes: Axes, table: np.ndarray, width: float, ranks: int, norm: Any) -> Any:
    from matplotlib.ticker import MaxNLocator

    image = axes.imshow(
        np.ma.masked_equal(table, 0),
        aspect="auto",
        interpolation="nearest",
        cmap="viridis",
        norm=norm,
        extent=(0, table.shape[1] * width, ranks - 0.5, -0.5),
    )
    axes.set_xlabel("time from the start of the run, s")
    axes.set_ylabel("rank" if len(table) == ranks else f"rank, {_ranks_in_row(ranks)} in a row")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    return image


def heatmap(traces: list[Trace], level: Level) -> Figure | None:
    """Bytes by rank and time, all traces in the same colours."""
    from matplotlib.colors import LogNorm

    ways = ("write", "read")
    tables = {
        (i, way): (_in_rows(found[0]), found[1])
        for i, trace in enumerate(traces)
        for way in ways
        if (found := bytes_over_time(trace, level, way)) is not None
    }
    if not tables:
        return None
    shown = [way for way in ways if any(key[1] == way for key in tables)]
    largest = max(table.max() for table, _ in tables.values())
    smallest = min(table[table > 0].min() for table, _ in tables.values())
    largest = max(largest, smallest * 10)
    norm = LogNorm(smallest, largest)
    width, height = max(8, 5.5 * len(traces)), 3.4 * len(shown)
    figure, panels = _panels(len(shown), len(traces), width, height)
    image: Any = None
    for row, way in enumerate(shown):
        for i, trace in enumerate(traces):
            axes = panels[row][i]
            done = "written" if way == "write" else "read"
            if (i, way) not in tables:
                axes.set_axis_off()
                _plain([axes.set_title(f"{_name(trace)}: no bytes {done}", fontsize=9)])
                continue
            table, seconds = tables[i, way]
            image = _heat_panel(axes, table, seconds, len(trace["ranks"]), norm)
            words = f"{_name(trace)}: bytes {done} by {level.title} in each {seconds:g} s"
            _plain([axes.set_title(words, fontsize=9)])
    bar = figure.colorbar(image, ax=panels)
    bar.set_label("bytes of a row; white: none", labelpad=14)
    bar.set_ticks(_size_ticks(smallest, largest), minor=False)
    bar.minorticks_off()
    bar.ax.yaxis.set_major_formatter(lambda value, _: size_text(value))
    return figure
