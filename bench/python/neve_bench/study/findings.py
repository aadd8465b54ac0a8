# SPDX-License-Identifier: BSD-3-Clause
"""The report of a study: its tables and pictures, and in words what they show and do not show."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from .. import report
from ..machines import named
from . import figures, summary
from .deck import APPS, Deck
from .page import Page
from .runs import Store

PAPER_ZFP_RATIO = 9.0  # MiniIO paper, struct, accuracy 1e-4


def make(deck: Deck, store: Store, with_pictures: bool) -> tuple[Page, list[dict[str, Any]]]:
    table = summary.rows(deck, store)
    disk = summary.disk_bandwidth(deck, store)
    page = Page(deck.title)
    _introduction(page, deck, store, table, disk)
    _failures(page, deck, store)

    def picture(name: str, draw: Callable[[], bytes]) -> None:
        if with_pictures:
            page.picture(name, draw())

    good = summary.measured(table)
    if any(row["app"] == "struct" for row in good):
        _layouts(page, good, picture)
        _against_zfp(page, good)
        _against_zlib(page, good)
    for app in APPS:
        of_app = [row for row in good if row["app"] == app]
        if of_app:
            _app(page, app, of_app, disk, picture)
    return page, table


def _introduction(
    page: Page, deck: Deck, store: Store, table: list[dict[str, Any]], disk: dict[int, float]
) -> None:
    loads = [
        record["load"]
        for cell in deck.cells
        for repeat in range(deck.repeats)
        if (record := store.get(cell, repeat)) is not None
    ]
    wanted = len(deck.cells) * deck.repeats
    page.text(
        f"{len(deck.cells)} cells, {deck.repeats} runs each; {len(loads)} of {wanted} are done. "
        f"Measured on {named(summary.machines(deck, store))}. Times are medians over the runs, of "
        "the slowest rank, each with the file made durable; throughput is raw bytes over the time "
        "to write them, as in the MiniIO paper."
    )
    if loads:
        page.text(
            f"Load of the machine when runs began: {statistics.median(loads):.1f} in the median, "
            f"{max(loads):.1f} at most. A load near or above the number of cores means that times "
            "hold the waiting for others."
        )
    if disk:
        page.text(
            "The file system's own bandwidth, measured between the runs (each rank a file of its "
            "own, made durable): "
            + ", ".join(f"{mbps:.0f} MB/s (ranks: {ranks})" for ranks, mbps in disk.items())
            + "."
        )
    elif deck.disk:
        page.text("The file system's own bandwidth could not be measured: see the failures.")
    wrong = [row for row in table if row.get("wrong_values")]
    verified = [row for row in summary.measured(table) if row["wrong_values"] is not None]
    if wrong:
        names = ", ".join(sorted({f"{row['app']} {row['output']}" for row in wrong}))
        page.text(f"**Values outside the bound were read back** from {names}.")
    elif verified:
        page.text(
            f"All values of {len(verified)} of {len(summary.measured(table))} rows were read back "
            "and compared, by another rank than wrote them; none is outside its bound."
        )


def _failures(page: Page, deck: Deck, store: Store) -> None:
    failed = []
    for cell in (*deck.disk, *deck.cells):
        records = [store.get(cell, repeat) for repeat in range(deck.repeats)]
        errors = [record for record in records if record is not None and record["error"]]
        if errors:
            failed.append((cell, errors))
    if not failed:
        return
    page.heading("Failed cells")
    for cell, errors in failed:
        page.text(f"**{cell.name}**: {len(errors)} of {deck.repeats} runs")
        page.code(f"{errors[0]['command']}\n{errors[0]['error']}")


def _percent(factor: float) -> str:
    return f"{abs(factor - 1) * 100:.0f} % {'faster' if factor >= 1 else 'slower'}"


def _layouts(page: Page, good: list[dict[str, Any]], picture: Callable) -> None:
    compared = summary.layouts_compared(good)
    if not compared:
        return
    page.heading("Unbalanced against balanced")
    by_ranks: dict[int, dict[str, dict[str, Any]]] = {}
    for row in good:
        if row["app"] == "struct":
            by_ranks.setdefault(row["ranks"], {})[row["layout"]] = row
    page.text(
        "Unbalanced tiles are of equal size, so that writing is balanced and computing, of valid "
        "points alone, is not; balanced tiles have equal numbers of valid points, so that "
        "computing is balanced and what is written, blanked points among it, is not. Busiest / "
        "mean rank:"
    )
    page.table(
        ["ranks", "layout", "valid points", "all points"],
        [
            [
                str(ranks),
                layout,
                report.number(row["max_over_mean"], 4),
                report.number(row["points_max_over_mean"], 4),
            ]
            for ranks, layouts in sorted(by_ranks.items())
            for layout, row in layouts.items()
        ],
    )
    page.points([_layout_line(name, compared[name]) for name in compared])
    page.text(_layout_conclusion(compared))
    picture("layouts", lambda: figures.layouts(compared))


def _layout_line(name: str, one: dict[str, Any]) -> str:
    text = (
        f"{name}: unbalanced tiles were written faster in {one['wins']} of {one['pairs']} pairs of "
        f"runs, {_percent(one['median'])} in the median ({one['min']:.2f} to {one['max']:.2f} "
        "times)"
    )
    if one["pairs"] < summary.MIN_PAIRS:
        return text + "; too few pairs to tell anything"
    chance = f"sign test, p = {one['chance']:.2g}"
    return text + (
        f"; more than chance ({chance})" if summary.is_told(one) else f"; chance ({chance})"
    )


def _layout_conclusion(compared: dict[str, dict[str, Any]]) -> str:
    def said(name: str) -> str:
        one = compared.get(name)
        if one is None:
            return f"{name} nothing was compared"
        if not summary.is_told(one):
            return f"{name} no effect of the layout on writing can be told from these runs"
        winner, factor = ("unbalanced", one["median"])
        if factor < 1:
            winner, factor = "balanced", 1 / factor
        return (
            f"{name} {winner} tiles are written faster, by {100 * (factor - 1):.0f} % in the median"
        )

    return (
        f"**What this shows:** {said('without compression')}; {said('with compression')}. "
        "In the paper, on 512 to 21912 cores of a Lustre file system, unbalanced loads were "
        "written faster throughout, and compression won back part of what balancing lost."
    )


def _against_zfp(page: Page, good: list[dict[str, Any]]) -> None:
    zfp = [row for row in good if row["app"] == "struct" and row["compression"] == "zfp"]
    if not zfp:
        return
    page.heading("zfp and Neve within the same bound")
    ends = [report.number(end([row["ratio"] for row in zfp])) for end in (min, max)]
    own = "x to ".join(dict.fromkeys(ends))
    page.text(
        f"The paper's zfp, accuracy 1e-4 of its own field, made **{PAPER_ZFP_RATIO:g}x** on "
        f"average; zfp here makes **{own}x** of this field, whose "
        "smoothness decides, and which is not the paper's."
    )
    rows = []
    for ours, theirs in summary.compressions_compared(good, "struct", "neve", "zfp"):
        runs = summary.against([ours], [theirs])
        rows.append(
            [
                *_side_by_side(ours, theirs),
                f"{runs['wins']} of {runs['pairs']}",
                report.number(theirs["max_abs_error"]),
                report.number(ours["max_abs_error"]),
            ]
        )
    if not rows:
        return
    header = ["struct by Neve in, layout, ranks", "zfp ratio", "Neve ratio", "zfp s", "Neve s"]
    page.table([*header, "Neve faster", "zfp error", "Neve error"], rows)


def _against_zlib(page: Page, good: list[dict[str, Any]]) -> None:
    pairs = summary.compressions_compared(good, "struct", "neve-lossless", "shuffle-zlib")
    if not pairs:
        return
    page.heading("Bit for bit: Neve and shuffle + zlib")
    rows = []
    for ours, theirs in pairs:
        runs = summary.against([ours], [theirs])
        compress = [row["compress_seconds"] for row in (theirs, ours)]
        rows.append(
            [
                *_side_by_side(ours, theirs),
                f"{runs['median']:.2f} ({runs['min']:.2f} to {runs['max']:.2f})",
                report.number(compress[0] / compress[1]) if all(compress) else "-",
            ]
        )
    header = ["struct by Neve in, layout, ranks", "zlib ratio", "Neve ratio", "zlib s", "Neve s"]
    page.table([*header, "times faster, all", "compression alone"], rows)


def _side_by_side(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """A row's beginning: where it was written, and ratio and seconds of both."""
    return [
        f"{ours['container']}, {ours['layout']}, {ours['ranks']}",
        report.number(theirs["ratio"]),
        report.number(ours["ratio"]),
        report.number(theirs["write_seconds"]),
        report.number(ours["write_seconds"]),
    ]


