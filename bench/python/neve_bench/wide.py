# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench codecs --wide`: every effort and every peer on every kind of data, under bounds from
1e-1 to 1e-7, so that a hole shows.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import neve

from . import codec_methods, report, timing, trial, wide_fields
from .case import Case
from .lossless_methods import pco
from .method import Method, chosen_names

EFFORTS = ("fast", "balanced", "max")
SZ3_NAMES = ("SZ3", "SZ3 Lorenzo+reg")
# Below this share of the better of SZ3's two a row is a hole.
HOLE_SHARE = 0.9
COLOURS = {
    "neve fast": "#1f77b4",
    "neve balanced": "#ff7f0e",
    "neve max": "#d62728",
    "SZ3": "#9467bd",
    "SZ3 Lorenzo+reg": "#8c564b",
    "ZFP": "#17becf",
    "SPERR": "#e377c2",
    "pco 8": "#7f7f7f",
}
PICTURE = "wide.png"

Rows = list[dict[str, Any]]


def _neve(effort: str) -> Method:
    def prepare(case: Case, bound_abs: float):
        # The bound as a number, the same for all: a range that the detection of fill values has
        # changed would be another bound.
        return (
            lambda: neve.compress(case.array, abs=bound_abs, effort=effort, threads=1),
            lambda data: neve.decompress(data, threads=1),
        )

    return Method(f"neve {effort}", f"abs, effort {effort}, threads=1", prepare, is_neve=True)


def methods() -> list[Method]:
    return [
        *map(_neve, EFFORTS),
        Method(
            "SZ3", "ABS, INTERP_LORENZO (default)", codec_methods.sz3(codec_methods.SZ3_DEFAULT)
        ),
        Method("SZ3 Lorenzo+reg", "ABS, LORENZO_REG", codec_methods.sz3(codec_methods.SZ3_LORENZO)),
        Method("ZFP", "fixed accuracy", codec_methods.zfp),
        Method("SPERR", "absolute bound, as an HDF5 filter", codec_methods.sperr),
        pco(),
    ]


def run(options: argparse.Namespace) -> dict[str, Any]:
    """What is recorded of all kinds."""
    timing.check_repeats(options.repeats)
    everything = methods()
    wanted = chosen_names([m.name for m in everything], options.codecs)
    chosen = [m for m in everything if m.name in wanted]
    data = None if options.generated else Path(options.data)
    rows: Rows = []
    for case in wide_fields.load(list(wide_fields.KINDS), data):
        bound_abs = case.bound_abs()
        for method in chosen:
            report.progress(f"{case.name} rel={case.rel:g}: {method.name}")
            result = trial.run(method, case, bound_abs, options.repeats, options.time_limit)
            of_case = {"kind": case.group, "field": case.name, "rel": case.rel}
            of_case |= {"bound_abs": bound_abs, **case.type_and_shape(), "codec": method.name}
            rows.append(of_case | result)
    report.progress("")
    return {
        "command": " ".join(
            ["neve bench codecs --wide --repeats", str(options.repeats)]
            + (["--generated"] if options.generated else [])
            + (["--codecs", *options.codecs] if options.codecs else [])
        ),
        "machine": report.machine(),
        "versions": codec_methods.versions(("pysz", "zfpy", "hdf5plugin", "pcodec", "numpy")),
        "settings": {m.name: m.settings for m in chosen},
        "timing": f"median of {options.repeats}; CPU time, one thread",
        "summary": summary(rows),
        "rows": rows,
    }


def summary(rows: Rows) -> dict[str, Any]:
    mine = [r for r in rows if r["codec"].startswith("neve")]
    return {
        "over_sz3": _over_sz3(rows),
        "holes": holes(rows),
        "neve_violations": sum(r.get("violations", 1) for r in mine),
        "neve_specials_lost": sum(r.get("specials_lost", 1) for r in mine),
    }


def _by_case(rows: Rows) -> dict[tuple[str, str, float], dict[str, dict[str, Any]]]:
    """Of each field and bound, the codecs that hold it."""
    found: dict[tuple[str, str, float], dict[str, dict[str, Any]]] = {}
    for row in rows:
        of_case = found.setdefault((row["kind"], row["field"], row["rel"]), {})
        if "ratio" in row and row["violations"] == 0:
            of_case[row["codec"]] = row
    return found


def _shares(rows: Rows) -> list[tuple[str, str, float, str, float]]:
    """(kind, field, rel, Neve's codec, its ratio over the better of SZ3's two that hold it)."""
    shares = []
    for (kind, field, rel), by_codec in _by_case(rows).items():
        peers = [by_codec[name]["ratio"] for name in SZ3_NAMES if name in by_codec]
        for codec, row in by_codec.items():
            if peers and codec.startswith("neve"):
                shares.append((kind, field, rel, codec, row["ratio"] / max(peers)))
    return shares


