# SPDX-License-Identifier: BSD-3-Clause
"""Boxes and arrays as Neve's frames, within an absolute bound."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import neve
from neve import _core
from neve._bound import parse_bound

from .subject import Part


def _options_within(bound_abs: float, options: Mapping[str, str]) -> Mapping[str, str]:
    """Bound 0 keeps every bit, which a lossy codec cannot: codec lossless does it in its place."""
    if bound_abs > 0:
        return options
    return {"codec": "lossless", **{key: options[key] for key in ("effort",) if key in options}}


def encode_part(part: Part, options: Mapping[str, str]) -> bytes:
    """The held cells of a level's boxes. `options` are those of `neve convert`, as text: codec,
    arrangement, unit, block, merge_units, effort, ...
    """
    order = _core.frame_order(part.boxes)
    keep = []
    if any(part.covered):
        keep = [part.held[box].astype(np.uint8, order="F") for box in order]
    return _core.encode_boxes(
        part.values[0].dtype.itemsize == 8,
        len(part.domain.lo),
        [part.boxes[box] for box in order],
        [part.covered[box] for box in order],
        [part.values[box] for box in order],
        keep,
        part.bound_abs,
        part.lowest,
        part.highest,
        _options_within(part.bound_abs, options),
    )


def decode_part(part: Part, stored: bytes) -> list[np.ndarray]:
    """What encode_part's frame holds of each box; anything in cells that are not held."""
    whole = decode_whole(stored, part.values[0].dtype)
    order = _core.frame_order(part.boxes)
    ends = np.cumsum([part.boxes[box].cells for box in order])[:-1]
    found = dict(zip(order, np.split(whole, ends), strict=True))
    return [found[number].reshape(box.shape, order="F") for number, box in enumerate(part.boxes)]


def decode_whole(stored: bytes, dtype: np.dtype) -> np.ndarray:
    """The cells of encode_part's boxes in the order of frames, x fastest in a box."""
    frame = _core.Frame(stored)
    whole = np.empty(frame.element_count, dtype)
    frame.decode(whole, 1)
    return whole


def encode_array(array: np.ndarray, bound_abs: float, options: Mapping[str, str]) -> bytes:
    """An array of 1 to 4 dimensions in C order. No value is taken for a fill value."""
    array = np.ascontiguousarray(array)
    dtype = f"f{8 * array.dtype.itemsize}"
    options = _options_within(bound_abs, options)
    asked = {"abs": bound_abs} if bound_abs > 0 else {"lossless": True}
    mode, value = parse_bound("encode_array", asked)
    return _core.encode_array(
        array, dtype, array.shape, mode, value, None, None, False, options, False
    )


def decode_array(stored: bytes) -> np.ndarray:
    return neve.decompress(stored)
