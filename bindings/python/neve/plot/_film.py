# SPDX-License-Identifier: BSD-3-Clause
"""Films: a series of files, or the steps of a variable, drawn with the same colours."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import _files
from .._errors import FAILURE, Error
from .._told_steps import Steps
from ._amr_source import AmrSource
from ._array_source import ArraySource
from ._colours import Extent, extent_of
from ._data_file import DataFileSource
from ._draw import draw_fields
from ._grid_view import Variable
from ._kinds import open_source
from ._panel import FIELD_OUTLINES, MISSING
from ._sources import PlotSource
from ._times import is_time
from ._view import View, draw, fields_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

KINDS = (".gif", ".mp4")
SCALE_COLOURS = 192  # of the 256 that a .gif may have
TIME_NAMES = ("time", "t", "times", "time_counter", "ocean_time", "date")


@dataclass(frozen=True)
class Step:
    """One frame: a file, and the index along a dimension where the file has many steps."""

    path: Path
    index: tuple[str, int] | None = None

    def view(self, view: View) -> View:
        if self.index is None:
            return view
        name, number = self.index
        return replace(view, place=replace(view.place, index={**view.place.index, name: number}))


def make_film(
    paths: Sequence[Path],
    out: Path,
    asked: str | Sequence[str] | None,
    along: str | None,
    fps: float,
    view: View,
) -> int:
    """Writes the film; the number of its frames."""
    if out.suffix not in KINDS:
        raise Error(f"{out}: a film is {' or '.join(KINDS)}")
    if not 0.1 <= fps <= 100:
        raise Error(f"fps is {fps:g}; 0.1 to 100 are allowed")
    if out.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise Error(f"{out}: .mp4 needs ffmpeg on the PATH; .gif needs nothing more", FAILURE)
    steps = steps_of(paths, asked, along, view)
    if len(steps) < 2:
        raise Error(
            "a film has two frames or more; give several files, or a variable with several steps "
            "and --along DIMENSION"
        )
    frames = _frames(steps, asked, view)
    if out.suffix == ".gif":
        _write_gif(out, frames, fps, view.scale.cmap)
    else:
        _write_mp4(out, frames, fps)
    return len(steps)


def steps_of(
    paths: Sequence[Path], asked: str | Sequence[str] | None, along: str | None, view: View
) -> list[Step]:
    """Files with a time of their own by it, others in the order in which they are given."""
    timed: list[tuple[float, Step]] = []
    for path in paths:
        with opened(path, view) as source:
            if isinstance(source, AmrSource):
                if along is not None:
                    raise Error(f"{path}: --along is for data files and arrays; this is a plotfile")
                timed.append((source.plotfile.time, Step(path)))
                continue
            field = fields_of(source, asked)[0][0]
            name = _time_dimension(source, field, along)
            if name is None:
                timed.append((0.0, Step(path)))
                continue
            if name in view.place.cuts():
                raise Error(f"the film runs along {name}; no one place of it can be asked for")
            size = source.dimensions(field)[name]
            timed += [(0.0, Step(path, (name, i))) for i in range(size)]
    return [step for _, step in sorted(timed, key=lambda pair: pair[0])]


def _time_dimension(source: PlotSource, field: str, along: str | None) -> str | None:
    """The dimension that a data file's film runs along; None where a file is one frame."""
    dims = source.dimensions(field)
    if along is not None:
        if along not in dims:
            there = ", ".join(f"{n} ({size})" for n, size in dims.items())
            raise Error(f"no dimension {along!r}; {field} has {there}")
        return along
    if len(dims) < 3:
        return None
    for name in dims:
        if name.lower() in TIME_NAMES or _is_clock(source, field, name):
            return name
    return "0" if isinstance(source, ArraySource) else None


def _is_clock(source: PlotSource, field: str, name: str) -> bool:
    if not isinstance(source, DataFileSource):
        return False
    variable: Variable = source.variable(field)
    return is_time(variable.dims[variable.dimension(name)].units)


