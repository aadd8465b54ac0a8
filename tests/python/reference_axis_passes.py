# SPDX-License-Identifier: BSD-3-Clause
"""Codec axis_passes, written from docs/format.md alone: a part of the reference decoder."""

from __future__ import annotations

from itertools import product

import numpy as np
import reference_decoder as base
from reference_interpolation import weights_of

SPECIALS, ZERO_RUNS = 1, 2
LISTED = -(1 << 31)
WORD = 1 << 32


def signed(code: int) -> int:
    code %= WORD
    return code - WORD if code >= WORD // 2 else code


class Decoder:
    def __init__(self, reader, dtype: np.dtype, component, shared, held: int):
        self.T = dtype.type
        step, center = base.usable_grid(component, dtype)
        self.step, self.center = self.T(step), self.T(center)
        flags = reader.u8()
        base.require(flags & ~(SPECIALS | ZERO_RUNS) == 0, "axis_passes flags")
        self.special = base.special_values(reader, dtype, held) if flags & SPECIALS else {}
        ordinary = held - len(self.special)
        self.levels = reader.u8()
        base.require(self.levels <= 16, "levels")
        order = reader.u8()
        self.order = [order >> 2 * k & 3 for k in range(4)]
        base.require(sorted(self.order) == [0, 1, 2, 3], "order of directions")
        self.linear = [reader.u8() for _ in range(self.levels)]
        base.require(all(bits < 16 for bits in self.linear), "linear")
        listed = reader.varint()
        base.require(listed <= ordinary, "listed values")
        values = base.exact_values(reader, listed, dtype)
        base.require(bool(np.isfinite(values).all()), "a listed value that is not finite")
        self.listed = iter(values)
        coded = reader.varint() if flags & ZERO_RUNS else ordinary
        base.require(coded <= ordinary, "coded symbols")
        symbols = list(base.coded_symbols(reader, shared, coded)) if coded else []
        if flags & ZERO_RUNS:
            symbols = base.without_runs(symbols, ordinary)
        escapes = iter(base.read_escapes(reader, ordinary))
        self.residuals = iter(self.residuals_of(symbols, escapes))
        self.first_code = 0

    @staticmethod
    def residuals_of(symbols, escapes) -> list[int]:
        out = []
        for symbol in symbols:
            residual = next(escapes, None) if symbol == 0 else int(symbol) - 128
            base.require(residual is not None, "too few escapes")
            out.append(int(residual))
        return out

    def next_residual(self) -> int:
        residual = next(self.residuals, None)
        base.require(residual is not None, "too few symbols")
        return residual

    def next_listed(self) -> np.generic:
        value = next(self.listed, None)
        base.require(value is not None, "too few listed values")
        return value

    def end(self) -> None:
        left = next(self.residuals, None) is not None or next(self.listed, None) is not None
        base.require(not left, "symbols or listed values left over")

    def finite(self, value: np.generic) -> np.generic:
        return value if np.isfinite(value) else self.T(0)

    def decode(self, excluded: np.ndarray) -> np.ndarray:
        """Values of a rectangle, indexed w, z, y, x like `excluded`."""
        values = np.zeros(excluded.shape, self.T)
        every = (slice(None, None, 1 << self.levels),) * 4
        self.anchors(values[every], excluded[every])
        for level in reversed(range(self.levels)):
            of_level = (slice(None, None, 1 << level),) * 4
            self.level(level, values[of_level], excluded[of_level])
        return values

    def anchors(self, values: np.ndarray, excluded: np.ndarray) -> None:
        r = np.zeros(values.shape, object)
        for number, at in enumerate(np.ndindex(*values.shape)):
            if number == 0:
                predicted = self.first_code
            else:
                total = 0
                for back in product((0, 1), repeat=4):
                    near = tuple(i - o for i, o in zip(at, back, strict=True))
                    if any(back) and min(near) >= 0:
                        total += r[near] if sum(back) % 2 else -r[near]
                predicted = self.first_code + total
            code = signed(predicted)
            if excluded[at]:
                values[at] = self.finite(self.T(code) * self.step + self.center)
            else:
                residual = self.next_residual()
                if residual == LISTED:
                    values[at] = self.next_listed()
                else:
                    code = signed(predicted + residual)
                    values[at] = self.T(code) * self.step + self.center
            if number == 0:
                self.first_code = code
            r[at] = code - self.first_code

    def level(self, level: int, values: np.ndarray, excluded: np.ndarray) -> None:
        done: set[int] = set()
        size = values.shape[::-1]
        for d in self.order:
            if size[d] > 1:
                linear = bool(self.linear[level] >> d & 1)
                coordinates = [
                    range(1, n, 2) if e == d else range(0, n, 1 if e in done else 2)
                    for e, n in enumerate(size)
                ]
                for w, z, y in product(*coordinates[:0:-1]):
                    for x in sorted(coordinates[0], key=lambda x: (x % 2, x)):
                        self.cell(values, excluded, (w, z, y, x), d, linear)
            done.add(d)

    def cell(self, values, excluded, at: tuple[int, ...], d: int, linear: bool) -> None:
        axis = 3 - d
        n, i = values.shape[axis], at[axis]

        def near(offset: int) -> np.generic:
            place = list(at)
            place[axis] = i + offset if 0 <= i + offset < n else i - 1
            return values[tuple(place)]

        w = [self.T(v) for v in weights_of(i >= 3, i + 1 < n, i + 3 < n, linear)]
        p = ((w[0] * near(-3) + w[1] * near(-1)) + w[2] * near(1)) + w[3] * near(3)
        if excluded[at]:
            values[at] = self.finite(p)
            return
        residual = self.next_residual()
        values[at] = self.next_listed() if residual == LISTED else p + self.T(residual) * self.step


def decode(
    reader,
    dtype: np.dtype,
    component,
    shared: list[list[int]],
    sizes: list[list[int]],
    left_out: list[np.ndarray],
) -> list[np.ndarray]:
    """The values of each rectangle."""
    with np.errstate(all="ignore"):
        held = sum(int((~mask).sum()) for mask in left_out)
        decoder = Decoder(reader, dtype, component, shared, held)
        position = 0
        decoded = []
        for size, mask in zip(sizes, left_out, strict=True):
            positions = position + np.cumsum(~mask) - ~mask
            position += int((~mask).sum())
            is_special = np.array([p in decoder.special for p in positions.tolist()], bool) & ~mask
            if mask.size == 0:
                decoded.append(np.zeros(0, dtype))
                continue
            excluded = (mask | is_special).reshape(size[::-1])
            values = decoder.decode(excluded).astype(dtype).reshape(-1)
            base.put_special(values, is_special, positions, decoder.special)
            decoded.append(values)
        decoder.end()
        return decoded
