# SPDX-License-Identifier: BSD-3-Clause
"""Codec lossless, from docs/format.md alone."""

from __future__ import annotations

import bz2
import ctypes
import zlib

import numpy as np
import reference_decoder as base

SEGREGATED = range(1, 10)
ZSTD, LZ4, ZLIB, BZIP2, LZO = range(5)
BYTE_METHODS = {  # compressor, layout
    10: (ZSTD, "words"),
    11: (LZ4, "words"),
    12: (ZSTD, "bytes"),
    13: (LZ4, "bytes"),
    14: (ZSTD, "bits"),
    15: (LZ4, "bits"),
    16: (ZSTD, "xor"),
}
LORENZO, MULTIPLE, RANK = 17, 18, 19
MAX_CONTEXTS = 8


def unlz4(data: bytes, size: int) -> bytes:
    out = ctypes.create_string_buffer(size)
    found = base._library("lz4").LZ4_decompress_safe(data, out, len(data), size)
    base.require(found == size, "damaged LZ4 block")
    return out.raw[:size]


def unlzo(data: bytes, size: int) -> bytes:
    out = ctypes.create_string_buffer(size)
    found = ctypes.c_ulong(size)
    library = base._library("lzo2")
    code = library.lzo1x_decompress_safe(
        data, ctypes.c_ulong(len(data)), out, ctypes.byref(found), None
    )
    base.require(code == 0 and found.value == size, "damaged LZO block")
    return out.raw[:size]


def coded_bytes(reader: base.Reader, compressor: int, size: int) -> bytes:
    data = reader.take(reader.varint())
    base.require(len(data) <= size, "coded bytes longer than what they stand for")
    if len(data) == size:
        return data
    if compressor == ZSTD:
        return base.unzstd(data, size)
    if compressor == LZ4:
        return unlz4(data, size)
    if compressor == LZO:
        return unlzo(data, size)
    out = zlib.decompress(data) if compressor == ZLIB else bz2.decompress(data)
    base.require(len(out) == size, "coded bytes of another size")
    return out


def undo_xor(words: np.ndarray) -> np.ndarray:
    return np.bitwise_xor.accumulate(words) if len(words) else words


def from_byte_planes(planes: bytes, word: np.dtype, count: int) -> np.ndarray:
    by_plane = np.frombuffer(planes, np.uint8).reshape(word.itemsize, count)
    return np.ascontiguousarray(by_plane.T).reshape(-1).view(word)


def from_bit_planes(planes: bytes, word: np.dtype, count: int) -> np.ndarray:
    groups = count // 8
    out = bytearray()
    for k in range(word.itemsize):
        plane = np.frombuffer(planes[k * count : (k + 1) * count], np.uint8)
        bits = plane[: 8 * groups].reshape(8, groups)
        joined = np.zeros(8 * groups, np.uint8)
        for row in range(8):
            joined |= np.unpackbits(bits[row], bitorder="little") << (7 - row)
        out += joined.tobytes() + plane[8 * groups :].tobytes()
    return from_byte_planes(bytes(out), word, count)


def segregated(reader: base.Reader, method: int, word: np.dtype, count: int) -> np.ndarray:
    kind, compressor = divmod(method - 1, 3)
    positions = reader.u8()
    width = word.itemsize
    base.require(positions >> width == 0, "positions")
    skewed = [k for k in range(width) if positions >> k & 1]
    noise = [k for k in range(width) if not positions >> k & 1]
    data = coded_bytes(reader, (LZO, ZLIB, BZIP2)[compressor], len(skewed) * count)
    rest = np.frombuffer(reader.take(len(noise) * count), np.uint8).reshape(count, len(noise))
    values = np.empty((count, width), np.uint8)
    if kind == 0:
        values[:, skewed] = np.frombuffer(data, np.uint8).reshape(count, len(skewed))
    else:
        values[:, skewed] = np.frombuffer(data, np.uint8).reshape(len(skewed), count).T
    values[:, noise] = rest
    words = values.reshape(-1).view(word)
    return undo_xor(words) if kind == 2 else words


def byte_method(reader: base.Reader, method: int, word: np.dtype, count: int) -> np.ndarray:
    compressor, layout = BYTE_METHODS[method]
    data = coded_bytes(reader, compressor, word.itemsize * count)
    if layout == "words":
        return np.frombuffer(data, word)
    if layout == "bits":
        return from_bit_planes(data, word, count)
    words = from_byte_planes(data, word, count)
    return undo_xor(words) if layout == "xor" else words


