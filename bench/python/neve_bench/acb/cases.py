# SPDX-License-Identifier: BSD-3-Clause
"""The paper's runs, as words for `neve plan`."""

from __future__ import annotations

from dataclasses import dataclass

EDISON, CORI = "edison", "cori"
SYSTEMS = (CORI, EDISON)  # as the paper's figures come
# Of values as Neve's frames have them: what the benchmark's blast wave comes to at rel=1e-3.
RATIO = 20


@dataclass(frozen=True)
class Case:
    """A file of the Chombo I/O benchmark, boxes of 64^3 with a layer of ghosts, 2 components."""

    size: str  # as the paper has it
    units: str
    ranks: int
    nodes: int

    def words(self, system: str, stripe_count: int, stripe_mib: int) -> tuple[str, ...]:
        return (
            *("--chombo", self.units, "--ranks", str(self.ranks), "--system", system),
            *("--ranks-per-node", str(self.ranks // self.nodes)),
            *("--stripe-count", str(stripe_count), "--stripe-size", f"{stripe_mib}MiB"),
            *("--ratio", str(RATIO)),
        )


# Section IV-B, figures 6 and 7: (case, stripe count by system, stripe size in MiB).
SCALING = (
    (Case("61 GB", "4x4x4", 576, 24), {EDISON: 24, CORI: 24}, 4),
    (Case("494 GB", "8x8x8", 3072, 96), {EDISON: 96, CORI: 96}, 8),
    (Case("987 GB", "16x8x8", 5856, 244), {EDISON: 96, CORI: 244}, 16),
)
# Section IV-C, figures 8 and 9.
STRIPE_MIB = (4, 8, 16)
STRIPED = {
    CORI: (Case("494 GB", "8x8x8", 3072, 96), (48, 72, 96, 120, 196)),
    EDISON: (Case("494 GB", "8x8x8", 2304, 96), (36, 48, 60, 96)),
}
# Section IV-D, Table I, figures 10 and 11.
DARSHAN_OSTS = (48, 96)
DARSHAN_STRIPE_MIB = 8


def darshan(osts: int) -> tuple[str, ...]:
    return STRIPED[EDISON][0].words(EDISON, osts, DARSHAN_STRIPE_MIB)


def scaling(system: str) -> list[tuple[str, tuple[str, ...]]]:
    """(size, words)."""
    return [(case.size, case.words(system, counts[system], mib)) for case, counts, mib in SCALING]


def striping(system: str) -> dict[tuple[int, int], tuple[str, ...]]:
    """By (stripe count, stripe size in MiB)."""
    case, counts = STRIPED[system]
    return {(count, mib): case.words(system, count, mib) for mib in STRIPE_MIB for count in counts}


# Section IV-E, Tables II and III, figure 13: 576 ranks on 24 nodes, 24 OSTs, stripes of 4 MiB.
BISICLES_RANKS = 576
_BISICLES = (
    *("--bisicles", "--ranks", str(BISICLES_RANKS), "--system", EDISON, "--ranks-per-node", "24"),
    *("--stripe-count", "24", "--stripe-size", "4MiB", "--ratio", str(RATIO)),
)
PLOT_FILE, CHECKPOINT = "plot file", "checkpoint file"
BISICLES = {CHECKPOINT: (*_BISICLES, "--checkpoint"), PLOT_FILE: _BISICLES}
