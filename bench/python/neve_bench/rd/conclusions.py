# SPDX-License-Identifier: BSD-3-Clause
"""The AMRIC paper's conclusions about ratio and distortion, held against what was measured, and
Neve's choice against the paper's better way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import curves
from .curves import Row


@dataclass(frozen=True)
class Claim:
    """That the ratio of `mine` at equal PSNR is the larger one."""

    name: str
    paper: str  # where the paper says so, and where it makes an exception
    mine: str  # a method, compared at each of its settings with
    theirs: str  # this one at the same


CLAIMS = (
    Claim("SLE over LM", "figures 6 and 7", "amric:sle", "amric:lm"),
    Claim("adaptive over SLE", "figures 7b and 9, at unit 8", "amric:adaptive", "amric:sle"),
    Claim("cluster over linear", "figure 5", "amric:interp", "amric:interp-linear"),
    Claim("3D over 1D, SZ_L/R", "figure 15, table 2", "amric:adaptive", "amrex:1d"),
    Claim("3D over 1D, SZ_Interp", "table 2", "amric:interp", "amrex:1d,codec=interp"),
    Claim("AMRIC over TAC", "figure 16", "amric:adaptive", "tac:auto"),
)
EQUAL = 1e-3  # a ratio that is 1 but for this
NEVE = "neve:auto"
# The paper's two ways, of which a user of AMRIC takes the better one.
PAPERS_WAYS = ("amric:adaptive", "amric:interp")
NEVE_CLAIM = "Neve over the paper's better way"


def conclusions(rows: Sequence[Row], field: str) -> list[dict[str, Any]]:
    """What the rows of a field let be said: curves.gain with claim, paper and holds."""
    there = list(dict.fromkeys(row["way"] for row in rows if row["field"] == field))
    found = []
    for claim in CLAIMS:
        for mine, theirs in _pairs(claim, there):
            gain = curves.gain(rows, field, mine, theirs)
            if gain is not None:
                found.append({"claim": claim.name, "paper": claim.paper, **gain, **_holds(gain)})
    for mine in (way for way in there if _method(way) == NEVE):
        gain = _over_better(rows, field, mine, there)
        if gain is not None:
            found.append({"claim": NEVE_CLAIM, "paper": "", **gain, **_holds(gain)})
    return found


def _holds(gain: dict[str, Any]) -> dict[str, bool | None]:
    """At equal PSNR, and where the curves share none at equal bound; None: they are equal."""
    at_psnr = gain["at_equal_psnr"]
    ratio = gain["at_equal_bound"] if at_psnr is None else at_psnr
    return {"holds": None if abs(ratio - 1) < EQUAL else ratio > 1}


def _method(way: str) -> str:
    return way.partition(",")[0]


def _pairs(claim: Claim, there: Sequence[str]) -> list[tuple[str, str]]:
    """A way of the one method with the one of the other that has the same settings; where `theirs`
    is a peer with settings of its own, the defaults of both.
    """
    if claim.mine.partition(":")[0] != claim.theirs.partition(":")[0]:
        both = {claim.mine, claim.theirs} <= set(there)
        return [(claim.mine, claim.theirs)] if both else []
    return [
        (way, claim.theirs + way.removeprefix(claim.mine))
        for way in there
        if _method(way) == claim.mine and claim.theirs + way.removeprefix(claim.mine) in there
    ]


def _over_better(
    rows: Sequence[Row], field: str, mine: str, there: Sequence[str]
) -> dict[str, Any] | None:
    """Against whichever of the paper's ways leaves least of the gain: their defaults, or, where
    these were not measured, at any settings.
    """
    defaults = [way for way in PAPERS_WAYS if way in there]
    rivals = defaults or [way for way in there if _method(way) in PAPERS_WAYS]
    gains = [curves.gain(rows, field, mine, rival) for rival in rivals]
    return min(
        (gain for gain in gains if gain is not None),
        key=lambda gain: gain["at_equal_psnr"] or gain["at_equal_bound"],
        default=None,
    )
