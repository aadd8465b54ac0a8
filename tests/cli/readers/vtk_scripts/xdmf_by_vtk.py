# SPDX-License-Identifier: BSD-3-Clause
"""xdmf_by_vtk.py FILE.xdmf OUT.npz vtk|pyvista: point data of every time step, as grids.py has it,
by VTK's reader or PyVista's, which is VTK's with a time.
"""

import sys

import grid_values
import numpy as np


def by_vtk(path):
    """Times, and what gives the data at one."""
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOXdmf2 import vtkXdmfReader

    reader = vtkXdmfReader()
    reader.SetFileName(path)
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())

    def at(time):
        reader.UpdateTimeStep(time)
        return reader.GetOutputDataObject(0)

    return times, at


def by_pyvista(path):
    import pyvista

    pyvista.read(path)  # raises where there is no time
    reader = pyvista.get_reader(path)

    def at(time):
        reader.set_active_time_value(time)
        return reader.read()

    return reader.time_values, at


times, at = {"vtk": by_vtk, "pyvista": by_pyvista}[sys.argv[3]](sys.argv[1])
found = {"times": np.array(times)}
for step, time in enumerate(times):
    for grid in grid_values.leaves(at(time)):
        grid_values.add_grid(found, step, grid)
np.savez(sys.argv[2], **found)
