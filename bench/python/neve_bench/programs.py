# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are measured, run to their end within a limit."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neve._errors import FAILURE, Error

PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 5  # for a launcher to stop its ranks


def mpirun(ranks: int) -> list[str]:
    """The words before a command that is to run on so many ranks, more than cores if need be."""
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *as_root, "--oversubscribe", "-n", str(ranks)]


def output_of(words: Sequence[str], limit_seconds: float, allowed: Sequence[int] = (0,)) -> str:
    """What the command prints; another exit code than those allowed is an Error that says why."""
    name = Path(words[0]).name
    code, out, err = outcome(words, limit_seconds)
    if code is None:
        raise Error(f"{name}: stopped after {limit_seconds:g} s", FAILURE)
    if code not in allowed:
        reason = (err or out).strip() or f"exit code {code}"
        # Launchers surround what Neve says with lines of their own.
        own = [line for line in reason.splitlines() if line.startswith("neve")]
        raise Error(own[-1] if own else f"{name}: {reason}", FAILURE)
    return out


def outcome(words: Sequence[str], limit_seconds: float) -> tuple[int | None, str, str]:
    """Exit code (None: it took too long), stdout, stderr. However this ends, the program does, too,
    and a launcher with its ranks.
    """
    try:
        child = subprocess.Popen(
            list(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=functools.partial(die_with_parent, os.getpid(), signal.SIGTERM),
        )
    except OSError as error:
        what = "not installed" if isinstance(error, FileNotFoundError) else error.strerror
        raise Error(f"{words[0]}: {what}", FAILURE) from None
    try:
        out, err = child.communicate(timeout=limit_seconds)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        return None, "", ""
    finally:
        if child.poll() is None:
            _stop(child)


def die_with_parent(parent: int, by: signal.Signals) -> None:
    """To be called in a child: what outlives a killed parent would disturb what is measured next.
    `parent`, the process that made it, may be gone already, and then no signal comes.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _stop(child: subprocess.Popen) -> None:
    """The launcher first, which stops its ranks, wherever they are."""
    with contextlib.suppress(ProcessLookupError):
        child.terminate()
        try:
            child.communicate(timeout=GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()


def json_of(words: Sequence[str], limit_seconds: float, allowed: Sequence[int] = (0,)) -> Any:
    return json.loads(output_of(words, limit_seconds, allowed))
