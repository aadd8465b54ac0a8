# SPDX-License-Identifier: BSD-3-Clause
"""Planes and lines of a variable on one grid, whatever file it is from.

Dimensions that are named are cut where they are asked to be. Of the others the last two span the
plane; any before them are cut at their first index, or in the middle where the file gives them no
names. A dimension of length 1 is cut. Where one dimension is left, its values are a line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .._errors import Error
from . import _curvilinear as curvilinear
from ._drawing import Axis, Drawing, Line, Masked, Plane, edges_between
from ._place import Cut, Place, cuts_of
from ._times import clock_of

LONGEST_SIDE = 2048  # of a plane; of longer ones every nth value is read and drawn
LONGEST_LINE = 1 << 20
Index = tuple[int | slice, ...]


@dataclass(frozen=True)
class Dimension:
    name: str
    size: int
    is_named: bool = True
    label: str = ""
    units: str = ""
    calendar: str = ""
    points_down: bool = False
    is_longitude: bool = False
    is_degrees: bool = False  # a longitude or a latitude, rotated ones too
    values: np.ndarray | None = field(default=None, compare=False)  # where its indices lie

    def text(self, index: int) -> str:
        """Where that index is, for a title: "depth = 100.5 m"."""
        if not self.is_named:
            return f"axis {self.name} at {index}"
        if self.values is None:
            return f"{self.name} at index {index}"
        value = float(self.values[index])
        clock = clock_of(self.units, self.calendar)
        if clock is not None:
            return f"{self.name} = {clock.date(value)}"
        return f"{self.name} = {value:.6g} {self.units}".rstrip()


@dataclass(frozen=True)
class Points:
    """Where the values of a curvilinear grid lie, [y, x], in degrees."""

    longitudes: np.ndarray
    latitudes: np.ndarray
    labels: tuple[str, str]


@dataclass(frozen=True)
class Variable:
    """`read` takes an integer or a slice for each dimension. `points` gives, for such an index and
    the numbers of the dimensions y and x, where the points of a curvilinear grid lie.
    """

    name: str
    dims: tuple[Dimension, ...]
    read: Callable[[Index], Masked]
    units: str = ""
    points: Callable[[Index, int, int], Points | None] = lambda index, y, x: None
    bound_abs: float | None = None

    @property
    def sizes(self) -> dict[str, int]:
        return {d.name: d.size for d in self.dims}

    def dimension(self, name: str) -> int:
        return next(i for i, d in enumerate(self.dims) if d.name == name)


def draw(variable: Variable, place: Place) -> Drawing:
    """The plane or line that `place` leaves of the variable; only its values are read."""
    check_drawable(variable)
    cuts = cuts_of(place, variable.sizes, variable.name)
    cut = {variable.dimension(name): index_of(variable, name, cut) for name, cut in cuts.items()}
    free = free_dimensions(variable, cut)
    where = ", ".join(
        d.text(cut[i])
        for i, d in enumerate(variable.dims)
        if i in cut and (d.size > 1 or d.values is not None)
    )
    steps = [_step(variable.dims[i].size, len(free)) for i in free]
    index: list[int | slice] = [cut.get(i, 0) for i in range(len(variable.dims))]
    for i, step in zip(free, steps, strict=True):
        index[i] = slice(None, None, step)
    values = variable.read(tuple(index))
    notes = _notes(variable, free, steps)
    if len(free) == 1:
        x = _axis(variable.dims[free[0]], steps[0])
        return Line(variable.name, values, x, variable.units, where, notes)
    return _plane(variable, values, tuple(index), free, steps, where, notes)


def check_drawable(variable: Variable) -> None:
    if not variable.dims:
        raise Error(f"{variable.name}: it is one number; plots are of one dimension or more")
    empty = [d.name for d in variable.dims if d.size == 0]
    if empty:
        raise Error(f"{variable.name}: it holds no values yet: dimension {empty[0]} has length 0")


def free_dimensions(variable: Variable, cut: dict[int, int]) -> list[int]:
    """The dimensions of the picture, slower one first. The others get their place in `cut`."""
    dims = variable.dims
    free = [i for i in range(len(dims)) if i not in cut]
    if not free:
        raise Error(f"{variable.name}: all its dimensions are cut, and one value is no picture")
    for i in list(free):
        if dims[i].size == 1 and len(free) > 1:
            cut[i] = 0
            free.remove(i)
    for i in free[:-2]:
        cut[i] = 0 if dims[i].is_named else dims[i].size // 2
    return free[-2:]


def index_of(variable: Variable, name: str, cut: Cut) -> int:
    """The index at a place of dimension `name`: nearest to a coordinate."""
    dim = variable.dims[variable.dimension(name)]
    if cut.index is not None:
        index = cut.index + dim.size if cut.index < 0 else cut.index
        if not 0 <= index < dim.size:
            raise Error(f"index {cut.index} of {name}; allowed are 0 to {dim.size - 1}")
        return index
    if cut.coord is None:
        return dim.size // 2
    if dim.values is None:
        raise Error(
            f"{name}={cut}: {variable.name} has no coordinates along {name}; use --index "
            f"{name}=N, 0 to {dim.size - 1}"
        )
    return _nearest(dim, cut.coord)


def _nearest(dim: Dimension, coord: float | str) -> int:
    values = np.asarray(dim.values, np.float64)
    if isinstance(coord, str):
        clock = clock_of(dim.units, dim.calendar)
        number = None if clock is None else clock.number(coord)
        if number is None:
            allowed = "a number" if clock is None else "a number or a date, as 1990-06-15"
            raise Error(f"{dim.name}={coord}: allowed is {allowed} ({dim.units or 'no units'})")
    else:
        number = coord
        period = 360.0
        if dim.is_longitude and np.isfinite(number):  # -30 is 330
            apart = np.abs((values - number + period / 2) % period - period / 2)
            return int(np.argmin(apart))
    edges = edges_between(values)
    low, high = float(edges.min()), float(edges.max())
    if not low <= number <= high:
        raise Error(
            f"{dim.name}={number:g} is outside of its coordinates, {dim.text(0)} to "
            f"{dim.text(dim.size - 1)}"
        )
    return int(np.argmin(np.abs(values - number)))


def _step(size: int, directions: int) -> int:
    longest = LONGEST_LINE if directions == 1 else LONGEST_SIDE
    return -(-size // longest)


def _notes(variable: Variable, free: Sequence[int], steps: Sequence[int]) -> tuple[str, ...]:
    return tuple(
        f"{variable.name}: of {variable.dims[i].size} values along {variable.dims[i].name} one in "
        f"{step} is drawn"
        for i, step in zip(free, steps, strict=True)
        if step > 1
    )


def _axis(dim: Dimension, step: int) -> Axis:
    label = dim.label or dim.name
    if dim.values is None:
        points = np.arange(dim.size, dtype=np.float64)[::step]
        label = label if dim.is_named else f"axis {dim.name}"
        return Axis(f"{label} (index)", edges_between(points), points)
    points = np.asarray(dim.values, np.float64)[::step]
    if dim.is_longitude:
        points = np.unwrap(points, period=360)
    clock = clock_of(dim.units, dim.calendar)
    if dim.units and clock is None:
        label = f"{label} ({dim.units})"
    return Axis(label, edges_between(points), points, dim.points_down, clock)


def _same_unit(y: Dimension, x: Dimension) -> bool:
    """A depth in metres is none that is drawn as long as a distance in metres."""
    if y.values is None or x.values is None:
        return y.values is None and x.values is None
    if y.is_degrees and x.is_degrees:
        return True
    return y.units == x.units and not (y.points_down or clock_of(y.units, y.calendar))


def _plane(
    variable: Variable,
    values: Masked,
    index: Index,
    free: Sequence[int],
    steps: Sequence[int],
    where: str,
    notes: tuple[str, ...],
) -> Plane:
    dims = [variable.dims[i] for i in free]
    y, x = (_axis(dim, step) for dim, step in zip(dims, steps, strict=True))
    keeps_shape = _same_unit(*dims)
    points = variable.points(index, free[0], free[1])
    if points is None:
        return Plane(variable.name, values, x, y, variable.units, where, keeps_shape, notes=notes)
    across, up, hidden = curvilinear.cells(points.longitudes, points.latitudes)
    lost = int((hidden & ~np.ma.getmaskarray(values)).sum())
    values = np.ma.masked_where(hidden, values)
    if lost:
        notes = (*notes, f"{variable.name}: {lost} cells at the map's edge or a pole are not drawn")
    x = replace(x, label=points.labels[0])
    y = replace(y, label=points.labels[1], points_down=False)
    return Plane(
        variable.name, values, x, y, variable.units, where, True, (across, up), notes=notes
    )
