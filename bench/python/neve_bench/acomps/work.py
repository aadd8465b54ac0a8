# SPDX-License-Identifier: BSD-3-Clause
"""Measuring a unit: in a worker's process."""

from __future__ import annotations

import bz2
import functools
import hashlib
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import neve
from neve import _core
from neve._errors import Error

from .. import lossless_methods
from ..case import Case
from ..paper import load
from ..programs import json_of, mpirun
from ..timing import clocked
from . import arrays, chooser, made
from .inputs import MADE
from .methods import ALL, EVERY, MEASURED
from .requests import (
    DELTAS,
    WEIGHTS,
    WEIGHTS_OF_SERIES,
    WITH_SPEED,
    Chunks,
    Cycle,
    Followed,
    Speeds,
    StepTables,
    Table,
    Threads,
    Weighed,
    from_json,
)

Record = dict[str, Any]
LIMIT_SECONDS = 800
LOSSY_REL = 1e-3  # of the range: what a bound gains over every bit
LEAST_SECONDS = 0.005  # a call that is shorter is repeated until it has taken so long
MOST_REPEATS = 25
CHUNKS = 8  # of the dataset of which one is read


@functools.cache
def version(neve_command: Path) -> str:
    """Another one where the same request may give other numbers."""
    digest = hashlib.sha256(neve.__version__.encode())
    here = Path(__file__)
    sources = [
        here,
        *(here.with_name(f"{name}.py") for name in ("arrays", "chooser", "made", "methods")),
    ]
    programs = [neve_command, neve_command.with_name("neve-bench"), Path(_core.__file__)]
    for source in (*sources, *programs):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:24]


def measure(request: dict[str, Any], paths: dict[str, str]) -> Record:
    """The record of a unit, with the load when it began. What fails is told in it, without a path
    of the machine.
    """
    asked = from_json(request)
    before = load.now()
    try:
        return {"error": None, "result": _BY_KIND[type(asked)](asked, paths), "load": before}
    except Exception as error:  # costs this unit only
        text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        for place in paths.values():
            text = text.replace(place, Path(place).name)
        return {"error": text, "result": None}


# ---- variables ---------------------------------------------------------------------------------


def table(asked: Table, paths: dict[str, str]) -> Record:
    array = _variable(asked, paths)
    found = _table(array, asked.repeats)
    return {
        **found,
        "shape": list(array.shape),
        "dtype": array.dtype.name,
        "entropy": entropy(array),
        "plain": _plain(array),
        "lossy": _lossy(array),
    }


def _variable(asked: Table | Weighed | Chunks | Threads, paths: dict[str, str]) -> np.ndarray:
    return arrays.read(Path(paths["file0"]), paths["variable"], asked.most_bytes)


def _table(array: np.ndarray, repeats: int) -> Record:
    """What all methods make of the values."""
    values = array.reshape(-1).view(np.uint8).reshape(array.size, -1)
    is_constant = bool((values == values[0]).all())
    found: Record = {"raw_bytes": array.nbytes, "is_constant": is_constant, "methods": {}}
    if not is_constant:
        found["methods"] = {name: forced(array, name, repeats) for name in ALL}
    return found


def forced(array: np.ndarray, method: str, repeats: int) -> Record:
    """One method on the values, every bit of which has to come back; or why it cannot."""
    encode = functools.partial(
        neve.compress,
        array,
        lossless=True,
        codec="lossless",
        method=method,
        effort=chooser.EFFORT,
        threads=1,
    )
    try:
        stored = encode()
    except Error as error:
        return {"error": str(error)}
    decode = functools.partial(neve.decompress, stored, threads=1)
    decoded = decode()
    is_exact = decoded.shape == array.shape and decoded.tobytes() == array.tobytes()
    return {
        "bytes": len(stored),
        "is_exact": is_exact,
        "encode_s": _least_seconds(encode, repeats),
        "decode_s": _least_seconds(decode, repeats),
    }


def _least_seconds(call: Callable[[], Any], repeats: int) -> float:
    """CPU time of the thread: other processes have the other cores."""
    seconds: list[float] = []
    while len(seconds) < repeats or (sum(seconds) < LEAST_SECONDS and len(seconds) < MOST_REPEATS):
        seconds.append(clocked(call, time.thread_time)[0])
    return max(min(seconds), 1e-9)


def entropy(array: np.ndarray) -> list[float]:
    """Bits, 0 to 8, of each byte of a value, the most significant byte first."""
    width = array.dtype.itemsize
    planes = array.astype(array.dtype.newbyteorder(">")).reshape(-1).view(np.uint8)
    found = []
    for plane in planes.reshape(-1, width).T:
        shares = np.bincount(plane, minlength=256) / plane.size
        there = shares[shares > 0]
        found.append(float(-(there * np.log2(there)).sum()) + 0.0)
    return found


