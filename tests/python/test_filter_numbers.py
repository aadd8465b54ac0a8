# SPDX-License-Identifier: BSD-3-Clause
"""The filter under several numbers: what a registered number will need, tried with number 511."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import neve

CHECKOUT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("NEVE_BUILD_DIR", CHECKOUT / "build"))
OWN = BUILD / "lib" / "plugin"
OTHER = BUILD / "tests" / "plugin_511"
OTHER_NUMBER = 511
TIMEOUT_SECONDS = 100

WRITE = """
import json, sys, h5py, numpy as np
path, numbers, words = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
with h5py.File(path, "w") as file:
    for number in numbers:
        values = np.sin(np.arange(5000.) / 50 + number)
        file.create_dataset(f"by_{number}", data=values, chunks=(999,),
                            compression=number, compression_opts=tuple(words))
with h5py.File(path) as file:
    for number in numbers:
        data = file[f"by_{number}"]
        (filter,) = [data.id.get_create_plist().get_filter(0)]
        assert filter[0] == number and len(filter[2]) > len(words), filter
        assert abs(data[:] - np.sin(np.arange(5000.) / 50 + number)).max() <= 1e-3
"""


def run(*command: str | Path, folders: tuple[Path, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "HDF5_PLUGIN_PATH": ":".join(map(str, folders))},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a dataset under each number."""
    if not (OTHER / "libh5neve_511.so").exists():
        pytest.skip(f"{OTHER} has no plugin: run `make build`, or name the build in NEVE_BUILD_DIR")
    path = tmp_path_factory.mktemp("numbers") / "both.h5"
    numbers = f"[{neve._core.FILTER_ID}, {OTHER_NUMBER}]"
    words = str(list(neve.filter_parameters("abs = 0.001")))
    done = run(sys.executable, "-c", WRITE, path, numbers, words, folders=(OWN, OTHER))
    assert done.returncode == 0, done.stderr
    return path


def number_of(plugin: Path) -> int:
    info = ctypes.CDLL(str(plugin)).H5PLget_plugin_info
    info.restype = ctypes.POINTER(ctypes.c_int * 2)  # version, number
    return int(info().contents[1])


def test_each_number_has_a_plugin_beside_the_others() -> None:
    if not OWN.exists():
        pytest.skip(f"{OWN} is missing: run `make build`, or name the build in NEVE_BUILD_DIR")
    assert sorted(map(number_of, OWN.iterdir())) == sorted(neve._core.FILTER_IDS)
    assert neve._core.FILTER_ID == neve._core.FILTER_IDS[0]


def test_the_number_decides_which_plugin_is_loaded(both: Path, h5dump: str) -> None:
    for number, folder, other in (
        (neve._core.FILTER_ID, OWN, OTHER),
        (OTHER_NUMBER, OTHER, OWN),
    ):
        command = (h5dump, "-d", f"/by_{number}", both)
        assert run(*command, folders=(folder,)).returncode == 0
        assert run(*command, folders=(other,)).returncode != 0
        assert run(*command, folders=(other, folder)).returncode == 0


def test_copies_keep_their_number_or_get_the_one_that_is_asked_for(
    both: Path, tmp_path: Path
) -> None:
    import shutil

    if shutil.which("h5repack") is None or shutil.which("h5diff") is None:
        pytest.skip("h5repack or h5diff is not installed")
    for options, numbers in (
        ((), {str(neve._core.FILTER_ID), str(OTHER_NUMBER)}),
        (("-f", f"UD={OTHER_NUMBER},0,0"), {str(OTHER_NUMBER)}),
    ):
        copy = tmp_path / f"copy{len(options)}.h5"
        done = run("h5repack", *options, both, copy, folders=(OTHER, OWN))
        assert done.returncode == 0, done.stderr
        assert run("h5diff", both, copy, folders=(OWN, OTHER)).returncode == 0
        header = run("h5dump", "-p", "-H", copy, folders=(OWN,)).stdout
        found = {line.split()[1] for line in header.splitlines() if "FILTER_ID" in line}
        assert found == numbers
