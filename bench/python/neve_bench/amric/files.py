# SPDX-License-Identifier: BSD-3-Clause
"""The plotfiles of a study after a look at each, and what is asked of all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from neve.plotfile import AXIS_NAMES

DENSITY = re.compile(r"density|rho", re.IGNORECASE)
# The paper's two codes, by names of fields that no other one's files here have: dark matter beside
# the baryons, and an electric field.
NYX, WARPX = "Nyx", "WarpX"
FIELDS_OF_CODES = {
    NYX: {"particle_mass_density", "dark_matter_density", "baryon_density"},
    WARPX: {"Ex", "Ey", "Ez"},
}
CURVE_FIELDS = 2  # of a file, where --fields does not say


@dataclass(frozen=True)
class Settings:
    items: tuple[str, ...]
    fields: tuple[str, ...]  # empty: all of them
    bounds: tuple[float, ...]
    curve_bounds: tuple[float, ...]
    cells: str
    ranks: tuple[int, ...]
    repeats: int
    axis: str
    at: float | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(content: dict[str, Any]) -> Settings:
        lists = {k: tuple(v) if isinstance(v, list) else v for k, v in content.items()}
        return Settings(**lists)

    @property
    def slice(self) -> str:
        """As --slice takes it."""
        return f"axis={self.axis}" + ("" if self.at is None else f",at={self.at!r}")

    @property
    def middle(self) -> float:
        """The bound of what is measured at one only: the one nearest to 1e-3."""
        return min(self.bounds, key=lambda rel: max(rel / 1e-3, 1e-3 / rel))


@dataclass(frozen=True, eq=False)
class File:
    name: str
    identity: str
    run: str  # shown: "plt00196..plt00216"
    step: int | None
    is_last: bool  # of its run
    steps: int  # of its run
    look: dict[str, Any]  # work.look()

    @property
    def levels(self) -> list[dict[str, Any]]:
        return self.look["levels"]

    @property
    def dims(self) -> int:
        return self.look["dims"]

    @property
    def cells(self) -> int:
        return sum(level["cells"] for level in self.levels)

    @property
    def code(self) -> str | None:
        """Of the paper's two, by the fields; None: another one, or not to be told."""
        fields = self.look["ends"].keys()
        return next((code for code, known in FIELDS_OF_CODES.items() if fields & known), None)

    @property
    def of_code(self) -> str:
        """The code, or what is known instead."""
        return self.code or f"neither Nyx's nor WarpX's fields: {', '.join(self.look['ends'])}"

    def boxes_that_hold(self, unit: int, level: int) -> int:
        """A whole unit block of this side, each."""
        return self.levels[level]["boxes_that_hold"][str(unit)]

    def holds(self, unit: int | None, level: int | None = None) -> bool:
        """Whether some box of the level, or of any, holds a whole unit block; no unit always is."""
        levels = range(len(self.levels)) if level is None else (level,)
        return unit is None or any(self.boxes_that_hold(unit, one) for one in levels)

    def fields(self, settings: Settings) -> list[str]:
        """Those asked for that have a range on some level: without one a relative bound is none."""
        return [
            field
            for field, ends in self.look["ends"].items()
            if (not settings.fields or field in settings.fields) and any(a < b for a, b in ends)
        ]

    def without_range(self, settings: Settings) -> list[str]:
        wanted = settings.fields or self.look["ends"]
        return [f for f in wanted if f in self.look["ends"] and f not in self.fields(settings)]

    def why_not_cut(self, settings: Settings) -> str | None:
        """Why the plane of --slice does not cut it; None where it does."""
        if not settings.axis:
            return None
        if self.dims < 3:
            return f"--slice {settings.slice}: of {self.dims} dimensions no plane is left"
        least, most = self.look["sides"][AXIS_NAMES.index(settings.axis)]
        if settings.at is None or least <= settings.at <= most:
            return None
        return f"--slice {settings.slice}: {settings.axis} is from {least!r} to {most!r}"

    def curve_fields(self, settings: Settings) -> list[str]:
        """The density-like ones first, as the paper's curves are of the baryon density."""
        fields = self.fields(settings)
        if settings.fields:
            return fields
        return sorted(fields, key=lambda field: not DENSITY.search(field))[:CURVE_FIELDS]


def runs_of(files: Sequence[File]) -> dict[str, list[File]]:
    found: dict[str, list[File]] = {}
    for file in files:
        found.setdefault(file.run, []).append(file)
    return found
