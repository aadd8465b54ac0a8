# SPDX-License-Identifier: BSD-3-Clause
"""A unit of work: what is measured together, and recorded once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any


def key_of(*identity: Any) -> str:
    """The same for as long as the same is measured; a file's name."""
    text = json.dumps(identity, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def brief(error: str) -> str:
    """The last line of a failure that says something: launchers draw frames around theirs."""
    lines = [line for line in error.splitlines() if any(map(str.isalnum, line))]
    return lines[-1].strip() if lines else error


@dataclass(frozen=True)
class Unit:
    key: str
    name: str  # for people: "plt00113 density: amric:sle at 0.001"
    seconds: float  # estimated, on one core
    request: dict[str, Any]  # what is measured, without a path of the machine: JSON
    paths: dict[str, str] = field(default_factory=dict)  # where its input lies here
    is_alone: bool = False  # nothing else may run beside it: it takes the time of all cores