def _app(
    page: Page,
    app: str,
    rows: list[dict[str, Any]],
    disk: dict[int, float],
    picture: Callable,
) -> None:
    parts = list(dict.fromkeys(row["part"] for row in rows))
    page.heading(app)
    covered = sorted({row["covered"] for row in rows if row.get("covered")})
    if covered:
        page.text(f"Cells that a finer level covers: `--covered {', '.join(covered)}`.")
    for part in parts:
        of_part = [row for row in rows if row["part"] == part]
        name = f"{app}_{part}" if part else app
        if part:
            page.text(f"**{part}**")
        picture(f"throughput_{name}", lambda: figures.throughput(of_part, disk))  # noqa: B023
        page.table(_HEADER, [_table_row(row) for row in of_part])
    if any(row["compression"] not in summary.UNCOMPRESSED for row in rows):
        picture(f"ratio_{app}", lambda: figures.ratios(rows))
    if any(row["of_disk"] for row in rows):
        picture(f"of_disk_{app}", lambda: figures.of_disk(rows))
    page.text(
        "Busiest / mean rank: by load; by bytes of the file that are its own (a chunk that ranks "
        "share counts for the one with most of it); of each rank's part compressed by itself."
    )
    page.text(
        "Phases, at the most ranks: compute (the field, once), compress and write (the rest of the "
        "time to write), read back. For HDF5's and netCDF's filters compression is measured apart: "
        "each rank's chunks once more through the same filters, into memory."
    )
    picture(f"phases_{app}", lambda: figures.phases(rows))


_HEADER = (
    "output, layout, ranks",
    "ratio",
    "write s",
    "least - most",
    "MB/s",
    "x file system",
    "compress s",
    "read s",
    "compute s",
    "busiest/mean",
    "by bytes",
    "alone",
    "largest error",
)


def _table_row(row: dict[str, Any]) -> Sequence[str]:
    number = report.number
    layout = f", {row['layout']}" if row["layout"] else ""
    failed = f" ({row['failed_runs']} of {row['runs']} runs failed)" if row["failed_runs"] else ""
    return [
        f"{row['output']}{layout}, {row['ranks']}{failed}",
        number(row["ratio"]),
        number(row["write_seconds"]),
        f"{number(row['write_seconds_min'])} - {number(row['write_seconds_max'])}",
        number(row["write_MBps"]),
        number(row["of_disk"]),
        number(row["compress_seconds"]),
        number(row["read_seconds"]),
        number(row["make_seconds"]),
        number(row["max_over_mean"], 4),
        number(row["rank_bytes_max_over_mean"], 4),
        number(row["tile_bytes_max_over_mean"], 4),
        number(row["max_abs_error"]),
    ]
