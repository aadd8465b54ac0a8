# SPDX-License-Identifier: BSD-3-Clause
"""Figures that are diagrams: what each describes, and which command does it."""

from __future__ import annotations

from ...paper.item import DESCRIBED, Finding, Item
from ..files import File, Settings
from ..results import Results


def _diagram(number: int, title: str, what: str, ours: str, neve: str) -> Item:
    def needs(_: File, __: Settings) -> tuple[()]:
        return ()

    def find(_: Results) -> Finding:
        return Finding(DESCRIBED, what, ours, neve)

    return Item(f"figure-{number}", f"Figure {number}", title, needs, find)


before_equation_1 = (
    _diagram(
        2,
        "Overview of AMRIC",
        "remove what is covered, cut into units, reorganize, SZ_L/R or SZ_Interp, HDF5 filter",
        "ways amric:adaptive and amric:interp",
        "neve convert, neve::write_plotfile",
    ),
    _diagram(
        3,
        "AMR data in storage and in use",
        "levels apart in HDF5; up-sampled and merged when used, without the covered coarse cells",
        "--cells uncovered",
        "neve.open(FILE)[LEVEL][FIELD].composite(), neve plot",
    ),
    _diagram(
        4,
        "Removal of covered cells, units, linear or clustered",
        "units of 3D blocks, in a line for SZ_L/R, in a cube for SZ_Interp",
        "amric:adaptive (line), amric:interp (cluster), unit=auto, 8 to 64",
        "--arrangement linear, cluster, in_place; --unit",
    ),
)
figure_8 = _diagram(
    8,
    "Blocks of 6 against adaptive blocks in a unit of 8",
    "6 leaves flat, slim and tiny rests in a unit of 8; blocks of 4 do not",
    "amric:sle,unit=8 against amric:adaptive,unit=8: figure 9",
    "neve:lorenzo_regression takes Eq. 1, too",
)
of_section_3_3 = (
    _diagram(
        11,
        "Layout by field instead of by box",
        "all values of a field in a row, so that chunks may be larger than a box",
        "amrex:1d is the first layout, all ways of amric: the second",
        "a frame for each level and field",
    ),
    _diagram(
        12,
        "Chunks of the largest rank, with true lengths for the filter",
        "no padding where ranks hold different amounts",
        "amric-lr against padded-lr in section 3.3",
        "chunks of any length, placed by the writer",
    ),
)
