# SPDX-License-Identifier: BSD-3-Clause
"""What methods are measured on: an array, and the bound that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    group: str
    name: str
    array: np.ndarray
    rel: float | None = None  # bound, of the range of what means something; None: every bit
    fill: float | None = None  # what the array's own metadata calls missing

    def bound_abs(self) -> float:
        """`rel` of the range of the values that mean something, in float64."""
        values = self.array[np.isfinite(self.array)].astype(np.float64)
        if self.fill is not None:
            values = values[values != self.fill]
        if values.size == 0 or self.rel is None:
            return 0.0
        spread = float(values.max()) - float(values.min())
        return self.rel * min(spread, float(np.finfo(np.float64).max))

    def type_and_shape(self) -> dict[str, Any]:
        """For the record."""
        return {"dtype": self.array.dtype.name, "shape": list(self.array.shape)}