def context_symbols(reader: base.Reader, wanted: int) -> tuple[list[int], list]:
    """Where contexts begin, and their symbols."""
    contexts = reader.u8()
    base.require(1 <= contexts <= MAX_CONTEXTS, "contexts")
    begins = [reader.u8() for _ in range(contexts - 1)]
    base.require(begins == sorted(begins) and max(begins, default=0) <= 129, "begins of contexts")
    symbols = []
    declared = 0
    for _ in range(contexts):
        count = reader.varint()
        declared += count
        base.require(declared <= wanted, "too many symbols")
        if count == 0:
            symbols.append(iter(()))
            continue
        coding = reader.u8()
        base.require(coding <= 1, "coding of symbols")
        if coding == 1:
            symbols.append(iter(coded_bytes(reader, ZSTD, count)))
        else:
            symbols.append(iter(base.coded_symbols(reader, [], count).tolist()))
    base.require(declared == wanted, "too few symbols")
    return begins, symbols


def residuals(
    reader: base.Reader, width: int, sizes, excluded: list[np.ndarray]
) -> list[list[int]]:
    wanted = sum(int((~mask).sum()) for mask in excluded)
    begins, symbols = context_symbols(reader, wanted)
    raw_data = reader.take(reader.varint())
    raw = int.from_bytes(raw_data, "little")
    raw_at = 0
    grids = []
    for size, mask in zip(sizes, excluded, strict=True):
        nx = size[0]
        lengths: list[int] = []
        found: list[int] = []
        for cell, is_excluded in enumerate(mask.tolist()):
            above = lengths[cell - nx] if cell >= nx else None
            if cell % nx == 0:
                near = 0 if above is None else 2 * above
            else:
                near = lengths[cell - 1] + (lengths[cell - 1] if above is None else above)
            if is_excluded:
                lengths.append(near // 2)
                found.append(0)
                continue
            context = sum(begin <= near for begin in begins)
            symbol = next(symbols[context], None)
            base.require(symbol is not None, "a context ran out of symbols")
            residual = symbol
            if symbol >= 4:
                low = (symbol - 4) // 4
                base.require(low + 3 <= width, "a residual of too many bits")
                residual = (4 | (symbol - 4) % 4) << low | raw >> raw_at & ((1 << low) - 1)
                raw_at += low
            lengths.append(residual.bit_length())
            found.append(residual)
        grids.append(found)
    base.require(all(next(s, None) is None for s in symbols), "symbols left over")
    base.require(base.ceil_div(raw_at, 8) == len(raw_data), "raw bits left over, or too few")
    return grids


def repeat_sources(reader: base.Reader, cells: int) -> dict[int, tuple[int, bool]]:
    """Of each cell in a repeat the cell that predicts it, and whether negated."""
    count = reader.varint()
    base.require(count <= cells // 4, "number of repeats")
    lists = [base.Reader(reader.packed(10 * count)) for _ in range(3)]
    sources = {}
    end = 0
    for _ in range(count):
        gap, code, distance = (each.varint() for each in lists)
        begin = end + gap
        end = begin + code // 4 + 4
        source = begin - distance
        base.require(end <= cells and distance >= 1 and source >= 0, "a repeat beyond the cells")
        for k in range(end - begin):
            at = source - k if code & 2 else source + k
            base.require(at >= 0, "a repeat's source beyond the cells")
            sources[begin + k] = (at, bool(code & 1))
    for each in lists:
        each.end("repeats")
    return sources


def lorenzo(marks: list[int], here: int, at: tuple[int, int, int], subsets, strides) -> int:
    """What the marks behind `here`, at (y, z, w) of its region, predict."""
    prediction = 0
    for chosen in subsets:
        if all(at[d] > 0 for d in chosen):
            back = sum(strides[d] for d in chosen)
            prediction += marks[here - back] * (1 if len(chosen) % 2 else -1)
    return prediction


def append_marks(
    all_marks: list[int],
    found: list[int],
    axes: int,
    size,
    excluded: np.ndarray,
    width: int,
    sources: dict[int, tuple[int, bool]],
) -> None:
    """The marks of a region, behind those of the regions before."""
    nx, ny, nz, nw = size
    offset = len(all_marks)
    modulus = 1 << width
    strides = (nx, nx * ny, nx * ny * nz)
    subsets = [[d for d in range(3) if s >> d & 1] for s in range(1, 8) if (s << 1) & ~axes == 0]
    marks = all_marks
    cell = 0
    for w in range(nw):
        for z in range(nz):
            for y in range(ny):
                before = 0
                for x in range(nx):
                    prediction = lorenzo(marks, offset + cell, (y, z, w), subsets, strides)
                    if excluded[cell]:
                        mark = marks[-1] if cell > 0 else 0
                    else:
                        r = found[cell]
                        difference = r >> 1 ^ (modulus - 1 if r & 1 else 0)
                        if offset + cell in sources:
                            source, is_negated = sources[offset + cell]
                            repeated = marks[source]
                            mark = difference + (modulus - 1 - repeated if is_negated else repeated)
                        else:
                            if axes & 1 and x > 0:
                                difference += before
                            mark = difference + prediction
                        mark %= modulus
                    before = (mark - prediction) % modulus
                    marks.append(mark)
                    cell += 1


def bits_of_marks(marks: np.ndarray, width: int, is_float: bool) -> np.ndarray:
    if not is_float:
        return marks
    top = marks.dtype.type(1 << (width - 1))
    return np.where(marks >= top, marks ^ top, ~marks)


def without_residuals(left_out, special) -> tuple[list[np.ndarray], list[dict[int, float]]]:
    """For each region the cells that no residual stands for, and the special values among them."""
    excluded, patches = [], []
    position = 0
    for mask in left_out:
        positions = np.where(mask, -1, position + np.cumsum(~mask) - 1)
        position += int((~mask).sum())
        patches.append({i: special[p] for i, p in enumerate(positions.tolist()) if p in special})
        out = mask.copy()
        out[list(patches[-1])] = True
        excluded.append(out)
    return excluded, patches


def differences(reader, method: int, dtype: np.dtype, sizes, left_out) -> list[np.ndarray]:
    """Words of all cells of each region; of left-out cells without meaning."""
    word = np.dtype(f"<u{dtype.itemsize}")
    width = 8 * dtype.itemsize
    held = sum(int((~mask).sum()) for mask in left_out)
    kind = exponent = divisor = offset = 0
    is_float = dtype.kind == "f"
    table = np.empty(0, word)
    if method == MULTIPLE:
        kind = reader.u8()
        base.require(kind in (0, 1, 3) if is_float else kind == 2, "kind of unit")
        if is_float:
            exponent = reader.svarint()
            least, most = {0: (-1074, 1023), 1: (1, 18), 3: (0, 18)}[kind]
            base.require(least <= exponent <= most, "exponent of unit")
            divisor = reader.varint() if kind == 3 else 1
            base.require(1 <= divisor < 1 << 53, "steps of unit")
        else:
            divisor, offset = reader.varint(), reader.varint()
            base.require(1 <= divisor < 1 << (width - 1), "divisor")
            base.require(offset < 1 << width, "offset")
    elif method == RANK:
        count = reader.varint()
        base.require(1 <= count <= 65536, "distinct values")
        gaps = from_byte_planes(coded_bytes(reader, ZSTD, count * dtype.itemsize), word, count)
        table = bits_of_marks(np.add.accumulate(gaps, dtype=word), width, is_float)
    flags = reader.u8()
    base.require(flags <= 3, "lossless flags")
    special = base.special_values(reader, dtype, held) if flags & 1 else {}
    axes = reader.u8()
    base.require(axes <= 15, "axes")
    cells = sum(len(mask) for mask in left_out)
    sources = repeat_sources(reader, cells) if flags & 2 else {}
    excluded, patches = without_residuals(left_out, special)
    found = residuals(reader, width, sizes, excluded)
    regions = []
    all_marks: list[int] = []
    for values, size, out, patch in zip(found, sizes, excluded, patches, strict=True):
        begin = len(all_marks)
        append_marks(all_marks, values, axes, size, out, width, sources)
        marks = np.array(all_marks[begin:], word)
        if method == LORENZO:
            words = bits_of_marks(marks, width, is_float)
        elif method == RANK:
            base.require(bool((marks[~out] < len(table)).all()), "rank beyond the table")
            words = table[np.where(out, 0, marks).astype(np.int64)]
        elif not is_float:
            words = np.array([(offset + int(m) * divisor) % (1 << width) for m in marks], word)
        else:
            whole = marks.view(f"<i{dtype.itemsize}").astype(np.float64)
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                values = whole * divisor / 10.0**exponent if kind else np.ldexp(whole, exponent)
                words = values.astype(dtype).view(word)
        words = words.copy()
        for place, value in patch.items():
            words[place] = np.array([value], dtype).view(word)[0]
        regions.append(words)
    return regions


def decode(
    reader: base.Reader, dtype: np.dtype, sizes, left_out: list[np.ndarray]
) -> list[np.ndarray]:
    """The values of each region."""
    word = np.dtype(f"<u{dtype.itemsize}")
    method = reader.u8()
    base.require(1 <= method <= RANK, "lossless method")
    if method >= LORENZO:
        regions = differences(reader, method, dtype, sizes, left_out)
    else:
        held = sum(int((~mask).sum()) for mask in left_out)
        if method in SEGREGATED:
            words = segregated(reader, method, word, held)
        else:
            words = byte_method(reader, method, word, held)
        regions = []
        at = 0
        for mask in left_out:
            region = np.zeros(len(mask), word)
            count = int((~mask).sum())
            region[~mask] = words[at : at + count]
            at += count
            regions.append(region)
    for region, mask in zip(regions, left_out, strict=True):
        values = region.view(dtype)
        last = dtype.type(0)
        for i in np.flatnonzero(mask) if mask.any() else ():
            before = np.flatnonzero(~mask[:i] & np.isfinite(values[:i]))
            last = values[before[-1]] if len(before) else dtype.type(0)
            region[i] = np.array([last], dtype).view(word)[0]
    return [region.view(dtype) for region in regions]
