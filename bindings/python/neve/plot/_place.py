# SPDX-License-Identifier: BSD-3-Clause
"""Where a picture cuts through its field: a dimension's place by coordinate, by index, or its
middle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .._errors import Error


@dataclass(frozen=True)
class Cut:
    """Where one dimension is cut: by `coord`, by `index`, or in its middle where both are None."""

    coord: float | str | None = None
    index: int | None = None

    def __str__(self) -> str:
        where = self.coord if self.index is None else self.index
        return where if isinstance(where, str) else f"{where:g}"


@dataclass(frozen=True)
class Place:
    """What a caller asks for. All of it may be left out."""

    axis: str | None = None
    coord: float | None = None
    at: Mapping[str, float | str] = field(default_factory=dict)
    index: Mapping[str, int] = field(default_factory=dict)
    level: int | None = None

    def cuts(self, default_axis: str | None = None) -> dict[str, Cut]:
        """Each dimension that is named. `coord` without `axis` is of `default_axis`."""
        found: dict[str, Cut] = {}
        axis = self.axis
        if axis is None and self.coord is not None:
            axis = default_axis
            if axis is None:
                raise Error(
                    f"coord {self.coord:g} is of no dimension; name it: --axis NAME --coord "
                    f"{self.coord:g}, or --at NAME={self.coord:g}"
                )
        named = [
            *([] if axis is None else [(axis, Cut(coord=self.coord))]),
            *((name, Cut(coord=value)) for name, value in self.at.items()),
            *((name, Cut(index=int(value))) for name, value in self.index.items()),
        ]
        for name, cut in named:
            if name in found:
                raise Error(f"two places are given for dimension {name!r}; one is allowed")
            found[name] = cut
        return found


def cuts_of(
    place: Place, dims: Mapping[str, int], what: str, default_axis: str | None = None
) -> dict[str, Cut]:
    """Those of `place`, which name dimensions of `what`: `dims` has the length of each."""
    cuts = place.cuts(default_axis)
    for name in cuts:
        if name not in dims:
            there = ", ".join(f"{n} ({size})" for n, size in dims.items())
            raise Error(f"no dimension {name!r}; {what} has {there}")
    return cuts


def pairs(option: str, words: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE, each, as the command's options have them."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        if not equals or not name or not value:
            raise Error(f"{option} {word}: allowed is DIMENSION=VALUE, as in {option} time=3")
        if name in found:
            raise Error(f"two places are given for dimension {name!r}; one is allowed")
        found[name] = value
    return found


def number_or_text(value: str) -> float | str:
    """A number, or else a text, as of a date."""
    try:
        return float(value)
    except ValueError:
        return value
