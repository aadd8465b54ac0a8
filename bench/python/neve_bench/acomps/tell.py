# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a claim of the slides, and how it is told."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..paper import numbers, output
from ..paper.item import (
    FAILS,
    HELD,
    HELD_IN_PART,
    HOLDS,
    IN_PART,
    MEASURED,
    NOT_HELD,
    UNTOLD,
    Finding,
    verdict_of,
)
from ..paper.numbers import number
from ..study.page import Block

HERE, MODEL, ARITHMETIC = "measured here", "by the model", "the slides' own numbers"
WORDS = {HOLDS: HELD, IN_PART: HELD_IN_PART, FAILS: NOT_HELD, MEASURED: UNTOLD}
MOST_TOLD = 3
HEADER = ("claim", "slide", "how", "source", "source's way here", "Neve's own", "", "why")


@dataclass(frozen=True)
class Claim:
    """A sentence of the slides that is judged: of how many cases it is so."""

    slide: int
    what: str
    source: str  # the slides' numbers
    ours: str  # the source's way, here
    neve: str
    held: int
    tried: int  # 0: it cannot be told
    how: str = HERE
    why: str = ""  # where it is not so, or cannot be told

    @property
    def verdict(self) -> str:
        return verdict_of(self.held, self.tried)

    @property
    def said(self) -> str:
        count = f" ({self.held} of {self.tried})" if self.verdict == IN_PART else ""
        model = f", {MODEL}" if self.how == MODEL and self.tried else ""
        return f"{WORDS[self.verdict]}{count}{model}"

    @property
    def reason(self) -> str:
        return self.why or ("" if self.tried else "not measured")

    @property
    def row(self) -> tuple[str, ...]:
        return (
            *(self.what, str(self.slide), self.how, self.source, self.ours, self.neve),
            *(self.said, self.reason or "-"),
        )


def claim_of(is_so: bool | None, **told: Any) -> Claim:
    """Of one case; None where it cannot be told."""
    return Claim(held=bool(is_so), tried=0 if is_so is None else 1, **told)


def unless(busy: str, claim: Claim) -> Claim:
    """Of measured times, which a busy machine spoils; `busy`: why, "" where it was not."""
    return replace(claim, held=0, tried=0, why=busy) if busy else claim


def verdict(claims: Sequence[Claim]) -> str:
    """What cannot be told keeps the item from holding."""
    judged = [one.verdict for one in claims if one.tried]
    if not judged:
        return UNTOLD if claims else MEASURED
    if all(one == HOLDS for one in judged):
        return HOLDS if len(judged) == len(claims) else IN_PART
    return FAILS if all(one == FAILS for one in judged) else IN_PART


def finding(
    claims: Sequence[Claim],
    paper: str,
    ours: str,
    neve: str,
    blocks: Iterable[Block] = (),
    numbers: dict[str, Any] | None = None,
    why: str = "",
) -> Finding:
    """A row out of its claims, and its part of the page: the claims as a table, then `blocks`."""
    return Finding(
        verdict(claims),
        paper,
        ours,
        neve,
        joined("; ".join(missed(claims)), why),
        [*([table(claims)] if claims else []), *blocks],
        {**(numbers or {}), "claims": as_json(claims)},
    )


def missed(claims: Sequence[Claim], with_reasons: bool = True) -> list[str]:
    """What does not hold; claims of one verdict and reason together."""
    groups: dict[str, list[str]] = {}
    for one in claims:
        if one.verdict != HOLDS:
            reason = f" ({one.reason})" if with_reasons and one.reason else ""
            groups.setdefault(f"{one.said}{reason}", []).append(one.what)
    return [f"{', and '.join(names)}: {said}" for said, names in groups.items()]


def table(claims: Iterable[Claim]) -> Block:
    return output.table(HEADER, [one.row for one in claims])


def as_json(claims: Iterable[Claim]) -> dict[str, dict[str, Any]]:
    return {
        one.what: {
            "verdict": one.said,
            "held": one.held,
            "tried": one.tried,
            "how": one.how,
            "ours": one.ours,
            "neve": one.neve,
        }
        for one in claims
    }


def without_numbers(paper: str) -> Finding:
    """Where nothing came of what an item needs; its failures become the reason."""
    return Finding(MEASURED, paper, "-", "-", "not measured")


def joined(*sentences: str) -> str:
    """Those that say something."""
    return ". ".join(one for one in sentences if one)


def first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return ", ".join(names[:MOST_TOLD]) + more


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def span(values: Iterable[float]) -> str:
    """Of those that are finite."""
    return numbers.span(one for one in values if math.isfinite(one))


def smaller(factor: float | None) -> str:
    """Bytes before over bytes after, in words."""
    if factor is not None and factor < 1:
        return f"{number(1 / factor)} times larger"
    return f"{number(factor)} times smaller"


def size(count: float) -> str:
    """Bytes for people."""
    for unit, of in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= of:
            return f"{number(count / of)} {unit}"
    return f"{count:g} B"
