# SPDX-License-Identifier: BSD-3-Clause
"""What was measured, by what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..machines import Machine
from ..records import Records

Record = dict[str, Any]


class Recorded:
    """Records by their requests. A paper whose files are measured one by one has pairs of a file
    and a request instead.
    """

    def __init__(
        self,
        settings: Any,
        records: Mapping[Any, Record],
        machines: Sequence[Machine | None] = (),  # that the records are of
    ):
        self.settings = settings
        self.records = records
        self.machines = list(machines)

    def failures(self) -> list[tuple[Any, str]]:
        """(request, error) of each."""
        return [(one, r["error"]) for one, r in self.records.items() if r["error"] is not None]


class Measured(Recorded):
    def result(self, request: Any) -> Record | None:
        """None where it failed or was not measured."""
        record = self.records.get(request)
        return None if record is None else record["result"]

    def of_kind(self, kind: type) -> list[tuple[Any, Record]]:
        """(request, result) of what went well."""
        return [
            (request, record["result"])
            for request, record in self.records.items()
            if isinstance(request, kind) and record["result"] is not None
        ]


def read_units(
    units: Iterable[Mapping[str, Any]],
    records: Records,
    request_of: Callable[[Mapping[str, Any]], Any],
) -> dict[Any, Record]:
    """What is recorded of a plan's units, by what `request_of` makes of their requests."""
    return {
        request_of(unit["request"]): record
        for unit in units
        if (record := records.read(unit["key"])) is not None
    }
