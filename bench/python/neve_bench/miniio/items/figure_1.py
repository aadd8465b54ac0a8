# SPDX-License-Identifier: BSD-3-Clause
"""Figure 1: throughput by output method, layout, compression and ranks; and paragraph 7's first
claim, that nearly every one of them speeds up with cores.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import MEASURED, Finding, Item
from ...paper.numbers import counted, number, span
from .. import drawing, measured, outputs, told
from ..requests import Disk, Timed
from ..results import Place, Record, Results
from ..settings import Settings

SCALE = (
    "One machine, whose ranks share cores, memory and a disk; seconds are trusted only where "
    "nothing else runs"
)
HEADER = (
    "output",
    "layout",
    "ranks",
    "ratio",
    "write s, median",
    "least to most",
    "of it compress s",
    "raw MB/s",
    "x 1 rank",
    "x hdf5, unbalanced",
)


def needs(settings: Settings) -> Iterator[Timed | Disk]:
    yield from measured.every_timed(settings)
    yield from measured.every_disk(settings)


def needs_of_speed_up(settings: Settings) -> Iterator[Timed]:
    yield from measured.every_timed(settings)
    yield from measured.every_timed(settings, measured.WEAK)


def _median(row: list[Record], key: str = "write_seconds") -> float:
    return statistics.median(one[key] for one in row)


def find(results: Results) -> Finding:
    paper = "a sampling of throughputs with two output methods on two types of processor"
    rows = measured.rows(results)
    if not rows:
        return Finding(MEASURED, paper, "-", "-", "not measured")
    most = max(place.ranks for place in rows)
    of_most = {
        place: measured.throughput(row) for place, row in rows.items() if place.ranks == most
    }
    papers = [of for place, of in of_most.items() if outputs.is_papers(place.output)]
    ours = [of for place, of in of_most.items() if not outputs.is_papers(place.output)]
    disk = measured.disk_bandwidth(results)
    bandwidth = ", ".join(
        f"{mbps:.0f} MB/s on {counted(ranks, 'rank')}" for ranks, mbps in disk.items()
    )
    return Finding(
        MEASURED,
        paper,
        f"raw MB/s on {most} ranks: {span(papers)}; HDF5 and ADIOS, both layouts",
        f"raw MB/s on {most} ranks: {span(ours)}",
        told.joined(
            measured.busy(results),
            f"the file system itself takes {bandwidth}" if disk else "",
            SCALE,
        ),
        [*_pictures(rows, disk), output.table(HEADER, _table(rows))],
        {"MBps": {_name(place): measured.throughput(row) for place, row in rows.items()}},
    )


def _name(place: Place) -> str:
    return f"{place.output}, {place.layout}, {place.ranks}"


def _container(name: str) -> str:
    plain = outputs.PLAIN_OF.get(name, name)
    return {outputs.HDF5: "HDF5", outputs.ADIOS: "ADIOS, MPI"}.get(plain, "Neve's writer")


def _pictures(rows: dict[Place, list[Record]], disk: dict[int, float]) -> list:
    panels: dict[str, dict[str, dict[float, float]]] = {}
    for layout in measured.LAYOUTS:
        for place, row in rows.items():
            if place.layout == layout:
                lines = panels.setdefault(f"{_container(place.output)}, {layout}", {})
                line = lines.setdefault(place.output, {})
                line[place.ranks] = measured.throughput(row)
    for lines in panels.values():
        if disk:
            lines[drawing.FILE_SYSTEM] = dict(disk)
    draw = partial(drawing.lines, "Throughput, as figure 1", "ranks", "raw MB/s", panels, log=True)
    return [output.picture("pictures/figure-1", draw)]


def _table(rows: dict[Place, list[Record]]) -> list[tuple[str, ...]]:
    lines = []
    for place, row in sorted(rows.items(), key=lambda p: (p[0].output, p[0].layout, p[0].ranks)):
        seconds = [one["write_seconds"] for one in row]
        alone = rows.get(Place(1, place.layout, place.output))
        plain = rows.get(Place(place.ranks, measured.EQUAL, outputs.HDF5))
        compress = row[0].get("compress_seconds")
        lines.append(
            (
                place.output,
                place.layout,
                str(place.ranks),
                number(row[0]["ratio"]),
                number(_median(row)),
                f"{number(min(seconds))} to {number(max(seconds))}",
                number(_median(row, "compress_seconds")) if compress else "-",
                number(measured.throughput(row)),
                number(_median(alone) / _median(row)) if alone else "-",
                number(_median(plain) / _median(row)) if plain else "-",
            )
        )
    return lines


def comparisons(results: Results, *more: str) -> list[told.Comparison]:
    """Throughput on more ranks over that on one; weak scaling writes as many times more."""
    seconds = measured.seconds(results, *more)
    found = []
    for place, by_repeat in seconds.items():
        alone = seconds.get(Place(1, place.layout, place.output))
        if alone is None or place.ranks not in results.settings.judged_ranks:
            continue
        grown = place.ranks if more else 1
        scaled = {repeat: of / grown for repeat, of in by_repeat.items()}
        what = f"{place.output}, {place.layout}, {place.ranks} ranks{', weak' if more else ''}"
        found.append(told.compare(what, alone, scaled))
    return [one for one in found if one is not None]


def find_speed_up(results: Results) -> Finding:
    paper = "nearly every output, layout and compression shows speed-up with increasing cores"
    every = [*comparisons(results), *comparisons(results, measured.WEAK)]
    papers = [one for one in every if outputs.is_papers(one.what)]
    ours = [one for one in every if not outputs.is_papers(one.what)]
    settings, unjudged = results.settings, measured.unjudged(results)
    if not settings.judged_ranks:
        why = f"--ranks has none above 1 that its {settings.cores} cores can run side by side"
        return Finding(MEASURED, paper, "-", "-", why)
    return Finding(
        told.verdict(papers, told.NEARLY_EVERY, unjudged),
        paper,
        f"on {_ranks(settings)} over 1: {told.decided(papers)}",
        told.decided(ours),
        told.joined(unjudged, "strong and weak scaling, by raw bytes a second", SCALE),
        [*_lines(results), told.table(every)],
        told.as_json(every),
    )


def _ranks(settings: Settings) -> str:
    return f"{', '.join(map(str, settings.judged_ranks))} ranks"


def _lines(results: Results) -> list:
    panels: dict[str, dict[str, dict[float, float]]] = {}
    for more, title in (((), "the same grid"), ((measured.WEAK,), "a grid that grows (--weak)")):
        rows = measured.rows(results, *more)
        for place, row in rows.items():
            alone = rows.get(Place(1, place.layout, place.output))
            if alone is None:
                continue
            lines = panels.setdefault(f"{title}, {place.layout}", {})
            line = lines.setdefault(place.output, {})
            line[place.ranks] = measured.throughput(row) / measured.throughput(alone)
    if not panels:
        return []
    draw = partial(drawing.lines, "Speed-up over one rank", "ranks", "times as fast", panels)
    return [output.picture("pictures/speed-up", draw)]


ITEM = Item("figure-1", "Figure 1", "Throughput by output, layout and ranks", needs, find)
speed_up = Item(
    "speed-up", "Paragraph 7, speed-up", "Speed-up with cores", needs_of_speed_up, find_speed_up
)
