# SPDX-License-Identifier: BSD-3-Clause
"""Future work of the paper: burst buffers. Here a stage is a folder on a fast device of the node,
in which compressed frames wait until they are in the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...paper import output
from ...paper.item import MEASURED, Finding, Item
from ...paper.numbers import number
from .. import measured, tell
from ..requests import Staged
from ..results import Results, size
from ..settings import Settings

DIRECT, STAGED = "direct", "staged"
STEPS = ("--steps", "3")
HEADER = (
    "how",
    "seconds of the calls",
    "bytes on the stage",
    "seconds until files have their names",
)


def _request(settings: Settings) -> Staged:
    return Staged(STEPS, settings.most_ranks, settings.first_mpi_io, settings.repeats)


def needs(settings: Settings) -> Iterator[Staged]:
    yield _request(settings)


def find(results: Results) -> Finding:
    paper = "ACB on Cori's burst buffers: not measured"
    found = results.result(_request(results.settings))
    if found is None:
        return tell.without_numbers(paper)
    direct, staged = found[DIRECT], found[STAGED]
    seconds = {how: found[how]["write_seconds"] for how in (DIRECT, STAGED)}
    settings = results.settings
    return Finding(
        MEASURED,
        paper,
        "ACB writes values in one call: it has nothing to bring from a stage later",
        f"measured here, {measured.where(settings.most_ranks, settings.first_mpi_io)}: calls that "
        f"write compressed steps take {number(seconds[STAGED])} s staged, "
        f"{number(seconds[DIRECT])} s direct",
        f"The stage is a folder in {found['device']}, the files lie on the disk; neve bench amr "
        f"{' '.join(STEPS)}. A staged file has its name when all of it is durable",
        [
            output.table(
                HEADER,
                [
                    (DIRECT, number(direct["write_seconds"]), "-", "-"),
                    (
                        STAGED,
                        number(staged["write_seconds"]),
                        size(staged["staged_bytes"]),
                        number(staged["published_seconds"]),
                    ),
                ],
            )
        ],
        {**seconds, "staged_bytes": staged["staged_bytes"]},
    )


ITEM = Item("burst-buffers", "Future work, burst buffers", "Staging on the node", needs, find)
