# SPDX-License-Identifier: BSD-3-Clause
"""The xarray table: means and slices of a plotfile by xarray with dask, and by yt."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import neve
from neve._command import command_path
from neve._errors import BOUND_VIOLATED, FAILURE, Error

from . import arguments, made_plotfile, report, timing, write
from .programs import json_of, output_of

MADE = "made, 3 levels"
PLOTFILES = (MADE, "Nyx za64 z=7", "WarpX lwfa")
MADE_CELLS, MADE_BOX_CELLS = 80, 20  # 61 MB in five fields
MADE_FIELDS = ("density", "pressure", "x_velocity", "y_velocity", "z_velocity")
BOUND = "rel=1e-4"
# Of the difference between what both find, beside the mean magnitude of the field's values: means
# of fields of both signs are sums that cancel.
ALLOWED = 1e-12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Opens a plotfile and computes, by xarray with dask (engine neve, a dask chunk for each "
        "union of frames) and by yt: the volume-weighted mean of one field over the cells that no "
        "finer level covers, that of all fields, the mean of all cells of level 1, the "
        "area-weighted mean of a plane. Each from Neve's HDF5 file and from AMReX's directory that "
        "it was made of, opened anew each time. Both take turns. Memory is what a process of its "
        "own has at most, above what it has after its imports. Exit code 3 when the two differ by "
        f"more than {ALLOWED:g} of the field's mean magnitude on the same file."
    )
    parser.epilog = "examples: neve bench xarray --only made; neve bench xarray --json xarray.json"
    parser.add_argument(
        "--only",
        nargs="+",
        choices=[name.split()[0].strip(",") for name in PLOTFILES],
        help="plotfiles to read (all; made needs none of --data)",
    )
    arguments.add_measurement(parser, 5, time_limit=600, scratch=True)
    arguments.add_report(parser)


# --- what is computed ---


def _xarray_mean(path: str, fields: list[str]) -> list[float]:
    import xarray

    with xarray.open_datatree(path, engine="neve", chunks={}, covered="nan") as tree:
        levels = [node.to_dataset()[fields] for node in tree.children.values()]
        volumes = [math.prod(level.attrs["dx"]) for level in levels]
        sums = sum(level.sum() * v for level, v in zip(levels, volumes, strict=True))
        counts = sum(level.count() * v for level, v in zip(levels, volumes, strict=True))
        mean = (sums / counts).compute()
        return [float(mean[field]) for field in fields]


def _yt_mean(path: str, fields: list[str]) -> list[float]:
    dataset = _yt_dataset(path)
    everything = dataset.all_data()
    kind = dataset.field_list[0][0]
    volume = ("index", "cell_volume")
    return [float(everything.mean((kind, field), weight=volume).d) for field in fields]


def _xarray_level(path: str, fields: list[str]) -> list[float]:
    import xarray

    with xarray.open_dataset(path, engine="neve", group="level_1", chunks={}) as level:
        return [float(level[fields[0]].mean())]


def _yt_level(path: str, fields: list[str]) -> list[float]:
    dataset = _yt_dataset(path)
    kind = dataset.field_list[0][0]
    grids = [grid for grid in dataset.index.grids if grid.Level == 1]
    total = sum(float(grid[kind, fields[0]].d.sum()) for grid in grids)
    return [total / sum(int(math.prod(grid.ActiveDimensions)) for grid in grids)]


def _plane(path: str) -> float:
    """Near the middle along z, on no face of a cell."""
    with neve.open(path) as plotfile:
        finest = plotfile.levels[-1]
        middle = finest.domain.shape[2] // 2
        return plotfile.prob_lo[2] + (middle + 0.3) * finest.dx[2]


def _xarray_slice(path: str, fields: list[str]) -> list[float]:
    import xarray

    plane = _plane(path)
    sums = areas = 0.0
    with xarray.open_datatree(path, engine="neve", chunks={}, covered="nan") as tree:
        for node in tree.children.values():
            level = node.to_dataset()[fields[:1]]
            dx, dy, dz = level.attrs["dx"]
            if abs(level.z - plane).min() > dz / 2:
                continue
            values = level[fields[0]].sel(z=plane, method="nearest")
            sums += values.sum() * dx * dy
            areas += values.count() * dx * dy
        return [float(sums / areas)]


def _yt_slice(path: str, fields: list[str]) -> list[float]:
    plane = _plane(path)
    dataset = _yt_dataset(path)
    cut = dataset.slice("z", dataset.quan(plane, "code_length"))
    areas = cut["index", "dx"].d * cut["index", "dy"].d
    values = cut[dataset.field_list[0][0], fields[0]].d
    return [float((values * areas).sum() / areas.sum())]


def _yt_dataset(path: str) -> Any:
    import yt

    yt.set_log_level(50)
    return neve.load_yt(path, hint="BoxlibDataset" if Path(path).is_dir() else None)


class Task(NamedTuple):
    what: str
    takes_all: bool  # fields
    by: dict[str, Callable[[str, list[str]], list[float]]]


TASKS = (
    Task("mean of a field", False, {"xarray": _xarray_mean, "yt": _yt_mean}),
    Task("means of all fields", True, {"xarray": _xarray_mean, "yt": _yt_mean}),
    Task("mean of level 1", False, {"xarray": _xarray_level, "yt": _yt_level}),
    Task("mean of a plane", False, {"xarray": _xarray_slice, "yt": _yt_slice}),
)
READERS = ("xarray", "yt")


# --- what is measured ---


class Timed(NamedTuple):
    wall_s: float
    cpu_s: float
    found: list[float]


def _timed(task: Task, reader: str, path: Path, fields: list[str]) -> Timed:
    begin, cpu = time.perf_counter(), time.process_time()
    found = task.by[reader](str(path), fields)
    return Timed(time.perf_counter() - begin, time.process_time() - cpu, found)


def peak_bytes(number: int, reader: str, path: str, fields: list[str]) -> int:
    """In a process that does nothing else: what a task needs beside the modules it imports."""
    import neve.xarray  # noqa: F401

    if reader == "yt":
        import yt  # noqa: F401
        import yt.frontends.amrex.api
        import yt.frontends.chombo.api  # noqa: F401
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = _status_bytes("VmRSS")
    TASKS[number].by[reader](path, fields)
    return _status_bytes("VmHWM") - before


def _status_bytes(name: str) -> int:
    """Not getrusage's: that counts what the parent had, too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise Error(f"/proc/self/status has no {name}", FAILURE)


