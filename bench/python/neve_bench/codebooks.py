# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench codebooks`: the offline codebooks of streams, from real fields.

A field is quantized under several bounds and Lorenzo-predicted, as an encoder of streams does it;
its symbol frequencies are one sample. Samples are clustered by what the codebooks cost them
(k-means, with bits for distance), and each cluster's mean frequencies make a codebook.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neve import _files
from neve._errors import FAILURE, Error

from . import variables

SYMBOLS = 1024
ZERO = 512
ESCAPE = 0
LONGEST_CODE = 16
ESCAPE_BITS = 32  # what a value beside the codes takes

QUANT_CODE_LIMIT = 2**28

CODEBOOKS = 16
RELATIVE_BOUNDS = (1e-2, 1e-3, 1e-4, 1e-5)
MIN_VALUES = 4096
MAX_VALUES = 1 << 21
# What a symbol no sample has may still be worth: every codebook has a code for all of them.
FLOOR = 2.0**-15 / SYMBOLS
ROUNDS = 30


@dataclass(frozen=True)
class Sample:
    file: str
    name: str
    bound: float
    counts: np.ndarray

    @property
    def share(self) -> np.ndarray:
        return self.counts / self.counts.sum()


def symbols(array: np.ndarray, bound_abs: float, dims: int = 3) -> np.ndarray:
    """The symbols of a stream without special values."""
    quant_codes = np.rint(array.astype(np.float64) / (2 * bound_abs))
    residuals = np.clip(quant_codes, -QUANT_CODE_LIMIT, QUANT_CODE_LIMIT).astype(np.int64)
    for axis in range(max(0, array.ndim - dims), array.ndim):
        residuals = np.diff(residuals, axis=axis, prepend=0)
    residuals = residuals.ravel()
    return np.where(np.abs(residuals) < ZERO, residuals + ZERO, ESCAPE)


def symbol_counts(array: np.ndarray, bound_abs: float, dims: int = 3) -> np.ndarray:
    return np.bincount(symbols(array, bound_abs, dims), minlength=SYMBOLS)


def without_specials(array: np.ndarray) -> np.ndarray | None:
    """Fill values and NaN replaced by the value before, as prediction sees them; None where hardly
    anything is left.
    """
    values = array.astype(np.float64).ravel()
    special = ~np.isfinite(values) | (np.abs(values) > 1e19) | np.isin(values, (-999.0, -9999.0))
    if special.mean() > 0.9 or np.ptp(values[~special]) < 1e-300:
        return None
    places = np.where(special, 0, np.arange(values.size))
    np.maximum.accumulate(places, out=places)
    values = values[places]
    values[: np.argmin(special)] = values[np.argmin(special)]
    return values.reshape(array.shape)


