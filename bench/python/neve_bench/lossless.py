# SPDX-License-Identifier: BSD-3-Clause
"""The lossless table: Neve's choice, ACOMPS' nine and the peers on every variable, on one core."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from neve._errors import BOUND_VIOLATED, Error

from . import arguments, lossless_methods, report, timing, variables
from .case import Case
from .method import Method, NotApplicable, chosen_names, megabytes_per_second
from .method import measure as measure_coders

NINE = "the nine by ratio"
CHOSEN_BY_EFFORT = {f"neve {effort}" for effort in lossless_methods.EFFORTS}
YARDSTICKS = ("bzip2", "pco 8", "blosc2 zstd5 shuffle")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compresses every float and integer variable of the netCDF files and every AMR field bit "
        "for bit: with Neve's choice (by ratio at each effort, by speed), with each of the nine "
        "methods of ACOMPS, and with its peers; one core, thread CPU time, medians. Exit code 3 "
        "when a value does not come back."
    )
    parser.epilog = (
        "examples: neve bench lossless --brief --json lossless.json; neve bench lossless --only "
        "sample --repeats 1; neve bench lossless --only climate --regret --codecs neve bzip2"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=variables.GROUPS,
        help="groups of variables (climate amr; sample alone needs no data)",
    )
    parser.add_argument(
        "--match", metavar="TEXT", help="only variables whose FILE:NAME contains this text"
    )
    parser.add_argument(
        "--codecs", nargs="+", metavar="NAME", help="codecs whose name starts with one of these"
    )
    parser.add_argument(
        "--regret",
        action="store_true",
        help="try all methods on each variable: how much larger the choice is than the best",
    )
    parser.add_argument(
        "--methods",
        action="store_true",
        help="measure each of Neve's methods on everything too, at effort balanced: their speeds",
    )
    parser.add_argument("--rows", action="store_true", help="also print a line for each variable")
    parser.add_argument(
        "--brief", action="store_true", help="JSON without the variables: totals, regret, machine"
    )
    arguments.add_measurement(parser, 3)
    arguments.add_report(parser)


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def measure(method: Method, case: Case, repeats: int) -> dict[str, Any]:
    """Bytes, seconds, and whether every bit came back."""
    array = case.array
    try:
        found = measure_coders(method.prepare(case, 0), repeats, time.thread_time)
    except NotApplicable as reason:
        return {"not_for": str(reason)}
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is its row's result
        if method.is_neve:
            raise
        return {"error": f"{type(error).__name__}: {error}"}
    same = (
        found.decoded.dtype == array.dtype
        and found.decoded.shape == array.shape
        and bool(np.array_equal(_bits(found.decoded), _bits(array)))
    )
    row: dict[str, Any] = {"stored_bytes": found.stored_bytes, "is_exact": same}
    if method.explain is not None:
        row["choosing"] = method.explain(array)["cpu_seconds"]
    if repeats > 0:
        row |= {"encode_s": found.encode_seconds, "decode_s": found.decode_seconds}
    return row


def _best_of_nine(case: Case, repeats: int) -> tuple[dict[str, Any], dict[str, int]]:
    """What the best of the nine by ratio takes, and the bytes of each."""
    rows = {}
    for method in lossless_methods.NINE:
        try:
            rows[method] = measure(lossless_methods.by_method(method), case, 0)
        except Error as error:
            rows[method] = {"error": str(error)}
    sizes = {m: row["stored_bytes"] for m, row in rows.items() if "stored_bytes" in row}
    inexact = [m for m, row in rows.items() if not row.get("is_exact", True)]
    if not sizes:
        return next(iter(rows.values())), {}
    best = min(sizes, key=sizes.__getitem__)
    row = measure(lossless_methods.by_method(best), case, repeats)
    row["is_exact"] = row["is_exact"] and not inexact
    return row | {"method": best}, sizes


def _regret(case: Case, found: dict[str, dict], nine: dict[str, int]) -> dict[str, Any]:
    """The smallest that any method makes of the variable, and what choosing costs."""
    sizes = dict(nine)
    for method in lossless_methods.MODERN:
        row = measure(lossless_methods.by_method(method), case, 0)
        if "stored_bytes" in row:
            sizes[method] = row["stored_bytes"]
    if not sizes:
        return {}
    best = min(sizes, key=sizes.__getitem__)
    return {
        "method": best,
        "stored_bytes": sizes[best],
        "regret": {
            name: row["stored_bytes"] / sizes[best] - 1
            for name, row in found.items()
            if name in CHOSEN_BY_EFFORT and "stored_bytes" in row
        },
    }


def _methods(with_each: bool) -> tuple[list[Method], dict[str, str]]:
    """Neve's choices and the peers at hand; `with_each`: also each of Neve's methods. And what is
    missing.
    """
    peers, missing = lossless_methods.peers()
    listed = [*lossless_methods.chosen_by_ratio(), lossless_methods.chosen_by_speed(), *peers]
    if with_each:
        every = (*lossless_methods.MODERN, *lossless_methods.NINE)
        listed += [lossless_methods.by_method(m, "balanced") for m in every]
    return listed, missing


def _row(
    case: Case, methods: list[Method], wanted: list[str], options: argparse.Namespace
) -> dict[str, Any]:
    found: dict[str, dict] = {}
    for method in methods:
        if method.name in wanted:
            report.progress(f"{case.name}: {method.name}")
            found[method.name] = measure(method, case, options.repeats)
    row: dict[str, Any] = {
        "group": case.group,
        "variable": case.name,
        **case.type_and_shape(),
        "raw_bytes": case.array.nbytes,
        "codecs": found,
    }
    nine: dict[str, int] = {}
    if NINE in wanted or options.regret:
        report.progress(f"{case.name}: {NINE}")
        best, nine = _best_of_nine(case, options.repeats)
        if NINE in wanted:
            found[NINE] = best
    if options.regret:
        report.progress(f"{case.name}: all methods")
        row["best"] = _regret(case, found, nine)
    return row


def run(options: argparse.Namespace) -> int:
    timing.check_repeats(options.repeats)
    groups = options.only or ["climate", "amr"]
    methods, missing = _methods(options.methods)
    wanted = chosen_names([*(m.name for m in methods), NINE], options.codecs)
    rows = [
        _row(case, methods, wanted, options)
        for case in variables.load(
            groups, Path(options.data), "`neve bench lossless --only sample`"
        )
        if not options.match or options.match in case.name
    ]
    report.progress("")
    if not rows:
        raise Error(f"--match {options.match}: no variable of {', '.join(groups)} has it")
    recorded = {
        "command": _command(options, groups),
        "machine": report.machine(),
        "versions": lossless_methods.versions(),
        "settings": {m.name: m.settings for m in methods} | {NINE: "the smallest of ACOMPS' nine"},
        "missing": missing,
        "timing": f"thread CPU time of one core, median of {options.repeats}",
        "summary": summary(rows, wanted),
    }
    text = tables(recorded, rows if options.rows else [])
    if not options.brief:
        recorded["rows"] = rows
    report.deliver(options, recorded, text)
    return BOUND_VIOLATED if recorded["summary"]["inexact"] else 0


def _command(options: argparse.Namespace, groups: list[str]) -> str:
    words = ["neve bench lossless --only", *groups, "--repeats", str(options.repeats)]
    words += ["--regret"] if options.regret else []
    words += ["--methods"] if options.methods else []
    words += ["--match", options.match] if options.match else []
    return " ".join(words + (["--codecs", *options.codecs] if options.codecs else []))


def _total(rows: list[dict], name: str) -> dict[str, Any] | None:
    """Sums over the variables that the codec took and gave back."""
    taken = [r for r in rows if r["codecs"].get(name, {}).get("is_exact")]
    if not taken:
        return None
    raw = sum(r["raw_bytes"] for r in taken)
    found = [r["codecs"][name] for r in taken]
    stored = sum(f["stored_bytes"] for f in found)
    encode, decode = (sum(f[key] for f in found) for key in ("encode_s", "decode_s"))
    return {
        "variables": len(taken),
        "raw_bytes": raw,
        "stored_bytes": stored,
        "ratio": raw / stored,
        "encode_mb_per_s": megabytes_per_second(raw, encode),
        "decode_mb_per_s": megabytes_per_second(raw, decode),
        "choosing_share": _choosing_share([f["choosing"] for f in found if "choosing" in f]),
    }


def _choosing_share(found: list[dict[str, float]]) -> float | None:
    """Of the encoder's time: samples, estimates and candidates that lost."""
    spent = sum(sum(seconds.values()) for seconds in found)
    if spent <= 0:
        return None
    return sum(seconds["weigh"] + seconds["losers"] for seconds in found) / spent


