# SPDX-License-Identifier: BSD-3-Clause
"""The values of each time step of an HDF5 data file as a dataset of its own: a virtual one, so that
nothing is stored twice. ParaView's reader of XDMF 3 takes no part of a dataset.
"""

from __future__ import annotations

from collections.abc import Sequence

import h5py

from ._xdmf_grids import Grid


def step_name(dataset: str, step: int) -> str:
    return f"{dataset}/{step}"


def write_steps(file: h5py.File, grids: Sequence[Grid], source: str) -> None:
    """Into an empty file; `source` is the data file's name, relative to the folder of `file`."""
    for grid in grids:
        for variable in grid.variables if grid.times is not None else ():
            assert variable.dataset is not None
            values = h5py.VirtualSource(
                source, variable.dataset, shape=variable.shape, dtype=variable.dtype
            )
            for step in range(variable.shape[0]):
                layout = h5py.VirtualLayout(shape=variable.shape[1:], dtype=variable.dtype)
                layout[...] = values[step]
                file.create_virtual_dataset(step_name(variable.dataset, step), layout)
