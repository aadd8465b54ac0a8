# SPDX-License-Identifier: BSD-3-Clause
"""What a picture shows: colours taken back to the values that they stand for."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg

COLOURS = 256  # of a map
STEP = 2 / COLOURS  # of the colour scale: how exact a colour is, neighbours being much alike


def colour_at(figure, panel: int, x: float, y: float) -> np.ndarray:
    """Red, green and blue, 0 to 255, at a place in the coordinates of a panel."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())
    column, row = figure.axes[panel].transData.transform((x, y))
    return pixels[pixels.shape[0] - 1 - int(row), int(column), :3].astype(int)


def share_at(figure, panel: int, x: float, y: float, cmap: str = "viridis") -> float:
    """How far along the colour scale the value there lies, 0 to 1."""
    colours = (colormaps[cmap](np.arange(COLOURS))[:, :3] * 255).round().astype(int)
    apart = np.abs(colours - colour_at(figure, panel, x, y)).sum(axis=1)
    assert apart.min() <= 3, "no colour of the map"
    return (int(np.argmin(apart)) + 0.5) / COLOURS


def value_at(figure, panel: int, x: float, y: float, low: float, high: float) -> float:
    return low + (high - low) * share_at(figure, panel, x, y)
