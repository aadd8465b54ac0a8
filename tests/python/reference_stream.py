# SPDX-License-Identifier: BSD-3-Clause
"""A decoder of streams written from docs/format.md alone: slow, plain, and independent of the
library, which it must not import.
"""

from __future__ import annotations

import itertools
import math
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from reference_decoder import Reader, require

TYPES = (np.float32, np.float64)
HELD_BACK = (2.0**-21, 2.0**-50)
KEPT, REBUILT, OFFLINE = range(3)
RESTART, STEP, LAST, EXTRA, RAW = 4, 8, 16, 32, 64
MAX_RAW_VALUES = 1 << 24
SYMBOLS, ZERO, LONGEST = 1024, 512, 16
MAX_VALUES = 1 << 40

Codes = dict[tuple[int, int], int]  # by length and code


@dataclass
class Header:
    dtype: int
    dims: int
    fill: float | None
    block_values: int
    line: int
    plane: int
    shape: list[int]


def read_varint(r: Reader) -> int:
    value = 0
    for k in range(10):
        (byte,) = r.unpack("B")
        value |= (byte & 127) << 7 * k
        if byte < 128:
            break
    require(byte < 128 and value < 1 << 64, "varint")
    return value


def decode_raw(data: bytes) -> np.ndarray:
    r = Reader(data)
    r.take(4)
    version, dtype, dims, flags, mode, rank, zero = r.unpack("HBBBBBB")
    require(version == 1 and dtype <= 1 and dims == 0 and flags <= 3, "first fields")
    require(mode <= 4 and rank <= 32 and not zero, "fields behind them")
    r.unpack("dd" if flags & 1 else "d")
    shape = [read_varint(r) for _ in range(rank)]
    count = math.prod(shape)
    require(math.prod(max(1, n) for n in shape) <= MAX_VALUES, "shape")
    values = np.frombuffer(r.take(count * np.dtype(TYPES[dtype]).itemsize), TYPES[dtype])
    end = r.at
    require(r.unpack("I")[0] == zlib.crc32(data[:end]), "checksum")
    require(r.at == len(data), "bytes behind the checksum")
    return values.reshape(shape)


def read_header(data: bytes) -> tuple[Header, int]:
    r = Reader(data)
    require(r.take(4) == b"NEVS", "magic")
    version, dtype, dims, flags, mode, rank, zero = r.unpack("HBBBBBB")
    codebooks, zero2, block_values, line, plane, zero3, _, fill = r.unpack("HHIIIIdd")
    require(version == 1 and dtype <= 1 and 1 <= dims <= 3 and flags <= 1, "first fields")
    require(mode <= 4 and rank <= 32 and not (zero or zero2 or zero3), "fields behind them")
    require(codebooks == 1, "set of codebooks")
    require(1 << 8 <= block_values <= 1 << 24, "block values")
    require((line == 0) == (dims == 1) and (plane == 0) == (dims < 3), "line and plane")
    shape = list(r.unpack(f"{rank}Q"))
    product = 1
    for size in shape[1:]:
        product *= size
    require(
        0 not in shape[1:] and product * max(1, shape[0] if shape else 1) <= MAX_VALUES, "shape"
    )
    end = r.at
    require(r.unpack("I")[0] == zlib.crc32(data[:end]), "checksum")
    return Header(dtype, dims, fill if flags else None, block_values, line, plane, shape), r.at


# --- codebooks ------------------------------------------------------------------------------------


