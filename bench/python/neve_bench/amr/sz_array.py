# SPDX-License-Identifier: BSD-3-Clause
"""SZ_L/R as a black box that takes one array: Lorenzo or regression in fixed prediction blocks
(SZ2: Liang et al., "Error-controlled lossy compression optimized for high compression ratios", Big
Data 2018). It is Neve's implementation, so that ways differ by what they do with the cells alone.
"""

from __future__ import annotations

import numpy as np

from . import frames

SZ_BLOCK = 6  # SZ2's side of prediction blocks in three dimensions


def encode(array: np.ndarray, bound_abs: float) -> bytes:
    """An array of 1 to 3 dimensions in C order, its last direction the fastest; bound 0: every
    bit. Below three dimensions blocks have the sides that SZ3 has there.
    """
    # One array as it is: neither cut into unit blocks nor placed otherwise.
    options = {"codec": "lorenzo_regression", "arrangement": "linear", "effort": "max"}
    if array.ndim == 3:
        options["block"] = str(SZ_BLOCK)
    return frames.encode_array(array, bound_abs, options)


def decode(stored: bytes) -> np.ndarray:
    return frames.decode_array(stored)
