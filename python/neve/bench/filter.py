# SPDX-License-Identifier: BSD-3-Clause
"""The filter table: what repeatable encoding takes, and what appending to chunks does."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import neve

from .._errors import BOUND_VIOLATED, Error
from . import report, variables

GROUPS = ("lattice", "append")
BOUNDS = (1e-2, 1e-3, 1e-4, 1e-5)
STEPS_IN_CHUNK = 24
APPENDED = {"small": (72, 96, 144), "middle": (72, 180, 360), "large": (48, 512, 512)}
APPEND_BOUND = 0.01
BLOSC_LEVELS = (1, 5)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Two tables of neve.Filter at effort fast. lattice: the ratio of encoding that can be "
        "repeated, without and with the range of the values, to that of rewrite=False, whose grid "
        "is fitted to each chunk, over real fields; and whether encoding what was decoded gives it "
        "again. append: time steps of a made field written one an open into chunks of 24, and all "
        "in one open, against Blosc with zstd in the same run. Exit code 3 when a bound is broken."
    )
    parser.epilog = "example: neve bench filter --json filter.json -o filter.md"
    parser.add_argument("--only", nargs="+", choices=GROUPS, help="one of the tables (both)")
    parser.add_argument("--data", default="../shared/data", help="folder of the real files")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs; the median counts (5)")
    parser.add_argument("--scratch", help="folder for the files written (the system's)")
    parser.add_argument("--json", metavar="FILE", help="write everything measured")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the tables")


def _fields(data: Path) -> Iterator[tuple[str, np.ndarray]]:
    for path in sorted((data / "arrays").glob("*.npy")):
        yield path.name, np.load(path)
    for variable in variables.read(data / "climate", least_bytes=1 << 18):
        array = variable.array
        if array.dtype.kind == "f" and np.abs(array[np.isfinite(array)]).max(initial=0) < 1e19:
            yield variable.name, array


def _stored(path: Path, array: np.ndarray, arguments: Any) -> tuple[int, np.ndarray]:
    import h5py

    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("x", data=array, chunks=array.shape, **arguments)
        return dataset.id.get_storage_size(), dataset[()]


def _lattice_rows(data: Path, scratch: Path) -> Iterator[dict[str, Any]]:
    path = scratch / "lattice.h5"
    for name, array in _fields(data):
        width = float(np.ptp(array[np.isfinite(array)].astype("f8")))
        if width == 0:
            continue
        for rel in BOUNDS:
            bound = rel * width
            fitted, _ = _stored(path, array, neve.Filter(abs=bound, rewrite=False))
            for kind, options in (("abs", {}), ("abs, data", {"data": array})):
                arguments = neve.Filter(abs=bound, **options)
                stored, found = _stored(path, array, arguments)
                _, again = _stored(path, found, arguments)
                error = np.nanmax(np.abs(found.astype("f8") - array.astype("f8")))
                yield {
                    "field": name,
                    "bound": f"{rel:g} of range",
                    "given": kind,
                    "ratio": array.nbytes / stored,
                    "ratio, rewrite=False": array.nbytes / fitted,
                    "% more": 100 * (fitted / stored - 1),
                    "error / bound": float(error / bound),
                    "same again": found.tobytes() == again.tobytes(),
                }


def _drifting(shape: tuple[int, ...]) -> np.ndarray:
    """A smooth field around 280 that changes a little with each step."""
    rng = np.random.default_rng(1)

    def smooth(scale: int) -> np.ndarray:
        wave = np.fft.rfft2(rng.standard_normal(shape[1:]))
        y, x = np.fft.fftfreq(shape[1])[:, None], np.fft.rfftfreq(shape[2])[None]
        field = np.fft.irfft2(wave * np.exp(-((y**2 + x**2) * scale**2) * 20), shape[1:])
        return field / np.abs(field).max()

    state = 20 * smooth(8)
    out = np.empty(shape, "f4")
    for step in range(shape[0]):
        state = 0.98 * state + smooth(4)
        out[step] = 280 + state
    return out


def _append(path: Path, array: np.ndarray, chunks: Any, arguments: Any, one_open: bool) -> float:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset(
            "x",
            shape=(0, *array.shape[1:]),
            maxshape=(None, *array.shape[1:]),
            dtype=array.dtype,
            chunks=chunks,
            **arguments,
        )
    begin = time.perf_counter()
    steps = [range(len(array))] if one_open else [[step] for step in range(len(array))]
    for group in steps:
        with h5py.File(path, "r+") as file:
            for step in group:
                file["x"].resize(step + 1, axis=0)
                file["x"][step] = array[step]
    return time.perf_counter() - begin


def _contenders(array: np.ndarray) -> dict[str, tuple[Any, Any]]:
    try:
        import hdf5plugin
    except ImportError:
        raise Error("bench filter: hdf5plugin is not installed (pip install hdf5plugin)") from None
    chunks = (STEPS_IN_CHUNK, *array.shape[1:])
    guessed = neve.guess_chunks(array.shape, array.dtype, append_axis=0)
    found = {
        f"Blosc zstd {level}": (dict(hdf5plugin.Blosc("zstd", level)), chunks)
        for level in BLOSC_LEVELS
    }
    found["neve"] = (neve.Filter(abs=APPEND_BOUND), chunks)
    found["neve, data="] = (neve.Filter(abs=APPEND_BOUND, data=array), chunks)
    found["neve, guess_chunks"] = (neve.Filter(abs=APPEND_BOUND), guessed)
    return found


def _append_rows(scratch: Path, repeats: int) -> Iterator[dict[str, Any]]:
    import h5py

    path = scratch / "append.h5"
    for size, shape in APPENDED.items():
        array = _drifting(shape)
        contenders = _contenders(array)
        for one_open in (False, True):
            runs: dict[str, list[float]] = {name: [] for name in contenders}
            rows = {}
            for _ in range(repeats):
                for name, (arguments, chunks) in contenders.items():
                    runs[name].append(_append(path, array, chunks, arguments, one_open))
                    with h5py.File(path) as file:
                        error = float(np.abs(file["x"][()].astype("f8") - array).max())
                        rows[name] = (chunks, array.nbytes / file["x"].id.get_storage_size(), error)
            seconds = {name: statistics.median(times) for name, times in runs.items()}
            for name, (chunks, ratio, error) in rows.items():
                yield {
                    "steps": f"{size} {'x'.join(map(str, shape))}",
                    "writes": "all in one open" if one_open else "one an open",
                    "filter": name,
                    "chunk": "x".join(map(str, chunks)),
                    "ms a step": 1e3 * seconds[name] / len(array),
                    **{
                        f"time over zstd {level}": seconds[name] / seconds[f"Blosc zstd {level}"]
                        for level in BLOSC_LEVELS
                    },
                    "ratio": ratio,
                    "error / bound": error / APPEND_BOUND,
                }


def _table(rows: list[dict[str, Any]]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "NO"
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    head = list(rows[0])
    lines = [head, ["---"] * len(head), *[[text(row[key]) for key in head] for row in rows]]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def run(options: argparse.Namespace) -> int:
    wanted = options.only or GROUPS
    tables: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        makers: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
            "lattice": lambda: _lattice_rows(Path(options.data), Path(folder)),
            "append": lambda: _append_rows(Path(folder), options.repeats),
        }
        for group in wanted:
            tables[group] = list(makers[group]())
    worst = max((r["error / bound"] for rows in tables.values() for r in rows), default=0)
    return BOUND_VIOLATED if report.deliver(options, "filter", tables, _table) and worst > 1 else 0
