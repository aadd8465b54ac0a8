# SPDX-License-Identifier: BSD-3-Clause
"""`pip install .` elsewhere than in the checkout: the package, and the command for one process."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from test_install import BUILD, ROOT

SAMPLE = ROOT / "examples" / "samples" / "nyx_lya32_plt00113"
PIP = (sys.executable, "-m", "pip")
QUIET = ("--quiet", "--disable-pip-version-check", "--no-deps")
NEEDS_MPI = "needs a build of Neve with MPI, and this one has none; `make build` in the checkout"


def run(*words, code=0, cwd=None, **changes):
    env = {k: v for k, v in os.environ.items() if k not in ("HDF5_PLUGIN_PATH", "NEVE_PYTHON")}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**env, **changes},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """As the build before, and in a folder beside it, so that what that compiled serves here."""
    folder = tmp_path_factory.mktemp("wheel")
    settings = (
        "--config-settings=cmake.define.NEVE_WERROR=ON",
        "--config-settings=cmake.define.CMAKE_CXX_COMPILER=c++",
        f"--config-settings=build-dir={ROOT / 'build-wheel'}",
    )
    run(*PIP, "wheel", *QUIET, "--no-build-isolation", *settings, "-w", folder, ROOT)
    (found,) = folder.glob("neve-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The `bin` of a fresh environment with the wheel in it; numpy and h5py are this one's."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home, with_pip=False)
    run(*PIP, "--python", home / "bin" / "python", "install", *QUIET, wheel)
    (packages,) = home.glob("lib/python*/site-packages")
    others = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "others.pth").write_text("\n".join(others))
    return home / "bin"


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """An array, a netCDF-4 file and a plotfile, and what is asked for each."""
    folder = tmp_path_factory.mktemp("sources")
    values = np.cumsum(np.random.default_rng(0).normal(size=(30, 40, 20)), axis=0).astype("f4")
    np.save(folder / "field.npy", values)
    with h5py.File(folder / "ocean.nc", "w") as file:
        file.create_dataset("temp", data=values, chunks=(10, 40, 20))
        file["temp"].attrs["units"] = "K"
    shutil.copytree(SAMPLE, folder / "plt00113")
    return folder


def test_the_wheel_is_the_package_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"neve"}
    assert {"neve/plugin/libh5neve.so", "neve/py.typed", "neve/_core.pyi"} <= set(names)
    assert "neve/bin/neve" in names and not [name for name in names if "missing.txt" in name]


def test_the_package_compresses_and_the_plugin_works(installed, tmp_path):
    script = (
        "import neve, numpy as np, h5py, sys\n"
        "assert neve.__file__.startswith(sys.prefix), neve.__file__\n"
        "a = np.linspace(0, 1, 5000, dtype='f4')\n"
        "assert abs(neve.decompress(neve.compress(a, abs=1e-3)) - a).max() <= 1e-3\n"
        "with h5py.File('x.h5', 'w') as f:\n"
        "    f.create_dataset('a', data=a, chunks=(1000,), **neve.Filter(lossless=True))\n"
        "    assert (f['a'][:] == a).all()\n"
        "import xarray\n"
        "assert 'neve' in xarray.backends.list_engines(), 'the wheel has no entry point'\n"
    )
    run(installed / "python", "-c", script, cwd=tmp_path)


def test_no_mpi_is_asked_for(installed):
    command = next((installed.parent / "lib").glob("python*/site-packages/neve/bin/neve"))
    assert "libmpi" not in run("readelf", "-d", command).stdout  # a parallel HDF5 may bring one
    assert not re.search(r" MPI_\w+", run("nm", "-D", command).stdout)


CONVERSIONS = {
    "field.npy": [("field.h5", "--bound", "rel=1e-3")],
    "ocean.nc": [("small.nc",), ("bounded.nc", "--bound", "rel=1e-4", "--threads", "2")],
    "plt00113": [
        ("plt.h5", "--bound", "rel=1e-3", "--field", "Temp:abs=0.5"),
        ("own.h5", "--covered", "auto", "--effort", "balanced", "--cross-level"),
        ("flat.h5", "--uncompressed"),
        ("aggregated.h5", "--strategy", "aggregated", "--chunk-size", "128KiB"),
        ("independent.h5", "--strategy", "independent"),
        ("amrex.h5", "--strategy", "amrex-1d"),
        ("plt_copy",),
    ],
}
CASES = [(source, words) for source, cases in CONVERSIONS.items() for words in cases]


def within_a_second(work):
    """HDF5 stamps the objects of a copied data file with the time, in seconds."""
    for _ in range(20):
        begin = int(time.time())
        work()
        if int(time.time()) == begin:
            return
        time.sleep(1 - time.time() % 1)
    pytest.fail("two conversions took more than a second, 20 times")


def contents(path):
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.mark.parametrize("source, words", CASES, ids=[words[0] for _, words in CASES])
def test_files_are_those_that_the_command_with_mpi_writes(
    installed, sources, tmp_path, source, words
):
    name, *options = words
    made = {}

    def convert():
        for command, folder in ((installed / "neve", "alone"), (BUILD / "bin" / "neve", "mpi")):
            (tmp_path / folder).mkdir(exist_ok=True)
            target = tmp_path / folder / name
            run(command, "convert", sources / source, target, *options)
            made[folder] = contents(target)

    if source == "plt00113":  # nothing of it is stamped
        convert()
    else:
        within_a_second(convert)
    assert made["alone"] == made["mpi"]
    target = tmp_path / "alone" / name
    assert json.loads(run(installed / "neve", "verify", sources / source, target, "--json").stdout)[
        "ok"
    ]
    run(installed / "neve", "info", target)


def test_a_frame_and_the_plan(installed, sources, tmp_path):
    neve = installed / "neve"
    run(neve, "compress", sources / "field.npy", "f.neve", "--bound", "abs=0.01", cwd=tmp_path)
    run(neve, "decompress", "f.neve", "back.npy", cwd=tmp_path)
    error = np.load(tmp_path / "back.npy") - np.load(sources / "field.npy")
    assert np.abs(error).max() <= 0.01
    plan = run(neve, "plan", sources / "plt00113", "--ranks", "8", "--ratio", "20").stdout
    assert "independent" in plan


def test_the_doctor_and_the_path_that_it_prints(installed, tmp_path):
    neve = installed / "neve"
    assert "export HDF5_PLUGIN_PATH=" in run(neve, "doctor", code=5).stderr
    folder = run(neve, "doctor", "--plugin-path").stdout.strip()
    found = json.loads(run(neve, "doctor", "--json", HDF5_PLUGIN_PATH=folder).stdout)
    assert found["ok"] and Path(found["plugin"]).parent == Path(folder)
    assert found["mpi"] is None and found["python"] == str(installed / "python")


def test_a_picture(installed, sources, tmp_path):
    pytest.importorskip("matplotlib")
    neve, picture = installed / "neve", tmp_path / "density.png"
    run(neve, "plot", sources / "plt00113", "--field", "density", "-o", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_functions_run_this_command(installed, sources, tmp_path):
    script = (
        "import neve, sys\n"
        "from neve._command import command_path\n"
        "assert str(command_path()).startswith(sys.prefix)\n"
        "report = neve.convert(sys.argv[1] + '/ocean.nc', 'x.nc', bound='rel=1e-3')\n"
        "assert neve.verify(sys.argv[1] + '/ocean.nc', 'x.nc').ok and report.ratio > 1\n"
        "assert neve.file_info('x.nc').kind and neve.doctor().ok\n"
    )
    run(installed / "python", "-c", script, sources, cwd=tmp_path)


@pytest.mark.parametrize("words", [("bench", "codecs"), ("mpi", "run"), ("trace", "run", "--help")])
def test_what_is_left_out_says_so(installed, words):
    done = run(installed / "neve", *words, code=2)
    assert done.stderr.startswith(f"neve {words[0]}: this {NEEDS_MPI}")


@pytest.mark.parametrize(
    "words, what",
    [
        (("--strategy", "filtered"), "strategy filtered"),
        (("--stripe-count", "4"), "--stripe-count"),
        (("--aggregators", "2", "--strategy", "aggregated"), "--aggregators"),
    ],
)
def test_options_that_are_left_out_say_so(installed, sources, tmp_path, words, what):
    asked = ("convert", sources / "plt00113", tmp_path / "plt.h5", *words)
    assert f"{what} {NEEDS_MPI}" in run(installed / "neve", *asked, code=2).stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("launcher", ["mpirun", "mpiexec.mpich"])
def test_several_processes_are_refused(installed, sources, tmp_path, launcher):
    if shutil.which(launcher) is None:
        pytest.skip(f"no {launcher}")
    words = ("-n", "2", installed / "neve", "convert", sources / "ocean.nc", tmp_path / "x.nc")
    said = run(launcher, *words, code=2).stderr
    assert said.count("a run on 2 processes") == 1 and NEEDS_MPI in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "variables",
    [
        {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"},
        {"PMIX_RANK": "3"},
        {"FLUX_JOB_SIZE": "2"},
        {"JSM_NAMESPACE_SIZE": "2"},
        {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"},
    ],
)
def test_launchers_are_known_by_their_variables(installed, sources, tmp_path, variables):
    words = ("convert", sources / "ocean.nc", tmp_path / "x.nc")
    run(installed / "neve", *words, code=2, **variables)
    assert list(tmp_path.iterdir()) == []
    run(installed / "neve", *words, SLURM_STEP_NUM_TASKS="1", SLURM_PROCID="0")


def documented(page, heading):
    """The command lines of one section, the first one where `heading` is empty."""
    sections = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)
    (section,) = [s for s in sections if s.startswith(heading)][:1]
    lines = re.findall(r"^    ((?:neve|export|ncdump|python) .*)$", section, re.MULTILINE)
    assert lines
    return lines


def test_the_pages_work_as_they_stand(installed, sources, tmp_path):
    """The first screens of docs/netcdf.md and README.md, in a shell that knows this command."""
    for tool, package in (("ncdump", "netcdf-bin"),):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} ({package})")
    pytest.importorskip("xarray")
    shutil.copytree(sources / "plt00113", tmp_path / "plt00113")
    for name in ("ocean.nc", "wrfout_1.nc", "wrfout_2.nc"):
        shutil.copy(sources / "ocean.nc", tmp_path / name)
    checkpoint = ROOT.parent / "shared" / "data" / "chombo" / "check.000050.3d.hdf5"
    lines = documented(ROOT / "docs" / "netcdf.md", "# netCDF and HDF5 files")
    lines += documented(ROOT / "README.md", "The command")
    if checkpoint.exists():
        shutil.copy(checkpoint, tmp_path / "chk.h5")
    else:
        lines = [line for line in lines if "chk.h5" not in line]
    script = "set -euo pipefail\n" + "\n".join(lines)
    run("bash", "-c", script, cwd=tmp_path, PATH=f"{installed}:{os.environ['PATH']}")
    assert {"small.nc", "plt00113.h5", "plt00113_back"} <= {p.name for p in tmp_path.iterdir()}


def test_without_a_library_of_the_command_the_package_says_which(installed, tmp_path):
    """CMake leaves the command out, and what is installed in its place names the packages."""
    lacking = (
        "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON",
        "-DCMAKE_DISABLE_FIND_PACKAGE_tomlplusplus=ON",
    )
    options = ("-DNEVE_MPI=OFF", "-DNEVE_MPI_ALONE=ON", "-DNEVE_TESTS=OFF", "-DNEVE_PYTHON=ON")
    wheel_like = (
        "-DSKBUILD=2",
        "-DSKBUILD_SCRIPTS_DIR=scripts",
        f"-DPython_EXECUTABLE={sys.executable}",
    )
    run("cmake", "-S", ROOT, "-B", tmp_path / "b", "-G", "Ninja", *options, *lacking, *wheel_like)
    missing = tmp_path / "b" / "bindings" / "python" / "missing.txt"
    bare = tmp_path / "bare"
    shutil.copytree(installed.parent, bare, symlinks=True)
    (folder,) = bare.glob("lib/python*/site-packages/neve/bin")
    (folder / "neve").unlink()
    shutil.copy(missing, folder)
    said = run(bare / "bin" / "python", bare / "bin" / "neve", "doctor", code=1).stderr
    assert "CLI11, tomlplusplus not found" in said
    assert "apt-get install libcli11-dev libtomlplusplus-dev" in said
