# SPDX-License-Identifier: BSD-3-Clause
"""The command as people run it: build/bin/neve, alone and under mpirun."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEVE_BUILD_DIR", ROOT / "build"))
NEVE = BUILD / "bin" / "neve"
PLUGIN_DIR = BUILD / "lib" / "plugin"
SAMPLE = ROOT / "examples" / "samples" / "nyx_lya32_plt00113"
SHARED_DATA = ROOT.parent / "shared" / "data"
TIMEOUT_SECONDS = 240


def environment(**changes):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NEVE_FAULT", "HDF5_PLUGIN"))}
    env["NEVE_PYTHON"] = sys.executable
    env.update(changes)
    return env


def run_as_stranger(*command):
    """A program that knows nothing of Neve, with the plugin's folder; what it said. In a process of
    its own, also where it is Python: HDF5 looks for that folder once, when it starts.
    """
    done = subprocess.run(
        command,
        env=environment(HDF5_PLUGIN_PATH=str(PLUGIN_DIR)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# In a small process of its own: the kernel counts what its parent had to a command's memory.
PEAK = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_bytes(*words):
    """What a command had in memory at most."""
    return int(run_as_stranger(sys.executable, "-c", PEAK, NEVE, *map(str, words)))


class Outcome:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def messages(self):
        """The command's own lines on stderr; mpirun adds its own when a rank fails."""
        return [line for line in self.err.splitlines() if re.match("neve[a-z ]*: ", line)]


def run(command, **changes):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        env=environment(**changes),
    )
    return Outcome(done)


def run_neve(*args, ranks=None, expect=0, **changes):
    launcher = [] if ranks is None else ["mpirun", "-n", ranks]
    outcome = run([*launcher, NEVE, *args], **changes)
    if expect is not None:
        assert outcome.code == expect, f"exit {outcome.code}\n{outcome.out}\n{outcome.err}"
    return outcome


@pytest.fixture(scope="session")
def neve():
    assert NEVE.exists(), f"{NEVE} is missing: make build"
    return run_neve


@pytest.fixture(scope="session")
def sample():
    return SAMPLE


@pytest.fixture(scope="session")
def converted(neve, tmp_path_factory):
    """The sample plotfile, converted by two ranks."""
    path = tmp_path_factory.mktemp("converted") / "nyx.h5"
    neve("convert", SAMPLE, path, "--bound", "rel=1e-3", "--covered", "auto", ranks=2)
    return path


@pytest.fixture
def sample_copy(tmp_path):
    """A copy of the sample to damage."""
    path = tmp_path / "plt"
    shutil.copytree(SAMPLE, path)
    return path


def shared(path):
    found = SHARED_DATA / path
    if not found.exists():
        pytest.skip(f"{found} is missing: the real data lies beside the checkout")
    return found


def climate(name, folder):
    """A file of the real climate data; one of before netCDF-4 as people make netCDF-4 of it."""
    found = shared(f"climate/{name}")
    if found.read_bytes()[:3] != b"CDF":
        return found
    if shutil.which("nccopy") is None:
        pytest.skip("nccopy is not installed")
    path = folder / f"nc4_{name}"
    subprocess.run(
        ["nccopy", "-k", "nc4", "-d", "5", "-s", found, path], check=True, timeout=TIMEOUT_SECONDS
    )
    return path
