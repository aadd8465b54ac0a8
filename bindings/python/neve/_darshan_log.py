# SPDX-License-Identifier: BSD-3-Clause
"""A log of Darshan as a trace of Neve, in JSON on the standard output, by Darshan's own package.
Where that fails, the reason stands there and the exit code is not 0.

Beside what a trace has: `absent` are counters that a log has not, `files[].access_sizes` its most
frequent sizes, of reads and writes together, and `notes` what its reader must know.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ._errors import CORRUPT, FAILURE, Error

MODULES = {"mpiio": "MPI-IO", "posix": "POSIX", "stdio": "STDIO"}  # Darshan's
PREFIXES = {"mpiio": "MPIIO", "posix": "POSIX", "stdio": "STDIO"}  # of counters
MAGIC = 6567223  # after eight bytes of version
SHARED = -1  # the rank of a record that all ranks' counts went into
FREQUENT = 4
BIN_SECONDS, BIN_COUNT = 0.1, 200  # of a trace's heatmap

# What a trace counts (src/preload/trace/counters.hpp), with what a log may lack.
COUNTERS = {
    "mpiio": (
        "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS "
        "SPLIT_WRITES NB_READS NB_WRITES SYNCS HINTS VIEWS SET_SIZES BYTES_READ BYTES_WRITTEN "
        "RW_SWITCHES"
    ).split(),
    "posix": (
        "OPENS DUPS READS WRITES SEEKS MMAPS FSYNCS FDSYNCS TRUNCATES ALLOCATES BYTES_READ "
        "BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES SEQ_READS "
        "SEQ_WRITES RW_SWITCHES"
    ).split(),
    "stdio": (
        "OPENS FDOPENS READS WRITES SEEKS FLUSHES BYTES_READ BYTES_WRITTEN MAX_BYTE_READ "
        "MAX_BYTE_WRITTEN BYTES_INLINED"
    ).split(),
}
BINS = "0_100 100_1K 1K_10K 10K_100K 100K_1M 1M_4M 4M_10M 10M_100M 100M_1G 1G_PLUS".split()
EARLIEST = [f"{what}_START_TIMESTAMP" for what in ("OPEN", "READ", "WRITE", "CLOSE")]
LATEST = [f"{what}_END_TIMESTAMP" for what in ("OPEN", "READ", "WRITE", "CLOSE")]
SUMS = ["READ_TIME", "WRITE_TIME", "META_TIME"]


def _bin_names(level: str) -> list[str]:
    middle = "AGG_" if level == "mpiio" else ""
    return [f"SIZE_{way}_{middle}{name}" for way in ("READ", "WRITE") for name in BINS]


def check_log(path: str) -> None:
    """Darshan's library says little of a file that it cannot read."""
    try:
        with Path(path).open("rb") as file:
            begin = file.read(16)
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", FAILURE) from None
    if len(begin) < 16 or MAGIC not in (
        *struct.unpack("<8xq", begin),
        *struct.unpack(">8xq", begin),
    ):
        raise Error(f"{path}: not a log of Darshan", CORRUPT)
    version = begin[:8].rstrip(b"\0").decode("ascii", "replace")
    if not version.startswith("3."):
        raise Error(f"{path}: a log of Darshan's version {version}; 3.x can be read", CORRUPT)


class _Records:
    """All records of a level, and what they count under which name."""

    def __init__(self, report: Any, level: str):
        module = MODULES[level]
        self.level = level
        self.exists = module in report.modules
        self.records: list[Mapping[str, Any]] = []
        self.places: dict[str, int] = {}
        self.time_places: dict[str, int] = {}
        if not self.exists:
            return
        report.mod_read_all_records(module, dtype="numpy")
        self.records = list(report.records[module].to_numpy())
        cut = len(PREFIXES[level]) + 1
        named = report.counters[module]
        self.places = {name[cut:]: i for i, name in enumerate(named["counters"])}
        self.time_places = {name[cut + 2 :]: i for i, name in enumerate(named["fcounters"])}

    def absent(self) -> list[str]:
        prefix = PREFIXES[self.level]
        names = [f"{prefix}_{name}" for name in COUNTERS[self.level] if name not in self.places]
        return names + [f"{prefix}_SIZE"] * (_bin_names(self.level)[0] not in self.places)


