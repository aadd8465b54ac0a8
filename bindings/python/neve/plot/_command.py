# SPDX-License-Identifier: BSD-3-Clause
"""`neve plot`: its options, and what it says."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path

from .._arguments import Parser
from .._errors import FAILURE, Error
from .._page import shown_lines
from .._picture import KINDS
from ._calls import compare_files, plot_file, save
from ._draw import Picture
from ._figure import DPI
from ._film import KINDS as FILM_KINDS
from ._film import make_film
from ._kinds import TAKEN
from ._place import number_or_text, pairs
from ._view import MOST_PANELS, View, view

FILM_DPI = 100
FPS = 5
HELP_WIDTH = 90
# Of a file's name, where a picture of it is named after it.
SUFFIXES = (".h5", ".hdf5", ".nc", ".nc4", ".npy", ".neve", ".nevs")
PICTURES = (*KINDS, *FILM_KINDS)
EXAMPLES = """\
examples:
  neve plot plt00113                                all fields of a plotfile, boxes outlined
  neve plot plt00113 --field density --at z=4       a plane at z = 4; --axis x: the middle of x
  neve plot plt00113 --field density --at z=4 --at y=2      the line along x
  neve plot ocean.nc --field temp --at time=1990-06-15 --index depth=3
  neve plot f.npy --index 0=12                      dimensions of arrays are called 0, 1, ...
  neve plot --compare plt00113 plt00113.h5 --field density  original, copy and error
  neve plot plt00113.h5 --field density --against plt00113  the copy and its error only
  neve plot plt00* --field density --film density.gif       a frame for each file
  neve plot ocean.nc --field temp --film temp.mp4   a frame for each time
