# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 1: four mini-apps, changed by parameters, each stored and read back."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import Finding, Item, verdict_of
from ...paper.numbers import number
from .. import told
from ..requests import Stored
from ..results import Record, Results
from ..settings import Settings

RANKS = 2
RUNS = (
    Stored("struct", ("--grid", "64,48,16"), ("hdf5", "hdf5-zfp", "hdf5-neve"), RANKS),
    Stored("cartiso", ("--grid", "32,32,32"), ("hdf5", "hdf5-zlib", "hdf5-neve"), RANKS),
    Stored("amr", ("--blocks", "3,3,3"), ("skeleton", "skeleton:auto"), RANKS),
    Stored("unstruct", ("--points", "6000"), ("hdf5", "hdf5-zlib", "hdf5-neve"), RANKS),
)
# By one parameter each, without extracting a kernel anew: the bytes are others.
CHANGED = (
    Stored("struct", ("--grid", "64,48,16", "--space-frequency", "2"), ("hdf5-neve",), RANKS),
    Stored("cartiso", ("--grid", "32,32,32", "--noise", "0"), ("hdf5-neve",), RANKS),
    Stored("amr", ("--blocks", "3,3,3", "--threshold", "0.3"), ("skeleton:auto",), RANKS),
    Stored("unstruct", ("--points", "6000", "--roundness", "0.3,0.3"), ("hdf5-neve",), RANKS),
)
HEADER = ("mini-app", "output", "bytes", "ratio", "values read back", "wrong", "largest error")
LISTS = ("methods", "grid_outputs", "surface_outputs", "value_outputs", "connectivity_outputs")


def needs(_: Settings) -> Iterator[Stored]:
    yield from RUNS
    yield from CHANGED


def _outputs(result: Record) -> list[Record]:
    found = [one for name in LISTS for one in result.get(name, [])]
    return found + [one for layout in result.get("layouts", []) for one in layout["outputs"]]


def find(results: Results) -> Finding:
    paper = "four open source mini-apps; sets of parameters, and their effect observed directly"
    there = {one.app: results.result(one) for one in RUNS}
    rows = {app: _outputs(result) for app, result in there.items() if result is not None}
    good = {app: all(o["verified"]["wrong"] == 0 for o in of) for app, of in rows.items()}
    changed = {}
    for before, after in zip(RUNS, CHANGED, strict=True):
        result = results.result(after)
        if before.app in rows and result is not None:
            ours = {o["output"]: o["file_bytes"] for o in rows[before.app]}
            is_other = any(o["file_bytes"] != ours[o["output"]] for o in _outputs(result))
            changed[before.app] = is_other
    held = sum(good.values()) + sum(changed.values())
    return Finding(
        verdict_of(held, len(good) + len(changed)),
        paper,
        f"{', '.join(rows)}: stored by HDF5 and its filters, all values read back by another rank "
        "and compared",
        "the same by Neve's filter and writer, within the bound",
        told.joined(
            "; ".join(f"{app}: values are wrong" for app, is_good in good.items() if not is_good),
            f"a parameter changed what is stored in {sum(changed.values())} of {len(changed)}",
        ),
        [
            output.table(
                HEADER,
                [
                    (
                        app,
                        one["output"],
                        str(one["file_bytes"]),
                        number(one["ratio"]),
                        str(one["verified"]["values"]),
                        str(one["verified"]["wrong"]),
                        number(one["verified"]["max_abs_error"]),
                    )
                    for app, of in rows.items()
                    for one in of
                ],
            )
        ],
        {"read_back": good, "changed": changed},
    )


ITEM = Item(
    "mini-apps", "Paragraph 1, mini-apps", "Four mini-apps, changed by parameters", needs, find
)
