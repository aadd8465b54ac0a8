# SPDX-License-Identifier: BSD-3-Clause
"""The cycle as it was measured: bytes, and seconds with their spread; and the same on imitated
storage, for which the benchmark adds the bytes that each phase moved over a bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..paper.numbers import number
from . import cycles
from .results import Results

MEGABYTE = 1e6
SLOWEST, FASTEST = 1e-3, 1e6  # MB/s, between which a bandwidth is looked for


class Runs:
    """Repeats of one command. `storage` is the bandwidth in MB/s of the storage that seconds are
    told for; None: this disk, as measured.
    """

    def __init__(self, runs: Sequence[dict[str, Any]], storage: float | None = None):
        self._runs = runs
        self._methods = [{one["name"]: one for one in run["methods"]} for run in runs]
        self.storage = storage

    def on(self, storage: float) -> Runs:
        """The same, by the model of storage of so many MB/s."""
        return Runs(self._runs, storage)

    @property
    def raw_bytes(self) -> int:
        return self._runs[0]["raw_bytes"]

    @property
    def methods(self) -> list[str]:
        return [name for name in cycles.METHODS if all(name in run for run in self._methods)]

    @property
    def place(self) -> str:
        return "this disk" if self.storage is None else f"storage of {number(self.storage)} MB/s"

    def bytes(self, method: str) -> int:
        """The same in all repeats."""
        return self._methods[0][method]["bytes"]

    def _phases(self, run: int, method: str) -> dict[str, float]:
        one = self._methods[run][method]
        found = {phase: one["seconds"][phase] for phase in cycles.PHASES}
        if self.storage is not None:
            scale = self._runs[run]["storage_MBps"] / self.storage
            for phase in found:
                found[phase] += one["imitated_seconds"][phase] * scale
        return found

    def seconds(self, method: str, *phases: str) -> list[float]:
        """Of each repeat, the sum of these phases; without any, of all."""
        of = phases or cycles.PHASES
        return [sum(self._phases(n, method)[p] for p in of) for n in range(len(self._runs))]

    def least(self, method: str, *phases: str) -> float:
        return min(self.seconds(method, *phases))

    def phases(self, method: str) -> dict[str, float]:
        """Of the repeat with the least total."""
        totals = self.seconds(method)
        return self._phases(totals.index(min(totals)), method)

    def conversion_share(self) -> float:
        phases = self.phases(cycles.NETCDF)
        return phases["conversion"] / sum(phases.values())

    def break_even(self, mine: str, other: str) -> float | None:
        """The bandwidth in MB/s below which `mine` is faster, by the model; None where none is
        found.
        """
        low, high = SLOWEST, FASTEST

        def gains(storage: float) -> bool:
            there = self.on(storage)
            return there.least(mine) < there.least(other)

        if not gains(low) or gains(high):
            return None
        for _ in range(50):
            middle = (low * high) ** 0.5
            low, high = (middle, high) if gains(middle) else (low, middle)
        return low

    def faster(self, mine: str, other: str, *phases: str) -> bool | None:
        """None where the repeats of the two overlap, or there is one."""
        a, b = self.seconds(mine, *phases), self.seconds(other, *phases)
        if len(a) < 2:
            return None
        return True if max(a) < min(b) else False if min(a) > max(b) else None


def on_disk(results: Results) -> Runs | None:
    runs = [results.result(one) for one in cycles.runs(results.settings)]
    there = [run for run in runs if run is not None]
    return Runs(there) if there else None


def busy(results: Results) -> str:
    """Why the seconds of the cycle are not judged; "" where they are."""
    return results.busy(cycles.runs(results.settings))
