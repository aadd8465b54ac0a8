# SPDX-License-Identifier: BSD-3-Clause
"""Slide 9: when a method is chosen again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import drawing, made, published, tell
from ..inputs import Series
from ..methods import (
    ALL,
    CANDIDATES,
    EVERY,
    MEASURED,
    NINE,
    NINETEEN,
    TOLD,
    TYPICAL,
    best_of,
    performances,
)
from ..published import Decision
from ..requests import DELTAS, WEIGHTS_OF_SERIES, WITH_SPEED, Followed, Request, Speeds
from ..results import Record, Results, Subject

SOURCE = (
    "Best - delta < latest < Best + delta: the method is kept, else all are tried and the best is "
    "recorded"
)
MOST_BLIND = 2  # steps, of Neve's rule
LEAST_KEPT = 0.97
MOST_DELTA = 0.1  # a larger one is meant to keep less
MOST_CHOOSING = 0.05  # of the time
DRAWN_DELTA = 0.1
NAMES = {(1.0, 0.0): "only ratio", (1.0, 1.0): "both", (0.0, 1.0): "only speed"}
PUBLISHED = "published rule, the nine"
BY_CLOCK = ", measured speeds"
OWN = {candidates: f"Neve's rule, {told}" for candidates, told in TOLD.items()}


@dataclass(frozen=True)
class Run:
    """A series by one rule, weights and delta."""

    rule: str  # PUBLISHED, or one of OWN
    series: Series
    weights: tuple[float, float]
    delta: float
    decisions: list[Decision]
    scores: list[dict[str, float]]  # of each candidate, by step
    choosing_share: float

    @property
    def kept(self) -> list[float]:
        return published.kept(self.decisions, self.scores)

    @property
    def rechoices(self) -> int:
        return published.rechoices(self.decisions)

    @property
    def blind(self) -> int:
        return published.longest_blind(self.kept, self.delta)


def needs(subject: Subject) -> Iterator[Request]:
    yield Speeds()
    for series in subject.inputs.series:
        yield subject.steps_of(series)
        yield from (subject.followed_of(series, candidates) for candidates in CANDIDATES)
    yield subject.followed_of(subject.inputs.series[0], EVERY, MEASURED)


def by_the_slides(results: Results) -> list[Run]:
    """The published rule over the nine, replayed on what each came to, with typical speeds. At a
    choice all nine are coded: that is its cost.
    """
    typical = results.typical()
    if typical is None:
        return []
    return [
        run
        for series in results.inputs.series
        for run in _replayed(results, series, typical, WEIGHTS_OF_SERIES)
    ]


def _replayed(
    results: Results,
    series: Series,
    typical: Record | None,
    every_weights: Sequence[tuple[float, float]],
) -> Iterator[Run]:
    """With measured speeds where `typical` is None."""
    steps = results.step_tables(series)
    rule = PUBLISHED if typical else PUBLISHED + BY_CLOCK
    for weights in every_weights if steps else ():
        scores = [performances(step, NINE, weights, typical) for step in steps]
        for delta in DELTAS:
            decisions = published.follow(scores, delta)
            share = _share_of_trials(steps, decisions)
            yield Run(rule, series, weights, delta, decisions, scores, share)


def _share_of_trials(steps: Sequence[Record], decisions: Sequence[Decision]) -> float:
    """Of the seconds: those of the other eight where all are coded."""
    choosing = coding = 0.0
    for step, one in zip(steps, decisions, strict=True):
        seconds = {m: step["methods"][m]["encode_s"] for m in NINE if "bytes" in step["methods"][m]}
        coding += seconds[one.method]
        if one.reason != published.KEPT:
            choosing += sum(seconds.values()) - seconds[one.method]
    return choosing / (choosing + coding)


def by_neve(results: Results) -> list[Run]:
    """Neve's own rule, as it ran, among each of CANDIDATES: judged by the best of the same set."""
    typical = results.typical()
    if typical is None:
        return []
    return [
        run
        for candidates in CANDIDATES
        for series in results.inputs.series
        for run in _ran(results, series, candidates, typical)
    ]


def _ran(
    results: Results, series: Series, candidates: str, typical: Record | None
) -> Iterator[Run]:
    """With measured speeds where `typical` is None."""
    steps = results.step_tables(series)
    logs = results.logs(series, candidates, TYPICAL if typical else MEASURED)
    rule = OWN[candidates] if typical else OWN[candidates] + BY_CLOCK
    for run in logs["runs"] if steps and logs else ():
        weights = tuple(run["weights"])
        scores = [performances(s, CANDIDATES[candidates], weights, typical) for s in steps]
        decisions = [
            Decision(one["method"], one["reason"], one["performance"]) for one in run["log"]
        ]
        choosing = sum(one["choosing_s"] for one in run["log"])
        coding = sum(one["coding_s"] for one in run["log"])
        share = choosing / (choosing + coding) if choosing + coding else 0.0
        yield Run(rule, series, weights, run["delta"], decisions, scores, share)


