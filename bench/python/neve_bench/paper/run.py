# SPDX-License-Identifier: BSD-3-Clause
"""Running what of a plan has no record yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import report
from ..records import Records
from .progress import Progress
from .unit import Unit, brief
from .workers import Workers


def outstanding(units: Sequence[Unit], records: Records, retry: bool) -> list[Unit]:
    """Those without a record, or, with `retry`, with one of a failure."""
    found = []
    for unit in units:
        record = records.read(unit.key)
        if record is None or (retry and record["error"] is not None):
            found.append(unit)
    return found


def seconds_of(units: Sequence[Unit], workers: int) -> float:
    """Estimated, until all of them are done."""
    return sum(_seconds(unit, workers) for unit in units)


def _seconds(unit: Unit, workers: int) -> float:
    return unit.seconds if unit.is_alone else unit.seconds / workers


@dataclass(frozen=True)
class Runner:
    """`module`.measure(request, paths) gives the record of a unit."""

    module: str
    records: Records
    workers: int
    limit_seconds: float

    def run(self, units: Sequence[Unit], progress: Progress) -> None:
        if not units:
            return
        together = [unit for unit in units if not unit.is_alone]
        alone = [unit for unit in units if unit.is_alone]
        progress.show(units[0].name, now=True)
        for some, count in ((together, self.workers), (alone, 1)):
            with Workers(self.module, count, self.limit_seconds) as pool:
                self._run_some(pool, some, progress)

    def _run_some(self, pool: Workers, units: Sequence[Unit], progress: Progress) -> None:
        machine = report.machine()
        for unit, record in pool.run(units, progress.show):
            head = {"request": unit.request, "name": unit.name, "machine": machine}
            self.records.write(unit.key, {**head, **record})
            progress.add(_seconds(unit, self.workers))
            if record["error"] is not None:
                progress.say(f"{unit.name}: failed: {brief(record['error'])}")
