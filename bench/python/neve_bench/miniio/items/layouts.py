# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 7: what balanced load costs I/O, and what of it compression mends. Pairs of writes of
one run, in both layouts; bytes of tiles beside them, which need no clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import MEASURED, Finding, Item, verdict_of
from ...paper.numbers import span
from .. import drawing, measured, outputs, told
from ..requests import Counted, Timed
from ..results import BALANCED, EQUAL, Place, Results
from ..settings import Settings
from . import tile_sizes

FEW_RANKS = (
    "With as many tiles as ranks here balanced tiles differ little in bytes, so that there is "
    "little to lose or to mend"
)


def needs(settings: Settings) -> Iterator[Timed | Counted]:
    yield from measured.every_timed(settings)
    yield measured.tiles(settings)


def _places(results: Results) -> Iterator[tuple[str, int]]:
    seconds = measured.seconds(results)
    for name in results.settings.built(*outputs.TIMED):
        for ranks in results.settings.judged_ranks:
            if Place(ranks, EQUAL, name) in seconds and Place(ranks, BALANCED, name) in seconds:
                yield name, ranks


def unbalanced_faster(results: Results) -> list[told.Comparison]:
    """Seconds of balanced tiles over those of equal ones."""
    seconds = measured.seconds(results)
    found = [
        told.compare(
            f"{name}, {ranks} ranks",
            seconds[Place(ranks, BALANCED, name)],
            seconds[Place(ranks, EQUAL, name)],
        )
        for name, ranks in _places(results)
    ]
    return [one for one in found if one is not None]


def mended(results: Results) -> list[told.Comparison]:
    """What balancing costs without compression, over what it costs with it."""
    seconds = measured.seconds(results)

    def cost(name: str, ranks: int) -> dict[int, float]:
        pair = [seconds[Place(ranks, layout, name)] for layout in (BALANCED, EQUAL)]
        return {one: pair[0][one] / pair[1][one] for one in pair[0].keys() & pair[1].keys()}

    there = set(_places(results))
    found = []
    for name, ranks in _places(results):
        plain = outputs.PLAIN_OF.get(name)
        if plain is not None and (plain, ranks) in there:
            what = f"{name}, {ranks} ranks"
            found.append(told.compare(what, cost(plain, ranks), cost(name, ranks)))
    return [one for one in found if one is not None]


def compressed_faster(results: Results) -> list[told.Comparison]:
    """Seconds of equal tiles without compression over those of balanced ones with it."""
    seconds = measured.seconds(results)
    there = set(_places(results))
    found = []
    for name, ranks in _places(results):
        plain = outputs.PLAIN_OF.get(name)
        if plain is not None and (plain, ranks) in there:
            found.append(
                told.compare(
                    f"{name}, {ranks} ranks",
                    seconds[Place(ranks, EQUAL, plain)],
                    seconds[Place(ranks, BALANCED, name)],
                )
            )
    return [one for one in found if one is not None]


def _finding(
    results: Results,
    paper: str,
    comparisons: list[told.Comparison],
    picture: tuple[str, str, str],
    why: str,
    numbers: dict,
    share: float = told.MOST,
) -> Finding:
    papers = [one for one in comparisons if outputs.is_papers(one.what)]
    if not papers:
        no_ranks = "nothing was measured on 2 ranks or more that have a core each"
        return Finding(MEASURED, paper, "-", "-", no_ranks)
    ours = [one for one in comparisons if not outputs.is_papers(one.what)]
    unjudged = measured.unjudged(results)
    name, title, what = picture
    rows = {one.what: one.factors for one in comparisons}
    draw = partial(drawing.dots, title, what, rows)
    return Finding(
        told.verdict(papers, share, unjudged),
        paper,
        told.decided(papers),
        told.decided(ours),
        told.joined(unjudged, why),
        [output.picture(f"pictures/{name}", draw), told.table(comparisons)],
        {"times": told.as_json(comparisons), **numbers},
    )


