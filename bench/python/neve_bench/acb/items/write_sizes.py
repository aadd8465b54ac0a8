# SPDX-License-Identifier: BSD-3-Clause
"""Figures 10 and 11: how many writes of which size, at the MPI and at the POSIX level."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from .. import cases, drawing, measured, tell
from ..requests import Modelled, Request
from ..results import Results
from ..settings import Settings
from ..strategies import AGGREGATED, COLLECTIVE, HDF5, INDEPENDENT, METHODS, SKELETON, label

Bins = Mapping[str, int]
Claim = tuple[str, Callable[[Mapping[str, Bins]], bool]]
# Darshan's ranges, upper limits included.
ENDS = (100, 1024, 10240, 102400, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
NAMES = ("0-100", "100-1K", "1K-10K", "10K-100K", "100K-1M")
NAMES += ("1M-4M", "4M-10M", "10M-100M", "100M-1G", "1G+")
MOST = 0.99  # of the calls


def binned(sizes: Sequence[tuple[int, int]]) -> dict[str, int]:
    """Of (size, count)."""
    bins = dict.fromkeys(NAMES, 0)
    for of, count in sizes:
        bins[NAMES[bisect_left(ENDS, of)]] += count
    return bins


def _spread(bins: Bins) -> int:
    """Ranges with writes in them."""
    return sum(count > 0 for count in bins.values())


MPI_CLAIMS: tuple[Claim, ...] = (
    (
        "Ind. I/O: a write a box, of 4 to 10 MB",
        lambda by: by[INDEPENDENT]["4M-10M"] >= MOST * sum(by[INDEPENDENT].values()),
    ),
    (
        "Coll. I/O: most calls are of 4 to 10 MB, the rest are empty",
        lambda by: (
            by[COLLECTIVE]["4M-10M"] > by[COLLECTIVE]["0-100"] > 0 and _spread(by[COLLECTIVE]) == 2
        ),
    ),
    (
        "ACB: several calls of 100 MB to 1 GB, which no other has",
        lambda by: (
            by[AGGREGATED]["100M-1G"] > 0
            and not by[INDEPENDENT]["100M-1G"] + by[COLLECTIVE]["100M-1G"]
        ),
    ),
)
POSIX_CLAIMS: tuple[Claim, ...] = (
    (
        "ACB: writes of a stripe, 8 MB",
        lambda by: by[AGGREGATED]["4M-10M"] >= MOST * sum(by[AGGREGATED].values()),
    ),
    (
        "Coll. I/O: spread over many sizes",
        lambda by: _spread(by[COLLECTIVE]) > max(_spread(by[INDEPENDENT]), _spread(by[AGGREGATED])),
    ),
    (
        "Coll. I/O: more writes than the others",
        lambda by: sum(by[COLLECTIVE].values()) > sum(by[INDEPENDENT].values()),
    ),
)
SMALL = (
    "The paper's few writes of 0 to 100 bytes are of the files' structure, which the model counts "
    "and does not size; here they are traced. No figure's bars have numbers: what is judged is "
    "what the text says of them"
)


def needs(settings: Settings) -> Iterator[Request]:
    yield Modelled(cases.darshan(cases.DARSHAN_OSTS[-1]))
    yield measured.traced(settings, settings.most_ranks, settings.first_mpi_io)


def _figure(number: int, level: str, claims: Sequence[Claim]) -> Item:
    def find(results: Results) -> Finding:
        paper = "; ".join(what for what, _ in claims)
        plan = results.plan(cases.darshan(cases.DARSHAN_OSTS[-1]))
        if plan is None:
            return tell.without_numbers(paper)
        model = {one: plan[one][level]["bins"] for one in (*METHODS, SKELETON)}
        settings = results.settings
        traced = results.traced(
            measured.traced(settings, settings.most_ranks, settings.first_mpi_io)
        )
        here = {
            label(method): binned(traced[name][level]["sizes"])
            for method, name in (*HDF5.items(), (SKELETON, SKELETON))
            if name in traced
        }
        held = {what: is_so(model) for what, is_so in claims}
        panels = {"494 GB, 96 OSTs, by the model": {label(k): v for k, v in model.items()}}
        place = measured.where(settings.most_ranks, settings.first_mpi_io)
        if here:
            panels[f"traced here, {place}"] = here
        title = f"Sizes of {level.upper()} writes"
        return Finding(
            verdict_of(sum(held.values()), len(held)),
            paper,
            f"by the model: {sum(held.values())} of {len(held)}; traced here: see the picture",
            f"by the model: skeleton {plan[SKELETON][level]['writes']:,} writes, mean "
            f"{plan[SKELETON][level]['mean_bytes']:,} B",
            tell.joined("; ".join(f"{w}: not so" for w, is_so in held.items() if not is_so), SMALL),
            [
                output.picture(f"pictures/figure-{number}", partial(drawing.sizes, title, panels)),
                *(
                    output.table(
                        (panel, *NAMES),
                        [(n, *(f"{bins[b]:,}" for b in NAMES)) for n, bins in lines.items()],
                    )
                    for panel, lines in panels.items()
                ),
            ],
            {"claims": held, "model": model, "traced": here},
        )

    title = f"Distribution of write sizes at the {level.upper()} level"
    return Item(f"figure-{number}", f"Figure {number}", title, needs, find)


figure_10 = _figure(10, "mpi", MPI_CLAIMS)
figure_11 = _figure(11, "posix", POSIX_CLAIMS)
