# SPDX-License-Identifier: BSD-3-Clause
"""Colour scales: which value gets which colour."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._errors import Error
from ._drawing import Masked, finite

if TYPE_CHECKING:
    from matplotlib.colors import Normalize

LOG_SPAN = 10  # positive fields of simulations that reach over more are drawn logarithmically


@dataclass(frozen=True)
class Scale:
    """What a caller asks for; None: as the values suggest."""

    log: bool | None = None
    range: tuple[float, float] | None = None
    cmap: str = "viridis"

    def check(self) -> None:
        """neve.Error where it is impossible whatever the values are."""
        from matplotlib import colormaps

        if self.cmap not in colormaps:
            like = difflib.get_close_matches(self.cmap, list(colormaps), 3)
            known = ", ".join(like) if like else "viridis, magma, RdBu_r"
            raise Error(f"no colour map {self.cmap!r}; matplotlib's are allowed: {known}, ...")
        if self.range is not None:
            low, high = self.range
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise Error(f"range {low:g},{high:g}: allowed is LOWEST,HIGHEST, lowest first")
            if self.log and low <= 0:
                raise Error(f"range {low:g},{high:g}: a logarithmic scale begins above 0")


@dataclass(frozen=True)
class Extent:
    """What a colour scale has to know of values: the lowest, the highest, the lowest above 0."""

    low: float = np.inf
    high: float = -np.inf
    positive: float = np.inf

    @property
    def is_empty(self) -> bool:
        return self.low > self.high

    def merged(self, other: Extent) -> Extent:
        return Extent(
            min(self.low, other.low),
            max(self.high, other.high),
            min(self.positive, other.positive),
        )


def extent_of(many: Iterable[Masked]) -> Extent:
    found = Extent()
    for values in many:
        numbers = finite(values).astype(np.float64)
        if numbers.size:
            above = numbers[numbers > 0]
            found = found.merged(
                Extent(
                    float(numbers.min()),
                    float(numbers.max()),
                    float(above.min()) if above.size else np.inf,
                )
            )
    return found


def norm_of(extent: Extent, scale: Scale, field: str, may_be_log: bool) -> Normalize:
    """The scale of one field, in all panels and frames that show it."""
    from matplotlib.colors import LogNorm, Normalize

    if extent.is_empty:
        return Normalize(0, 1)  # of nothing
    low, high = scale.range or (extent.low, extent.high)
    is_log = scale.log
    if is_log is None:
        is_log = may_be_log and low > 0 and high / low > LOG_SPAN
    if not is_log:
        return Normalize(low, high)
    if low <= 0:
        low = extent.positive
    if not low <= high:
        raise Error(
            f"{field}: a logarithmic scale needs values above 0; they lie between {extent.low:g} "
            f"and {extent.high:g}"
        )
    return LogNorm(low, high)
