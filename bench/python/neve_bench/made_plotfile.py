# SPDX-License-Identifier: BSD-3-Clause
"""AMReX plotfiles with made fields: what needs no data, and comes out the same everywhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neve.plotfile import Box

REALS = {
    4: "((8, (32 8 23 0 1 9 0 127)),(4, (4 3 2 1)))",
    8: "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))",
}
RATIO = 2  # between levels, in every direction


@dataclass(frozen=True)
class MadeLevel:
    domain: Box
    boxes: tuple[Box, ...]
    dx: tuple[float, ...]


# Level, box and field give the values of its cells, in Fortran order.
Values = Callable[[int, Box, str], np.ndarray]


def nested_levels(
    cells: int, box_cells: int, levels: int, dims: int = 3, width: float = 1.0
) -> list[MadeLevel]:
    """A cube of `cells` in each direction; each finer level has as many cells, in the middle of the
    one below, in boxes of `box_cells`.
    """
    made = []
    first = 0
    for number in range(levels):
        domain = Box((0,) * dims, (cells * RATIO**number - 1,) * dims)
        last = first + cells - 1
        boxes = blocks(Box((first,) * dims, (last,) * dims), box_cells)
        made.append(MadeLevel(domain, tuple(boxes), (width / (cells * RATIO**number),) * dims))
        first = RATIO * (first + cells // 4)
    return made


def blocks(region: Box, box_cells: int) -> Iterator[Box]:
    """A region in boxes of so many cells in each direction, the last ones smaller."""
    begins = [range(a, b + 1, box_cells) for a, b in zip(region.lo, region.hi, strict=True)]
    for lo in itertools.product(*begins):
        yield Box(lo, tuple(min(a + box_cells - 1, b) for a, b in zip(lo, region.hi, strict=True)))


def waves(levels: Sequence[MadeLevel], seed: int = 7, modes: int = 6) -> Values:
    """Sums of waves that are the same on all levels, with a little noise; positive."""

    def values(level: int, box: Box, field: str) -> np.ndarray:
        random = np.random.default_rng([seed, *field.encode()])
        out = np.full(box.shape, 2.0 + modes, order="F")
        for _ in range(modes):
            wave = np.zeros(box.shape, order="F")
            for d, (lo, hi) in enumerate(zip(box.lo, box.hi, strict=True)):
                places = (np.arange(lo, hi + 1) + 0.5) * levels[level].dx[d]
                angle = 2 * np.pi * (random.integers(1, 8) * places + random.random())
                wave += angle.reshape([-1 if a == d else 1 for a in range(len(box.lo))])
            out += np.sin(wave)
        noise = np.random.default_rng([seed, level, *(n % 2**31 for n in box.lo)])
        return out + 1e-4 * noise.standard_normal(box.shape)

    return values


def write(
    folder: Path,
    fields: Sequence[str],
    levels: Sequence[MadeLevel],
    values: Values,
    *,
    dtype: np.dtype | type = np.float64,
    prob_lo: Sequence[float] | None = None,
) -> None:
    """The plotfile `folder`, which must not exist."""
    corner = tuple(prob_lo or (0.0,) * len(levels[0].dx))
    folder.mkdir()
    (folder / "Header").write_text(_header(fields, levels, corner))
    for number, level in enumerate(levels):
        place = folder / f"Level_{number}"
        place.mkdir()
        offsets = []
        with open(place / "Cell_D_00000", "wb") as file:
            for box in level.boxes:
                offsets.append(file.tell())
                reals = REALS[np.dtype(dtype).itemsize]
                file.write(f"FAB {reals}{_text(box)} {len(fields)}\n".encode())
                for field in fields:
                    file.write(values(number, box, field).astype(dtype).tobytes(order="F"))
        (place / "Cell_H").write_text(_table(level, offsets, len(fields)))


def _header(fields: Sequence[str], levels: Sequence[MadeLevel], prob_lo: Sequence[float]) -> str:
    dims = len(prob_lo)
    coarsest = levels[0]
    widths = np.array(coarsest.domain.shape) * coarsest.dx
    lines = ["HyperCLaw-V1.1", str(len(fields)), *fields, str(dims), "0.25", str(len(levels) - 1)]
    lines += [
        _reals(prob_lo),
        _reals(np.array(prob_lo) + widths),
        " ".join(str(RATIO) for _ in levels[1:]),
    ]
    lines += [" ".join(_text(level.domain) for level in levels), " ".join("0" for _ in levels)]
    lines += [*(_reals(level.dx) for level in levels), "0", "0"]
    for number, level in enumerate(levels):
        lines += [f"{number} {len(level.boxes)} 0.25", "0"]
        for box in level.boxes:
            for d in range(dims):
                first = level.domain.lo[d]
                ends = (box.lo[d] - first, box.hi[d] + 1 - first)
                lines.append(_reals([prob_lo[d] + level.dx[d] * n for n in ends]))
        lines.append(f"Level_{number}/Cell")
    return "\n".join(lines) + "\n"


def _table(level: MadeLevel, offsets: Sequence[int], fields: int) -> str:
    boxes = len(level.boxes)
    lines = ["1", "1", str(fields), "0", f"({boxes} 0", *map(_text, level.boxes), ")", str(boxes)]
    lines += [*(f"FabOnDisk: Cell_D_00000 {offset}" for offset in offsets), ""]
    for _ in range(2):  # least and largest values, which no reader here needs
        lines += [f"{boxes},{fields}", *("0.0," * fields for _ in range(boxes)), ""]
    return "\n".join(lines) + "\n"


def _text(box: Box) -> str:
    lo, hi = (",".join(map(str, corner)) for corner in box)
    return f"(({lo}) ({hi}) ({','.join('0' for _ in box.lo)}))"


def _reals(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
