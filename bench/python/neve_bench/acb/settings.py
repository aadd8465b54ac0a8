# SPDX-License-Identifier: BSD-3-Clause
"""What a study of this paper was asked for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    items: tuple[str, ...]
    units: tuple[int, int, int]
    box_cells: int
    ranks: tuple[int, ...]  # rising
    mpi_io: tuple[str, ...]  # of `mpi_io.NAMES`; empty: the library knows no choice
    repeats: int
    system: str  # of the model, where the paper names none

    @property
    def most_ranks(self) -> int:
        return self.ranks[-1]

    @property
    def first_mpi_io(self) -> str:
        return self.mpi_io[0] if self.mpi_io else ""

    @property
    def ways_of_mpi_io(self) -> tuple[str, ...]:
        return self.mpi_io or ("",)

    @property
    def bench_words(self) -> tuple[str, ...]:
        """The grid, for `neve bench chombo`."""
        return ("--units", ",".join(map(str, self.units)), "--box-cells", str(self.box_cells))

    @property
    def plan_words(self) -> tuple[str, ...]:
        """The same grid, for `neve plan`."""
        return ("--chombo", "x".join(map(str, self.units)), "--box-cells", str(self.box_cells))

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Settings:
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content.items()
        }
        return cls(**values)
