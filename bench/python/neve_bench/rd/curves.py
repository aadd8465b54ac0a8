# SPDX-License-Identifier: BSD-3-Clause
"""One way against another: ratios at equal PSNR and at equal bound, out of rows as measure makes
them. Rows without a ratio, as those of notes, are left aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import report

Row = dict[str, Any]
Curve = Sequence[tuple[float, float]]  # (PSNR, ratio), PSNR rising


def curve(rows: Iterable[Row], field: str, way: str) -> list[tuple[float, float]]:
    """Of a field: a point each bound."""
    points = {
        row["psnr_db"]: row["ratio"]
        for row in rows
        if row["field"] == field
        and row["way"] == way
        and row.get("ratio")
        and row["psnr_db"] is not None
    }
    return sorted(points.items())


def ratio_at_equal_psnr(mine: Curve, theirs: Curve) -> float | None:
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

    def log_ratio(points: Curve) -> np.ndarray:
        at, ratio = np.array(points).T
        return np.interp(psnr, at, np.log(ratio))

    gain = log_ratio(mine) - log_ratio(theirs)
    if low == high:
        return float(np.exp(gain[0]))
    mean = np.sum((gain[1:] + gain[:-1]) / 2 * np.diff(psnr)) / (high - low)
    return float(np.exp(mean))


def ratio_at_equal_bound(rows: Sequence[Row], field: str, mine: str, theirs: str) -> float | None:
    """Geometric mean of mine / theirs over the bounds that both have a row for."""
    ours, other = _by_bound(rows, field, mine), _by_bound(rows, field, theirs)
    shared = ours.keys() & other.keys()
    return report.geomean(ours[rel] / other[rel] for rel in shared) if shared else None


def _by_bound(rows: Sequence[Row], field: str, way: str) -> dict[float, float]:
    return {
        row["rel"]: row["ratio"]
        for row in rows
        if row["field"] == field and row["way"] == way and row.get("ratio")
    }


def gain(rows: Sequence[Row], field: str, mine: str, theirs: str) -> dict[str, Any] | None:
    """Both ratios; None where no bound has a row of both."""
    at_bound = ratio_at_equal_bound(rows, field, mine, theirs)
    if at_bound is None:
        return None
    at_psnr = ratio_at_equal_psnr(curve(rows, field, mine), curve(rows, field, theirs))
    return {
        "field": field,
        "mine": mine,
        "theirs": theirs,
        "at_equal_psnr": at_psnr,
        "at_equal_bound": at_bound,
    }


def geomeans(rows: Sequence[Row], ways: Iterable[str]) -> list[dict[str, Any]]:
    """Of the ratios of all fields that a way has a row for, at each bound."""
    found = []
    for way in ways:
        for rel in dict.fromkeys(row["rel"] for row in rows):
            mine = [r for r in rows if r["way"] == way and r["rel"] == rel and r.get("ratio")]
            if not mine:
                continue
            psnr = [r["psnr_db"] for r in mine if r["psnr_db"] is not None]
            speeds = [r["encode_mb_per_s"] for r in mine if r["encode_mb_per_s"]]
            found.append(
                {
                    "way": way,
                    "rel": rel,
                    "fields": len(mine),
                    "ratio": report.geomean(r["ratio"] for r in mine),
                    "mean_psnr_db": sum(psnr) / len(psnr) if psnr else None,
                    "encode_mb_per_s": report.geomean(speeds) if speeds else None,
                }
            )
    return found
