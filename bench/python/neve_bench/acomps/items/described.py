# SPDX-License-Identifier: BSD-3-Clause
"""Slides 10, 12 and 13: the workflow, the workflow without a conversion, the machine."""

from __future__ import annotations

from collections.abc import Iterator

from ...paper.item import DESCRIBED, NOT_HERE, Finding, Item
from .. import cycles, measured, tell
from ..cycles import NETCDF
from ..requests import Cycle
from ..results import Results, Subject

WORKFLOW = (
    "n WRF members write netCDF, which is converted to binary files; m LETKF processes read them "
    "and observations, and write the revised state"
)
PLUGIN = "members and LETKF read and write through ADIOS: any format, no conversion"
SETUP = (
    "Deepthought 2: 484 nodes of 20 cores, Lustre; 181 x 151 x 51 cells; 55 members on 1100 "
    "processes, LETKF on 400"
)


def _nothing(_: Subject) -> Iterator[Cycle]:
    yield from ()


def _workflow(_: Results) -> Finding:
    return Finding(
        DESCRIBED,
        WORKFLOW,
        "neve bench ensemble, method netcdf (docs/ensemble.md)",
        "neve bench ensemble --methods speed,ratio: LETKF processes read chunks of the members' "
        "files",
    )


def _setup(results: Results) -> Finding:
    settings = results.settings
    nx, ny = settings.grid
    return Finding(
        NOT_HERE,
        SETUP,
        f"{settings.members} members of {nx} x {ny} cells on {settings.ranks} ranks of this "
        f"machine, storage of {settings.storage:g} MB/s imitated",
        "--grid, --members, --ranks, --storage choose another case; neve bench ensemble runs on "
        "as many nodes as there are",
        "the cluster, its Lustre and WRF are not here: seconds and gigabytes are those of a small "
        "model on this machine, shares and factors are compared",
    )


def needs(subject: Subject) -> Iterator[Cycle]:
    yield from cycles.runs(subject.settings)


def claims(results: Results) -> list[tell.Claim]:
    runs = measured.on_disk(results)
    if runs is None:
        return []
    others = [m for m in runs.methods if m != NETCDF]
    converting = [m for m in others if max(runs.seconds(m, "conversion")) > 0]
    return [
        tell.claim_of(
            not converting,
            slide=12,
            what="no conversion is needed where both sides read the compressed files",
            source="no conversion required",
            ours=f"0 s of conversion by {len(others) - len(converting)} of {len(others)} methods",
            neve="the same; every method ends in the same analysis",
            why=f"converted by {', '.join(converting)}" if converting else "",
        )
    ]


def _plugin(results: Results) -> Finding:
    told = claims(results)
    if not told:
        return tell.without_numbers(PLUGIN)
    return tell.finding(
        told,
        PLUGIN,
        told[0].ours,
        "HDF5's filter, ADIOS2's operator (docs/adios2.md) and C, C++, Python calls",
    )


workflow = Item("slide-10", "Slide 10", "The WRF-LETKF workflow", _nothing, _workflow)
plugin = Item("slide-12", "Slide 12", "The workflow without a conversion", needs, _plugin)
setup = Item("slide-13", "Slide 13", "The experimental setup", _nothing, _setup)