"""


def parser() -> Parser:
    made = Parser(
        prog="neve plot",
        description=textwrap.fill(
            f"Draw fields, the error of a copy, or a film. FILE is {TAKEN}.", HELP_WIDTH
        ),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("files", nargs="*", metavar="FILE", help="several for --film")
    made.add_argument(
        "--field",
        action="append",
        metavar="NAME",
        help=f"field or variable to draw; several: again, or NAME,NAME (the first {MOST_PANELS})",
    )
    made.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help=f"picture to write: {', '.join(KINDS)} (FILE_FIELD.png)",
    )
    _add_comparisons(made)
    _add_film(made)
    _add_place(made)
    _add_looks(made)
    return made


def _add_comparisons(made: Parser) -> None:
    group = made.add_argument_group("what a copy's error is")
    group.add_argument(
        "--compare",
        nargs=2,
        metavar=("ORIGINAL", "COPY"),
        help="draw both with one colour scale, the error, and (plotfiles) errors by the distance "
        "from borders of boxes and levels",
    )
    group.add_argument(
        "--against", metavar="ORIGINAL", help="draw FILE and its error against this one"
    )


def _add_film(made: Parser) -> None:
    group = made.add_argument_group("a film")
    group.add_argument("--film", metavar="OUT", help="film to write: .gif, or .mp4 by ffmpeg")
    group.add_argument(
        "--along", metavar="DIM", help="dimension of a data file or array that is the film's time"
    )
    group.add_argument("--fps", type=float, help=f"frames a second ({FPS})")


def _add_place(made: Parser) -> None:
    group = made.add_argument_group("the plane or line")
    group.add_argument(
        "--at",
        action="append",
        default=[],
        metavar="DIM=VALUE",
        help="cut dimension DIM there: a coordinate or a date; may be given again",
    )
    group.add_argument(
        "--index",
        action="append",
        default=[],
        metavar="DIM=N",
        help="cut dimension DIM at index N, of a plotfile a cell of the level; may be given again",
    )
    group.add_argument("--axis", metavar="DIM", help="dimension across the plane (z of a plotfile)")
    group.add_argument("--coord", type=float, metavar="VALUE", help="where on --axis (the middle)")
    group.add_argument("--level", type=int, metavar="N", help="finest level to draw (all)")


def _add_looks(made: Parser) -> None:
    group = made.add_argument_group("how it looks")
    group.add_argument(
        "--no-outlines", dest="outlines", action="store_false", help="without outlines of boxes"
    )
    scale = group.add_mutually_exclusive_group()
    scale.add_argument("--log", action="store_true", default=None, help="logarithmic colour scale")
    scale.add_argument("--linear", dest="log", action="store_false", help="linear colour scale")
    group.add_argument("--range", metavar="LO,HI", help="ends of the colour scale")
    group.add_argument("--cmap", default="viridis", help="matplotlib's colour map (viridis)")
    group.add_argument("--size", metavar="W,H", help="inches of the whole picture")
    group.add_argument("--dpi", type=float, help=f"pixels per inch ({DPI}; of a film {FILM_DPI})")
    group.add_argument(
        "--follow-external",
        action="store_true",
        help="also read files outside the folder of a file that refers to them",
    )


def main(arguments: list[str] | None = None) -> int:
    made = parser()
    options = made.parse_args(arguments)
    _check(made, options)
    try:
        import matplotlib  # noqa: F401 - an optional dependency; its absence is told here
    except ImportError:
        print("neve plot: needs matplotlib: pip install 'neve[plot]'", file=sys.stderr)
        return FAILURE
    try:
        _run(options)
    except Error as error:
        print(shown_lines(f"neve plot: {error}"), file=sys.stderr)
        return error.code
    return 0


def _check(made: Parser, options: argparse.Namespace) -> None:
    """Options that do not go together."""
    files = len(options.files)
    if options.compare and (files or options.against):
        made.error("--compare names both files: no other FILE, and no --against")
    if options.film and (options.compare or options.against or options.output):
        made.error("--film stands without --compare, --against and --output; it names the film")
    if not options.film:
        for name in ("along", "fps"):
            if getattr(options, name) is not None:
                made.error(f"--{name} is of a film; give --film OUT too")
        if files > 1:
            made.error(
                f"{files} files; --film OUT.gif makes a film of them, --compare A B compares two"
            )
    if not files and not options.compare:
        made.error("no FILE is named; `neve plot --help` has examples")


def _run(options: argparse.Namespace) -> None:
    looks = _view(options)
    if options.film:
        pictures = [p for p in options.files if Path(p).suffix in PICTURES]
        if pictures:  # plt00* names those that were made of plt00113, too
            print(f"neve plot: left out, as pictures: {', '.join(pictures)}", file=sys.stderr)
        files = [Path(p) for p in options.files if p not in pictures]
        frames = make_film(
            *(files, Path(options.film), options.field),
            *(options.along, FPS if options.fps is None else options.fps, looks),
        )
        print(f"wrote {options.film}: {frames} frames")
        return
    if options.compare:
        original, path = options.compare
        picture = compare_files(original, path, options.field, looks)
    else:
        path = options.files[0]
        picture = plot_file(path, options.against, options.field, looks)
    for note in picture.notes:
        print(f"neve plot: {note}", file=sys.stderr)
    for line in picture.told:
        print(line)
    kind = "compared" if options.compare else "error" if options.against else ""
    written = save(picture, options.output or _default_name(path, picture, kind), looks)
    print(f"wrote {written}")


def _view(options: argparse.Namespace) -> View:
    at = {name: number_or_text(value) for name, value in pairs("--at", options.at).items()}
    index = {name: _whole(name, n) for name, n in pairs("--index", options.index).items()}
    dpi = options.dpi if options.dpi is not None else FILM_DPI if options.film else DPI
    return view(
        axis=options.axis,
        coord=options.coord,
        at=at,
        index=index,
        level=options.level,
        outlines=options.outlines,
        log=options.log,
        value_range=_two_numbers("--range", options.range),
        cmap=options.cmap,
        size=_two_numbers("--size", options.size),
        dpi=dpi,
        follow_external=options.follow_external,
    )


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Error(f"--index {name}={text}: allowed is a whole number") from None


def _two_numbers(option: str, text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, second = (float(word) for word in re.split("[,x]", text))
    except ValueError:
        raise Error(f"{option} {text}: allowed are two numbers with a comma between them") from None
    return first, second


def _default_name(path: str, picture: Picture, kind: str) -> str:
    """In the current directory: of the file, the field if it is one, and what is drawn of it."""
    file = Path(path).resolve()
    name = file.stem if file.suffix in SUFFIXES else file.name
    field = picture.fields[0] if len(picture.fields) == 1 else ""
    words = [name, "" if field == name else field, kind]
    return re.sub(r"[^\w.+-]+", "_", "_".join(word for word in words if word)) + ".png"
