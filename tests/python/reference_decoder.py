# SPDX-License-Identifier: BSD-3-Clause
"""A frame decoder written from docs/format.md alone: slow, plain, and independent of the library.

Its names are the document's. It exists to show that the document is enough, so it must not import
neve, and must not be made to agree with the library where the document says something else.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import reference_axis_passes
import reference_interpolation
import reference_lorenzo_regression
import reference_lossless

ALL_LINEAR, PER_SECTION = 0, 1
PSNR = 4  # the last of the modes asked
LINEAR, CLUSTER, IN_PLACE, NESTED = range(4)
SPLIT, ARRAY, HAS_COARSER = 1, 2, 4
MAX_COARSER_RATIO = 1024
HAS_FILL, LEAVES_OUT_COVERED = 1, 2
DUAL_QUANT, EXACT, CONSTANT, LORENZO_REGRESSION, INTERPOLATION, CONTEXT = range(1, 7)
LOSSLESS, AXIS_PASSES = 7, 8
AXES, SPECIALS, ZERO_GROUPS, ZERO_RUNS = 0x0F, 0x10, 0x20, 0x80
# What a section may have of these two: one, or none.
ZEROS = (0, ZERO_GROUPS, ZERO_RUNS)
LISTED = 15
MAX_TILE_CELLS = 1 << 21
GATHERED_TILE_CELLS = 1 << 16
MAX_ELEMENTS = 1 << 40
DTYPES = ("<f4", "<f8", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8")
MAX_BOUNDING_CELLS = 1 << 61
WORD = 1 << 32


class Refused(Exception):
    """The bytes are not a frame of version 1."""


def require(condition: bool, what: str) -> None:
    if not condition:
        raise Refused(what)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def _library(name: str) -> ctypes.CDLL:
    path = ctypes.util.find_library(name)
    if path is None:
        raise RuntimeError(f"lib{name} is not installed; scripts/bootstrap.sh installs it")
    return ctypes.CDLL(path)


_zstd = _library("zstd")
_zstd.ZSTD_getFrameContentSize.restype = ctypes.c_uint64
_zstd.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.c_char_p,
    ctypes.c_size_t,
]
_xxhash = _library("xxhash")
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3_64(data: bytes) -> int:
    return _xxhash.XXH3_64bits(data, len(data))


def unzstd(data: bytes, size: int) -> bytes:
    require(_zstd.ZSTD_getFrameContentSize(data, len(data)) == size, "zstd frame of another size")
    out = ctypes.create_string_buffer(size)
    require(_zstd.ZSTD_decompress(out, size, data, len(data)) == size, "damaged zstd frame")
    return out.raw[:size]


# --- bytes and bits -------------------------------------------------------------------------------


class Reader:
    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        require(count <= len(self.data) - self.at, "ends too early")
        part = self.data[self.at : self.at + count]
        self.at += count
        return part

    def unpack(self, layout: str) -> tuple:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def u8(self) -> int:
        return self.unpack("B")[0]

    def varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                require(value < 1 << 64, "varint above 64 bits")
                return value
        raise Refused("varint of more than ten bytes")

    def svarint(self) -> int:
        coded = self.varint()
        return -(coded + 1) // 2 if coded & 1 else coded // 2

    def packed(self, most: int) -> bytes:
        packing = self.u8()
        size = self.varint()
        require(size <= most, f"{size} packed bytes, at most {most}")
        if packing == 0:
            return self.take(size)
        require(packing == 1, f"packing {packing}")
        return unzstd(self.take(self.varint()), size)

    def end(self, what: str) -> None:
        require(self.at == len(self.data), f"bytes left over behind {what}")


class Bits:
    """Numbers out of a bit stream, least significant bit first."""

    def __init__(self, data: bytes):
        self.value = int.from_bytes(data, "little")
        self.left = 8 * len(data)

    def number(self, bits: int) -> int:
        require(bits <= self.left, "bit stream ends too early")
        number = self.value & ((1 << bits) - 1)
        self.value >>= bits
        self.left -= bits
        return number


def numbers(data: bytes, bits: int, count: int) -> np.ndarray:
    """`count` numbers of `bits` bits each."""
    require(len(data) == (count * bits + 7) // 8, "bit stream of another length")
    stream = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    weights = np.int64(1) << np.arange(bits, dtype=np.int64)
    return stream[: count * bits].reshape(count, bits).astype(np.int64) @ weights


# --- header ---------------------------------------------------------------------------------------


@dataclass
class Rect:
    lo: list[int]
    size: list[int]

    def cells(self) -> int:
        return int(np.prod(self.size, dtype=object))


@dataclass
class Box:
    lo: list[int]
    size: list[int]
    covered: list[Rect]

    def cells(self) -> int:
        return int(np.prod(self.size, dtype=object))


@dataclass
class Component:
    mode: int
    leaves_out_covered: bool
    value_asked: float
    bound: float
    center: float
    step: float
    max_error: float
    fill: float | None


@dataclass
class Section:
    codec: int
    data: bytes
    arrangement: int = LINEAR
    unit: int = 0
    component: int = 0
    rects: list[tuple[int, Rect]] = field(default_factory=list)


@dataclass
class Region:
    """A rectangle as codecs see it: for each cell its tile's rectangle and the cell there, -1: a
    hole.
    """

    size: list[int]
    rect: np.ndarray
    cell: np.ndarray
    lo: list[int] | None = None  # its place in index space; in place and nested alone


@dataclass
class Frame:
    dtype: np.dtype
    element_count: int
    array_shape: list[int] | None
    split: tuple[int, int] | None
    ndim: int
    arrangement: int
    boxes: list[Box]
    components: list[Component]
    codebooks: list[list[int]]
    sections: list[Section]
    coarser_ratio: list[int] | None


def read_box(body: Reader, ndim: int, before: list[int]) -> Box:
    lo = [before[d] + body.svarint() for d in range(ndim)] + [0] * (4 - ndim)
    require(all(abs(position) <= MAX_ELEMENTS for position in lo), "box too far away")
    size = [body.varint() for _ in range(ndim)] + [1] * (4 - ndim)
    box = Box(lo, size, [])
    require(min(size) >= 1 and box.cells() <= MAX_ELEMENTS, "box size")
    for _ in range(body.varint()):
        rect_lo = [body.varint() for _ in range(ndim)] + [0] * (4 - ndim)
        rect_size = [body.varint() for _ in range(ndim)] + [1] * (4 - ndim)
        inside = all(rect_lo[d] + rect_size[d] <= size[d] for d in range(4))
        require(inside and min(rect_size) >= 1, "covered rectangle outside its box")
        box.covered.append(Rect(rect_lo, rect_size))
    return box


def read_component(body: Reader, dtype: str) -> Component:
    mode, flags, asked, bound, center, step, error = body.unpack("BBddddd")
    require(mode <= PSNR and flags <= (HAS_FILL | LEAVES_OUT_COVERED), "component flags")
    require(np.isfinite(bound) and bound >= 0, "component bound")
    is_float = np.dtype(dtype).kind == "f"
    require(is_float or bound == 0, "bound of integers")
    fill = None
    if flags & HAS_FILL and is_float:
        (fill,) = body.unpack("d")
    elif flags & HAS_FILL:
        limits = np.iinfo(dtype)
        (fill,) = body.unpack("q" if limits.min < 0 else "Q")
        require(limits.min <= fill <= limits.max, "fill value")
    leaves_out = bool(flags & LEAVES_OUT_COVERED)
    return Component(mode, leaves_out, asked, bound, center, step, error, fill)


def read_codebook(reader: Reader) -> list[int]:
    first, last = reader.u8(), reader.u8()
    require(first <= last, "codebook range")
    lengths = [0] * 256
    symbol = first
    half = None
    while symbol <= last:
        if half is None:
            byte = reader.u8()
            nibble, half = byte & 15, byte >> 4
        else:
            nibble, half = half, None
        if 1 <= nibble <= 12:
            lengths[symbol] = nibble
            symbol += 1
        else:
            symbol += {0: 1, 13: 2, 14: 4, 15: 8}[nibble]
    require(symbol == last + 1, "codebook runs past its last symbol")
    used = [n for n in lengths if n]
    full = sum(1 << (12 - n) for n in used) == 1 << 12
    require(full or used == [1], "codebook is no complete prefix code")
    return lengths


def read_section(body: Reader, data: bytes, at: int, per_section: bool, may_nest: bool) -> Section:
    codec = body.u8()
    lie, unit = (body.u8(), body.u8()) if per_section else (LINEAR, 0)
    require(lie <= NESTED and unit in (0, 8, 16, 32, 64), "arrangement of a section")
    require(unit > 0 if lie == CLUSTER else unit == 0 or lie == LINEAR, "unit of a section")
    can_nest = codec in (INTERPOLATION, CONTEXT) and may_nest
    require(lie != NESTED or can_nest, "nested without a coarser level")
    size = body.varint()
    (checksum,) = body.unpack("Q")
    part = data[at : at + size]
    require(len(part) == size and checksum == xxh3_64(part), "section checksum")
    require(DUAL_QUANT <= codec <= AXIS_PASSES, f"codec {codec}")
    return Section(codec, part, lie, unit)


def read_shape(body: Reader, element_count: int) -> list[int]:
    rank = body.varint()
    require(rank <= 32, "array rank")
    shape = [body.varint() for _ in range(rank)]
    require(int(np.prod(shape, dtype=object)) == element_count, "array shape")
    return shape


def read_ratio(body: Reader, ndim: int) -> list[int]:
    ratio = [body.varint() for _ in range(ndim)] + [1] * (4 - ndim)
    require(all(1 <= r <= MAX_COARSER_RATIO for r in ratio), "refinement")
    return ratio


def read_boxes(body: Reader, ndim: int, count: int) -> list[Box]:
    boxes: list[Box] = []
    for _ in range(count):
        boxes.append(read_box(body, ndim, boxes[-1].lo if boxes else [0] * 4))
    return boxes


def read_body(data: bytes, header_bytes: int) -> Reader:
    (checksum,) = struct.unpack("<Q", data[header_bytes - 8 : header_bytes])
    require(checksum == xxh3_64(data[: header_bytes - 8]), "header checksum")
    packed = Reader(data[40 : header_bytes - 8])
    body = Reader(packed.packed(64 * (header_bytes - 8) + (1 << 20)))
    packed.end("body")
    return body


def parse(data: bytes) -> Frame:
    require(len(data) >= 40, "shorter than a prefix")
    fields = struct.unpack("<4sHBBIBBHQQII", data[:40])
    magic, version, dtype, ndim, header_bytes, arrangement, flags = fields[:7]
    components, frame_bytes, element_count, box_count, section_count = fields[7:]
    require(magic == b"NEVE", "magic")
    require(version == 1, f"version {version}")
    require(48 <= header_bytes <= frame_bytes <= len(data), "sizes")
    data = data[:frame_bytes]
    body = read_body(data, header_bytes)
    require(dtype < len(DTYPES) and 1 <= ndim <= 4 and components >= 1, "prefix")
    require(arrangement <= PER_SECTION and flags < 2 * HAS_COARSER, "arrangement or flags")
    require(element_count <= MAX_ELEMENTS, "element count")
    require(box_count >= 1 or (bool(flags & ARRAY) and element_count == 0), "no boxes")

    shape = read_shape(body, element_count) if flags & ARRAY else None
    split = None
    if flags & SPLIT:
        split = (body.varint(), body.varint())
        require(box_count == 1, "split of several boxes")
    ratio = read_ratio(body, ndim) if flags & HAS_COARSER else None
    boxes = read_boxes(body, ndim, box_count)
    held = sum(box.cells() for box in boxes) * components
    if split is not None:
        require(split[1] >= 1 and split[0] + split[1] <= held, "split range")
        held = split[1]
    require(held <= element_count, "more elements held than there are")
    component_list = [read_component(body, DTYPES[dtype]) for _ in range(components)]
    codebooks = [read_codebook(body) for _ in range(body.varint())]
    sections = []
    at = header_bytes
    for _ in range(section_count):
        section = read_section(body, data, at, arrangement == PER_SECTION, ratio is not None)
        of_integers = section.codec in (EXACT, CONSTANT, LOSSLESS)
        require(dtype <= 1 or of_integers, f"codec {section.codec} of integers")
        sections.append(section)
        at += len(section.data)
    require(at == frame_bytes, "bytes behind the last section")
    body.end("sections")
    frame = Frame(
        np.dtype(DTYPES[dtype]),
        element_count,
        shape,
        split,
        ndim,
        arrangement,
        boxes,
        component_list,
        codebooks,
        sections,
        ratio,
    )
    tiled = list(tiles(frame))
    require(len(tiled) == section_count, "section count")
    for section, (component, rects) in zip(sections, tiled, strict=True):
        section.component, section.rects = component, rects
    return frame


# --- tiles ----------------------------------------------------------------------------------------


def pieces(rect: Rect) -> list[Rect]:
    p = list(rect.size)
    while int(np.prod(p, dtype=object)) > MAX_TILE_CELLS:
        longest = max(range(4), key=lambda d: (p[d] // 16 if d == 0 else p[d], d))
        p[longest] = (p[longest] + 1) // 2
    found = []
    for w in range(0, rect.size[3], p[3]):
        for z in range(0, rect.size[2], p[2]):
            for y in range(0, rect.size[1], p[1]):
                for x in range(0, rect.size[0], p[0]):
                    at = [x, y, z, w]
                    lo = [rect.lo[d] + at[d] for d in range(4)]
                    size = [min(p[d], rect.size[d] - at[d]) for d in range(4)]
                    found.append(Rect(lo, size))
    return found


def layers(slab: Rect, d: int, first: int, count: int) -> Rect:
    part = Rect(list(slab.lo), list(slab.size))
    part.lo[d] += first
    part.size[d] = count
    return part


def ranges(slab: Rect, d: int, begin: int, end: int) -> list[Rect]:
    if begin >= end:
        return []
    if d == 0:
        return [layers(slab, 0, begin, end - begin)]
    below = int(np.prod(slab.size[:d], dtype=object))
    first, last = begin // below, end // below
    if first == last:
        return ranges(layers(slab, d, first, 1), d - 1, begin - first * below, end - first * below)
    found = []
    whole = first
    if begin > first * below:
        found += ranges(layers(slab, d, first, 1), d - 1, begin - first * below, below)
        whole = first + 1
    if last > whole:
        found.append(layers(slab, d, whole, last - whole))
    return found + ranges(layers(slab, d, last, 1), d - 1, 0, end - last * below)


def tiles(frame: Frame):
    """(component, rectangles as (box, Rect)) of each section."""
    if frame.split is not None:
        begin, count = frame.split
        box = frame.boxes[0]
        n = box.cells()
        for component in range(len(frame.components)):
            start = max(0, begin - component * n)
            stop = min(n, begin + count - component * n)
            open_tile: list[tuple[int, Rect]] = []
            for rect in ranges(Rect([0] * 4, box.size), 3, start, stop):
                for piece in pieces(rect):
                    filled = sum(r.cells() for _, r in open_tile)
                    if open_tile and filled + piece.cells() > MAX_TILE_CELLS:
                        yield component, open_tile
                        open_tile = []
                    open_tile.append((0, piece))
            if open_tile:
                yield component, open_tile
        return

    found: list[list[tuple[int, Rect]]] = []
    open_tile = []
    filled = 0
    for number, box in enumerate(frame.boxes):
        whole = Rect([0] * 4, box.size)
        too_many = filled + box.cells() > MAX_TILE_CELLS
        if open_tile and too_many:
            found.append(open_tile)
            open_tile, filled = [], 0
        if box.cells() > MAX_TILE_CELLS:
            found += [[(number, piece)] for piece in pieces(whole)]
            continue
        open_tile.append((number, whole))
        filled += box.cells()
        if filled >= GATHERED_TILE_CELLS and frame.arrangement == ALL_LINEAR:
            found.append(open_tile)
            open_tile, filled = [], 0
    if open_tile:
        found.append(open_tile)
    for component in range(len(frame.components)):
        for tile in found:
            yield component, tile


# --- arrangements ---------------------------------------------------------------------------------


def part_cells(rect: Rect, lo: list[int], size: list[int]) -> np.ndarray:
    """Numbers, in their rectangle, of the cells of a part of it."""
    numbered = np.arange(rect.cells()).reshape(rect.size[::-1])
    (x, y, z, w), (nx, ny, nz, nw) = lo, size
    return numbered[w : w + nw, z : z + nz, y : y + ny, x : x + nx]


class OpenRegion:
    def __init__(self, size: list[int], lo: list[int] | None = None):
        self.size = size
        self.lo = lo
        self.rect = np.full(size[::-1], -1)
        self.cell = np.full(size[::-1], -1)

    def add(self, number: int, cells: np.ndarray, to: list[int]) -> None:
        nw, nz, ny, nx = cells.shape
        x, y, z, w = to
        place = np.s_[w : w + nw, z : z + nz, y : y + ny, x : x + nx]
        self.rect[place] = number
        self.cell[place] = cells

    def close(self) -> Region:
        return Region(self.size, self.rect.reshape(-1), self.cell.reshape(-1), self.lo)


def whole_region(number: int, rect: Rect) -> Region:
    return Region(rect.size, np.full(rect.cells(), number), np.arange(rect.cells()))


def unit_blocks(frame: Frame, section: Section):
    """(rectangle number, first cell, size) of each unit block."""
    for number, (_, rect) in enumerate(section.rects):
        steps = [section.unit if d < frame.ndim else 1 for d in range(4)]
        for w in range(0, rect.size[3], steps[3]):
            for z in range(0, rect.size[2], steps[2]):
                for y in range(0, rect.size[1], steps[1]):
                    for x in range(0, rect.size[0], steps[0]):
                        lo = [x, y, z, w]
                        size = [min(steps[d], rect.size[d] - lo[d]) for d in range(4)]
                        yield number, lo, size


def block_region(section: Section, number: int, lo: list[int], size: list[int]) -> Region:
    region = OpenRegion(size)
    region.add(number, part_cells(section.rects[number][1], lo, size), [0] * 4)
    return region.close()


def cluster(frame: Frame, section: Section) -> list[Region]:
    full = [section.unit] * frame.ndim + [1] * (4 - frame.ndim)
    blocks = list(unit_blocks(frame, section))
    stacked = [block for block in blocks if block[2] == full]
    others = [block_region(section, *block) for block in blocks if block[2] != full]
    if not stacked:
        return others
    k = [1] * 4
    left = len(stacked)
    for d in range(frame.ndim):
        while k[d] ** (frame.ndim - d) < left:
            k[d] += 1
        left = ceil_div(left, k[d])
    region = OpenRegion([k[d] * full[d] for d in range(4)])
    for i, (number, lo, size) in enumerate(stacked):
        to = []
        for d in range(4):
            i, place = divmod(i, k[d])
            to.append(place * full[d])
        region.add(number, part_cells(section.rects[number][1], lo, size), to)
    return [region.close(), *others]


def bounding_box(places: list[tuple[list[int], list[int]]]) -> tuple[list[int], list[int]]:
    lo = [min(first[d] for first, _ in places) for d in range(4)]
    end = [max(first[d] + size[d] for first, size in places) for d in range(4)]
    return lo, [end[d] - lo[d] for d in range(4)]


def bounding_cells(places: list[tuple[list[int], list[int]]]) -> int:
    return min(MAX_BOUNDING_CELLS, int(np.prod(bounding_box(places)[1], dtype=object)))


def in_place(frame: Frame, section: Section, numbers: list[int]) -> list[Region]:
    rects = [section.rects[number] for number in numbers]
    places = [
        ([frame.boxes[box].lo[d] + rect.lo[d] for d in range(4)], rect.size) for box, rect in rects
    ]
    if len(rects) == 1:
        region = whole_region(numbers[0], rects[0][1])
        region.lo = places[0][0]
        return [region]
    lo, size = bounding_box(places)
    cells = sum(rect.cells() for _, rect in rects)
    if bounding_cells(places) <= 2 * cells:
        region = OpenRegion(size, lo)
        for number, (first, _), (_, rect) in zip(numbers, places, rects, strict=True):
            to = [first[d] - lo[d] for d in range(4)]
            region.add(number, part_cells(rect, [0] * 4, rect.size), to)
        if int((region.rect >= 0).sum()) == cells:
            return [region.close()]
    longest = max(range(4), key=lambda d: (size[d], d))
    order = sorted(range(len(places)), key=lambda r: places[r][0][longest])
    m = len(order)
    q = max(1, m // 4)

    def cost(i: int) -> tuple[int, int, int]:
        parts = order[:i], order[i:]
        both = sum(bounding_cells([places[r] for r in part]) for part in parts)
        return both, abs(2 * i - m), i

    i = min(range(q, m - q + 1), key=cost)
    first, second = ([numbers[r] for r in part] for part in (order[:i], order[i:]))
    return in_place(frame, section, first) + in_place(frame, section, second)


def with_margin(frame: Frame, region: Region) -> Region:
    grown = [size + 5 if d < frame.ndim else size for d, size in enumerate(region.size)]
    if np.prod(grown, dtype=object) > 8 * np.prod(region.size, dtype=object):
        return region
    lo = [region.lo[d] - (2 if d < frame.ndim else 0) for d in range(4)]
    around = [(2, 3) if d < frame.ndim else (0, 0) for d in (3, 2, 1, 0)]
    rect = np.pad(region.rect.reshape(region.size[::-1]), around, constant_values=-1)
    cell = np.pad(region.cell.reshape(region.size[::-1]), around, constant_values=-1)
    return Region(list(rect.shape[::-1]), rect.reshape(-1), cell.reshape(-1), lo)


def regions(frame: Frame, section: Section) -> list[Region]:
    if section.arrangement == CLUSTER:
        return cluster(frame, section)
    if section.arrangement == IN_PLACE:
        return in_place(frame, section, list(range(len(section.rects))))
    if section.arrangement == NESTED:
        inner = in_place(frame, section, list(range(len(section.rects))))
        return [with_margin(frame, region) for region in inner]
    if section.unit > 0:
        return [block_region(section, *block) for block in unit_blocks(frame, section)]
    return [whole_region(number, rect) for number, (_, rect) in enumerate(section.rects)]


# --- sections -------------------------------------------------------------------------------------


def covered_mask(box: Box, rect: Rect) -> np.ndarray:
    """Of the rectangle's cells, in its order."""
    mask = np.zeros(box.size[::-1], bool)
    for covered in box.covered:
        (x, y, z, w), (nx, ny, nz, nw) = covered.lo, covered.size
        mask[w : w + nw, z : z + nz, y : y + ny, x : x + nx] = True
    (x, y, z, w), (nx, ny, nz, nw) = rect.lo, rect.size
    return mask[w : w + nw, z : z + nz, y : y + ny, x : x + nx].reshape(-1)


