# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a series' choices: a row a variable, in it the method of each step by its colour,
what was chosen anew and why, and the performance as a curve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ._choice import Choice, ChoiceLog
from ._choice_runs import by_variable, runs_of
from ._page import shown
from ._picture import pyplot

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's, which people with any kind of colour vision tell apart; then others.
_COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"),
    *("#999999", "#7f3c8d", "#a5aa99", "#80ba5a", "#3969ac", "#cf1c90", "#4b4b8f"),
    *("#b2182b", "#c7e9c0", "#fdae6b", "#bcbddc", "#8c6d31", "#17becf", "#000000"),
)
# By reason: matplotlib's marker, and what it says in the legend.
_MARKS = {
    "first": ("o", "first choice"),
    "drift": ("v", "its performance changed"),
    "rival": ("^", "another became better"),
    "due": ("D", "many steps since the last"),
}
_BAND, _CURVE = 0.34, 0.5  # parts of a row's height: methods below, performance above
_MOST_ROWS = 60
_NAME_LENGTH = 40


def _short(name: str) -> str:
    name = shown(name)
    return name if len(name) <= _NAME_LENGTH else "..." + name[3 - _NAME_LENGTH :]


def _colours(log: ChoiceLog) -> dict[str, str]:
    """Of the methods, the most frequent first."""
    counts = Counter(choice.method for choice in log.choices)
    return {m: _COLOURS[i % len(_COLOURS)] for i, (m, _) in enumerate(counts.most_common())}


def _draw_methods(axes: Axes, row: int, choices: Sequence[Choice], colours: dict[str, str]) -> None:
    for run in runs_of(choices, of_methods=True):
        first, last = run[0].step, run[-1].step
        span = [(first - 0.5, last - first + 1)]
        axes.broken_barh(span, (row + 0.5 - _BAND, _BAND), color=colours[run[0].method], lw=0)


def _draw_performance(axes: Axes, row: int, choices: Sequence[Choice]) -> None:
    largest = max(choice.performance for choice in choices)
    if not largest > 0:
        return
    steps = [choice.step for choice in choices]
    bottom = row + 0.5 - _BAND - 0.04
    heights = [bottom - _CURVE * choice.performance / largest for choice in choices]
    marker = "." if len(choices) == 1 else ""
    axes.plot(steps, heights, color="#333333", linewidth=0.9, marker=marker, markersize=3)


def _draw_marks(axes: Axes, row: int, choices: Sequence[Choice]) -> None:
    for reason, (marker, _) in _MARKS.items():
        steps = [choice.step for choice in choices if choice.reason == reason]
        places = [row + 0.5 - _BAND / 2] * len(steps)
        axes.scatter(
            *(steps, places, 17), marker=marker, color="white", edgecolor="black", lw=0.7, zorder=3
        )


def _keys(log: ChoiceLog, colours: dict[str, str]) -> Iterator[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    yield from (Patch(color=colour, label=shown(method)) for method, colour in colours.items())
    found = {choice.reason for choice in log.choices}
    for reason, (marker, words) in _MARKS.items():
        if reason in found:
            mark = Line2D([], [], linestyle="", marker=marker, label=words, markersize=5)
            mark.set(markerfacecolor="white", markeredgecolor="black")
            yield mark
    yield Line2D([], [], color="#333333", linewidth=0.9, label="performance, from 0")


def picture(log: ChoiceLog) -> Figure:
    """`log` is not empty. Of very many variables the first are drawn, and the rest counted."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    rows = list(by_variable(log.choices).items())
    hidden, rows = len(rows) - _MOST_ROWS, rows[:_MOST_ROWS]
    colours = _colours(log)
    figure: Figure
    figure, axes = pyplot().subplots(figsize=(11, 1.5 + 0.36 * len(rows)), layout="constrained")
    for row, (_, choices) in enumerate(rows):
        _draw_methods(axes, row, choices, colours)
        _draw_performance(axes, row, choices)
        _draw_marks(axes, row, choices)
    axes.set_yticks(range(len(rows)), [_short(name) for name, _ in rows], fontsize=7)
    _label_ranges(axes, rows)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.margins(x=0.01)
    steps = {choice.step for choice in log.choices}
    axes.xaxis.set_major_locator(
        MaxNLocator(integer=True) if len(steps) > 1 else FixedLocator([*steps])
    )
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("step" + (f"; {hidden} more variables are not drawn" if hidden > 0 else ""))
    axes.set_title("method of each step; right: least and largest performance", fontsize=9)
    axes.tick_params(length=0)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)  # names come from files: a $ in them starts no formula
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    legend = figure.legend(
        handles=list(_keys(log, colours)), loc="outside right upper", fontsize=8, frameon=False
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def _label_ranges(axes: Axes, rows: Sequence[tuple[str, Sequence[Choice]]]) -> None:
    right = axes.secondary_yaxis("right")
    texts = []
    for _, choices in rows:
        values = [choice.performance for choice in choices]
        least, most = min(values), max(values)
        texts.append(f"{most:.3g}" if least == most else f"{least:.3g} to {most:.3g}")
    right.set_yticks(range(len(rows)), texts, fontsize=7)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)
