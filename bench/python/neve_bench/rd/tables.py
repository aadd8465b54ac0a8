# SPDX-License-Identifier: BSD-3-Clause
"""The study as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import report
from ..amr.subject import CELLS

number = report.number
NOTE_LETTERS = 100
HOLDS = {True: "yes", False: "no", None: "equal"}


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.1f} %"


def tables(recorded: dict[str, Any], of_levels: bool) -> str:
    cells = ", ".join(f"{level['cells']} in {level['boxes']}" for level in recorded["levels"])
    parts = [
        *report.heading(recorded),
        f"{recorded['file']}: {recorded['dtype']}, cells in boxes by level: {cells}. Every way "
        f"holds the same cells: {recorded['cells']}, {CELLS[recorded['cells']]}. Ratio: raw bytes "
        "of all cells / stored bytes of all levels; PSNR over the cells held, each error in units "
        "of its level's range. Border error: the rms error beside the borders between levels over "
        "that elsewhere; border jump: the error's jump across them over that between neighbours "
        "inside.",
        *recorded["not_measured"],
        "### Ratio and mean PSNR in dB at each bound, geomean over the fields",
        _geomeans(recorded["geomeans"]),
    ]
    if recorded["conclusions"]:
        parts += ["### The paper's conclusions", _conclusions(recorded["conclusions"])]
    if recorded["regrets"]:
        parts += ["### auto against the best forced choice", _regrets(recorded["regrets"])]
    parts += ["### Each field", _rows(recorded["rows"])]
    if of_levels:
        parts += ["### Each level", _levels(recorded["rows"])]
    parts.append(
        f"Neve's bound violations {recorded['neve_violations']}, special values lost "
        f"{recorded['neve_specials_lost']}, over every row measured of its codecs."
    )
    return "\n\n".join(parts)


def _geomeans(found: Sequence[dict[str, Any]]) -> str:
    """A line each way: ratio and PSNR at each bound, and the speed over all of them."""
    bounds = list(dict.fromkeys(row["rel"] for row in found))
    lines = []
    for way in dict.fromkeys(row["way"] for row in found):
        of_way = {row["rel"]: row for row in found if row["way"] == way}
        speeds = [row["encode_mb_per_s"] for row in of_way.values() if row["encode_mb_per_s"]]
        cells = []
        for rel in bounds:
            row = of_way.get(rel)
            cells.append(f"{number(row['ratio'])} ({number(row['mean_psnr_db'])})" if row else "-")
        fields = max(row["fields"] for row in of_way.values())
        speed = number(report.geomean(speeds) if speeds else None)
        lines.append([way, str(fields), *cells, speed])
    return report.table(["way", "fields", *(f"{rel:g}" for rel in bounds), "encode MB/s"], lines)


def _conclusions(found: Sequence[dict[str, Any]]) -> str:
    lines = [
        [
            one["claim"],
            one["paper"],
            one["field"],
            one["mine"],
            one["theirs"],
            number(one["at_equal_psnr"]),
            number(one["at_equal_bound"]),
            HOLDS[one["holds"]],
        ]
        for one in found
    ]
    header = ["conclusion", "in the paper", "field", "way", "over", "ratio at equal PSNR"]
    return report.table([*header, "at equal bound", "holds"], lines)


def _regrets(found: Sequence[dict[str, Any]]) -> str:
    lines = [
        [
            row["field"],
            f"{row['rel']:g}",
            row["way"],
            row["best"],
            _percent(row["size_regret"]),
            _percent(row["time_regret"]),
        ]
        for row in found
    ]
    header = ["field", "rel", "way", "best forced", "size regret", "encoding time regret"]
    return report.table(header, lines)


def _rows(found: Sequence[dict[str, Any]]) -> str:
    header = [
        *("field", "rel", "way", "ratio", "PSNR dB", "max error / bound", "violations"),
        *("specials lost", "encode MB/s", "decode MB/s", "border error", "border jump", "note"),
    ]
    lines = []
    for row in found:
        start = [row["field"], f"{row['rel']:g}", row["way"]]
        if "note" in row:
            note = row["note"].replace("|", "/").splitlines()[0][:NOTE_LETTERS]
            lines.append([*start, *["-"] * 9, note])
            continue
        lines.append(
            [
                *start,
                number(row["ratio"]),
                number(row["psnr_db"]),
                number(row["max_error_over_bound"]),
                str(row["violations"]),
                str(row["specials_lost"]),
                number(row["encode_mb_per_s"]),
                number(row["decode_mb_per_s"]),
                number(row["artifact"]["band"]),
                number(row["artifact"]["jump"]),
                row["about"],
            ]
        )
    return report.table(header, lines)


def _levels(found: Sequence[dict[str, Any]]) -> str:
    header = ["field", "rel", "way", "level", "cells", "held", "bound", "ratio", "PSNR dB"]
    lines = []
    for row in (row for row in found if "note" not in row):
        for level in row["levels"]:
            lines.append(
                [
                    row["field"],
                    f"{row['rel']:g}",
                    row["way"],
                    str(level["level"]),
                    str(level["cells"]),
                    str(level["held_cells"]),
                    number(level["bound_abs"]),
                    number(level.get("ratio")),
                    number(level["psnr_db"]),
                ]
            )
    return report.table(header, lines)
