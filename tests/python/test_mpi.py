# SPDX-License-Identifier: BSD-3-Clause
"""neve.mpi under mpi4py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT

pytest.importorskip("mpi4py", reason="mpi4py is not installed (scripts/requirements.txt)")
BUILD = Path(os.environ.get("NEVE_BUILD_DIR", CHECKOUT / "build"))


@pytest.mark.parametrize("ranks", [1, 3])
def test_gathers_messages_and_files_from_python(tmp_path, ranks):
    library = BUILD / "lib" / "libneve_mpi.so"
    if not library.exists() or not shutil.which("mpirun"):
        pytest.skip("no libneve_mpi.so in the build, or no mpirun")
    program = Path(__file__).with_name("mpi_program.py")
    done = subprocess.run(
        ["mpirun", "-n", str(ranks), sys.executable, str(program), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NEVE_LIBNEVE_MPI": str(library)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # mpirun may pass on a rank's line before the end of another's.
    assert sorted(re.findall(r"rank \d+ well", done.stdout)) == [
        f"rank {r} well" for r in range(ranks)
    ]


@pytest.mark.parametrize(
    ("keyword", "value", "most"),
    [("block_bytes", -1, 2**30), ("threads", -1, 1024), ("threads", 2**32, 1024)],
)
def test_numbers_out_of_range_are_named_as_they_were_given(keyword, value, most):
    code = (
        "import numpy as np, neve, neve.mpi\nfrom mpi4py import MPI\n"
        f"try: neve.mpi.gather(MPI.COMM_WORLD, np.ones(4), bound='abs=1', {keyword}={value})\n"
        "except neve.Error as error: print(error)\n"
    )
    library = BUILD / "lib" / "libneve_mpi.so"
    if not library.exists():
        pytest.skip("no libneve_mpi.so in the build")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NEVE_LIBNEVE_MPI": str(library)},
    )
    assert done.stdout == f"neve.mpi: {keyword} is {value}; 0 to {most} are allowed\n", done.stderr
