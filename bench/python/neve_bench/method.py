# SPDX-License-Identifier: BSD-3-Clause
"""A way of coding an array, Neve's or a peer's, and its measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neve._errors import Error

from . import timing
from .case import Case

MEGABYTE = 1e6

Coders = tuple[Callable[[], Any], Callable[[Any], np.ndarray]]  # encode(), decode(stored)


class NotApplicable(Exception):
    """The method has nothing for what the case needs; the reason is the message."""


@dataclass(frozen=True)
class Method:
    name: str
    settings: str
    # prepare(case, bound_abs) gives (encode, decode); its own work (tuning) is not timed.
    prepare: Callable[[Case, float], Coders]
    groups: tuple[str, ...] | None = None  # None: runs on everything
    multithreaded: bool = False
    is_neve: bool = False
    # What Neve weighs for the array, where it chooses.
    explain: Callable[[np.ndarray], dict[str, Any]] | None = None

    def runs_on(self, case: Case) -> bool:
        return self.groups is None or case.group in self.groups


@dataclass(frozen=True)
class Measured:
    stored_bytes: int
    decoded: np.ndarray
    encode_seconds: float | None  # medians; None where nothing was timed
    decode_seconds: float | None


def measure(coders: Coders, repeats: int, clock: Callable[[], float]) -> Measured:
    """Encodes and decodes once, whose result counts, and `repeats` times more under the clock."""
    encode, decode = coders
    stored = encode()
    decoded = decode(stored)
    times: list[float | None] = [None, None]
    if repeats > 0:
        times = [
            timing.median_seconds(encode, repeats, clock),
            timing.median_seconds(lambda: decode(stored), repeats, clock),
        ]
    return Measured(memoryview(stored).nbytes, decoded, *times)


def megabytes_per_second(raw_bytes: int, seconds: float | None) -> float | None:
    """None for what is too small for the clock."""
    return raw_bytes / MEGABYTE / seconds if seconds else None


def chosen_names(names: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """Of `names` those that start with one of --codecs; all without it."""
    if not wanted:
        return list(names)
    starts = tuple(name.lower() for name in wanted)
    found = [name for name in names if name.lower().startswith(starts)]
    if not found:
        raise Error(f"--codecs {' '.join(wanted)}: no such codec; there are {', '.join(names)}")
    return found
