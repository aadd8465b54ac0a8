# SPDX-License-Identifier: BSD-3-Clause
"""A deck, and the cells it asks for: app x output x layout x ranks."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

from neve._errors import FAILURE, Error

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    tomllib = None

BUNDLED = Path(__file__).parent / "decks"
APPS = ("struct", "cartiso", "amr", "unstruct")
LAYOUTS = {"off": "unbalanced", "on": "balanced"}
# What the study gives the apps itself.
OWN_OPTIONS = (
    "balance",
    "deck",
    "folder",
    "json",
    "keep",
    "outputs",
    "phases",
    "repeats",
    "methods",
)
TOP = {
    "title": str,
    "ranks": list,
    "repeats": int,
    "writes": int,
    "launcher": str,
    "ranks-per-node": int,
    "time-limit": (int, float),
    "folder": str,
    "disk-mib": int,
}
OF_APP = {"outputs": list, "balance": list, "ranks": list, "options": dict, "at": dict}


@dataclasses.dataclass(frozen=True)
class Cell:
    app: str
    output: str
    layout: str  # "unbalanced", "balanced"; "" for apps that know no balance
    ranks: int
    words: tuple[str, ...]  # `neve bench` and so on, but the folder of its files
    launcher: tuple[str, ...]

    @property
    def name(self) -> str:
        layout = f", {self.layout}" if self.layout else ""
        return f"{self.app} {self.output}{layout}, {_ranks(self.ranks)}"

    @property
    def key(self) -> str:
        """The same for as long as the same is run."""
        text = json.dumps([self.words, self.launcher])
        return f"{self.app}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _ranks(ranks: int) -> str:
    return "1 rank" if ranks == 1 else f"{ranks} ranks"


@dataclasses.dataclass(frozen=True)
class Deck:
    path: Path
    title: str
    repeats: int
    time_limit_seconds: float
    folder: str | None
    cells: tuple[Cell, ...]
    disk: tuple[Cell, ...]  # the file system's own bandwidth, a cell a number of ranks


def read(name: str) -> Deck:
    """A file, or the name of a deck that comes with Neve."""
    path = Path(name)
    bundled = BUNDLED / f"{name}.toml"
    if not path.exists() and bundled.exists():
        path = bundled
    if tomllib is None:
        raise Error("neve bench study needs Python 3.11 or later, which reads TOML", FAILURE)
    try:
        content = tomllib.loads(path.read_text())
    except OSError as error:
        known = ", ".join(sorted(deck.stem for deck in BUNDLED.glob("*.toml")))
        raise Error(
            f"{name}: {error.strerror}; allowed is a file, or a deck of Neve's: {known}", FAILURE
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Error(f"{name}: {error}") from None
    return _deck(path, content)


def _deck(path: Path, content: dict[str, Any]) -> Deck:
    apps = {app: content.pop(app) for app in APPS if app in content}
    _check(path, "", content, TOP)
    if not apps:
        raise Error(f"{path}: no app; at least one of [{'], ['.join(APPS)}] is needed")
    repeats = content.get("repeats", 3)
    limit = content.get("time-limit", 600)
    _check_range(path, "repeats", repeats, 1)
    writes = content.get("writes", 1)
    _check_range(path, "writes", writes, 1)
    _check_range(path, "time-limit", limit, 1)
    _check_range(path, "ranks-per-node", content.get("ranks-per-node", 1), 1)
    disk_mib = content.get("disk-mib", 256)
    _check_range(path, "disk-mib", disk_mib, 0)
    launcher = _Launcher(path, content)
    cells: list[Cell] = []
    for app, section in apps.items():
        cells += _app_cells(path, app, section, content.get("ranks"), writes, launcher)
    # In turns by number of ranks, so that neighbours in time are neighbours in the tables.
    cells.sort(key=lambda cell: (APPS.index(cell.app), cell.ranks))
    disk = []
    for ranks in sorted({cell.ranks for cell in cells}) if disk_mib > 0 else ():
        words = ("bench", "disk", "--json", "--repeats", "1", "--mib", str(disk_mib))
        disk.append(Cell("disk", "own", "", ranks, words, launcher.words(ranks)))
    return Deck(
        path,
        content.get("title", path.stem),
        repeats,
        float(limit),
        content.get("folder"),
        tuple(cells),
        tuple(disk),
    )


class _Launcher:
    """ "srun -N {nodes} -n {ranks} {command}": the words before the command and behind it."""

    def __init__(self, path: Path, content: dict[str, Any]):
        self._template = content.get("launcher", "mpirun -n {ranks} {command}")
        self._per_node = content.get("ranks-per-node")
        words = shlex.split(self._template)
        if "{command}" not in words or not any("{ranks}" in word for word in words):
            raise Error(
                f"{path}: launcher is {self._template!r}; it must hold {{ranks}}, and {{command}} "
                "as a word of its own"
            )
        if "{nodes}" in self._template and self._per_node is None:
            raise Error(f"{path}: launcher says {{nodes}}, and ranks-per-node is not given")

    def words(self, ranks: int) -> tuple[str, ...]:
        nodes = "" if self._per_node is None else str(-(-ranks // self._per_node))
        return tuple(
            word.replace("{ranks}", str(ranks)).replace("{nodes}", nodes)
            for word in shlex.split(self._template)
        )


def _app_cells(
    path: Path,
    app: str,
    section: Any,
    all_ranks: list[int] | None,
    writes: int,
    launcher: _Launcher,
) -> list[Cell]:
    _check(path, app, section, OF_APP)
    ranks_list = section.get("ranks", all_ranks)
    if not ranks_list:
        raise Error(f"{path}: [{app}] has no ranks, and there are none above it: ranks = [1, 2]")
    for ranks in ranks_list:
        _check_range(path, "ranks", ranks, 1)
    outputs = section.get("outputs")
    if not outputs:
        raise Error(f"{path}: [{app}] has no outputs")
    balance = section.get("balance", ["off", "on"] if app == "struct" else [])
    if balance and app != "struct":
        raise Error(f"{path}: [{app}] has a balance; struct alone knows one")
    for value in balance:
        if value not in LAYOUTS:
            raise Error(f"{path}: [{app}] balance {value!r}; allowed are off, on")
    by_ranks = {}
    for key, options in section.get("at", {}).items():
        if not key.isdigit() or int(key) not in ranks_list or not isinstance(options, dict):
            raise Error(
                f"{path}: [{app}.at.{key}]; allowed are tables of the ranks "
                f"{', '.join(map(str, ranks_list))}"
            )
        by_ranks[int(key)] = options
    cells = []
    for ranks in dict.fromkeys(ranks_list):
        options = {**section.get("options", {}), **by_ranks.get(ranks, {})}
        words = (f"--repeats={writes}", *_option_words(path, app, options))
        for output in dict.fromkeys(outputs):
            chosen = ("--methods" if app == "amr" else "--outputs", str(output))
            for layout in dict.fromkeys(balance) or ("",):
                own = chosen + (("--balance", layout) if layout else ())
                cells.append(
                    Cell(
                        app,
                        str(output),
                        LAYOUTS.get(layout, ""),
                        ranks,
                        ("bench", app, "--json", "--phases", *own, *words),
                        launcher.words(ranks),
                    )
                )
    return cells


def _option_words(path: Path, app: str, options: dict[str, Any]) -> tuple[str, ...]:
    words: list[str] = []
    for name, value in options.items():
        if name in OWN_OPTIONS:
            raise Error(f"{path}: [{app}] option {name} is the study's own")
        if isinstance(value, bool):
            words += [f"--{name}"] if value else []
            continue
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(one, (int, float, str)) for one in values):
            raise Error(f"{path}: [{app}] option {name} is {value!r}; allowed are numbers and text")
        words.append(f"--{name}={','.join(map(str, values))}")
    return tuple(words)


def _check(path: Path, where: str, content: Any, allowed: dict[str, Any]) -> None:
    place = f"[{where}] " if where else ""
    if not isinstance(content, dict):
        raise Error(f"{path}: {where} is {content!r}; a table is wanted: [{where}]")
    for name, value in content.items():
        if name not in allowed:
            names = [*allowed, *(f"[{app}]" for app in APPS if not where)]
            raise Error(f"{path}: {place}unknown {name!r}; allowed are {', '.join(names)}")
        if not isinstance(value, allowed[name]) or isinstance(value, bool):
            raise Error(f"{path}: {place}{name} is {value!r}, of the wrong type")


def _check_range(path: Path, name: str, value: Any, least: int) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value < least:
        raise Error(f"{path}: {name} is {value!r}; numbers from {least} are allowed")
