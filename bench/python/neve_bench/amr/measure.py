# SPDX-License-Identifier: BSD-3-Clause
"""What a way does to a subject: bytes, errors of the held cells, times."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .subject import Part, Subject, is_special, range_of
from .way import Coders, Levels, NotPossible, Way

MEGABYTE = 1e6


@dataclass(frozen=True)
class Measured:
    row: dict[str, Any]  # plain numbers and texts: JSON
    values: Levels  # decoded


def measure(way: Way, subject: Subject, repeats: int = 1) -> Measured:
    """Encodes and decodes. Bytes and values are those of the first time, seconds the median CPU
    time of `repeats`. Raises NotPossible.
    """
    encode, decode = way.prepare(subject)
    stored, encode_seconds = _timed(encode, repeats)
    values, decode_seconds = _timed(lambda: decode(stored), repeats)
    row = {
        "field": subject.field,
        "way": way.text,
        "about": way.about(subject),
        "rel": subject.rel,
        "cells": subject.cells,
        "raw_bytes": sum(part.raw_bytes for part in subject.parts),
        "stored_bytes": sum(map(len, stored)),
        "encode_seconds": encode_seconds,
        "decode_seconds": decode_seconds,
    }
    by_level = [
        errors_of(part, decoded) for part, decoded in zip(subject.parts, values, strict=True)
    ]
    if len(stored) == len(by_level):
        for level, text in zip(by_level, stored, strict=True):
            level["stored_bytes"] = len(text)
            level["ratio"] = _ratio(level["raw_bytes"], len(text))
    return Measured(row | together(by_level) | ratio_of(row), values)


def _ratio(raw_bytes: int, stored_bytes: int) -> float | None:
    return raw_bytes / stored_bytes if stored_bytes else None


def ratio_of(row: dict[str, Any]) -> dict[str, float | None]:
    """None where nothing was stored, and for what was too quick for the clock."""

    def speed(seconds: float) -> float | None:
        return row["raw_bytes"] / MEGABYTE / seconds if seconds > 0 else None

    return {
        "ratio": _ratio(row["raw_bytes"], row["stored_bytes"]),
        "encode_mb_per_s": speed(row["encode_seconds"]),
        "decode_mb_per_s": speed(row["decode_seconds"]),
    }


def errors_of(part: Part, decoded: Sequence[np.ndarray]) -> dict[str, Any]:
    """Over the held cells of a level. Special values are not among the errors, and cells that
    decode to no finite number count as violations alone.
    """
    spread = range_of(part.lowest, part.highest)
    unit = spread if spread > 0 else 1.0  # of the squares, so that they stay finite
    squares = largest = 0.0
    finite_cells = violations = lost = 0
    for original, held, result in zip(part.values, part.held, decoded, strict=True):
        if result.shape != original.shape or result.dtype != original.dtype:
            raise ValueError(
                f"level {part.number}: a box decoded to {result.dtype} of {result.shape}, "
                f"not {original.dtype} of {original.shape}"
            )
        true, got = original[held], result[held]
        special = is_special(true)
        bits = np.dtype(f"u{true.dtype.itemsize}")
        lost += int((special & (true.view(bits) != got.view(bits))).sum())
        with np.errstate(all="ignore"):
            error = np.abs(got[~special].astype(np.float64) - true[~special].astype(np.float64))
        violations += int((~(error <= part.bound_abs)).sum())
        error = error[np.isfinite(error)]
        squares += float(np.square(error / unit).sum())
        largest = max(largest, float(error.max(initial=0.0)))
        finite_cells += error.size
    mean_square = squares / finite_cells if finite_cells else 0.0
    return {
        "level": part.number,
        "cells": part.cells,
        "held_cells": part.held_cells,
        "compared_cells": finite_cells,
        "raw_bytes": part.raw_bytes,
        "bound_abs": part.bound_abs,
        "rms_error": unit * math.sqrt(mean_square),
        "max_abs_error": largest,
        "violations": violations,
        "specials_lost": lost,
        "psnr_db": psnr_db(1.0, math.sqrt(mean_square)) if spread > 0 else None,
    }


def psnr_db(spread: float, rms: float) -> float | None:
    """20 log10(range) - 10 log10(mean square error), as AMRIC's footnote 2; None without an error
    or without a range.
    """
    return 20 * math.log10(spread / rms) if spread > 0 and rms > 0 else None


def together(levels: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of all levels: the PSNR is that of each error in units of its level's range, to which the
    bounds refer. A level without a PSNR has no error or no range: its cells count with 0.
    """
    cells = sum(level["compared_cells"] for level in levels)
    squares = sum(
        level["compared_cells"] * 10 ** (-level["psnr_db"] / 10)
        for level in levels
        if level["psnr_db"] is not None
    )
    over = [level["max_abs_error"] / level["bound_abs"] for level in levels if level["bound_abs"]]
    return {
        "psnr_db": psnr_db(1.0, math.sqrt(squares / cells)) if cells else None,
        "max_error_over_bound": max(over, default=0.0),
        "violations": sum(level["violations"] for level in levels),
        "specials_lost": sum(level["specials_lost"] for level in levels),
        "held_cells": sum(level["held_cells"] for level in levels),
        "levels": list(levels),
    }


def _timed(work: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """The first result, and the median CPU time of `repeats` calls."""
    result, times = None, []
    for number in range(max(repeats, 1)):
        start = time.process_time()
        found = work()
        times.append(time.process_time() - start)
        result = found if number == 0 else result
    return result, statistics.median(times)


__all__ = ["Coders", "Measured", "NotPossible", "errors_of", "measure", "psnr_db", "together"]
