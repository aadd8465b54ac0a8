# SPDX-License-Identifier: BSD-3-Clause
"""by_vtk.py FILE.vtkhdf OUT.npz ...: VTK's own reader."""

import sys

import amr_values
from vtkmodules.vtkIOHDF import vtkHDFReader

for path, out in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    reader = vtkHDFReader()
    assert reader.CanReadFile(path), "vtkHDFReader does not know it"
    reader.SetFileName(path)
    reader.SetMaximumLevelsToReadByDefaultForAMR(0)
    reader.Update()
    amr = reader.GetOutputDataObject(0)
    amr_values.save(out, amr_values.blocks_of(amr), amr_values.time_of(amr))
