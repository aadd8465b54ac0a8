# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a grid whose points have a longitude and a latitude each, as ocean models have them."""

from __future__ import annotations

import numpy as np

WIDEST_CELL = 90  # degrees of longitude; what seems wider crosses the map's edge or lies at a pole
GAP = 20  # degrees of longitude without a point: the map's edge lies there
TURN = 360.0


def cells(
    longitudes: np.ndarray, latitudes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The corners' longitudes and latitudes, one more than points in each direction, and which
    cells [y, x] cannot be drawn.
    """
    given = np.asarray(longitudes, np.float64)
    # The mean of directions is right across the date line, and where rows turn around a pole.
    angles = np.radians(given)
    east, north = _corners(np.cos(angles)), _corners(np.sin(angles))
    across = _on_map(np.degrees(np.arctan2(north, east)), given)
    around = np.stack([across[:-1, :-1], across[1:, :-1], across[:-1, 1:], across[1:, 1:]])
    up = _corners(np.asarray(latitudes, np.float64))
    return across, up, np.ptp(around, axis=0) > WIDEST_CELL


def _on_map(corners: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Within one turn from the map's western edge on, in numbers that the file has, or a reader
    expects.
    """
    points = np.sort(given.ravel() % TURN)
    gaps = np.diff(points, append=points[0] + TURN)
    widest = int(np.argmax(gaps))
    if gaps[widest] > GAP:
        edge = points[widest] + gaps[widest] / 2
    else:
        edge = -TURN / 2 if given.min() < 0 else 0.0
    placed: np.ndarray = (corners - edge) % TURN + edge
    if gaps[widest] <= GAP:
        return placed
    return placed + TURN * _usual_turn((given - edge) % TURN + edge, given)


def _usual_turn(points: np.ndarray, given: np.ndarray) -> int:
    """How many turns bring the points into the file's own range, or else into 0 to 360; where both
    are too narrow, as near as may be.
    """
    own = (float(given.min()), float(given.max()))

    def is_off(turn: int) -> tuple[float, float, float]:
        low, high = points.min() + TURN * turn, points.max() + TURN * turn
        beyond = [max(begin - low, high - end, 0.0) for begin, end in (own, (0.0, TURN))]
        return round(min(beyond), 3), round(beyond[0], 3), abs(low + high)

    return min(range(-3, 4), key=is_off)


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