def samples(data: Path) -> Iterator[Sample]:
    """Those of all public fields in floating point."""

    def of_array(file: str, name: str, array: np.ndarray) -> Iterator[Sample]:
        array = array.reshape([n for n in array.shape if n != 1] or [1])
        if array.ndim > 3:
            array = array.reshape(-1, *array.shape[-2:])
        rows = max(1, MAX_VALUES // max(1, array[0].size))
        array = array[:rows]
        if array.dtype.kind != "f" or array.size < MIN_VALUES:
            return
        field = without_specials(array)
        if field is None:
            return
        for rel in RELATIVE_BOUNDS:
            yield Sample(file, name, rel, symbol_counts(field, rel * np.ptp(field)))

    for path in sorted((data / "arrays").glob("*.npy")):
        yield from of_array(path.name, path.stem, np.load(path))
    for variable in variables.load(["climate", "amr"], data):
        file, _, name = variable.name.partition(":")
        yield from of_array(file, name, variable.array)


def code_lengths(frequencies: np.ndarray) -> np.ndarray:
    """Huffman's, with rare symbols taken for less rare until no code is longer than allowed."""
    least = frequencies.sum() * 2.0 ** -(LONGEST_CODE + 1)
    while True:
        heap = [(max(f, least), symbol, [symbol]) for symbol, f in enumerate(frequencies)]
        heapq.heapify(heap)
        lengths = np.zeros(SYMBOLS, np.int64)
        while len(heap) > 1:
            a, b = heapq.heappop(heap), heapq.heappop(heap)
            merged = a[2] + b[2]
            lengths[merged] += 1
            heapq.heappush(heap, (a[0] + b[0], min(a[1], b[1]), merged))
        if lengths.max() <= LONGEST_CODE:
            return lengths
        least *= 1.1


def shaped(share: np.ndarray) -> np.ndarray:
    """Residuals of either sign alike, and none likelier than a smaller one: what a finite sample
    has beyond that is chance.
    """
    result = share.copy()
    magnitude = np.zeros(ZERO)
    magnitude[0] = share[ZERO]
    magnitude[1:] = (share[ZERO + 1 :] + share[ZERO - 1 : ESCAPE : -1]) / 2
    magnitude = np.sort(magnitude)[::-1]
    result[ZERO:] = magnitude
    result[ESCAPE + 1 : ZERO] = magnitude[:0:-1]
    return np.maximum(result, FLOOR)


def bits_with(shares: np.ndarray, codebooks: np.ndarray) -> np.ndarray:
    """Bits a value of each sample under each codebook, values beside the codes included."""
    return shares @ codebooks.T + shares[:, ESCAPE, None] * ESCAPE_BITS


def own_bits(shares: np.ndarray) -> np.ndarray:
    """Bits a value of each sample under a Huffman codebook of its own, without its table."""
    bits = np.zeros(len(shares))
    for i, share in enumerate(shares):
        used = np.flatnonzero(share)
        heap = list(share[used])
        heapq.heapify(heap)
        total = 1.0 if len(heap) == 1 else 0.0
        while len(heap) > 1:
            merged = heapq.heappop(heap) + heapq.heappop(heap)
            total += merged
            heapq.heappush(heap, merged)
        bits[i] = total + share[ESCAPE] * ESCAPE_BITS
    return bits


def train(of: Sequence[Sample], count: int = CODEBOOKS) -> np.ndarray:
    """Code lengths of `count` codebooks, from the narrowest distribution to the widest."""
    shares = np.array([s.share for s in of])
    entropies = own_bits(shares)
    # By how far residuals spread: a start that every cluster keeps samples from.
    order = np.argsort(entropies)
    members = np.empty(len(of), np.int64)
    members[order] = np.arange(len(of)) * count // len(of)
    codebooks = np.zeros((count, SYMBOLS))
    for _ in range(ROUNDS):
        for number in range(count):
            cluster = shares[members == number]
            if len(cluster) > 0:
                codebooks[number] = code_lengths(shaped(cluster.mean(axis=0)))
        # Relative to what is possible: a bit counts more where there are few.
        nearest = np.argmin(bits_with(shares, codebooks), axis=1)
        if np.array_equal(nearest, members):
            break
        members = nearest
    widths = [np.average(np.abs(np.arange(SYMBOLS) - ZERO), weights=2.0**-b) for b in codebooks]
    return codebooks[np.argsort(widths)].astype(np.int64)


def loss(of: Sequence[Sample], codebooks: np.ndarray) -> np.ndarray:
    """Share of the ratio that a sample loses with the cheapest codebook against one of its own."""
    shares = np.array([s.share for s in of])
    return 1 - own_bits(shares) / bits_with(shares, codebooks).min(axis=1)


def left_out_losses(of: Sequence[Sample], count: int = CODEBOOKS) -> np.ndarray:
    """The loss of each sample under codebooks trained without any sample of its file."""
    losses = np.zeros(len(of))
    for file in sorted({s.file for s in of}):
        held = np.array([s.file == file for s in of])
        codebooks = train([s for s, out in zip(of, held, strict=True) if not out], count)
        losses[held] = loss([s for s, out in zip(of, held, strict=True) if out], codebooks)
    return losses


def runs(lengths: np.ndarray) -> list[tuple[int, int]]:
    """Code lengths as (length, symbols in a row)."""
    edges = np.flatnonzero(np.diff(lengths)) + 1
    parts = np.split(lengths, edges)
    return [(int(p[0]), len(p)) for p in parts]


def source(codebooks: np.ndarray, version: int) -> str:
    """The C++ table of codebooks (src/core/stream/offline_codebooks.inc)."""
    lines = [
        "// SPDX-License-Identifier: BSD-3-Clause",
        f"// Made by `neve bench codebooks`: offline codebooks of streams, version {version}.",
        "// Of each codebook, code length and how many symbols in a row have it, from symbol 0 on.",
    ]
    for codebook in codebooks:
        text = " ".join(f"{{{length}, {count}}}," for length, count in runs(codebook))
        lines.append("{")
        line = "   "
        for word in text.replace("}, ", "},|").split("|"):
            if len(line) + len(word) + 1 > 100:
                lines.append(line)
                line = "   "
            line += " " + word
        lines += [line, "},"]
    return "\n".join(lines) + "\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Makes the offline codebooks of streams from real fields: their symbol frequencies are "
        "clustered by the bits that they cost, and each cluster gives a codebook. The set is "
        "written as C++ source; the one in use is src/core/stream/offline_codebooks.cpp."
    )
    parser.epilog = "example: neve bench codebooks --count 64 --table codebooks.cpp"
    parser.add_argument("--data", default="../shared/data", help="folder of the public fields")
    parser.add_argument(
        "--count", type=int, default=CODEBOOKS, help=f"number, 1 to 256 (default {CODEBOOKS})"
    )
    parser.add_argument("--version", type=int, default=1, help="the set's version in the format")
    parser.add_argument(
        "--table", metavar="FILE", required=True, help="file for the set, as C++ source"
    )


def run(options: argparse.Namespace) -> int:
    if not 1 <= options.count <= 256:
        raise Error(f"codebooks: --count {options.count}, allowed 1..256")
    of = list(samples(Path(options.data)))
    if len(of) < options.count:
        raise Error(f"{options.data}: {len(of)} samples for {options.count} codebooks", FAILURE)
    codebooks = train(of, options.count)
    try:
        _files.write_text(options.table, source(codebooks, options.version))
    except OSError as error:
        raise Error(f"{options.table}: {error.strerror}", FAILURE) from None
    of_set = loss(of, codebooks)
    print(
        f"{options.table}: {options.count} codebooks from {len(of)} samples of "
        f"{len({s.file for s in of})} files; ratio lost to a codebook of one's own: median "
        f"{np.median(of_set):.3f}, nine in ten below {np.quantile(of_set, 0.9):.3f}"
    )
    return 0