def _smaller(rows: list[dict], name: str, yardstick: str) -> float | None:
    """By how many percent, over the variables that both took."""
    both = [
        r["codecs"]
        for r in rows
        if all(r["codecs"].get(n, {}).get("is_exact") for n in (name, yardstick))
    ]
    if not both:
        return None
    ours, theirs = (sum(c[n]["stored_bytes"] for c in both) for n in (name, yardstick))
    return 100 * (1 - ours / theirs)


def summary(rows: list[dict], names: list[str]) -> dict[str, Any]:
    groups = {"all": rows}
    for group in dict.fromkeys(r["group"] for r in rows):
        groups[group] = [r for r in rows if r["group"] == group]
    measured = [
        (f"{r['variable']}: {name}", found) for r in rows for name, found in r["codecs"].items()
    ]
    result: dict[str, Any] = {
        "variables": len(rows),
        "totals": {group: _totals(of_group, names) for group, of_group in groups.items()},
        "inexact": [where for where, found in measured if not found.get("is_exact", True)],
        "errors": [f"{where}: {found['error']}" for where, found in measured if "error" in found],
    }
    tried = [r for r in rows if r.get("best")]
    if tried:
        best = sum(r["best"]["stored_bytes"] for r in tried)
        result["regret"] = {
            name: sum(r["codecs"][name]["stored_bytes"] for r in tried) / best - 1
            for name in names
            if name in CHOSEN_BY_EFFORT
        }
    return result


