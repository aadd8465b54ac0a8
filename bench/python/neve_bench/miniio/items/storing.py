# SPDX-License-Identifier: BSD-3-Clause
"""Paragraphs 4 to 6: the filters of parallel HDF5, ADIOS' transports and transforms, and how many
points are valid. Everything is read back by another rank and compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import MEASURED, NOT_HERE, Finding, Item, verdict_of
from ...paper.numbers import number
from .. import measured, outputs, told
from ..requests import Stored
from ..results import Record, Results, stored_by
from ..settings import Settings

RANKS = 2
# A field of which every chunk shrinks by szip, too, which HDF5 1.10 needs (docs/miniapps.md).
GRID = ("--grid", "64,64,32", "--space-frequency", "4")
VALID = 0.65
VALID_WITHIN = 0.001
HEADER = ("output", "bytes", "ratio", "wrong values", "largest error")


def _run(settings: Settings, name: str) -> Stored:
    """Each by itself: one that cannot store leaves the others."""
    words = (*GRID, "--seed", str(settings.seed), *measured.BOUND, "--balance", "on")
    return Stored("struct", words, (name,), RANKS)


def _adios(settings: Settings) -> tuple[str, ...]:
    names = [
        name
        for transport in outputs.TRANSPORTS
        for name in (transport, *(f"{transport}-{one}" for one in outputs.TRANSFORMS))
    ]
    return settings.built(*names)


def _hdf5(settings: Settings) -> tuple[str, ...]:
    return settings.built(*outputs.HDF5_FILTERS)


def needs_of_hdf5(settings: Settings) -> Iterator[Stored]:
    for name in (*_hdf5(settings), outputs.HDF5_NEVE_LOSSLESS, outputs.HDF5_NEVE):
        yield _run(settings, name)


def needs_of_adios(settings: Settings) -> Iterator[Stored]:
    for name in _adios(settings):
        yield _run(settings, name)


def _rows(results: Results, names: tuple[str, ...]) -> dict[str, Record]:
    found = {}
    for name in names:
        found.update(stored_by(results.result(_run(results.settings, name))))
    return found


def _errors(results: Results, names: tuple[str, ...]) -> list[str]:
    failed = dict(results.failures())
    asked = {name: _run(results.settings, name) for name in names}
    return [f"{name}: {failed[one]}" for name, one in asked.items() if one in failed]


def _table(rows: dict[str, Record]):
    return output.table(
        HEADER,
        [
            (
                name,
                str(one["file_bytes"]),
                number(one["ratio"]),
                str(one["verified"]["wrong"]),
                number(one["verified"]["max_abs_error"]),
            )
            for name, one in rows.items()
        ],
    )


def _good(rows: dict[str, Record]) -> int:
    return sum(one["verified"]["wrong"] == 0 for one in rows.values())


def find_hdf5(results: Results) -> Finding:
    paper = "parallel HDF5 compresses by zlib, szip and shuffle + zlib; chunks meet collectively"
    names = _hdf5(results.settings)
    rows = _rows(results, names)
    neve = _rows(results, (outputs.HDF5_NEVE_LOSSLESS, outputs.HDF5_NEVE))
    if not rows:
        return Finding(MEASURED, paper, "-", "-", "not measured")
    return Finding(
        verdict_of(_good(rows), len(names)),
        paper,
        _ratios(rows),
        f"the same by Neve's filter: {_ratios(neve)}",
        told.joined(f"{RANKS} ranks write chunks that they share", *_errors(results, names)),
        [_table({**rows, **neve})],
        {name: one["ratio"] for name, one in {**rows, **neve}.items()},
    )


def _ratios(rows: dict[str, Record]) -> str:
    return ", ".join(f"{name} {number(one['ratio'])}" for name, one in rows.items()) or "-"


def find_adios(results: Results) -> Finding:
    paper = "ADIOS: POSIX, MPI, MPI-Lustre, MPI-Aggregate, with zlib, szip and zfp; no shuffle"
    names = _adios(results.settings)
    if not names:
        why = "this build has no ADIOS 1.13 (Debian's libadios-openmpi-dev)"
        return Finding(NOT_HERE, paper, "-", "docs/adios2.md: an operator for ADIOS2", why)
    rows = _rows(results, names)
    if not rows:
        return Finding(MEASURED, paper, "-", "-", "not measured")
    return Finding(
        verdict_of(_good(rows), len(names)),
        paper,
        f"{_good(rows)} of {len(names)} stored and read back; zfp is told its dimensions fastest "
        "first: " + _ratios({n: r for n, r in rows.items() if n.endswith("-zfp")}),
        "docs/adios2.md: an operator for ADIOS2",
        told.joined(*_errors(results, names)),
        [_table(rows)],
        {name: one["ratio"] for name, one in rows.items()},
    )


def find_valid(results: Results) -> Finding:
    paper = "struct was set to generate approximately 65 % valid data points"
    result = results.result(measured.files(results.settings))
    if result is None:
        return Finding(MEASURED, paper, "-", "-", "not measured")
    is_so = abs(result["valid"] - VALID) <= VALID_WITHIN
    return Finding(
        verdict_of(is_so, 1),
        paper,
        f"{result['valid']:.4%} of the points are valid (threshold {result['mask_threshold']:.4f})",
        "the threshold is the exact quantile of the mask's noise, and not tried out",
        "counted",
        [],
        {"valid": result["valid"]},
    )


def needs_of_valid(settings: Settings) -> Iterator[Stored]:
    yield measured.files(settings)


filters = Item(
    "hdf5-filters", "Paragraph 4, HDF5", "Filters of parallel HDF5", needs_of_hdf5, find_hdf5
)
adios = Item("adios", "Paragraph 5, ADIOS", "ADIOS' transports", needs_of_adios, find_adios)
valid = Item("valid-points", "Paragraph 6, land", "65 % valid points", needs_of_valid, find_valid)
