# SPDX-License-Identifier: BSD-3-Clause
"""Several stored texts as one: each after its length, as the index of a file's chunks has it."""

from __future__ import annotations

from collections.abc import Sequence


def join(texts: Sequence[bytes]) -> bytes:
    """Lengths are stored in 7 bits a byte, the low ones first."""
    return b"".join(piece for text in texts for piece in (_varint(len(text)), text))


def split(stored: bytes) -> list[bytes]:
    texts, at = [], 0
    while at < len(stored):
        length, at = _read_varint(stored, at)
        if at + length > len(stored):
            raise ValueError(f"a text of {length} bytes begins {len(stored) - at} before the end")
        texts.append(stored[at : at + length])
        at += length
    return texts


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(stored: bytes, at: int) -> tuple[int, int]:
    """The number that begins there, and where it ends."""
    number = shift = 0
    while True:
        if at >= len(stored):
            raise ValueError("ends inside of a length")
        byte = stored[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
