# SPDX-License-Identifier: BSD-3-Clause
"""The error bound as a caller writes it: exactly one of `abs=`, `rel=`, `lossless=True`; for whole
arrays also `ratio=` and `psnr=`.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np

from ._errors import Error

ALLOWED = "allowed is exactly one of abs=<value > 0>, rel=<value > 0>, lossless=True"
ALLOWED_OF_ARRAYS = (
    "allowed is exactly one of abs=<value > 0>, rel=<value > 0>, ratio=<value > 1>, "
    "psnr=<dB > 0>, lossless=True"
)
LATER_MODES = ("pw_rel",)
ARRAY_MODES = ("ratio", "psnr")

# The numbers of neve::BoundMode, which are also those of the HDF5 filter's parameters.
_MODE = {"lossless": 0, "abs": 1, "rel": 2, "ratio": 3, "psnr": 4}


class Bound(NamedTuple):
    mode: int
    value: float


def parse_bound(
    caller: str,
    abs: float | None,
    rel: float | None,
    lossless: bool,
    other: dict[str, Any],
    targets: dict[str, float | None] | None = None,
) -> Bound:
    """The bound these keyword arguments of `caller` come to; Error when they do not name exactly
    one. `targets` holds ratio= and psnr= where the caller takes whole arrays.
    """
    allowed = ALLOWED if targets is None else ALLOWED_OF_ARRAYS
    for name in other:
        if name in LATER_MODES:
            raise Error(f"{caller}: this version has no bound {name}=; {allowed}")
        if name in ARRAY_MODES:
            raise Error(f"{caller}: bound {name}= is for whole arrays (neve.compress); {allowed}")
        raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")
    if not isinstance(lossless, (bool, np.bool_)):
        raise Error(f"{caller}: lossless={lossless!r} is not True or False")

    given = {"abs": abs, "rel": rel, **(targets or {}), "lossless": bool(lossless) or None}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        found = " and ".join(f"{name}=" for name in named) or "none"
        raise Error(f"{caller}: {found} given as error bound; {allowed}")
    mode = named[0]
    if mode == "lossless":
        return Bound(_MODE[mode], 0.0)

    value = given[mode]
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise Error(f"{caller}: {mode}={value!r} is not a number; {allowed}")
    try:
        value = float(value)
    except OverflowError:
        raise Error(f"{caller}: {mode}= is larger than any float64; {allowed}") from None
    least = 1 if mode == "ratio" else 0
    if not (math.isfinite(value) and value > least):
        raise Error(f"{caller}: {mode}={value!r} is not finite and greater than {least}; {allowed}")
    return Bound(_MODE[mode], value)


def given_range(caller: str, limits: Any) -> tuple[float, float]:
    """`range=` of `caller`: what the values to come lie between."""
    try:
        if not all(isinstance(limit, numbers.Real) for limit in limits):
            raise TypeError
        lowest, highest = map(float, limits)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{caller}: range={limits!r}; allowed is a pair (lowest, highest)") from None
    if not (math.isfinite(lowest) and math.isfinite(highest) and lowest <= highest):
        raise Error(f"{caller}: range={limits!r}; allowed are finite values, the lower one first")
    return lowest, highest