def bit(data: bytes, at: int) -> int:
    require(at < 8 * len(data), "bits end too early")
    return data[at // 8] >> at % 8 & 1


def number(data: bytes, at: int, bits: int) -> int:
    return sum(bit(data, at + k) << k for k in range(bits))


def read_lengths(r: Reader) -> list[int]:
    data = r.data[r.at :]
    first, last = number(data, 0, 10), number(data, 10, 10)
    require(first <= last, "first symbol above the last")
    at, length, lengths = 20, 0, [0] * SYMBOLS
    for symbol in range(first, last + 1):
        if bit(data, at) == 0:
            at += 1
        elif bit(data, at + 1) == 0:
            length += 1 if bit(data, at + 2) == 0 else -1
            at += 3
        else:
            length = number(data, at + 2, 5)
            at += 7
        require(0 <= length <= LONGEST, "code length")
        lengths[symbol] = length
    r.take(-(-at // 8))
    return lengths


def codes_of(lengths: list[int]) -> Codes:
    used = [length for length in lengths if length]
    space = sum(2.0**-length for length in used)
    require(space == 1 or used == [1], "code space")
    codes: Codes = {}
    code = 0
    for length in range(1, LONGEST + 1):
        code <<= 1
        for symbol, of in enumerate(lengths):
            if of == length:
                codes[length, code] = symbol
                code += 1
    return codes


def offline_lengths(table: Path) -> list[list[int]]:
    """Of every codebook in src/core/stream/offline_codebooks.inc."""
    codebooks: list[list[int]] = []
    for text in re.findall(r"\{((?:\s*\{\d+, \d+\},?)+)\s*\}", table.read_text()):
        runs = re.findall(r"\{(\d+), (\d+)\}", text)
        codebooks.append([int(length) for length, count in runs for _ in range(int(count))])
        require(len(codebooks[-1]) == SYMBOLS, "offline codebook")
    return codebooks


def read_symbols(data: bytes, count: int, codes: Codes) -> list[int]:
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").tolist()
    at, symbols = 0, []
    for _ in range(count):
        code = length = 0
        while (length, code) not in codes:
            require(length < LONGEST and at < len(bits), "bits that are no code")
            code = code << 1 | bits[at]
            length += 1
            at += 1
        symbols.append(codes[length, code])
    require(len(bits) - at < 8, "bytes behind the last code")
    return symbols


# --- blocks ---------------------------------------------------------------------------------------


@dataclass
class State:
    header: Header
    codebooks: list[list[int]]
    codes: Codes | None = None
    step: np.floating | None = None
    tolerance: np.floating | None = None
    restart: int = 0  # index of the first value that prediction may look at
    quant_codes: list[int] = field(default_factory=list)
    values: list[np.floating] = field(default_factory=list)


def wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def prediction(s: State) -> int:
    i, h = len(s.quant_codes), s.header
    if h.dims == 1:
        return s.quant_codes[i - 1] if i > s.restart else 0
    place = (i % h.line, i // h.line, 0)
    back = (1, h.line, 0)
    if h.dims == 3:
        place = (i % h.line, i // h.line % h.plane, i // (h.line * h.plane))
        back = (1, h.line, h.line * h.plane)
    total = 0
    for steps in itertools.product((0, 1), repeat=h.dims):
        if not any(steps) or any(step > at for step, at in zip(steps, place, strict=False)):
            continue
        neighbour = i - sum(step * far for step, far in zip(steps, back, strict=False))
        if neighbour >= s.restart:
            total += (1 if sum(steps) % 2 else -1) * s.quant_codes[neighbour]
    return total


def quant_code(s: State, value: np.floating) -> int | None:
    kind = TYPES[s.header.dtype]
    if not np.isfinite(value) or (value == 0 and np.signbit(value)) or s.step == 0:
        return None
    if s.header.fill is not None and value.tobytes() == kind(s.header.fill).tobytes():
        return None
    scaled = value * (kind(1) / s.step)
    if not abs(scaled) < kind(1 << 28):
        return None
    q = np.rint(scaled)
    return int(q) if abs(value - q * s.step) <= s.tolerance else None


class ExtraBits:
    def __init__(self, data: bytes) -> None:
        self.bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").tolist()
        self.at = 0

    def residual(self, symbol: int) -> int:
        """What a symbol and its extra bits stand for."""
        sign = 1 if symbol >= ZERO else -1
        c = abs(symbol - ZERO)
        if c < 128:
            return sign * c
        octave, m = divmod(c - 128, 16)
        count = octave + 3
        require(self.at + count <= len(self.bits), "extra bits end too early")
        extra = sum(self.bits[self.at + k] << k for k in range(count))
        self.at += count
        return sign * ((16 + m << count) + extra)

    def end(self) -> None:
        require(len(self.bits) - self.at < 8, "extra bytes")


def read_raw(s: State, payload: Reader, count: int) -> None:
    kind = TYPES[s.header.dtype]
    for value in np.frombuffer(payload.take(count * np.dtype(kind).itemsize), kind):
        q = quant_code(s, value)
        s.quant_codes.append(hold(s) if q is None else q)
        s.values.append(value)
    require(payload.at == len(payload.data), "bytes behind raw values")


def hold(s: State) -> int:
    return s.quant_codes[-1] if len(s.quant_codes) > s.restart else 0


def read_block(s: State, r: Reader) -> bool:
    """Whether it was the last."""
    begin = r.at
    mark, flags, offline, values, symbols, side_bytes, payload_bytes = r.unpack("HBBIIII")
    checksum = zlib.crc32(r.data[begin : r.at])
    (stored,) = r.unpack("I")
    payload = Reader(r.take(payload_bytes))
    require(mark == 0x424E and flags < 128 and flags & 3 <= OFFLINE, "mark or flags")
    is_raw = bool(flags & RAW)
    require(not is_raw or not (flags & (3 | EXTRA) or symbols or side_bytes), "of a raw block")
    require(stored == zlib.crc32(payload.data, checksum), "checksum")
    most = MAX_RAW_VALUES if is_raw else s.header.block_values
    require(symbols <= values <= most, "values")
    require(values > 0 or (bool(flags & LAST) and not is_raw), "block without values")
    kind = TYPES[s.header.dtype]
    if flags & STEP:
        bound, step = payload.unpack("dd")
        require(0 <= bound < np.inf and 0 <= step < np.inf, "bound or step")
        rounded = kind(min(bound, float(np.finfo(kind).max)))
        if float(rounded) > bound:
            rounded = np.nextafter(rounded, kind(0))
        s.step = kind(step)
        s.tolerance = rounded - rounded * kind(HELD_BACK[s.header.dtype])
    codebook = flags & 3
    require(offline < len(s.codebooks) if codebook == OFFLINE else offline == 0, "offline codebook")
    if codebook == REBUILT:
        s.codes = codes_of(read_lengths(payload))
    elif codebook == OFFLINE:
        s.codes = codes_of(s.codebooks[offline])
    if flags & RESTART:
        s.restart = len(s.quant_codes)
    if is_raw:
        require(s.step is not None, "no step yet")
        read_raw(s, payload, values)
        return bool(flags & LAST)
    extra_bytes = payload.unpack("I")[0] if flags & EXTRA else 0
    require(payload.at + extra_bytes + side_bytes <= len(payload.data), "parts of the payload")
    coded = payload.take(len(payload.data) - payload.at - extra_bytes - side_bytes)
    extra = ExtraBits(payload.take(extra_bytes)) if flags & EXTRA else None
    side = Reader(payload.take(side_bytes))
    if values == 0:
        return True
    require(s.codes is not None and s.step is not None, "no codebook or step yet")
    end = len(s.values) + values
    for symbol in read_symbols(coded, symbols, s.codes):
        require(len(s.values) < end, "symbols behind the last value")
        if symbol:
            residual = extra.residual(symbol) if extra else symbol - ZERO
            s.quant_codes.append(wrapped(residual + prediction(s)))
            s.values.append(kind(s.quant_codes[-1]) * s.step + kind(0))
            continue
        value = np.frombuffer(side.take(np.dtype(kind).itemsize), kind)[0]
        q = quant_code(s, value)
        more = 0 if q is not None else side.unpack("H")[0]
        require(len(s.values) + 1 + more <= end, "a run behind the last value")
        s.quant_codes += [hold(s) if q is None else q] * (1 + more)
        s.values += [value] * (1 + more)
    require(len(s.values) == end and side.at == len(side.data), "values missing or side bytes left")
    if extra:
        extra.end()
    return bool(flags & LAST)


def decode(data: bytes, table: Path) -> np.ndarray:
    if len(data) > 8 and data[:4] == b"NEVS" and data[8] & 2:
        return decode_raw(data)
    header, at = read_header(data)
    r = Reader(data)
    r.at = at
    s = State(header, offline_lengths(table))
    with np.errstate(all="ignore"):
        is_first = True
        while not read_block(s, r):
            require(not is_first or s.restart == 0, "first block")
            is_first = False
    require(r.at == len(data), "bytes behind the last block")
    shape = list(header.shape)
    if shape and shape[0] == 0:
        shape[0] = -1
    values = np.array(s.values, TYPES[header.dtype])
    require(-1 in shape or values.size == np.prod(shape, dtype=np.int64), "number of values")
    return values.reshape(shape)