def _peak_in_child(
    number: int, reader: str, path: Path, fields: list[str], options: argparse.Namespace
) -> int:
    script = (
        "import json, sys; from neve_bench import xarray; "
        "print(json.dumps(xarray.peak_bytes(*json.loads(sys.argv[1]))))"
    )
    words = json.dumps([number, reader, str(path), fields])
    return int(json_of([sys.executable, "-c", script, words], options.time_limit))


def _magnitude(plotfile: neve.plotfile.Plotfile, field: str) -> float:
    """Mean absolute value over all levels; 1 for a field of zeros."""
    boxes = [np.abs(box) for level in plotfile for box in level[field]]
    total = sum(float(box.sum(dtype=np.float64)) for box in boxes)
    return total / sum(box.size for box in boxes) or 1.0


def _rows(
    name: str, storages: dict[str, Path], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    with neve.open(storages["neve"]) as plotfile:
        fields = list(plotfile.components)
        cells = sum(box.cells for level in plotfile for box in level.boxes)
        values_bytes = cells * len(fields) * plotfile.dtype.itemsize
        magnitudes = [_magnitude(plotfile, field) for field in fields]
    contenders = [(storage, reader) for storage in storages for reader in READERS]
    for number, task in enumerate(TASKS):
        wanted = fields if task.takes_all else fields[:1]
        for storage, reader in contenders:
            _timed(task, reader, storages[storage], wanted)  # imports, and the file in memory

        def run(contender: tuple[str, str], task=task, wanted=wanted) -> Timed:
            return _timed(task, contender[1], storages[contender[0]], wanted)

        runs = timing.in_turns(contenders, options.repeats, run)
        for (storage, reader), timed in runs.items():
            report.progress(f"{name}: {task.what}, {storage}, {reader}")
            theirs = runs[storage, "yt"][0].found
            triples = zip(timed[0].found, theirs, magnitudes[: len(wanted)], strict=True)
            yield {
                "plotfile": name,
                "values_bytes": values_bytes,
                "task": task.what,
                "storage": storage,
                "reader": reader,
                "wall_s": statistics.median(t.wall_s for t in timed),
                "cpu_s": statistics.median(t.cpu_s for t in timed),
                "peak_bytes": _peak_in_child(number, reader, storages[storage], wanted, options),
                "found": timed[0].found,
                "difference": max(abs(a - b) / magnitude for a, b, magnitude in triples),
            }
    report.progress("")


def _all_rows(options: argparse.Namespace, scratch: Path) -> Iterator[dict[str, Any]]:
    for name in PLOTFILES:
        if options.only and name.split()[0].strip(",") not in options.only:
            continue
        target = scratch / "neve.h5"
        if name == MADE:
            original = scratch / "made"
            levels = made_plotfile.nested_levels(MADE_CELLS, MADE_BOX_CELLS, 3)
            made_plotfile.write(original, MADE_FIELDS, levels, made_plotfile.waves(levels))
            _convert(original, target, options)
            yield from _rows(name, {"neve": target, "AMReX": original}, options)
        else:
            with write.plotfile_input(Path(options.data), name) as original:
                _convert(original, target, options)
                yield from _rows(name, {"neve": target, "AMReX": original}, options)
        target.unlink()


def _convert(original: Path, target: Path, options: argparse.Namespace) -> None:
    words = [str(command_path()), "convert", str(original), str(target), "--bound", BOUND]
    output_of(words, options.time_limit)


def run(options: argparse.Namespace) -> int:
    try:
        import dask
        import xarray
        import yt
    except ModuleNotFoundError as error:
        raise Error(f"bench xarray needs {error.name}: pip install {error.name}") from None
    timing.check_repeats(options.repeats)
    with tempfile.TemporaryDirectory(prefix="neve-bench-", dir=options.scratch) as scratch:
        rows = list(_all_rows(options, Path(scratch)))
    recorded = {
        "command": "neve bench xarray"
        + (" --only " + " ".join(options.only) if options.only else "")
        + f" --repeats {options.repeats}",
        "machine": report.machine(),
        "versions": {module.__name__: module.__version__ for module in (xarray, dask, yt)},
        "timing": f"opening included, medians of {options.repeats} in turns",
        "bound": BOUND,
        "rows": rows,
    }
    report.deliver(options, recorded, tables(recorded))
    return 0 if all(row["difference"] <= ALLOWED for row in rows) else BOUND_VIOLATED


def tables(recorded: dict[str, Any]) -> str:
    rows = recorded["rows"]
    of_yt = {(r["plotfile"], r["task"], r["storage"]): r for r in rows if r["reader"] == "yt"}
    lines = []
    for row in rows:
        peer = of_yt[row["plotfile"], row["task"], row["storage"]]
        lines.append(
            [
                f"{row['plotfile']} ({row['values_bytes'] / 1e6:.0f} MB)",
                row["task"],
                row["storage"],
                row["reader"],
                report.number(1e3 * row["wall_s"]),
                report.number(1e3 * row["cpu_s"]),
                report.number(row["peak_bytes"] / 2**20),
                report.number(peer["wall_s"] / row["wall_s"]),
                report.number(peer["cpu_s"] / row["cpu_s"]),
                report.number(row["difference"], 2),
            ]
        )
    header = [
        *("plotfile", "task", "storage", "reader", "ms", "CPU ms", "MiB"),
        *("times faster than yt", "by CPU time", "difference from yt"),
    ]
    return "\n\n".join([*report.heading(recorded), report.table(header, lines)])
