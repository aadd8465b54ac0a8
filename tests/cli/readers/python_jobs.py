# SPDX-License-Identifier: BSD-3-Clause
"""Reads files with the Python libraries that people have, one tool a process, and saves arrays.

    python python_jobs.py TOOL

A line of JSON on stdin is a job, a line on stdout its answer. Knows nothing of Neve.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Job = dict[str, Any]


def every_second(dims: int) -> tuple[slice, ...]:
    return (slice(1, None, 2),) * dims


def texts(values: Any) -> np.ndarray:
    words = [w.decode() if isinstance(w, bytes) else str(w) for w in np.ravel(values)]
    return np.array(words, dtype="U")


# --- h5py ---


def h5py_read(job: Job, part: bool = False) -> Arrays:
    import h5py

    with h5py.File(job["path"]) as file:
        found = {n: file[n][every_second(file[n].ndim) if part else ()] for n in job["names"]}
        return found | {n: texts(file[n][()]) for n in job["texts"]}


def h5py_write(job: Job) -> Arrays:
    """The first number of each dataset becomes the last one."""
    import h5py

    copy = Path(job["folder"]) / "copy.h5"
    shutil.copyfile(job["path"], copy)
    with h5py.File(copy, "r+") as file:
        for name in job["numbers"]:
            file[name][(0,) * file[name].ndim] = file[name][(-1,) * file[name].ndim]
    return h5py_read({**job, "path": copy})


def dask_of_h5py(job: Job) -> Arrays:
    import dask.array
    import h5py

    with h5py.File(job["path"]) as file:
        lazy = {n: dask.array.from_array(file[n], file[n].chunks or -1) for n in job["names"]}
        return {name: np.asarray(array.compute()) for name, array in lazy.items()}


# --- netCDF4 ---


def netcdf4_read(job: Job, part: bool = False) -> Arrays:
    import netCDF4

    with netCDF4.Dataset(job["path"]) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        found = {n: file[n][every_second(file[n].ndim) if part else ...] for n in job["names"]}
        return found | {n: texts(file[n][...]) for n in job["texts"]}


def netcdf4_write(job: Job) -> Arrays:
    import netCDF4

    copy = Path(job["folder"]) / "copy.nc"
    shutil.copyfile(job["path"], copy)
    with netCDF4.Dataset(copy, "r+") as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        for name in job["numbers"]:
            file[name][(0,) * file[name].ndim] = file[name][(-1,) * file[name].ndim]
    return netcdf4_read({**job, "path": copy})


# --- xarray: each takes the name of an engine ---


def open_group(job: Job, engine: str, group: str, **options: Any) -> Any:
    import xarray

    return xarray.open_dataset(
        job["path"],
        engine=engine,
        group=group or None,
        decode_cf=False,
        **options,
    )


def by_group(names: list[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition("/")[0], []).append(name)
    return groups


def xarray_read(job: Job, engine: str) -> Arrays:
    found: Arrays = {}
    for group, names in by_group(job["names"] + job["texts"]).items():
        with open_group(job, engine, group) as data:
            data.load()
            for name in names:
                values = data[name.rpartition("/")[2]].values
                found[name] = texts(values) if name in job["texts"] else values
    return found


def xarray_mean(job: Job, engine: str, chunks: Any = None) -> Arrays:
    found: Arrays = {}
    for group, names in by_group(job["fields"]).items():
        with open_group(job, engine, group, chunks=chunks) as data:
            for name in names:
                found[name] = data[name.rpartition("/")[2]].mean().values
    return found


def xarray_chunks(job: Job, engine: str) -> Arrays:
    found: Arrays = {}
    for group, names in by_group(job["names"]).items():
        with open_group(job, engine, group, chunks={}) as data:
            for name in names:
                found[name] = data[name.rpartition("/")[2]].compute().values
    return found


def xarray_tree(job: Job, engine: str) -> Arrays:
    import xarray

    with xarray.open_datatree(job["path"], engine=engine, decode_cf=False) as tree:
        tree.load()
        found = {name: tree[f"/{name}"].values for name in job["names"]}
        return found | {name: texts(tree[f"/{name}"].values) for name in job["texts"]}


# --- openPMD-api ---


def openpmd_open(job: Job) -> Arrays:
    import openpmd_api

    series = openpmd_api.Series(job["path"], openpmd_api.Access.read_only)
    return {"iterations": np.array(list(series.iterations))}


OPERATIONS: dict[str, Callable[..., Arrays]] = {
    "h5py read": h5py_read,
    "h5py slice": lambda job: h5py_read(job, part=True),
    "h5py write": h5py_write,
    "dask of h5py": dask_of_h5py,
    "netCDF4 read": netcdf4_read,
    "netCDF4 slice": lambda job: netcdf4_read(job, part=True),
    "netCDF4 write": netcdf4_write,
    "xarray read": xarray_read,
    "xarray mean": xarray_mean,
    "xarray chunks": xarray_chunks,
    "xarray tree": xarray_tree,
    "openPMD open": openpmd_open,
}


def do(job: Job, engine: str | None) -> str:
    """Saves what the job makes. The error that it ends with, or nothing."""
    try:
        operation = OPERATIONS[job["operation"]]
        arrays = operation(job, engine) if engine else operation(job)
        named: Any = {name.replace("/", "\\"): array for name, array in arrays.items()}
        np.savez(Path(job["folder"]) / "arrays.npz", **named)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    _, _, engine = sys.argv[1].partition(", ")
    for line in sys.stdin:
        print(json.dumps({"error": do(json.loads(line), engine or None)}), flush=True)


if __name__ == "__main__":
    main()
