# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench codecs` and the like: neve-bench names them, and hands them over."""

from __future__ import annotations

import sys

from neve._arguments import Parser, run_for_a_pipe
from neve._errors import Error

from . import ceaz, codebooks, codecs, copy, filter, links, lossless, region, write, xarray
from .rd import command as rd
from .study import __main__ as study

BENCHES = {
    "codecs": codecs,
    "ceaz": ceaz,
    "codebooks": codebooks,
    "copy": copy,
    "filter": filter,
    "links": links,
    "lossless": lossless,
    "region": region,
    "write": write,
    "rd": rd,
    "xarray": xarray,
}


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["study"]:
        return study.main(words[1:])
    parser = Parser(prog="neve bench")
    which = parser.add_subparsers(dest="which", required=True)
    for name, bench in BENCHES.items():
        bench.add_arguments(which.add_parser(name))
    options = parser.parse_args(words)
    try:
        return BENCHES[options.which].run(options)
    except Error as error:
        print(f"neve bench {options.which}: {error}", file=sys.stderr)
        return error.code


if __name__ == "__main__":
    sys.exit(run_for_a_pipe(main))
