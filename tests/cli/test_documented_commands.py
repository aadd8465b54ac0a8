# SPDX-License-Identifier: BSD-3-Clause
"""Every command line of README.md and docs/, run as it stands, in a fresh folder of each page.

A line that needs what a test machine lacks, or many minutes, stands in NEEDS with the reason.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from . import chombo_files
from .conftest import BUILD, ROOT, SAMPLE, environment
from .readers.sample_files import make_netcdf

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FIRST_WORDS = (
    r"(?:\w+=\S+ )*"
    r"(?:(?:\S*/)?neve|mpirun|make|cmake|export|pip|(?:\S*/)?python|ncdump|h5dump|ctest) (?! )"
)

LONG = "some minutes: run with NEVE_TEST_LONG=1"
INSTALLED = "an installed Neve and a program of one's own; test_trace.py preloads the library"
NEEDS = {
    "make demo": "CI runs it",
    "make test": "this is part of it",
    "cmake --preset default -DNEVE_AMREX=ON": "an installed AMReX",
    "AMREX_HOME=<sources>": "AMReX's sources",
    "cmake -D PLUGIN=libh5neve.so": "a key and h5sign; test_signed_plugin.py runs it",
    "export HDF5_PLUGIN_PATH=<checkout>": "says <checkout>: a path to fill in",
    "pip install": "test_wheel.py does it",
    "mpirun -x LD_PRELOAD=/opt": INSTALLED,
    "neve trace report independent.json": "two traces of one's own; test_trace.py compares two",
    "neve trace report trace.json job.darshan": "a log; test_trace_darshan.py reads some",
    "neve bench study two-cores": LONG,
    "neve bench study deck.toml --into results --retry": LONG,
    "neve bench study deck.toml --into results #": LONG,
    "mpirun -n 2 neve bench ensemble --deck": LONG,
    "mpirun -n 2 neve bench ensemble --nx": LONG,
    "mpirun -n 4 neve bench ensemble --verify": LONG,
    "neve bench rd plt00113": LONG,
    "neve convert wrfout_*": "time steps of one's own; test_convert_series.py makes some",
    "neve choices small": "copies of such steps; test_convert_series.py makes some",
    "neve study acb": LONG,
    "neve study acomps": LONG,
    "neve study amric": LONG,
    "neve study miniio": LONG,
    "mpirun -n 4 neve bench cartiso --steps 3": LONG,
    "mpirun -n 4 neve bench amr --methods": LONG,
    "mpirun -n 4 neve bench struct --valid": LONG,
}

CASES = {
    "chombo-benchmark.md": "units = [1, 1, 1]\nbox-cells = 8\n",
    "miniapps.md": "points = 20000\nsteps = 1\n",
}
DECK = """
title = "A small study"
ranks = [1]
[struct]
outputs = ["hdf5", "hdf5-neve"]
options = { grid = [48, 48, 12], steps = 1 }
"""


def commands(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return [line.strip() for line in re.findall(rf"^    ({FIRST_WORDS}.*)$", text, re.MULTILINE)]


LINES = [(page.name, line) for page in PAGES for line in commands(page)]


def reason(line):
    spaced = re.sub(r" +", " ", line) + " #"
    return next((why for words, why in NEEDS.items() if spaced.startswith(words)), None)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder for each page, with the files that its lines speak of."""
    root = tmp_path_factory.mktemp("pages")
    made = {}

    def folder_of(page):
        if page in made:
            return made[page]
        folder = made[page] = root / page
        shutil.copytree(SAMPLE, folder / "plt00113")
        (folder / "bench").mkdir()
        for name in ("examples", "bench/apps"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "build").symlink_to(BUILD)
        variables = [chombo_files.Variable("data", components=2)]
        chombo_files.write(folder / "chk.h5", 3, variables, components=("rho", "energy"))
        make_netcdf(folder / "ocean.nc")
        (folder / "case.toml").write_text(CASES.get(page, ""))
        (folder / "deck.toml").write_text(DECK)
        (folder / "input").write_text("")
        for name in ("simulation", "analysis"):
            shutil.copy(BUILD / "bin" / "mpi_gather_c", folder / name)
        (folder / "bench" / "results").mkdir()
        golden = ROOT / "tests" / "golden" / "frames_mixed_two_ranks.nevefile"
        shutil.copy(golden, folder / "density.neve")
        return folder

    return folder_of


def run(folder, line):
    """In a shell of its own, which knows the command and the plugin."""
    path = f"{Path(sys.executable).parent}:{BUILD}/bin:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment(PATH=path, HDF5_PLUGIN_PATH=str(BUILD / "lib" / "plugin")),
        capture_output=True,
        text=True,
        timeout=1200,
    )


@pytest.mark.parametrize("page, line", LINES, ids=[f"{p}: {line[:60]}" for p, line in LINES])
def test_a_documented_command_works(folders, page, line):
    why = reason(line)
    if why == LONG and os.environ.get("NEVE_TEST_LONG"):
        why = None
    if why:
        pytest.skip(f"needs {why}")
    done = run(folders(page), line)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_every_need_is_of_a_line_that_is_there():
    spaced = [re.sub(r" +", " ", line) + " #" for _, line in LINES]
    for words in NEEDS:
        assert any(line.startswith(words) for line in spaced), words
    assert len(LINES) > 50
    assert np.mean([reason(line) is None for _, line in LINES]) > 0.6
