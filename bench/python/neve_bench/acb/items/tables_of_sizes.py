# SPDX-License-Identifier: BSD-3-Clause
"""Tables II and III: the most frequent sizes of BISICLES' writes, by the model."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import HOLDS, Finding, Item, verdict_of
from .. import cases, tell
from ..requests import Modelled
from ..results import Results, percent
from ..settings import Settings
from ..strategies import AGGREGATED, COLLECTIVE, INDEPENDENT, METHODS, SKELETON, label

FOUR_MIB = 4194304
# (size, count), most frequent first.
PAPER = {
    cases.CHECKPOINT: {
        INDEPENDENT: ((8736, 4085), (5408, 3229), (7680, 3080), (17920, 1333)),
        COLLECTIVE: ((5408, 3182), (17920, 3059), (19488, 2646), (7680, 1281)),
        AGGREGATED: ((FOUR_MIB, 477), (272, 69), (3848, 51), (13160, 40)),
    },
    cases.PLOT_FILE: {
        INDEPENDENT: ((73440, 1429), (204000, 1378), (38880, 1372), (300000, 709)),
        COLLECTIVE: ((73440, 1529), (38880, 1422), (204000, 1298), (396000, 604)),
        AGGREGATED: ((FOUR_MIB, 322), (272, 23), (544, 13), (40, 9)),
    },
}
# The paper's counts are of all files that its run wrote.
FILES = {cases.CHECKPOINT: 1, cases.PLOT_FILE: 3}
FIRST = 3  # that are to come in the paper's order
OF_DATA = {INDEPENDENT: FIRST, COLLECTIVE: FIRST, AGGREGATED: 1}  # the rest is HDF5's structure
NOTE = (
    "The grids were made so that the sizes of Ind. I/O come out: those are no predictions. "
    "Judged are the first three sizes of Ind. I/O and Coll. I/O, and their order; of ACB the "
    "first, as the others are of HDF5's structure. Counts stand beside the paper's and are not "
    "judged: its boxes are those of a run that is not published, which wrote one checkpoint and "
    "three plot files. Those of Coll. I/O miss in both tables (docs/io-model.md), as the paper has "
    "nearly as many small writes of it as of Ind. I/O, and the model merges boxes that adjoin"
)


def _figure(name: str, number: str, kind: str) -> Item:
    def needs(_: Settings) -> Iterator[Modelled]:
        yield Modelled(cases.BISICLES[kind])

    def find(results: Results) -> Finding:
        said = {
            method: ", ".join(str(of) for of, _ in PAPER[kind][method][: OF_DATA[method]])
            for method in METHODS
        }
        paper = "; ".join(f"{label(method)}: {sizes}" for method, sizes in said.items())
        plan = results.plan(cases.BISICLES[kind])
        if plan is None:
            return tell.without_numbers(paper)
        ours = {
            method: [(of, FILES[kind] * count) for of, count in plan.top(method)]
            for method in METHODS
        }
        held = {
            (method, place): place < len(ours[method])
            and ours[method][place][0] == PAPER[kind][method][place][0]
            for method in METHODS
            for place in range(OF_DATA[method])
        }
        rows = [
            (
                label(method),
                str(place + 1),
                f"{of:,}",
                f"{count:,}",
                *_ours(ours[method], place, count),
            )
            for method in METHODS
            for place, (of, count) in enumerate(PAPER[kind][method])
        ]
        missed = [
            f"{label(method)}, size {place + 1}: "
            f"{ours[method][place][0] if place < len(ours[method]) else 'none'} for "
            f"{PAPER[kind][method][place][0]}"
            for (method, place), is_same in held.items()
            if not is_same
        ]
        verdict = verdict_of(sum(held.values()), len(held))
        return Finding(
            verdict,
            paper,
            "by the model: "
            + "; ".join(
                f"{label(m)}: {', '.join(str(of) for of, _ in ours[m][: OF_DATA[m]])}"
                for m in METHODS
            ),
            "by the model: skeleton, "
            + ", ".join(f"{count} of {of:,} B" for of, count in plan.top(SKELETON)[:1]),
            tell.joined(
                "" if verdict == HOLDS else "; ".join(missed), _counts_of_collective(rows), NOTE
            ),
            [
                output.table(
                    ("method", "place", "paper's size", "count", "model's size", "count", "off"),
                    rows,
                )
            ],
            {
                method: {"paper": PAPER[kind][method], "here": ours[method][:4]}
                for method in METHODS
            },
        )

    return Item(name, number, f"Sizes of the writes of BISICLES' {kind}s", needs, find)


def _counts_of_collective(rows: list[tuple[str, ...]]) -> str:
    off = [row[-1] for row in rows if row[0] == label(COLLECTIVE) and row[-1] != "-"]
    return f"counts of Coll. I/O are off by {', '.join(off)}" if off else ""


def _ours(top: list[tuple[int, int]], place: int, paper: int) -> tuple[str, str, str]:
    if place >= len(top):
        return "-", "-", "-"
    of, count = top[place]
    return f"{of:,}", f"{count:,}", percent(count / paper - 1)


table_2 = _figure("table-2", "Table II", cases.CHECKPOINT)
table_3 = _figure("table-3", "Table III", cases.PLOT_FILE)
