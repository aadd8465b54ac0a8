# SPDX-License-Identifier: BSD-3-Clause
"""The study's pictures, as PNG. Colours of Okabe and Ito, which the colour-blind tell apart."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from neve._picture import pyplot

DPI = 110
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE, BLACK = "#0072B2", "#D55E00", "#CC79A7", "#000000"
GREY = "#9a9a9a"
# Of the ways of choosing along a series: colour, mark, and where it stands in a method's row.
WAYS = ((VERMILION, "x", -0.18), (BLUE, "o", 0.18), (GREEN, "+", 0.0), (PURPLE, "D", -0.32))
OF_PREPROCESSING = {"B": VERMILION, "BW": BLUE, "BWXOR": GREEN}
OF_CODER = {"LZO": "o", "zlib": "s", "bzip2": "^"}
PHASE_COLOURS = {
    "model": GREY,
    "preprocessing": PURPLE,
    "conversion": ORANGE,
    "write": BLUE,
    "read": SKY,
    "letkf": GREEN,
}
MOST_ROWS = 60  # of a picture
Panels = Mapping[str, Mapping[str, Sequence[float | None]]]


def titled(title: str, rows: Sequence[str]) -> str:
    """With how many rows there are, where a picture has fewer."""
    if len(rows) <= MOST_ROWS:
        return title
    return f"{title} (the first {MOST_ROWS} of {len(rows)}; all are in the CSV file)"


def cell_text(value: float) -> str:
    """Two digits, and whole numbers from there on."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def lines_by_variable(title: str, names: Sequence[str], panels: Panels) -> bytes:
    """As slide 5: each method a line over the variables, on log axes; a panel a unit."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    shown = names[:MOST_ROWS]
    width = max(7.5, min(16.0, 0.22 * len(shown) + 3))
    figure, grid = pyplot().subplots(
        len(panels),
        1,
        figsize=(width, 3.3 * len(panels) + 1),
        layout="constrained",
        sharex=True,
        squeeze=False,
    )
    for axes, (unit, lines) in zip(grid.flat, panels.items(), strict=True):
        for name, values in lines.items():
            preprocessing, _, coder = name.partition("-")
            style = {
                "color": OF_PREPROCESSING.get(preprocessing, BLACK),
                "marker": OF_CODER.get(coder, "x"),
            }
            there = np.array([np.nan if v is None else v for v in values[:MOST_ROWS]], dtype=float)
            axes.plot(there, label=name, markersize=4, linewidth=0.8, alpha=0.85, **style)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylabel(unit, fontsize=8)
        axes.grid(linewidth=0.3, alpha=0.6)
    last = grid.flat[len(panels) - 1]
    last.set_xticks(range(len(shown)), shown, rotation=90, fontsize=6)
    figure.suptitle(titled(title, names), fontsize=10)
    handles, labels = last.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=7, loc="outside right upper")
    return _png(figure)


def table_of_colours(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    panels: Mapping[str, Sequence[Sequence[float | None]]],
    split: int,
) -> bytes:
    """Numbers by row and column on a log scale of colours, the best of a row framed; a panel a
    unit. A line parts the first `split` columns from the others.
    """
    shown = min(len(rows), MOST_ROWS)
    figure, grid = pyplot().subplots(
        1,
        len(panels),
        figsize=(0.42 * len(columns) * len(panels) + 3, 0.19 * shown + 1.9),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for axes, (unit, values) in zip(grid.flat, panels.items(), strict=True):
        cells = np.array([[np.nan if v is None else v for v in row] for row in values[:shown]])
        drawn = np.log10(cells)
        axes.imshow(drawn, aspect="auto", cmap="cividis", interpolation="nearest")
        _numbers(axes, cells, drawn)
        _frames(axes, cells)
        axes.axvline(split - 0.5, color="white", linewidth=2)
        axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=6)
        axes.set_yticks(range(shown), rows[:shown], fontsize=6)
        axes.set_title(unit, fontsize=8)
    figure.suptitle(titled(title, rows), fontsize=10)
    return _png(figure)


def _numbers(axes: Any, cells: np.ndarray, drawn: np.ndarray) -> None:
    middle = np.nanmin(drawn) + 0.6 * (np.nanmax(drawn) - np.nanmin(drawn))
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value):
            colour = "black" if drawn[row, column] > middle else "white"
            axes.text(
                column, row, cell_text(value), ha="center", va="center", fontsize=5, color=colour
            )


def _frames(axes: Any, cells: np.ndarray) -> None:
    from matplotlib.patches import Rectangle

    for row, values in enumerate(cells):
        if np.isfinite(values).any():
            place = int(np.nanargmax(values))
            frame = Rectangle((place - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=VERMILION)
            frame.set_linewidth(1.4)
            axes.add_patch(frame)


def map_of_methods(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    panels: Mapping[str, Sequence[Sequence[str]]],
    across: str,
) -> bytes:
    """Which method is taken, a colour and a mark each."""
    known = list(dict.fromkeys(name for panel in panels.values() for row in panel for name in row))
    marks = {name: chr(ord("a") + place) for place, name in enumerate(sorted(known))}
    colours = pyplot().get_cmap("tab20")
    shown = min(len(rows), MOST_ROWS)
    figure, grid = pyplot().subplots(
        1,
        len(panels),
        figsize=(0.3 * len(columns) * len(panels) + 3.4, 0.17 * shown + 2.2),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    places = {name: place for place, name in enumerate(marks)}
    for axes, (panel, cells) in zip(grid.flat, panels.items(), strict=True):
        numbers = np.array([[places[name] for name in row] for row in cells[:shown]])
        axes.imshow(numbers, aspect="auto", cmap=colours, vmin=-0.5, vmax=19.5)
        for (row, column), place in np.ndenumerate(numbers):
            text = list(marks.values())[place]
            axes.text(column, row, text, ha="center", va="center", fontsize=5)
        axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=6)
        axes.set_yticks(range(shown), rows[:shown], fontsize=6)
        axes.set_xlabel(across, fontsize=7)
        axes.set_title(panel, fontsize=8)
    from matplotlib.patches import Patch

    handles = [
        Patch(color=colours((places[name] + 0.5) / 20), label=f"{mark}  {name}")
        for name, mark in marks.items()
    ]
    figure.legend(handles=handles, fontsize=7, loc="outside right upper")
    figure.suptitle(titled(title, rows), fontsize=10)
    return _png(figure)


def log_of_choices(
    title: str,
    methods: Sequence[str],
    best: Sequence[str],
    ways: Mapping[str, tuple[Sequence[str], Sequence[int], Sequence[float]]],
    changes: Sequence[int],
) -> bytes:
    """By step: the best method (grey), what each way used, where it chose again; and below what
    was kept of the best. A way: (methods, steps of choices, shares kept).
    """
    figure, (upper, lower) = pyplot().subplots(
        2,
        1,
        figsize=(9, 0.2 * len(methods) + 4.2),
        layout="constrained",
        sharex=True,
        height_ratios=[0.2 * len(methods) + 1, 1.6],
    )
    place = {name: number for number, name in enumerate(methods)}
    steps = range(len(best))
    upper.scatter(
        steps, [place[b] for b in best], marker="s", s=70, color="#d8d8d8", label="best of the step"
    )
    for (name, (used, chosen, kept)), (colour, marker, shift) in zip(
        ways.items(), WAYS[: len(ways)], strict=True
    ):
        face = {"facecolors": "none"} if marker in "oD" else {}
        heights = [place[one] + shift for one in used]
        upper.scatter(steps, heights, marker=marker, s=26, color=colour, label=name, **face)
        again = [step for step in chosen if step > 0]
        upper.scatter(
            [step + 1.4 * shift for step in again],
            [place[used[step]] + 0.42 for step in again],
            marker="v",
            s=16,
            color=colour,
            label=f"{name}: chosen again",
        )
        lower.plot(steps, kept, color=colour, marker=".", linewidth=1, label=name)
    for axes in (upper, lower):
        for change in changes:
            axes.axvline(change - 0.5, color=BLACK, linewidth=0.7, linestyle=":")
        axes.grid(linewidth=0.3, alpha=0.5)
    lower.xaxis.get_major_locator().set_params(integer=True)
    upper.set_yticks(range(len(methods)), methods, fontsize=7)
    upper.set_ylim(-0.7, len(methods) - 0.2)
    lower.set_ylim(0, 1.08)
    lower.set_ylabel("performance\nover the best", fontsize=7)
    lower.set_xlabel("step", fontsize=8)
    figure.legend(
        *upper.get_legend_handles_labels(), fontsize=7, loc="outside lower center", ncols=3
    )
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def entropies(title: str, panels: Mapping[str, Mapping[str, Sequence[float]]]) -> bytes:
    """Bits of each byte of a value, the first the most significant; a panel a type."""
    figure, grid = pyplot().subplots(
        1, len(panels), figsize=(4.6 * len(panels), 3.6), layout="constrained", squeeze=False
    )
    for axes, (kind, lines) in zip(grid.flat, panels.items(), strict=True):
        for bits in lines.values():
            axes.plot(range(1, len(bits) + 1), bits, color=GREY, linewidth=0.6, alpha=0.6)
        middle = np.median(np.array(list(lines.values())), axis=0)
        axes.plot(range(1, len(middle) + 1), middle, color=VERMILION, marker="o", label="median")
        axes.set_xticks(range(1, len(middle) + 1))
        axes.set_xlabel("byte of a value, the first the most significant", fontsize=8)
        axes.set_ylabel("entropy, bits of 8", fontsize=8)
        axes.set_title(f"{kind}: {len(lines)} variables", fontsize=9)
        axes.grid(linewidth=0.3, alpha=0.6)
        axes.legend(fontsize=7)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def bars(title: str, panels: Mapping[str, tuple[str, Mapping[str, float]]]) -> bytes:
    """A panel a set: (unit, its bars)."""
    figure, grid = pyplot().subplots(
        1, len(panels), figsize=(5.2 * len(panels), 4.0), layout="constrained", squeeze=False
    )
    for axes, (panel, (unit, heights)) in zip(grid.flat, panels.items(), strict=True):
        colours = [GREEN if "Neve" in name else BLUE for name in heights]
        axes.bar(range(len(heights)), heights.values(), 0.7, color=colours)
        for place, height in enumerate(heights.values()):
            axes.text(place, height, f"{height:.3g}", ha="center", va="bottom", fontsize=7)
        _names_below(axes, list(heights))
        axes.set_ylabel(unit, fontsize=8)
        axes.set_ylim(0, 1.12 * max(heights.values()))
        axes.set_title(panel, fontsize=9)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def stacks(title: str, panels: Mapping[str, Mapping[str, Mapping[str, float]]], unit: str) -> bytes:
    """A bar a method, of its phases: panel -> method -> phase -> seconds."""
    figure, grid = pyplot().subplots(
        1, len(panels), figsize=(5.4 * len(panels), 4.4), layout="constrained", squeeze=False
    )
    for axes, (panel, methods) in zip(grid.flat, panels.items(), strict=True):
        bottom = np.zeros(len(methods))
        for phase, colour in PHASE_COLOURS.items():
            heights = np.array([of.get(phase, 0.0) for of in methods.values()])
            axes.bar(range(len(methods)), heights, 0.7, bottom=bottom, color=colour, label=phase)
            bottom += heights
        for place, height in enumerate(bottom):
            axes.text(place, height, f"{height:.3g}", ha="center", va="bottom", fontsize=7)
        _names_below(axes, list(methods))
        axes.set_ylim(0, 1.12 * max(bottom))
        axes.set_ylabel(unit, fontsize=8)
        axes.set_title(panel, fontsize=9)
    handles, names = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, fontsize=7, loc="outside lower center", ncols=len(names))
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def _names_below(axes: Any, names: list[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", fontsize=7)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    pyplot().close(figure)
    return buffer.getvalue()
