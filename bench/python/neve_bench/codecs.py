# SPDX-License-Identifier: BSD-3-Clause
"""The codec table: every method on every field, in the same run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from neve._errors import BOUND_VIOLATED, Error

from . import arguments, codec_methods, fields, report, timing, trial, wide
from .figures import check_at_hand
from .method import chosen_names

GROUP_TITLES = {
    "reference": "Six reference fields",
    "turbulence": "Generated cubes",
    "masked": "Masked ocean fields (bound relative to the valid range)",
    "special": "Special values",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compresses every field with every codec of Neve and with its peers (SZ3, zfp, "
        "fpzip and others), in one run: ratio, speed, errors, PSNR."
    )
    parser.epilog = (
        "examples: neve bench codecs --only reference --codecs neve SZ3; neve bench codecs "
        "--json codecs.json -o codecs.md; neve bench codecs --wide --repeats 1 --plot pictures"
    )
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
        help="codecs whose name starts with one of these (all)",
    )
    parser.add_argument(
        "--threads",
        type=int,
        help="threads of the threaded row (as many as there are cores); not with --wide",
    )
    wide_group = parser.add_argument_group("every kind of data")
    wide_group.add_argument(
        "--wide",
        action="store_true",
        help="instead of the groups: lines to four dimensions, f32 and f64, smooth, rough and on "
        "lattices, under bounds from 1e-1 to 1e-7; all efforts, SZ3, ZFP, SPERR and pco",
    )
    wide_group.add_argument(
        "--generated", action="store_true", help="with --wide: only arrays that need no --data"
    )
    arguments.add_measurement(parser, 5, time_limit=180)
    arguments.add_report(parser, pictures=True)


def _check(options: argparse.Namespace) -> None:
    """What would do nothing is refused."""
    if options.wide and options.only != list(fields.GROUPS):
        raise Error("--only has no meaning with --wide")
    if options.wide and options.threads is not None:
        raise Error("--threads has no meaning with --wide: one thread is measured")
    for option in ("generated", "plot"):
        if getattr(options, option) and not options.wide:
            raise Error(f"--{option} has no meaning without --wide")
    if options.plot:
        check_at_hand()


def _run_wide(options: argparse.Namespace) -> int:
    recorded = wide.run(options)
    report.deliver(options, recorded, wide.tables(recorded))
    if options.plot:
        Path(options.plot).mkdir(parents=True, exist_ok=True)
        wide.plot(Path(options.plot), recorded)
    return _exit_code(recorded["summary"])


def _exit_code(found: dict[str, Any]) -> int:
    """A measurement that finds Neve's promise broken is not a success."""
    return BOUND_VIOLATED if found["neve_violations"] or found["neve_specials_lost"] else 0


def run(options: argparse.Namespace) -> int:
    _check(options)
    if options.wide:
        return _run_wide(options)
    timing.check_repeats(options.repeats)
    methods = codec_methods.methods(options.threads or len(os.sched_getaffinity(0)))
    wanted = chosen_names([m.name for m in methods], options.codecs)
    chosen = [m for m in methods if m.name in wanted]
    rows = []
    for field in fields.load(options.only, Path(options.data)):
        bound_abs = field.bound_abs()
        repeats = 0 if field.group == "special" else options.repeats
        for method in chosen:
            if not method.runs_on(field):
                continue
            report.progress(f"{field.name} rel={field.rel:g}: {method.name}")
            result = trial.run(method, field, bound_abs, repeats, options.time_limit)
            rows.append(
                {
                    "group": field.group,
                    "field": field.name,
                    "rel": field.rel,
                    "bound_abs": bound_abs,
                    **field.type_and_shape(),
                    "codec": method.name,
                    **result,
                }
            )
    report.progress("")
    recorded = {
        "command": _command(options),
        "machine": report.machine(),
        "versions": codec_methods.versions(),
        "settings": {c.name: c.settings for c in chosen},
        "timing": f"median of {options.repeats}; CPU time for one thread, wall time for several",
        "summary": summary(rows),
        "rows": rows,
    }
    report.deliver(options, recorded, tables(recorded))
    return _exit_code(recorded["summary"])


def _command(options: argparse.Namespace) -> str:
    words = [
        "neve bench codecs",
        "--only",
        *options.only,
        "--repeats",
        str(options.repeats),
    ]
    return " ".join(words + (["--codecs", *options.codecs] if options.codecs else []))


Rows = list[dict[str, Any]]


def _holds(row: dict[str, Any]) -> bool:
    return "ratio" in row and row["violations"] == 0 and row["specials_lost"] == 0


def _select(rows: Rows, **wanted: Any) -> Rows:
    return [r for r in rows if all(r[k] == v for k, v in wanted.items())]


def summary(rows: Rows) -> dict[str, Any]:
    """What the targets of the project are stated in."""
    mine = [r for r in rows if r["codec"].startswith("neve")]
    return {
        "reference_geomean_ratio": _geomean_ratios(_select(rows, group="reference")),
        "reference_speeds": _reference_speeds(_select(rows, group="reference")),
        "masked_speed_of_reference": _masked_speed(rows),
        "neve_over_peer": _over_peers(_select(rows, group="turbulence", rel=1e-3)),
        "masked": _masked(_select(rows, group="masked")),
        "neve_violations": sum(r.get("violations", 1) for r in mine),
        "neve_specials_lost": sum(r.get("specials_lost", 1) for r in mine),
    }


