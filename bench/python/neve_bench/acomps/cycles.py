# SPDX-License-Identifier: BSD-3-Clause
"""The runs of `neve bench ensemble` that items ask for, and what slides 11, 14 and 15 say."""

from __future__ import annotations

from .requests import Cycle
from .settings import Settings

# As the slides have them, and beside them by which of our methods they are redone. The ones with
# Neve's own methods come last.
NETCDF, NONE = "netcdf", "none"
SPEED, RATIO = "speed", "ratio"
ACOMPS_SPEED, ACOMPS_RATIO = "acomps-speed", "acomps-ratio"
METHODS = (NETCDF, NONE, "zlib", "bzip2", "lzo", ACOMPS_SPEED, ACOMPS_RATIO, SPEED, RATIO)
OWN = {ACOMPS_SPEED: SPEED, ACOMPS_RATIO: RATIO}
LABELS = {
    NETCDF: "netCDF + binary",
    NONE: "no compression",
    "zlib": "zlib",
    "bzip2": "bzip2",
    "lzo": "LZO",
    ACOMPS_SPEED: "ACOMPS, only CS",
    ACOMPS_RATIO: "ACOMPS, only CR",
    SPEED: "Neve by speed",
    RATIO: "Neve by ratio",
}
# Slide 14, gigabytes.
SLIDE_14 = {
    NETCDF: 283.0,
    NONE: 191.0,
    "zlib": 73.0,
    "bzip2": 72.6,
    "lzo": 80.03,
    ACOMPS_SPEED: 67.5,
    ACOMPS_RATIO: 62.8,
}
CONVERSION_MINUTES, TOTAL_MINUTES = 36.7, 65.0  # slide 11
GRID = (181, 151, 51)
PROCESSES = 1100  # slide 13, of WRF, which share the storage
PHASES = ("model", "preprocessing", "conversion", "write", "read", "letkf")
OUTPUTS_HERE, STATIONS, CYCLE_HOURS, SPINUP_HOURS = 3, 100, 0.5, 6
MOST_CYCLES = 2  # runs of it, however often other things are repeated


def words(settings: Settings) -> tuple[str, ...]:
    nx, ny = settings.grid
    return (
        *("--nx", str(nx), "--ny", str(ny), "--members", str(settings.members)),
        *("--cycles", str(settings.cycles), "--cycle-hours", str(CYCLE_HOURS)),
        *("--outputs", str(OUTPUTS_HERE), "--stations", str(STATIONS)),
        *("--spinup-hours", str(SPINUP_HOURS), "--methods", ",".join(METHODS)),
        *("--storage", f"{settings.storage:g}"),
    )


def bandwidths(settings: Settings) -> tuple[float, float]:
    """Of the storage, MB/s: as it is for all ranks here; and as little for each of them as the
    slides' processes had.
    """
    return settings.storage, settings.storage * settings.ranks / PROCESSES


def runs(settings: Settings) -> list[Cycle]:
    repeats = min(settings.repeats, MOST_CYCLES)
    return [Cycle(words(settings), settings.ranks, n) for n in range(repeats)]
