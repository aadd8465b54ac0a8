# SPDX-License-Identifier: BSD-3-Clause
"""What a study of this paper was asked for, and what the build can store with."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    items: tuple[str, ...]
    grid: tuple[int, int, int]  # of what is stored and timed
    count_grid: tuple[int, int, int]  # of tiles that are counted
    ranks: tuple[int, ...]  # rising, from 1 on
    tiles: tuple[int, ...]  # rising
    repeats: int
    seed: int
    cores: int  # of the machine that measures
    outputs: tuple[str, ...]  # of this build
    left_out: tuple[str, ...]  # of them those that cannot store this grid, and are not timed

    @property
    def most_tiles(self) -> int:
        return self.tiles[-1]

    @property
    def judged_ranks(self) -> tuple[int, ...]:
        """More ranks than cores show how cores are shared: they are measured, and not judged."""
        return tuple(ranks for ranks in self.ranks if 1 < ranks <= self.cores)

    @property
    def grid_words(self) -> tuple[str, ...]:
        return (*_grid_words(self.grid), "--seed", str(self.seed))

    @property
    def count_words(self) -> tuple[str, ...]:
        return (*_grid_words(self.count_grid), "--seed", str(self.seed))

    def built(self, *names: str) -> tuple[str, ...]:
        """Those of the names that this build can store with."""
        return tuple(name for name in names if name in self.outputs)

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Settings:
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content.items()
        }
        return cls(**values)


def _grid_words(grid: tuple[int, int, int]) -> tuple[str, ...]:
    return ("--grid", ",".join(map(str, grid)))
