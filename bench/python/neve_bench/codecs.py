# SPDX-License-Identifier: BSD-3-Clause
"""The codec table: every contender on every field, in the same run."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import contenders, fields, report, trial

GROUP_TITLES = {
    "reference": "Six reference fields",
    "turbulence": "Generated cubes",
    "masked": "Masked ocean fields (bound relative to the valid range)",
    "special": "Special values",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only",
        nargs="+",
        choices=fields.GROUPS,
        default=list(fields.GROUPS),
        help="groups of fields (all)",
    )
    parser.add_argument(
        "--codecs",
        nargs="+",
        metavar="NAME",
        help="contenders whose name starts with one of these (all)",
    )
    parser.add_argument("--data", default="../shared/data", help="folder of the real fields")
    parser.add_argument(
        "--repeats", type=int, default=5, help="timed runs a codec and field; the median counts"
    )
    parser.add_argument(
        "--time-limit", type=float, default=180, metavar="SECONDS", help="for one codec and field"
    )
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="for the threaded row"
    )
    parser.add_argument("--json", metavar="FILE", help="write everything measured")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables")


def run(options: argparse.Namespace) -> int:
    chosen = contenders.contenders(options.threads)
    if options.codecs:
        wanted = tuple(name.lower() for name in options.codecs)
        chosen = [c for c in chosen if c.name.lower().startswith(wanted)]
        if not chosen:
            names = ", ".join(c.name for c in contenders.contenders(options.threads))
            print(
                f"neve bench: --codecs {' '.join(options.codecs)}: no such contender; there are "
                f"{names}",
                file=sys.stderr,
            )
            return 2

    rows = []
    for field in fields.load(options.only, Path(options.data)):
        bound_abs = field.bound_abs()
        repeats = 0 if field.group == "special" else options.repeats
        for contender in chosen:
            if not contender.runs_on(field):
                continue
            _progress(f"{field.name} rel={field.rel:g}: {contender.name}")
            result = trial.run(contender, field, bound_abs, repeats, options.time_limit)
            rows.append(
                {
                    "group": field.group,
                    "field": field.name,
                    "rel": field.rel,
                    "bound_abs": bound_abs,
                    "dtype": str(field.array.dtype),
                    "shape": list(field.array.shape),
                    "codec": contender.name,
                    **result,
                }
            )
    _progress("")
    recorded = {
        "command": _command(options),
        "machine": report.machine(),
        "versions": contenders.versions(),
        "settings": {c.name: c.settings for c in chosen},
        "timing": f"median of {options.repeats}; CPU time for one thread, wall time for several",
        "summary": summary(rows),
        "rows": rows,
    }
    text = tables(recorded)
    print(text)
    report.write_json(options.json, recorded)
    report.write_text(options.markdown, text + "\n")
    # A measurement that finds Neve's promise broken is not a success.
    return (
        3
        if recorded["summary"]["neve_violations"] or recorded["summary"]["neve_specials_lost"]
        else 0
    )


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _command(options: argparse.Namespace) -> str:
    words = [
        "neve bench codecs",
        "--only",
        *options.only,
        "--repeats",
        str(options.repeats),
    ]
    return " ".join(words + (["--codecs", *options.codecs] if options.codecs else []))


def _holds(row: dict[str, Any]) -> bool:
    return "ratio" in row and row["violations"] == 0 and row["specials_lost"] == 0


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the targets of the project are stated in."""

    def select(**wanted: Any) -> list[dict[str, Any]]:
        return [r for r in rows if all(r[k] == v for k, v in wanted.items())]

    result: dict[str, Any] = {}
    codecs = list(dict.fromkeys(r["codec"] for r in rows))
    geomeans: dict[str, dict[str, float]] = {}
    for rel in (1e-3, 1e-4):
        for codec in codecs:
            reference = select(group="reference", rel=rel, codec=codec)
            if reference and all("ratio" in r for r in reference):
                geomeans.setdefault(f"{rel:g}", {})[codec] = report.geomean(
                    r["ratio"] for r in reference
                )
    result["reference_geomean_ratio"] = geomeans

    speed = {}
    for field in dict.fromkeys(r["field"] for r in select(group="turbulence", rel=1e-3)):
        by_codec = {
            r["codec"]: r for r in select(group="turbulence", rel=1e-3, field=field) if "ratio" in r
        }
        if "neve" not in by_codec:
            continue
        mine = by_codec["neve"]
        speed[field] = {
            codec: {
                "ratio": mine["ratio"] / r["ratio"],
                "encode": mine["encode_mb_per_s"] / r["encode_mb_per_s"],
                "decode": mine["decode_mb_per_s"] / r["decode_mb_per_s"],
            }
            for codec, r in by_codec.items()
            if not codec.startswith("neve")
        }
    result["neve_over_peer"] = speed

    masked = {}
    for field in dict.fromkeys(r["field"] for r in select(group="masked")):
        of_field = select(group="masked", field=field)
        mine = [r["ratio"] for r in of_field if r["codec"] == "neve" and _holds(r)]
        bounded = [r for r in of_field if r["codec"].startswith(("SZ3", "ZFP"))]
        # Holding the bound on the ocean is enough here: few peers keep what stands for land.
        peers = [r["ratio"] for r in bounded if "ratio" in r and r["violations"] == 0]
        masked[field] = {
            "neve": mine[0] if mine else None,
            "best_peer_that_holds": max(peers) if peers else None,
            "neve_over_best": mine[0] / max(peers) if mine and peers else None,
        }
    result["masked"] = masked
    mine = [r for r in rows if r["codec"].startswith("neve")]
    result["neve_violations"] = sum(r.get("violations", 1) for r in mine)
    result["neve_specials_lost"] = sum(r.get("specials_lost", 1) for r in mine)
    return result


