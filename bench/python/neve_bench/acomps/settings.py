# SPDX-License-Identifier: BSD-3-Clause
"""What a study of the slides was asked for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Settings:
    items: tuple[str, ...]
    variables: tuple[str, ...]  # empty: all that are floating point
    most_mib: float  # of a variable or of a step of a series; more is cut off
    repeats: int
    ranks: int  # of the ensemble cycle
    grid: tuple[int, int]  # of the ensemble cycle, as all that follows
    members: int
    cycles: int
    storage: float  # MB/s: of imitated storage

    @property
    def most_bytes(self) -> int:
        return int(self.most_mib * MEBIBYTE)

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Settings:
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content.items()
        }
        return cls(**values)
