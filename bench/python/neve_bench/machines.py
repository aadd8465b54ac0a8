# SPDX-License-Identifier: BSD-3-Clause
"""The machines that a study's records are of: a folder can be carried from one to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Machine = dict[str, Any]  # report.machine()


def machines_of(records: Iterable[Mapping[str, Any]]) -> list[Machine | None]:
    """Each once. None stands for records that do not say: of before they did."""
    found: list[Machine | None] = []
    for record in records:
        machine = record.get("machine")
        if machine not in found:
            found.append(machine)
    return found


def named(machines: Sequence[Machine | None]) -> str:
    """For people."""
    return "; ".join(map(_name, machines)) or "no machine yet"


def _name(machine: Machine | None) -> str:
    if machine is None:
        return "a machine that older records do not name"
    memory = "" if machine["memory_gib"] is None else f"{machine['memory_gib']} GiB, "
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {memory}{machine['system']}, "
        f"Python {machine['python']}"
    )