class _File:
    """The counters of one file at one level, of all its records."""

    def __init__(self, records: _Records):
        self.of = records
        self.counters = dict.fromkeys([*COUNTERS[records.level], *_bin_names(records.level)], 0)
        self.times: dict[str, float] = {}
        self.sizes: dict[int, int] = {}
        self.shares: dict[int, dict[str, dict[str, float]]] = {}

    def _time(self, record: Mapping[str, Any], name: str) -> float:
        place = self.of.time_places.get(name)
        return 0.0 if place is None else max(0.0, float(record["fcounters"][place]))

    def _count(self, record: Mapping[str, Any], name: str) -> int:
        place = self.of.places.get(name)
        return 0 if place is None else max(0, int(record["counters"][place]))  # -1 is not known

    def add(self, record: Mapping[str, Any]) -> None:
        for name in self.counters:
            count = self._count(record, name)
            is_largest = name.startswith("MAX_BYTE")
            self.counters[name] = (
                max(self.counters[name], count) if is_largest else (self.counters[name] + count)
            )
        for name in (*EARLIEST, *LATEST, *SUMS):
            self._add_time(name, self._time(record, name))
        for i in range(1, FREQUENT + 1):
            size = self._count(record, f"ACCESS{i}_ACCESS")
            count = self._count(record, f"ACCESS{i}_COUNT")
            if count:
                self.sizes[size] = self.sizes.get(size, 0) + count
        if record["rank"] != SHARED:
            self._add_share(record)

    def _add_time(self, name: str, value: float) -> None:
        if value == 0:
            return
        known = self.times.get(name)
        if known is None:
            self.times[name] = value
        elif name in SUMS:
            self.times[name] = known + value
        else:
            self.times[name] = min(known, value) if name in EARLIEST else max(known, value)

    def _add_share(self, record: Mapping[str, Any]) -> None:
        share = self.shares.setdefault(int(record["rank"]), {})
        for way, plural, done in (("READ", "READS", "READ"), ("WRITE", "WRITES", "WRITTEN")):
            kinds = [f"{k}_{plural}" for k in ("INDEP", "COLL", "SPLIT", "NB")]
            names = kinds if self.of.level == "mpiio" else [plural]
            calls = sum(self._count(record, name) for name in names)
            if calls:
                share[f"{self.of.level}_{way.lower()}"] = {
                    "calls": calls,
                    "bytes": self._count(record, f"BYTES_{done}"),
                    "seconds": self._time(record, f"{way}_TIME"),
                }

    def json(self) -> dict[str, Any]:
        prefix = PREFIXES[self.of.level]
        counters: dict[str, float] = {f"{prefix}_{n}": v for n, v in self.counters.items()}
        counters |= {f"{prefix}_F_{n}": v for n, v in self.times.items()}
        return {"counters": counters, "read_sizes": [], "write_sizes": []}


def _files(levels: Iterable[_Records], names: Mapping[int, str]) -> list[dict[str, Any]]:
    found: dict[int, dict[str, _File]] = {}
    for records in levels:
        for record in records.records:
            file = found.setdefault(int(record["id"]), {})
            if records.level not in file:
                file[records.level] = _File(records)
            file[records.level].add(record)
    files = []
    for number, by_level in found.items():
        shares: dict[int, dict[str, Any]] = {}
        for one in by_level.values():
            for rank, share in one.shares.items():
                shares.setdefault(rank, {"process": rank}).update(share)
        files.append(
            {
                "path": names.get(number, f"(name not in the log: {number})"),
                "renamed_to": [],
                "phases": [{"phase": "", **{level: one.json() for level, one in by_level.items()}}],
                "shares": [shares[rank] for rank in sorted(shares)],
                "access_sizes": {
                    level: sorted(by_level[level].sizes.items()) if level in by_level else []
                    for level in MODULES
                },
            }
        )
    return files


