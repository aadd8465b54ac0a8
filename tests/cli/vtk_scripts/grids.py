# SPDX-License-Identifier: BSD-3-Clause
"""grids.py READER FILE OUT.npz: point data of every time step of a file that ParaView reads by
READER: a class of paraview.simple.
"""

import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy

name, path, out = sys.argv[1:4]
make = getattr(simple, name)
# FileName (a list) of some readers is FileNames of others.
try:
    reader = make(FileName=[path])
except Exception:
    reader = make(FileNames=[path])
reader.UpdatePipelineInformation()
times = reader.TimestepValues if hasattr(reader, "TimestepValues") else []
times = [times] if isinstance(times, float) else list(times)


def leaves(data):
    if not data.IsA("vtkCompositeDataSet"):
        yield data
        return
    iterator = data.NewIterator()
    while not iterator.IsDoneWithTraversal():
        yield iterator.GetCurrentDataObject()
        iterator.GoToNextItem()


found = {"times": np.array(times)}
for step, time in enumerate(times or [None]):
    if time is None:
        reader.UpdatePipeline()
    else:
        reader.UpdatePipeline(time)
    # Not servermanager.Fetch, which cuts a lone rectilinear grid short in ParaView 5.11.
    for grid in leaves(reader.GetClientSideObject().GetOutputDataObject(0)):
        data = grid.GetPointData()
        for n in range(data.GetNumberOfArrays()):
            array = data.GetArray(n)
            key = "%d|%s" % (step, array.GetName().replace("/", "\\"))
            found[key] = vtk_to_numpy(array).copy()
            if grid.IsA("vtkRectilinearGrid"):
                for axis in "XYZ":
                    points = vtk_to_numpy(getattr(grid, "Get%sCoordinates" % axis)())
                    found["%s|%s" % (key, axis)] = points.copy()
np.savez(out, **found)
