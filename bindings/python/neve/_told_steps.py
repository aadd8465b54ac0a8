# SPDX-License-Identifier: BSD-3-Clause
"""How far a long work has come, on stderr."""

from __future__ import annotations

import sys
import time

TOLD_STEPS = 10  # lines at most, where they do not overwrite each other
QUIET_SECONDS = 5.0  # between them


class Steps:
    """Of a work of `count` steps: on one line of a terminal, elsewhere a few lines, none for what
    takes no time.
    """

    def __init__(self, command: str, what: str, count: int):
        self._what = f"{command}: {what}"
        self._count = count
        self._next = 1
        self._told_step, self._told_at = 0, time.monotonic()

    def tell_next(self) -> None:
        """Another step begins. Of a work of one step or none nothing is told."""
        number, self._next = self._next, self._next + 1
        if self._count < 2:
            return
        text = f"{self._what} {number} of {self._count}"
        if sys.stderr.isatty():
            end = "\n" if number == self._count else ""
            print(f"\r{text}   ", end=end, file=sys.stderr, flush=True)
        elif self._is_due(number):
            self._told_step, self._told_at = number, time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def _is_due(self, number: int) -> bool:
        is_far = (number - self._told_step) * TOLD_STEPS >= self._count
        return is_far and time.monotonic() - self._told_at >= QUIET_SECONDS
