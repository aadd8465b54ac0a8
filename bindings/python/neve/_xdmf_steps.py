# SPDX-License-Identifier: BSD-3-Clause
"""A file of virtual datasets for what XDMF cannot name in the data file itself, so that nothing is
stored twice: each time step as a dataset of its own, because ParaView's reader of XDMF 3 takes no
part of a dataset, and values whose names have characters that XDMF takes for its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import h5py

from ._referring import in_virtual_dataset, missing_value
from ._xdmf_grids import Grid, Variable

# FILE:/DATASET has a colon between, version 3 takes | for another part, and version 2 loses what
# XML has to escape, and letters beyond ASCII at the end.
_UNSAFE_IN_FILE = re.compile(r"[^\w./ +=,%-]")
_UNSAFE = re.compile(_UNSAFE_IN_FILE.pattern, re.ASCII)


def can_name_file(name: str) -> bool:
    """Whether XDMF can name such a file."""
    return _UNSAFE_IN_FILE.search(name) is None


def needs_steps(grid: Grid, variable: Variable, source: str) -> bool:
    """Whether the values are read through the file of this module."""
    if variable.dataset is None:
        return False
    is_named = can_name_file(source) and _UNSAFE.search(variable.dataset) is None
    return grid.times is not None or not is_named


def step_name(dataset: str, step: int | None) -> str:
    """Of the dataset there that has the values of one step, or all where there is no time."""
    safe = _UNSAFE.sub(lambda found: f"_x{ord(found[0]):X}_", dataset)
    return safe if step is None else f"{safe}/{step}"


def write_steps(file: h5py.File, grids: Sequence[Grid], source: str) -> None:
    """Into an empty file; `source` is the data file's name, relative to the folder of `file`."""
    for grid in grids:
        for variable in grid.variables:
            if needs_steps(grid, variable, source):
                _write(file, variable, source, grid.times is not None)


def _write(file: h5py.File, variable: Variable, source: str, has_time: bool) -> None:
    assert variable.dataset is not None
    names = in_virtual_dataset(source), in_virtual_dataset(variable.dataset)
    values = h5py.VirtualSource(*names, shape=variable.shape, dtype=variable.dtype)
    shape = variable.shape[1:] if has_time else variable.shape
    fill = missing_value(variable.dtype)
    for step in range(variable.shape[0]) if has_time else [None]:
        layout = h5py.VirtualLayout(shape=shape, dtype=variable.dtype)
        layout[...] = values if step is None else values[step]
        file.create_virtual_dataset(step_name(variable.dataset, step), layout, fillvalue=fill)
