# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of options, refused in the library's own words."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._errors import Error


def check_range(caller: str, name: str, found: int, least: int, most: int) -> None:
    if not least <= found <= most:
        raise Error(f"{caller}: {_core.out_of_range(name, str(found), least, most)}")


def whole_number(caller: str, name: str, found: Any, least: int, most: int) -> int:
    if isinstance(found, (bool, np.bool_)) or not isinstance(found, (int, np.integer)):
        raise Error(f"{caller}: {name}={found!r} is not a whole number")
    check_range(caller, name, int(found), least, most)
    return int(found)
