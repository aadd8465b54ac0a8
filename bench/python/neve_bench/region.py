# SPDX-License-Identifier: BSD-3-Clause
"""The region table: what reading a part of a compressed file reads and decodes."""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import neve
from neve._command import command_path
from neve._errors import BOUND_VIOLATED, FAILURE, Error

from . import arguments, covered, report, timing, variables, write
from .case import Case
from .programs import output_of

GROUPS = ("climate", "sample", "plotfile")
GZIP = "shuffle+gzip 6"
PLOTFILE = "Nyx za64 z=7"
# Times steps of a field that drifts: what no file in the data folder is large enough for.
SAMPLE_SHAPE = (96, 256, 512)

Selection = tuple[slice, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads all of the largest variable of each climate file (and of a synthetic one), one "
        "step (the middle of the first axis) and a region (the middle half of the last two axes "
        "of that step) from HDF5 files with the same chunks, through Neve's filter and through "
        "shuffle and gzip; and all of a plotfile, and one field of one box of its finest level. "
        "Every value is kept bit for bit. Each part is read from a newly opened file, without a "
        "chunk cache. Bytes are those that the process read from files; times are the CPU time of "
        "the reading thread, medians. Exit code 3 when a part differs from the original."
    )
    parser.epilog = (
        "examples: neve bench region --json region.json; neve bench region --only sample "
        "--chunk-kib 64"
    )
    parser.add_argument(
        "--only", nargs="+", choices=GROUPS, help="data to read (all; sample needs none of --data)"
    )
    parser.add_argument(
        "--min-mib", type=float, default=1.0, help="minimum MiB of a climate variable (1)"
    )
    parser.add_argument(
        "--chunk-kib",
        type=int,
        default=512,
        help="most KiB of values in a chunk, in whole steps (512)",
    )
    arguments.add_measurement(parser, 5, time_limit=600, scratch=True)
    arguments.add_report(parser)


def _bytes_read() -> int:
    """By this process so far, from disk or cache."""
    try:
        for line in Path("/proc/self/io").read_text().splitlines():
            if line.startswith("rchar:"):
                return int(line.split()[1])
    except OSError as error:
        raise Error(f"/proc/self/io: cannot read: {error.strerror}", FAILURE) from None
    raise Error("/proc/self/io has no rchar", FAILURE)


def _counted(read: Callable[[], np.ndarray]) -> tuple[np.ndarray, float, int]:
    """What `read` gives, its seconds, and the bytes it read from files."""
    first = _bytes_read()
    own_bytes = _bytes_read() - first  # that looking takes
    before = _bytes_read()
    begin = time.thread_time()
    values = read()
    seconds = time.thread_time() - begin
    return values, seconds, _bytes_read() - before - own_bytes