def tables(recorded: dict[str, Any]) -> str:
    machine = recorded["machine"]
    parts = [
        f"`{recorded['command']}`",
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}; "
        + ", ".join(f"{name} {version}" for name, version in recorded["versions"].items())
        + f"; {recorded['timing']}.",
    ]
    for group, title in GROUP_TITLES.items():
        rows = [r for r in recorded["rows"] if r["group"] == group]
        if rows:
            parts += [f"### {title}", _group_table(rows)]
    parts += ["### In short", _summary_text(recorded["summary"])]
    return "\n\n".join(parts)


def _group_table(rows: Iterable[dict[str, Any]]) -> str:
    header = [
        *("field", "rel", "codec", "ratio", "encode MB/s", "decode MB/s"),
        *("max error / bound", "PSNR dB", "violations", "specials lost", "note"),
    ]
    lines = []
    for row in rows:
        start = [row["field"], f"{row['rel']:g}", row["codec"]]
        if "ratio" not in row:
            reason = row.get("error") or f"not run: {row['skipped']}"
            lines.append([*start, *["-"] * 7, reason.replace("|", "/")[:80]])
            continue
        over = row["max_abs_error"] / row["bound_abs"] if row["bound_abs"] else row["max_abs_error"]
        lines.append(
            [
                *start,
                report.number(row["ratio"]),
                report.number(row.get("encode_mb_per_s")),
                report.number(row.get("decode_mb_per_s")),
                report.number(over),
                report.number(row["psnr_db"]),
                str(row["violations"]),
                f"{row['specials_lost']}/{row['specials']}",
                "",
            ]
        )
    return report.table(header, lines)


def _summary_text(found: dict[str, Any]) -> str:
    lines = []
    for rel, by_codec in found["reference_geomean_ratio"].items():
        values = ", ".join(f"{codec} {report.number(value)}" for codec, value in by_codec.items())
        lines.append(f"- Geomean ratio of the six at rel {rel}: {values}")
    for field, peers in found["neve_over_peer"].items():
        for peer, factor in peers.items():
            lines.append(
                f"- {field}, Neve over {peer}: ratio x{report.number(factor['ratio'])}, "
                f"encode x{report.number(factor['encode'])}, decode "
                f"x{report.number(factor['decode'])}"
            )
    for field, entry in found["masked"].items():
        lines.append(
            f"- {field}: Neve {report.number(entry['neve'])}, best of SZ3 and ZFP that holds its "
            "bound "
            f"{report.number(entry['best_peer_that_holds'])}"
        )
    lines.append(
        f"- Neve's bound violations {found['neve_violations']}, special values lost "
        f"{found['neve_specials_lost']}"
    )
    return "\n".join(lines)
