# SPDX-License-Identifier: BSD-3-Clause
"""What was modelled and measured, as the items ask for it."""

from __future__ import annotations

from collections.abc import Iterable

from ..paper.numbers import number
from ..paper.results import Measured, Record
from .requests import Modelled, Timed, Traced
from .strategies import COMPRESSED

MEBIBYTE = 1 << 20


class Results(Measured):
    def plan(self, words: Iterable[str]) -> Plan | None:
        """What the model says, by strategy."""
        result = self.result(Modelled(tuple(words)))
        return None if result is None else Plan(result)

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
