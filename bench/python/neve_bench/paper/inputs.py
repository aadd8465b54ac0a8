# SPDX-License-Identifier: BSD-3-Clause
"""Which plotfiles a study is of: files, folders and archives that hold some, the steps of a run."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import neve
from neve._errors import Error

from . import unpack

HDF5_SUFFIXES = (".h5", ".hdf5")
DEEPEST = 4  # folders in a folder that was named
SAMPLE_BYTES = 4096  # of each end of a file


@dataclass(frozen=True)
class Candidate:
    """What may be a plotfile."""

    path: Path
    name: str  # shown, without a place of the machine: "nyx_sb32_steps/plt00196"
    place: str  # the same from what was named: "runs/nyx_sb32_steps/plt00196"
    is_named: bool  # by hand, and not found in a folder or an archive


@dataclass(frozen=True)
class Input:
    path: Path
    name: str
    place: str
    is_named: bool
    identity: str  # another one for other content
    run: str  # the same for the steps of one run
    step: int | None


@dataclass(frozen=True)
class LeftAside:
    name: str  # with the folder in which it was found
    reason: str
    is_named: bool = False


def find(
    words: Sequence[str], unpack_into: Path, say: Callable[[str], None]
) -> tuple[list[Input], list[LeftAside]]:
    """`unpack_into` takes what is in archives. What was named by hand and is no plotfile, nor holds
    one, is said at once.
    """
    aside: list[LeftAside] = []
    found: dict[Path, Input] = {}
    for word in words:
        path = Path(word)
        say(f"looking at {name_of(path)}")
        before = len(aside)
        for one in _Search(unpack_into, aside).within(path):
            place = one.path.resolve()
            if place not in found:
                try:
                    found[place] = _input(one)
                except (Error, OSError) as error:
                    reason = _without(str(error), one.path, one.name)
                    aside.append(LeftAside(one.place, reason, one.is_named))
        for one in aside[before:]:
            if one.is_named:
                say(f"{one.name}: {one.reason}")
    return sorted(found.values(), key=lambda one: (one.run, one.step or 0, one.name)), aside


def name_of(path: Path) -> str:
    return path.name or str(path)  # "."


def _without(message: str, path: Path, name: str) -> str:
    """A message that says the name instead of the path."""
    message = message.replace(str(path), name).removeprefix(f"{name}: ")
    return message.partition("\n")[0] or "cannot be read"


@dataclass(frozen=True)
class _Search:
    unpack_into: Path
    aside: list[LeftAside]

    def within(self, path: Path) -> Iterator[Candidate]:
        """Of a file, a folder or an archive that was named by hand."""
        name = name_of(path)
        before, is_empty = len(self.aside), True
        for one in self._of(Candidate(path, name, name, True), DEEPEST):
            is_empty = False
            yield one
        if is_empty and not any(one.is_named for one in self.aside[before:]):
            reason = f"no plotfile in it, down to {DEEPEST} folders deep"
            self.aside.append(LeftAside(name, reason, True))

    def _of(self, one: Candidate, depth: int) -> Iterator[Candidate]:
        path = one.path
        try:
            if path.is_symlink() and (reason := self._of_link(one)):
                self._leave(one, reason)
            elif not path.exists():
                self._leave(one, "there is no such file or folder")
            elif path.is_dir() and not (path / "Header").is_file():
                yield from self._of_folder(one, path, depth)
            elif path.is_dir() or path.suffix.lower() in HDF5_SUFFIXES:
                yield one
            elif unpack.is_archive(path):
                folder = unpack.unpacked(path, self.unpack_into)
                yield from self._of_folder(one, folder, depth)
            else:
                self._leave(one, "no plotfile: neither a folder with a Header nor HDF5")
        except (Error, OSError) as error:
            self._leave(one, _without(str(error), path, one.name))

    def _of_link(self, one: Candidate) -> str | None:
        """Why it is left: none is followed but those that were named."""
        try:
            one.path.stat()
        except OSError as error:
            return f"a link that leads nowhere: {error.strerror}"
        return None if one.is_named else "a link, which is not followed"

    def _of_folder(self, one: Candidate, folder: Path, depth: int) -> Iterator[Candidate]:
        if depth == 0:
            self._leave(one, f"more than {DEEPEST} folders deep")
            return
        for child in sorted(folder.iterdir()):
            name = self._name_of_child(one, folder, child)
            yield from self._of(
                Candidate(child, name, f"{one.place}/{child.name}", False), depth - 1
            )

    def _name_of_child(self, one: Candidate, folder: Path, child: Path) -> str:
        """Without the folder that was named by hand. In an archive, after the archive, and a
        plotfile of the same name just so.
        """
        if folder == one.path:
            return child.name if one.is_named else f"{one.name}/{child.name}"
        stem = unpack.stem(one.path)
        return stem if child.name == stem else f"{stem}/{child.name}"

    def _leave(self, one: Candidate, reason: str) -> None:
        self.aside.append(LeftAside(one.place, reason, one.is_named))


def _input(one: Candidate) -> Input:
    path, name = one.path, one.name
    with neve.open(path) as source:
        domain = source.levels[0].domain
        grid = (source.dims, source.components, domain.lo, domain.hi)
    run, step = name, None
    numbers = re.fullmatch(r"(.*?)(\d+)(\D*)", name, re.DOTALL)
    if numbers:
        run, step = numbers[1] + numbers[3], int(numbers[2])
    place = hashlib.sha256(f"{path.parent.resolve()} {run} {grid}".encode()).hexdigest()
    return Input(path, name, one.place, one.is_named, identity_of(path), f"{run} {place[:8]}", step)


def identity_of(path: Path) -> str:
    """Of names, sizes, times and both ends of all files in it."""
    digest = hashlib.sha256()
    files = [path]
    if path.is_dir():
        files = sorted(Path(top, name) for top, _, names in os.walk(path) for name in names)
    for file in files:
        stat = file.stat()
        place = file.relative_to(path.parent)
        digest.update(f"{place} {stat.st_size} {stat.st_mtime_ns // 10**9}\n".encode())
        with open(file, "rb") as stream:
            digest.update(stream.read(SAMPLE_BYTES))
            stream.seek(max(0, stat.st_size - SAMPLE_BYTES))
            digest.update(stream.read(SAMPLE_BYTES))
    return digest.hexdigest()[:24]
