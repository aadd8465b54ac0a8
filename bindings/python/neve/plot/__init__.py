# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and films of plotfiles, checkpoints, netCDF-4 and HDF5 data files and arrays.

`plot`, `compare` and `film` are what `neve plot` of the command does (docs/pictures.md). They need
matplotlib, touch none of pyplot's figures, and return figures that notebooks show.

    import neve.plot
    neve.plot.plot("plt00113.h5", "density", at={"z": 4.0})
    neve.plot.compare("plt00113", "plt00113.h5", "density").savefig("error.png")

Keywords that all of them have:

axis, coord   the dimension across the plane, and where on it (its middle). For a plotfile "z"
at            {dimension: coordinate}: where dimensions are cut, nearest to a coordinate, or to a
              date as "1990-06-15". For a plotfile x, y, z; as many as leave a plane or a line
index         {dimension: index}: the same by index. For a plotfile a cell of the level drawn
level         the finest level of a plotfile to draw (all)
outlines      draw the outlines of boxes
log           True: logarithmic colours, False: linear; None: logarithmic for a plotfile's field
              whose values lie above 0 and reach over more than a factor of 10
range         (lowest, highest) value of the colour scale, in the field's units
cmap          matplotlib's name of a colour map
size, dpi     of the whole figure: (width, height) in inches, pixels per inch
follow_external  also read files outside the folder of a file that refers to them

neve.Error names what cannot be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .._keywords import checks_keywords
from ._calls import compare_files, plot_file, save
from ._command import main
from ._figure import DPI
from ._film import make_film
from ._view import view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["compare", "film", "main", "plot"]


@checks_keywords
def plot(
    path: str | Path,
    field: str | Sequence[str] | None = None,
    out: str | Path | None = None,
    *,
    against: str | Path | None = None,
    axis: str | None = None,
    coord: float | None = None,
    at: Mapping[str, float | str] | None = None,
    index: Mapping[str, int] | None = None,
    level: int | None = None,
    outlines: bool = True,
    log: bool | None = None,
    range: tuple[float, float] | None = None,
    cmap: str = "viridis",
    size: tuple[float, float] | None = None,
    dpi: float = DPI,
    follow_external: bool = False,
) -> Figure:
    """Fields of one file, a panel each; written to `out` where that is given. Values of one
    dimension are drawn as a line. Other keywords are this module's.

    field     a name, or several; None: the first nine
    against   the file that `path` was made from: the error of each field is drawn beside it
    """
    looks = view(
        axis=axis,
        coord=coord,
        at=at,
        index=index,
        level=level,
        outlines=outlines,
        log=log,
        value_range=range,
        cmap=cmap,
        size=size,
        dpi=dpi,
        follow_external=follow_external,
    )
    picture = plot_file(path, against, field, looks)
    if out is not None:
        save(picture, out, looks)
    return picture.figure


@checks_keywords
def compare(
    original: str | Path,
    copy: str | Path,
    field: str | Sequence[str] | None = None,
    out: str | Path | None = None,
    *,
    axis: str | None = None,
    coord: float | None = None,
    at: Mapping[str, float | str] | None = None,
    index: Mapping[str, int] | None = None,
    level: int | None = None,
    outlines: bool = True,
    log: bool | None = None,
    range: tuple[float, float] | None = None,
    cmap: str = "viridis",
    size: tuple[float, float] | None = None,
    dpi: float = DPI,
    follow_external: bool = False,
) -> Figure:
    """Original, copy and error of a field (the first, or each that is named), with one colour scale
    for both. The title of the error has the largest of the whole file, not only of the plane, and
    the copy's bound. Of plotfiles a fourth panel has the errors by the distance from the borders of
    boxes and levels. Written to `out` where that is given. Other keywords are this module's.
    """
    looks = view(
        axis=axis,
        coord=coord,
        at=at,
        index=index,
        level=level,
        outlines=outlines,
        log=log,
        value_range=range,
        cmap=cmap,
        size=size,
        dpi=dpi,
        follow_external=follow_external,
    )
    picture = compare_files(original, copy, field, looks)
    if out is not None:
        save(picture, out, looks)
    return picture.figure


@checks_keywords
def film(
    paths: str | Path | Sequence[str | Path],
    out: str | Path,
    field: str | Sequence[str] | None = None,
    *,
    along: str | None = None,
    fps: float = 5,
    axis: str | None = None,
    coord: float | None = None,
    at: Mapping[str, float | str] | None = None,
    index: Mapping[str, int] | None = None,
    level: int | None = None,
    outlines: bool = True,
    log: bool | None = None,
    range: tuple[float, float] | None = None,
    cmap: str = "viridis",
    size: tuple[float, float] | None = None,
    dpi: float = 100,
    follow_external: bool = False,
) -> int:
    """Writes a film, .gif or .mp4 (by ffmpeg), with one colour scale for each field; returns the
    number of frames. Plotfiles are a frame each, by their time; of a data file or an array each
    step along a dimension is one. Other keywords are this module's.

    along   the dimension of a data file or an array that is the film's time; None: the one with
            units of time, of an array the first
    fps     frames a second
    """
    looks = view(
        axis=axis,
        coord=coord,
        at=at,
        index=index,
        level=level,
        outlines=outlines,
        log=log,
        value_range=range,
        cmap=cmap,
        size=size,
        dpi=dpi,
        follow_external=follow_external,
    )
    files = [paths] if isinstance(paths, (str, Path)) else list(paths)
    return make_film([Path(p) for p in files], Path(out), field, along, fps, looks)
