# SPDX-License-Identifier: BSD-3-Clause
"""Slide 3: why scientific data are hard to compress."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ...paper import output
from ...paper.item import Finding, Item
from ...paper.numbers import number
from .. import drawing, tell
from ..inputs import Variable
from ..methods import NINE, OWN, usable
from ..requests import Table
from ..results import Results, Subject

SOURCE = (
    "high entropy in lower order bytes, so a good ratio is hard to achieve; lossy methods "
    "compress well and lose precision, lossless ones need preprocessing"
)
VALUES = (0.00589, 0.00590)  # the slide's
Tables = dict[Variable, dict[str, Any]]


def needs(subject: Subject) -> Iterator[Table]:
    for one in subject.inputs.variables:
        yield subject.table_of(one)


def least_bytes(table: dict[str, Any], among: tuple[str, ...]) -> int:
    return min(table["methods"][name]["bytes"] for name in usable(table, among))


def claims(results: Results) -> list[tell.Claim]:
    tables = results.tables()
    return [_entropy(tables), _preprocessing(tables), _lossy(tables)]


def _entropy(tables: Tables) -> tell.Claim:
    missed = [v.label for v, t in tables.items() if not t["entropy"][-1] > t["entropy"][0]]
    low = [t["entropy"][-1] for t in tables.values()]
    high = [t["entropy"][0] for t in tables.values()]
    return tell.Claim(
        slide=3,
        what="the lowest byte of a value has more entropy than the highest",
        source="said of all scientific data",
        ours=f"lowest {tell.span(low)} bits, highest {tell.span(high)}",
        neve="-",
        held=len(tables) - len(missed),
        tried=len(tables),
        why=f"not in {tell.first(missed)}" if missed else "",
    )


def _preprocessing(tables: Tables) -> tell.Claim:
    plain = {v: min(t["plain"].values()) for v, t in tables.items()}
    nine = {v: least_bytes(t, NINE) for v, t in tables.items()}
    own = {v: least_bytes(t, OWN) for v, t in tables.items()}
    missed = [v.label for v in tables if not nine[v] < plain[v]]
    raw = sum(t["raw_bytes"] for t in tables.values())

    def ratio(sizes: dict[Variable, int]) -> str:
        return number(raw / sum(sizes.values())) if sizes else "-"

    return tell.Claim(
        slide=3,
        what="lossless coders need preprocessing",
        source="required for a high ratio",
        ours=f"ratio of all bytes {ratio(nine)} by the best of the nine, {ratio(plain)} by the "
        "best coder alone",
        neve=f"{ratio(own)} by the best of Neve's own",
        held=len(tables) - len(missed),
        tried=len(tables),
        why=f"a coder alone is as small in {tell.first(missed)}" if missed else "",
    )


def _lossy(tables: Tables) -> tell.Claim:
    tried = {v: t for v, t in tables.items() if "bytes" in t["lossy"]}
    missed = [
        v.label
        for v, t in tried.items()
        if not (t["lossy"]["bytes"] < least_bytes(t, (*NINE, *OWN)) and t["lossy"]["changed"])
    ]
    raw = sum(t["raw_bytes"] for t in tried.values())
    lossy = sum(t["lossy"]["bytes"] for t in tried.values())
    return tell.Claim(
        slide=3,
        what="lossy methods compress more, and lose precision",
        source="ZFP, SZ, ISABELA",
        ours="not of this source",
        neve=f"ratio {number(raw / lossy) if lossy else '-'} within 1e-3 of each range",
        held=len(tried) - len(missed),
        tried=len(tried),
        why=f"not in {tell.first(missed)}" if missed else "",
    )


def _of_types(tables: Tables) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for variable, table in tables.items():
        found.setdefault(table["dtype"], {})[variable.label] = table["entropy"]
    return found


def bits_of(value: float) -> list[str]:
    """Of float32, the most significant byte first."""
    return [f"{byte:08b}" for byte in np.array([value], ">f4").tobytes()]


def find(results: Results) -> Finding:
    tables = results.tables()
    if not tables:
        return tell.without_numbers(SOURCE)
    told = claims(results)
    draw = partial(drawing.entropies, "Entropy of the bytes of values", _of_types(tables))
    header = ("value", "byte 1", "byte 2", "byte 3", "byte 4")
    return tell.finding(
        told,
        SOURCE,
        f"{told[0].ours}; {told[1].ours}",
        f"{told[1].neve}; lossy {told[2].neve}",
        [
            output.table(header, [(f"{value:.5f}", *bits_of(value)) for value in VALUES]),
            output.picture("pictures/slide-3", draw),
        ],
        {"entropy": {v.label: t["entropy"] for v, t in tables.items()}},
    )


ITEM = Item("slide-3", "Slide 3", "Data that are hard to compress", needs, find)
