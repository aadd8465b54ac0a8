# SPDX-License-Identifier: BSD-3-Clause
"""The picture of `neve bench ensemble`: what was written, where the time went, and the errors.

`neve bench ensemble --plot FILE` calls it with the result on its standard input.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from neve._arguments import Parser
from neve._errors import CORRUPT, FAILURE, Error
from neve._picture import pyplot, save

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
STATES = (("free", "free run", "#8c8c8c"), ("background", "background", "#3b6fb5"))
ANALYSIS_COLOUR = "#4f9d58"
MIB = 1 << 20


def read_result(path: str) -> dict:
    """A result of `neve bench ensemble --json`; `-` is the standard input."""
    try:
        result = json.loads(sys.stdin.read() if path == "-" else Path(path).read_text())
        if not result["methods"] or not result["cycles"]:
            raise KeyError("methods")
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", FAILURE) from None
    except (json.JSONDecodeError, KeyError, TypeError):
        raise Error(f"{path}: not what `neve bench ensemble --json` prints", CORRUPT) from None
    return result


def _stack(axes, names: list[str], parts: list[tuple[str, str, list[float]]], unit: str) -> None:
    bottom = [0.0] * len(names)
    for label, colour, heights in parts:
        axes.bar(names, heights, 0.7, bottom=bottom, label=label, color=colour)
        bottom = [b + h for b, h in zip(bottom, heights, strict=True)]
    for place, height in enumerate(bottom):
        axes.text(place, height, f"{height:.3g}", ha="center", va="bottom", fontsize=8)
    axes.set_ylim(0, max(bottom) * 1.12)
    axes.set_ylabel(unit)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8)


def _errors(axes, result: dict) -> None:
    cycles = range(1, len(result["cycles"]) + 1)
    # Relative to the free run's first error, so that all variables share an axis.
    first = result["cycles"][0]["free"]
    for variable, style in zip(first, ("-", "--", "-.", ":"), strict=True):
        for state, label, colour in (*STATES, ("analysis", "analysis", ANALYSIS_COLOUR)):
            values = [c[state][variable] / first[variable] for c in result["cycles"]]
            axes.plot(cycles, values, style, color=colour, marker=".", label=f"{variable} {label}")
    axes.set_xlabel("cycle")
    axes.set_xticks(list(cycles))
    axes.set_ylabel("error over that of the free run after a cycle")
    axes.set_ylim(bottom=0)
    axes.grid(linewidth=0.4, alpha=0.5)
    axes.legend(fontsize=6, ncols=2)


def plot(result: dict, out: str | Path) -> None:
    """Draws the result into a file."""
    figure, (sizes, times, errors) = pyplot().subplots(
        1, 3, figsize=(15, 4.6), layout="constrained"
    )
    methods = result["methods"]
    names = [method["name"] for method in methods]
    _stack(
        sizes,
        names,
        [(n, c, [method[key] / MIB for method in methods]) for key, n, c in KINDS],
        "MiB",
    )
    sizes.set_title(f"output size; values alone {result['raw_bytes'] / MIB:.3g} MiB", fontsize=10)
    _stack(
        times,
        names,
        [(p, c, [method["seconds"][p] for method in methods]) for p, c in PHASES],
        "seconds",
    )
    times.set_title(f"end-to-end time, {len(result['cycles'])} cycles", fontsize=10)
    _errors(errors, result)
    errors.set_title("root mean square error against the truth", fontsize=10)
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
