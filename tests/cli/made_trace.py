# SPDX-License-Identifier: BSD-3-Clause
"""Traces whose counts a test chooses, in the JSON that docs/trace.md describes."""

import json

LEVELS = {
    "mpiio": (
        "MPIIO",
        "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS "
        "SPLIT_WRITES NB_READS NB_WRITES SYNCS HINTS VIEWS SET_SIZES BYTES_READ BYTES_WRITTEN "
        "RW_SWITCHES",
    ),
    "posix": (
        "POSIX",
        "OPENS DUPS READS WRITES SEEKS MMAPS FSYNCS FDSYNCS TRUNCATES ALLOCATES BYTES_READ "
        "BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES SEQ_READS "
        "SEQ_WRITES RW_SWITCHES",
    ),
    "stdio": (
        "STDIO",
        "OPENS FDOPENS READS WRITES SEEKS FLUSHES BYTES_READ BYTES_WRITTEN MAX_BYTE_READ "
        "MAX_BYTE_WRITTEN",
    ),
}
BOUNDS = (100, 2**10, 10 * 2**10, 100 * 2**10, 2**20, 4 * 2**20, 10 * 2**20, 100 * 2**20, 2**30)
BINS = "0_100 100_1K 1K_10K 10K_100K 100K_1M 1M_4M 4M_10M 10M_100M 100M_1G 1G_PLUS".split()
START = 1_700_000_000.0
INCOMPLETE = (
    "dropped_calls dropped_bytes reentrant_calls phases_beyond writable_maps unreadable_parts"
).split()


def bin_of(size):
    return BINS[sum(size > bound for bound in BOUNDS)]


def level(name, writes=(), reads=(), begin=0.0, seconds=0.5, **counters):
    """A level's counts of these writes and reads; `writes` are sizes."""
    prefix, names = LEVELS[name]
    middle = "AGG_" if name == "mpiio" else ""
    values = {f"{prefix}_{one}": 0 for one in names.split()}
    values |= {f"{prefix}_SIZE_{way}_{middle}{b}": 0 for way in ("READ", "WRITE") for b in BINS}
    for way, done, sizes in (("WRITE", "WRITTEN", writes), ("READ", "READ", reads)):
        values[f"{prefix}_{'INDEP_' if name == 'mpiio' else ''}{way}S"] = len(sizes)
        values[f"{prefix}_BYTES_{done}"] = sum(sizes)
        for size in sizes:
            values[f"{prefix}_SIZE_{way}_{middle}{bin_of(size)}"] += 1
        if sizes:
            values[f"{prefix}_F_{way}_START_TIMESTAMP"] = begin
            values[f"{prefix}_F_{way}_END_TIMESTAMP"] = begin + seconds
            values[f"{prefix}_F_{way}_TIME"] = seconds
    values[f"{prefix}_{'INDEP_' if name == 'mpiio' else ''}OPENS"] = 1
    values[f"{prefix}_F_OPEN_START_TIMESTAMP"] = begin
    values[f"{prefix}_F_OPEN_END_TIMESTAMP"] = begin + 0.01
    values |= {f"{prefix}_{one}": value for one, value in counters.items()}
    pairs = {way: [[s, list(sizes).count(s)] for s in sorted(set(sizes))] for way, sizes in
             (("write", writes), ("read", reads))}  # fmt: skip
    return {"counters": values, "read_sizes": pairs["read"], "write_sizes": pairs["write"]}


def share(process, **moved):
    """`posix_write=(calls, bytes, seconds)`"""
    keys = ("calls", "bytes", "seconds")
    return {"process": process} | {k: dict(zip(keys, v, strict=True)) for k, v in moved.items()}


def file(path, shares=(), phases=None, renamed_to=(), **levels):
    told = [{"phase": name, **counts} for name, counts in (phases or {"": levels}).items()]
    return {
        "path": path,
        "renamed_to": list(renamed_to),
        "phases": told,
        "shares": list(shares),
    }


def trace(files, processes=4, seconds=10.0, heatmaps=None, overflow=None):
    """`heatmaps`: by process."""
    ranks = [
        {
            "host": "node",
            "id": 100 + p,
            "program": "/bin/simulation",
            "rank": p,
            "ranks": processes,
            "start": START,
            "end": START + seconds,
        }
        for p in range(processes)
    ]
    for process, heatmap in (heatmaps or {}).items():
        ranks[process]["heatmap"] = heatmap
    incomplete = dict.fromkeys(INCOMPLETE, 0)
    if overflow:
        incomplete["overflow"] = overflow
    return {
        "neve_trace": 1,
        "command": ["simulation", "input"],
        "start": START,
        "end": START + seconds,
        "processes": ranks,
        "files": files,
        "incomplete": incomplete,
    }


def write(path, made):
    path.write_text(json.dumps(made))
    return path
