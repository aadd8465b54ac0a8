# SPDX-License-Identifier: BSD-3-Clause
"""All methods that ways can be made of."""

from __future__ import annotations

from . import amrex, amric, foreign, neve_ways, zmesh
from .parse import Method, parse_way
from .tac import ways as tac
from .way import Way

METHODS: dict[str, Method] = {
    f"{method.paper}:{method.name}": method
    for module in (neve_ways, amric, amrex, tac, zmesh, foreign)
    for method in module.METHODS
}


def way(text: str) -> Way:
    return parse_way(text, METHODS)
