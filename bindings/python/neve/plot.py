# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a plotfile: a field with the boxes' outlines, and the error beside it.

python -m neve.plot FILE --field F [--against ORIGINAL] [--axis z] [--level N] -o out.png
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ._arguments import Parser
from ._errors import FAILURE, Error
from ._panel import ERROR_OUTLINES, FIELD_OUTLINES, draw_panel
from ._picture import pyplot, save
from .plotfile import AXIS_NAMES, Plotfile, Slice
from .plotfile import open as open_plotfile

if TYPE_CHECKING:
    from matplotlib.colors import Normalize

PANEL_INCHES = 6.4  # the longer side of a panel
MARGIN_INCHES = (1.5, 1.1)  # around it: colour bar and labels, titles and ticks
SHORTEST_SIDE = 0.18  # of a panel, so that a long thin domain still shows its labels
LOG_SPAN = 10  # positive fields that reach over more than this factor are drawn logarithmically


def _error_slice(copy: Slice, original: Slice) -> np.ndarray:
    if copy.values.shape != original.values.shape or not np.array_equal(
        copy.levels, original.levels
    ):
        raise Error(
            "plot: the two files differ in their boxes; --against takes the file this one was "
            "made from"
        )
    with np.errstate(invalid="ignore"):
        return copy.values.astype(np.float64) - original.values.astype(np.float64)


def _level_errors(copy: Plotfile, original: Plotfile, field: str, last: int) -> list[float]:
    """Largest |error| of each level over every finite value, not only those in the plane."""
    worst = []
    for level in range(last + 1):
        if copy[level].boxes != original[level].boxes:
            raise Error(
                f"plot: the boxes of level {level} differ between {copy.path} and {original.path}"
            )
        largest = 0.0
        for mine, theirs in zip(copy[level][field], original[level][field], strict=True):
            with np.errstate(invalid="ignore"):
                error = np.abs(mine.astype(np.float64) - theirs.astype(np.float64))
            largest = max(largest, float(error[np.isfinite(error)].max(initial=0.0)))
        worst.append(largest)
    return worst


def _norm(values: np.ndarray) -> Normalize:
    from matplotlib.colors import LogNorm, Normalize

    finite = values[np.isfinite(values)]
    if finite.size == 0:
        raise Error("plot: the plane holds no finite value")
    low, high = float(finite.min()), float(finite.max())
    if low > 0 and high / low > LOG_SPAN:
        return LogNorm(low, high)
    return Normalize(low, high)


def _bounds(copy: Plotfile, field: str, last: int) -> list[float]:
    """The absolute bounds recorded in the file, a level each; empty when the file records none."""
    bounds = [copy[level][field].bound_abs for level in range(last + 1)]
    known = [b for b in bounds if b is not None]
    return known if len(known) == len(bounds) else []


def _per_level(values: list[float]) -> str:
    return ", ".join(f"{v:.3g}" for v in values)


def _panel_inches(shown: Slice) -> tuple[float, float]:
    x, y = shown.extent[1] - shown.extent[0], shown.extent[3] - shown.extent[2]
    longest = max(x, y)
    width, height = (PANEL_INCHES * max(side / longest, SHORTEST_SIDE) for side in (x, y))
    return width, height


def plot(
    path: str | Path,
    field: str,
    out: str | Path,
    against: str | Path | None = None,
    axis: str = "z",
    coord: float | None = None,
    level: int | None = None,
    follow_external: bool = False,
) -> None:
    """Draw `field` of the plotfile `path` into the image `out`; with `against`, its error beside
    it.
    """
    plt = pyplot()
    with open_plotfile(path, follow_external=follow_external) as copy:
        shown = copy.slice(field, axis, coord, level)
        panels = 1
        if against is not None:
            with open_plotfile(against, follow_external=follow_external) as original:
                errors = _error_slice(shown, original.slice(field, axis, coord, level))
                worst = _level_errors(copy, original, field, shown.level)
            bounds = _bounds(copy, field, shown.level)
            panels = 2
        where = f"{shown.axis} = {shown.coord:.4g}, " if copy.dims == 3 else ""
        heading = f"{Path(path).name}   time {copy.time:.6g}"

    width, height = _panel_inches(shown)
    rows, columns = (panels, 1) if width > 1.6 * height else (1, panels)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=((width + MARGIN_INCHES[0]) * columns, (height + MARGIN_INCHES[1]) * rows + 0.3),
        layout="constrained",
        squeeze=False,
    )
    figure.suptitle(heading, fontsize=11)
    levels = f"levels 0 to {shown.level}" if shown.level else "level 0"
    title = f"{field}   ({where}{levels})"
    norm = _norm(shown.values)
    draw_panel(
        figure, axes.flat[0], shown, shown.values, title, FIELD_OUTLINES, cmap="viridis", norm=norm
    )
    if panels == 2:
        title = f"error of {field}, worst by level: {_per_level(worst)}"
        if bounds:
            title += f"\nbound by level: {_per_level(bounds)}"
        finite = np.abs(errors[np.isfinite(errors)])
        reach = float(finite.max(initial=0.0)) or 1.0
        draw_panel(
            *(figure, axes.flat[1], shown, errors, title, ERROR_OUTLINES),
            cmap="RdBu_r",
            norm=plt.Normalize(-reach, reach),
        )
    save(figure, out)


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(
        prog="neve plot",
        description="Draw a field of a plotfile and its boxes; the error against the original.",
        epilog="example: neve plot out.h5 --field density --against plt00113 -o density.png",
    )
    parser.add_argument("file", help="AMReX plotfile directory, or Chombo, AMReX or Neve HDF5 file")
    parser.add_argument("--field", required=True, help="component to draw")
    parser.add_argument(
        "--against",
        metavar="ORIGINAL",
        help="plotfile from which FILE was made: also draw the error",
    )
    parser.add_argument(
        "--axis", choices=list(AXIS_NAMES), default="z", help="normal of the plane (z)"
    )
    parser.add_argument(
        "--coord", type=float, help="position of the plane on the axis (middle of the domain)"
    )
    parser.add_argument("--level", type=int, help="finest level to draw (all)")
    parser.add_argument(
        "--follow-external",
        action="store_true",
        help="also read files outside the folder of a file that refers to them",
    )
    parser.add_argument("-o", "--output", required=True, metavar="OUT.png", help="picture to write")
    options = parser.parse_args(arguments)
    try:
        import matplotlib  # noqa: F401 - an optional dependency; its absence is told here
    except ImportError:
        print("neve plot: needs matplotlib: pip install 'neve[plot]'", file=sys.stderr)
        return FAILURE
    try:
        plot(
            options.file,
            options.field,
            options.output,
            options.against,
            options.axis,
            options.coord,
            options.level,
            options.follow_external,
        )
    except Error as error:
        print(f"neve plot: {error}", file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
