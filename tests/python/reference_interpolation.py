# SPDX-License-Identifier: BSD-3-Clause
"""Codecs interpolation and context, written from docs/format.md alone: a part of the reference
decoder."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
import reference_decoder as base

SPECIALS = 0x01
MERGED = 0x02  # of codec interpolation
CLASS_ORDER = (1, 2, 4, 3, 5, 6, 7)
ANCHOR_LIMIT = 1 << 21
LISTED_ESCAPES = (1 << 21, -(1 << 31))
STEP_DIVISORS = (1, 1.25, 1.5625, 1.953125, 2)
LISTED = None  # instead of a quantization code


def directions_of(c: int) -> list[int]:
    return [d for d in range(3) if c >> d & 1]


# --- head -----------------------------------------------------------------------------------------


@dataclass
class Model:
    linear: int = 0
    live: int = 0
    weights: dict[int, list[int]] = field(default_factory=dict)  # class -> of its taps


@dataclass
class Head:
    is_merged: bool
    special: dict[int, np.generic]
    models: list[Model]
    anchors: list[int]
    listed: np.ndarray


def taps_of(c: int, live: int) -> list[tuple[int, int, int, int]]:
    """(class, dx, dy, dz), offsets in cells of the level's grid."""
    order = (0, *CLASS_ORDER)
    reach = [range(-3, 4) if live >> d & 1 else range(1) for d in range(3)]
    taps = []
    for dz, dy, dx in product(reach[2], reach[1], reach[0]):
        squared = dx * dx + dy * dy + dz * dz
        of = c ^ (dx & 1 | (dy & 1) << 1 | (dz & 1) << 2)
        if squared == 0:
            continue
        if of == c:
            is_tap = squared <= 4 and (dz < 0 or (dz == 0 and dy < 0))
        else:
            on_axis = sum(o != 0 for o in (dx, dy, dz)) == 1
            is_tap = order.index(of) < order.index(c) and (on_axis or squared <= 2)
        if is_tap:
            taps.append((of, dx, dy, dz))
    return taps


def read_model(reader) -> Model:
    linear, stencils = reader.varint(), reader.u8()
    base.require(linear < 1 << 21 and stencils & 1 == 0, "linear or stencils")
    model = Model(linear)
    if stencils:
        model.live = reader.u8()
        base.require(model.live < 8, "live directions")
    for c in range(1, 8):
        if stencils >> c & 1:
            base.require(c & ~model.live == 0, "stencil in a direction that is not live")
            weights = [reader.svarint() for _ in taps_of(c, model.live)]
            base.require(max(map(abs, weights)) <= 1 << 15, "stencil weight")
            model.weights[c] = weights
    return model


def read_head(reader, dtype: np.dtype, held: int, may_merge: bool) -> Head:
    flags = reader.u8()
    base.require(
        flags & ~(SPECIALS | (MERGED if may_merge else 0)) == 0, "flags of an interpolated section"
    )
    special = base.special_values(reader, dtype, held) if flags & SPECIALS else {}
    levels = reader.u8()
    base.require(levels <= 4, "levels")
    models = [read_model(reader) for _ in range(levels)]
    count = reader.varint()
    base.require(count <= held, "anchors")
    packed = base.Reader(reader.packed(4 * count))
    anchors = [packed.svarint() for _ in range(count)]
    packed.end("anchors")
    base.require(all(-ANCHOR_LIMIT < n <= ANCHOR_LIMIT for n in anchors), "anchor number")
    listed = reader.varint()
    base.require(listed <= held, "listed values")
    return Head(
        bool(flags & MERGED), special, models, anchors, base.exact_values(reader, listed, dtype)
    )


# --- where quantization codes come from -----------------------------------------------------------


@dataclass
class Row:
    """A row of a class about to be decoded; arrays are views of the field, indexed z, y, x."""

    c: int
    y: int
    z: int
    excluded: np.ndarray
    magnitudes: dict[int, np.ndarray]  # class -> all its magnitudes
    signs: np.ndarray  # of the class


class SymbolQuantCodes:
    """Of codec interpolation."""

    def __init__(self, quant_codes: list[int]):
        self.left = iter(quant_codes)

    def of_row(self, row: Row) -> list[int | None]:
        return [0 if excluded else self.next() for excluded in row.excluded]

    def next(self) -> int | None:
        quant_code = next(self.left, None)
        base.require(quant_code is not None, "too few symbols")
        return LISTED if quant_code in LISTED_ESCAPES else quant_code

    def end(self) -> None:
        base.require(next(self.left, None) is None, "symbols left over")


