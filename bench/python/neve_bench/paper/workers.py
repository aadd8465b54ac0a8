# SPDX-License-Identifier: BSD-3-Clause
"""Units in processes of their own. One that crashes or takes too long costs its own unit only."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from ..programs import die_with_parent
from .unit import Unit

Record = dict[str, Any]
WAIT_SECONDS = 0.5  # between looks at the clock
GRACE_SECONDS = 8  # for a worker to stop the program that it runs


def failed(error: str) -> Record:
    return {"error": error, "result": None}


def _leave(*_: object) -> None:
    """By an exception, on whose way the program that a unit runs is stopped: once."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signal.SIGTERM)


def _serve(module: str, ours: Connection, parent: int) -> None:
    """A worker's life: `module`.measure(request, paths) for each unit, until nobody asks."""
    die_with_parent(parent, signal.SIGKILL)
    signal.signal(signal.SIGTERM, _leave)
    measure = importlib.import_module(module).measure
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            request, paths = ours.recv()
            ours.send(measure(request, paths))


@dataclass
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    unit: Unit | None = None
    began: float = 0.0

    def give(self, unit: Unit) -> None:
        self.unit, self.began = unit, time.monotonic()
        self.pipe.send((unit.request, unit.paths))

    def end(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join(GRACE_SECONDS)
        self.process.kill()  # one that heeds no signal: it computes
        self.process.join()


class Workers:
    """To be used in a `with` block, whose end ends the processes."""

    def __init__(self, module: str, count: int, limit_seconds: float):
        self._module = module
        self._count = count
        self._limit_seconds = limit_seconds
        self._workers: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *unused: object) -> None:
        for worker in self._workers:
            worker.process.terminate()  # all at once, so that their ends are waited for together
        for worker in self._workers:
            worker.end()

    def run(
        self, units: Sequence[Unit], tick: Callable[[str], None]
    ) -> Iterator[tuple[Unit, Record]]:
        """(unit, its record) in the order in which they end; `tick` hears often what runs."""
        waiting = deque(units)
        while waiting or any(worker.unit for worker in self._workers):
            self._hand_out(waiting)
            busy = [worker for worker in self._workers if worker.unit is not None]
            tick(busy[0].unit.name if busy else "")
            ready = wait([worker.pipe for worker in busy], WAIT_SECONDS)
            for worker in busy:
                record = self._record(worker, worker.pipe in ready)
                if record is not None:
                    unit, worker.unit = worker.unit, None
                    yield unit, record

    def _hand_out(self, waiting: deque[Unit]) -> None:
        while len(self._workers) < min(self._count, len(waiting)):
            self._workers.append(self._start())
        for worker in self._workers:
            if worker.unit is None and waiting:
                worker.give(waiting.popleft())

    def _start(self) -> _Worker:
        # A fresh process, as a fork would inherit the pipes of the others.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        words = (self._module, theirs, os.getpid())
        process = context.Process(target=_serve, args=words, daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _record(self, worker: _Worker, is_ready: bool) -> Record | None:
        if is_ready:
            try:
                return worker.pipe.recv()
            except (EOFError, OSError):
                worker.process.join()
                code = worker.process.exitcode
                self._drop(worker)
                return failed(f"its process ended with {code}")
        if time.monotonic() - worker.began > self._limit_seconds:
            self._drop(worker)
            return failed(f"stopped after {self._limit_seconds:g} s")
        return None

    def _drop(self, worker: _Worker) -> None:
        worker.end()
        self._workers.remove(worker)
