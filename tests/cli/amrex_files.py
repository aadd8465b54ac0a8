# SPDX-License-Identifier: BSD-3-Clause
"""AMReX plotfiles whose fields are the places of their cells, written here byte by byte."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

REALS = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"
AXES = "xyz"


@dataclass
class Places:
    """Two levels, the finer one in the middle, refined by 2; every level in two boxes."""

    dims: int
    prob_lo: tuple[float, ...]
    dx: tuple[float, ...]
    first: tuple[int, ...]  # cell at which level 0's domain begins
    cells: tuple[int, ...]
    is_shifted: bool = True  # boxes' places count from the domain's corner
    coordinate_system: int = 0

    def levels(self):
        """Domain, boxes and cell sizes of each level; boxes as (lo, hi)."""
        first, cells = np.array(self.first), np.array(self.cells)
        dx = np.array(self.dx)
        coarse = (first, first + cells - 1)
        fine_lo, fine_hi = 2 * first + cells // 2, 2 * first + cells // 2 + cells - 1
        domain = (2 * first, 2 * first + 2 * cells - 1)
        return [
            (coarse, halves(*coarse), dx),
            (domain, halves(fine_lo, fine_hi), dx / 2),
        ]


def halves(lo, hi):
    """A box cut across its first direction."""
    middle = (lo[0] + hi[0]) // 2
    left, right = hi.copy(), lo.copy()
    left[0], right[0] = middle, middle + 1
    return [(lo, left), (right, hi)]


def numbers(values):
    return "(" + ",".join(str(v) for v in values) + ")"


def box_text(box):
    lo, hi = box
    return f"({numbers(lo)} {numbers(hi)} {numbers([0] * len(lo))})"


def centres(places, domain, box, dx, direction):
    """Of a box's cells, x fastest."""
    lo, hi = box
    along = np.array(places.prob_lo)[direction] + dx[direction] * (
        np.arange(lo[direction], hi[direction] + 1) - domain[0][direction] + 0.5
    )
    shape = hi - lo + 1
    spread = along.reshape([-1 if d == direction else 1 for d in range(places.dims)])
    return np.broadcast_to(spread, shape).ravel(order="F")


def reals(values):
    return " ".join(repr(float(v)) for v in values)


def header(places):
    levels = places.levels()
    cells = np.array(places.cells)
    high = np.array(places.prob_lo) + cells * np.array(places.dx)
    lines = ["HyperCLaw-V1.1", str(places.dims)]
    lines += [f"{axis}_centre" for axis in AXES[: places.dims]]
    lines += [str(places.dims), "0.5", "1", reals(places.prob_lo), reals(high), "2"]
    lines += [" ".join(box_text(domain) for domain, _, _ in levels), "3 3"]
    lines += [reals(dx) for _, _, dx in levels] + [str(places.coordinate_system), "0"]
    for level, (domain, boxes, dx) in enumerate(levels):
        lines += [f"{level} {len(boxes)} 0.5", "3"]
        origin = domain[0] if places.is_shifted else np.zeros(places.dims)
        for (lo, hi), d in itertools.product(boxes, range(places.dims)):
            begin = places.prob_lo[d] + dx[d] * (lo[d] - origin[d])
            end = places.prob_lo[d] + dx[d] * (hi[d] + 1 - origin[d])
            lines.append(f"{float(begin)!r} {float(end)!r}")
        lines.append(f"Level_{level}/Cell")
    return "\n".join(lines) + "\n"


def write(folder, places):
    folder.mkdir()
    (folder / "Header").write_text(header(places))
    for level, (domain, boxes, dx) in enumerate(places.levels()):
        directory = folder / f"Level_{level}"
        directory.mkdir()
        fabs, offsets = b"", []
        for box in boxes:
            offsets.append(len(fabs))
            fabs += f"FAB {REALS}{box_text(box)} {places.dims}\n".encode()
            for direction in range(places.dims):
                fabs += centres(places, domain, box, dx, direction).tobytes()
        (directory / "Cell_D_00000").write_bytes(fabs)
        table = f"{len(boxes)},{places.dims}\n" + ("0.0," * places.dims + "\n") * len(boxes) + "\n"
        (directory / "Cell_H").write_text(
            f"1\n1\n{places.dims}\n0\n({len(boxes)} 0\n"
            + "".join(box_text(box) + "\n" for box in boxes)
            + f")\n{len(boxes)}\n"
            + "".join(f"FabOnDisk: Cell_D_00000 {offset}\n" for offset in offsets)
            + "\n"
            + table * 2
        )
    return math.prod(places.cells)
