# SPDX-License-Identifier: BSD-3-Clause
"""What the paper concludes, as far as it can be tested here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...paper import output
from ...paper.item import HOLDS, MEASURED, Finding, Item, verdict_of
from .. import tell
from ..files import NYX, WARPX, File, Settings
from ..requests import Request
from ..results import Results, geomean, times, worst
from ..ways import ADAPTIVE, AMREX, INTERP, INTERP_LINEAR, LM, SLE, TAC, with_unit
from . import figure_5, figure_7, figure_16, write_times


@dataclass(frozen=True)
class Claim:
    """`mine` ahead of `other` at equal PSNR, on some levels."""

    what: str
    mine: str
    other: str
    levels: tell.Levels


CLAIMS = (
    Claim(
        "SLE over linear merging, finest level, unit 16",
        with_unit(SLE, 16),
        with_unit(LM, 16),
        tell.finest,
    ),
    Claim(
        "adaptive blocks over SLE, coarsest level, unit 8",
        with_unit(ADAPTIVE, 8),
        with_unit(SLE, 8),
        tell.coarsest,
    ),
    Claim("cluster over linear for SZ_Interp, each level", INTERP, INTERP_LINEAR, tell.each_level),
    Claim("3D over 1D, each level", ADAPTIVE, AMREX, tell.each_level),
    Claim("AMRIC over TAC", ADAPTIVE, TAC, lambda _: (None,)),
)
# Sections 4.2 and 4.3: (code, mine, other, what).
OF_CODES = (
    (NYX, ADAPTIVE, INTERP, "SZ_L/R over SZ_Interp on Nyx"),
    (WARPX, INTERP, ADAPTIVE, "SZ_Interp over SZ_L/R on WarpX"),
)
OF_OTHERS = "SZ_L/R over SZ_Interp on files of neither code"
OVERHEAD = 1.1  # AMRIC's seconds over those without compression: "no noticeable overhead"


def needs(file: File, settings: Settings) -> Iterator[Request]:
    yield from figure_5.needs(file, settings)
    yield from figure_7.needs(file, settings)
    yield from figure_16.needs(file, settings)
    yield from tell.curves(file, settings, [ADAPTIVE, INTERP, AMREX])
    yield from tell.tables(file, settings, [ADAPTIVE, INTERP])
    yield from write_times.needs(file, settings)


Row = tuple[str, str, str, str]  # what, verdict, by how much, where not


def _of_claim(results: Results, claim: Claim) -> Row:
    found = tell.gains(results, claim.mine, claim.other, claim.levels)
    not_whole = worst(tell.not_whole(results, claim.mine, claim.levels))
    why = "; ".join(filter(None, (tell.where_not(found), not_whole)))
    return (claim.what, tell.verdict(found), times(tell.mean_of(found)), why)


def _of_codes(results: Results) -> Iterator[Row]:
    """Which of AMRIC's two codecs is better, by the simulation code."""
    for at, gains_of in (
        ("at equal bound", tell.gains_at_bounds),
        ("at equal PSNR", tell.gains),
    ):
        for code, mine, other, what in OF_CODES:
            found = [one for one in gains_of(results, mine, other) if one.file.code == code]
            verdict, why = tell.verdict(found), tell.where_not(found)
            if not found:
                why = f"no input is of {code}, by the names of its fields"
            yield (f"{what}, {at}", verdict, times(tell.mean_of(found)), why)
        found = [one for one in gains_of(results, ADAPTIVE, INTERP) if one.file.code is None]
        if found:  # the paper says nothing of them
            names = ", ".join(dict.fromkeys(one.file.name for one in found))
            yield (f"{OF_OTHERS}, {at}", MEASURED, times(tell.mean_of(found)), names)


def _of_times(results: Results) -> Iterator[Row]:
    written, free = write_times.LR, write_times.NO_COMPRESSION
    found = write_times.compared(results, written, free)
    # Held where it is not slower than that: the standings the other way round.
    opposite = {tell.AHEAD: tell.BEHIND, tell.BEHIND: tell.AHEAD, tell.UNTOLD: tell.UNTOLD}
    yield _of_seconds(
        "no overhead against no compression",
        [(one, opposite[one.slower(OVERHEAD)]) for one in found],
    )
    found = write_times.compared(results, write_times.AMREX, written)
    yield _of_seconds(
        "1D in small chunks is slower than AMRIC", [(one, one.slower()) for one in found]
    )


def _of_seconds(what: str, found: list[tuple[write_times.Compared, str]]) -> Row:
    verdict = tell.verdict_of_standings([standing for _, standing in found])
    mean = geomean(one.factor for one, _ in found)
    return (what, verdict, times(mean), write_times.where_not(found))


def _reasons(rows: list[Row]) -> list[output.Block]:
    said = [f"{what}: {why}" for what, _, _, why in rows if why]
    title = "Where not, and of seconds the stage that makes the difference:"
    return [output.text(title), output.points(said)] if said else []


def find(results: Results) -> Finding:
    rows = [
        *(_of_claim(results, claim) for claim in CLAIMS),
        *_of_codes(results),
        *_of_times(results),
    ]
    tried = [row for row in rows if row[1] != MEASURED]
    held = [row for row in tried if row[1] == HOLDS]
    paper = [claim.what for claim in CLAIMS] + [what for *_, what in OF_CODES]
    return Finding(
        verdict_of(len(held), len(tried)),
        "; ".join(paper) + "; no overhead against no compression; 1D is slow through small chunks",
        f"{len(held)} of {len(tried)} hold everywhere",
        "see past the paper",
        "; ".join(f"{row[0]}: {row[1]}" for row in tried if row[1] != HOLDS),
        [
            output.text(tell.RULE),
            output.table(("conclusion", "here", "factor"), [row[:3] for row in rows]),
            *_reasons(rows),
        ],
        {row[0]: {"verdict": row[1], "factor": row[2], "why": row[3]} for row in rows},
    )


ITEM = Item("conclusions", "Conclusions", "What the paper concludes", needs, find)
