# SPDX-License-Identifier: BSD-3-Clause
"""Pipes that a file's links lead to are not opened, which would wait for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

SCRIPT = """
import neve
for name in ("level_1.h5", "level_0.h5", "Chombo_global.h5", "stored.h5"):
    try:
        neve.open(name)
    except neve.Error as error:
        print(name, error.code, "leads to" in str(error), str(error).split("/pipe")[-1])
"""
GUESSES = """
from neve.xarray import XarrayBackend
print([XarrayBackend().guess_can_open(n) for n in ("level_1.h5", "level_0.h5", "stored.h5")])
"""


def run(script: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    for link in ("level_1", "level_0", "Chombo_global"):
        with h5py.File(tmp_path / f"{link}.h5", "w") as file:
            file.attrs["num_levels"] = 2
            for name in ("level_0", "level_1", "Chombo_global"):
                if name != link:
                    file.create_group(name)
            file[link] = h5py.ExternalLink("pipe", f"/{link}")
    with h5py.File(tmp_path / "stored.h5", "w") as file:
        file.attrs["num_levels"] = 1
        file.create_dataset("v", (4,), "f8", external=[(str(tmp_path / "pipe"), 0, 32)])
    return tmp_path


def test_pipes_are_refused_by_name(folder: Path) -> None:
    assert run(SCRIPT, folder) == [
        f"{name}.h5 1 True , which is not a regular file"
        for name in ("level_1", "level_0", "Chombo_global", "stored")
    ]


def test_guessing_opens_no_link(folder: Path) -> None:
    pytest.importorskip("xarray", reason="xarray is not installed")
    assert run(GUESSES, folder) == ["[True, True, False]"]