def left_out_cells(frame: Frame, section: Section, reader: Reader) -> list[np.ndarray]:
    masks = [np.zeros(rect.cells(), bool) for _, rect in section.rects]
    if not frame.components[section.component].leaves_out_covered:
        return masks
    masks = [covered_mask(frame.boxes[box], rect) for box, rect in section.rects]
    places = [(m, i) for m, mask in enumerate(masks) for i in np.flatnonzero(mask)]
    kept = reader.varint()
    require(kept <= len(places), "more kept cells than covered ones")
    if kept > 0:
        gaps = Reader(reader.packed(10 * kept))
        number = 0
        for _ in range(kept):
            number += gaps.varint()
            require(number < len(places), "kept cell past the covered ones")
            mask, cell = places[number]
            masks[mask][cell] = False
            number += 1
    return masks


def exact_values(reader: Reader, count: int, dtype: np.dtype) -> np.ndarray:
    values = np.empty((count, dtype.itemsize), np.uint8)
    for k in range(dtype.itemsize):
        plane = reader.packed(count)
        require(len(plane) == count, "byte plane of another size")
        values[:, k] = np.frombuffer(plane, np.uint8)
    return values.reshape(-1).view(dtype)


def decode_constant(reader: Reader, dtype: np.dtype, left_out: list[np.ndarray]):
    value = np.frombuffer(reader.take(dtype.itemsize), dtype)[0]
    outside = value if np.isfinite(value) else dtype.type(0)
    return [np.where(mask, outside, value).astype(dtype) for mask in left_out]


