# SPDX-License-Identifier: BSD-3-Clause
"""Section III: the file's layout does not change, so no reader has to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...paper import output
from ...paper.item import FAILS, HOLDS, Finding, Item
from ...paper.numbers import number
from .. import measured, tell
from ..requests import Contents, Request
from ..results import Results
from ..settings import Settings
from ..strategies import UNCOMPRESSED

UNTOLD = "Seconds to read are medians, without a spread: no difference can be told between files"


def _contents(settings: Settings) -> Contents:
    return Contents(settings.bench_words, UNCOMPRESSED, settings.most_ranks, settings.first_mpi_io)


def needs(settings: Settings) -> Iterator[Request]:
    yield _contents(settings)
    yield from measured.every_timed(settings)


def find(results: Results) -> Finding:
    paper = "ACB does not change the file's layout: read functions stay as they are"
    settings = results.settings
    files = results.result(_contents(settings))
    if files is None:
        return tell.without_numbers(paper)
    of = files["strategies"]
    values = Counter(one["values"] for one in of.values())
    usual = values.most_common(1)[0][0]
    others = [name for name, one in of.items() if one["values"] != usual]
    whole = Counter(one["file"] for one in of.values())
    return Finding(
        HOLDS if not others else FAILS,
        paper,
        f"measured here: boxes and values are the same in {len(of) - len(others)} of {len(of)} "
        f"files. {UNTOLD}",
        "skeleton is one of these files; a compressed one is decoded as it is read: see the table",
        tell.joined(
            f"other values: {', '.join(others)}" if others else "",
            f"Byte for byte there are {len(whole)} different files: HDF5 builds its structure in "
            "its own way"
            if len(whole) > 1
            else "All files are the same byte for byte",
        ),
        [
            output.table(
                ("strategy", "values", "whole file"),
                [(name, one["values"][:12], one["file"][:12]) for name, one in of.items()],
            ),
            output.table(
                ("run", "strategy", "seconds to read"),
                [
                    (measured.where(ranks, mpi_io), name, number(row["read_seconds"]))
                    for ranks, mpi_io in measured.places(settings)
                    for name, row in results.timed(measured.timed(settings, ranks, mpi_io)).items()
                ],
            ),
        ],
        {"same_values": not others, "different_files": len(whole)},
    )


ITEM = Item("read-back", "Section III, reading", "Files are the same to a reader", needs, find)
