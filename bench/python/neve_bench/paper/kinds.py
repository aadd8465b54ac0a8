# SPDX-License-Identifier: BSD-3-Clause
"""Requests of several kinds, data classes that have a name `kind` each, as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


def as_json(request: Any) -> dict[str, Any]:
    return {"kind": request.kind, **dataclasses.asdict(request)}


def from_json(kinds: Mapping[str, type], content: Mapping[str, Any]) -> Any:
    """Its inverse; JSON has lists where the classes have tuples."""
    values = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in content.items()
        if name != "kind"
    }
    return kinds[content["kind"]](**values)