def by_clock(results: Results) -> list[Run]:
    """Both rules on the first series with measured speeds, which differ from run to run: told, and
    not judged.
    """
    series = results.inputs.series[0]
    return [
        *_replayed(results, series, None, WITH_SPEED),
        *_ran(results, series, EVERY, None),
    ]


def _never_rise(runs: Sequence[Run]) -> tuple[int, int]:
    """(of how many rules, series and weights the re-choices never rise with delta, of all)."""
    rows: dict[tuple, dict[float, int]] = {}
    for run in runs:
        rows.setdefault((run.rule, run.series, run.weights), {})[run.delta] = run.rechoices
    held = 0
    for of in rows.values():
        counts = [of[delta] for delta in sorted(of)]
        held += all(a >= b for a, b in zip(counts, counts[1:], strict=False))
    return held, len(rows)


def _counts(runs: Sequence[Run]) -> str:
    """Re-choices by delta, summed over all else."""
    if not runs:
        return "not measured"
    sums = {d: sum(r.rechoices for r in runs if r.delta == d) for d in DELTAS}
    return ", ".join(f"{tell.percent(delta)}: {count}" for delta, count in sums.items())


def _delta(source: Sequence[Run], own: Sequence[Run]) -> list[tell.Claim]:
    found = []
    for runs, who in ((source, "the published rule"), (own, "Neve's rule")):
        held, tried = _never_rise(runs)
        found.append(
            tell.Claim(
                slide=9,
                what=f"{who}: a larger delta never has more choices",
                source="delta: acceptance range",
                ours=_counts(source) if runs is source else "-",
                neve=_counts(own) if runs is own else "-",
                held=held,
                tried=tried,
                why="" if held == tried else "choices again by delta rise somewhere",
            )
        )
    return found


def _sees(source: Sequence[Run], own: Sequence[Run]) -> list[tell.Claim]:
    """Of the made series, whose changes are known."""
    found = []
    for runs, who in ((source, "the published rule"), (own, "Neve's rule")):
        of_made = [run for run in runs if run.series.is_made]
        missed = [run for run in of_made if run.blind > MOST_BLIND]
        told = f"blind for up to {max((r.blind for r in of_made), default=0)} steps, least kept "
        told += number(min((_mean(r.kept) for r in of_made), default=None))
        found.append(
            tell.Claim(
                slide=9,
                what=f"{who}: a rival that is better by more than delta stays unseen for "
                f"{MOST_BLIND} steps at most",
                source="re-evaluates when the performance changes",
                ours=told if runs is source and of_made else "-",
                neve=told if runs is own and of_made else "-",
                held=len(of_made) - len(missed),
                tried=len(of_made),
                why=f"{_told(max(missed, key=lambda r: r.blind))}" if missed else "",
            )
        )
    return found


def _told(run: Run) -> str:
    return f"{_where(run)}: {run.blind} steps"


def _where(run: Run) -> str:
    of = f"{run.series.name}, {NAMES[run.weights]}, delta {tell.percent(run.delta)}"
    return of if run.rule == PUBLISHED else f"{of}, {run.rule}"


def _performs(source: Sequence[Run], own: Sequence[Run]) -> list[tell.Claim]:
    judged = [run for run in own if run.delta <= MOST_DELTA]
    missed = [run for run in judged if _mean(run.kept) < LEAST_KEPT]
    costly = [run for run in own if run.choosing_share > MOST_CHOOSING]
    return [
        tell.Claim(
            slide=9,
            what="Neve's rule keeps 97 % of the best performance of each step, on average (delta "
            "10 % or less)",
            source="-",
            ours=f"mean kept {tell.span(_mean(r.kept) for r in source if r.delta <= MOST_DELTA)}",
            neve=f"mean kept {tell.span(_mean(r.kept) for r in judged)}",
            held=len(judged) - len(missed),
            tried=len(judged),
            why=_least_kept(missed),
        ),
        tell.Claim(
            slide=9,
            what="Neve's choosing takes 5 % of the time at most",
            source="low overhead",
            ours=f"trials of the nine {tell.span(100 * r.choosing_share for r in source)} %",
            neve=f"{tell.span(100 * r.choosing_share for r in own)} %",
            held=len(own) - len(costly),
            tried=len(own),
            why=_most_costly(costly),
        ),
    ]


