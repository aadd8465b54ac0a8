# SPDX-License-Identifier: BSD-3-Clause
"""Decoded values that several callers ask for, kept up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

import numpy as np


class _Entry:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values: np.ndarray | None = None


class HeldValues:
    """The arrays used last. What one thread is making, others that ask for it wait for."""

    def __init__(self, most_bytes: int):
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        """What `make` gave for `key`, or gives now; it cannot be written into."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
        with entry.lock:
            if entry.values is None:
                values = make()
                values.flags.writeable = False
                entry.values = values
        with self._lock:
            self._drop_oldest()
        return entry.values

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def _drop_oldest(self) -> None:
        sizes = [0 if e.values is None else e.values.nbytes for e in self._entries.values()]
        total = sum(sizes)
        for size in sizes[:-1]:
            if total <= self._most_bytes:
                return
            self._entries.popitem(last=False)
            total -= size
