# SPDX-License-Identifier: BSD-3-Clause
"""The write table: writing in parallel, sizes of converted AMR files, slices through yt."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import neve
from neve._command import command_path
from neve._errors import FAILURE, Error

from . import arguments, covered, report, timing
from .programs import json_of, mpirun, output_of

# (name, place under --data): real plotfiles.
PLOTFILES = {
    "Nyx lya32 z=10": "amr/nyx_lya32_plt00113",
    "Nyx za64 z=7": "amr/nyx_za64_plt00088",
    "CNS RT 450": "amr/cns_rt_plt00450",
    "WarpX lwfa": "amr/warpx_lwfa_plt000301.tar.xz",
    "Chombo ramp 20": "chombo/ramp.000020.3d.hdf5",
    "Chombo blast": "chombo/explosion_density.000020.3d.hdf5",
}
PARALLEL_INPUT = "Nyx za64 z=7"
SMALL_BOX_CELLS = (8, 16, 32)
MIB = 1 << 20
GZIP_CHUNK_ELEMENTS = MIB // 8  # 1 MiB of float64: a usual chunk for gzip

# Run in a fresh Python, so that no reader profits from what another one left in its caches.
_SLICE_SCRIPT = """
import sys, time
import neve, yt
yt.set_log_level(50)
path, field = sys.argv[1:]
begin = time.perf_counter()
ds = yt.load(path)
middle = float(ds.domain_center[2])
values = ds.slice("z", middle)["chombo", field]
print(time.perf_counter() - begin, len(values))
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Writes an AMR plotfile in parallel, uncompressed and compressed; writes it with small "
        "boxes, beside arrays of the same values; converts real plotfiles and compares their "
        "sizes; reads slices of them through yt."
    )
    parser.epilog = (
        "examples: neve bench write --ranks 2 --repeats 3; neve bench write --json write.json "
        "-o write.md"
    )
    parser.add_argument("--bound", default="rel=1e-3", help="error bound (rel=1e-3)")
    covered.add_argument(parser)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4], help="MPI ranks (2 4)")
    parser.add_argument(
        "--replicas", type=int, default=2, help="copies of the input along each direction"
    )
    arguments.add_measurement(parser, 5, time_limit=600, scratch=True)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> int:
    timing.check_repeats(options.repeats)
    command = command_path()
    with tempfile.TemporaryDirectory(prefix="neve-bench-", dir=options.scratch) as scratch:
        scratch = Path(scratch)
        parallel = _parallel_writes(options, command.with_name("neve_bench_write"), scratch)
        small_boxes = _small_boxes(options, command.with_name("neve_bench_small_boxes"), scratch)
        files = list(_converted_files(options, command, scratch))
    recorded = {
        "covered": options.covered,
        "command": f"neve bench write --bound {options.bound} --covered {options.covered}"
        f" --repeats {options.repeats}"
        f" --replicas {options.replicas} --ranks {' '.join(map(str, options.ranks))}",
        "machine": report.machine(),
        "input_of_parallel_writes": PARALLEL_INPUT,
        "parallel_writes": parallel,
        "small_boxes": small_boxes,
        "files": files,
    }
    report.deliver(options, recorded, tables(recorded))
    return 0


@contextlib.contextmanager
def plotfile_input(data: Path, name: str) -> Iterator[Path]:
    """The plotfile of that name, unpacked if need be."""
    path = data / PLOTFILES[name]
    if not path.exists():
        raise Error(f"{PLOTFILES[name]}: not in the folder given with --data", FAILURE)
    if path.suffix != ".xz":
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="neve-bench-input-") as folder:
        output_of(["tar", "-xf", str(path), "-C", folder], 60)
        (unpacked,) = (header.parent for header in Path(folder).rglob("Header"))
        yield unpacked


