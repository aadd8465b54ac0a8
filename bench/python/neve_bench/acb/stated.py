# SPDX-License-Identifier: BSD-3-Clause
"""The speedups that the paper states. Its sections do not agree: each range stands under its
own.
"""

from __future__ import annotations

from dataclasses import dataclass

from .cases import CHECKPOINT, CORI, EDISON, PLOT_FILE
from .strategies import AGGREGATED, COLLECTIVE, INDEPENDENT

ABSTRACT = "abstract"
SCALING = "section IV-B, scalability"
STRIPING = "section IV-C, striping"
BISICLES = "section IV-E, BISICLES"


@dataclass(frozen=True)
class Speedup:
    """`mine` is `least` to `most` times as fast as `other`."""

    section: str
    system: str
    mine: str
    other: str
    least: float
    most: float

    @property
    def of_systems(self) -> str:
        return "both systems" if self.system == BOTH_SYSTEMS else self.system.capitalize()

    @property
    def place(self) -> str:
        return f"{self.section}, {self.of_systems}"


def _of(section: str, system: str, *ranges: tuple[str, str, float, float]) -> list[Speedup]:
    return [Speedup(section, system, *one) for one in ranges]


OF_SCALING = (
    *_of(
        SCALING,
        CORI,
        (COLLECTIVE, INDEPENDENT, 2.6, 5.3),
        (AGGREGATED, INDEPENDENT, 5.7, 9.6),
        (AGGREGATED, COLLECTIVE, 1.6, 1.8),
    ),
    *_of(
        SCALING,
        EDISON,
        (COLLECTIVE, INDEPENDENT, 1.1, 1.6),
        (AGGREGATED, INDEPENDENT, 2.6, 3.8),
        (AGGREGATED, COLLECTIVE, 2.0, 2.6),
    ),
)
OF_STRIPING = (
    *_of(
        STRIPING,
        CORI,
        (COLLECTIVE, INDEPENDENT, 2.3, 6.1),
        (AGGREGATED, INDEPENDENT, 3.9, 9.1),
        (AGGREGATED, COLLECTIVE, 1.5, 1.8),
    ),
    *_of(
        STRIPING,
        EDISON,
        (COLLECTIVE, INDEPENDENT, 1.1, 1.6),
        (AGGREGATED, INDEPENDENT, 2.0, 3.4),
    ),
)
# Section I repeats those of striping. The abstract has both systems in one range; its 3.4 over
# collective stands in no section.
BOTH_SYSTEMS = "both"
OF_ABSTRACT = (
    *_of(
        ABSTRACT,
        BOTH_SYSTEMS,
        (AGGREGATED, INDEPENDENT, 2.0, 9.1),
        (AGGREGATED, COLLECTIVE, 1.5, 3.4),
    ),
)
# Of single files, not ranges: by file, `mine` over `other`.
OF_BISICLES = {
    (CHECKPOINT, INDEPENDENT): 20.0,
    (CHECKPOINT, COLLECTIVE): 12.8,
    (PLOT_FILE, INDEPENDENT): 13.1,
    (PLOT_FILE, COLLECTIVE): 6.4,
}


def of(section: tuple[Speedup, ...], system: str) -> list[Speedup]:
    return [one for one in section if one.system == system]
