# SPDX-License-Identifier: BSD-3-Clause
"""How times are taken: the median of repeats, and contenders in turns."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from neve._errors import Error

Name = TypeVar("Name")
Result = TypeVar("Result")


def clocked(call: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    """Seconds of one call, and what it returned."""
    begin = clock()
    result = call()
    return clock() - begin, result


def median_seconds(call: Callable[[], Any], repeats: int, clock: Callable[[], float]) -> float:
    return statistics.median(clocked(call, clock)[0] for _ in range(repeats))


def in_turns(
    names: Iterable[Name], repeats: int, run: Callable[[Name], Result]
) -> dict[Name, list[Result]]:
    """What `run(name)` gives each time. They take turns: a disturbance of the machine meets all."""
    found: dict[Name, list[Result]] = {name: [] for name in names}
    for _ in range(repeats):
        for name, results in found.items():
            results.append(run(name))
    return found


def check_repeats(repeats: int) -> None:
    check_positive("--repeats", repeats)


def check_positive(option: str, value: int) -> None:
    if value < 1:
        raise Error(f"{option} {value} is not a whole number above 0")
