# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as the papers' reports say them."""

from __future__ import annotations

from collections.abc import Iterable

from .. import report

number = report.number


def counted(count: int, what: str) -> str:
    """Two runs; but of one, and of what is a plural by its name, as it is."""
    return f"{count} {what}" + ("" if count == 1 or what.endswith("s") else "s")


def span(values: Iterable[float], unit: str = "", digits: int = 3) -> str:
    """Least and largest: "3.90 to 17.6 %"; once, where both read the same."""
    there = list(values)
    if not there:
        return "-"
    ends = (number(end, digits) for end in (min(there), max(there)))
    return " to ".join(dict.fromkeys(ends)) + unit
