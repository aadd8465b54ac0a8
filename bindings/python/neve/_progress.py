# SPDX-License-Identifier: BSD-3-Clause
"""A bar for what the command does: tqdm's, in a notebook or on a terminal."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from ._errors import Error


class Bar:
    """Shows the lines "PHASE FRACTION" that the command writes (tools/common/console.hpp). To be
    used in a `with` block.
    """

    def __init__(self, what: str) -> None:
        from tqdm.auto import tqdm

        self._bar: Any = tqdm(
            total=100,
            desc=what,
            leave=False,
            bar_format="{desc}: {percentage:3.0f} %|{bar}| {elapsed}",
        )

    def show(self, line: str) -> None:
        phase, _, fraction = line.strip().rpartition(" ")
        try:
            percent = 100 * float(fraction)
        except ValueError:
            return  # an end of a line of a command that was killed
        self._bar.set_description_str(phase, refresh=False)
        self._bar.n = round(percent)
        self._bar.refresh()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *unused: object) -> None:
        self._bar.close()


def bar_for(what: str, progress: bool | None) -> Bar | None:
    """As `progress` asks. None: where tqdm is installed, and somebody looks: in a notebook, or with
    a terminal as stderr.
    """
    if progress is not None and not isinstance(progress, bool):
        raise Error(f"{what}: progress={progress!r}; allowed are True, False and None")
    has_tqdm = importlib.util.find_spec("tqdm") is not None
    if progress and not has_tqdm:
        raise Error(f"{what}: progress=True needs tqdm: pip install 'neve[notebook]'")
    if progress is None:
        progress = has_tqdm and ("ipykernel" in sys.modules or sys.stderr.isatty())
    return Bar(what) if progress else None
