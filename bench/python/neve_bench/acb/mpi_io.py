# SPDX-License-Identifier: BSD-3-Clause
"""The MPI-IO of Open MPI: its own (OMPIO), and ROMIO."""

from __future__ import annotations

import functools
import re

from neve._errors import Error

from ..programs import output_of

NAMES = ("ompio", "romio")
LIMIT_SECONDS = 60


@functools.cache
def components() -> dict[str, str]:
    """Those that are there, by name, with what Open MPI calls each: romio321, say."""
    try:
        text = output_of(["ompi_info", "--parsable"], LIMIT_SECONDS)
    except Error:  # another MPI library
        return {}
    found = {}
    for component in re.findall(r"^mca:io:(\w+):version", text, re.MULTILINE):
        for name in NAMES:
            if component.startswith(name):
                found[name] = component
    return {name: found[name] for name in NAMES if name in found}


def words(name: str) -> list[str]:
    """For mpirun; none where the library chooses."""
    return ["--mca", "io", components()[name]] if name else []
