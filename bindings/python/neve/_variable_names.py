# SPDX-License-Identifier: BSD-3-Clause
"""Names of variables: a field's own, where xarray can have it."""

from __future__ import annotations

from collections.abc import Sequence

from .plotfile import AXIS_NAMES

_COORDINATES = {*AXIS_NAMES, "time"}


def variable_names(fields: Sequence[str]) -> dict[str, str]:
    """{name of the variable: field}. A tree takes "/" for a path, so "_" stands for it; a field
    called like a coordinate gets "_field" after its name.
    """
    found: dict[str, str] = {}
    for field in fields:
        name = field.replace("/", "_")
        if name in _COORDINATES:
            name += "_field"
        while name in found or (name != field and name in fields):
            name += "_"
        found[name] = field
    return found
