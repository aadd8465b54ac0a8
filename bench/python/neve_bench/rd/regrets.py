# SPDX-License-Identifier: BSD-3-Clause
"""What choosing alone loses against forcing: auto against the best forced codec and arrangement
that was measured with the same effort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..amr.neve_ways import CODECS
from .curves import Row

AUTO = "neve:auto"


def effort_of(way: str) -> str:
    """As neve_ways has the defaults."""
    settings = dict(word.split("=") for word in way.split(",")[1:])
    return settings.get("effort", "max" if is_forced(way) else "balanced")


def is_forced(way: str) -> bool:
    return way.partition(",")[0].removeprefix("neve:") in CODECS


def regrets(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Negative where auto is the better one."""
    found = []
    for row in rows:
        if row["way"].partition(",")[0] != AUTO or not row.get("ratio"):
            continue
        rivals = [
            other
            for other in rows
            if (other["field"], other["rel"]) == (row["field"], row["rel"])
            and is_forced(other["way"])
            and effort_of(other["way"]) == effort_of(row["way"])
            and other.get("ratio")
        ]
        best = min(rivals, key=lambda other: other["stored_bytes"], default=None)
        if best is None:
            continue
        seconds = best["encode_seconds"]
        found.append(
            {
                "field": row["field"],
                "rel": row["rel"],
                "way": row["way"],
                "best": best["way"],
                "size_regret": row["stored_bytes"] / best["stored_bytes"] - 1,
                "time_regret": row["encode_seconds"] / seconds - 1 if seconds > 0 else None,
            }
        )
    return found
