# SPDX-License-Identifier: BSD-3-Clause
"""Measuring a unit: in a worker's process."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py

import neve
from neve._errors import FAILURE, Error

from ..programs import json_of, mpirun, output_of
from . import mpi_io
from .requests import Contents, Grid, Modelled, Staged, Timed, Traced, from_json

Record = dict[str, Any]
LIMIT_SECONDS = 800
STAGED_METHOD = "skeleton:auto"  # neve bench amr's name of strategy compressed
MEMORY = Path("/dev/shm")  # a device of the node that is faster than its disk
FILES = re.compile(r"neve_chombo_(.+)\.h5")
BLOCK_BYTES = 1 << 22


@functools.cache
def version(neve_command: Path) -> str:
    """Another one where the same request may give other numbers."""
    digest = hashlib.sha256(neve.__version__.encode())
    here = Path(__file__)
    programs = [neve_command, neve_command.with_name("neve-bench")]
    for source in (here, here.with_name("mpi_io.py"), *programs):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:24]


def measure(request: dict[str, Any], paths: dict[str, str]) -> Record:
    """The record of a unit. What fails is told in it, without a path of the machine."""
    asked = from_json(request)
    try:
        return {"error": None, "result": _BY_KIND[type(asked)](asked, paths)}
    except Exception as error:  # costs this unit only
        text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        for place in paths.values():
            text = text.replace(place, Path(place).name)
        return {"error": text, "result": None}


def modelled(asked: Modelled, paths: dict[str, str]) -> Record:
    return json_of([paths["neve"], "plan", *asked.words, "--json"], LIMIT_SECONDS)


def timed(asked: Timed, paths: dict[str, str]) -> Record:
    with _folder(paths) as folder:
        words = _bench(asked, paths, folder, "--repeats", str(asked.repeats), "--read-back")
        return json_of([*_launch(asked), *words], LIMIT_SECONDS)


def traced(asked: Traced, paths: dict[str, str]) -> Record:
    with _folder(paths) as folder:
        trace = Path(folder, "trace.json")
        words = _bench(asked, paths, folder, "--repeats", "1")
        traced_by = [paths["neve"], "trace", "run", "-o", str(trace), "--include", "*neve_chombo_*"]
        bench = output_of([*traced_by, "--", *_launch(asked), *words], LIMIT_SECONDS)
        found = by_strategy(json.loads(trace.read_text()))
        for strategy in json.loads(bench)["strategies"]:
            found[strategy["name"]]["file_bytes"] = strategy["file_bytes"]
        return {"strategies": found}


def by_strategy(trace: Record) -> dict[str, Record]:
    """Calls, bytes and sizes of each strategy's file, at both levels."""
    lacking = {what: count for what, count in trace["incomplete"].items() if _any(count)}
    if lacking:
        raise Error(f"the trace is not whole: {json.dumps(lacking)[:200]}", FAILURE)
    found: dict[str, Record] = {}
    for file in trace["files"]:
        # The latest of several new names comes first.
        name = FILES.search(Path([*file.get("renamed_to", []), file["path"]][0]).name)
        if name is None:
            continue
        strategy = found.setdefault(name[1], {"mpi": _nothing(), "posix": _nothing()})
        for phase in file["phases"]:
            _add(strategy["mpi"], phase.get("mpiio"), "MPIIO")
            _add(strategy["posix"], phase.get("posix"), "POSIX")
    for strategy in found.values():
        for level in strategy.values():
            # The most frequent first, as Darshan has them.
            level["sizes"] = sorted(level["sizes"].items(), key=lambda pair: (-pair[1], pair[0]))
    return found


def _any(count: Any) -> bool:
    """Whether a number, or one of those in an object of objects, is not 0."""
    return any(map(_any, count.values())) if isinstance(count, dict) else bool(count)


def _nothing() -> Record:
    return {"writes": 0, "bytes": 0, "bytes_read": 0, "sizes": {}}


def _add(level: Record, counted: Record | None, prefix: str) -> None:
    if counted is None:
        return
    for size, count in counted["write_sizes"]:
        level["writes"] += count
        level["sizes"][size] = level["sizes"].get(size, 0) + count
    level["bytes"] += counted["counters"][f"{prefix}_BYTES_WRITTEN"]
    level["bytes_read"] += counted["counters"][f"{prefix}_BYTES_READ"]


def contents(asked: Contents, paths: dict[str, str]) -> Record:
    with _folder(paths) as folder:
        words = _bench(asked, paths, folder, "--repeats", "1", "--keep")
        output_of([*_launch(asked), *words], LIMIT_SECONDS)
        return {
            "strategies": {
                FILES.search(path.name)[1]: {"file": _digest(path), "values": _values(path)}
                for path in sorted(Path(folder).glob("neve_chombo_*.h5"))
            }
        }


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _values(path: Path) -> str:
    """Of the boxes and values of all levels, however the file is built around them."""
    digest = hashlib.sha256()
    with h5py.File(path) as file:
        for level in sorted(name for name in file if name.startswith("level_")):
            for data in ("boxes", "data:datatype=0"):
                digest.update(file[f"{level}/{data}"][()].tobytes())
    return digest.hexdigest()


def staged(asked: Staged, paths: dict[str, str]) -> Record:
    """The same writes without a stage and with one."""
    bench = [paths["neve-bench"], "amr", *asked.words, "--json", "--no-verify"]
    bench += ["--repeats", str(asked.repeats), "--methods", STAGED_METHOD]
    found = {}
    with _folder(paths) as folder, tempfile.TemporaryDirectory(dir=_fast_folder(folder)) as stage:
        for how, more in (("direct", []), ("staged", ["--stage", stage])):
            words = [*_launch(asked), *bench, "--folder", folder, *more]
            found[how] = json_of(words, LIMIT_SECONDS)["methods"][0]
    return {"device": "memory" if Path(stage).is_relative_to(MEMORY) else "the same disk", **found}


def _fast_folder(otherwise: str) -> str:
    return str(MEMORY) if os.access(MEMORY, os.W_OK) else otherwise


def grid(asked: Grid, paths: dict[str, str]) -> Record:
    with _folder(paths) as folder:
        words = [paths["neve-bench"], "chombo", *asked.words, "--folder", folder, "--json"]
        words += ["--strategies", "independent", "--repeats", "1", "--components", "1", "--keep"]
        found = json_of(words, LIMIT_SECONDS)
        with neve.open(Path(folder, "neve_chombo_independent.h5")) as file:
            levels = [
                {
                    "domain": list(level.domain.shape),
                    "boxes": [[list(map(int, one.lo)), list(one.shape)] for one in level.boxes],
                }
                for level in file.levels
            ]
        return {"boxes": found["boxes"], "levels": levels}


def _folder(paths: dict[str, str]) -> tempfile.TemporaryDirectory:
    scratch = Path(paths["scratch"])
    scratch.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(dir=scratch)


def _launch(asked: Timed | Traced | Contents | Staged) -> list[str]:
    return [*mpirun(asked.ranks), *mpi_io.words(asked.mpi_io)]


def _bench(
    asked: Timed | Traced | Contents, paths: dict[str, str], folder: str, *more: str
) -> list[str]:
    words = [paths["neve-bench"], "chombo", *asked.words, "--folder", folder, "--json"]
    return [*words, "--strategies", ",".join(asked.strategies), *more]


_BY_KIND: dict[type, Callable[[Any, dict[str, str]], Record]] = {
    Modelled: modelled,
    Timed: timed,
    Traced: traced,
    Contents: contents,
    Staged: staged,
    Grid: grid,
}