def _geomean_ratios(rows: Rows) -> dict[str, dict[str, float]]:
    """By bound and codec; of those codecs alone that have a ratio for every field."""
    found: dict[str, dict[str, float]] = {}
    for rel in (1e-3, 1e-4):
        for codec in dict.fromkeys(r["codec"] for r in rows):
            of_codec = _select(rows, rel=rel, codec=codec)
            if of_codec and all("ratio" in r for r in of_codec):
                ratios = (r["ratio"] for r in of_codec)
                found.setdefault(f"{rel:g}", {})[codec] = report.geomean(ratios)
    return found


def _reference_speeds(rows: Rows) -> dict[str, dict[str, dict[str, float]]]:
    """By bound and codec: geomeans of encoding and decoding speed over those of SZ3 with
    Lorenzo and regression.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for rel in (1e-3, 1e-4):
        peer = _speeds(_select(rows, rel=rel, codec="SZ3 Lorenzo+reg"))
        for codec in dict.fromkeys(r["codec"] for r in rows):
            own = _speeds(_select(rows, rel=rel, codec=codec))
            if own and peer and codec.startswith("neve"):
                found.setdefault(f"{rel:g}", {})[codec] = {
                    way: own[way] / peer[way] for way in ("encode", "decode")
                }
    return found


def _masked_speed(rows: Rows) -> dict[str, float] | None:
    """Neve's speed on masked fields over that on the reference fields at the same bound."""
    masked = _speeds(_select(rows, group="masked", codec="neve"))
    reference = _speeds(_select(rows, group="reference", rel=1e-3, codec="neve"))
    if not masked or not reference:
        return None
    return {way: masked[way] / reference[way] for way in ("encode", "decode")}


def _speeds(rows: Rows) -> dict[str, float] | None:
    """Geomeans; nothing where a row has no speed."""
    if not rows or not all(r.get("encode_mb_per_s") for r in rows):
        return None
    return {
        way: report.geomean([r[f"{way}_mb_per_s"] for r in rows]) for way in ("encode", "decode")
    }


def _over_peers(rows: Rows) -> dict[str, dict[str, dict[str, float]]]:
    """Of each field, what Neve has over each peer."""
    found = {}
    for field in dict.fromkeys(r["field"] for r in rows):
        by_codec = {r["codec"]: r for r in _select(rows, field=field) if "ratio" in r}
        mine = by_codec.get("neve")
        if mine is None:
            continue
        found[field] = {
            codec: {
                "ratio": mine["ratio"] / r["ratio"],
                "encode": mine["encode_mb_per_s"] / r["encode_mb_per_s"],
                "decode": mine["decode_mb_per_s"] / r["decode_mb_per_s"],
            }
            for codec, r in by_codec.items()
            if not codec.startswith("neve")
        }
    return found


def _masked(rows: Rows) -> dict[str, dict[str, float | None]]:
    """Of each field, Neve's ratio and the best of the peers that hold the bound."""
    found = {}
    for field in dict.fromkeys(r["field"] for r in rows):
        of_field = _select(rows, field=field)
        mine = [r["ratio"] for r in of_field if r["codec"] == "neve" and _holds(r)]
        bounded = [r for r in of_field if r["codec"].startswith(("SZ3", "ZFP"))]
        # Holding the bound on the ocean is enough here: few peers keep what stands for land.
        peers = [r["ratio"] for r in bounded if "ratio" in r and r["violations"] == 0]
        found[field] = {
            "neve": mine[0] if mine else None,
            "best_peer_that_holds": max(peers) if peers else None,
            "neve_over_best": mine[0] / max(peers) if mine and peers else None,
        }
    return found


def tables(recorded: dict[str, Any]) -> str:
    parts = report.heading(recorded)
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


def _factors(factor: dict[str, float]) -> str:
    encode, decode = report.number(factor["encode"]), report.number(factor["decode"])
    return f"encode x{encode}, decode x{decode}"


def _summary_text(found: dict[str, Any]) -> str:
    lines = []
    for rel, by_codec in found["reference_geomean_ratio"].items():
        values = ", ".join(f"{codec} {report.number(value)}" for codec, value in by_codec.items())
        lines.append(f"- Geomean ratio of the six at rel {rel}: {values}")
    for rel, by_codec in found["reference_speeds"].items():
        for codec, factor in by_codec.items():
            lines.append(
                f"- The six at rel {rel}, {codec} over SZ3 Lorenzo+reg, geomean: {_factors(factor)}"
            )
    if factor := found["masked_speed_of_reference"]:
        lines.append(
            "- Masked fields, bytes a second over those of the six at rel 0.001: "
            f"{_factors(factor)}"
        )
    for field, peers in found["neve_over_peer"].items():
        for peer, factor in peers.items():
            lines.append(
                f"- {field}, Neve over {peer}: ratio x{report.number(factor['ratio'])}, "
                f"{_factors(factor)}"
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
