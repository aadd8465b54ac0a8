# SPDX-License-Identifier: BSD-3-Clause
"""The error bound as a caller writes it: exactly one of `abs=`, `rel=`, `lossless=True`."""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

from ._errors import Error

ALLOWED = "allowed is exactly one of abs=<value > 0>, rel=<value > 0>, lossless=True"
LATER_MODES = ("pw_rel", "psnr", "ratio")

# The numbers of neve::BoundMode, which are also those of the HDF5 filter's parameters.
_MODE = {"lossless": 0, "abs": 1, "rel": 2}


class Bound(NamedTuple):
    mode: int
    value: float


def parse_bound(
    caller: str,
    abs: float | None,
    rel: float | None,
    lossless: bool,
    other: dict[str, Any],
) -> Bound:
    """The bound these keyword arguments of `caller` come to; Error when they do not name exactly
    one.
    """
    for name in other:
        if name in LATER_MODES:
            raise Error(f"{caller}: this version has no bound {name}=; {ALLOWED}")
        raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")
    if not isinstance(lossless, bool):
        raise Error(f"{caller}: lossless={lossless!r} is not True or False")

    given = {"abs": abs, "rel": rel, "lossless": lossless or None}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        found = " and ".join(f"{name}=" for name in named) or "none"
        raise Error(f"{caller}: {found} given as error bound; {ALLOWED}")
    mode = named[0]
    if mode == "lossless":
        return Bound(_MODE[mode], 0.0)

    value = given[mode]
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise Error(f"{caller}: {mode}={value!r} is not a number; {ALLOWED}")
    value = float(value)
    if not (math.isfinite(value) and value > 0):
        raise Error(f"{caller}: {mode}={value!r} is not finite and greater than 0; {ALLOWED}")
    return Bound(_MODE[mode], value)
