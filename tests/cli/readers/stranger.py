# SPDX-License-Identifier: BSD-3-Clause
"""Runs tools as people have them: they know the plugin's folder and nothing else of Neve."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from ..conftest import PLUGIN_DIR, environment
from .matrix import Refused
from .sample_files import Sample

TIMEOUT_SECONDS = 240
JOBS = Path(__file__).with_name("python_jobs.py")


def run_tool(*words: object) -> str:
    """What a program said. Refused: it ended with an error."""
    command = [str(word) for word in words]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        command,
        env=environment(HDF5_PLUGIN_PATH=str(PLUGIN_DIR)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    if done.returncode != 0:
        raise Refused(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def read_in_python(tool: str, operation: str, sample: Sample) -> dict[str, np.ndarray]:
    """The arrays that an operation of python_jobs.py makes of a file. Refused: it raised."""
    folder = Path(tempfile.mkdtemp(prefix="job-", dir=sample.path.parent))
    job = {
        "operation": operation,
        "path": str(sample.path),
        "names": list(sample.values),
        "numbers": [name for name, values in sample.values.items() if values.dtype.kind != "S"],
        "texts": list(sample.texts),
        "fields": list(sample.fields),
        "folder": str(folder),
    }
    error = _process_of(tool).run(job)
    if error:
        raise Refused(error)
    with np.load(folder / "arrays.npz") as arrays:
        return {name.replace("\\", "/"): arrays[name] for name in arrays.files}


class _Process:
    """A Python process that has one tool's libraries and no other: HDF5 looks for plugins once,
    and the wheels bring an HDF5 each. It does one job after the other, for imports take longest.
    """

    def __init__(self, tool: str) -> None:
        self.child = subprocess.Popen(
            [sys.executable, JOBS, tool],
            env=environment(HDF5_PLUGIN_PATH=str(PLUGIN_DIR), PYTHONWARNINGS="ignore"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, job: dict[str, object]) -> str:
        assert self.child.stdin is not None and self.child.stdout is not None
        self.child.stdin.write(json.dumps(job) + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            return f"the process ended with status {self.child.wait(TIMEOUT_SECONDS)}"
        return str(json.loads(answer)["error"])

    def end(self) -> int:
        """The status that the process ends with: memory that a library damaged shows there."""
        assert self.child.stdin is not None and self.child.stdout is not None
        self.child.stdin.close()
        status = self.child.wait(TIMEOUT_SECONDS)
        self.child.stdout.close()
        return status


_processes: dict[str, _Process] = {}


def _process_of(tool: str) -> _Process:
    if tool not in _processes:
        _processes[tool] = _Process(tool)
    return _processes[tool]


def end_processes() -> dict[str, int]:
    """Ends all that run; their exit statuses, by tool."""
    ended = {tool: process.end() for tool, process in _processes.items()}
    _processes.clear()
    return ended
