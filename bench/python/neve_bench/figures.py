# SPDX-License-Identifier: BSD-3-Clause
"""Figures of benches: panels in rows, and the file they are written to."""

from __future__ import annotations

import math
from pathlib import Path

from neve._errors import FAILURE, Error
from neve._picture import pyplot, save

PANEL_INCHES = (5.2, 3.8)


def check_at_hand() -> None:
    """neve.Error where matplotlib is not installed, before anything is measured."""
    _plt()


def _plt():
    try:
        return pyplot()
    except ImportError:
        raise Error("pictures need matplotlib: pip install 'neve[plot]'", FAILURE) from None


def picture(panels: int, columns: int = 3):
    """A figure and its panels, some in a row, with room for a legend beside them."""
    rows = math.ceil(panels / columns)
    figure, axes = _plt().subplots(
        rows,
        columns,
        figsize=(0.8 * PANEL_INCHES[0] * columns + 2, PANEL_INCHES[1] * rows),
        layout="constrained",
        squeeze=False,
    )
    for unused in axes.flat[panels:]:
        unused.set_visible(False)
    return figure, axes.flat[:panels]


def save_picture(figure, path: Path) -> Path:
    save(figure, path)
    return path
