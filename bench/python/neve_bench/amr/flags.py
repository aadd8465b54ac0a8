# SPDX-License-Identifier: BSD-3-Clause
"""What a reader cannot tell from the boxes: which covered cells, or units of them, are held
nevertheless. Nothing but a byte where none is, as with cells=uncovered and cells=all.
"""

from __future__ import annotations

import zlib

import numpy as np

LEVEL = 9


def pack_flags(flags: np.ndarray) -> bytes:
    if not flags.any():
        return b"\0"
    return b"\1" + zlib.compress(np.packbits(flags.ravel()).tobytes(), LEVEL)


def unpack_flags(stored: bytes, count: int) -> np.ndarray:
    if stored[0] == 0:
        return np.zeros(count, bool)
    bits = np.frombuffer(zlib.decompress(stored[1:]), np.uint8)
    return np.unpackbits(bits, count=count).astype(bool)
