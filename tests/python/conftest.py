# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

CHECKOUT = Path(__file__).parents[2]
SHARED_DATA = CHECKOUT.parent / "shared" / "data"
SAMPLE = CHECKOUT / "examples" / "samples" / "nyx_lya32_plt00113"
COMMAND = Path(os.environ.get("NEVE_COMMAND", CHECKOUT / "build" / "bin" / "neve"))

# No deadline: the machines that run this are shared, and a slow minute is not a failure.
quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("short", max_examples=60, deadline=None, suppress_health_check=quiet)
settings.register_profile("long", max_examples=2000, deadline=None, suppress_health_check=quiet)
settings.load_profile("long" if os.environ.get("NEVE_TEST_LONG") else "short")


@pytest.fixture(scope="session")
def sample() -> Path:
    """The bundled AMReX plotfile."""
    return SAMPLE


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is not beside the checkout: the real data files are not here")
    return SHARED_DATA


@pytest.fixture(scope="session")
def neve_command() -> Path:
    if not COMMAND.exists():
        pytest.skip("no build/bin/neve: run `make build`, or name the command in NEVE_COMMAND")
    return COMMAND


@pytest.fixture(scope="session")
def converted(neve_command: Path, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled plotfile as the command converts it."""
    target = tmp_path_factory.mktemp("converted") / "plotfile.h5"
    subprocess.run(
        [str(neve_command), "convert", str(sample), str(target)]
        + ["--bound", "rel=1e-3", "--covered", "auto"],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return target


@pytest.fixture
def h5dump() -> str:
    path = shutil.which("h5dump")
    if path is None:
        pytest.skip("h5dump is not installed (hdf5-tools)")
    return path
