# SPDX-License-Identifier: BSD-3-Clause
"""Slide 16: what the authors leave to do, done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...paper.item import Finding, Item
from ...paper.numbers import counted, number
from .. import tell
from ..methods import ACOMPS, ALL, CANDIDATES, NINE, OWN, TOLD
from ..requests import DELTAS, Request
from ..results import Results, Subject
from . import slide_3, slide_4, slide_9

SOURCE = (
    "more methods, lossless and lossy; how the best method changes over time; how often a "
    "re-analysis is of advantage; better criteria for it; the analysis on several threads"
)


def needs(subject: Subject) -> Iterator[Request]:
    yield from slide_4.needs(subject)
    yield from slide_9.needs(subject)
    yield subject.threads()


def _more_methods(results: Results) -> tell.Claim:
    tables = results.tables()
    nine = {v: slide_3.least_bytes(t, NINE) for v, t in tables.items()}
    own = {v: slide_3.least_bytes(t, OWN) for v, t in tables.items()}
    better = [v for v in tables if own[v] < nine[v]]
    gain = sum(nine.values()) / sum(min(own[v], nine[v]) for v in tables) if tables else None
    return tell.claim_of(
        bool(better) if tables else None,
        slide=16,
        what="more methods compress better",
        source="future work",
        ours=f"{len(NINE)} methods",
        neve=f"{len(ALL)} methods: smaller in {len(better)} of {len(tables)} {results.variables}, "
        f"all bytes {tell.smaller(gain)}; lossy codecs: slide 3",
        why="" if better else "the nine are as small everywhere",
    )


def _pays(results: Results) -> tell.Claim:
    """What more choices gain in performance, by the published rule."""
    runs = slide_9.by_the_slides(results)
    kept = {
        delta: [share for run in runs if run.delta == delta for share in run.kept]
        for delta in DELTAS
    }
    choices = {d: sum(run.rechoices for run in runs if run.delta == d) for d in DELTAS}
    steps = sum(len(run.decisions) for run in runs if run.delta == DELTAS[0])
    told = ", ".join(
        f"delta {tell.percent(d)}: {counted(choices[d], 'choice')} in {steps} steps, kept "
        f"{number(sum(of) / len(of))}"
        for d, of in kept.items()
        if of
    )
    own = slide_9.by_neve(results)
    mean = [share for run in own for share in run.kept]
    return tell.claim_of(
        None,
        slide=16,
        what="how often it is advantageous to do the re-analysis",
        source="a question",
        ours=told or "not measured",
        neve=f"rivals are estimated at every step: keeps {number(sum(mean) / len(mean))}"
        if mean
        else "not measured",
        why="a question, of which no answer is stated",
    )


def _criteria(results: Results) -> tell.Claim:
    """Both rules among the nine, at equal deltas; a large one is meant to be blind."""
    deltas = [delta for delta in DELTAS if delta <= slide_9.MOST_DELTA]
    own = slide_9.by_neve(results)
    source = _blind(slide_9.by_the_slides(results), slide_9.PUBLISHED, deltas)
    blind = {among: _blind(own, slide_9.OWN[among], deltas) for among in CANDIDATES}
    of_nine = blind[ACOMPS]
    judged = [delta for delta in deltas if delta in source and delta in of_nine]
    slower = [d for d in judged if of_nine[d] > max(source[d] - 1, slide_9.MOST_BLIND)]
    why = f"not faster at delta {', '.join(map(tell.percent, slower))}" if slower else ""
    return tell.Claim(
        slide=16,
        what="criteria can be enhanced so that changes are adapted to quickly (among the nine, "
        "delta 10 % or less)",
        source="future work",
        ours=f"the nine: {_blind_told(source)}",
        neve="; ".join(f"{TOLD[among]}: {_blind_told(of)}" for among, of in blind.items()),
        held=len(judged) - len(slower),
        tried=len(judged),
        why=why if judged else "needs both rules' runs",
    )


def _blind(runs: Sequence[slide_9.Run], rule: str, deltas: Sequence[float]) -> dict[float, int]:
    """The most steps of blindness of a rule's runs, by delta."""
    found = {}
    for delta in deltas:
        of = [run.blind for run in runs if (run.rule, run.delta) == (rule, delta)]
        if of:
            found[delta] = max(of)
    return found


def _blind_told(of: dict[float, int]) -> str:
    steps = ", ".join(f"{most} at delta {tell.percent(delta)}" for delta, most in of.items())
    return f"blind for up to {steps}" if of else "not measured"


def _threads(results: Results) -> tell.Claim:
    found = results.result(results.subject.threads())
    count = results.settings.ranks
    if found is None or count == 1:
        gain = None
    else:
        gain = found["seconds"]["1"] / found["seconds"][str(count)]
    claim = tell.claim_of(
        None if gain is None else gain > 1,
        slide=16,
        what="the analysis can be parallelized by threads",
        source="future work",
        ours="-",
        neve=f"{count} threads take {number(1 / gain)} of one's time" if gain else "not measured",
        why="one thread alone" if gain is None else "" if gain > 1 else "no faster here",
    )
    return tell.unless(results.busy([results.subject.threads()]) if gain else "", claim)


def claims(results: Results) -> list[tell.Claim]:
    return [_more_methods(results), _pays(results), _criteria(results), _threads(results)]


def find(results: Results) -> Finding:
    if not results.tables():
        return tell.without_numbers(SOURCE)
    told = claims(results)
    return tell.finding(
        told,
        SOURCE,
        f"over time: {slide_4.claims(results)[1].ours}; {told[1].ours}",
        "; ".join(one.neve for one in told),
        why=f"Methods beside the nine: {', '.join(OWN)}",
    )


ITEM = Item("slide-16", "Slide 16", "Future directions", needs, find)
