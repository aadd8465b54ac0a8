# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked of the model, of the benchmark and of the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..paper import kinds


@dataclass(frozen=True)
class Modelled:
    """`neve plan` with these words."""

    words: tuple[str, ...]
    kind = "modelled"


@dataclass(frozen=True)
class Timed:
    """Writes and reads of `neve bench chombo`, alone on the machine."""

    words: tuple[str, ...]  # of the grid, and more
    strategies: tuple[str, ...]
    ranks: int
    mpi_io: str  # "": as the library chooses
    repeats: int
    kind = "timed"


@dataclass(frozen=True)
class Traced:
    """One write by each strategy, with all calls counted by `neve trace`."""

    words: tuple[str, ...]
    strategies: tuple[str, ...]
    ranks: int
    mpi_io: str
    kind = "traced"


@dataclass(frozen=True)
class Contents:
    """Whether the strategies' files hold the same."""

    words: tuple[str, ...]
    strategies: tuple[str, ...]
    ranks: int
    mpi_io: str
    kind = "contents"


@dataclass(frozen=True)
class Staged:
    """Compressed writes of `neve bench amr`, straight into files or by way of a fast folder."""

    words: tuple[str, ...]
    ranks: int
    mpi_io: str
    repeats: int
    kind = "staged"


@dataclass(frozen=True)
class Grid:
    """The boxes of a grid that the benchmark makes."""

    words: tuple[str, ...]
    kind = "grid"


Request = Modelled | Timed | Traced | Contents | Staged | Grid
KINDS: dict[str, type] = {
    one.kind: one for one in (Modelled, Timed, Traced, Contents, Staged, Grid)
}


as_json = kinds.as_json


def from_json(content: dict[str, Any]) -> Request:
    return kinds.from_json(KINDS, content)


def name_of(request: Request) -> str:
    """For people."""
    if isinstance(request, Modelled):
        return f"neve plan {' '.join(request.words)}"
    if isinstance(request, Grid):
        return f"the boxes of {' '.join(request.words) or 'the grid'}"
    where = f"on {request.ranks} rank{'s' * (request.ranks > 1)}" + (
        f" by {request.mpi_io}" if request.mpi_io else ""
    )
    what = {
        "timed": "timed writes",
        "traced": "traced writes",
        "contents": "files compared",
        "staged": "staged writes",
    }
    return f"{what[request.kind]} {where}: {' '.join(request.words)}"
