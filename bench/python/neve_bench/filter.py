# SPDX-License-Identifier: BSD-3-Clause
"""The filter table: what repeatable encoding takes, and what appending to chunks does."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import neve
from neve._errors import BOUND_VIOLATED, Error

from . import arguments, report, timing, variables

GROUPS = ("lattice", "append")
BOUNDS = (1e-2, 1e-3, 1e-4, 1e-5)
MIN_BYTES = 1 << 18
MIN_FILL = 1e19  # from here on values mean "nothing here", and a range over them nothing
STEPS_IN_CHUNK = 24
APPENDED = {"small": (72, 96, 144), "middle": (72, 180, 360), "large": (48, 512, 512)}
APPEND_BOUND = 0.01
BLOSC_LEVELS = (1, 5)
MAX_LOSS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Two tables of neve.Filter at effort fast. lattice: the ratio of encoding that can be "
        "repeated, without and with the range of the values, to that of neve.compress, whose grid "
        "is fitted to the array, over real fields; and whether decoded values stay the same when "
        "they are encoded again. append: time steps of a synthetic field, written one per open "
        "into chunks of 24, and all in one open, against Blosc with zstd in the same run. Exit "
        "code 3 when a bound is broken."
    )
    parser.epilog = "example: neve bench filter --json filter.json -o filter.md"
    parser.add_argument("--only", nargs="+", choices=GROUPS, help="tables to make (both)")
    arguments.add_measurement(parser, 5, scratch=True)
    arguments.add_report(parser)


def _fields(data: Path) -> Iterator[tuple[str, np.ndarray]]:
    for path in sorted((data / "arrays").glob("*.npy")):
        yield path.name, np.load(path)
    for variable in variables.load(["climate"], data):
        array = variable.array
        if array.dtype.kind != "f" or array.nbytes < MIN_BYTES or array.ndim == 0:
            continue
        if np.abs(array[np.isfinite(array)]).max(initial=0) < MIN_FILL:
            yield variable.name, array


def _stored(path: Path, array: np.ndarray, arguments: Any) -> tuple[int, np.ndarray]:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, chunks=array.shape, **arguments)
    with h5py.File(path) as file:
        return file["x"].id.get_storage_size(), file["x"][()]


def _lattice_rows(data: Path, scratch: Path) -> Iterator[dict[str, Any]]:
    path = scratch / "lattice.h5"
    for name, array in _fields(data):
        width = float(np.ptp(array[np.isfinite(array)].astype("f8")))
        if width == 0:
            continue
        for rel in BOUNDS:
            bound = rel * width
            fitted = len(neve.compress(array, abs=bound))
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
                    "ratio of compress": array.nbytes / fitted,
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


@dataclass(frozen=True)
class Appended:
    seconds: float
    ratio: float
    error: float


def _append(path: Path, array: np.ndarray, chunks: Any, arguments: Any, one_open: bool) -> Appended:
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
    seconds = time.perf_counter() - begin
    with h5py.File(path) as file:
        error = float(np.abs(file["x"][()].astype("f8") - array).max())
        return Appended(seconds, array.nbytes / file["x"].id.get_storage_size(), error)


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
    path = scratch / "append.h5"
    for size, shape in APPENDED.items():
        array = _drifting(shape)
        contenders = _contenders(array)
        for one_open in (False, True):

            def run(name: str) -> Appended:
                arguments, chunks = contenders[name]  # noqa: B023
                return _append(path, array, chunks, arguments, one_open)  # noqa: B023

            runs = timing.in_turns(contenders, repeats, run)
            seconds = {name: statistics.median(r.seconds for r in of) for name, of in runs.items()}
            for name, of in runs.items():
                chunks, ratio, error = contenders[name][1], of[-1].ratio, of[-1].error
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


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return value if isinstance(value, str) else report.number(value)


def _summary(rows: list[dict[str, Any]]) -> str:
    """Of the lattice table, for each bound: the geometric mean and the worst field."""
    lines = []
    for bound in dict.fromkeys(row["bound"] for row in rows):
        for given in dict.fromkeys(row["given"] for row in rows):
            of_both = [r for r in rows if (r["bound"], r["given"]) == (bound, given)]
            mean = report.geomean(r["ratio"] / r["ratio of compress"] for r in of_both)
            worst = min(of_both, key=lambda r: r["% more"])
            lines.append(
                [
                    bound,
                    given,
                    str(len(of_both)),
                    _text(100 * (mean - 1)),
                    f"{_text(worst['% more'])} ({worst['field']})",
                    str(sum(r["% more"] < -MAX_LOSS for r in of_both)),
                ]
            )
    header = ["bound", "given", "fields", "% more, mean", "worst", f"more than {MAX_LOSS} % less"]
    return report.table(header, lines)


def tables(recorded: dict[str, Any]) -> str:
    parts = report.heading(recorded)
    if "lattice" in recorded:
        parts.append(_summary(recorded["lattice"]))
    for group in GROUPS:
        rows = recorded.get(group)
        if rows:
            header = list(rows[0])
            parts.append(report.table(header, [[_text(r[key]) for key in header] for r in rows]))
    return "\n\n".join(parts)


def run(options: argparse.Namespace) -> int:
    timing.check_repeats(options.repeats)
    wanted = options.only or GROUPS
    recorded: dict[str, Any] = {
        "command": "neve bench filter"
        + (" --only " + " ".join(options.only) if options.only else "")
        + f" --repeats {options.repeats}",
        "machine": report.machine(),
        "timing": f"wall time of the writes, median of {options.repeats}",
    }
    with tempfile.TemporaryDirectory(prefix="neve-bench-", dir=options.scratch) as folder:
        makers: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
            "lattice": lambda: _lattice_rows(Path(options.data), Path(folder)),
            "append": lambda: _append_rows(Path(folder), options.repeats),
        }
        for group in wanted:
            recorded[group] = list(makers[group]())
    report.deliver(options, recorded, tables(recorded))
    rows = [row for group in wanted for row in recorded[group]]
    broken = any(row["error / bound"] > 1 or not row.get("same again", True) for row in rows)
    return BOUND_VIOLATED if broken else 0
