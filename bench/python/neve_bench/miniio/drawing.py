# SPDX-License-Identifier: BSD-3-Clause
"""The study's pictures, as PNG. Colours of Okabe and Ito, which the colour-blind tell apart; lines
have markers, too. Legends lie beside or below what is drawn, so that no label covers another.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np

from neve._picture import pyplot

from . import outputs

DPI = 110
PANEL_INCHES = (4.4, 3.4)
INCHES_OF_NAME = 1.5  # in a legend
LAND_COLOUR = "#b9b4a8"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#C9B800"
BLUE, VERMILION, PURPLE, BLACK, GREY = "#0072B2", "#D55E00", "#CC79A7", "#000000", "#888888"
FILE_SYSTEM, RAW_BYTES = "the file system", "raw bytes"
STYLES = {
    outputs.HDF5: (GREY, "o"),
    outputs.ADIOS: (GREY, "o"),
    outputs.NEVE_PLAIN: (GREY, "o"),
    outputs.ZLIB: (ORANGE, "s"),
    outputs.ADIOS_ZLIB: (ORANGE, "s"),
    outputs.SZIP: (GREEN, "^"),
    outputs.SHUFFLE: (VERMILION, "v"),
    outputs.ZFP: (PURPLE, "D"),
    outputs.ADIOS_ZFP: (PURPLE, "D"),
    outputs.ADIOS_ZFP_C_ORDER: (YELLOW, "x"),
    outputs.HDF5_NEVE_LOSSLESS: (SKY, "P"),
    outputs.NEVE_LOSSLESS: (SKY, "X"),
    outputs.HDF5_NEVE: (BLUE, "*"),
    outputs.NEVE: (BLUE, "h"),
    FILE_SYSTEM: (BLACK, "_"),
    RAW_BYTES: (BLACK, "o"),
}
# By the writer, for outputs of one compression: HDF5's are solid.
DASHES = {
    **dict.fromkeys(
        (outputs.ADIOS, outputs.ADIOS_ZLIB, outputs.ADIOS_ZFP, outputs.ADIOS_ZFP_C_ORDER), "--"
    ),
    **dict.fromkeys((outputs.NEVE_PLAIN, outputs.NEVE_LOSSLESS, outputs.NEVE), ":"),
}
SPARE = ((BLACK, "o"), (ORANGE, "s"), (BLUE, "^"), (VERMILION, "D"))
Line = Mapping[float, float]  # by what is across


def _style(name: str, number: int) -> tuple[str, str]:
    return STYLES.get(name, SPARE[number % len(SPARE)])


def _panels(count: int, shared: bool):
    columns = 2 if count == 4 else min(count, 3)
    rows = -(-count // columns)
    figure, axes = pyplot().subplots(
        rows,
        columns,
        figsize=(max(PANEL_INCHES[0] * columns, 6), PANEL_INCHES[1] * rows),
        layout="constrained",
        squeeze=False,
        sharey=shared,
    )
    every = list(axes.flat)
    for spare in every[count:]:
        spare.set_visible(False)
    return figure, every[:count]


def lines(
    title: str,
    across: str,
    what: str,
    panels: Mapping[str, Mapping[str, Line]],
    log: bool = False,
    level: tuple[float, str] | None = None,
    apart: Mapping[str, tuple[str, Line]] | None = None,
) -> bytes:
    """A line each name over few places, which stand at equal distances; `level`: drawn across;
    `apart`: places by what the legend says, each with the name whose colour it has, large, hollow
    and joined to nothing.
    """
    figure, axes = _panels(len(panels), shared=True)
    for place, (panel, drawn) in zip(axes, panels.items(), strict=True):
        alone = apart or {}
        every = [*drawn.values(), *(line for _, line in alone.values())]
        places = sorted({x for line in every for x in line})
        for number, (name, line) in enumerate(drawn.items()):
            colour, marker = _style(name, number)
            at = [places.index(x) for x in line]
            style = {"color": colour, "marker": marker, "linestyle": DASHES.get(name, "-")}
            place.plot(at, list(line.values()), label=name, linewidth=1.2, **style)
        for label, (name, line) in alone.items():
            colour, marker = _style(name, 0)
            at = [places.index(x) for x in line]
            style = {"markersize": 10, "markerfacecolor": "none", "linestyle": "none"}
            place.plot(at, list(line.values()), marker, color=colour, label=label, **style)
        if level is not None:
            place.axhline(level[0], color=BLACK, linewidth=0.9, linestyle="--", label=level[1])
        place.set_xticks(range(len(places)), [f"{x:g}" for x in places], fontsize=8)
        place.set_xlabel(across, fontsize=8)
        if log:
            _plain_log(place)
        place.tick_params(labelsize=8)
        place.set_title(panel, fontsize=9)
        place.grid(linewidth=0.3, alpha=0.6, which="both")
    axes[0].set_ylabel(what, fontsize=8)
    _legend_below(figure, axes)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def _plain_log(axes) -> None:
    """A log axis upwards, with numbers instead of powers, few enough to stand apart."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def curves(
    title: str, across: str, what: str, drawn: Mapping[str, Line], level: tuple[float, str]
) -> bytes:
    """Lines without marks on two log axes."""
    figure, (axes,) = _panels(1, shared=False)
    figure.set_size_inches(6.5, 4)
    for number, (name, line) in enumerate(drawn.items()):
        axes.plot(list(line), list(line.values()), color=SPARE_LINES[number], label=name)
    axes.axhline(level[0], color=BLACK, linewidth=0.9, linestyle="--", label=level[1])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(across, fontsize=8)
    axes.set_ylabel(what, fontsize=8)
    axes.grid(linewidth=0.3, alpha=0.6, which="both")
    _legend_below(figure, [axes], columns=2)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


