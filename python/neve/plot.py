# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a plotfile: a field with the boxes' outlines, and the error beside it.

python -m neve.plot FILE --field F [--against ORIGINAL] [--axis z] [--level N] -o out.png
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from ._errors import FAILURE, Error
from .plotfile import AXIS_NAMES, Plotfile, Slice
from .plotfile import open as open_plotfile

OUTLINE_COLOURS = ("#ffffff", "#ffb000", "#ff4d4d", "#40e0d0", "#d06bff")
LOG_SPAN = 1e3  # positive fields that reach over more decades than three are drawn logarithmically
DPI = 160


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


def _norm(values: np.ndarray):
    from matplotlib.colors import LogNorm, Normalize

    finite = values[np.isfinite(values)]
    if finite.size == 0:
        raise Error("plot: the plane holds no finite value")
    low, high = float(finite.min()), float(finite.max())
    if low > 0 and high / low > LOG_SPAN:
        return LogNorm(low, high)
    return Normalize(low, high)


def _panel(figure, axes, shown: Slice, values: np.ndarray, title: str, label: str, **how) -> None:
    from matplotlib.patches import Rectangle

    image = axes.imshow(
        values.T,
        origin="lower",
        extent=shown.extent,
        interpolation="nearest",
        aspect="equal",
        **how,
    )
    for level, (x0, x1, y0, y1) in shown.outlines:
        colour = OUTLINE_COLOURS[level % len(OUTLINE_COLOURS)]
        axes.add_patch(
            Rectangle(
                (x0, y0),
                x1 - x0,
                y1 - y0,
                fill=False,
                edgecolor=colour,
                linewidth=0.7,
                alpha=0.8,
                zorder=2 + level,
            )
        )
    axes.set_xlabel(shown.axes[0])
    axes.set_ylabel(shown.axes[1])
    axes.set_title(title, fontsize=10)
    bar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
    bar.set_label(label)


def _bounds(copy: Plotfile, field: str, last: int) -> list[float]:
    """The absolute bounds recorded in the file, a level each; empty when the file records none."""
    bounds = [copy[level][field].bound_abs for level in range(last + 1)]
    return [] if any(b is None for b in bounds) else bounds


def _per_level(values: list[float]) -> str:
    return ", ".join(f"{v:.3g}" for v in values)


def plot(
    path: str | Path,
    field: str,
    out: str | Path,
    against: str | Path | None = None,
    axis: str = "z",
    coord: float | None = None,
    level: int | None = None,
) -> None:
    """Draw `field` of the plotfile `path` into the image `out`; with `against`, its error beside
    it.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with open_plotfile(path) as copy:
        shown = copy.slice(field, axis, coord, level)
        panels = 1
        if against is not None:
            with open_plotfile(against) as original:
                errors = _error_slice(shown, original.slice(field, axis, coord, level))
                worst = _level_errors(copy, original, field, shown.level)
            bounds = _bounds(copy, field, shown.level)
            panels = 2
        where = f"{shown.axis} = {shown.coord:.4g}, " if copy.dims == 3 else ""
        heading = f"{Path(path).name}   time {copy.time:.6g}"

    wide = shown.extent[1] - shown.extent[0] > 1.6 * (shown.extent[3] - shown.extent[2])
    rows, columns = (panels, 1) if wide else (1, panels)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(6.4 * columns, 5.6 * rows) if not wide else (9.6, 4.2 * rows),
        layout="constrained",
        squeeze=False,
    )
    figure.suptitle(heading, fontsize=11)
    levels = f"levels 0 to {shown.level}" if shown.level else "level 0"
    _panel(
        figure,
        axes.flat[0],
        shown,
        shown.values,
        f"{field}   ({where}{levels})",
        field,
        cmap="viridis",
        norm=_norm(shown.values),
    )
    if panels == 2:
        title = f"error of {field}, worst by level: {_per_level(worst)}"
        if bounds:
            title += f"\nbound by level: {_per_level(bounds)}"
        finite = np.abs(errors[np.isfinite(errors)])
        reach = max(float(finite.max(initial=0.0)), np.finfo(np.float64).tiny)
        _panel(
            figure,
            axes.flat[1],
            shown,
            errors,
            title,
            "copy - original",
            cmap="RdBu_r",
            vmin=-reach,
            vmax=reach,
        )
    try:
        figure.savefig(out, dpi=DPI)
    except (OSError, ValueError) as error:
        raise Error(f"{out}: cannot write the picture: {error}", FAILURE) from None
    finally:
        plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="neve plot",
        description="Draw a field of a plotfile and its boxes; the error against the original.",
        epilog="example: neve plot out.h5 --field density --against plt00113 -o density.png",
    )
    parser.add_argument("file", help="AMReX plotfile directory, or Chombo, AMReX or Neve HDF5 file")
    parser.add_argument("--field", required=True, help="component to draw")
    parser.add_argument(
        "--against", metavar="ORIGINAL", help="plotfile FILE was made from: draws the error"
    )
    parser.add_argument(
        "--axis", choices=list(AXIS_NAMES), default="z", help="normal of the plane (z)"
    )
    parser.add_argument(
        "--coord", type=float, help="place of the plane on the axis (middle of the domain)"
    )
    parser.add_argument("--level", type=int, help="finest level to draw (all)")
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
        )
    except Error as error:
        print(f"neve plot: {error}", file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
