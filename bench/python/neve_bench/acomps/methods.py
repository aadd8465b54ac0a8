# SPDX-License-Identifier: BSD-3-Clause
"""The methods that are compared: the slides' nine and Neve's own, and their performance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import lossless_methods

PREPROCESSING = ("B", "BW", "BWXOR")
CODERS = ("LZO", "zlib", "bzip2")
NINE = lossless_methods.NINE
OWN = lossless_methods.MODERN
ALL = (*NINE, *OWN)
# Sets of candidates: two that the library has names for, and all methods, which are listed.
ACOMPS, EVERY, NINETEEN = "acomps", "all", "nineteen"
# What the library's `all` weighs: of the nine one alone.
CANDIDATES = {ACOMPS: NINE, EVERY: (*OWN, "B-zlib"), NINETEEN: ALL}
TOLD = {ACOMPS: "the nine", EVERY: "`all`", NINETEEN: "all nineteen"}
SPEED_UNIT = 100e6  # bytes a second: of the scores
TYPICAL, MEASURED = "typical", "measured"


def performance(ratio: float, speed: float, ratio_weight: float, speed_weight: float) -> float:
    """Slide 8: compression_speed x WCS + compression_ratio x WCR; speed in 100 MB/s."""
    return speed * speed_weight + ratio * ratio_weight


def ratio_of(table: Mapping[str, Any], method: str) -> float:
    return table["raw_bytes"] / table["methods"][method]["bytes"]


def speed_of(table: Mapping[str, Any], method: str) -> float:
    """Measured, in 100 MB/s."""
    return table["raw_bytes"] / SPEED_UNIT / table["methods"][method]["encode_s"]


def usable(table: Mapping[str, Any], among: tuple[str, ...] = ALL) -> list[str]:
    """Those that could code the table's values."""
    return [name for name in among if "bytes" in table["methods"].get(name, {})]


def performances(
    table: Mapping[str, Any],
    among: tuple[str, ...],
    weights: tuple[float, float],
    typical: Mapping[str, float] | None,
) -> dict[str, float]:
    """Of each method, at `weights` (of the ratio, of the speed); typical speeds, or, with None,
    the measured ones.
    """
    return {
        name: performance(
            ratio_of(table, name),
            speed_of(table, name) if typical is None else typical[name],
            *weights,
        )
        for name in usable(table, among)
    }


def best_of(scores: Mapping[str, float]) -> str:
    """The first of the best, in the order of the methods."""
    return max(scores, key=scores.__getitem__)
