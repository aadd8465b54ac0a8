# SPDX-License-Identifier: BSD-3-Clause
"""The paper's machine by arithmetic: ranks compress side by side, and share what its file system
takes. Nothing of it was measured here but ratios, bytes of tiles and one core's speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FILE_SYSTEM_GBPS = 200.0  # the paper's
CORES = (512, 21912)  # the ends of the paper's range
POINTS = 40  # of a curve


@dataclass(frozen=True)
class Way:
    """How a grid is stored: what of a rank's is how uneven, at which ratio and speed."""

    ratio: float = 1.0
    core_mbps: float | None = None  # raw, of compression; None: none
    busiest_raw: float = 1.0  # over the mean of ranks
    busiest_stored: float = 1.0

    def gbps(self, cores: float) -> float:
        """Raw bytes a second: every rank compresses its own, and the slowest ends the write.

        A rank's share of the file system is one over the ranks, so that the busiest waits for as
        many times its mean.
        """
        seconds = self.busiest_stored / self.ratio / FILE_SYSTEM_GBPS
        if self.core_mbps is not None:
            seconds += self.busiest_raw / (self.core_mbps / 1e3) / cores
        return 1 / seconds


def cores_to_pass(way: Way, gbps: float) -> float | None:
    """Cores from which on it is faster; None where it never is."""
    left = 1 / gbps - way.busiest_stored / way.ratio / FILE_SYSTEM_GBPS
    if left <= 0:
        return None
    return 0.0 if way.core_mbps is None else way.busiest_raw / (way.core_mbps / 1e3) / left


def range_of_cores() -> Sequence[float]:
    """Evenly spread on a log axis, over the paper's range and below it."""
    least, most = CORES[0] / 8, CORES[1]
    return [least * (most / least) ** (i / (POINTS - 1)) for i in range(POINTS)]
