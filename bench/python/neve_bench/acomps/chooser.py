# SPDX-License-Identifier: BSD-3-Clause
"""Neve's own choice: of a variable that stands alone, and along a series."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import neve

from .methods import ALL, CANDIDATES, NINETEEN

EFFORT = "balanced"  # that of the typical speeds


def named(candidates: str) -> str | list[str]:
    """A set of CANDIDATES, as the library takes it."""
    return list(CANDIDATES[candidates]) if candidates == NINETEEN else candidates


def settings(candidates: str, weights: tuple[float, float], threads: int = 1) -> dict[str, Any]:
    """Of neve.compress and neve.explain, weighted (WCR, WCS)."""
    ratio_weight, speed_weight = weights
    return {
        "lossless": True,
        "candidates": named(candidates),
        "ratio_weight": ratio_weight,
        "speed_weight": speed_weight,
        "effort": EFFORT,
        "threads": threads,
    }


def choose(array: np.ndarray, candidates: str, weights: tuple[float, float]) -> dict[str, Any]:
    """The method that Neve takes, weighted (WCR, WCS): its name, bytes of the whole frame, and the
    CPU seconds of choosing and of coding.
    """
    options = settings(candidates, weights)
    found = neve.explain(array, **options)
    won = [one for one in found["candidates"] if one["sections"].get("won")]
    seconds = found["cpu_seconds"]
    return {
        "method": won[0]["name"].removeprefix("lossless ") if won else "constant",
        "bytes": len(neve.compress(array, **options)),
        "choosing_s": seconds["weigh"] + seconds["losers"],
        "coding_s": seconds["winners"],
    }


def typical_speeds() -> dict[str, float]:
    """Of each method, in 100 MB/s, as the scores have them: with a weight of the speed alone."""
    ramp = np.arange(4096, dtype=np.float32)
    found = {}
    for name in ALL:
        weighed = neve.explain(
            ramp,
            lossless=True,
            candidates=name,
            speed_weight=1.0,
            ratio_weight=0.0,
            effort=EFFORT,
        )
        scores = {one["name"]: one["score"] for one in weighed["candidates"]}
        found[name] = scores[f"lossless {name}"]
    return found


def follow(
    steps: Iterable[np.ndarray],
    candidates: str,
    weights: tuple[float, float],
    delta: float,
    speeds: str,
) -> list[dict[str, Any]]:
    """The log of a series, a record for each step."""
    ratio_weight, speed_weight = weights
    series = neve.Series(
        candidates=named(candidates),
        ratio_weight=ratio_weight,
        speed_weight=speed_weight,
        delta=delta,
        speeds=speeds,
        effort=EFFORT,
        threads=1,
    )
    for step in steps:
        series.step("values", step)
    return [
        {
            "method": one.method,
            "reason": one.reason,
            "performance": one.performance,
            "bytes": one.coded_bytes,
            "choosing_s": one.choosing_seconds,
            "coding_s": one.coding_seconds,
        }
        for one in series.choices
    ]
