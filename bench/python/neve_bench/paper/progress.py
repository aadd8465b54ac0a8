# SPDX-License-Identifier: BSD-3-Clause
"""How far a study is, on stderr from the first second: share done, time left, what runs."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from .. import report

SECONDS_BETWEEN_LINES = 5.0  # where stderr is no terminal
SECONDS_BETWEEN_REDRAWS = 0.2
COLUMNS = 110


FEWEST_STEPS = 5  # after the first, that tell a pace
FEWEST_SECONDS = 2.0


class Progress:
    """Costs are estimates, in seconds; what they took so far tells the pace, and the time left.
    `done`: what an earlier study has done of `total`. Without a total no share is told.
    """

    def __init__(
        self,
        program: str,
        total: float | None = None,
        done: float = 0.0,
        stream: TextIO | None = None,
    ):
        self._program = program
        self._total = None if total is None else max(total, 1e-9)
        self._done = done
        self._steps = 0
        # The pace counts from the end of the first step: the start of processes is none.
        self._began, self._before = time.monotonic(), done
        self._told = float("-inf")
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()

    def add(self, cost: float) -> None:
        self._done += cost
        self._steps += cost > 0
        if self._steps == 1 and cost > 0:
            self._began, self._before = time.monotonic(), self._done

    def show(self, running: str, now: bool = False) -> None:
        """At most every few seconds, but always where `now` is set."""
        pause = SECONDS_BETWEEN_REDRAWS if self._is_terminal else SECONDS_BETWEEN_LINES
        if not now and time.monotonic() - self._told < pause:
            return
        self._told = time.monotonic()
        text = f"{self._program}: {self._how_far()}{running}"
        if self._is_terminal:
            self._stream.write(f"\r\x1b[K{text[:COLUMNS]}")
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def _how_far(self) -> str:
        if self._total is None:
            return ""
        share = min(self._done / self._total, 1.0)
        return f"{share:4.0%} done, {self._left()} left: "

    def _left(self) -> str:
        elapsed, done = time.monotonic() - self._began, self._done - self._before
        if self._steps <= FEWEST_STEPS or elapsed < FEWEST_SECONDS:
            return "estimating what is"
        return report.duration(elapsed * max(self._total - self._done, 0.0) / done)

    def say(self, text: str) -> None:
        """A line that stays."""
        start = "\r\x1b[K" if self._is_terminal else ""
        self._stream.write(f"{start}{self._program}: {text}\n")
        self._stream.flush()
        if self._is_terminal:
            self._told = float("-inf")  # it took the place of the line that is drawn again

    def clear(self) -> None:
        if self._is_terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
