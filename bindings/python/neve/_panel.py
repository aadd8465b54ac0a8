# SPDX-License-Identifier: BSD-3-Clause
"""One picture of a plane of an AMR field, with the outlines of its boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .plotfile import Slice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

# By level, coarsest first: against the dark map of the field, and the pale one of the error.
FIELD_OUTLINES = ("#ffffff", "#ffb000", "#ff4d4d", "#40e0d0", "#d06bff")
ERROR_OUTLINES = ("#666666", "#b36b00", "#108060", "#6a00b0", "#000000")


def draw_panel(
    figure: Figure,
    axes: Axes,
    shown: Slice,
    values: np.ndarray,
    title: str,
    outlines: Sequence[str],
    *,
    cmap: str,
    norm: Normalize,
) -> None:
    """One plane of cells and a colour bar; boxes outlined in `outlines`, coarsest level first."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    image = axes.imshow(
        values.T,
        origin="lower",
        extent=shown.extent,
        interpolation="nearest",
        cmap=cmap,
        norm=norm,
    )
    drawn = {}
    for level, (x0, x1, y0, y1) in shown.outlines:
        colour = drawn[level] = outlines[level % len(outlines)]
        axes.add_patch(
            Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, edgecolor=colour, linewidth=0.8)
        )
    if len(drawn) > 1:
        handles = [Line2D([], [], color=colour) for colour in drawn.values()]
        axes.legend(
            handles,
            [f"level {level}" for level in drawn],
            facecolor="#404040" if outlines is FIELD_OUTLINES else "#ffffff",
            labelcolor="linecolor",
            fontsize=7,
            framealpha=0.7,
            loc="upper right",
        )
    axes.set_xlabel(shown.axes[0])
    axes.set_ylabel(shown.axes[1])
    axes.set_title(title, fontsize=10)
    # Inset: beside the picture, a bar would keep the height that the picture gives up.
    figure.colorbar(image, cax=axes.inset_axes((1.02, 0, 0.03, 1)))
