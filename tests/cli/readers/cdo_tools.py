# SPDX-License-Identifier: BSD-3-Clause
"""CDO."""

from __future__ import annotations

from pathlib import Path

from .matrix import Part, Reason, Row
from .netcdf_tools import computed_by
from .sample_files import BOXES, GROUPS, HDF5, Sample
from .stranger import run_tool


def _info(sample: Sample, folder: Path) -> None:
    assert run_tool("cdo", "-s", "infon", sample.path) == run_tool(
        "cdo", "-s", "infon", sample.plain
    )


NO_GROUPS = Reason(
    "CDO reads no groups, and all values are in groups", "NetCDF4 groups not supported!"
)
NO_DIMENSIONS = Reason(
    "CDO 2.1.1 ends with a segmentation fault where dimensions have no names, also without the "
    "filter",
    "cdf_load_vals",
)
ROOT = Part("of the variables outside groups: CDO reads no groups", lambda name: "/" not in name)
IMPOSSIBLE = {kind: NO_GROUPS for kind in BOXES} | {HDF5: NO_DIMENSIONS}
PARTS = {GROUPS: ROOT}


def _row(operation: str, *operators: str) -> Row:
    act = computed_by("cdo", "-s", *operators, "IN", "OUT")
    return Row("cdo", operation, act, IMPOSSIBLE, PARTS)


ROWS = (
    Row("cdo", "infon", _info, IMPOSSIBLE, PARTS),
    _row("copy", "copy"),
    _row("timmean", "timmean"),
    _row("fldmean", "fldmean"),
    _row("zonmean", "zonmean"),
    _row("remapbil", "remapbil,r36x18"),
)