@contextmanager
def opened(path: Path, view: View) -> Iterator[PlotSource]:
    source = open_source(path, follow_external=view.follow_external)
    try:
        yield source
    finally:
        source.close()


def _frames(
    steps: Sequence[Step], asked: str | Sequence[str] | None, view: View
) -> Iterator[np.ndarray]:
    """Pixels of each, [height, width, colour]. What the scales cover is found first."""
    extents: dict[str, Extent] = {}
    with _Sources(view) as sources:
        fields = fields_of(sources.of(steps[0]), asked)[0]
        told = Steps("neve plot", "values", len(steps))
        for step in steps:
            told.tell_next()
            source, at = sources.of(step), step.view(view)
            for field in fields:
                found = extent_of([draw(source, field, fields, at).values])
                extents[field] = extents.get(field, Extent()).merged(found)
        size = view.size
        told = Steps("neve plot", "frame", len(steps))
        for step in steps:
            told.tell_next()
            at = replace(step.view(view), size=size)
            figure = draw_fields(sources.of(step), fields, at, extents).figure
            size = (float(figure.get_figwidth()), float(figure.get_figheight()))
            yield _pixels(figure, view.dpi)


class _Sources:
    """The source of the step at hand, kept open while the next step is in the same file."""

    def __init__(self, view: View):
        self._view = view
        self._open: PlotSource | None = None

    def __enter__(self) -> _Sources:
        return self

    def __exit__(self, *unused: object) -> None:
        if self._open is not None:
            self._open.close()

    def of(self, step: Step) -> PlotSource:
        if self._open is None or self._open.path != step.path:
            self.__exit__()
            self._open = open_source(step.path, follow_external=self._view.follow_external)
        return self._open


def _pixels(figure: Figure, dpi: float) -> np.ndarray:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    pixels = pixels[..., :3]
    height, width = (n // 2 * 2 for n in pixels.shape[:2])  # as video codecs need it
    return np.ascontiguousarray(pixels[:height, :width])


def _palette(cmap: str) -> Image.Image:
    """The colours of all frames: those of the scale, so that a value has one colour throughout,
    those of outlines, and greys.
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb
    from PIL import Image

    scale = colormaps[cmap](np.linspace(0, 1, SCALE_COLOURS))[:, :3]
    drawn = np.array([to_rgb(name) for name in (*FIELD_OUTLINES, MISSING, "C0")])
    greys = np.linspace(0, 1, 256 - len(scale) - len(drawn))[:, None].repeat(3, axis=1)
    colours = np.concatenate([scale, drawn, greys])
    palette = Image.new("P", (1, 1))
    palette.putpalette((colours * 255).round().astype(np.uint8).tobytes())
    return palette


def _write_gif(out: Path, frames: Iterator[np.ndarray], fps: float, cmap: str) -> None:
    from PIL import Image

    palette = _palette(cmap)
    images = (
        Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE)
        for frame in frames
    )
    film = io.BytesIO()
    next(images).save(
        film,
        format="GIF",
        save_all=True,
        append_images=images,
        duration=round(1000 / fps),
        loop=0,
    )
    _files.write_bytes(out, film.getvalue())


def _write_mp4(out: Path, frames: Iterator[np.ndarray], fps: float) -> None:
    first = next(frames)
    height, width = first.shape[:2]
    with _files.replacing(out) as path:
        words = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
        words += ["-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-", "-an"]
        words += ["-pix_fmt", "yuv420p", "-f", "mp4", str(path)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None and process.stderr is not None
            try:
                process.stdin.write(first.tobytes())
                for frame in frames:
                    process.stdin.write(frame.tobytes())
                process.stdin.close()
            except BrokenPipeError:
                pass  # it says why itself
            complaint = process.stderr.read().decode(errors="replace").strip()
        if process.returncode != 0:
            raise Error(f"{out}: ffmpeg failed: {complaint}", FAILURE)
