# SPDX-License-Identifier: BSD-3-Clause
"""The error bound as a caller writes it: exactly one of `abs=`, `rel=`, `lossless=True`; for whole
arrays also `ratio=` and `psnr=`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._errors import Error

_ALLOWED = {
    "abs": "abs=<value > 0>",
    "rel": "rel=<value > 0>",
    "ratio": "ratio=<value > 1>",
    "psnr": "psnr=<dB > 0>",
    "lossless": "lossless=True",
}
LATER_MODES = ("pw_rel",)
ARRAY_MODES = ("ratio", "psnr")

# The numbers of neve::BoundMode, which are also those of the HDF5 filter's parameters.
_MODE = {"lossless": 0, "abs": 1, "rel": 2, "ratio": 3, "psnr": 4}


class Bound(NamedTuple):
    mode: int
    value: float


def _allowed(names: Iterable[str]) -> str:
    """`names`: keywords of a caller, bounds and others."""
    bounds = [text for name, text in _ALLOWED.items() if name in names]
    return f"allowed is exactly one of {', '.join(bounds)}"


def refuse_absent_bound(caller: str, name: str, known: Sequence[str]) -> None:
    """Error where `name` is a bound that `caller`, whose keywords are `known`, does not take."""
    if "rel" not in known:
        return
    if name in LATER_MODES:
        raise Error(f"{caller}: this version has no bound {name}=; {_allowed(known)}")
    if name in ARRAY_MODES:
        raise Error(
            f"{caller}: bound {name}= is for whole arrays (neve.compress); {_allowed(known)}"
        )


def parse_bound(caller: str, given: Mapping[str, Any]) -> Bound:
    """The bound that the bound keywords of `caller`, all that it has, come to; Error when they do
    not name exactly one.
    """
    allowed = _allowed(given)
    lossless = given.get("lossless", False)
    if not isinstance(lossless, (bool, np.bool_)):
        raise Error(f"{caller}: lossless={lossless!r} is not True or False")

    named = [
        name
        for name, value in given.items()
        if (value if name == "lossless" else value is not None)
    ]
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
        raise Error(
            f"{caller}: {mode}={value!r}; finite numbers above {least} are allowed; {allowed}"
        )
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
