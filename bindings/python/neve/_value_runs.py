# SPDX-License-Identifier: BSD-3-Clause
"""Where an HDF5 plotfile holds the values of a field, for files that refer to them."""

from __future__ import annotations

from dataclasses import dataclass

import h5py
import numpy as np
import numpy.typing as npt

from ._core import FILTER_IDS
from ._errors import Error

# What every HDF5 brings, and Neve's, which has a plugin.
_READ_EVERYWHERE = {
    h5py.h5z.FILTER_DEFLATE,
    h5py.h5z.FILTER_SHUFFLE,
    h5py.h5z.FILTER_FLETCHER32,
    *FILTER_IDS,
}


class NeedsCoarserLevel(Error):
    """Frames were written with cross-level prediction: no reader of single frames decodes them."""


@dataclass(frozen=True)
class ValueRuns:
    """One field of one level in a one-dimensional dataset: a run of elements for each box, which
    holds the box's cells, x fastest, and nothing else.
    """

    dataset: str  # its name in the file
    extent: int  # elements of the dataset
    dtype: np.dtype
    begins: npt.NDArray[np.int64]  # first element of each box


def has_usual_filters(dataset: h5py.Dataset) -> bool:
    """Whether other programs decode its chunks."""
    filters = dataset.id.get_create_plist()
    return {filters.get_filter(i)[0] for i in range(filters.get_nfilters())} <= _READ_EVERYWHERE
