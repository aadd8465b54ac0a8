# SPDX-License-Identifier: BSD-3-Clause
"""What was measured, as the items ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import report
from ..machines import Machine
from .requests import Request
from .settings import Settings

Record = dict[str, Any]
EQUAL, BALANCED = "unbalanced", "balanced"  # the layouts, as neve bench struct names them


@dataclass(frozen=True)
class Place:
    """Where writes were timed."""

    ranks: int
    layout: str
    output: str


class Results:
    def __init__(
        self,
        settings: Settings,
        records: Mapping[Request, Record],
        machines: Sequence[Machine | None] = (),
    ):
        self.settings = settings
        self.records = records
        self.machines = list(machines)

    def result(self, request: Request) -> Record | None:
        """None where it failed or was not measured."""
        record = self.records.get(request)
        return None if record is None else record["result"]

    def failures(self) -> list[tuple[Request, str]]:
        return [(one, r["error"]) for one, r in self.records.items() if r["error"] is not None]

    def of_kind(self, kind: type) -> list[tuple[Any, Record]]:
        """(request, result) of what went well."""
        return [
            (request, record["result"])
            for request, record in self.records.items()
            if isinstance(request, kind) and record["result"] is not None
        ]


def stored_by(result: Record | None, layout: str = BALANCED) -> dict[str, Record]:
    """The outputs of a run of struct in a layout, by name."""
    if result is None:
        return {}
    found = [one for one in result["layouts"] if one["name"] == layout]
    return {one["output"]: one for one in found[0]["outputs"]} if found else {}


def number(value: float | None, digits: int = 3) -> str:
    return report.number(value, digits)


def span(values: Iterable[float], digits: int = 3) -> str:
    """Least and largest: "3.90 to 17.6"; once, where both read the same."""
    there = list(values)
    if not there:
        return "-"
    ends = (number(end, digits) for end in (min(there), max(there)))
    return " to ".join(dict.fromkeys(ends))


def counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
