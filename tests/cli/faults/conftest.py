# SPDX-License-Identifier: BSD-3-Clause
"""What every command that writes reads, and places for what it writes."""

import shutil

import h5py
import numpy as np
import pytest

from ..conftest import SAMPLE
from .faults import Place, neve


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(1)
    np.save(folder / "f.npy", np.cumsum(rng.normal(size=(40, 5000)), axis=1).astype("f4"))
    neve("compress", folder / "f.npy", folder / "f.neve", "--bound", "abs=1e-3")
    shutil.copytree(SAMPLE, folder / "plt")
    neve("convert", folder / "plt", folder / "plt.h5")
    options = ("--file", "checkpoint", "--box-cells", "8", "--strategies", "skeleton")
    neve("bench", "chombo", *options, "--repeats", "1", "--folder", folder, "--keep")
    (folder / "neve_chombo_skeleton.h5").rename(folder / "chk.h5")
    with h5py.File(folder / "data.h5", "w") as file:
        for v in range(3):
            values = np.cumsum(rng.normal(size=(8, 100, 100)), axis=1).astype("f4")
            file.create_dataset(f"v{v}", data=values, chunks=(1, 100, 100))
    neve("convert", folder / "data.h5", "--into", folder / "logged", "--choices", "log")
    neve("trace", "run", "-o", folder / "t.json", "--", "cp", folder / "f.npy", folder / "copy")
    return folder


@pytest.fixture
def place(inputs, tmp_path):
    return lambda command, folder=tmp_path: Place(command, inputs, folder)