def steps_in_chunk(shape: tuple[int, ...], itemsize: int, max_bytes: int) -> tuple[int, ...]:
    """Whole steps of the first axis, as many as fit, and one at least."""
    step_bytes = math.prod(shape[1:]) * itemsize
    return (max(1, min(shape[0], max_bytes // step_bytes)), *shape[1:])


def parts_of(shape: tuple[int, ...]) -> dict[str, Selection]:
    """All, the middle step, and the middle half of its last two axes."""
    everything = tuple(slice(0, n) for n in shape)
    middle = slice(shape[0] // 2, shape[0] // 2 + 1)
    halves = tuple(slice(n // 4, max(n // 4 + 1, n - n // 4)) for n in shape[-2:])
    return {
        "all": everything,
        "step": (middle, *everything[1:]),
        "region": (middle, *everything[1:-2], *halves),
    }


def chunks_of(part: Selection, chunk: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """First elements of the chunks that hold some of the part."""
    return itertools.product(
        *(range(s.start // n * n, s.stop, n) for s, n in zip(part, chunk, strict=True))
    )


def _row(
    name: str,
    storage: str,
    part: str,
    chunks: int,
    read: Callable[[], np.ndarray],
    expected: np.ndarray,
    repeats: int,
) -> dict[str, Any]:
    runs = [_counted(read) for _ in range(repeats)]
    values = np.ascontiguousarray(runs[0][0])
    return {
        "variable": name,
        "storage": storage,
        "part": part,
        "values": int(values.size),
        "chunks": chunks,
        "bytes_read": min(count for _, _, count in runs),
        "seconds": statistics.median(seconds for _, seconds, _ in runs),
        "is_same": values.tobytes() == np.ascontiguousarray(expected).tobytes(),
    }


def _read_dataset(path: Path, name: str, part: Selection) -> np.ndarray:
    import h5py

    with h5py.File(path, "r", rdcc_nbytes=0) as file:
        return file[name][part]


def _variable_rows(
    variable: Case, options: argparse.Namespace, scratch: Path
) -> Iterator[dict[str, Any]]:
    import h5py

    array = variable.array
    array = array.reshape([n for n in array.shape if n > 1])
    chunk = steps_in_chunk(array.shape, array.itemsize, options.chunk_kib << 10)
    filters = {
        "neve": neve.Filter(lossless=True, effort="balanced"),
        GZIP: {"compression": "gzip", "compression_opts": 6, "shuffle": True},
    }
    for storage, filter_words in filters.items():
        path = scratch / "variable.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("values", data=array, chunks=chunk, **filter_words)
        for kind, part in parts_of(array.shape).items():
            yield _row(
                variable.name,
                storage,
                kind,
                sum(1 for _ in chunks_of(part, chunk)),
                lambda path=path, part=part: _read_dataset(path, "values", part),
                array[part],
                options.repeats,
            )
        path.unlink()


def _finest_box(plotfile) -> tuple[int, str, int]:
    level = len(plotfile.levels) - 1
    return level, plotfile.components[0], len(plotfile.levels[level].boxes) // 2


def _all_of(path: Path) -> np.ndarray:
    with neve.open(path) as plotfile:
        boxes = [
            np.asarray(box).ravel(order="F")
            for level in plotfile.levels
            for field in level.values()
            for box in field
        ]
    return np.concatenate(boxes)


def _box_of(path: Path, level: int, field: str, box: int) -> np.ndarray:
    with neve.open(path) as plotfile:
        return np.asarray(plotfile.levels[level][field][box])


def _chunks_of_box(path: Path, level: int, box: int, cells: int) -> tuple[int, int]:
    """Chunks that hold the box's first field, and those of all levels."""
    import h5py

    with h5py.File(path, "r") as file:
        group = file[f"level_{level}"]
        begin = int(group["data:offsets=0"][box])
        elements = group["data:datatype=0"].chunks[0]
        total = sum(
            file[name]["data:datatype=0"].id.get_num_chunks()
            for name in file
            if name.startswith("level_")
        )
    return (begin + cells - 1) // elements - begin // elements + 1, total


def _plotfile_rows(options: argparse.Namespace, scratch: Path) -> Iterator[dict[str, Any]]:
    import h5py

    with write.plotfile_input(Path(options.data), PLOTFILE) as original:
        converted = scratch / "neve.h5"
        output_of(
            [str(command_path()), "convert", str(original), str(converted)]
            + ["--bound", "lossless", "--effort", "balanced", "--covered", covered.DEFAULT],
            options.time_limit,
        )
        plain = scratch / "plain.h5"
        write.write_uncompressed(original, converted, plain)
        with h5py.File(plain, "r+") as file:
            for name in (n for n in file if n.startswith("level_")):
                values = file[name]["data:datatype=0"][()]
                del file[name]["data:datatype=0"]
                file[name].create_dataset(
                    "data:datatype=0",
                    data=values,
                    chunks=(min(values.size, write.GZIP_CHUNK_ELEMENTS),),
                    compression="gzip",
                    compression_opts=6,
                    shuffle=True,
                )
        everything = _all_of(original)
        with neve.open(original) as plotfile:
            level, field, box = _finest_box(plotfile)
            expected = np.asarray(plotfile.levels[level][field][box])
    for storage, path in {"neve": converted, GZIP: plain}.items():
        touched, total = _chunks_of_box(path, level, box, expected.size)
        yield _row(
            *(PLOTFILE, storage, "all", total),
            lambda path=path: _all_of(path),
            everything,
            options.repeats,
        )
        yield _row(
            *(PLOTFILE, storage, "box", touched),
            lambda path=path: _box_of(path, level, field, box),
            expected,
            options.repeats,
        )


def _sample() -> Case:
    """From a fixed seed: waves that move, with noise in the low bits."""
    random = np.random.default_rng(5)
    t, y, x = (np.linspace(0, 3, n, dtype=np.float32) for n in SAMPLE_SHAPE)
    waves = np.sin(3 * x[None, None, :] + t[:, None, None]) * np.cos(2 * y[None, :, None])
    values = 280 + 15 * waves + 0.01 * random.standard_normal(SAMPLE_SHAPE, np.float32)
    return Case("sample", f"sample {SAMPLE_SHAPE}", values.astype(np.float32))


def _rows(options: argparse.Namespace, scratch: Path) -> Iterator[dict[str, Any]]:
    groups = options.only or GROUPS
    largest: dict[str, Case] = {}  # of each file
    found = variables.load(["climate"], Path(options.data)) if "climate" in groups else iter(())
    for variable in found:
        array = variable.array
        file = variable.name.split(":")[0]
        is_large = array.nbytes >= options.min_mib * 2**20
        if not is_large or sum(n > 1 for n in array.shape) < 3:
            continue
        if file not in largest or array.nbytes > largest[file].array.nbytes:
            largest[file] = variable
    for variable in [*largest.values(), *([_sample()] if "sample" in groups else [])]:
        yield from _variable_rows(variable, options, scratch)
    if "plotfile" in groups:
        yield from _plotfile_rows(options, scratch)


def run(options: argparse.Namespace) -> int:
    timing.check_repeats(options.repeats)
    timing.check_positive("--chunk-kib", options.chunk_kib)
    with tempfile.TemporaryDirectory(prefix="neve-bench-", dir=options.scratch) as scratch:
        rows = list(_rows(options, Path(scratch)))
    if not rows:
        raise Error(f"no variable with three axes and {options.min_mib} MiB; --min-mib allows less")
    recorded = {
        "command": "neve bench region"
        + (" --only " + " ".join(options.only) if options.only else "")
        + f" --chunk-kib {options.chunk_kib} --repeats {options.repeats}",
        "machine": report.machine(),
        "timing": f"CPU time of the reading thread, median of {options.repeats}",
        "rows": rows,
    }
    report.deliver(options, recorded, tables(recorded))
    return 0 if all(row["is_same"] for row in rows) else BOUND_VIOLATED


def tables(recorded: dict[str, Any]) -> str:
    rows = recorded["rows"]
    whole = {(r["variable"], r["storage"]): r for r in rows if r["part"] == "all"}
    gzipped = {(r["variable"], r["part"]): r for r in rows if r["storage"] == GZIP}

    def times(above: float, below: float) -> str:
        return report.number(above / below) if below > 0 else "-"

    lines = []
    for row in rows:
        of_all = whole[row["variable"], row["storage"]]
        peer = gzipped[row["variable"], row["part"]]
        lines.append(
            [
                row["variable"],
                row["storage"],
                row["part"],
                report.number(100 * row["values"] / of_all["values"]),
                f"{row['chunks']} of {of_all['chunks']}",
                str(row["bytes_read"]),
                report.number(100 * row["bytes_read"] / of_all["bytes_read"]),
                report.number(1e3 * row["seconds"]),
                times(of_all["seconds"], row["seconds"]),
                times(peer["bytes_read"], row["bytes_read"]),
                times(peer["seconds"], row["seconds"]),
                "yes" if row["is_same"] else "NO",
            ]
        )
    header = [
        *("variable", "storage", "part", "% of values", "chunks", "bytes read", "% of all bytes"),
        *("ms", "times faster than all", "times less read than gzip", "times faster than gzip"),
        "same",
    ]
    return "\n\n".join([*report.heading(recorded), report.table(header, lines)])
