# SPDX-License-Identifier: BSD-3-Clause
"""Progress that goes on while one measurement takes long."""

from __future__ import annotations

import threading

from ..paper.progress import Progress

SECONDS = 1.0  # between looks; Progress itself says when it is time for a line


class Ticker:
    """To be used in a `with` block. Codecs and children leave room for its thread."""

    def __init__(self, progress: Progress):
        self._progress = progress
        self._running = ""
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Ticker:
        self._thread.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._progress.clear()

    def now(self, running: str, always: bool = False) -> None:
        with self._lock:
            self._running = running
            self._progress.show(running, always)

    def add(self, seconds: float) -> None:
        """Of what was planned."""
        with self._lock:
            self._progress.add(seconds)

    def say(self, text: str) -> None:
        with self._lock:
            self._progress.say(text)

    def _tick(self) -> None:
        while not self._is_over.wait(SECONDS):
            with self._lock:
                self._progress.show(self._running)
