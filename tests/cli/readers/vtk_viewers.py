# SPDX-License-Identifier: BSD-3-Clause
"""VTK, PyVista and ParaView."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import neve

from ..conftest import run_neve
from . import vtk_checks
from .matrix import Reason, Refused, Row
from .sample_files import BOXES, DATA_FILES, Sample


def _converted(read: Callable[..., None], *words: object) -> Callable[[Sample, Path], None]:
    """By a file that `neve convert` makes for it."""

    def act(sample: Sample, folder: Path) -> None:
        try:
            read(run_neve, sample.path, folder, *words)
        except AssertionError as error:
            if "neve convert: " not in str(error):
                raise
            raise Refused(str(error)) from error

    return act


def _direct(read: Callable[..., None]) -> Callable[[Sample, Path], None]:
    def act(sample: Sample, folder: Path) -> None:
        try:
            read(sample.path, folder)
        except (AssertionError, neve.Error) as error:
            if not isinstance(error, neve.Error) and "Error" not in str(error):
                raise
            raise Refused(str(error)) from error

    return act


_NO_LEVELS = "a file for levels of boxes; data files have none"
NOT_CONVERTED = {
    kind: Reason(_NO_LEVELS, "is no plotfile and no checkpoint") for kind in DATA_FILES
}
NOT_AMR = {kind: Reason(_NO_LEVELS, "is a data file") for kind in DATA_FILES}
NOT_UNIFORM = {
    kind: Reason("XDMF is for uniform grids; levels of boxes go to VTKHDF", "has levels of boxes")
    for kind in BOXES
}

ROWS = (
    Row("vtk", "AMR (`neve convert x.vtkhdf`)", _converted(vtk_checks.with_vtk), NOT_CONVERTED),
    Row(
        "pyvista",
        "AMR (`neve convert x.vtkhdf`)",
        _converted(vtk_checks.with_pyvista),
        NOT_CONVERTED,
    ),
    Row(
        "vtk", "XDMF (`neve convert x.xdmf`)", _converted(vtk_checks.with_xdmf, "vtk"), NOT_UNIFORM
    ),
    Row(
        "pyvista",
        "XDMF (`neve convert x.xdmf`)",
        _converted(vtk_checks.with_xdmf, "pyvista"),
        NOT_UNIFORM,
    ),
    Row("pvpython", "AMR (Neve's reader)", _direct(vtk_checks.with_pvpython), NOT_AMR),
    Row("pvpython", "XDMF 2", _converted(vtk_checks.with_xdmf, 2), NOT_UNIFORM),
    Row("pvpython", "XDMF 3", _converted(vtk_checks.with_xdmf, 3), NOT_UNIFORM),
)
