# SPDX-License-Identifier: BSD-3-Clause
"""Section V and what the sections claim: by the model for the paper's runs, and measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...paper import output
from ...paper.item import HOLDS, IN_PART, MEASURED, Finding, Item, verdict_of
from ...paper.numbers import number, span
from .. import cases, measured, tell
from ..requests import Modelled, Request
from ..results import Plan, Results, size
from ..settings import Settings
from ..strategies import AGGREGATED, COLLECTIVE, HDF5, INDEPENDENT, METHODS
from . import figure_13, read_back, scaling, striping
from .scaling_here import compared, pairs, ratios

ACB = HDF5[AGGREGATED]
OTHERS = (HDF5[COLLECTIVE], HDF5[INDEPENDENT])


@dataclass(frozen=True)
class Told:
    """What became of a claim: of how many runs it is so, and the numbers."""

    held: int
    tried: int
    numbers: str
    undecided: int = 0  # runs whose seconds cannot be told apart

    @property
    def verdict(self) -> str:
        found = verdict_of(self.held, self.tried)
        return IN_PART if found == HOLDS and self.undecided else found

    @property
    def runs(self) -> str:
        untold = f", {self.undecided} undecided" if self.undecided else ""
        return f"{self.held:d} of {self.tried}{untold}"


def _papers_runs(results: Results) -> list[Plan]:
    found: list[Plan] = []
    for system in cases.SYSTEMS:
        found += scaling.plans(results, system).values()
        found += striping.plans(results, system).values()
    return found


def _order(results: Results) -> Told:
    runs = [*_papers_runs(results), *figure_13.plans(results).values()]
    in_order = [
        plan.seconds(AGGREGATED) <= plan.seconds(COLLECTIVE) <= plan.seconds(INDEPENDENT)
        for plan in runs
    ]
    gained = span(plan.speedup(AGGREGATED, COLLECTIVE) for plan in runs)
    return Told(sum(in_order), len(runs), f"ACB over Coll. I/O {gained}")


def _order_here(results: Results) -> Told:
    judged = {k: v for other in OTHERS for k, v in compared(results, ACB, other).items()}
    said = ", ".join(f"over {other} {ratios(results, ACB, other)}" for other in OTHERS)
    told = [is_so for is_so in judged.values() if is_so is not None]
    return Told(sum(told), len(told), said, len(judged) - len(told))


def _larger(results: Results) -> Told:
    plan = results.plan(cases.darshan(cases.DARSHAN_OSTS[-1]))
    if plan is None:
        return Told(0, 0, "-")
    means = [plan[method]["posix"]["mean_bytes"] for method in (AGGREGATED, COLLECTIVE)]
    return Told(means[0] > means[1], 1, f"mean {size(means[0])} against {size(means[1])}")


def _larger_here(results: Results) -> Told:
    judged, said = [], []
    for ranks, mpi_io in measured.places(results.settings):
        traced = results.traced(measured.traced(results.settings, ranks, mpi_io))
        of = [traced.get(name) for name in (ACB, HDF5[COLLECTIVE])]
        if None in of:
            continue
        means = [one["posix"]["bytes"] / one["posix"]["writes"] for one in of]
        judged.append(means[0] > means[1])
        said.append(means[0] / means[1])
    return Told(sum(judged), len(judged), f"mean size over that of collective {span(said)}")


def _few(results: Results) -> Told:
    plan = results.plan(cases.darshan(cases.DARSHAN_OSTS[-1]))
    if plan is None:
        return Told(0, 0, "-")
    counts = {method: plan[method]["posix"]["writes"] for method in METHODS}
    is_so = counts[AGGREGATED] == min(counts.values())
    return Told(is_so, 1, ", ".join(f"{counts[m]:,}" for m in METHODS))


def _trends(results: Results) -> Told:
    found = [
        one
        for system in cases.SYSTEMS
        if len(there := striping.plans(results, system)) == len(cases.striping(system))
        for one in striping.trends(there)
    ]
    return Told(sum(is_so for _, is_so, _ in found), len(found), "see figures 8 and 9")


def _small_boxes(results: Results) -> Told:
    of_bisicles = [p.speedup(AGGREGATED, COLLECTIVE) for p in figure_13.plans(results).values()]
    of_chombo = [p.speedup(AGGREGATED, COLLECTIVE) for p in _papers_runs(results)]
    if not of_bisicles or not of_chombo:
        return Told(0, 0, "-")
    is_so = min(of_bisicles) > max(of_chombo)
    return Told(is_so, 1, f"{span(of_bisicles)} against {span(of_chombo)}")


def _checkpoints(results: Results) -> Told:
    plans = figure_13.plans(results)
    if len(plans) < len(cases.BISICLES):
        return Told(0, 0, "-")
    gained = {
        kind: [plan.speedup(AGGREGATED, other) for other in (INDEPENDENT, COLLECTIVE)]
        for kind, plan in plans.items()
    }
    is_so = [a > b for a, b in zip(gained[cases.CHECKPOINT], gained[cases.PLOT_FILE], strict=True)]
    said = (f"{kind} {', '.join(map(number, of))}" for kind, of in gained.items())
    return Told(sum(is_so), len(is_so), "; ".join(said))


def _memory(results: Results) -> Told:
    there = pairs(results, ACB, HDF5[INDEPENDENT])
    buffers = [(a["peak_buffer_bytes"], b["peak_buffer_bytes"]) for _, a, b in there]
    said = f"{size(max(a for a, _ in buffers))} of a rank at most" if buffers else "-"
    return Told(sum(a > b for a, b in buffers), len(buffers), said)


def _readers(results: Results) -> Told:
    finding = read_back.ITEM.find(results)
    if "same_values" not in finding.numbers:
        return Told(0, 0, "-")
    return Told(finding.numbers["same_values"], 1, finding.ours)


MODEL, HERE = "by the model", "measured here"
CLAIMS: tuple[tuple[str, str, Callable[[Results], Told]], ...] = (
    ("ACB outperforms Coll. I/O, and Coll. I/O Ind. I/O, on both systems", MODEL, _order),
    ("ACB outperforms Coll. I/O and Ind. I/O", HERE, _order_here),
    ("ACB makes larger contiguous POSIX writes than Coll. I/O", MODEL, _larger),
    ("ACB makes larger contiguous POSIX writes than Coll. I/O", HERE, _larger_here),
    ("ACB makes few writes: the fewest of the three", MODEL, _few),
    ("More OSTs are faster; the stripe size hardly matters, and helps Ind. I/O", MODEL, _trends),
    ("ACB gains more over Coll. I/O on small boxes (BISICLES)", MODEL, _small_boxes),
    ("ACB gains more on checkpoints than on plot files", MODEL, _checkpoints),
    ("ACB takes extra memory for all boxes of a rank", HERE, _memory),
    ("The file's layout does not change", HERE, _readers),
)


def needs(settings: Settings) -> Iterator[Request]:
    for system in cases.SYSTEMS:
        yield from scaling.needs_of(system)
        yield from striping.needs_of(system)
    yield from figure_13.ITEM.needs(settings)
    yield Modelled(cases.darshan(cases.DARSHAN_OSTS[-1]))
    yield from read_back.ITEM.needs(settings)
    yield from measured.every_traced(settings)


def find(results: Results) -> Finding:
    rows = [(what, how, judge(results)) for what, how, judge in CLAIMS]
    tried = [row for row in rows if row[2].verdict != MEASURED]
    held = [row for row in tried if row[2].verdict == HOLDS]
    return Finding(
        verdict_of(len(held), len(tried)),
        "; ".join(dict.fromkeys(what for what, _, _ in rows)),
        f"{len(held)} of {len(tried)} hold everywhere",
        "see past the paper",
        tell.first(
            [
                f"{what}, {how}: {told.verdict}"
                for what, how, told in tried
                if (what, how, told) not in held
            ]
        ),
        [
            output.table(
                ("claim", "how", "", "runs", "numbers"),
                [(what, how, told.verdict, told.runs, told.numbers) for what, how, told in rows],
            )
        ],
        {
            f"{what}, {how}": {"verdict": told.verdict, "numbers": told.numbers}
            for what, how, told in rows
        },
    )


ITEM = Item("conclusions", "Conclusions", "What the paper concludes", needs, find)
