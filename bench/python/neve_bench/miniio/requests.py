# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked of the mini-apps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..paper import kinds


@dataclass(frozen=True)
class Stored:
    """A run of a mini-app that stores, reads back and counts; no time of it is looked at."""

    app: str
    words: tuple[str, ...]
    outputs: tuple[str, ...]  # of amr its methods
    ranks: int
    kind = "stored"


@dataclass(frozen=True)
class Counted:
    """What tiles become, counted by `neve bench struct --tiles`."""

    words: tuple[str, ...]
    outputs: tuple[str, ...]
    tiles: tuple[int, ...]
    kind = "counted"


@dataclass(frozen=True)
class Timed:
    """Writes of `neve bench struct` in both layouts, alone on the machine: one of several runs."""

    words: tuple[str, ...]
    outputs: tuple[str, ...]
    ranks: int
    repeat: int
    kind = "timed"


@dataclass(frozen=True)
class Disk:
    """What the file system takes of so many ranks: `neve bench disk`, alone on the machine."""

    ranks: int
    repeat: int
    kind = "disk"


@dataclass(frozen=True)
class Surface:
    """The field's surface, as numbers."""

    words: tuple[str, ...]
    kind = "surface"


Request = Stored | Counted | Timed | Disk | Surface
KINDS: dict[str, type] = {one.kind: one for one in (Stored, Counted, Timed, Disk, Surface)}

as_json = kinds.as_json


def from_json(content: dict[str, Any]) -> Request:
    return kinds.from_json(KINDS, content)


def name_of(request: Request) -> str:
    """For people."""
    if isinstance(request, Counted):
        numbers = ", ".join(map(str, request.tiles))
        return f"tiles counted ({numbers}): {' '.join(request.words)}"
    if isinstance(request, Surface):
        return f"the surface of {' '.join(request.words)}"
    where = f"{request.ranks} rank{'s' * (request.ranks > 1)}"
    if isinstance(request, Disk):
        return f"the file system on {where}, repeat {request.repeat + 1}"
    if isinstance(request, Timed):
        words = " ".join(request.words)
        return f"timed writes on {where}, repeat {request.repeat + 1}: {words}"
    return f"{request.app} on {where}: {' '.join((*request.words, *request.outputs))}"
