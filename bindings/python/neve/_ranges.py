# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of options, refused in the library's own words."""

from __future__ import annotations

from . import _core
from ._errors import Error


def check_range(caller: str, name: str, found: int, least: int, most: int) -> None:
    if not least <= found <= most:
        raise Error(f"{caller}: {_core.out_of_range(name, str(found), least, most)}")
