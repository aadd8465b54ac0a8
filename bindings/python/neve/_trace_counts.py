# SPDX-License-Identifier: BSD-3-Clause
"""The counts of one trace of a report, as pictures and tables ask for them; None is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

Trace: TypeAlias = dict[str, Any]  # of a report

BINS = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)
BIN_TITLES = tuple(name.replace("_PLUS", "+").replace("_", "-") for name in BINS)


class Level(NamedTuple):
    key: str  # in the report
    prefix: str  # of counters
    title: str
    size_prefix: str  # of the counters of write sizes

    def counter(self, counts: Mapping[str, Any], name: str) -> Any:
        return counts.get(self.key, {}).get("counters", {}).get(f"{self.prefix}_{name}")

    def bins(self, counts: Mapping[str, Any]) -> list[int] | None:
        """Writes by range of sizes."""
        found = [self.counter(counts, self.size_prefix + name) for name in BINS]
        return None if None in found else found

    def span(self, counts: Mapping[str, Any], what: str) -> tuple[float, float] | None:
        """From the first start to the last end of opens, reads, writes or closes, in seconds."""
        begin = self.counter(counts, f"F_{what}_START_TIMESTAMP")
        end = self.counter(counts, f"F_{what}_END_TIMESTAMP")
        return None if end is None else (begin or 0.0, end)


MPIIO = Level("mpiio", "MPIIO", "MPI-IO", "SIZE_WRITE_AGG_")
POSIX = Level("posix", "POSIX", "POSIX", "SIZE_WRITE_")
STDIO = Level("stdio", "STDIO", "stdio", "SIZE_WRITE_")
LEVELS = (MPIIO, POSIX, STDIO)


def total_of(numbers: list[Any]) -> Any:
    return None if None in numbers else sum(numbers)


def calls(level: Level, counts: Mapping[str, Any], way: str) -> Any:
    """Of "READS" or "WRITES"."""
    if level is not MPIIO:
        return level.counter(counts, way)
    return total_of([level.counter(counts, f"{k}_{way}") for k in ("INDEP", "COLL", "SPLIT", "NB")])


def opens(level: Level, counts: Mapping[str, Any]) -> Any:
    if level is not MPIIO:
        return level.counter(counts, "OPENS")
    return total_of([level.counter(counts, name) for name in ("INDEP_OPENS", "COLL_OPENS")])


def syncs(level: Level, counts: Mapping[str, Any]) -> Any:
    """fsync and fdatasync; at the stdio level fflush."""
    names = {"mpiio": ["SYNCS"], "posix": ["FSYNCS", "FDSYNCS"], "stdio": ["FLUSHES"]}[level.key]
    return total_of([level.counter(counts, name) for name in names])


def span(counts: Mapping[str, Any], what: str) -> tuple[float, float] | None:
    """The same at any level."""
    spans = [one for level in LEVELS if (one := level.span(counts, what)) is not None]
    if not spans:
        return None
    return min(begin for begin, _ in spans), max(end for _, end in spans)


def first_use(counts: Mapping[str, Any]) -> float:
    spans = [span(counts, what) for what in ("OPEN", "READ", "WRITE", "CLOSE")]
    return min((one[0] for one in spans if one is not None), default=math.inf)


def ranks_in_order(trace: Trace) -> list[dict[str, Any]]:
    """By rank; processes without one come last."""
    return sorted(trace["ranks"], key=lambda r: (r["rank"] is None, r["rank"] or 0))
