# SPDX-License-Identifier: BSD-3-Clause
"""What the paper says of its machines and of its future work, which cannot be had here."""

from __future__ import annotations

from ...paper.item import NOT_HERE, Finding, Item
from ..results import Results
from ..settings import Settings


def _without(name: str, number: str, title: str, paper: str, ours: str, neve: str, why: str):
    def needs(_: Settings) -> tuple[()]:
        return ()

    def find(_: Results) -> Finding:
        return Finding(NOT_HERE, paper, ours, neve, why)

    return Item(name, number, title, needs, find)


machines = _without(
    "machines",
    "Paragraph 6, machine",
    "A Cray XC50, Lustre, 512 to 21912 cores",
    "Broadwell and Knights Landing cores of a Cray XC50, a Lustre file system of about 200 GB/s",
    "ranks of this machine, its disk; the paper's cores by arithmetic in the rows that say so",
    "neve bench study DECK under srun runs the same cells there (examples/slurm/study.sh)",
    "neither the machine nor its file system is here",
)
knl = _without(
    "knl",
    "Paragraph 7, KNL",
    "Slower on Knights Landing",
    "overall performance degradation on KNL: core counts, weak scaling, weaker integer computation",
    "-",
    "-",
    "no Knights Landing is here, and no model of its cores: integer speed of zlib, szip and zfp "
    "on it is not published in the paper",
)
future = _without(
    "future-work",
    "Paragraph 7, future",
    "Future work: more cores, Skylake in a cloud",
    "further scalability on Broadwell; compression on Intel Skylake in Google Compute Engine",
    "speed-up over the ranks that this machine has: see speed-up",
    "the same commands run on any machine that has MPI and HDF5",
    "those machines are not here",
)