def _parallel_writes(
    options: argparse.Namespace, program: Path, scratch: Path
) -> list[dict[str, Any]]:
    rows = []
    with plotfile_input(Path(options.data), PARALLEL_INPUT) as plotfile:
        for ranks in options.ranks:
            folder = scratch / f"ranks{ranks}"
            folder.mkdir()
            words = [*mpirun(ranks), str(program), str(plotfile)]
            words += [str(folder), options.bound, options.covered]
            words += [str(options.replicas), str(options.repeats)]
            rows.append(json_of(words, options.time_limit))
            shutil.rmtree(folder)
    return rows


def _small_boxes(options: argparse.Namespace, program: Path, scratch: Path) -> list[dict[str, Any]]:
    rows = []
    with plotfile_input(Path(options.data), PARALLEL_INPUT) as plotfile:
        for covered_cells in ("keep", "auto"):
            for box_cells in SMALL_BOX_CELLS:
                words = [*mpirun(1), str(program), str(plotfile), str(scratch), options.bound]
                words += [covered_cells, str(box_cells), str(options.repeats)]
                rows.append(json_of(words, options.time_limit))
    return rows


def _converted_files(
    options: argparse.Namespace, command: Path, scratch: Path
) -> Iterator[dict[str, Any]]:
    for name in PLOTFILES:
        with plotfile_input(Path(options.data), name) as original:
            folder = scratch / "files"
            folder.mkdir()
            converted = folder / "neve.h5"
            output_of(
                [str(command), "convert", str(original), str(converted)]
                + ["--bound", options.bound, "--covered", options.covered, "--ghosts", "drop"],
                options.time_limit,
            )
            plain = folder / "plain.h5"
            raw_bytes = write_uncompressed(original, converted, plain)
            gzipped = folder / "gzip.h5"
            words = ["h5repack", "-l", f"CHUNK={GZIP_CHUNK_ELEMENTS}", "-f", "SHUF"]
            output_of([*words, "-f", "GZIP=6", str(plain), str(gzipped)], options.time_limit)
            stored_bytes = converted.stat().st_size
            row = {
                "file": name,
                "raw_bytes": raw_bytes,
                "stored_bytes": stored_bytes,
                "gzip_bytes": gzipped.stat().st_size,
                "ratio": raw_bytes / stored_bytes,
                "smaller_than_gzip": gzipped.stat().st_size / stored_bytes,
            }
            with neve.open(converted) as plotfile:
                field = plotfile.components[0]
            row |= _slice_times(converted, plain, field, options)
            shutil.rmtree(folder)
            yield row


def write_uncompressed(original: Path, converted: Path, target: Path) -> int:
    """The converted file's layout with the original's values, uncompressed. Gives the raw bytes."""
    raw_bytes = 0
    with (
        neve.open(original) as source,
        h5py.File(converted, "r") as layout,
        h5py.File(target, "w", libver="earliest") as out,
    ):
        for key, value in layout.attrs.items():
            out.attrs.create(key, value, dtype=layout.attrs.get_id(key).dtype)
        for name in layout:
            if not name.startswith("level_"):
                layout.copy(name, out)
                continue
            group = out.create_group(name)
            for key, value in layout[name].attrs.items():
                group.attrs.create(key, value, dtype=layout[name].attrs.get_id(key).dtype)
            for member in layout[name]:
                if member != "data:datatype=0":
                    layout[name].copy(member, group)
            level = source[int(name.removeprefix("level_"))]
            offsets = layout[name]["data:offsets=0"][()]
            chunked = layout[name]["data:datatype=0"]
            values = np.zeros(chunked.shape, chunked.dtype)
            for box, begin in enumerate(offsets[: len(level.boxes)]):
                begin = int(begin)
                for component in source.components:
                    data = level[component][box].ravel(order="F")
                    values[begin : begin + data.size] = data
                    begin += data.size
                    raw_bytes += data.nbytes
            group.create_dataset("data:datatype=0", data=values)
    return raw_bytes


