# SPDX-License-Identifier: BSD-3-Clause
"""A study's folder, with a file for the record of each run, so that a killed study goes on where it
was. Records are sealed, so that one that was edited, or copied to another name, is not believed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from neve import _files
from neve._errors import FAILURE, Error

SEAL = ("key", "digest")


def sealed(key: str, content: dict[str, Any]) -> dict[str, Any]:
    """`content` with its key, and a digest of both."""
    # As it comes back: a number that is a name in a dictionary, say, as a text.
    keyed = json.loads(json.dumps({**content, "key": key}))
    return {**keyed, "digest": _digest(keyed)}


def is_sealed(key: str, content: Any) -> bool:
    """Whether it is what `sealed` made with this key."""
    if not isinstance(content, dict) or content.get("key") != key:
        return False
    rest = {name: value for name, value in content.items() if name != "digest"}
    return content.get("digest") == _digest(rest)


def _digest(content: dict[str, Any]) -> str:
    """Of its canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _open_lock(path: str, _: int) -> int:
    # Neither emptied nor followed where it is a link: a study's folder is chosen by name.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


class Records:
    """`runs/KEY.json` in `folder` for each run; keys are names of files. `say` is told of each that
    is damaged, once, and `then`, what becomes of it: "measured again".
    """

    def __init__(self, folder: Path, say: Callable[[str], None], then: str):
        self.folder = folder
        self._runs = folder / "runs"
        self._say = say
        self._then = then
        self._damaged: set[str] = set()

    def has_any(self) -> bool:
        """Whether a study has recorded something here."""
        for path in self._runs.glob("*.json"):
            with contextlib.suppress(OSError, ValueError, RecursionError):
                if is_sealed(path.stem, json.loads(path.read_text())):
                    return True
        return False

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        is_new = not self.folder.exists()
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
            try:
                yield
            finally:
                if is_new:
                    self._remove_if_empty()

    def _remove_if_empty(self) -> None:
        """The folder of a study that only looked, or that was refused."""
        if sorted(path.name for path in self.folder.iterdir()) != ["lock", self._runs.name]:
            return
        with contextlib.suppress(OSError):  # there are records
            self._runs.rmdir()
            (self.folder / "lock").unlink()
            self.folder.rmdir()

    def read(
        self, key: str, is_of_key: Callable[[dict[str, Any]], bool] | None = None
    ) -> dict[str, Any] | None:
        """What was recorded; what is damaged counts as not run. `is_of_key` judges records without
        a seal, where there are some from before records had one.
        """
        try:
            record = json.loads((self._runs / f"{key}.json").read_text())
            if is_sealed(key, record):
                return record
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            record = None
        if is_of_key is not None and isinstance(record, dict) and not record.keys() & set(SEAL):
            if is_of_key(record):
                return record
        if key not in self._damaged:
            self._damaged.add(key)
            self._say(f"runs/{key}.json is damaged: {self._then}")
        return None

    def write(self, key: str, record: dict[str, Any]) -> None:
        """Whole or not at all."""
        text = json.dumps(sealed(key, record), indent=1)
        _files.write_text(self._runs / f"{key}.json", text)