def decode_exact(reader: Reader, dtype: np.dtype, left_out: list[np.ndarray]):
    values = exact_values(reader, sum(int((~mask).sum()) for mask in left_out), dtype)
    at = 0
    decoded = []
    for mask in left_out:
        out = np.empty(len(mask), dtype)
        last = dtype.type(0)
        for i, is_left_out in enumerate(mask):
            if is_left_out:
                out[i] = last
                continue
            out[i] = values[at]
            if np.isfinite(values[at]):
                last = values[at]
            at += 1
        decoded.append(out)
    return decoded


def special_values(
    reader: Reader, dtype: np.dtype, held: int, listed_positions: set[int] | None = None
) -> dict[int, np.generic]:
    """Held position -> value. Those of listed values are added to listed_positions."""
    patterns = reader.u8()
    require(patterns <= 15, "patterns")
    pattern_values = np.frombuffer(reader.take(patterns * dtype.itemsize), dtype)
    runs = reader.varint()
    require(runs <= held, "special runs")
    run_list = Reader(reader.packed(min(20 * runs, 2 * held + 20)))
    listed_count = reader.varint()
    require(listed_count <= held, "listed values")
    listed = exact_values(reader, listed_count, dtype)
    special = {}
    at = 0
    next_listed = 0
    for _ in range(runs):
        at += run_list.varint()
        length, pattern = divmod(run_list.varint(), 16)
        require(length >= 1 and at + length <= held, "special run outside the held cells")
        require(pattern == LISTED or pattern < patterns, "special pattern")
        for position in range(at, at + length):
            if pattern == LISTED:
                require(next_listed < listed_count, "too few listed values")
                special[position] = listed[next_listed]
                next_listed += 1
                if listed_positions is not None:
                    listed_positions.add(position)
            else:
                special[position] = pattern_values[pattern]
        at += length
    require(next_listed == listed_count, "listed values left over")
    run_list.end("special runs")
    return special