def _slice_times(
    converted: Path, plain: Path, field: str, options: argparse.Namespace
) -> dict[str, Any]:

    def run_slice(path: Path) -> tuple[float, int]:
        words = [sys.executable, "-c", _SLICE_SCRIPT, str(path), field]
        seconds, length = output_of(words, options.time_limit).split()
        return float(seconds), int(length)

    runs = timing.in_turns((converted, plain), options.repeats, run_slice)
    lengths = {length for of in runs.values() for _, length in of}
    if len(lengths) != 1:
        raise Error(f"yt finds slices of {lengths} values in the two files", FAILURE)
    medians = {path: statistics.median(seconds for seconds, _ in of) for path, of in runs.items()}
    return {
        "yt_slice_seconds": medians[converted],
        "yt_slice_uncompressed_seconds": medians[plain],
        "yt_slice_over_uncompressed": medians[converted] / medians[plain],
    }


def tables(recorded: dict[str, Any]) -> str:
    number = report.number
    parallel = [
        [
            str(row["ranks"]),
            number(row["raw_bytes"] / MIB),
            number(row["stored_bytes"] / MIB),
            number(1e3 * row["write_sync_seconds"]),
            number(1e3 * row["plain_mpi_io_seconds"]),
            number(row["write_sync_seconds"] / row["plain_mpi_io_seconds"]),
            number(1e3 * row["total_seconds"]),
            number(1e3 * row["raw_plotfile_seconds"]),
            number(row["memory_above_input_bytes"] / MIB),
        ]
        for row in recorded["parallel_writes"]
    ]
    small_boxes = [
        [
            str(row["box_cells"]),
            row["covered"],
            str(row["boxes"]),
            number(row["raw_bytes"] / MIB),
            number(row["stored_bytes"] / MIB),
            number(row["array_bytes"] / MIB),
            number(row["raw_bytes"] / row["write_cpu_seconds"] / 1e6),
            number(row["raw_bytes"] / row["array_cpu_seconds"] / 1e6),
            number(row["array_cpu_seconds"] / row["write_cpu_seconds"]),
        ]
        for row in recorded.get("small_boxes", [])
    ]
    files = [
        [
            row["file"],
            number(row["raw_bytes"] / MIB),
            number(row["stored_bytes"] / MIB),
            number(row["ratio"]),
            number(row["gzip_bytes"] / MIB),
            number(row["smaller_than_gzip"]),
            number(row["yt_slice_seconds"]),
            number(row["yt_slice_uncompressed_seconds"]),
            number(row["yt_slice_over_uncompressed"]),
        ]
        for row in recorded["files"]
    ]
    smaller = report.geomean(row["smaller_than_gzip"] for row in recorded["files"])
    return "\n\n".join(
        [
            *report.heading(recorded),
            f"Neve's files: `--covered {recorded['covered']}`.",
            f"### Writing in parallel ({recorded['input_of_parallel_writes']}, replicated)",
            report.table(
                [
                    *("ranks", "raw MiB", "stored MiB", "write + sync ms", "plain MPI-IO ms"),
                    *(
                        "write + sync / plain",
                        "total ms",
                        "raw plotfile ms",
                        "memory above input MiB",
                    ),
                ],
                parallel,
            ),
            f"### Small boxes ({recorded['input_of_parallel_writes']}, one rank, effort fast)",
            report.table(
                [
                    *("cells a side", "covered", "boxes", "raw MiB", "file MiB", "arrays MiB"),
                    *("write MB/s", "arrays MB/s", "write / arrays"),
                ],
                small_boxes,
            ),
            "### Converted files",
            report.table(
                [
                    *("file", "raw MiB", "stored MiB", "ratio", "gzip-6 MiB", "gzip / Neve"),
                    *("yt slice s", "uncompressed s", "slice / uncompressed"),
                ],
                files,
            ),
            f"Geomean of gzip / Neve: {number(smaller)}.",
        ]
    )
