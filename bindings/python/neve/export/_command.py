# SPDX-License-Identifier: BSD-3-Clause
"""`neve export`: its options."""

from __future__ import annotations

import argparse
import sys

from .._arguments import Parser
from .._errors import Error
from .._page import shown_lines
from ._calls import ORDERS, export_fields

EXAMPLES = """\
examples:
  neve export plt00113 density.npy --field density            at the resolution of level 0
  neve export plt00113 density.npy --field density --level 1  coarser cells are repeated
  neve export plt00113 part.npy --field density --level 1 --lo 5,2,3 --hi 7,5,4
  neve export plt00113 part.npy --field density --level 1 --cells --lo 40,16,24 --hi 55,39,31
  neve export plt00113 fields.nc --field density --field Temp   with coordinates; all: no --field
"""


def parser() -> Parser:
    made = Parser(
        prog="neve export",
        description="Write fields of a plotfile or checkpoint on a grid of one resolution.\n"
        "Finer cells are averaged, coarser ones repeated.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("file", metavar="FILE", help="AMReX plotfile directory, or HDF5 plotfile")
    made.add_argument(
        "out", metavar="OUT", help=".npy: one field, [x, y, z]; .h5 or .nc: several, [z, y, x]"
    )
    made.add_argument(
        "--field",
        action="append",
        metavar="NAME",
        help="field to write; several: again, or NAME,NAME (all, into .h5 or .nc)",
    )
    made.add_argument("--level", type=int, default=0, metavar="N", help="whose cells (0)")
    made.add_argument("--lo", metavar="X,Y,Z", help="lowest corner, in the domain's coordinates")
    made.add_argument("--hi", metavar="X,Y,Z", help="highest corner")
    made.add_argument(
        "--cells",
        action="store_true",
        help="--lo and --hi are cells of the level, both included",
    )
    made.add_argument(
        "--order",
        choices=ORDERS,
        default="F",
        help="of values in .npy: F, x fastest, or C, x slowest (F)",
    )
    made.add_argument(
        "--follow-external",
        action="store_true",
        help="also read files outside the folder of a file that refers to them",
    )
    return made


def main(arguments: list[str] | None = None) -> int:
    made = parser()
    options = made.parse_args(arguments)
    if options.cells and options.lo is None and options.hi is None:
        made.error("--cells is of --lo and --hi; give one of them")
    try:
        told = export_fields(
            *(options.file, options.out, options.field, options.level),
            *(_corner("--lo", options.lo), _corner("--hi", options.hi)),
            *(options.cells, options.order, options.follow_external),
        )
    except Error as error:
        print(shown_lines(f"neve export: {error}"), file=sys.stderr)
        return error.code
    print(told)
    return 0


def _corner(option: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise Error(f"{option} {text}: allowed are numbers with commas between them") from None
