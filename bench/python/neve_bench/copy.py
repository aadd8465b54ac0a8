# SPDX-License-Identifier: BSD-3-Clause
"""The copy table: a netCDF file made smaller by today's tool and by `neve convert`."""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from neve._command import command_path
from neve._errors import Error

from . import arguments, report, timing
from .programs import output_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Writes the variables of netCDF files into one uncompressed netCDF-4 file, --copies times "
        "over, each file and copy in a group of its own, and compresses it with `nccopy -d1 -s` "
        "(shuffle and zlib) and with `neve convert`, lossless and within --bound. Neve's copies "
        "are verified: a value outside its bound ends the bench with an error. The tools take "
        "turns; times are the medians of wall and of CPU time."
    )
    parser.epilog = "example: neve bench copy ocean.nc --copies 20 --bound rel=1e-4"
    parser.add_argument("file", nargs="+", help="a netCDF file")
    parser.add_argument(
        "--copies", type=int, default=1, metavar="N", help="copies of all variables, in groups (1)"
    )
    parser.add_argument(
        "--bound", default="rel=1e-4", metavar="B", help="bound of the lossy copy (rel=1e-4)"
    )
    arguments.add_measurement(parser, 3, data=False, time_limit=600, scratch=True)
    arguments.add_report(parser)


def _copy_variables(source: Any, group: Any) -> None:
    """As they are stored: packed numbers stay packed."""
    source.set_auto_maskandscale(False)
    for name, dimension in source.dimensions.items():
        if name not in group.dimensions:
            group.createDimension(name, len(dimension))
    for name, variable in source.variables.items():
        if name in group.variables:
            raise Error(f"{group.path} has a variable {name} already; give files of other names")
        if not isinstance(variable.datatype, np.dtype) and variable.dtype is not str:
            raise Error(f"{name} has a type of its own, which this bench does not copy")
        attributes = {key: variable.getncattr(key) for key in variable.ncattrs()}
        fill = attributes.pop("_FillValue", None)
        made = group.createVariable(name, variable.dtype, variable.dimensions, fill_value=fill)
        made.set_auto_maskandscale(False)
        made.setncatts(attributes)
        made[...] = variable[...]
    for name, below in source.groups.items():
        _copy_variables(below, group.createGroup(name))


def _opened(name: str) -> Any:
    import netCDF4

    try:
        return netCDF4.Dataset(name)
    except OSError as error:
        raise Error(f"{name}: {error.strerror or error}") from None


def _write_source(files: list[str], copies: int, path: Path) -> None:
    import netCDF4

    with netCDF4.Dataset(path, "w") as target:
        for number in range(copies):
            for name in files:
                with _opened(name) as source:
                    _copy_variables(source, target.createGroup(f"copy_{number}/{Path(name).stem}"))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(words: list[str], target: Path, limit_seconds: float) -> tuple[float, float]:
    """Wall and CPU seconds."""
    target.unlink(missing_ok=True)
    cpu, begin = _cpu_seconds(), time.perf_counter()
    output_of(words, limit_seconds)
    return time.perf_counter() - begin, _cpu_seconds() - cpu


def _methods(source: Path, folder: Path, bound: str) -> dict[str, list[str]]:
    """By the command as people write it; the last word is what it writes."""
    neve = command_path()
    methods = {
        "nccopy -d1 -s": ["nccopy", "-d1", "-s", str(source), str(folder / "nccopy.nc")],
        "neve convert": [neve, "convert", str(source), str(folder / "lossless.nc")],
    }
    lossy = [neve, "convert", "--bound", bound, str(source), str(folder / "lossy.nc")]
    methods[f"neve convert --bound {bound}"] = lossy
    return methods


def _measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    source = folder / "source.nc"
    _write_source(options.file, options.copies, source)
    methods = _methods(source, folder, options.bound)
    seconds = timing.in_turns(
        methods,
        options.repeats,
        lambda method: _run(methods[method], Path(methods[method][-1]), options.time_limit),
    )
    rows = []
    for method, words in methods.items():
        if words[0] != "nccopy":
            output_of([words[0], "verify", str(source), words[-1]], options.time_limit)
        rows.append(
            {
                "method": method,
                "wall_seconds": statistics.median(wall for wall, _ in seconds[method]),
                "cpu_seconds": statistics.median(cpu for _, cpu in seconds[method]),
                "bytes": Path(words[-1]).stat().st_size,
            }
        )
    return {"source_bytes": source.stat().st_size, "rows": rows}


def _text(recorded: dict[str, Any]) -> str:
    first = recorded["rows"][0]
    rows = [
        [
            row["method"],
            report.number(row["wall_seconds"]),
            report.number(row["cpu_seconds"]),
            report.number(first["cpu_seconds"] / row["cpu_seconds"]),
            report.number(row["bytes"] / 1e6),
            report.number(recorded["source_bytes"] / row["bytes"]),
        ]
        for row in recorded["rows"]
    ]
    header = ["method", "wall s", "CPU s", "times as fast", "MB", "ratio"]
    size = report.number(recorded["source_bytes"] / 1e6)
    about = f"A file of {size} MB. Times as fast: CPU time of the first row over that of the row."
    return "\n\n".join([*report.heading(recorded), about, report.table(header, rows)])


def run(options: argparse.Namespace) -> int:
    timing.check_repeats(options.repeats)
    timing.check_positive("--copies", options.copies)
    names = " ".join(Path(name).name for name in options.file)
    folder = Path(tempfile.mkdtemp(prefix="neve-copy-", dir=options.scratch))
    try:
        recorded = {
            "command": f"neve bench copy {names} --copies {options.copies} --bound {options.bound} "
            f"--repeats {options.repeats}",
            "machine": report.machine(),
            "timing": f"median of {options.repeats}",
            **_measure(options, folder),
        }
    finally:
        shutil.rmtree(folder)
    report.deliver(options, recorded, _text(recorded))
    return 0
