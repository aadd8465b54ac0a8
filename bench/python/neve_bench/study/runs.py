# SPDX-License-Identifier: BSD-3-Clause
"""Running cells, and the records of their runs."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from neve import _files
from neve._errors import BOUND_VIOLATED, FAILURE, Error

from .. import report
from ..programs import outcome
from ..records import Records
from .deck import Cell, Deck

ERROR_LINES = 12  # of a failed run, kept
SCRATCH = "neve-study-files-"  # the folder that the runs write to begins so


class Store(Records):
    """A study's folder: `runs/KEY-REPEAT.json` for each run."""

    def get(self, cell: Cell, repeat: int) -> dict[str, Any] | None:
        return self.read(f"{cell.key}-{repeat}", lambda record: _is_unsealed_of(cell, record))

    def put(self, cell: Cell, repeat: int, record: dict[str, Any]) -> None:
        self.write(f"{cell.key}-{repeat}", record)

    def take_scratch(self, folder: Path) -> None:
        """Makes the folder for the files of a run, and removes what a killed study has left of its
        own: the one whose name it noted here before it made it.
        """
        noted = self.folder / "scratch"
        with contextlib.suppress(OSError, ValueError):
            earlier = Path(json.loads(noted.read_text()))
            if earlier.name.startswith(SCRATCH) and not earlier.is_symlink():
                shutil.rmtree(earlier, ignore_errors=True)
        _files.write_text(noted, json.dumps(str(folder)))
        folder.mkdir(mode=0o700)

    def give_scratch_back(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        (self.folder / "scratch").unlink(missing_ok=True)


# What a result has at least, by the app of its cell.
PARTS = {
    "disk": {"write_MBps"},
    "struct": {"layouts"},
    "amr": {"methods", "steps"},
    "cartiso": {"grid_outputs", "surface_outputs"},
    "unstruct": {"value_outputs", "connectivity_outputs"},
}


def _is_unsealed_of(cell: Cell, record: dict[str, Any]) -> bool:
    """Whether a record from before they were sealed is one of this cell. They are measurements of
    hours: they count, although nothing tells whether one of their numbers was changed.
    """
    result, error = record.get("result"), record.get("error")
    if result is not None and not (isinstance(result, dict) and result.keys() >= PARTS[cell.app]):
        return False
    if not isinstance(error, str) and (error is not None or result is None):
        return False
    times = (record.get("seconds"), record.get("load"))
    return record.get("command") == _told(cell) and all(
        isinstance(time, (int, float)) for time in times
    )


def plan(deck: Deck, store: Store, retry: bool) -> list[tuple[Cell, int]]:
    """What is still to run. A repeat of all cells before the next one: a disturbance of the machine
    then meets neighbours alike, and what is compared lies close in time.
    """
    wanted = []
    for repeat in range(deck.repeats):
        for cell in (*deck.disk, *deck.cells):
            record = store.get(cell, repeat)
            if record is None or (retry and record["error"] is not None):
                wanted.append((cell, repeat))
    return wanted


def _launched(cell: Cell, command: Sequence[str]) -> list[str]:
    words: list[str] = []
    for word in cell.launcher:
        words += command if word == "{command}" else [word]
    return words


def _told(cell: Cell) -> str:
    """The command without a path of the machine."""
    return shlex.join(_launched(cell, ["neve", *cell.words]))


class Runner:
    def __init__(self, command: Path, deck: Deck, store: Store):
        self._command = command
        self._deck = deck
        self._store = store
        above = store.folder if deck.folder is None else Path(deck.folder)
        self._files = above.resolve() / f"{SCRATCH}{secrets.token_hex(8)}"

    def words(self, cell: Cell) -> list[str]:
        return _launched(cell, [str(self._command), *cell.words, f"--folder={self._files}"])

    def run(self, cell: Cell) -> dict[str, Any]:
        """A record: either a result, or an error, or (values outside the bound) both."""
        self._make_folder()
        load = os.getloadavg()[0]
        began = time.time()
        try:
            code, out, err = _outcome(self.words(cell), self._deck.time_limit_seconds)
        finally:
            self._store.give_scratch_back(self._files)
        record = {
            "cell": {
                "app": cell.app,
                "output": cell.output,
                "layout": cell.layout,
                "ranks": cell.ranks,
            },
            "command": _told(cell),
            "machine": report.machine(),
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
            "seconds": time.time() - began,
            "load": load,
            "result": None,
            "error": None,
        }
        if code in (0, BOUND_VIOLATED):
            try:
                record["result"] = json.loads(out)
            except ValueError:
                record["error"] = f"no result: {out[:200]!r}"
        if code != 0:
            record["error"] = _last_lines(err) or (
                f"stopped after {self._deck.time_limit_seconds:g} s"
                if code is None
                else f"exit code {code}"
            )
        return record

    def _make_folder(self) -> None:
        try:
            self._files.parent.mkdir(parents=True, exist_ok=True)
            self._store.take_scratch(self._files)
        except OSError as error:
            raise Error(f"{self._files}: cannot make it: {error.strerror}", FAILURE) from None


def _outcome(words: Sequence[str], limit_seconds: float) -> tuple[int | None, str, str]:
    """Exit code (None: it took too long), stdout, stderr; what cannot be started has failed."""
    try:
        return outcome(words, limit_seconds)
    except Error as error:
        return FAILURE, "", str(error)


def _last_lines(text: str) -> str:
    """Neve's own lines, if there are any, which launchers surround with theirs."""
    lines = [line for line in text.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith("neve")]
    return "\n".join((own or lines)[-ERROR_LINES:])


def run_all(
    runner: Runner,
    store: Store,
    wanted: Sequence[tuple[Cell, int]],
    say: Callable[[str], None],
) -> None:
    began = time.monotonic()
    for done, (cell, repeat) in enumerate(wanted):
        record = runner.run(cell)
        store.put(cell, repeat, record)
        left = (time.monotonic() - began) / (done + 1) * (len(wanted) - done - 1)
        ended = "failed" if record["error"] is not None else f"{record['seconds']:.1f} s"
        say(
            f"[{done + 1}/{len(wanted)}] {cell.name}, repeat {repeat + 1}: {ended}; "
            f"{report.duration(left)} left"
        )
