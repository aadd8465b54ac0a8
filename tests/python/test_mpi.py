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
