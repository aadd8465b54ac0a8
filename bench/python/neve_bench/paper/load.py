# SPDX-License-Identifier: BSD-3-Clause
"""Whether others were at work on the machine: times are not judged then."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence

MOST_LOAD_A_CORE = 1.5  # the runs themselves make up to 1


def now() -> float:
    """The load of the last minute, to be recorded when a run begins."""
    return os.getloadavg()[0]


def busy(loads: Sequence[float], cores: int) -> str:
    """Why times are not judged, of the loads when their runs began; "" where they are."""
    if not loads or statistics.median(loads) <= MOST_LOAD_A_CORE * cores:
        return ""
    return (
        f"the machine was busy (load {statistics.median(loads):.1f} in the median on "
        f"{cores} cores): times are shown, and not judged"
    )
