# SPDX-License-Identifier: BSD-3-Clause
"""A measurement in a child of its own: a program that crashes or hangs costs only its row."""

from __future__ import annotations

import multiprocessing
import signal
import traceback

from .measure import Measured, measure
from .subject import Subject
from .way import NotPossible, Way


def measure_in_child(
    way: Way, subject: Subject, repeats: int, limit_seconds: float
) -> Measured | str:
    """What measure() gives, or what went wrong. Raises NotPossible."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(sender, way, subject, repeats))
    child.start()
    sender.close()
    try:
        if not receiver.poll(limit_seconds):
            return f"stopped after {limit_seconds:g} s"
        found = receiver.recv()
    except EOFError:
        child.join()
        return f"crashed ({_end_of(child.exitcode)})"
    finally:
        if child.is_alive():
            child.kill()
        child.join()
        receiver.close()
    if isinstance(found, NotPossible):
        raise found
    return found


def _child(sender, way: Way, subject: Subject, repeats: int) -> None:
    try:
        sender.send(measure(way, subject, repeats))
    except NotPossible as reason:
        sender.send(reason)
    except BaseException as error:  # noqa: B036 - whatever a program raises is its row's result
        sender.send(traceback.format_exception_only(error)[-1].strip())


def _end_of(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
