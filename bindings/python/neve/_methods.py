# SPDX-License-Identifier: BSD-3-Clause
"""What a caller says of the methods that codec lossless chooses among."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, TypeAlias

from ._errors import Error

Candidates: TypeAlias = str | Sequence[str]


def candidates_text(caller: str, candidates: Any) -> str:
    """`candidates=` of `caller` as the library takes it, which knows the names."""
    names = [candidates] if isinstance(candidates, str) else candidates
    if isinstance(names, Sequence) and names and all(isinstance(name, str) for name in names):
        return ",".join(names)
    raise Error(
        f"{caller}: candidates={candidates!r}; allowed are 'all', 'acomps', the name of a lossless "
        "method, or a list of such names"
    )


def weight(caller: str, name: str, value: Any) -> float:
    """A weight, or another number of at least 0."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not (math.isfinite(value) and value >= 0):
        raise Error(f"{caller}: {name}={value!r}; finite numbers of at least 0 are allowed")
    return float(value)
