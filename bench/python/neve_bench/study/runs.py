# SPDX-License-Identifier: BSD-3-Clause
"""Running cells; a file for the record of each run, so that a killed study goes on where it was."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from neve import _files
from neve._errors import BOUND_VIOLATED, FAILURE, Error

from .deck import Cell, Deck

ERROR_LINES = 12  # of a failed run, kept
PR_SET_PDEATHSIG = 1
SCRATCH = "neve-study-files-"  # the folder that the runs write to begins so


def _open_lock(path: str, _: int) -> int:
    # Neither emptied nor followed where it is a link: a study's folder is chosen by name.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


class Store:
    """A study's folder: `runs/KEY-REPEAT.json` for each run."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._runs = folder / "runs"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        try:
            self._runs.mkdir(parents=True, exist_ok=True)
            lock = open(self.folder / "lock", "w", opener=_open_lock)
        except OSError as error:
            raise Error(f"{self.folder}: cannot write: {error.strerror}", FAILURE) from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Error(f"{self.folder}: another study is at work here", FAILURE) from None
            yield

    def _path(self, cell: Cell, repeat: int) -> Path:
        return self._runs / f"{cell.key}-{repeat}.json"

    def get(self, cell: Cell, repeat: int) -> dict[str, Any] | None:
        """What was recorded; what cannot be read counts as not run."""
        try:
            return json.loads(self._path(cell, repeat).read_text())
        except (OSError, ValueError):
            return None

    def put(self, cell: Cell, repeat: int, record: dict[str, Any]) -> None:
        _files.write_text(self._path(cell, repeat), json.dumps(record, indent=1))

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
            "command": shlex.join(_launched(cell, ["neve", *cell.words])),
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


def _die_with_parent() -> None:
    # A study that is killed takes its run along, which otherwise would disturb the next one.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _outcome(words: Sequence[str], limit_seconds: float) -> tuple[int | None, str, str]:
    """Exit code (None: it took too long), stdout, stderr."""
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
    except OSError as error:
        return FAILURE, "", f"{words[0]}: {error.strerror}"
    try:
        out, err = child.communicate(timeout=limit_seconds)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        return None, "", ""
    finally:
        if child.poll() is None:
            _stop(child)


def _stop(child: subprocess.Popen) -> None:
    """The launcher first, which stops its ranks, wherever they are."""
    with contextlib.suppress(ProcessLookupError):
        child.terminate()
        try:
            child.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()


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
        outcome = "failed" if record["error"] is not None else f"{record['seconds']:.1f} s"
        say(
            f"[{done + 1}/{len(wanted)}] {cell.name}, repeat {repeat + 1}: {outcome}; "
            f"{_duration(left)} left"
        )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
