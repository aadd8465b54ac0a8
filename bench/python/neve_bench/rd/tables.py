# SPDX-License-Identifier: BSD-3-Clause
"""The study as Markdown."""

from __future__ import annotations

from typing import Any

from .. import covered, report
from . import methods

number = report.number


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.1f} %"


def tables(recorded: dict[str, Any]) -> str:
    cells = ", ".join(f"{level['cells']} in {level['boxes']}" for level in recorded["levels"])
    parts = [
        *report.heading(recorded),
        f"{recorded['file']}: {recorded['dtype']}, cells in boxes by level: {cells}. Ratio: raw "
        "bytes of all cells / stored bytes of all levels; PSNR over the cells held, each error in "
        "units of its level's range. Cells that a finer level covers: Neve's methods with "
        f"`--covered {recorded.get('covered', covered.DEFAULT)}`, {methods.AMREX_1D} stores all.",
        *recorded["not_measured"],
        "### Geomean over the fields",
        _geomeans(recorded["geomeans"]),
        "### Ratios at equal PSNR",
        _equal_psnr(recorded["equal_psnr"]),
        "### auto against the best forced choice of the codecs its effort allows",
        _regrets(recorded),
    ]
    if recorded["write_times"]:
        parts += ["### Parts of a write, ms", _write_times(recorded["write_times"])]
    parts += ["### Each field", _rows(recorded["rows"])]
    parts.append(
        f"Neve's bound violations {recorded['neve_violations']}, special values lost "
        f"{recorded['neve_specials_lost']}, over every row measured."
    )
    return "\n\n".join(parts)


def _geomeans(found: list[dict[str, Any]]) -> str:
    lines = [
        [
            row["method"],
            f"{row['rel']:g}",
            str(row["fields"]),
            number(row["ratio"]),
            number(row["mean_psnr_db"]),
            number(row["encode_mb_per_s"]),
        ]
        for row in found
    ]
    return report.table(["method", "rel", "fields", "ratio", "mean PSNR dB", "encode MB/s"], lines)


def _equal_psnr(found: list[dict[str, Any]]) -> str:
    columns = {
        "auto_max_over_amrex_1d": f"auto max / {methods.AMREX_1D}",
        "auto_max_over_sle": "auto max / SLE",
        "sle_over_merged": "SLE / merged",
        "sle_over_fixed_block": "SLE / block 6",
    }
    lines = [[row["field"], *(number(row[key]) for key in columns)] for row in found]
    means = [report.geomean(row[key] for row in found if row[key]) for key in columns]
    lines.append(["geomean", *(number(None if mean != mean else mean) for mean in means)])
    return report.table(["field", *columns.values()], lines)


def _regrets(recorded: dict[str, Any]) -> str:
    times = {(t["field"], t["rel"], t["effort"]): t for t in recorded["time_regrets"]}
    lines = []
    for row in recorded["size_regrets"]:
        time = times.get((row["field"], row["rel"], row["effort"]))
        lines.append(
            [
                row["field"],
                f"{row['rel']:g}",
                row["effort"],
                row["best"],
                _percent(row["size_regret"]),
                _percent(time["time_regret"] if time else None),
            ]
        )
    header = ["field", "rel", "effort", "best forced", "size regret", "encoding time regret"]
    return report.table(header, lines)


def _write_times(found: list[dict[str, Any]]) -> str:
    stages = list(found[0]["seconds"])
    lines = [
        [
            row["strategy"],
            str(row["ranks"]),
            str(row["stored_bytes"]),
            *(number(1e3 * row["seconds"][stage]) for stage in stages),
        ]
        for row in found
    ]
    return report.table(["strategy", "ranks", "stored bytes", *stages], lines)


def _rows(found: list[dict[str, Any]]) -> str:
    header = [
        *("field", "rel", "method", "ratio", "bits per cell", "PSNR dB", "max error / bound"),
        *("violations", "specials lost", "encode MB/s", "note"),
    ]
    lines = []
    for row in found:
        start = [row["field"], f"{row['rel']:g}", row["method"]]
        if "ratio" not in row:
            lines.append([*start, *["-"] * 7, row["note"].replace("|", "/")[:80]])
            continue
        lines.append(
            [
                *start,
                number(row["ratio"]),
                number(row["bits_per_cell"]),
                number(row["psnr_db"]),
                number(row["max_error_over_bound"]),
                str(row["violations"]),
                str(row["specials_lost"]),
                number(row["encode_mb_per_s"]),
                "",
            ]
        )
    return report.table(header, lines)
