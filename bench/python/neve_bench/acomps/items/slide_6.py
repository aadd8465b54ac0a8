# SPDX-License-Identifier: BSD-3-Clause
"""Slide 6: what the tool does."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import tell
from ..methods import ACOMPS, ALL, CANDIDATES, EVERY, NINE, NINETEEN, TOLD, usable
from ..requests import WEIGHTS, Chunks, Table, Weighed
from ..results import Results, Subject

SOURCE = (
    "supports a set of lossless methods with preprocessing; selects the best for each variable "
    "by itself; flexible criteria; compresses in chunks for selective decompression"
)
CLOSE = 1.03  # times the bytes of the best method: as good
BY_RATIO = WEIGHTS.index((1.0, 0.0))


def needs(subject: Subject) -> Iterator[Table | Weighed | Chunks]:
    for one in subject.inputs.variables:
        yield subject.table_of(one)
        yield from (subject.weighed_of(one, candidates) for candidates in CANDIDATES)
    yield subject.chunks()


def chosen_over_best(results: Results, candidates: str) -> dict[str, float]:
    """Bytes of Neve's choice by ratio over those of the smallest candidate, by variable."""
    tables, among = results.tables(), CANDIDATES[candidates]
    return {
        v.label: choices[BY_RATIO]["bytes"]
        / min(tables[v]["methods"][m]["bytes"] for m in usable(tables[v], among))
        for v, choices in results.weighed(candidates).items()
    }


def _selects(results: Results, candidates: str) -> tell.Claim:
    over = chosen_over_best(results, candidates)
    missed = [name for name, factor in over.items() if factor > CLOSE]
    close = len(over) - len(missed)
    told = f"within 3 % of the smallest in {close} of {len(over)}" if over else "-"
    is_source = candidates == ACOMPS
    return tell.Claim(
        slide=6,
        what=f"selects the best method for each variable automatically, among {TOLD[candidates]}",
        source="by trying all nine",
        ours=told if is_source else "-",
        neve="-" if is_source else told,
        held=close,
        tried=len(over),
        why=f"larger in {tell.first(missed)}" if missed else "",
    )


def _set(results: Results) -> tell.Claim:
    tables = results.tables()
    there = {m for t in tables.values() for m in usable(t)}
    return tell.claim_of(
        set(NINE) <= there if tables else None,
        slide=6,
        what="a set of lossless methods with preprocessing",
        source="9",
        ours=f"{len(there & set(NINE))} of 9 run here",
        neve=f"{len(there)} of {len(ALL)}",
        why="" if set(NINE) <= there else "a coder is not installed: LZO and bzip2 are not linked",
    )


def _flexible(results: Results) -> tell.Claim:
    weighed = results.weighed(ACOMPS)
    moved = [v for v, of in weighed.items() if len({one["method"] for one in of}) > 1]
    every = results.weighed(NINETEEN)
    moved_of_all = [v for v, of in every.items() if len({one["method"] for one in of}) > 1]
    return tell.claim_of(
        bool(moved) if weighed else None,
        slide=6,
        what="flexible criteria: weights change what is chosen",
        source="WCR, WCS",
        ours=f"in {len(moved)} of {len(weighed)} {results.variables}",
        neve=f"among {TOLD[NINETEEN]}: in {len(moved_of_all)} of {len(every)}",
        why="" if moved or not weighed else "every variable has one method at all weights",
    )


def _chunked(results: Results) -> tell.Claim:
    found = results.result(results.subject.chunks())
    if found is None:
        told = "not measured"
        is_so = None
    else:
        share = max(found["sizes"]) / sum(found["sizes"])
        gain = found["whole_s"] / found["part_s"]
        told = (
            f"one of {len(found['sizes'])} chunks is read out of {tell.percent(share)} of the "
            f"bytes, in 1/{number(gain)} of the time of all"
        )
        is_so = found["is_exact"] and gain > 1
    claim = tell.claim_of(
        is_so,
        slide=6,
        what="chunks are decompressed selectively, which raises effective bandwidth",
        source="said",
        ours=told,
        neve="the same, by HDF5's filter",
        why="" if is_so is not False else "a chunk alone takes as long as all",
    )
    return tell.unless(results.busy([results.subject.chunks()]), claim)


def claims(results: Results) -> list[tell.Claim]:
    selects = (_selects(results, candidates) for candidates in CANDIDATES)
    return [_set(results), *selects, _flexible(results), _chunked(results)]


def find(results: Results) -> Finding:
    if not results.tables():
        return tell.without_numbers(SOURCE)
    told = claims(results)
    of_nine, of_all, of_nineteen = told[1:4]
    return tell.finding(
        told,
        SOURCE,
        f"{told[0].ours}; Neve's choice among the nine: {of_nine.ours}; {told[-1].ours}",
        f"{told[0].neve}; among {TOLD[EVERY]}: {of_all.neve}; among {TOLD[NINETEEN]}: "
        f"{of_nineteen.neve}",
        numbers={"chosen over best": {c: chosen_over_best(results, c) for c in CANDIDATES}},
    )


ITEM = Item("slide-6", "Slide 6", "ACOMPS, what it does", needs, find)
