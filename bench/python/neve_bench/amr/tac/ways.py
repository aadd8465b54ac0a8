# SPDX-License-Identifier: BSD-3-Clause
"""TAC's ways: the partition that the density of a level asks for, or one for every level."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from .. import chunks, flags, sz_array
from ..amric import UNITS, side_of
from ..parse import Method, among
from ..subject import Part, Subject
from ..units import covered_masks
from ..way import PartCoders, Way, by_level
from . import akdtree, cuboids, gsp, opst
from .empty_cells import filled
from .level_units import LevelUnits, lattice_of, marked_units, numbered

# Densities from which AKDTree, and above which GSP is used: T1 and T2 of the paper, with the values
# of the authors' program.
LEAST_MEDIUM, MOST_MEDIUM = 0.5, 0.6

PARTITIONS = {"opst": opst.partition, "akdtree": akdtree.partition}
SOURCE = "TAC (HPDC 2022)"


def chosen_for(part: Part, units: LevelUnits) -> str:
    """By the share of non-empty units in the level's domain."""
    density = units.count * math.prod(units.lattice.unit) / part.domain.cells
    if density < LEAST_MEDIUM:
        return "opst"
    return "akdtree" if density <= MOST_MEDIUM else "gsp"


def prepared_as(part: Part, asked: str, unit: str) -> str:
    """What is done to a level, for people; "-" where nothing is held."""
    lattice = lattice_of(part, side_of(part, unit))
    units = numbered(part, lattice, marked_units(part, lattice, part.held))
    name = chosen_for(part, units) if asked == "auto" else asked
    sides = " x ".join(map(str, lattice.unit))
    return f"{name} of {units.count} units of {sides} cells" if units.count else "-"


def level_coders(part: Part, asked: str, unit: str) -> PartCoders:
    """`asked`: "auto", or the name of a way to prepare the level. Stored are flags of units that
    are held though a finer level covers them, and SZ's bytes of each array. The rest follows from
    the boxes.
    """
    lattice = lattice_of(part, side_of(part, unit))

    def uncovered_units() -> np.ndarray:
        return marked_units(part, lattice, [~mask for mask in covered_masks(part)])

    def prepared(occupied: np.ndarray) -> tuple[LevelUnits, str]:
        units = numbered(part, lattice, occupied)
        name = chosen_for(part, units) if asked == "auto" else asked
        if name == "gsp":
            gsp.check_size(units)
        return units, name

    prepared(marked_units(part, lattice, part.held))  # raises NotPossible before a clock runs

    def encode() -> bytes:
        held, uncovered = marked_units(part, lattice, part.held), uncovered_units()
        units, name = prepared(held)
        packed = flags.pack_flags(held[~uncovered])
        arrays = _arrays(part, units, name) if units.count else []
        return chunks.join([packed, *(sz_array.encode(a, part.bound_abs) for a in arrays)])

    def decode(stored: bytes) -> list[np.ndarray]:
        packed, *texts = chunks.split(stored)
        held = uncovered_units()
        held[~held] = flags.unpack_flags(packed, int((~held).sum()))
        units, name = prepared(held)
        return units.arrays(_blocks(part, units, name, texts))

    return encode, decode


def _arrays(part: Part, units: LevelUnits, name: str) -> list[np.ndarray]:
    """What SZ gets."""
    held = units.blocks(part.held, part.held)
    blocks = units.blocks(part.values, part.held)
    smooth = filled(blocks, held)
    blocks = np.where(held, blocks, smooth)
    if name == "gsp":
        return [gsp.padded(units, blocks, smooth)]
    groups = cuboids.groups_of(PARTITIONS[name](units.occupied), units.lattice.unit)
    return [cuboids.merge(group, units.numbers, blocks) for group in groups]


def _blocks(part: Part, units: LevelUnits, name: str, texts: list[bytes]) -> np.ndarray:
    """The inverse of _arrays, of SZ's bytes."""
    blocks = np.zeros((units.count, *units.lattice.unit), part.values[0].dtype)
    if not units.count:
        return blocks
    arrays = [sz_array.decode(text) for text in texts]
    if name == "gsp":
        return gsp.unpadded(units, arrays[0])
    groups = cuboids.groups_of(PARTITIONS[name](units.occupied), units.lattice.unit)
    for group, array in zip(groups, arrays, strict=True):
        cuboids.split(group, units.numbers, array, blocks)
    return blocks


def _method(name: str, what: str) -> Method:
    def make(text: str, settings: Mapping[str, str]) -> Way:
        unit = settings["unit"]
        label = "TAC" if name == "auto" else f"TAC {name}"
        label += "" if unit == "auto" else f", unit {unit}"

        def about(subject: Subject) -> str:
            return "; ".join(prepared_as(part, name, unit) for part in subject.parts)

        prepare = by_level(lambda part: level_coders(part, name, unit))
        return Way(text, label, SOURCE, prepare, about=about)

    return Method("tac", name, what, {"unit": among("auto", *UNITS)}, make)


METHODS = [
    _method("auto", "each level as its density asks: opst, akdtree or gsp"),
    _method("opst", "cubes as large as can be, equal ones merged"),
    _method("akdtree", "halved to full or empty parts, equal ones merged"),
    _method("gsp", "the whole level as one array, empty units padded"),
]
