# SPDX-License-Identifier: BSD-3-Clause
"""`python -m neve.bench codecs|ceaz|filter|lossless|region|write|rd`."""

from __future__ import annotations

import os
import sys

from .._arguments import Parser
from .._errors import Error
from . import ceaz, codecs, filter, lossless, region, write
from .rd import command as rd


def _mini_apps() -> list[str]:
    """The benchmarks of the command itself, which hands over the others."""
    return [name for name in os.environ.get("NEVE_MINI_APPS", "").split(",") if name]


def main(arguments: list[str] | None = None) -> int:
    apps = _mini_apps()
    parser = Parser(
        prog="neve bench",
        description="Measure Neve against its peers. Tables go to stdout, JSON to --json.",
        epilog=(f"mini-apps, each with --help of its own: {', '.join(apps)}; " if apps else "")
        + "example: neve bench codecs --only reference turbulence --json codecs.json",
    )
    which = parser.add_subparsers(
        dest="which",
        required=True,
        metavar="|".join(["codecs|ceaz|filter|lossless|region|write|rd", *apps]),
    )
    codecs.add_arguments(
        which.add_parser("codecs", help="ratio, speed and errors of the array codecs")
    )
    ceaz.add_arguments(
        which.add_parser("ceaz", help="codebooks, ratios, latency: the CEAZ paper's figures")
    )
    filter.add_arguments(
        which.add_parser("filter", help="the HDF5 filter where chunks are written in parts")
    )
    lossless.add_arguments(
        which.add_parser("lossless", help="lossless codecs on every variable of real files")
    )
    region.add_arguments(
        which.add_parser("region", help="reading a part of a compressed file against all of it")
    )
    write.add_arguments(which.add_parser("write", help="writing and reading of AMR plotfiles"))
    rd.add_arguments(which.add_parser("rd", help="rate-distortion study of one file"))
    options = parser.parse_args(arguments)
    try:
        commands = {
            "codecs": codecs,
            "ceaz": ceaz,
            "filter": filter,
            "lossless": lossless,
            "region": region,
            "write": write,
            "rd": rd,
        }
        return commands[options.which].run(options)
    except Error as error:
        print(f"neve bench: {error}", file=sys.stderr)
        return error.code


if __name__ == "__main__":
    sys.exit(main())
