# SPDX-License-Identifier: BSD-3-Clause
"""What the rows say: ratios at equal PSNR, and what choosing alone loses against forcing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import report
from . import methods

Row = dict[str, Any]


def curve(rows: Iterable[Row], field: str, method: str) -> list[tuple[float, float]]:
    """(PSNR, ratio) of a field, PSNR rising."""
    points = {
        row["psnr_db"]: row["ratio"]
        for row in rows
        if row["field"] == field
        and row["method"] == method
        and "ratio" in row
        and row["psnr_db"] is not None
    }
    return sorted(points.items())


def ratio_at_equal_psnr(
    mine: Sequence[tuple[float, float]], theirs: Sequence[tuple[float, float]]
) -> float | None:
    """Geometric mean of mine / theirs over the PSNR that both curves span: each is log ratio over
    PSNR, straight between its points. None when they share no PSNR.
    """
    if not mine or not theirs:
        return None
    low, high = max(mine[0][0], theirs[0][0]), min(mine[-1][0], theirs[-1][0])
    if low > high:
        return None
    # Ends and every corner of either: between those both are straight, so the mean is exact.
    psnr = np.array(sorted({low, high, *(p for p, _ in [*mine, *theirs] if low <= p <= high)}))

    def log_ratio(points: Sequence[tuple[float, float]]) -> np.ndarray:
        at, ratio = np.array(points).T
        return np.interp(psnr, at, np.log(ratio))

    gain = log_ratio(mine) - log_ratio(theirs)
    if low == high:
        return float(np.exp(gain[0]))
    mean = np.sum((gain[1:] + gain[:-1]) / 2 * np.diff(psnr)) / (high - low)
    return float(np.exp(mean))


def comparisons(rows: Sequence[Row], fields: Sequence[str]) -> list[dict[str, Any]]:
    """Per field: auto against AMReX's and AMRIC's ways, and SLE against its own alternatives."""
    auto_max = methods.auto_name("max")
    pairs = {
        "auto_max_over_amrex_1d": (auto_max, methods.AMREX_1D),
        "auto_max_over_sle": (auto_max, methods.SLE),
        "sle_over_merged": (methods.SLE, methods.MERGED),
        "sle_over_fixed_block": (methods.SLE, methods.FIXED_BLOCK),
    }
    return [
        {"field": field}
        | {
            name: ratio_at_equal_psnr(curve(rows, field, mine), curve(rows, field, theirs))
            for name, (mine, theirs) in pairs.items()
        }
        for field in fields
    ]


def geomeans(rows: Sequence[Row], names: Iterable[str]) -> list[dict[str, Any]]:
    """Of the ratios of all fields that a method has a row for."""
    found = []
    for name in names:
        for rel in dict.fromkeys(row["rel"] for row in rows):
            mine = [r for r in rows if r["method"] == name and r["rel"] == rel and "ratio" in r]
            if not mine:
                continue
            psnr = [r["psnr_db"] for r in mine if r["psnr_db"] is not None]
            found.append(
                {
                    "method": name,
                    "rel": rel,
                    "fields": len(mine),
                    "ratio": report.geomean(r["ratio"] for r in mine),
                    "mean_psnr_db": sum(psnr) / len(psnr) if psnr else None,
                    "encode_mb_per_s": report.geomean(
                        r["encode_mb_per_s"] for r in mine if r["encode_mb_per_s"]
                    )
                    if any(r["encode_mb_per_s"] for r in mine)
                    else None,
                }
            )
    return found


def best_forced(
    rows: Sequence[Row], listed: Sequence[methods.Method], field: str, rel: float, effort: str
) -> Row | None:
    """The smallest of what the effort's codecs make in any arrangement."""
    names = {m.name for m in listed if m.forced_codec is not None and m.effort == effort}
    candidates = [
        row
        for row in rows
        if row["field"] == field and row["rel"] == rel and row["method"] in names and "ratio" in row
    ]
    return min(candidates, key=lambda row: row["stored_bytes"], default=None)


def size_regrets(rows: Sequence[Row], listed: Sequence[methods.Method]) -> list[dict[str, Any]]:
    found = []
    for row in rows:
        for effort in methods.EFFORTS:
            if row["method"] != methods.auto_name(effort) or "ratio" not in row:
                continue
            best = best_forced(rows, listed, row["field"], row["rel"], effort)
            if best is not None:
                found.append(
                    {
                        "field": row["field"],
                        "rel": row["rel"],
                        "effort": effort,
                        "best": best["method"],
                        "size_regret": row["stored_bytes"] / best["stored_bytes"] - 1,
                    }
                )
    return found