class AdaptiveModel:
    def __init__(self, activity: int):
        ratios = (5, 21, 36, 51, 64, 77, 89, 99, 123, 154, 173, 197)
        r = ratios[activity] if activity < 12 else (173, 197)[activity % 2]
        power = 1 << 20
        g = []
        for i in range(16):
            if i % 2:
                power = power * r // 256
            g.append(power if i < 15 else 2 * power * 256 // (256 - r))
        self.b = [(sum(g[:i]) * 32736 // sum(g) + 2 * i) << 16 for i in range(16)]
        self.n = 0

    def begin(self, i: int) -> int:
        return self.b[i] >> 16 if i < 16 else 1 << 15

    def update(self, s: int) -> None:
        rate = 4 if self.n < 16 else 5 if self.n < 48 else 6 if self.n < 512 else 7
        for i in range(16):
            t = 2 * i if i <= s else (1 << 15) - 2 * (16 - i)
            self.b[i] += ((t << 16) - self.b[i]) >> rate
        self.n += 1


class ContextQuantCodes:
    """Of codec context."""

    def __init__(self, reader):
        self.raw = base.Bits(reader.take(reader.varint()))
        self.x, self.y = reader.unpack("II")
        rest = len(reader.data) - reader.at
        base.require(rest % 2 == 0, "half a word")
        self.words = iter(reader.unpack(f"{rest // 2}H"))
        self.models: dict[tuple[int, int, int, int], AdaptiveModel] = {}

    def end(self) -> None:
        done = next(self.words, None) is None and self.x == self.y == 1 << 16
        base.require(done, "words left over, or a state not at its end")

    def symbol(self, model: AdaptiveModel) -> int:
        slot = self.x % (1 << 15)
        s = max(i for i in range(16) if model.begin(i) <= slot)
        share = model.begin(s + 1) - model.begin(s)
        x = share * (self.x >> 15) + slot - model.begin(s)
        if x < 1 << 16:
            word = next(self.words, None)
            base.require(word is not None, "too few words")
            x = x << 16 | word
        self.x, self.y = self.y, x
        model.update(s)
        return s

    def raw_number(self, bits: int) -> int:
        self.raw.left = max(self.raw.left, bits)  # zeros behind the end
        return self.raw.number(bits)

    def quant_code(self, model: AdaptiveModel, activity: int) -> int | None:
        u = self.symbol(model)
        if u == 15:
            ones = 0
            while ones < 25 and self.raw_number(1):
                ones += 1
            if ones == 25:
                return LISTED
            u = 14 + (1 << ones) + self.raw_number(ones)
        upper = -(u + 1) // 2 if u & 1 else u // 2
        r = 0 if activity < 12 else (activity - 10) // 2
        return upper if r == 0 else (upper << r) + self.raw_number(r) - (1 << (r - 1))

    def of_row(self, row: Row) -> list[int | None]:
        sums, weight = neighbourhood(row)
        own = row.magnitudes[row.c][row.z, row.y]
        signs = row.signs[row.z, row.y]
        directions = len(directions_of(row.c))
        quant_codes: list[int | None] = []
        for x, excluded in enumerate(row.excluded):
            mean = int(sums[x]) * ((1 << 19) // weight) >> 16
            if excluded:
                own[x] = mean // 8
                signs[x] = 0
                quant_codes.append(0)
                continue
            m = mean
            if x > 0:
                m = (int(sums[x]) + 2 * int(own[x - 1])) * ((1 << 19) // (weight + 2)) >> 16
            activity = activity_of(m)
            before = int(signs[x - 1]) if x > 0 else 0
            above = int(row.signs[row.z, row.y - 1, x]) if row.y > 0 else 0
            context = (directions, activity, before, above)
            model = self.models.setdefault(context, AdaptiveModel(activity))
            quant_code = self.quant_code(model, activity)
            own[x] = 16 if quant_code is LISTED else min(abs(quant_code), 255)
            signs[x] = 0 if quant_code is LISTED else np.sign(quant_code)
            quant_codes.append(quant_code)
        return quant_codes


def activity_of(m: int) -> int:
    if m < 8:
        return m
    j = m.bit_length() - 1
    return min(8 + 2 * (j - 3) + (m >> (j - 1) & 1), 23)


def neighbourhood(row: Row) -> tuple[np.ndarray, int]:
    """M of the document for each cell of a row, and W."""
    own = row.magnitudes[row.c]
    width = own.shape[2]
    total = np.zeros(width, np.int64)
    weight = 0
    for d in directions_of(row.c):
        between = row.magnitudes[row.c ^ (1 << d)]
        at = [np.arange(width), np.full(width, row.y), np.full(width, row.z)]
        total += between[at[2], at[1], at[0]]
        at[d] = np.minimum(at[d] + 1, between.shape[2 - d] - 1)
        total += between[at[2], at[1], at[0]]
        weight += 2
    if row.y > 0:
        above = np.pad(own[row.z, row.y - 1], 1, mode="edge")
        total += above[:-2] + 2 * above[1:-1] + above[2:]
        weight += 4
    if row.z > 0:
        total += 2 * own[row.z - 1, row.y]
        weight += 2
    return total, weight


# --- prediction -----------------------------------------------------------------------------------


def weights_of(has_a: bool, has_e: bool, has_f: bool, linear: bool) -> tuple[float, ...]:
    if not has_e:
        return (-0.5, 1.5, 0, 0) if has_a else (0, 1, 0, 0)
    if linear or not (has_a or has_f):
        return (0, 0.5, 0.5, 0)
    if not has_a:
        return (0, 0.375, 0.75, -0.125)
    return (-0.0625, 0.5625, 0.5625, -0.0625) if has_f else (-0.125, 0.75, 0.375, 0)


def interpolate(near: np.ndarray, d: int, width: int, y: int, z: int, linear: bool) -> np.ndarray:
    n = near.shape[2 - d]
    out = np.empty(width, near.dtype)
    for x in range(width):
        at = [x, y, z]
        k = at[d]

        def value(offset: int, at=at, k=k) -> np.generic:
            inside = 0 <= k + offset < n
            where = [k + offset if i == d and inside else at[i] for i in range(3)]
            return near[where[2], where[1], where[0]]

        w = [near.dtype.type(v) for v in weights_of(k > 0, k + 1 < n, k + 2 < n, linear)]
        sum_ = (w[0] * value(-1) + w[1] * value(0)) + w[2] * value(1)
        out[x] = sum_ + w[3] * value(2)
    return out


def blend(p: list[np.ndarray], estimates: list[np.ndarray]) -> np.ndarray:
    if len(p) == 1:
        return p[0]
    T = p[0].dtype.type
    f = [(e + T(0.05)) * (e + T(0.05)) for e in estimates]
    v = [square * square for square in f]
    p1 = p[0]
    if len(p) == 2:
        return p1 + (p[1] - p1) * (v[0] / (v[0] + v[1]))
    if len(p) == 3:
        w1, w2, w3 = v[1] * v[2], v[0] * v[2], v[0] * v[1]
        return p1 + ((p[1] - p1) * w2 + (p[2] - p1) * w3) / ((w1 + w2) + w3)
    first, last = v[0] * v[1], v[2] * v[3]
    w1, w2, w3, w4 = v[1] * last, v[0] * last, first * v[3], first * v[2]
    top = ((p[1] - p1) * w2 + (p[2] - p1) * w3) + (p[3] - p1) * w4
    return p1 + top / ((w1 + w2) + (w3 + w4))


def estimate(errors: np.ndarray, y: int, z: int) -> np.ndarray:
    """Of a row, from the errors of an expert in its class, indexed z, y, x."""
    T = errors.dtype.type
    _, ny, nx = errors.shape

    def row(exists: bool, y: int, z: int) -> np.ndarray:
        return np.pad(errors[z, y], 1, mode="edge") if exists else np.zeros(nx + 2, errors.dtype)

    has_k = z > 0 and y + 1 < ny
    u, h, k = row(y > 0, y - 1, z), row(z > 0, y, z - 1), row(has_k, y + 1, z - 1)
    weight = 4 * (y > 0) + 4 * (z > 0) + has_k
    r = T(1) / T(weight) if weight else T(0)
    near = (u[:-2] + u[2:]) + (h[:-2] + h[2:])
    return ((near + k[1:-1]) + T(2) * (u[1:-1] + h[1:-1])) * r


class FieldDecoder:
    """One field after the other, in order."""

    def __init__(self, dtype: np.dtype, component, head: Head, quant_codes):
        self.T = dtype.type
        self.step = self.T(component.step)
        self.anchor = self.T(component.center)
        self.models = head.models
        self.anchors = iter(head.anchors)
        self.listed = iter(head.listed)
        self.quant_codes = quant_codes

    def next_listed(self) -> np.generic:
        value = next(self.listed, None)
        base.require(value is not None, "too few listed values")
        return value

    def end(self) -> None:
        over = next(self.anchors, None) is not None or next(self.listed, None) is not None
        base.require(not over, "anchors or listed values left over")
        self.quant_codes.end()

    def decode_anchor(self, is_excluded: bool) -> np.generic:
        if not is_excluded:
            number = next(self.anchors, None)
            base.require(number is not None, "too few anchors")
            if number == ANCHOR_LIMIT:
                self.anchor = self.next_listed()
            else:
                self.anchor = self.anchor + self.T(number) * self.step
        return self.anchor

    def decode(self, excluded: np.ndarray, known: dict[int, np.generic]) -> np.ndarray:
        """Values of a field, indexed z, y, x like `excluded`; `known` by number of the cell."""
        values = np.zeros(excluded.shape, self.T)
        is_known = np.zeros(excluded.shape, bool)
        for number, value in known.items():
            values.reshape(-1)[number] = value
            is_known.reshape(-1)[number] = True
        magnitudes = np.zeros(excluded.shape, np.int64)
        signs = np.zeros(excluded.shape, np.int64)
        if not is_known[0, 0, 0]:
            values[0, 0, 0] = self.decode_anchor(bool(excluded[0, 0, 0]))
        for level in reversed(range((max(excluded.shape) - 1).bit_length())):
            model = self.models[level] if level < len(self.models) else Model()

            def classes(whole: np.ndarray, level=level) -> dict[int, np.ndarray]:
                grid = whole[:: 1 << level, :: 1 << level, :: 1 << level]
                return {c: grid[c >> 2 & 1 :: 2, c >> 1 & 1 :: 2, c & 1 :: 2] for c in range(8)}

            parts = [classes(whole) for whole in (values, excluded, is_known, magnitudes, signs)]
            for c in CLASS_ORDER:
                if parts[0][c].size:
                    self.decode_class(level, model, c, *parts)
        return values

    def decode_class(self, level, model, c, values, excluded, is_known, magnitudes, signs) -> None:
        T = self.T
        own = values[c]
        nz, ny, nx = own.shape
        directions = directions_of(c)
        taps = taps_of(c, model.live) if c in model.weights else []
        expert_count = len(directions) + bool(taps)
        errors = [np.zeros(own.shape, T) for _ in range(expert_count)]
        step = self.step / T(STEP_DIVISORS[min(level, 4)])
        for z, y in product(range(nz), range(ny)):
            p = []
            for d in directions:
                linear = bool(model.linear >> (3 * (c - 1) + d) & 1)
                p.append(interpolate(values[c ^ (1 << d)], d, nx, y, z, linear))
            estimates = [estimate(e, y, z) for e in errors]
            prediction = blend(p, estimates[: len(p)]).copy()
            q, has_q = p[0].copy(), np.zeros(nx, bool)
            if taps:
                self.stencil(model.weights[c], taps, c, values, p, (y, z), q, has_q)
                experts = [e[has_q] for e in (*p, q)]
                prediction[has_q] = blend(experts, [e[has_q] for e in estimates])
                p.append(q)
            row = Row(c, y, z, excluded[c][z, y], magnitudes, signs[c])
            quant_codes = self.quant_codes.of_row(row)
            for x, quant_code in enumerate(quant_codes):
                if is_known[c][z, y, x]:
                    continue
                if row.excluded[x]:
                    own[z, y, x] = prediction[x] if np.isfinite(prediction[x]) else T(0)
                elif quant_code is LISTED:
                    own[z, y, x] = self.next_listed()
                else:
                    own[z, y, x] = prediction[x] + T(quant_code) * step
            for of_expert, e in zip(p, errors, strict=True):
                error = np.abs((own[z, y] - of_expert) * (T(1) / self.step))
                e[z, y] = np.where(error < T(100), error, T(100))

    def stencil(self, weights, taps, c, values, p, at, q, has_q) -> None:
        """Sets q, and has_q, in the cells of a row that have all taps."""
        T = self.T
        y, z = at
        for x in range(len(q)):
            cell = (2 * x + (c & 1), 2 * y + (c >> 1 & 1), 2 * z + (c >> 2 & 1))
            tap_values = []
            for of, *offset in taps:
                where = [(i + o) // 2 for i, o in zip(cell, offset, strict=True)]
                inside = all(0 <= w < n for w, n in zip(where, values[of].shape[::-1], strict=True))
                if not inside:
                    break
                tap_values.append(values[of][where[2], where[1], where[0]])
            if len(tap_values) < len(taps):
                continue
            if len(p) == 1:
                m = p[0][x]
            elif len(p) == 2:
                m = T(0.5) * p[0][x] + T(0.5) * p[1][x]
            else:
                t = T(1) / T(3)
                m = (t * p[0][x] + t * p[1][x]) + t * p[2][x]
            sum_ = m
            for weight, value in zip(weights, tap_values, strict=True):
                sum_ = sum_ + (T(weight) / T(256)) * (value - m)
            q[x] = sum_
            has_q[x] = True


def decode(
    reader,
    dtype: np.dtype,
    component,
    shared: list[list[int]],
    sizes: list[list[int]],
    left_out: list[np.ndarray],
    is_context: bool,
    known: list[dict[int, np.generic]],
) -> list[np.ndarray]:
    """The values of each rectangle."""
    with np.errstate(all="ignore"):
        base.usable_grid(component, dtype)
        held = sum(int((~mask).sum()) for mask in left_out)
        head = read_head(reader, dtype, held, not is_context)
        if is_context:
            quant_codes = ContextQuantCodes(reader)
        else:
            quant_codes = symbol_quant_codes(
                reader, shared, held - len(head.special) - len(head.anchors)
            )
        decoder = FieldDecoder(dtype, component, head, quant_codes)
        if head.is_merged:
            base.require(not any(known), "merged rectangles in arrangement nested")
            decoded = decode_merged(decoder, head, dtype, sizes, left_out)
        else:
            decoded = decode_rects(decoder, head, dtype, sizes, left_out, known)
        decoder.end()
        return decoded


def decode_merged(decoder, head, dtype, sizes, left_out) -> list[np.ndarray]:
    """The values of each rectangle, decoded as a part of the one that all of its size make."""
    members: dict[tuple[int, ...], list[int]] = {}
    for number, size in enumerate(sizes):
        if np.prod(size) > 0:
            members.setdefault(tuple(size), []).append(number)
    merged = []
    for size, numbers in members.items():
        whole = list(size)
        whole[max((d for d in range(4) if size[d] > 1), default=0)] *= len(numbers)
        merged.append(whole)
    masks = [np.concatenate([left_out[n] for n in numbers]) for numbers in members.values()]
    decoded = [np.empty(0, dtype)] * len(sizes)
    wholes = decode_rects(decoder, head, dtype, merged, masks, [{}] * len(merged))
    for numbers, values in zip(members.values(), wholes, strict=True):
        for number, part in zip(numbers, np.split(values, len(numbers)), strict=True):
            decoded[number] = part
    return decoded


def decode_rects(decoder, head, dtype, sizes, left_out, known) -> list[np.ndarray]:
    position = 0
    decoded = []
    for size, mask, values_known in zip(sizes, left_out, known, strict=True):
        positions = position + np.cumsum(~mask) - ~mask
        position += int((~mask).sum())
        is_special = np.array([p in head.special for p in positions.tolist()]) & ~mask
        excluded = (mask | is_special).reshape(size[::-1])
        cells = size[0] * size[1] * size[2]
        fields = [
            decoder.decode(
                of_field,
                {n - w * cells: v for n, v in values_known.items() if n // cells == w},
            )
            for w, of_field in enumerate(excluded)
        ]
        values = np.stack(fields).astype(dtype).reshape(-1)
        base.put_special(values, is_special, positions, head.special)
        decoded.append(values)
    return decoded


def symbol_quant_codes(reader, shared, ordinary: int) -> SymbolQuantCodes:
    base.require(ordinary >= 0, "more special values and anchors than values")
    flags = reader.u8()
    base.require(flags < len(base.ZEROS), "flags")
    return SymbolQuantCodes(base.residuals_of(reader, shared, ordinary, base.ZEROS[flags], 0))
