# SPDX-License-Identifier: BSD-3-Clause
"""What a panel shows: the values of a plane or a line, and the coordinates that they lie at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ._times import Clock

Masked: TypeAlias = "np.ma.MaskedArray[Any, np.dtype[Any]]"
Outline: TypeAlias = tuple[int, tuple[float, float, float, float]]  # level; x0, x1, y0, y1
REGULAR = 1e-3  # cells whose widths differ by no more than this part are drawn as pixels


@dataclass(frozen=True)
class Axis:
    """One direction of a picture."""

    label: str
    edges: np.ndarray  # of the cells, one more than there are; rising or falling
    points: np.ndarray  # where the values lie
    points_down: bool = False  # depth, pressure: larger values are drawn lower
    clock: Clock | None = None  # where the points are times

    @property
    def is_regular(self) -> bool:
        widths = np.diff(self.edges)
        return bool(np.ptp(widths) <= REGULAR * abs(widths.mean()))


@dataclass(frozen=True)
class Plane:
    """Values on a grid of two dimensions."""

    field: str
    values: Masked  # [y, x]
    x: Axis
    y: Axis
    units: str = ""
    where: str = ""  # "z = 4, levels 0 to 1"
    keeps_shape: bool = True  # one unit is as long in x as in y
    corners: tuple[np.ndarray, np.ndarray] | None = None  # x and y of a curvilinear grid, [y, x]
    outlines: tuple[Outline, ...] = ()
    levels: np.ndarray | None = None  # which level a value is of, [y, x]; -1: none
    level: int = 0  # the finest
    notes: tuple[str, ...] = ()  # what a reader has to know: values that are left out
    may_be_log: bool = False  # a density may, a temperature in degrees Celsius may not


@dataclass(frozen=True)
class Line:
    """Values along one dimension."""

    field: str
    values: Masked
    x: Axis
    units: str = ""
    where: str = ""
    notes: tuple[str, ...] = ()
    may_be_log: bool = False


Drawing: TypeAlias = Plane | Line


def edges_between(points: np.ndarray) -> np.ndarray:
    """Halfway between neighbours; the outermost as far out as they are in."""
    points = np.asarray(points, np.float64)
    if len(points) == 1:
        return np.array([points[0] - 0.5, points[0] + 0.5])
    middle = (points[1:] + points[:-1]) / 2
    first, last = 2 * points[0] - middle[0], 2 * points[-1] - middle[-1]
    return np.concatenate([[first], middle, [last]])


def finite(values: Masked) -> np.ndarray:
    """Those that are numbers, in one dimension."""
    shown: np.ndarray = np.ma.getdata(values)[~np.ma.getmaskarray(values)]
    numbers: np.ndarray = shown[np.isfinite(shown)]
    return numbers
