# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are measured, run to their end within a limit."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neve._errors import FAILURE, Error


def mpirun(ranks: int) -> list[str]:
    """The words before a command that is to run on so many ranks, more than cores if need be."""
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *as_root, "--oversubscribe", "-n", str(ranks)]


def output_of(words: Sequence[str], limit_seconds: float, allowed: Sequence[int] = (0,)) -> str:
    """What the command prints; another exit code than those allowed is an Error that says why."""
    name = Path(words[0]).name
    try:
        done = subprocess.run(
            list(words), capture_output=True, text=True, timeout=limit_seconds, check=False
        )
    except FileNotFoundError:
        raise Error(f"{words[0]}: not installed", FAILURE) from None
    except subprocess.TimeoutExpired:
        raise Error(f"{name}: stopped after {limit_seconds:g} s", FAILURE) from None
    if done.returncode not in allowed:
        reason = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        # Launchers surround what Neve says with lines of their own.
        own = [line for line in reason.splitlines() if line.startswith("neve")]
        raise Error(own[-1] if own else f"{name}: {reason}", FAILURE)
    return done.stdout


def json_of(words: Sequence[str], limit_seconds: float, allowed: Sequence[int] = (0,)) -> Any:
    return json.loads(output_of(words, limit_seconds, allowed))
