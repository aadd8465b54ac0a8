# SPDX-License-Identifier: BSD-3-Clause
"""by_vtk.py FILE.vtkhdf OUT.npz: VTK's own reader."""

import sys

import amr_values
from vtkmodules.vtkIOHDF import vtkHDFReader

reader = vtkHDFReader()
assert reader.CanReadFile(sys.argv[1]), "vtkHDFReader does not know it"
reader.SetFileName(sys.argv[1])
reader.SetMaximumLevelsToReadByDefaultForAMR(0)
reader.Update()
amr = reader.GetOutputDataObject(0)
amr_values.save(sys.argv[2], amr_values.blocks_of(amr), amr_values.time_of(amr))
