# SPDX-License-Identifier: BSD-3-Clause
"""A sweep of `neve plan` as a picture, or as a page with the picture and its numbers.

neve plan --chombo 4x4x4 --sweep ranks=288,576 --json > sweep.json
python -m neve.plan sweep.json -o ranks.png
"""

from __future__ import annotations

import base64
import html
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _files
from ._arguments import Parser
from ._errors import CORRUPT, FAILURE, Error
from ._page import shown_lines
from ._picture import DPI, pyplot, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Sweep: TypeAlias = dict[str, Any]

COLOURS = ("#3b6fb5", "#d9822b", "#4f9d58", "#a35fa8", "#8c8c8c", "#c4504b", "#6b5b95", "#2a9d8f")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
PAGE = (".html", ".htm")


def read_sweep(path: str) -> Sweep:
    """What `neve plan --sweep ... --json` prints; `-` is the standard input."""
    try:
        sweep: Sweep = json.loads(sys.stdin.read() if path == "-" else Path(path).read_text())
        for point in sweep["points"]:
            series(point)
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", FAILURE) from None
    except (json.JSONDecodeError, KeyError, TypeError):
        told = "not what `neve plan --sweep ... --json` prints"
        raise Error(f"{path}: {told}", CORRUPT) from None
    if not sweep["points"]:
        raise Error(f"{path}: a sweep of no point")
    return sweep


def general_name(name: str) -> str:
    """The name of a strategy without the number that a sweep may vary."""
    head, _, tail = name.partition(", ")
    return f"{head}, K boxes" if tail.endswith(" boxes") else name


def series(point: dict[str, Any]) -> dict[str, tuple[float, int, int]]:
    """Of each strategy: seconds, POSIX writes, bytes of the busiest rank's largest call."""
    return {
        general_name(row["name"]): (
            float(row["seconds"]["total"]),
            int(row["posix"]["writes_with_metadata"]),
            int(row["buffer_bytes"]),
        )
        for row in point["plan"]["strategies"]
    }


def _label_narrow_range(axes: Axes) -> None:
    """Without minor ticks; a logarithmic axis of less than a decade may have no other: linear."""
    axes.minorticks_off()
    low, high = axes.get_ylim()
    if high < 10 * low:
        axes.set_yscale("linear")
        axes.minorticks_off()
        axes.ticklabel_format(axis="y", style="plain", useOffset=False)


def _lines(axes: Axes, sweep: Sweep, which: int, scale: float) -> None:
    points = [series(point) for point in sweep["points"]]
    values = [point["value"] for point in sweep["points"]]
    for i, name in enumerate(points[0]):
        axes.plot(
            values,
            [point[name][which] / scale for point in points],
            marker=MARKS[i % len(MARKS)],
            color=COLOURS[i % len(COLOURS)],
            markersize=4,
            linewidth=1.2,
            label=name,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(values, [point["text"] for point in sweep["points"]], fontsize=7)
    _label_narrow_range(axes)
    axes.set_xlabel(sweep["sweep"])
    axes.grid(linewidth=0.4, alpha=0.5)


def draw(sweep: Sweep) -> Figure:
    """Seconds and POSIX writes; of a sweep of boxes a call also the memory it takes."""
    plt = pyplot()
    panels = [(0, 1.0, "seconds, estimated"), (1, 1.0, "POSIX writes, with metadata")]
    if sweep["sweep"] == "aggregate-boxes":
        panels.append((2, float(1 << 20), "MiB of the busiest rank's largest call"))
    figure: Figure
    figure, axes = plt.subplots(
        1, len(panels), figsize=(6.2 * len(panels), 4.8), layout="constrained", squeeze=False
    )
    for place, (which, scale, label) in zip(axes[0], panels, strict=True):
        _lines(place, sweep, which, scale)
        place.set_ylabel(label)
    axes[0][0].legend(fontsize=7)
    first = sweep["points"][0]["plan"]
    figure.suptitle(f"{first['what']}; {first['mpi_io']}", fontsize=9)
    return figure


def _table(sweep: Sweep, which: int, form: str) -> str:
    points = [series(point) for point in sweep["points"]]
    names = list(points[0])
    head = "".join(f"<th>{html.escape(name)}</th>" for name in [sweep["sweep"], *names])
    rows = []
    for point, one in zip(sweep["points"], points, strict=True):
        cells = "".join(f"<td>{one[name][which]:{form}}</td>" for name in names)
        rows.append(f"<tr><td>{html.escape(point['text'])}</td>{cells}</tr>")
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def page(sweep: Sweep, figure: Figure) -> str:
    """The picture within a page of its own, the numbers below it."""
    picture = io.BytesIO()
    figure.savefig(picture, dpi=DPI, format="png")
    data = base64.b64encode(picture.getvalue()).decode()
    what = html.escape(sweep["points"][0]["plan"]["what"])
    basis = "".join(f"<li>{html.escape(x)}</li>" for x in sweep["points"][0]["plan"]["basis"])
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>neve plan</title>'
        "<style>body{font-family:sans-serif;margin:2em}td,th{padding:2px 10px;text-align:right}"
        "table{border-collapse:collapse;font-size:13px}tr:nth-child(even){background:#f3f3f3}"
        "img{max-width:100%}</style>"
        f"<h1>{what}</h1><img alt='the sweep' src='data:image/png;base64,{data}'>"
        f"<h2>Seconds, estimated</h2>{_table(sweep, 0, '.3g')}"
        f"<h2>POSIX writes, with metadata</h2>{_table(sweep, 1, 'd')}"
        f"<h2>Bytes of the busiest rank's largest call</h2>{_table(sweep, 2, 'd')}"
        f"<h2>Assumptions</h2><ul>{basis}</ul></html>\n"
    )


def plot(sweep: Sweep, out: str | Path) -> None:
    """Draw a sweep into the image or page `out`."""
    figure = draw(sweep)
    if Path(out).suffix.lower() not in PAGE:
        save(figure, out)
        return
    try:
        _files.write_bytes(Path(out), page(sweep, figure).encode())
    finally:
        pyplot().close(figure)


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(
        prog="python -m neve.plan",
        description="Draw a sweep of plans.",
        epilog="example: neve plan --chombo 4x4x4 --sweep ranks=288,576 --plot ranks.png",
    )
    parser.add_argument("sweep", help="output of `neve plan --sweep ... --json`; - for stdin")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="picture or page")
    options = parser.parse_args(arguments)
    try:
        import matplotlib  # noqa: F401 - an optional dependency; its absence is told here
    except ImportError:
        print("neve plan: --plot needs matplotlib: pip install 'neve[plot]'", file=sys.stderr)
        return FAILURE
    try:
        plot(read_sweep(options.sweep), options.output)
    except Error as error:
        print(shown_lines(f"neve plan: {error}"), file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
