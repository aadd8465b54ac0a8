# SPDX-License-Identifier: BSD-3-Clause
"""netCDF's own tools, and what NCO's and CDO's modules share: copies, and results that are compared
with those of the same values without a filter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from .matrix import Reason, Row, assert_same
from .sample_files import DATA_FILES, GROUPS, HDF5, Sample, stored_values
from .stranger import run_tool

Act = Callable[[Sample, Path], None]


def words_with(command: tuple[str, ...], source: Path, target: Path) -> list[object]:
    return [target if w == "OUT" else source if w == "IN" else w for w in command]


def copied_by(*command: str) -> Act:
    def act(sample: Sample, folder: Path) -> None:
        out = folder / "out.nc"
        run_tool(*words_with(command, sample.path, out))
        found = stored_values(out)
        assert_same({name: found[name] for name in sample.values}, sample.values)

    return act


def computed_by(*command: str) -> Act:
    """What the tool computes is what it computes of the same values without a filter."""

    def act(sample: Sample, folder: Path) -> None:
        results = []
        for source in (sample.path, sample.plain):
            out = folder / f"of_{source.name}"
            run_tool(*words_with(command, source, out))
            found = stored_values(out)
            results.append({n: v for n, v in found.items() if v.dtype.kind != "S"})
        assert sample.fields.keys() <= results[0].keys(), sorted(results[0])
        assert_same(results[0], results[1])

    return act


# --- ncdump ---


def _header(sample: Sample, folder: Path) -> None:
    """Every variable; of a data file, all that is said of one without a filter."""
    said = run_tool("ncdump", "-h", sample.path)
    if sample.kind in DATA_FILES:
        assert said == run_tool("ncdump", "-h", "-n", sample.path.stem, sample.plain)
    for name in sample.values:
        assert f" {_as_ncdump_names_it(name)}(" in said, name


def _as_ncdump_names_it(name: str) -> str:
    return re.sub(r"([=:])", r"\\\1", name.rpartition("/")[2])


def printed_values(text: str) -> dict[str, list[str]]:
    """What ncdump prints of each variable, by path."""
    found: dict[str, list[str]] = {}
    groups: list[str] = []
    pieces = re.finditer(r"^ *(?:group: (\S+) \{|\} // group \S+|(\S+) =\s([^;]*);)$", text, re.M)
    for piece in pieces:
        group, name, numbers = piece.groups()
        if group:
            groups.append(group)
        elif name is None:
            groups.pop()
        else:
            path = "/".join([*groups, name.replace("\\", "")])
            found[path] = [number.strip() for number in numbers.split(",")]
    return found


def _values(sample: Sample, folder: Path) -> None:
    found = printed_values(run_tool("ncdump", "-p", "9,17", sample.path))
    with h5py.File(sample.path) as file:
        fills = {name: file[name].attrs.get("_FillValue", [np.nan])[0] for name in sample.values}
    for name, values in sample.values.items():
        if values.dtype.kind == "S":
            continue  # printed as text
        numbers = [fills[name] if n == "_" else float(n) for n in found[name]]
        printed = np.array(numbers).astype(values.dtype).reshape(values.shape)
        assert np.array_equal(printed, values, equal_nan=values.dtype.kind == "f"), name


STRINGS = Reason(
    "netCDF 4.9.0 sets no filter of a variable of type `string`, and says so of any filter",
    "NetCDF: Filter error: bad id or parameters or duplicate filter",
)

ROWS = (
    Row("ncdump", "header", _header),
    Row("ncdump", "values", _values),
    Row("nccopy", "copy", copied_by("nccopy", "IN", "OUT")),
    Row(
        "nccopy",
        "to deflate",
        copied_by("nccopy", "-d", "1", "-s", "-F", "*,none", "IN", "OUT"),
    ),
    Row(
        "nccopy",
        "to the filter again",
        copied_by("nccopy", "-F", "*,466", "IN", "OUT"),
        {GROUPS: STRINGS, HDF5: STRINGS},
    ),
)
