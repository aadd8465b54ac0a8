# SPDX-License-Identifier: BSD-3-Clause
"""The distribution of write sizes at the MPI-IO and the POSIX level, several traces side by side.

neve trace report a.json b.json --json > report.json; python -m neve.trace report.json -o sizes.png
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ._arguments import Parser
from ._errors import CORRUPT, FAILURE, Error
from ._picture import pyplot, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Trace: TypeAlias = dict[str, Any]  # of a report

BINS = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)
LEVELS = (("mpiio", "MPIIO_SIZE_WRITE_AGG_", "MPI-IO"), ("posix", "POSIX_SIZE_WRITE_", "POSIX"))
COLOURS = ("#3b6fb5", "#d9822b", "#4f9d58", "#a35fa8", "#8c8c8c", "#c4504b")
GROUP_WIDTH = 0.84  # of the place a bin has
LABELLED_BARS = 40  # a picture of more bars has no room for their counts


def read_report(path: str) -> list[Trace]:
    """The traces of a report; `-` is the standard input."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text()
        traces: list[Trace] = json.loads(text)["traces"]
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", FAILURE) from None
    except (json.JSONDecodeError, KeyError, TypeError):
        raise Error(f"{path}: not what `neve trace report --json` prints", CORRUPT) from None
    if not traces:
        raise Error(f"{path}: a report of no trace")
    return traces


def bin_counts(trace: Trace, level: str, prefix: str) -> list[int]:
    counters: dict[str, int] = trace["total"][level]["counters"]
    return [counters[prefix + name] for name in BINS]


def _panel(axes: Axes, traces: list[Trace], level: str, prefix: str, name: str) -> None:
    counts = [bin_counts(trace, level, prefix) for trace in traces]
    width = GROUP_WIDTH / len(traces)
    shown_bars = sum(count > 0 for one in counts for count in one)
    for i, (trace, one) in enumerate(zip(traces, counts, strict=True)):
        places = [b - GROUP_WIDTH / 2 + (i + 0.5) * width for b in range(len(BINS))]
        bars = axes.bar(
            places, one, width * 0.92, label=trace["label"], color=COLOURS[i % len(COLOURS)]
        )
        if shown_bars <= LABELLED_BARS:
            labels = [f"{count:,}" if count else "" for count in one]
            axes.bar_label(bars, labels=labels, fontsize=6, padding=1, rotation=90)
    largest = max((max(one) for one in counts), default=0)
    axes.set_ylim(0.5, max(10, largest * 12))  # room for the labels; a count of 1 is seen
    axes.set_yscale("log")
    axes.set_xticks(
        range(len(BINS)), [b.replace("_PLUS", "+").replace("_", "-") for b in BINS], fontsize=7
    )
    axes.set_xlabel(f"size of a write at the {name} level, bytes")
    axes.set_ylabel("writes")
    calls = ", ".join(f"{t['label']} {sum(one):,}" for t, one in zip(traces, counts, strict=True))
    axes.set_title(f"{name}: {calls}", fontsize=9, wrap=True)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)


def plot(traces: list[Trace], out: str | Path) -> None:
    """Draw the write sizes of the traces of a report into the image `out`."""
    plt = pyplot()
    figure, panels = plt.subplots(1, 2, figsize=(13, 4.8), layout="constrained")
    for axes, (level, prefix, name) in zip(panels, LEVELS, strict=True):
        _panel(axes, traces, level, prefix, name)
    panels[0].legend(fontsize=8)
    save(figure, out)


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(
        prog="python -m neve.trace",
        description="Draw the distribution of write sizes of a report's traces.",
        epilog="example: neve trace report a.json b.json --plot sizes.png",
    )
    parser.add_argument("report", help="output of `neve trace report --json`; - for stdin")
    parser.add_argument("-o", "--output", required=True, metavar="OUT.png", help="picture to write")
    options = parser.parse_args(arguments)
    try:
        import matplotlib  # noqa: F401 - an optional dependency; its absence is told here
    except ImportError:
        print("neve trace: --plot needs matplotlib: pip install 'neve[plot]'", file=sys.stderr)
        return FAILURE
    try:
        plot(read_report(options.report), options.output)
    except Error as error:
        print(f"neve trace: {error}", file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