def code_table(lengths: list[int]) -> dict[tuple[int, int], int]:
    """(length, code) -> symbol."""
    table = {}
    code = 0
    for length in range(1, 13):
        for symbol, n in enumerate(lengths):
            if n == length:
                table[length, code] = symbol
                code += 1
        code <<= 1
    return table


def coded_symbols(reader: Reader, shared: list[list[int]], count: int) -> np.ndarray:
    codebooks = reader.u8()
    require(1 <= codebooks <= 4, "codebooks of a section")
    tables = []
    for _ in range(codebooks):
        reference = reader.varint()
        require(reference <= len(shared), "reference to a shared codebook")
        tables.append(code_table(shared[reference - 1] if reference else read_codebook(reader)))
    blocks = ceil_div(count, 256)
    block_codebook = np.zeros(blocks, np.int64)
    if codebooks > 1:
        ids = reader.packed(ceil_div(blocks, 4))
        require(len(ids) == ceil_div(blocks, 4), "codebook numbers of another size")
        padded = 4 * len(ids)
        block_codebook = numbers(ids, 2, padded)[:blocks]
        require(int(block_codebook.max()) < codebooks, "codebook number")
    streams = 1 if count < 1024 else 4
    m = 256 * ceil_div(ceil_div(count, streams), 256)
    sizes = [reader.varint() for _ in range(streams)]
    symbols = np.empty(count, np.int64)
    for s, size in enumerate(sizes):
        bits = np.unpackbits(np.frombuffer(reader.take(size), np.uint8), bitorder="little")
        bits = bits.tolist()
        at = 0
        for i in range(min(s * m, count), min((s + 1) * m, count)):
            table = tables[block_codebook[i // 256]]
            if len(table) == 1:
                require(at < len(bits), "symbol stream ends too early")
                at += 1
                symbols[i] = next(iter(table.values()))
                continue
            code = 0
            for length in range(1, 13):
                require(at < len(bits), "symbol stream ends too early")
                code = code << 1 | bits[at]
                at += 1
                if (length, code) in table:
                    symbols[i] = table[length, code]
                    break
    return symbols


def read_escapes(reader: Reader, ordinary: int) -> list[int]:
    count = reader.varint()
    require(count <= ordinary, "escapes")
    if count == 0:
        return []
    widths = reader.packed(count)
    require(len(widths) == count and max(widths) <= 32, "escape widths")
    bits = Bits(reader.take((sum(width - 1 for width in widths if width > 1) + 7) // 8))
    escapes = []
    for width in widths:
        z = 0 if width == 0 else (1 << (width - 1)) + bits.number(width - 1)
        escapes.append(-(z + 1) // 2 if z & 1 else z // 2)
    return escapes


def put_special(values: np.ndarray, is_special, positions, special: dict) -> None:
    """Special values, by their numbers among those held, into a rectangle's cells, bit for bit."""
    word = np.dtype(f"<u{values.dtype.itemsize}")
    for cell in np.flatnonzero(is_special):
        value = np.asarray(special[int(positions[cell])], values.dtype)
        values.view(word)[cell] = value.view(word)


def without_runs(symbols, ordinary: int) -> list[int]:
    out: list[int] = []
    weight = 1
    for symbol in symbols:
        if symbol == 128 or 1 <= symbol <= 7:
            run = weight * (1 if symbol == 128 else int(symbol) + 1)
            require(run <= ordinary - len(out), "zero runs behind the end")
            out += [128] * run
            weight *= 8
        else:
            out.append(int(symbol))
            weight = 1
    require(len(out) == ordinary, "zero runs of another length")
    return out


def residuals_of(reader: Reader, shared, ordinary: int, flags: int, shift: int) -> list:
    symbols = np.full(ordinary, 128, np.int64)
    coded = np.ones(ordinary, bool)
    if flags & ZERO_RUNS:
        count = reader.varint()
        require(count <= ordinary, "symbols beside zero runs")
        left = coded_symbols(reader, shared, count) if count else []
        symbols = np.array(without_runs(left, ordinary), np.int64)
        coded[:] = False
    if flags & ZERO_GROUPS:
        bitmap = reader.packed(ordinary // 128 + 1)
        groups = ceil_div(ordinary, 16)
        require(len(bitmap) == ceil_div(groups, 8), "bitmap of zero groups")
        kept = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")[:groups]
        coded = np.repeat(kept.astype(bool), 16)[:ordinary]
    if coded.any():
        symbols[coded] = coded_symbols(reader, shared, int(coded.sum()))
    escapes = read_escapes(reader, ordinary)
    low_bytes = reader.take((ordinary * shift + 7) // 8)
    low = numbers(low_bytes, shift, ordinary) if shift else np.zeros(ordinary, np.int64)
    high = symbols - 128
    escaped = np.flatnonzero(symbols == 0)
    require(len(escaped) <= len(escapes), "too few escapes")
    high[escaped] = escapes[: len(escaped)]
    return ((high << shift) + low).tolist()


def usable_grid(component: Component, dtype: np.dtype) -> tuple:
    """Step and center of a component's quantization, in the data's own type."""
    with np.errstate(all="ignore"):
        step, center = dtype.type(component.step), dtype.type(component.center)
        usable = step > 0 and np.isfinite([step, 1 / step, center]).all()
    require(bool(usable), "step or center")
    return step, center


@dataclass
class Stored:
    """What a section of dual_quant holds, region after region."""

    residuals: Iterator[int]
    special: dict[int, float]
    position: int = 0  # of the next value among those held


def first_before(rows: dict, y: int, z: int, w: int, nz: int) -> int:
    """The first value of the row, plane or volume before: what a first cell without value holds."""
    if y > 0:
        return rows[y - 1, z, w][0]
    if z > 0:
        return rows[0, z - 1, w][0]
    return rows[0, nz - 1, w - 1][0] if w > 0 else 0


def quantized_rows(size, mask, axes: int, subsets, stored: Stored) -> tuple[dict, dict]:
    """The rows of a region, by (y, z, w), and its special values by cell."""
    nx, ny, nz, nw = size
    zero_row = [0] * nx
    rows: dict[tuple[int, int, int], list[int]] = {}
    patches: dict[int, float] = {}
    cell = 0
    for w, z, y in itertools.product(range(nw), range(nz), range(ny)):
        neighbours = [0] * nx
        for (oy, oz, ow), sign in subsets:
            before = rows.get((y - oy, z - oz, w - ow), zero_row)
            neighbours = [n + sign * q for n, q in zip(neighbours, before, strict=True)]
        behind = (axes & 2 and y > 0) or (axes & 4 and z > 0) or (axes & 8 and w > 0)
        along_x = bool(axes & 1) or (axes != 0 and not behind)
        hold = first_before(rows, y, z, w, nz)
        row = []
        for x in range(nx):
            is_special = not mask[cell] and stored.position in stored.special
            if is_special:
                patches[cell] = stored.special[stored.position]
            if not mask[cell] and not is_special:
                q = neighbours[x] + next(stored.residuals)
                if along_x and x > 0:
                    q += row[x - 1] - neighbours[x - 1]
                hold = q % WORD
            row.append(hold)
            stored.position += not mask[cell]
            cell += 1
        rows[y, z, w] = row
    return rows, patches


def decode_dual_quant(
    reader: Reader,
    frame: Frame,
    section: Section,
    regions: list[Region],
    left_out: list[np.ndarray],
):
    dtype = frame.dtype
    component = frame.components[section.component]
    step, center = usable_grid(component, dtype)

    flags, shift = reader.u8(), reader.u8()
    origin = reader.svarint()
    require(flags & ~(AXES | SPECIALS) in ZEROS and shift <= 24, "dual_quant flags or shift")
    require(abs(origin) < 1 << 28, "origin")
    axes = flags & AXES
    held = sum(int((~mask).sum()) for mask in left_out)
    special = special_values(reader, dtype, held) if flags & SPECIALS else {}
    ordinary = held - len(special)
    residuals = residuals_of(reader, frame.codebooks, ordinary, flags, shift)

    subsets = []  # (offsets in y, z, w; sign)
    for s in range(1, 8):
        if (s << 1) & ~axes == 0:
            offsets = (s & 1, s >> 1 & 1, s >> 2 & 1)
            subsets.append((offsets, 1 if sum(offsets) % 2 else -1))
    stored = Stored(iter(residuals), special)
    decoded = []
    for region, mask in zip(regions, left_out, strict=True):
        rows, patches = quantized_rows(region.size, mask, axes, subsets, stored)
        q = np.array([v for row in rows.values() for v in row], np.int64)
        quant_codes = ((q + origin) % WORD).astype(np.uint32).view(np.int32)
        with np.errstate(over="ignore"):
            values = quant_codes.astype(dtype) * step + center
        for place, value in patches.items():
            values[place] = value
        decoded.append(values)
    return decoded


def known_values(frame: Frame, section: Section, section_regions, left_out, coarser):
    """For each region of a nested section its left-out cells' values from the coarser level, by
    number; else nothing.
    """
    if section.arrangement != NESTED:
        return [{} for _ in section_regions]
    require(coarser is not None, "the coarser level is needed")
    T = frame.dtype.type
    fill = frame.components[section.component].fill

    @functools.cache
    def usable(cell: tuple[int, ...]) -> np.generic | None:
        value = coarser(section.component, cell)
        if value is None or not np.isfinite(value):
            return None
        is_fill = fill is not None and T(value).tobytes() == T(fill).tobytes()
        return None if is_fill else T(value)

    def prolonged(cell: list[int]) -> np.generic | None:
        home = usable(tuple(i // r for i, r in zip(cell, frame.coarser_ratio, strict=True)))
        if home is None:
            return None
        place = [
            divmod(2 * i + 1 - r, 2 * r) for i, r in zip(cell, frame.coarser_ratio, strict=True)
        ]

        def along(d: int, at: tuple[int, ...]) -> np.generic:
            if d < 0:
                value = usable(at)
                return home if value is None else value
            below, rest = place[d]
            a = along(d - 1, (below, *at))
            if rest == 0:
                return a
            b = along(d - 1, (below + 1, *at))
            return a + (b - a) * (T(rest) / T(2 * frame.coarser_ratio[d]))

        value = along(3, ())
        return value if np.isfinite(value) else None

    known = []
    for region, mask in zip(section_regions, left_out, strict=True):
        of_region = {}
        for number in np.flatnonzero(mask).tolist():
            left = number
            cell = []
            for d in range(4):
                left, inside = divmod(left, region.size[d])
                cell.append(region.lo[d] + inside)
            value = prolonged(cell)
            if value is not None:
                of_region[number] = value
        known.append(of_region)
    return known


def decode_section(reader, frame, section, section_regions, left_out, coarser) -> list[np.ndarray]:
    if section.codec == CONSTANT:
        return decode_constant(reader, frame.dtype, left_out)
    if section.codec == EXACT:
        return decode_exact(reader, frame.dtype, left_out)
    sizes = [region.size for region in section_regions]
    if section.codec == LOSSLESS:
        return reference_lossless.decode(reader, frame.dtype, sizes, left_out)
    if section.codec == DUAL_QUANT:
        return decode_dual_quant(reader, frame, section, section_regions, left_out)
    component = frame.components[section.component]
    taken = (reader, frame.dtype, component, frame.codebooks, sizes, left_out)
    if section.codec == LORENZO_REGRESSION:
        return reference_lorenzo_regression.decode(*taken)
    if section.codec == AXIS_PASSES:
        return reference_axis_passes.decode(*taken)
    known = known_values(frame, section, section_regions, left_out, coarser)
    return reference_interpolation.decode(*taken, section.codec == CONTEXT, known)


def decode(data: bytes, coarser=None) -> np.ndarray:
    """All elements of a frame; in the array's shape when it is one. coarser(component, cell) is the
    value of a cell of the next coarser level, None where it holds none.
    """
    frame = parse(data)
    out = np.zeros(frame.element_count, frame.dtype)
    box_begin = np.cumsum([0] + [b.cells() * len(frame.components) for b in frame.boxes])
    split_begin = frame.split[0] if frame.split else 0
    for section in frame.sections:
        reader = Reader(section.data)
        tile_left_out = left_out_cells(frame, section, reader)
        section_regions = regions(frame, section)
        left_out = []
        for region in section_regions:
            mask = region.rect < 0
            for number, tile_mask in enumerate(tile_left_out):
                mine = region.rect == number
                mask[mine] = tile_mask[region.cell[mine]]
            left_out.append(mask)
        decoded = decode_section(reader, frame, section, section_regions, left_out, coarser)
        reader.end("section")
        in_rects = [np.empty(rect.cells(), frame.dtype) for _, rect in section.rects]
        word = np.dtype(f"<u{frame.dtype.itemsize}")  # a value's bits, not its number: NaN payloads
        for region, values in zip(section_regions, decoded, strict=True):
            for number, of_rect in enumerate(in_rects):
                mine = region.rect == number
                of_rect.view(word)[region.cell[mine]] = values.view(word)[mine]
        for (number, rect), values in zip(section.rects, in_rects, strict=True):
            box = frame.boxes[number]
            numbered = np.arange(box.cells(), dtype=np.int64).reshape(box.size[::-1])
            (x, y, z, w), (nx, ny, nz, nw) = rect.lo, rect.size
            cells = numbered[w : w + nw, z : z + nz, y : y + ny, x : x + nx].reshape(-1)
            place = int(box_begin[number]) + section.component * box.cells() - split_begin
            out.view(word)[place + cells] = values.view(word)
    return out if frame.array_shape is None else out.reshape(frame.array_shape)
