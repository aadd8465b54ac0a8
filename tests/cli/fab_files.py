# SPDX-License-Identifier: BSD-3-Clause
"""AMReX plotfiles read and written here, by the text of their headers and plain NumPy."""

import math
import re
from dataclasses import dataclass

import numpy as np

REALS = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"
BOX = r"\(\(([-\d,]+)\) \(([-\d,]+)\) \([-\d,]+\)\)"


def corner(text):
    return np.array([int(n) for n in text.split(",")])


@dataclass
class Level:
    domain: tuple  # (lowest cell, highest cell)
    boxes: list  # the same of each
    values: list  # by box: [field, x, y, z]


def read(folder):
    """(names of the fields, levels)."""
    lines = (folder / "Header").read_text().splitlines()
    count = int(lines[1])
    names = lines[2 : 2 + count]
    domains = re.findall(BOX, (folder / "Header").read_text())
    levels = []
    for number, domain in enumerate(domains):
        text = (folder / f"Level_{number}" / "Cell_H").read_text()
        boxes = [(corner(lo), corner(hi)) for lo, hi in re.findall(BOX, text)]
        places = re.findall(r"FabOnDisk: (\S+) (\d+)", text)
        values = []
        for (lo, hi), (name, offset) in zip(boxes, places, strict=True):
            with open(folder / f"Level_{number}" / name, "rb") as file:
                file.seek(int(offset))
                file.readline()
                shape = (*(hi - lo + 1), count)
                cells = np.frombuffer(file.read(8 * math.prod(shape)), "<f8")
            values.append(np.moveaxis(cells.reshape(shape, order="F"), -1, 0))
        levels.append(Level((corner(domain[0]), corner(domain[1])), boxes, values))
    return names, levels


def painted(level, boxes, ratio=1):
    """Cells of the level's domain that lie in `boxes`, which are `ratio` times as fine: only those
    of which every part does.
    """
    lo, hi = level.domain
    fine = np.zeros((hi - lo + 1) * ratio, bool)
    for a, b in boxes:
        fine[
            tuple(slice(i, j + 1) for i, j in zip(a - lo * ratio, b - lo * ratio, strict=True))
        ] = True
    split = [n for cells in hi - lo + 1 for n in (cells, ratio)]
    return fine.reshape(split).all(axis=tuple(range(1, 2 * len(lo), 2)))


def held(levels, number, ratio=2):
    """The cells of a level's domain that it has and the next finer one does not cover."""
    own = painted(levels[number], levels[number].boxes)
    if number + 1 < len(levels):
        own &= ~painted(levels[number], levels[number + 1].boxes, ratio)
    return own


def box_text(lo, hi):
    return "((" + ") (".join(",".join(map(str, n)) for n in (lo, hi, [0] * len(lo))) + "))"


def write_level(folder, boxes, values):
    """A level's folder; `values` by box as Level has them."""
    folder.mkdir(parents=True)
    fields = len(values[0])
    content, offsets, ends = b"", [], [[], []]
    for (lo, hi), of_box in zip(boxes, values, strict=True):
        offsets.append(len(content))
        content += f"FAB {REALS}{box_text(lo, hi)} {fields}\n".encode()
        content += b"".join(field.tobytes(order="F") for field in of_box)
        ends[0].append([field.min() for field in of_box])
        ends[1].append([field.max() for field in of_box])
    (folder / "Cell_D_00000").write_bytes(content)
    lines = ["1", "1", str(fields), "0", f"({len(boxes)} 0"]
    lines += [*(box_text(*box) for box in boxes), ")", str(len(boxes))]
    lines += [f"FabOnDisk: Cell_D_00000 {offset}" for offset in offsets]
    for table in ends:
        lines += ["", f"{len(boxes)},{fields}"]
        lines += ["".join(f"{float(value)!r}," for value in row) for row in table]
    (folder / "Cell_H").write_text("\n".join(lines) + "\n")


def write_field(source, folder, name):
    """A plotfile of one field of another one."""
    names, levels = read(source)
    header = (source / "Header").read_text().splitlines()
    folder.mkdir(parents=True)
    header[1 : 2 + len(names)] = ["1", name]
    (folder / "Header").write_text("\n".join(header) + "\n")
    component = names.index(name)
    for number, level in enumerate(levels):
        values = [of_box[component : component + 1] for of_box in level.values]
        write_level(folder / f"Level_{number}", level.boxes, values)
    return folder


def write_one_level(folder, fields):
    """Fields by name, arrays [x, y(, z)] of one shape, as one box."""
    cells = [np.asarray(values, "<f8") for values in fields.values()]
    shape = cells[0].shape
    lo, hi = [0] * len(shape), [n - 1 for n in shape]
    folder.mkdir(parents=True)
    zeros, ones = " ".join("0" * len(shape)), " ".join("1" * len(shape))
    header = ["HyperCLaw-V1.1", str(len(fields)), *fields, str(len(shape)), "0.5", "0", zeros]
    header += [" ".join(map(str, shape)), "", box_text(lo, hi), "7", ones, "0", "0", "0 1 0.5", "7"]
    (folder / "Header").write_text(
        "\n".join([*header, *(f"0 {n}" for n in shape), "Level_0/Cell"]) + "\n"
    )
    write_level(folder / "Level_0", [(lo, hi)], [cells])
    return folder


def smooth(shape, seed=1):
    """A few waves."""
    random = np.random.default_rng(seed)
    places = np.meshgrid(*(np.arange(n) / n for n in shape), indexing="ij")
    values = np.zeros(shape)
    for _ in range(5):
        wave = sum(a * p for a, p in zip(random.normal(0, 9, len(shape)), places, strict=True))
        values += np.sin(wave + random.uniform(0, 6))
    return values + random.normal(0, 1e-3, shape)
