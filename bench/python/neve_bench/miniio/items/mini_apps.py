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
HEADER = (
    *("mini-app", "part", "output", "bytes", "ratio", "values read back", "wrong"),
    *("largest error", "with", "bytes then"),
)
# What a run lists its outputs under, and what that part of it is called.
PARTS = {
    "methods": "all",
    "grid_outputs": "grid",
    "surface_outputs": "surface",
    "value_outputs": "values",
    "connectivity_outputs": "connectivity",
}
Outputs = dict[tuple[str, str], Record]  # by part, or layout, and output


def needs(_: Settings) -> Iterator[Stored]:
    yield from RUNS
    yield from CHANGED


def _outputs(result: Record) -> Outputs:
    lists = {part: result.get(name, []) for name, part in PARTS.items()}
    lists |= {layout["name"]: layout["outputs"] for layout in result.get("layouts", [])}
    return {(part, one["output"]): one for part, of in lists.items() for one in of}


def _is_other(before: Outputs, after: Outputs) -> bool:
    """Whether something that both stored has other bytes."""
    both = before.keys() & after.keys()
    return any(before[key]["file_bytes"] != after[key]["file_bytes"] for key in both)


def _parameter(before: Stored, after: Stored) -> str:
    """What `after` says beside `before`."""
    return " ".join(word for word in after.words if word not in before.words)


def _rows(app: str, of: Outputs, parameter: str, then: Outputs) -> Iterator[tuple[str, ...]]:
    for (part, name), one in of.items():
        verified = one["verified"]
        after = then.get((part, name))
        yield (
            *(app, part, name, str(one["file_bytes"]), number(one["ratio"])),
            *(str(verified["values"]), str(verified["wrong"]), number(verified["max_abs_error"])),
            *((parameter, str(after["file_bytes"])) if after else ("-", "-")),
        )


def find(results: Results) -> Finding:
    paper = "four open source mini-apps; sets of parameters, and their effect observed directly"
    stored = {one: _outputs(r) for one in needs(results.settings) if (r := results.result(one))}
    pairs = [pair for pair in zip(RUNS, CHANGED, strict=True) if pair[0] in stored]
    good = {
        one.app: all(o["verified"]["wrong"] == 0 for o in stored[one].values()) for one, _ in pairs
    }
    changed = {
        one.app: _is_other(stored[one], stored[after]) for one, after in pairs if after in stored
    }
    same = [app for app, is_other in changed.items() if not is_other]
    rows = [
        row
        for one, after in pairs
        for row in _rows(one.app, stored[one], _parameter(one, after), stored.get(after, {}))
    ]
    return Finding(
        verdict_of(sum(good.values()) + sum(changed.values()), len(good) + len(changed)),
        paper,
        f"{', '.join(good)}: stored by HDF5 and its filters, all values read back by another rank "
        "and compared",
        "the same by Neve's filter and writer, within the bound",
        told.joined(
            "; ".join(f"{app}: values are wrong" for app, is_good in good.items() if not is_good),
            f"a parameter changed what is stored in {sum(changed.values())} of {len(changed)}"
            + (f", not in {', '.join(same)}" if same else ""),
        ),
        [output.table(HEADER, rows)],
        {"read_back": good, "changed": changed},
    )


ITEM = Item(
    "mini-apps", "Paragraph 1, mini-apps", "Four mini-apps, changed by parameters", needs, find
)
