# SPDX-License-Identifier: BSD-3-Clause
"""Measuring a unit: in a worker's process."""

from __future__ import annotations

import functools
import hashlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import neve
from neve._errors import FAILURE, USAGE, Error

from ..paper import load
from ..programs import json_of, mpirun, outcome, output_of
from .requests import Counted, Disk, Stored, Surface, Timed, from_json

Record = dict[str, Any]
LIMIT_SECONDS = 800
COUNT_RANKS = 2
WRITES = "3"  # of each file of a timed run: the first finds memory and code cold, their median not
DISK_MIB = "32"
SURFACE_EDGE = 96
UNKNOWN = "?"  # no output's name


@functools.cache
def version(neve_command: Path) -> str:
    """Another one where the same request may give other numbers."""
    digest = hashlib.sha256(neve.__version__.encode())
    for source in (Path(__file__), neve_command, neve_command.with_name("neve-bench")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:24]


def outputs_of_build(bench: Path) -> tuple[str, ...]:
    """What `neve bench struct` can store with: it lists them where one is unknown."""
    words = [str(bench), "struct", "--outputs", UNKNOWN]
    code, _, err = outcome(words, LIMIT_SECONDS)
    found = re.search(r"allowed are (.*)", err)
    if code != USAGE or found is None:
        raise Error(
            f"{bench.name} struct does not say which outputs it has: {err.strip()}", FAILURE
        )
    return tuple(found[1].split(", "))


def can_store(bench: Path, words: tuple[str, ...], output: str, folder: Path) -> bool:
    """HDF5's szip refuses a grid of which it cannot make every chunk smaller."""
    tried = [str(bench), "struct", *words, "--balance", "off", "--outputs", output, "--no-verify"]
    code, _, _ = outcome([*tried, "--no-counts", "--folder", str(folder)], LIMIT_SECONDS)
    return code == 0


def measure(request: dict[str, Any], paths: dict[str, str]) -> Record:
    """The record of a unit. What fails is told in it, without a path of the machine."""
    asked = from_json(request)
    try:
        with _folder(paths) as folder:
            return {"error": None, "result": _BY_KIND[type(asked)](asked, paths, folder)}
    except Exception as error:  # costs this unit only
        text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        for place in paths.values():
            text = text.replace(place, Path(place).name)
        return {"error": text, "result": None}


def stored(asked: Stored, paths: dict[str, str], folder: str) -> Record:
    option = "--methods" if asked.app == "amr" else "--outputs"
    words = [paths["neve-bench"], asked.app, *asked.words, option, ",".join(asked.outputs)]
    return json_of([*mpirun(asked.ranks), *words, "--folder", folder, "--json"], LIMIT_SECONDS)


def counted(asked: Counted, paths: dict[str, str], folder: str) -> Record:
    words = [paths["neve-bench"], "struct", *asked.words, "--folder", folder, "--json"]
    words += ["--tiles", ",".join(map(str, asked.tiles)), "--outputs", ",".join(asked.outputs)]
    return json_of([*mpirun(COUNT_RANKS), *words], LIMIT_SECONDS)


def timed(asked: Timed, paths: dict[str, str], folder: str) -> Record:
    words = [paths["neve-bench"], "struct", *asked.words, "--folder", folder, "--json"]
    words += ["--outputs", ",".join(asked.outputs), "--repeats", WRITES, "--no-verify"]
    words += ["--no-counts", "--phases"]
    before = load.now()
    return {**json_of([*mpirun(asked.ranks), *words], LIMIT_SECONDS), "load": before}


def disk(asked: Disk, paths: dict[str, str], folder: str) -> Record:
    words = [paths["neve-bench"], "disk", "--json", "--repeats", WRITES, "--mib", DISK_MIB]
    return json_of([*mpirun(asked.ranks), *words, "--folder", folder], LIMIT_SECONDS)


def surface(asked: Surface, paths: dict[str, str], folder: str) -> Record:
    """Of a square grid of one layer."""
    grid = ["--grid", f"{SURFACE_EDGE},{SURFACE_EDGE},1", "--outputs", "raw", "--balance", "off"]
    words = [paths["neve-bench"], "struct", *grid, *asked.words, "--folder", folder, "--keep"]
    output_of([*words, "--no-verify"], LIMIT_SECONDS)
    (file,) = Path(folder).glob("*.raw")
    values = np.fromfile(file, "<f4").reshape(SURFACE_EDGE, SURFACE_EDGE)
    return {"values": [[round(float(one), 4) for one in row] for row in values]}


def _folder(paths: dict[str, str]) -> tempfile.TemporaryDirectory:
    scratch = Path(paths["scratch"])
    scratch.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(dir=scratch)


_BY_KIND: dict[type, Callable[[Any, dict[str, str], str], Record]] = {
    Stored: stored,
    Counted: counted,
    Timed: timed,
    Disk: disk,
    Surface: surface,
}