def _fits(width: float, count: int) -> bool:
    """Whether a trace has such bins, too: 0.1 s, doubled as the run went on, 200 of them."""
    return count <= BIN_COUNT and math.frexp(width / BIN_SECONDS)[0] == 0.5


def _heatmaps(report: Any, path: str) -> dict[int, dict[str, Any]]:
    """By rank, as a trace has them."""
    if "HEATMAP" not in report.modules:
        return {}
    report.read_all_heatmap_records()
    of_ranks: dict[int, dict[str, Any]] = {}
    for level, name in PREFIXES.items():
        heatmap = report.heatmaps.get(name)
        if heatmap is None or not _fits(heatmap._bin_width_seconds, heatmap._nbins):
            continue
        for way in ("write", "read"):
            table = heatmap.to_df(ops=[way], interval_index=False)
            for rank, bins in zip(table.index, table.to_numpy(), strict=True):
                one = of_ranks.setdefault(int(rank), {"bin_seconds": heatmap._bin_width_seconds})
                if one["bin_seconds"] != heatmap._bin_width_seconds:
                    raise Error(
                        f"{path}: damaged: heatmaps of a rank with bins of different widths",
                        CORRUPT,
                    )
                one.setdefault(level, {})[way] = [int(count) for count in bins]
    return of_ranks


def _notes(report: Any, path: str) -> list[str]:
    known = set(MODULES.values())
    notes = [
        f"Darshan ran out of memory for its module {name}: what it counts there is incomplete"
        for name, module in report.modules.items()
        if name in known and module.get("partial_flag")
    ]
    notes += [
        f"the log has no module {module}: nothing is known of that level"
        for module in known
        if module not in report.modules
    ]
    return sorted(notes)


def trace_of(path: str) -> dict[str, Any]:
    check_log(path)
    try:
        import darshan
    except ImportError:
        raise Error(
            f"{path}: to read a log of Darshan takes the package darshan: "
            "pip install 'neve[darshan]'",
            FAILURE,
        ) from None
    try:
        with darshan.DarshanReport(path, read_all=False) as report:
            return _trace(report, path)
    except Error:
        raise
    except Exception as error:  # the package has no errors of its own
        raise Error(f"{path}: damaged: {type(error).__name__}: {error}", CORRUPT) from None


def _trace(report: Any, path: str) -> dict[str, Any]:
    job = report.metadata["job"]
    ranks = int(job["nprocs"])
    begin = job["start_time_sec"] + 1e-9 * job.get("start_time_nsec", 0)
    levels = [_Records(report, level) for level in MODULES]
    is_shared = any(record["rank"] == SHARED for level in levels for record in level.records)
    heat = _heatmaps(report, path)
    command = report.metadata["exe"]
    process = {"host": "", "program": command, "ranks": ranks, "start": begin}
    process["end"] = begin + float(job["run_time"])
    return {
        "neve_trace": 1,
        "command": [command] if command else [],
        "start": begin,
        "end": process["end"],
        "processes": [
            {
                "id": rank,
                "rank": rank,
                **process,
                **({"heatmap": heat[rank]} if rank in heat else {}),
            }
            for rank in range(ranks)
        ],
        "files": _files(levels, report.name_records),
        "incomplete": dict.fromkeys(
            (
                "dropped_calls",
                "dropped_bytes",
                "reentrant_calls",
                "phases_beyond",
                "writable_maps",
                "unreadable_parts",
            ),
            0,
        ),
        "absent": sum((level.absent() for level in levels), ["SHARES"] * is_shared),
        "notes": _notes(report, path),
    }


def main(arguments: list[str]) -> int:
    try:
        text = json.dumps(trace_of(arguments[0]))
    except Error as error:
        # Not on stderr, where Darshan's library has words of its own, some at the very end.
        print(error)
        return error.code
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
