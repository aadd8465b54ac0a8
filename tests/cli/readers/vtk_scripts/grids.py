# SPDX-License-Identifier: BSD-3-Clause
"""grids.py READER FILE OUT.npz ...: point data of every time step of files that ParaView reads by
READER, a class of paraview.simple.
"""

import sys

import grid_values
import numpy as np
from paraview import simple


def read(make, path):
    # FileName (a list) of some readers is FileNames of others.
    try:
        reader = make(FileName=[path])
    except Exception:
        reader = make(FileNames=[path])
    reader.UpdatePipelineInformation()
    times = reader.TimestepValues if hasattr(reader, "TimestepValues") else []
    times = [times] if isinstance(times, float) else list(times)
    found = {"times": np.array(times)}
    for step, time in enumerate(times or [None]):
        if time is None:
            reader.UpdatePipeline()
        else:
            reader.UpdatePipeline(time)
        # Not servermanager.Fetch, which cuts a lone rectilinear grid short in ParaView 5.11.
        for grid in grid_values.leaves(reader.GetClientSideObject().GetOutputDataObject(0)):
            grid_values.add_grid(found, step, grid)
    return found


maker = getattr(simple, sys.argv[1])
for path, out in zip(sys.argv[2::2], sys.argv[3::2]):  # noqa: B905 - as in each_by_plugin
    np.savez(out, **read(maker, path))
