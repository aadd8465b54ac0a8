# SPDX-License-Identifier: BSD-3-Clause
"""The picture of `neve bench ensemble`: what was written, where the time went, errors and spread.

`neve bench ensemble --plot FILE` calls it with the result on its standard input.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from neve._arguments import Parser
from neve._errors import CORRUPT, FAILURE, Error
from neve._picture import pyplot, save
from neve._tables import counted

KINDS = (  # of bytes: members' files, what conversion makes of them, what the LETKF writes
    ("forecast_bytes", "forecasts", "#3b6fb5"),
    ("converted_bytes", "converted", "#d9822b"),
    ("revised_bytes", "revised", "#4f9d58"),
)
PHASES = (
    ("model", "#8c8c8c"),
    ("preprocessing", "#a35fa8"),
    ("conversion", "#d9822b"),
    ("write", "#3b6fb5"),
    ("read", "#6fa8dc"),
    ("letkf", "#4f9d58"),
)
BACKGROUND, ANALYSIS = "#3b6fb5", "#4f9d58"
ERRORS = (
    ("free", "free run", "#8c8c8c"),
    ("background", "background", BACKGROUND),
    ("analysis", "analysis", ANALYSIS),
)
SPREADS = (
    ("background", "error of the background", BACKGROUND),
    ("background_spread", "spread of the background", "#9dc3ea"),
    ("analysis", "error of the analysis", ANALYSIS),
    ("analysis_spread", "spread of the analysis", "#a9d8ae"),
)
MIB = 1 << 20


def read_result(path: str) -> dict:
    """A result of `neve bench ensemble --json`; `-` is the standard input."""
    try:
        result = json.loads(sys.stdin.read() if path == "-" else Path(path).read_text())
        if not result["methods"] or not result["cycles"] or "storage_MBps" not in result:
            raise KeyError("methods")
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", FAILURE) from None
    except (json.JSONDecodeError, KeyError, TypeError):
        raise Error(f"{path}: not what `neve bench ensemble --json` prints", CORRUPT) from None
    return result


def _legend(axes, handles: list) -> None:
    """Beside the axes, where it hides nothing."""
    axes.legend(handles=handles, fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))


def _stack(axes, names: list[str], parts: list[tuple], unit: str) -> None:
    """Bars of parts (colour, hatch, heights), one on another, and their sums."""
    places = range(len(names))
    bottom = [0.0] * len(names)
    for colour, hatch, heights in parts:
        axes.bar(
            places,
            heights,
            0.7,
            bottom=bottom,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
        )
        bottom = [b + h for b, h in zip(bottom, heights, strict=True)]
    for place, height in enumerate(bottom):
        axes.text(place, height, f"{height:.3g}", ha="center", va="bottom", fontsize=8)
    axes.set_xticks(places, names, rotation=30, ha="right", fontsize=8)
    axes.set_ylim(0, max(bottom) * 1.12)
    axes.set_ylabel(unit)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)


def _patch(**properties):
    from matplotlib.patches import Patch

    return Patch(**properties)


def _line(**properties):
    from matplotlib.lines import Line2D

    return Line2D([], [], **properties)


def _sizes(axes, result: dict) -> None:
    methods = result["methods"]
    parts = [(c, None, [method[key] / MIB for method in methods]) for key, _, c in KINDS]
    _stack(axes, [method["name"] for method in methods], parts, "MiB")
    axes.set_title(f"output size; values alone {result['raw_bytes'] / MIB:.3g} MiB", fontsize=10)
    _legend(axes, [_patch(facecolor=colour, label=label) for _, label, colour in KINDS])


def _times(axes, result: dict) -> None:
    """Seconds of each phase; what imitated storage adds is hatched."""
    methods = result["methods"]
    parts = []
    handles = [_patch(facecolor=colour, label=phase) for phase, colour in PHASES]
    for phase, colour in PHASES:
        parts.append((colour, None, [method["seconds"][phase] for method in methods]))
        if result["storage_MBps"] is not None:
            added = [method["imitated_seconds"][phase] for method in methods]
            parts.append((colour, "///", added))
    if result["storage_MBps"] is not None:
        label = "of it imitated storage"
        handles.append(_patch(facecolor="#bbbbbb", edgecolor="white", hatch="///", label=label))
    _stack(axes, [method["name"] for method in methods], parts, "seconds")
    title = f"end-to-end time, {counted(len(result['cycles']), 'cycle')}"
    if result["storage_MBps"] is not None:
        title += f"; with imitated storage of {result['storage_MBps']:g} MB/s"
    first = methods[0]
    if first["conversion_share"] > 0:
        share = f"{100 * first['conversion_share']:.0f} %"
        title += f"\nconversion is {share} of {first['name']}"
    axes.set_title(title, fontsize=10)
    _legend(axes, handles)


def _curves(axes, result: dict, states: tuple, unit: str) -> None:
    """Of each variable, relative to the free run's first error, so that all share an axis."""
    cycles = range(1, len(result["cycles"]) + 1)
    first = result["cycles"][0]["free"]
    # Lines and dots: of one cycle there is no line.
    styles = dict(zip(first, (("-", "o"), ("--", "s"), ("-.", "^"), (":", "D")), strict=True))
    for variable, (line, dot) in styles.items():
        for state, _, colour in states:
            values = [c[state][variable] / first[variable] for c in result["cycles"]]
            axes.plot(cycles, values, line, color=colour, marker=dot, markersize=4)
    axes.set_xlabel("cycle")
    axes.set_xticks(list(cycles))
    axes.set_ylabel(unit)
    axes.set_ylim(bottom=0)
    axes.grid(linewidth=0.4, alpha=0.5)
    handles = [_line(color=colour, label=label) for _, label, colour in states]
    handles += [
        _line(color="black", linestyle=line, marker=dot, markersize=4, label=variable)
        for variable, (line, dot) in styles.items()
    ]
    _legend(axes, handles)


def plot(result: dict, out: str | Path) -> None:
    """Draws the result into a file."""
    figure, ((sizes, times), (errors, spread)) = pyplot().subplots(
        2, 2, figsize=(14, 9), layout="constrained"
    )
    _sizes(sizes, result)
    _times(times, result)
    unit = "over the error of the free run after a cycle"
    _curves(errors, result, ERRORS, unit)
    errors.set_title("root mean square error of the members' mean against the truth", fontsize=10)
    _curves(spread, result, SPREADS, unit)
    spread.set_title("error of the mean and spread of the members around it", fontsize=10)
    save(figure, out)


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="neve_bench.ensemble", description=__doc__.split("\n")[0])
    parser.add_argument("result", help="JSON of neve bench ensemble; - for standard input")
    parser.add_argument("--plot", required=True, metavar="OUT.png")
    options = parser.parse_args(arguments)
    try:
        plot(read_result(options.result), options.plot)
    except ImportError as error:
        print(f"neve bench ensemble: a picture needs matplotlib: {error}", file=sys.stderr)
        return FAILURE
    except Error as error:
        print(f"neve bench ensemble: {error}", file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
