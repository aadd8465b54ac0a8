# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of integers, as a hypothesis strategy."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
MAX_ELEMENTS = 3000


@st.composite
def integer_arrays(draw: st.DrawFn) -> np.ndarray:
    """Smooth, few-valued or noise; shifted, scaled, strewn with extremes; sides of 0 and 1."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(st.lists(st.integers(0, 24), max_size=5))
    while np.prod(shape) > MAX_ELEMENTS:
        shape[shape.index(max(shape))] //= 2
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["smooth", "few", "noise", "constant"]))
    limits = np.iinfo(dtype)
    if kind == "smooth":
        index = np.indices(shape).sum(axis=0) if shape else np.zeros((), np.int64)
        values = index // 2 + random.integers(0, 3, shape)
        values = values * draw(st.sampled_from([1, 3, 16]))
        values = values + draw(st.sampled_from([0, -20, 1000]))
    elif kind == "few":
        values = random.choice(random.integers(limits.min, limits.max, 5, dtype, True), shape)
    elif kind == "noise":
        values = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    else:
        values = np.full(shape, random.integers(limits.min, limits.max, dtype=dtype, endpoint=True))
    values = np.asarray(values).astype(dtype)
    if draw(st.booleans()):
        where = random.random(shape) < draw(st.sampled_from([0.01, 0.4]))
        values[where] = draw(st.sampled_from([limits.min, limits.max]))
    return values
