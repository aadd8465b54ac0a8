# SPDX-License-Identifier: BSD-3-Clause
"""What was measured, as the items ask for it."""

from __future__ import annotations

from dataclasses import dataclass

from ..paper.results import Measured, Record

EQUAL, BALANCED = "unbalanced", "balanced"  # the layouts, as neve bench struct names them
Results = Measured  # of the requests of requests.py


@dataclass(frozen=True)
class Place:
    """Where writes were timed."""

    ranks: int
    layout: str
    output: str


def stored_by(result: Record | None, layout: str = BALANCED) -> dict[str, Record]:
    """The outputs of a run of struct in a layout, by name."""
    if result is None:
        return {}
    found = [one for one in result["layouts"] if one["name"] == layout]
    return {one["output"]: one for one in found[0]["outputs"]} if found else {}
