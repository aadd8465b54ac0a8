# SPDX-License-Identifier: BSD-3-Clause
"""Every claim of every slide, as a row each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...paper.item import Finding, Item
from .. import tell
from ..requests import Request
from ..results import Results, Subject
from . import (
    described,
    slide_2,
    slide_3,
    slide_4,
    slide_5,
    slide_6,
    slide_7,
    slide_8,
    slide_9,
    slide_11,
    slide_14,
    slide_15,
    slide_16,
)

PARTS = (
    *(slide_2, slide_3, slide_4, slide_5, slide_6, slide_7, slide_8, slide_9, slide_11),
    *(described, slide_14, slide_15, slide_16),
)
SOURCE = "all that the slides claim"


def needs(subject: Subject) -> Iterator[Request]:
    for part in PARTS:
        yield from part.needs(subject)


def claims(results: Results) -> list[tell.Claim]:
    return [claim for part in PARTS for claim in part.claims(results)]


def find(results: Results) -> Finding:
    if not results.tables():
        return tell.without_numbers(SOURCE)
    told = claims(results)
    counts = Counter(tell.WORDS[one.verdict] for one in told)
    listed = ", ".join(f"{count} {word}" for word, count in counts.items())
    finding = tell.finding(told, SOURCE, f"of {len(told)} claims: {listed}", "see past the slides")
    finding.why = "; ".join(tell.missed(told, with_reasons=False))
    return finding


ITEM = Item("conclusions", "Conclusions", "What the slides claim", needs, find)
