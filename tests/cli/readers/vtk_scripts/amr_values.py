# SPDX-License-Identifier: BSD-3-Clause
"""What VTK holds of an overlapping AMR, into an .npz file: for pvpython, VTK and PyVista alike, so
nothing of Neve is imported here.
"""

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy

REFINED = 8  # VTK's mark of a cell that a finer level covers


def block_count(amr, level):
    new = hasattr(amr, "GetNumberOfBlocks") and not hasattr(amr, "GetNumberOfDataSets")
    return amr.GetNumberOfBlocks(level) if new else amr.GetNumberOfDataSets(level)


def block(amr, level, number):
    if hasattr(amr, "GetDataSetAsImageData"):
        return amr.GetDataSetAsImageData(level, number)
    return amr.GetDataSet(level, number)


def values_of(grid):
    """Origin, spacing and dimensions of a block, its marks, its fields by name."""
    found = {
        "origin": np.array(grid.GetOrigin()),
        "spacing": np.array(grid.GetSpacing()),
        "points": np.array(grid.GetDimensions()),
    }
    data = grid.GetCellData()
    hidden = np.zeros(grid.GetNumberOfCells(), bool)
    for n in range(data.GetNumberOfArrays()):
        array = data.GetArray(n)
        if array.GetName() == "vtkGhostType":
            hidden = (vtk_to_numpy(array) & REFINED) != 0
        else:
            found["field|" + array.GetName()] = vtk_to_numpy(array).copy()
    found["hidden"] = hidden
    return found


def save(path, blocks, time):
    """`blocks`: (level, grid) of each block."""
    everything = {"time": np.array(time)}
    for number, (level, grid) in enumerate(blocks):
        for name, values in values_of(grid).items():
            everything[f"{level}|{number}|{name}"] = values
    np.savez(path, **{name.replace("/", "\\"): v for name, v in everything.items()})


def blocks_of(amr):
    for level in range(amr.GetNumberOfLevels()):
        for number in range(block_count(amr, level)):
            yield level, block(amr, level, number)


def time_of(amr):
    array = amr.GetFieldData().GetArray("TimeValue")
    return array.GetValue(0) if array else float("nan")
