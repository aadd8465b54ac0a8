# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that try codecs, as hypothesis strategies, and the promise that they are held to."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

MAX_ELEMENTS = 6000


def bits(array: np.ndarray) -> np.ndarray:
    """The bit patterns of the values: what equality of NaN and of -0 means here."""
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.dtype.itemsize}")


def assert_same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype.newbyteorder("=")
    assert found.shape == expected.shape
    np.testing.assert_array_equal(bits(found), bits(expected.astype(found.dtype)))


def value_range(array: np.ndarray, fill: float | None = None) -> float:
    values = array[np.isfinite(array)].astype(np.float64)
    if fill is not None:
        values = values[values != fill]
    if values.size == 0:
        return 0.0
    return min(float(values.max()) - float(values.min()), float(np.finfo(np.float64).max))


def assert_within(
    found: np.ndarray, expected: np.ndarray, bound: float, fill: float | None = None
) -> None:
    """The promise: finite values inside `bound`; NaN, infinities, -0 and the fill bit for bit."""
    assert found.dtype == expected.dtype.newbyteorder("=")
    assert found.shape == expected.shape
    special = ~np.isfinite(expected) | ((expected == 0) & np.signbit(expected))
    if fill is not None:
        special |= expected == fill
    expected = expected.astype(found.dtype)
    np.testing.assert_array_equal(bits(found)[special], bits(expected)[special])
    ordinary = ~special
    with np.errstate(over="ignore"):
        error = np.abs(found[ordinary].astype(np.float64) - expected[ordinary].astype(np.float64))
    assert (error <= bound).all(), f"error {error.max()} is over the bound {bound}"


@st.composite
def shapes(draw: st.DrawFn, max_dims: int = 6) -> tuple[int, ...]:
    dims = draw(st.integers(0, max_dims))
    sizes = []
    left = MAX_ELEMENTS
    for _ in range(dims):
        size = draw(st.integers(0, max(1, min(left, 70))))
        left //= max(size, 1)
        sizes.append(size)
    return tuple(draw(st.permutations(sizes)))


@st.composite
def field_arrays(draw: st.DrawFn) -> np.ndarray:
    """Smooth, noisy, constant or wild values, with specials strewn in."""
    dtype = np.dtype(draw(st.sampled_from([np.float32, np.float64])))
    shape = draw(shapes())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["smooth", "noise", "constant", "wild", "bits", "integers"]))
    limit = np.finfo(dtype)
    if kind == "smooth":
        axes = np.indices(shape, sparse=True) if shape else []
        values = sum(np.sin(axis / (3 + 2 * i)) for i, axis in enumerate(axes)) + np.zeros(shape)
    elif kind == "noise":
        values = rng.standard_normal(shape)
    elif kind == "constant":
        values = np.full(shape, rng.standard_normal())
    elif kind == "integers":
        values = rng.integers(-3, 4, shape).astype(np.float64)
    elif kind == "wild":
        decades = 36 if dtype == np.float32 else 300
        values = rng.standard_normal(shape) * 10.0 ** rng.uniform(-decades, decades, shape)
    else:
        unsigned = np.uint32 if dtype == np.float32 else np.uint64
        raw = rng.integers(0, np.iinfo(unsigned).max, shape, unsigned, endpoint=True)
        values = np.asarray(raw).view(dtype)
    if kind in ("smooth", "noise", "integers"):
        scale = 10.0 ** draw(st.integers(-12, 12))
        values = values * scale + draw(st.sampled_from([0, 1e3, -1e6]))
    with np.errstate(over="ignore"):
        array = np.array(values, dtype)

    specials = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 1e20, -999.0, 1e30]
    specials += [float(limit.smallest_subnormal), -float(limit.smallest_subnormal)]
    specials += [float(limit.max), float(limit.min), float(limit.tiny)]
    for value in draw(st.lists(st.sampled_from(specials), max_size=3)):
        share = draw(st.sampled_from([0.001, 0.05, 0.5, 1.0]))
        array[rng.random(shape) < share] = value
    return array


@st.composite
def views(draw: st.DrawFn) -> np.ndarray:
    """The same as users hold them: strided, reversed, transposed, byte-swapped, read-only."""
    array = draw(field_arrays())
    for change in draw(st.lists(st.sampled_from("strided reversed transposed swapped".split()))):
        if change == "transposed":
            array = array.T
        elif change == "swapped":
            array = array.astype(array.dtype.newbyteorder("S"))
        elif array.ndim:
            axis = draw(st.integers(0, array.ndim - 1))
            step = {"strided": 2, "reversed": -1}[change]
            array = array[tuple([slice(None)] * axis + [slice(None, None, step)])]
    array.flags.writeable = draw(st.booleans()) and array.flags.writeable
    return array


def bound_values() -> st.SearchStrategy[float]:
    return st.floats(-7, 0).map(lambda power: math.pow(10.0, power))
