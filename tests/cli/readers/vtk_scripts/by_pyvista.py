# SPDX-License-Identifier: BSD-3-Clause
"""by_pyvista.py FILE.vtkhdf OUT.npz: what PyVista makes of the blocks of VTK's reader."""

import sys

import amr_values
import pyvista
from vtkmodules.vtkIOHDF import vtkHDFReader

reader = vtkHDFReader()
reader.SetFileName(sys.argv[1])
reader.SetMaximumLevelsToReadByDefaultForAMR(0)
reader.Update()
amr = reader.GetOutputDataObject(0)
blocks = [(level, pyvista.ImageData(grid)) for level, grid in amr_values.blocks_of(amr)]
together = pyvista.MultiBlock([grid for _, grid in blocks])
assert together.n_blocks == len(blocks)
amr_values.save(sys.argv[2], blocks, amr_values.time_of(amr))
