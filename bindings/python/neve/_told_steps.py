# SPDX-License-Identifier: BSD-3-Clause
"""How far a long work has come, on stderr."""

from __future__ import annotations

import sys

TOLD_STEPS = 10  # lines, where they do not overwrite each other


def tell_step(command: str, what: str, number: int, count: int) -> None:
    """Step `number` of `count`, from 0 on: on one line of a terminal, a few lines elsewhere."""
    text = f"{command}: {what} {number + 1} of {count}"
    if sys.stderr.isatty():
        end = "\n" if number + 1 == count else ""
        print(f"\r{text}   ", end=end, file=sys.stderr, flush=True)
    elif number % max(1, -(-count // TOLD_STEPS)) == 0:
        print(text, file=sys.stderr, flush=True)
