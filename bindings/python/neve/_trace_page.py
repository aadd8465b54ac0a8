# SPDX-License-Identifier: BSD-3-Clause
"""Traces as one HTML file that needs nothing else: what ran, warnings, totals, pictures, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from . import _trace_pictures as pictures
from ._page import Cell, document, picture, shown, table
from ._tables import counted, size_text
from ._trace_counts import LEVELS, MPIIO, POSIX, STDIO, Level, Trace, calls, first_use, opens, syncs

UNKNOWN = "-"


def _count(value: Any) -> Cell:
    return (
        Cell(UNKNOWN)
        if value is None
        else Cell(f"{value:,.6g}" if value % 1 else f"{value:,.0f}", value)
    )


def _bytes(value: Any) -> Cell:
    return Cell(UNKNOWN) if value is None else Cell(size_text(value), value)


def _time(value: Any) -> Cell:
    if value is None:
        return Cell(UNKNOWN)
    return Cell(f"{value:,.0f} s" if value >= 1000 else f"{value:.3g} s", value)


def _factor(value: Any) -> Cell:
    return Cell(UNKNOWN) if value is None else Cell(f"{value:.3f}", value)


def _runs(traces: list[Trace]) -> str:
    kinds = {"neve": "trace of neve", "darshan": "log of Darshan"}
    rows = [
        [
            trace["label"],
            kinds[trace["kind"]],
            " ".join(trace["command"]) or UNKNOWN,
            _count(trace["processes"]),
            _count(trace["file_count"]),
            _time(trace["seconds"]),
            _factor(trace["total"].get("write_amplification")),
        ]
        for trace in traces
    ]
    heads = ["run", "kind", "command", "processes", "files", "duration", "write amplification"]
    return table(heads, rows)


def _warnings(traces: list[Trace]) -> str:
    lines = [f"{trace['label']}: {line}" for trace in traces for line in trace["warnings"]]
    if not lines:
        return "<p>No warnings: every call that was seen is counted.</p>"
    points = "".join(f"<li>{escape(shown(line))}</li>" for line in lines)
    return (
        f'<div class="warnings"><p><b>Before you believe the counts</b></p><ul>{points}</ul></div>'
    )


def _mean_write(trace: Trace, level: Level) -> Cell:
    count = calls(level, trace["total"], "WRITES")
    moved = level.counter(trace["total"], "BYTES_WRITTEN")
    return _bytes(moved / count) if count and moved is not None else Cell(UNKNOWN)


def _writers(trace: Trace, level: Level) -> Cell:
    if trace["writers"] is None:
        return Cell(UNKNOWN)
    return Cell(f"{len(trace['writers'][level.key])} of {trace['processes']}")


def _time_of(name: str) -> Callable[[Trace, Level], Cell]:
    def cell(trace: Trace, level: Level) -> Cell:
        is_known = level.counter(trace["total"], "BYTES_WRITTEN") is not None
        return _time(level.counter(trace["total"], f"F_{name}") or (0.0 if is_known else None))

    return cell


TOTALS: tuple[tuple[str, Callable[[Trace, Level], Cell]], ...] = (
    ("writes", lambda t, level: _count(calls(level, t["total"], "WRITES"))),
    ("bytes written", lambda t, level: _bytes(level.counter(t["total"], "BYTES_WRITTEN"))),
    (
        "of them inlined (putc_unlocked)",
        lambda t, level: _bytes(level.counter(t["total"], "BYTES_INLINED")),
    ),
    ("mean size of a write", _mean_write),
    ("processes that write", _writers),
    ("time of writes, all processes", _time_of("WRITE_TIME")),
    ("reads", lambda t, level: _count(calls(level, t["total"], "READS"))),
    ("bytes read", lambda t, level: _bytes(level.counter(t["total"], "BYTES_READ"))),
    ("time of reads, all processes", _time_of("READ_TIME")),
    ("opens", lambda t, level: _count(opens(level, t["total"]))),
    (
        "syncs (fsync and fdatasync; stdio: fflush)",
        lambda t, level: _count(syncs(level, t["total"])),
    ),
    ("time of opens, closes, syncs, seeks", _time_of("META_TIME")),
)


def _totals(traces: list[Trace]) -> str:
    over = "".join(f'<th colspan="3">{escape(shown(t["label"]))}</th>' for t in traces)
    heads = ["", *(level.title for _ in traces for level in LEVELS)]
    rows: list[list[Cell | str]] = [
        [name, *(cell(trace, level) for trace in traces for level in LEVELS)]
        for name, cell in TOTALS
    ]
    return table(heads, rows, over=f"<tr><th></th>{over}</tr>")


def _frequent(traces: list[Trace]) -> str:
    rows: list[list[Cell | str]] = [
        [trace["label"], level.title, _count(size), _count(count)]
        for trace in traces
        for level in LEVELS
        for size, count in trace["frequent_sizes"][level.key]
    ]
    if not rows:
        return "<p>No writes.</p>"
    note = "" if all(t["kind"] == "neve" for t in traces) else "<p>Of a log: reads and writes.</p>"
    return table(["most frequent writes", "level", "size, bytes", "count"], rows) + note


FILE_HEADS = ["MPI-IO writes", "bytes", "POSIX writes", "bytes", "amplification", "stdio writes"]
FILE_HEADS += ["bytes", "bytes read", "time"]


def _counter_cells(counts: Mapping[str, Any], seconds: Any) -> list[Cell]:
    read = [level.counter(counts, "BYTES_READ") for level in (POSIX, STDIO)]
    cells: list[Cell] = []
    for level in LEVELS:
        cells.append(_count(calls(level, counts, "WRITES")))
        cells.append(_bytes(level.counter(counts, "BYTES_WRITTEN")))
        if level is POSIX:
            cells.append(_factor(counts.get("write_amplification")))
    known = [value for value in read if value is not None]
    return [*cells, _bytes(sum(known) if known else None), _time(seconds)]


def _files(trace: Trace) -> str:
    rows = [
        [
            Cell(file["name"]),
            *_counter_cells(file, file["moved"]["seconds"]),
            Cell(UNKNOWN)
            if file["writers"] is None
            else Cell("/".join(str(len(file["writers"][level.key])) for level in LEVELS)),
        ]
        for file in trace["files"].values()
    ]
    heads = ["file", *FILE_HEADS, "writers MPI-IO/POSIX/stdio"]
    more = trace["more_files"]
    told = ""
    if more["files"]:
        words = f"and {counted(more['files'], 'more file')}"
        told = f"<p>{words}: {more['calls']:,} calls, {size_text(more['bytes'])}</p>"
    return table(heads, rows, sortable=True) + told


def _rank_numbers(rank: Mapping[str, Any]) -> list[float]:
    numbers: list[float] = []
    for level in LEVELS:
        numbers += [rank[f"{level.key}_write"]["calls"], rank[f"{level.key}_write"]["bytes"]]
    read = rank["posix_read"]["bytes"] + rank["stdio_read"]["bytes"]
    return [*numbers, read, rank["moved"]["seconds"]]


RANK_HEADS = ["MPI-IO writes", "bytes", "POSIX writes", "bytes", "stdio writes", "bytes"]
RANK_HEADS += ["bytes read", "time"]
RANK_SHOWS = (_count, _bytes, _count, _bytes, _count, _bytes, _bytes, _time)


def _rank_row(
    name: str, numbers: Sequence[float], shows: Sequence[Callable[[Any], Cell]]
) -> list[Cell]:
    cells = [show(number) for show, number in zip(shows, numbers, strict=True)]
    return [Cell(name, float(name) if name.isdecimal() else None), *cells]


# What a log says of each rank: its bytes over time, added up.
HEAT_HEADS = [f"{level.title} bytes {done}" for level in LEVELS for done in ("written", "read")]


def _heat_numbers(rank: Mapping[str, Any]) -> list[float]:
    heat = rank.get("heatmap", {})
    return [
        sum(heat.get(level.key, {}).get(way, ())) for level in LEVELS for way in ("write", "read")
    ]


def _rank_table(
    ranks: Sequence[Mapping[str, Any]],
    numbers: Sequence[Sequence[float]],
    top: int,
    heads: Sequence[str],
    shows: Sequence[Callable[[Any], Cell]],
) -> str:
    means = [sum(column) / len(ranks) for column in zip(*numbers, strict=True)]
    largest = [max(column) for column in zip(*numbers, strict=True)]
    shown = len(ranks) if top == 0 else min(top, len(ranks))
    rows = [
        _rank_row(rank["name"], one, shows)
        for rank, one in zip(ranks[:shown], numbers[:shown], strict=True)
    ]
    sums: list[Sequence[Cell | str]] = []
    if shown < len(ranks):
        name = f"idlest of {len(ranks):,}: {ranks[-1]['name']}"
        sums.append(_rank_row(name, numbers[-1], shows))
    sums.append(_rank_row("mean of all", means, shows))
    ratios = [a / b if b else None for a, b in zip(largest, means, strict=True)]
    sums.append(["busiest / mean", *map(_factor, ratios)])
    return table(["rank", *heads], rows, sums, sortable=True)


def _ranks(trace: Trace, top: int) -> str:
    ranks = trace["ranks"]
    if ranks and "moved" in ranks[0]:
        numbers = [_rank_numbers(rank) for rank in ranks]
        return _rank_table(ranks, numbers, top, RANK_HEADS, RANK_SHOWS)
    words = (
        "<p>A log of Darshan adds up all ranks' counts of a file that they share: what each of "
        "them did is not in it{}.</p>"
    )
    if not any("heatmap" in rank for rank in ranks):
        return words.format("")
    busiest_first = sorted(ranks, key=lambda rank: -sum(_heat_numbers(rank)))
    numbers = [_heat_numbers(rank) for rank in busiest_first]
    table = _rank_table(busiest_first, numbers, top, HEAT_HEADS, [_bytes] * len(HEAT_HEADS))
    return words.format(", but for its bytes over time, which add up to this") + table


def _timelines(trace: Trace) -> Iterator[str]:
    label, seconds = trace["label"], trace["seconds"]
    files = [(file["name"], file) for file in trace["files"].values()]
    if not files:
        yield "<p>No files.</p>"
        return
    words = (
        f"{label}: when its first files of the table below were opened, read, written and closed"
    )
    yield picture(pictures.timeline(files, seconds, words), words)
    if len(trace["phases"]) > 1:
        phases = [(name or "(before any)", counts) for name, counts in trace["phases"].items()]
        phases.sort(key=lambda phase: first_use(phase[1]))
        words = f"{label}: when files were opened, read, written and closed in each phase"
        yield picture(pictures.timeline(phases, seconds, words), words)


def _heatmaps(traces: list[Trace]) -> Iterator[str]:
    for level in (MPIIO, POSIX, STDIO):
        figure = pictures.heatmap(traces, level)
        if figure is not None:
            yield picture(figure, f"bytes by rank and time at the {level.title} level")


def _body(traces: list[Trace], top: int) -> Iterator[str]:
    yield _runs(traces)
    yield _warnings(traces)
    yield "<h2>Totals</h2>"
    yield _totals(traces)
    yield (
        "<p>Write amplification: bytes that reached POSIX over bytes handed to MPI-IO, of the "
        f"files written through MPI-IO. {UNKNOWN}: not known.</p>"
    )
    yield "<h2>Sizes of writes</h2>"
    yield picture(pictures.sizes(traces), "how many writes of which size, at each level")
    yield _frequent(traces)
    yield "<h2>When</h2>"
    for trace in traces:
        yield from _timelines(trace)
    yield "<h2>Which rank moved how much when</h2>"
    heatmaps = list(_heatmaps(traces))
    yield from heatmaps or ["<p>No run says when its bytes were moved.</p>"]
    for trace in traces:
        yield f"<h2>Files: {escape(shown(trace['label']))}</h2>"
        yield _files(trace)
        yield f"<h2>Ranks: {escape(shown(trace['label']))}</h2>"
        yield _ranks(trace, top)


def html_of(traces: list[Trace], top: int) -> str:
    title = "What was read and written: " + ", ".join(t["label"] for t in traces)
    return document(title, "\n".join(_body(traces, top)))