SPARE_LINES = (GREY, PURPLE, BLUE, ORANGE, GREEN, VERMILION)


def bars(
    title: str, across: str, what: str, panels: Mapping[str, Mapping[str, Sequence[float]]]
) -> bytes:
    """Groups of bars, numbered from 1; the panels below each other, of one scale."""
    figure, axes = pyplot().subplots(
        len(panels),
        1,
        figsize=(8, 2.5 * len(panels)),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    every = list(axes.flat)
    for place, (panel, drawn) in zip(every, panels.items(), strict=True):
        width = 0.8 / len(drawn)
        for number, (name, values) in enumerate(drawn.items()):
            shift = (number - (len(drawn) - 1) / 2) * width
            at = np.arange(1, len(values) + 1) + shift
            place.bar(at, values, width, color=SPARE_LINES[number], label=name)
        place.axhline(1, color=BLACK, linewidth=0.8, linestyle="--")
        place.set_xticks(range(1, len(values) + 1))
        place.tick_params(labelsize=7)
        place.set_ylabel(what, fontsize=8)
        place.set_title(panel, fontsize=9)
    every[-1].set_xlabel(across, fontsize=8)
    _legend_below(figure, every)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def dots(title: str, what: str, rows: Mapping[str, Sequence[float]]) -> bytes:
    """A row a name, a dot for each pair of runs, a stroke for their median."""
    height = 0.27 * len(rows) + 1.3
    figure, axes = pyplot().subplots(figsize=(7.5, height), layout="constrained")
    for y, factors in enumerate(rows.values()):
        axes.plot(sorted(factors), [y] * len(factors), ".", color=BLUE, alpha=0.6)
        middle = float(np.median(factors))
        axes.plot([middle, middle], [y - 0.35, y + 0.35], color=VERMILION, linewidth=2)
    axes.axvline(1, color=BLACK, linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(rows)), list(rows), fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")
    _plain_ticks(axes, [one for factors in rows.values() for one in factors])
    axes.set_xlabel(what, fontsize=8)
    axes.grid(axis="x", linewidth=0.3, alpha=0.6)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 1, 1.4, 2, 5, 10, 20, 50, 100)
MOST_TICKS = 7


def _plain_ticks(axes, values: Sequence[float]) -> None:
    """Few enough that their labels stand apart."""
    ticks = [t for t in TICKS if min(values) / 1.5 < t < max(values) * 1.5 or t == 1]
    if len(ticks) > MOST_TICKS:
        ticks = [t for t in ticks if t not in (0.02, 0.2, 0.7, 1.4, 2, 20)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8)
    axes.minorticks_off()


def maps(title: str, surfaces: Mapping[str, Sequence[Sequence[float]]], fill: float) -> bytes:
    """Surfaces beside each other, blanked points in grey, each on its own scale."""
    figure, axes = _panels(len(surfaces), shared=False)
    for place, (name, values) in zip(axes, surfaces.items(), strict=True):
        field = np.array(values)
        shown = np.ma.masked_equal(field, fill)
        place.set_facecolor(LAND_COLOUR)
        place.imshow(shown, origin="lower", cmap="viridis", interpolation="nearest")
        place.set_title(name, fontsize=9)
        place.set_xticks([])
        place.set_yticks([])
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def _legend_below(figure, axes, columns: int | None = None) -> None:
    """All names of all panels, once."""
    found: dict[str, object] = {}
    for place in axes:
        for handle, name in zip(*place.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    fit = max(int(figure.get_size_inches()[0] / INCHES_OF_NAME), 1)
    figure.legend(
        list(found.values()),
        list(found),
        fontsize=7,
        loc="outside lower center",
        handlelength=3,
        ncols=min(columns or len(found), fit),
    )


def _png(figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    pyplot().close(figure)
    return buffer.getvalue()