def _plain(array: np.ndarray) -> dict[str, int]:
    """Bytes by the three coders alone, without any preprocessing; of LZO where it is installed."""
    values = array.tobytes()
    found = {"zlib": len(zlib.compress(values, 6)), "bzip2": len(bz2.compress(values, 9))}
    for peer in lossless_methods.peers()[0]:
        if peer.name == "LZO":
            encode, _ = peer.prepare(Case("", "", array), 0)
            found["LZO"] = len(encode())
    return found


def _lossy(array: np.ndarray) -> Record:
    """Within a bound: what it gains, and what is lost; or why there is no bound."""
    finite = array[np.isfinite(array)]
    try:
        stored = neve.compress(array, rel=LOSSY_REL, threads=1)
    except Error as error:
        return {"error": str(error)}
    changed = np.count_nonzero(neve.decompress(stored, threads=1) != array)
    return {"rel": LOSSY_REL, "bytes": len(stored), "changed": int(changed), "of": finite.size}


def weighed(asked: Weighed, paths: dict[str, str]) -> Record:
    array = _variable(asked, paths)
    return {"choices": [chooser.choose(array, asked.candidates, pair) for pair in WEIGHTS]}


def chunks(asked: Chunks, paths: dict[str, str]) -> Record:
    import h5py

    array = _variable(asked, paths).reshape(-1)
    of_chunk = -(-array.size // CHUNKS)
    with _folder(paths) as folder, h5py.File(Path(folder, "chunks.h5"), "w") as file:
        name = "values"
        file.create_dataset(name, data=array, chunks=(of_chunk,), **neve.Filter(lossless=True))
        file.flush()
        there = file[name].id
        sizes = [there.get_chunk_info(n).size for n in range(there.get_num_chunks())]
        at = len(sizes) // 2 * of_chunk
        part = functools.partial(file[name].__getitem__, slice(at, at + of_chunk))
        whole = functools.partial(file[name].__getitem__, ...)
        return {
            "raw_bytes": array.nbytes,
            "sizes": sizes,
            "is_exact": part().tobytes() == array[at : at + of_chunk].tobytes(),
            "part_s": _least_seconds(part, asked.repeats),
            "whole_s": _least_seconds(whole, asked.repeats),
        }


def threads(asked: Threads, paths: dict[str, str]) -> Record:
    """Wall seconds of choosing and coding, by the number of threads."""
    array = _variable(asked, paths)
    found = {}
    for count in (1, asked.threads):
        options = chooser.settings(EVERY, (1.0, 0.0), count)
        call = functools.partial(neve.compress, array, **options)
        call()  # what is made once is made
        found[str(count)] = min(clocked(call, time.monotonic)[0] for _ in range(asked.repeats + 1))
    return {"raw_bytes": array.nbytes, "seconds": found}


# ---- series ------------------------------------------------------------------------------------


def steps_of(asked: StepTables | Followed, paths: dict[str, str]) -> list[np.ndarray]:
    if asked.series.startswith(MADE):
        name = asked.series.removeprefix(MADE)
        part = arrays.part_of(made.SHAPE, 4, asked.most_bytes)
        return [np.ascontiguousarray(made.step_of(name, step)[part]) for step in range(asked.steps)]
    files = [paths[f"file{n}"] for n in range(asked.steps) if f"file{n}" in paths]
    name = paths["variable"]
    if len(files) == 1:
        return [
            arrays.read(Path(files[0]), name, asked.most_bytes, step) for step in range(asked.steps)
        ]
    return [arrays.read(Path(file), name, asked.most_bytes) for file in files]


def step_tables(asked: StepTables, paths: dict[str, str]) -> Record:
    return {"steps": [_table(step, asked.repeats) for step in steps_of(asked, paths)]}


def followed(asked: Followed, paths: dict[str, str]) -> Record:
    steps = steps_of(asked, paths)
    runs = [
        {
            "weights": list(pair),
            "delta": delta,
            "log": chooser.follow(steps, asked.candidates, pair, delta, asked.speeds),
        }
        for pair in (WITH_SPEED if asked.speeds == MEASURED else WEIGHTS_OF_SERIES)
        for delta in DELTAS
    ]
    return {"runs": runs}


def speeds(_: Speeds, __: dict[str, str]) -> Record:
    return chooser.typical_speeds()


# ---- the ensemble cycle ------------------------------------------------------------------------


def cycle(asked: Cycle, paths: dict[str, str]) -> Record:
    with _folder(paths) as folder:
        bench = [paths["neve-bench"], "ensemble", *asked.words, "--folder", folder, "--json"]
        return json_of([*mpirun(asked.ranks), *bench], LIMIT_SECONDS)


def _folder(paths: dict[str, str]) -> tempfile.TemporaryDirectory:
    scratch = Path(paths["scratch"])
    scratch.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(dir=scratch)


_BY_KIND: dict[type, Callable[[Any, dict[str, str]], Record]] = {
    Table: table,
    Weighed: weighed,
    Chunks: chunks,
    Threads: threads,
    StepTables: step_tables,
    Followed: followed,
    Speeds: speeds,
    Cycle: cycle,
}
