# SPDX-License-Identifier: BSD-3-Clause
"""in_memory.py FILE OUT.npz ...: what Neve's reader for ParaView makes, by this Python's VTK."""

import sys

import amr_values
from vtkmodules.vtkCommonDataModel import vtkOverlappingAMR

import neve
from neve._vtk_amr import fill_amr

for path, out in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    amr = vtkOverlappingAMR()
    with neve.open(path) as file:
        fill_amr(amr, file._source, range(len(file.components)), len(file))
    amr_values.save(out, amr_values.blocks_of(amr), amr_values.time_of(amr))