def _totals(rows: list[dict], names: list[str]) -> dict[str, dict[str, Any]]:
    """By codec; those that no variable went through are left out."""
    yardsticks = [name for name in YARDSTICKS if name in names]
    found = {}
    for name in names:
        total = _total(rows, name)
        if total is not None:
            smaller = {other: _smaller(rows, name, other) for other in yardsticks}
            found[name] = {**total, "percent_smaller_than": smaller}
    return found


def tables(recorded: dict[str, Any], rows: list[dict]) -> str:
    parts = report.heading(recorded)
    for group, totals in recorded["summary"]["totals"].items():
        parts += [f"### {group}", _totals_table(totals)]
    parts.append(_notes(recorded))
    if rows:
        parts += ["### Variables, ratios", _rows_table(rows)]
    return "\n\n".join(part for part in parts if part)


def _totals_table(totals: dict[str, dict]) -> str:
    yardsticks = list(next(iter(totals.values()))["percent_smaller_than"]) if totals else []
    header = [
        *("codec", "variables", "bytes", "ratio", "encode MB/s", "decode MB/s", "choosing %"),
        *(f"% smaller than {name}" for name in yardsticks),
    ]
    lines = [
        [
            name,
            str(total["variables"]),
            str(total["stored_bytes"]),
            report.number(total["ratio"]),
            report.number(total["encode_mb_per_s"]),
            report.number(total["decode_mb_per_s"]),
            "-" if total["choosing_share"] is None else f"{100 * total['choosing_share']:.1f}",
            *(
                "-" if percent is None else f"{percent:.1f}"
                for percent in total["percent_smaller_than"].values()
            ),
        ]
        for name, total in totals.items()
    ]
    return report.table(header, lines)


def _notes(recorded: dict[str, Any]) -> str:
    found = recorded["summary"]
    lines = [f"- Missing: {name} ({reason})" for name, reason in recorded["missing"].items()]
    lines += [f"- NOT BIT FOR BIT: {what}" for what in found["inexact"]]
    lines += [f"- Failed: {what}" for what in found["errors"]]
    if not found["inexact"]:
        lines.append("- Every value of every variable came back bit for bit.")
    for name, regret in found.get("regret", {}).items():
        lines.append(
            f"- Regret of {name} against the best method of each variable: {100 * regret:.2f} %"
        )
    return "\n".join(lines)


def _rows_table(rows: list[dict]) -> str:
    names = list(dict.fromkeys(name for r in rows for name in r["codecs"]))
    lines = []
    for row in rows:
        ratios = [
            report.number(row["raw_bytes"] / found["stored_bytes"])
            if "stored_bytes" in found
            else "-"
            for found in (row["codecs"].get(name, {}) for name in names)
        ]
        lines.append([row["variable"], row["dtype"], str(row["raw_bytes"]), *ratios])
    return report.table(["variable", "dtype", "bytes", *names], lines)
