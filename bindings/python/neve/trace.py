# SPDX-License-Identifier: BSD-3-Clause
"""Traces side by side: the sizes of their writes as a picture, everything as a page.

neve trace report a.json b.json --json > report.json; python -m neve.trace report.json -o sizes.png
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

from . import _files
from ._arguments import Parser
from ._errors import CORRUPT, FAILURE, Error
from ._page import shown_lines
from ._trace_counts import Trace


def read_report(path: str) -> list[Trace]:
    """The traces of a report; `-` is the standard input."""
    try:
        text = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        traces: list[Trace] = json.loads(text)["traces"]
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", FAILURE) from None
    except (ValueError, KeyError, TypeError):
        raise Error(f"{path}: not what `neve trace report --json` prints", CORRUPT) from None
    if not traces:
        raise Error(f"{path}: a report of no trace")
    return traces


def plot(traces: list[Trace], out: str | Path) -> None:
    """Draw the write sizes of the traces of a report into the image `out`."""
    from . import _trace_pictures
    from ._picture import save

    save(_trace_pictures.sizes(traces), out)


def page(traces: list[Trace], out: str | Path, top: int = 20) -> None:
    """Write the traces of a report as one HTML file with all pictures in it. `top`: its ranks and
    files of each trace, 0: all."""
    from ._trace_page import html_of

    _files.write_bytes(Path(out), html_of(traces, top).encode("utf-8", "replace"))


def _draw(report: str, picture: str | None, html: str | None, top: int) -> None:
    traces = read_report(report)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # of a name, in a picture
        try:
            if picture:
                plot(traces, picture)
            if html:
                page(traces, html, top)
        except (KeyError, TypeError, AttributeError) as error:
            raise Error(
                f"{report}: not what `neve trace report --json` prints: {error!r}", CORRUPT
            ) from None


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(
        prog="python -m neve.trace",
        description="Draw the traces of a report.",
        epilog="example: neve trace report a.json b.json --plot sizes.png --html page.html",
    )
    parser.add_argument("report", help="output of `neve trace report --json`; - for stdin")
    parser.add_argument("-o", "--output", metavar="OUT.png", help="picture of sizes")
    parser.add_argument("--html", metavar="PAGE.html", help="page of everything")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="rows of a table; 0: all")
    options = parser.parse_args(arguments)
    if not options.output and not options.html:
        parser.error("nothing to draw: -o OUT.png, --html PAGE.html")
    try:
        import matplotlib  # noqa: F401 - an optional dependency; its absence is told here
    except ImportError:
        option = "--plot" if options.output else "--html"
        print(f"neve trace: {option} needs matplotlib: pip install 'neve[plot]'", file=sys.stderr)
        return FAILURE
    try:
        _draw(options.report, options.output, options.html, options.top)
    except Error as error:
        print(shown_lines(f"neve trace: {error}"), file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
