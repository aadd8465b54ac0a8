# SPDX-License-Identifier: BSD-3-Clause
"""A plotfile as VTK's overlapping AMR, in memory: for ParaView's plugin, VTK and PyVista."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _grid
from ._hierarchy import Source
from ._vtk_place import SPACE, TIME, filled_levels, in_space, vtk_corners

_REFINED = 8  # vtkDataSetAttributes.REFINEDCELL
_GHOSTS = "vtkGhostType"


def fill_amr(amr: Any, source: Source, components: Sequence[int], levels: int) -> None:
    """Makes `amr`, a vtkOverlappingAMR, hold the first `levels` levels with these components as
    cell data, covered cells marked as VTK hides them.
    """
    levels = min(levels, filled_levels(source))
    shown = range(levels)
    amr.Initialize(levels, [len(source.levels[level].boxes) for level in shown])
    amr.SetGridDescription(_grid_description(source.dims))
    amr.SetOrigin(in_space(source.prob_lo, 0.0))
    first = np.array(source.levels[0].domain.lo)
    for level in shown:
        grids = _level_grids(amr, source, level, first)
        for component in components:
            for frame in source.frames(level, component):
                for box in frame:
                    values = source.read_box(level, box, component, True).ravel(order="F")
                    _add(grids[box].GetCellData(), source.components[component], values)
        if level + 1 < levels:
            _hide_covered(source, level, grids)
        first = first * np.array(source.levels[level].ref_ratio)
    _add(amr.GetFieldData(), TIME, np.array([source.time]))


def _add(data: Any, name: str, values: npt.NDArray[Any]) -> None:
    from vtkmodules.util import numpy_support

    array = numpy_support.numpy_to_vtk(values, deep=True)  # type: ignore[no-untyped-call]
    array.SetName(name)
    data.AddArray(array)


def _grid_description(dims: int) -> int:
    """VTK's number for a line, a plane or a space; its name differs between versions."""
    from vtkmodules.vtkCommonDataModel import vtkStructuredData

    return int(vtkStructuredData.GetDataDescription([2] * dims + [1] * (SPACE - dims)))


def _level_grids(amr: Any, source: Source, level: int, first: Any) -> list[Any]:
    """The level's boxes in `amr`, in the order of the source, without values."""
    from vtkmodules.vtkCommonDataModel import vtkAMRBox, vtkUniformGrid

    info = source.levels[level]
    spacing = in_space(info.dx, 1.0)
    origin = in_space(source.prob_lo, 0.0)
    amr.SetSpacing(level, spacing)
    grids = []
    for number, row in enumerate(vtk_corners(info, np.arange(len(info.boxes)), first, 0)):
        lo, hi = row[::2], row[1::2]
        grid = vtkUniformGrid()
        grid.SetOrigin(*(origin + lo * spacing).tolist())
        grid.SetSpacing(*spacing.tolist())
        grid.SetDimensions(*(hi - lo + 2).tolist())
        amr.SetAMRBox(level, number, vtkAMRBox(lo.tolist(), hi.tolist()))
        amr.SetDataSet(level, number, grid)
        grids.append(grid)
    return grids


def _hide_covered(source: Source, level: int, grids: list[Any]) -> None:
    """VTK's own way of finding them knows one ratio for all directions."""
    for grid, box in zip(grids, source.levels[level].boxes, strict=True):
        mask = _grid.covered(source, level, box)
        _add(grid.GetCellData(), _GHOSTS, mask.ravel(order="F") * np.uint8(_REFINED))