def _least_kept(missed: Sequence[Run]) -> str:
    if not missed:
        return ""
    worst = min(missed, key=lambda run: _mean(run.kept))
    return f"{number(_mean(worst.kept))} in {_where(worst)}"


def _most_costly(costly: Sequence[Run]) -> str:
    if not costly:
        return ""
    worst = max(costly, key=lambda run: run.choosing_share)
    return f"{tell.percent(worst.choosing_share)} in {_where(worst)}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def claims(results: Results) -> list[tell.Claim]:
    source, own = by_the_slides(results), by_neve(results)
    kept, choosing = _performs(source, own)
    busy = results.busy(one for one in needs(results.subject) if isinstance(one, Followed))
    return [
        *(*_delta(source, own), *_sees(source, own), kept),
        tell.unless(busy if own else "", choosing),
    ]


def _row(run: Run) -> tuple[str, ...]:
    return (
        *(run.series.name, run.rule, NAMES[run.weights], tell.percent(run.delta)),
        *(str(run.rechoices), _reasons(run), str(run.blind)),
        *(number(_mean(run.kept)), number(min(run.kept))),
        tell.percent(run.choosing_share),
    )


def _reasons(run: Run) -> str:
    """Why it chose again: "drift 2, rival 3"."""
    counts: dict[str, int] = {}
    for one in run.decisions[1:]:
        if one.reason != published.KEPT:
            counts[one.reason] = counts.get(one.reason, 0) + 1
    return ", ".join(f"{reason} {count}" for reason, count in counts.items()) or "-"


def _picture(series: Series, weights: tuple[float, float], runs: dict[str, Run]) -> output.Block:
    every = runs.get(OWN[NINETEEN]) or next(iter(runs.values()))
    best = [best_of(scores) for scores in every.scores]
    used = {one.method for run in runs.values() for one in run.decisions}
    methods = [name for name in ALL if name in used | set(best)]
    ways = {
        name: (
            [one.method for one in run.decisions],
            [n for n, one in enumerate(run.decisions) if one.reason != published.KEPT],
            [
                one.performance / max(scores.values())
                for one, scores in zip(run.decisions, every.scores, strict=True)
            ],
        )
        for name, run in runs.items()
    }
    title = f"{series.name}, {NAMES[weights]}, delta {tell.percent(DRAWN_DELTA)}"
    draw = partial(
        drawing.log_of_choices,
        title,
        methods,
        best,
        ways,
        made.CHANGES if series.is_made else (),
    )
    name = f"{series.name} {NAMES[weights]}"
    short = "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
    return output.picture(f"pictures/slide-9-{short}", draw)


def _pictures(results: Results, source: Sequence[Run], own: Sequence[Run]) -> list:
    blocks = []
    for series in results.inputs.series:
        for weights in WEIGHTS_OF_SERIES:
            runs = {
                run.rule: run
                for run in (*source, *own)
                if (run.series, run.weights, run.delta) == (series, weights, DRAWN_DELTA)
            }
            if runs and (series.is_made or weights == WEIGHTS_OF_SERIES[0]):
                blocks.append(_picture(series, weights, runs))
    return blocks


def find(results: Results) -> Finding:
    source, own = by_the_slides(results), by_neve(results)
    if not source and not own:
        return tell.without_numbers(SOURCE)
    told = claims(results)
    header = ("series", "rule", "weights", "delta", "choices again", "why", "blind", "mean kept")
    header += ("least kept", "choosing")
    rows = [_row(run) for run in (*source, *own, *by_clock(results))]
    return tell.finding(
        told,
        SOURCE,
        f"choices again, by delta: {told[0].ours}; {told[2].ours}",
        f"by delta: {told[1].neve}; {told[3].neve}",
        [*_pictures(results, source, own), output.table(header, rows)],
        {
            who: [
                {
                    "rule": run.rule,
                    "series": run.series.name,
                    "weights": list(run.weights),
                    "delta": run.delta,
                    "choices again": run.rechoices,
                    "blind": run.blind,
                    "mean kept": _mean(run.kept),
                    "least kept": min(run.kept),
                    "choosing share": run.choosing_share,
                    "methods": [one.method for one in run.decisions],
                }
                for run in of
            ]
            for of, who in ((source, "published"), (own, "neve"))
        },
        "Performances that are judged have typical speeds",
    )


ITEM = Item("slide-9", "Slide 9", "The choice over time, and delta", needs, find)