def find_unbalanced(results: Results) -> Finding:
    raw = tile_sizes.raw_spread(results, BALANCED)
    return _finding(
        results,
        "for all, the unbalanced load is faster, in several cases significantly",
        unbalanced_faster(results),
        (
            "unbalanced-faster",
            "Balanced against unbalanced tiles",
            "seconds of balanced tiles / of unbalanced ones (right: unbalanced is faster)",
        ),
        told.joined(
            f"counted: the busiest rank of balanced tiles writes "
            f"{span(raw.values(), digits=4)} times the mean without compression "
            f"({', '.join(map(str, raw))} tiles), of equal tiles "
            "1.00: that much the slowest rank waits for, where ranks write side by side"
            if raw
            else "",
            FEW_RANKS,
        ),
        {"raw_busiest_over_mean": raw},
        told.NEARLY_EVERY,
    )


def _mended_by_bytes(results: Results) -> dict[str, float]:
    """By output: the share of the imbalance in bytes that compression takes away, on the most
    tiles.
    """
    most = results.settings.most_tiles
    raw = tile_sizes.raw_spread(results, BALANCED).get(most)
    if raw is None or raw <= 1:
        return {}
    spreads = tile_sizes.spreads(results, BALANCED)
    return {name: 1 - (of[most] - 1) / (raw - 1) for name, of in spreads.items() if most in of}


def find_mended(results: Results) -> Finding:
    by_bytes = _mended_by_bytes(results)
    papers = [of for name, of in by_bytes.items() if outputs.is_papers(name)]
    ours = [of for name, of in by_bytes.items() if not outputs.is_papers(name)]
    finding = _finding(
        results,
        "compression partially fixes the loss due to load balancing (an imbalanced I/O load)",
        mended(results),
        (
            "mended",
            "What balancing costs without compression, over what it costs with it",
            "factor (right: compression mends)",
        ),
        told.joined(
            f"counted on {results.settings.most_tiles} balanced tiles: of what the busiest tile "
            f"is above the mean compression takes away {_percents(papers)}, Neve's "
            f"{_percents(ours)}"
            if by_bytes
            else "",
            FEW_RANKS,
        ),
        {"share_of_imbalance_in_bytes": by_bytes},
    )
    return finding


def needs_of_bytes(settings: Settings) -> Iterator[Counted]:
    yield measured.tiles(settings)


def find_mended_bytes(results: Results) -> Finding:
    paper = "an imbalanced I/O load: blanked points compress trivially"
    by_bytes = _mended_by_bytes(results)
    if not by_bytes:
        return Finding(MEASURED, paper, "-", "-", "no balanced tiles that differ were counted")
    held = {name: share > 0 for name, share in by_bytes.items()}

    def said(is_papers: bool) -> str:
        of = {n: s for n, s in by_bytes.items() if outputs.is_papers(n) is is_papers}
        return ", ".join(f"{name} {share:.0%}" for name, share in of.items())

    return Finding(
        verdict_of(sum(held.values()), len(held)),
        paper,
        f"of what the busiest of {results.settings.most_tiles} balanced tiles is above the mean "
        f"compression takes away: {said(True)}",
        said(False),
        "counted",
        [],
        {"share_of_imbalance_in_bytes": by_bytes},
    )


def _percents(shares: list[float]) -> str:
    ends = dict.fromkeys(f"{end:.0%}" for end in (min(shares), max(shares))) if shares else ["-"]
    return " to ".join(ends)


def find_compressed(results: Results) -> Finding:
    return _finding(
        results,
        "in most cases compression outperforms an uncompressed, unbalanced load",
        compressed_faster(results),
        (
            "compressed-balanced",
            "Compressed and balanced against neither",
            "seconds of uncompressed equal tiles / of compressed balanced ones (right: "
            "compressed is faster)",
        ),
        "Files fit in memory here, and the paper's share of a file system a core is 0.4 GB/s at "
        "512 cores, 9 MB/s at 21912: see layouts-modelled for its machine by arithmetic",
        {},
    )


unbalanced = Item(
    "unbalanced-faster",
    "Paragraph 7, balance",
    "Unbalanced loads are written faster",
    needs,
    find_unbalanced,
)
mending = Item(
    "mended", "Paragraph 7, mended", "Compression mends balanced I/O", needs, find_mended
)
mending_bytes = Item(
    "mended-bytes",
    "Paragraph 7, mended bytes",
    "Compression mends the imbalance in bytes",
    needs_of_bytes,
    find_mended_bytes,
)
compressed = Item(
    "compressed-balanced",
    "Paragraph 7, compressed",
    "Compressed beats uncompressed, unbalanced",
    needs,
    find_compressed,
)
