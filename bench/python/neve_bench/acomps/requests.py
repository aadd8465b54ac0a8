# SPDX-License-Identifier: BSD-3-Clause
"""What can be measured. `identity` is that of the files' content, "" of made values; they lie where
a unit's paths say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..paper import kinds


@dataclass(frozen=True)
class Table:
    """Every method on one variable: bytes, seconds, whether each bit came back."""

    identity: str
    variable: str  # FILE:NAME
    most_bytes: int
    repeats: int
    kind = "table"


@dataclass(frozen=True)
class Weighed:
    """What Neve chooses for one variable, at each of WEIGHTS."""

    identity: str
    variable: str
    most_bytes: int
    candidates: str
    kind = "weighed"


@dataclass(frozen=True)
class Chunks:
    """One chunk read out of a compressed dataset, and all of it."""

    identity: str
    variable: str
    most_bytes: int
    repeats: int
    kind = "chunks"


@dataclass(frozen=True)
class StepTables:
    """Every method on every step of a series."""

    identity: str
    series: str
    steps: int
    most_bytes: int
    repeats: int
    kind = "step tables"


@dataclass(frozen=True)
class Followed:
    """A series written by Neve's own rule, at each of DELTAS and WEIGHTS_OF_SERIES; with measured
    speeds, of WITH_SPEED.
    """

    identity: str
    series: str
    steps: int
    most_bytes: int
    candidates: str
    speeds: str
    kind = "followed"


@dataclass(frozen=True)
class Speeds:
    """The typical speeds of all methods, in 100 MB/s."""

    kind = "speeds"


@dataclass(frozen=True)
class Threads:
    """What Neve's choice by ratio among `all` takes on one thread and on more."""

    identity: str
    variable: str
    most_bytes: int
    repeats: int
    threads: int
    kind = "threads"


@dataclass(frozen=True)
class Cycle:
    """`neve bench ensemble` with these words."""

    words: tuple[str, ...]
    ranks: int
    number: int  # of the repeat
    kind = "cycle"


Request = Table | Weighed | Chunks | StepTables | Followed | Speeds | Threads | Cycle
KINDS: dict[str, type] = {
    one.kind: one for one in (Table, Weighed, Chunks, StepTables, Followed, Speeds, Threads, Cycle)
}
# (WCR, WCS): from the ratio alone to the speed alone.
WEIGHTS = tuple((round(1 - n / 10, 1), n / 10) for n in range(11))
WEIGHTS_OF_SERIES = ((1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
WITH_SPEED = tuple(pair for pair in WEIGHTS_OF_SERIES if pair[1] > 0)
DELTAS = (0.0, 0.01, 0.1, 1.0)  # fractions of the performance at the choice

as_json = kinds.as_json


def from_json(content: dict[str, Any]) -> Request:
    return kinds.from_json(KINDS, content)


def name_of(request: Request) -> str:
    """For people."""
    if isinstance(request, Cycle):
        return f"neve bench ensemble on {request.ranks} ranks, {' '.join(request.words)}"
    if isinstance(request, Speeds):
        return "typical speeds"
    if isinstance(request, StepTables):
        return f"{request.series}: every method on {request.steps} steps"
    if isinstance(request, Followed):
        return f"{request.series}: chosen among {request.candidates}, speeds {request.speeds}"
    what = {
        "table": "every method",
        "chunks": "one chunk read",
        "threads": "the choice on several threads",
    }
    told = what.get(request.kind) or f"chosen among {request.candidates}"
    return f"{request.variable}: {told}"
