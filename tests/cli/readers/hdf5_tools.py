# SPDX-License-Identifier: BSD-3-Clause
"""HDF5's own tools."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py

from .matrix import Part, Refused, Row, assert_same
from .sample_files import GROUPS, Sample, stored_values
from .stranger import run_tool


def _dump(sample: Sample, folder: Path) -> None:
    for name, values in sample.values.items():
        if values.dtype.kind == "S":
            continue  # letters are not written as bytes
        raw = folder / "raw"
        run_tool("h5dump", "-d", f"/{name}", "-b", "LE", "-o", raw, sample.path)
        assert raw.read_bytes() == values.tobytes(), name


def _header(sample: Sample, folder: Path) -> None:
    said = run_tool("h5dump", "-H", "-p", sample.path)
    assert said.count("FILTER_ID 466") > 0
    for name in sample.values:
        assert f'DATASET "{name.rpartition("/")[2]}"' in said


def _repack(sample: Sample, folder: Path, *options: str) -> None:
    copy = folder / "copy.h5"
    run_tool("h5repack", *options, sample.path, copy)
    found = stored_values(copy)
    assert_same({name: found[name] for name in sample.values}, sample.values)


def _diff(sample: Sample, folder: Path) -> None:
    """Finds no difference from the same values without a filter, and one where one is made."""
    other = folder / "other.h5"
    shutil.copyfile(sample.plain, other)
    for name in sample.fields:
        run_tool("h5diff", sample.path, other, f"/{name}")
    with h5py.File(other, "r+") as file:
        for name in sample.fields:
            file[name][(5,) * file[name].ndim] += 1
    for name in sample.fields:
        try:
            run_tool("h5diff", sample.path, other, f"/{name}")
        except Refused as refusal:
            assert "1 differences found" in str(refusal)
        else:
            raise AssertionError(f"h5diff finds no difference in {name}")


NO_TEXT = Part(
    "`h5repack` 1.10.8 may damage netCDF variables of type `string`, also in files without Neve's "
    "filter",
    lambda name: True,
)

ROWS = (
    Row("h5dump", "header", _header),
    Row("h5dump", "values", _dump),
    Row("h5repack", "chunks as they are", _repack, parts={GROUPS: NO_TEXT}),
    Row(
        "h5repack",
        "without the filter",
        lambda s, f: _repack(s, f, "-f", "NONE"),
        parts={GROUPS: NO_TEXT},
    ),
    Row(
        "h5repack",
        "to the filter again",
        lambda s, f: _repack(s, f, "-l", "CHUNK=7", "-f", "UD=466,0,0"),
        parts={GROUPS: NO_TEXT},
    ),
    Row("h5diff", "compare", _diff),
)
