# SPDX-License-Identifier: BSD-3-Clause
"""The ways that tables and figures compare, and Neve's own: texts of amr/catalog.py."""

from __future__ import annotations

import re

ADAPTIVE = "amric:adaptive"
SLE = "amric:sle"
LM = "amric:lm"
INTERP = "amric:interp"
INTERP_LINEAR = "amric:interp-linear"
AMREX = "amrex:1d"
TAC = "tac:auto"
ZMESH = "zmesh:lr"
NEVE = {
    "fast": "neve:auto,effort=fast",
    "balanced": "neve:auto",
    "max": "neve:auto,effort=max",
}
BEST = (ADAPTIVE, INTERP)  # AMRIC's two, of which the better one counts
UNITS = (8, 16, 32, 64)
LARGER_CHUNK = f"{AMREX},chunk=4096"

LABELS = {
    ADAPTIVE: "AMRIC SZ_L/R, adaptive block",
    SLE: "AMRIC SLE, block of 6",
    LM: "linear merging (LM)",
    INTERP: "AMRIC SZ_Interp, cluster",
    INTERP_LINEAR: "SZ_Interp, linear",
    AMREX: "AMReX 1D",
    LARGER_CHUNK: "AMReX 1D, chunks of 4096",
    TAC: "TAC",
    ZMESH: "zMesh",
    NEVE["fast"]: "Neve fast",
    NEVE["balanced"]: "Neve balanced",
    NEVE["max"]: "Neve max",
}


def with_unit(way: str, unit: int) -> str:
    return f"{way},unit={unit}"


def unit_of(way: str) -> int | None:
    """The side of unit blocks that the way's text asks for."""
    found = re.search(r",unit=(\d+)", way)
    return int(found[1]) if found else None


def label(way: str) -> str:
    """For tables and pictures."""
    if way in LABELS:
        return LABELS[way]
    head, _, settings = way.partition(",")
    return f"{LABELS.get(head, head)}, {settings.replace(',', ', ').replace('=', ' ')}"
