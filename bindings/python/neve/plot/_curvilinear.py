# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a grid whose points have a longitude and a latitude each, as ocean models have them."""

from __future__ import annotations

import numpy as np

WIDEST_CELL = 90  # degrees of longitude; cells that seem wider lie around a pole


def cells(
    longitudes: np.ndarray, latitudes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The corners' longitudes and latitudes, one more than points in each direction, and which
    cells [y, x] cannot be drawn.
    """
    across, up = _corners(_continuous(longitudes)), _corners(np.asarray(latitudes, np.float64))
    around = np.stack([across[:-1, :-1], across[1:, :-1], across[:-1, 1:], across[1:, 1:]])
    return across, up, np.ptp(around, axis=0) > WIDEST_CELL


def _continuous(longitudes: np.ndarray) -> np.ndarray:
    """Without the step of 360 degrees where a grid crosses the date line."""
    rows = np.unwrap(np.asarray(longitudes, np.float64), period=360, axis=1)
    first = np.unwrap(rows[:, 0], period=360)
    continuous: np.ndarray = rows + (first - rows[:, 0])[:, None]
    return continuous


def _corners(points: np.ndarray) -> np.ndarray:
    """The mean of the four points around each corner; beyond the last ones as far as before."""
    padded = points
    for axis in (0, 1):
        first, second = (np.take(padded, [i], axis) for i in (0, min(1, padded.shape[axis] - 1)))
        last, before = (np.take(padded, [i], axis) for i in (-1, max(-2, -padded.shape[axis])))
        padded = np.concatenate([2 * first - second, padded, 2 * last - before], axis)
    rows = padded[:-1] + padded[1:]
    corners: np.ndarray = (rows[:, :-1] + rows[:, 1:]) / 4
    return corners
