# SPDX-License-Identifier: BSD-3-Clause
"""What was modelled and measured, as the items ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import report
from ..machines import Machine
from .requests import Modelled, Request, Timed, Traced
from .settings import Settings
from .strategies import COMPRESSED

Record = dict[str, Any]
MEBIBYTE = 1 << 20


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

    def plan(self, words: Iterable[str]) -> Plan | None:
        """What the model says, by strategy."""
        result = self.result(Modelled(tuple(words)))
        return None if result is None else Plan(result)

    def failures(self) -> list[tuple[Request, str]]:
        return [(one, r["error"]) for one, r in self.records.items() if r["error"] is not None]

    def of_kind(self, kind: type) -> list[tuple[Any, Record]]:
        """(request, result) of what went well."""
        return [
            (request, record["result"])
            for request, record in self.records.items()
            if isinstance(request, kind) and record["result"] is not None
        ]

    def timed(self, request: Timed) -> dict[str, Record]:
        """The measured strategies, by name."""
        result = self.result(request)
        return {} if result is None else {one["name"]: one for one in result["strategies"]}

    def traced(self, request: Traced) -> dict[str, Record]:
        """By name, in the order in which they were asked for."""
        result = self.result(request)
        of = {} if result is None else result["strategies"]
        return {name: of[name] for name in request.strategies if name in of}


PLANNED_COMPRESSED = "skeleton, compressed"  # the plan's name of strategy compressed


class Plan:
    """`neve plan`'s JSON."""

    def __init__(self, content: Record):
        self.content = content
        self._by_name = {one["name"]: one for one in content["strategies"]}
        if PLANNED_COMPRESSED in self._by_name:
            self._by_name[COMPRESSED] = self._by_name[PLANNED_COMPRESSED]

    def __contains__(self, strategy: str) -> bool:
        return strategy in self._by_name

    def __getitem__(self, strategy: str) -> Record:
        return self._by_name[strategy]

    def seconds(self, strategy: str) -> float:
        return self._by_name[strategy]["seconds"]["total"]

    def speedup(self, mine: str, other: str) -> float:
        return self.seconds(other) / self.seconds(mine)

    def top(self, strategy: str, level: str = "posix") -> list[tuple[int, int]]:
        """(size, count), the most frequent first."""
        return [(one["bytes"], one["count"]) for one in self._by_name[strategy][level]["top"]]


def number(value: float | None, digits: int = 3) -> str:
    return report.number(value, digits)


def span(values: Iterable[float]) -> str:
    """Least and largest: "3.90 to 17.6"; once, where both read the same."""
    there = list(values)
    if not there:
        return "-"
    return " to ".join(dict.fromkeys(number(end) for end in (min(there), max(there))))


def percent(share: float) -> str:
    """Of a difference, with its sign; "0" of none."""
    if abs(share) >= 1:
        return f"{100 * share:+,.0f} %"
    return "0 %" if share == 0 else f"{100 * share:+.3g} %"


def size(count: float) -> str:
    """Bytes for people, exact where they are few: 272 B, 4.39 MiB."""
    if count < 10_000:
        return f"{count:g} B"
    return f"{number(count / 1024)} KiB" if count < MEBIBYTE else f"{number(count / MEBIBYTE)} MiB"


def counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