def _over_sz3(rows: Rows) -> dict[str, dict[str, float]]:
    """By kind and codec, the geomean over fields and bounds."""
    found: dict[str, dict[str, list[float]]] = {}
    for kind, _, _, codec, share in _shares(rows):
        found.setdefault(kind, {}).setdefault(codec, []).append(share)
    return {
        kind: {codec: report.geomean(shares) for codec, shares in of_kind.items()}
        for kind, of_kind in found.items()
    }


def holes(rows: Rows) -> list[dict[str, Any]]:
    """Where Neve takes more than SZ3, by more than HOLE_SHARE allows; the deepest first."""
    found = [
        {"field": field, "rel": rel, "codec": codec, "over_sz3": share}
        for _, field, rel, codec, share in _shares(rows)
        if share < HOLE_SHARE
    ]
    return sorted(found, key=lambda hole: hole["over_sz3"])


def tables(recorded: dict[str, Any]) -> str:
    rows = recorded["rows"]
    codecs = list(recorded["settings"])
    parts = report.heading(recorded)
    for kind, title in wide_fields.KINDS.items():
        of_kind = [r for r in rows if r["kind"] == kind]
        parts += [f"### {title}: ratio", _ratio_table(of_kind, codecs)]
    parts += [
        "-: the bound was broken, or the codec has nothing for such an array.",
        "### Speed and error",
        "Geomeans over all arrays and bounds that a codec takes; codecs that take fewer (SPERR: "
        "two and three dimensions) are not comparable here.",
        _speed_table(rows, codecs),
    ]
    parts += ["### In short", _summary_text(recorded["summary"])]
    return "\n\n".join(parts)


def _ratio_table(rows: Rows, codecs: list[str]) -> str:
    lines = [
        [field, f"{rel:g}", *(report.number(by_codec.get(c, {}).get("ratio")) for c in codecs)]
        for (_, field, rel), by_codec in _by_case(rows).items()
    ]
    return report.table(["field", "rel", *codecs], lines)


def _speed_table(rows: Rows, codecs: list[str]) -> str:
    header = ["codec", "ratio", "encode MB/s", "decode MB/s", "max error / bound", "broken bounds"]
    lines = []
    for codec in codecs:
        mine = [r for r in rows if r["codec"] == codec and "ratio" in r]
        over = [r["max_abs_error"] / r["bound_abs"] for r in mine if r["bound_abs"] > 0]
        lines.append(
            [
                codec,
                *(
                    report.number(report.geomean(r[key] for r in mine if r.get(key)))
                    for key in ("ratio", "encode_mb_per_s", "decode_mb_per_s")
                ),
                report.number(max(over, default=None)),
                str(sum(1 for r in mine if r["violations"] > 0)),
            ]
        )
    return report.table(header, lines)


def _summary_text(found: dict[str, Any]) -> str:
    lines = [
        f"- {wide_fields.KINDS[kind]}, over the better of SZ3's two, geomean of fields and bounds: "
        + ", ".join(f"{codec} {report.number(share)}" for codec, share in of_kind.items())
        for kind, of_kind in found["over_sz3"].items()
    ]
    lines.append(f"- Below {HOLE_SHARE} of it: {len(found['holes'])} of Neve's rows")
    lines += [
        f"  - {hole['field']}, rel {hole['rel']:g}: {hole['codec']} "
        f"{report.number(hole['over_sz3'])}"
        for hole in found["holes"]
    ]
    lines.append(
        f"- Neve's bound violations {found['neve_violations']}, special values lost "
        f"{found['neve_specials_lost']}"
    )
    return "\n".join(lines)


def plot(folder: Path, recorded: dict[str, Any]) -> Path:
    """Ratio over bound, a panel each kind: the geomean of its fields, of codecs that take all."""
    from .figures import picture, save_picture

    figure, axes = picture(len(wide_fields.KINDS))
    for panel, (kind, title) in zip(axes, wide_fields.KINDS.items(), strict=True):
        cases = _by_case([r for r in recorded["rows"] if r["kind"] == kind])
        for codec in recorded["settings"]:
            points = []
            for rel in wide_fields.BOUNDS:
                of_rel = [c for (_, _, r), c in cases.items() if r == rel]
                if of_rel and all(codec in c for c in of_rel):
                    points.append((rel, report.geomean(c[codec]["ratio"] for c in of_rel)))
            if points:
                dashes = "-" if codec.startswith("neve") else "--"
                panel.plot(
                    *np.array(points).T, dashes, label=codec, color=COLOURS[codec], marker="."
                )
        panel.set(
            title=title, xlabel="bound, of the range", ylabel="ratio", xscale="log", yscale="log"
        )
        panel.grid(alpha=0.3)
    handles, labels = axes[2].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=8)
    return save_picture(figure, folder / PICTURE)
