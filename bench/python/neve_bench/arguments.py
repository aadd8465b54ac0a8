# SPDX-License-Identifier: BSD-3-Clause
"""Options that mean the same in all benches."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# As bench/command/report.cpp has them.
PICTURES = (".png", ".pdf", ".svg", ".jpg", ".jpeg")


class Flat(argparse.Action):
    """Values joined by commas, apart, or both: each word's are a list."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, list(dict.fromkeys(one for word in values for one in word)))


def relative_bounds(text: str) -> list[float]:
    """Of one word: "1e-3" or "1e-3,1e-4"."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or not all(0 < value < 1 for value in values):
        raise argparse.ArgumentTypeError(
            f"'{text}'; allowed are numbers between 0 and 1, apart or joined by commas (a FILE "
            "goes before them, or behind --)"
        )
    return values


def add_bounds(group: Any, option: str, default: Sequence[float], what: str) -> None:
    """A list of relative bounds; `what` they are of, as the help says it."""
    group.add_argument(
        option,
        nargs="+",
        type=relative_bounds,
        action=Flat,
        default=list(default),
        metavar="REL",
        help=f"{what} ({' '.join(f'{bound:g}' for bound in default)})",
    )


def add_measurement(
    parser: argparse.ArgumentParser,
    repeats: int,
    *,
    data: bool = True,
    time_limit: float | None = None,
    scratch: bool = False,
) -> None:
    """--repeats, and those of --data, --time-limit and --scratch that the bench has."""
    group = parser.add_argument_group("measurement")
    group.add_argument(
        "--repeats",
        type=int,
        default=repeats,
        metavar="N",
        help=f"timed runs; the median counts ({repeats})",
    )
    if time_limit is not None:
        group.add_argument(
            "--time-limit",
            type=float,
            default=time_limit,
            metavar="SECONDS",
            help=f"limit for one run ({time_limit:g})",
        )
    if data:
        group.add_argument(
            "--data",
            default="../shared/data",
            metavar="DIR",
            help="folder of the real data (../shared/data)",
        )
    if scratch:
        group.add_argument(
            "--scratch", metavar="DIR", help="folder for the files (the system's temporary folder)"
        )


def add_report(parser: argparse.ArgumentParser, pictures: bool = False) -> None:
    """-o and --json, which report.deliver heeds; with `pictures` also --plot, a folder."""
    group = parser.add_argument_group("report")
    group.add_argument(
        "-o",
        "--output",
        type=_report_beside_pictures if pictures else _report,
        metavar="FILE",
        help="file for the report, as Markdown, as it is printed",
    )
    group.add_argument(
        "--json",
        metavar="FILE",
        help="file for everything measured; - for stdout, instead of the tables",
    )
    group.add_argument("--markdown", action=_Renamed, nargs="?", help=argparse.SUPPRESS)
    if pictures:
        group.add_argument("--plot", metavar="DIR", help="folder for the pictures (none)")


def add_removed(parser: argparse.ArgumentParser, instead: Mapping[str, str]) -> None:
    """Options that there are no more: whoever uses one is told what serves instead."""
    for option, text in instead.items():
        parser.add_argument(option, action=_Removed, nargs="*", const=text, help=argparse.SUPPRESS)


class _Removed(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser.error(f"{self.option_strings[0]}: {self.const}")


class _Renamed(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser.error("--markdown: the report is written by -o FILE")


def _report(name: str) -> str:
    if Path(name).suffix.lower() in PICTURES:
        raise argparse.ArgumentTypeError(f"'{name}' is a picture's name; -o is the report's file")
    if name and Path(name).is_dir():
        raise argparse.ArgumentTypeError(f"'{name}' is a folder; -o is the report's file")
    return name


def _report_beside_pictures(name: str) -> str:
    try:
        _report(name)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}; --plot DIR takes pictures") from None
    if not Path(name).suffix and not Path(name).exists():
        raise argparse.ArgumentTypeError(
            f"'{name}' has no suffix, as a folder; -o is the report's file (report.md); "
            "--plot DIR takes pictures"
        )
    return name
