# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles and checkpoints in xarray: `xarray.open_datatree("plt.h5", engine="neve")`.

xarray finds this module by its entry point; importing it by hand is only needed for `.neve` of
datasets before the first was opened.
"""

from __future__ import annotations

try:
    import xarray as _xarray  # noqa: F401 - told apart from a module missing below
except ModuleNotFoundError as error:
    if error.name != "xarray":
        raise
    raise ModuleNotFoundError(
        "neve.xarray needs xarray, and dask for chunks: pip install 'neve[xarray]'", name="xarray"
    ) from None

from ._accessor import DatasetAccessor, DataTreeAccessor
from ._backend import XarrayBackend

__all__ = ["DataTreeAccessor", "DatasetAccessor", "XarrayBackend"]
