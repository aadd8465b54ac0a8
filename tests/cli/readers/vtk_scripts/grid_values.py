# SPDX-License-Identifier: BSD-3-Clause
"""What the grids of data files hold: for pvpython, VTK and PyVista alike."""

from vtkmodules.util.numpy_support import vtk_to_numpy


def leaves(data):
    if not data.IsA("vtkCompositeDataSet"):
        yield data
        return
    iterator = data.NewIterator()
    while not iterator.IsDoneWithTraversal():
        yield iterator.GetCurrentDataObject()
        iterator.GoToNextItem()


def add_grid(found, step, grid):
    data = grid.GetPointData()
    for n in range(data.GetNumberOfArrays()):
        array = data.GetArray(n)
        key = f"{step}|" + array.GetName().replace("/", "\\")
        found[key] = vtk_to_numpy(array).copy()
        if grid.IsA("vtkRectilinearGrid"):
            for axis in "XYZ":
                points = vtk_to_numpy(getattr(grid, f"Get{axis}Coordinates")())
                found[f"{key}|{axis}"] = points.copy()
