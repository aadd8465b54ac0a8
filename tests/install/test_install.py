# SPDX-License-Identifier: BSD-3-Clause
"""An installation serves programs outside the tree: find_package, pkg-config, C++ and C."""

import json
import os
import pathlib
import shutil
import subprocess

import h5py
import numpy as np
import pytest

import neve

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEVE_BUILD_DIR", ROOT / "build"))
TIMEOUT_SECONDS = 240


def run(*command, cwd=None, **changes):
    env = {**os.environ, **changes}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        env=env,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    path = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", path)
    return path


def library_dir(prefix):
    (found,) = prefix.rglob("libneve.so")
    return found.parent


@pytest.fixture(scope="module")
def by_cmake(prefix, tmp_path_factory):
    """The examples, copied out of the tree and built with find_package."""
    out = tmp_path_factory.mktemp("cmake")
    for language in ("cpp", "c"):
        source = out / f"{language}-source"
        shutil.copytree(ROOT / "examples" / language, source)
        run("cmake", "-S", source, "-B", out / language, f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", out / language)
    built = {lang: out / lang / f"two_levels_{lang}" for lang in ("cpp", "c")}
    return {**built, "block_code": out / "cpp" / "block_code"}


@pytest.fixture(scope="module")
def by_pkg_config(prefix, tmp_path_factory):
    out = tmp_path_factory.mktemp("pkgconfig")
    env = {"PKG_CONFIG_PATH": str(library_dir(prefix) / "pkgconfig")}
    built = {}
    for name, source, compiler, standard in (
        ("cpp", "cpp/two_levels.cpp", "mpicxx", "-std=c++17"),
        ("block_code", "cpp/block_code.cpp", "mpicxx", "-std=c++17"),
        ("c", "c/two_levels.c", "mpicc", "-std=c11"),
    ):
        flags = run("pkg-config", "--cflags", "--libs", "neve_mpi", **env).split()
        built[name] = out / f"two_levels_{name}"
        run(
            *(compiler, standard, ROOT / "examples" / source, "-o", built[name], *flags),
            *(f"-Wl,-rpath,{library_dir(prefix)}", "-lm"),
        )
    return built


def expected(level, box):
    """What the examples compute, x fastest."""
    dx = 1 / (32 << level)
    x, y, z = ((np.arange(box[f"lo_{d}"], box[f"hi_{d}"] + 1) + 0.5) * dx for d in ("i", "j", "k"))
    field = np.sin(6 * x)[None, None, :] * np.cos(4 * y)[None, :, None] + z[:, None, None]
    return field.reshape(-1)


def check_file(path, prefix):
    script = pathlib.Path(path).with_suffix(".py")
    (plugin,) = prefix.rglob("plugin/*.so")
    script.write_text(
        "import h5py, sys, numpy as np\nf = h5py.File(sys.argv[1])\n"
        "np.savez(sys.argv[2], **{f'{l}_{d}': f[f'level_{l}/{d}'][()]\n"
        "  for l in (0, 1) for d in ('boxes', 'data:datatype=0', 'data:offsets=0')})\n"
    )
    values = pathlib.Path(path).with_suffix(".npz")
    import sys

    # A process of its own: HDF5 reads the plugin path once, when it starts.
    run(sys.executable, script, path, values, HDF5_PLUGIN_PATH=str(plugin.parent))
    found = np.load(values)
    with h5py.File(path) as f:
        assert f.attrs["num_levels"] == 2
        assert f.attrs["component_0"] == b"density"
        assert f.attrs["time"] == 0.5
    boxes = [found["0_boxes"], found["1_boxes"]]
    assert [len(b) for b in boxes] == [2, 1]
    for level in (0, 1):
        data, offsets = found[f"{level}_data:datatype=0"], found[f"{level}_data:offsets=0"]
        for box, begin in zip(boxes[level], offsets, strict=False):
            wanted = expected(level, box)
            values_of_box = data[begin : begin + len(wanted)]
            error = np.abs(values_of_box - wanted)
            assert error.max() <= 1e-4
    raw_bytes = (32**3 + 32**3) * 8
    assert os.path.getsize(path) < raw_bytes / 4


@pytest.mark.parametrize("language", ["cpp", "c"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_find_package(by_cmake, prefix, tmp_path, language, ranks):
    path = tmp_path / "two_levels.h5"
    run("mpirun", "-n", ranks, by_cmake[language], path)
    check_file(path, prefix)


@pytest.mark.parametrize("language", ["cpp", "c"])
def test_pkg_config(by_pkg_config, prefix, tmp_path, language):
    path = tmp_path / "two_levels.h5"
    run("mpirun", "-n", 2, by_pkg_config[language], path)
    check_file(path, prefix)


def same_values(a, b, bound):
    """Of two plotfiles; `bound` is a fraction of each level's range."""
    a, b = neve.open(a), neve.open(b)
    assert a.components == b.components and a.time == b.time
    for level, (coarse, other) in enumerate(zip(a.levels, b.levels, strict=True)):
        assert coarse.boxes == other.boxes
        for name in a.components:
            pairs = [(coarse[name][i], other[name][i]) for i in range(len(coarse.boxes))]
            least, most = min(x.min() for x, _ in pairs), max(x.max() for x, _ in pairs)
            worst = max(np.abs(x - y).max() for x, y in pairs)
            assert worst <= bound * (most - least), (level, name)


@pytest.mark.parametrize("ranks, ranks_after", [(1, 2), (2, 4), (4, 1)])
def test_the_block_code_restarts_on_other_ranks(by_cmake, tmp_path, ranks, ranks_after):
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    for folder in (straight, stopped):
        folder.mkdir()
    code = by_cmake["block_code"]
    out = run("mpirun", "-n", ranks, code, 20, cwd=straight)
    assert "plt0020.h5: " in out and "level 1 predators" in out
    run("mpirun", "-n", ranks, code, 13, cwd=stopped)
    run("mpirun", "-n", ranks_after, code, 20, "restart.h5", cwd=stopped)
    same_values(straight / "restart.h5", stopped / "restart.h5", 0)
    same_values(straight / "restart.h5", straight / "plt0020.h5", 1e-4)
    same_values(straight / "plt0020.h5", stopped / "plt0020.h5", 2e-4)


def test_the_block_code_refuses_what_it_has_not_written(by_pkg_config, tmp_path):
    code = by_pkg_config["block_code"]
    run("mpirun", "-n", 1, by_pkg_config["cpp"], "two_levels.h5", cwd=tmp_path)
    done = subprocess.run(
        ["mpirun", "-n", "2", code, "20", "two_levels.h5"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode != 0
    assert "rank 1: two_levels.h5 has other fields or blocks than this run" in done.stderr


def built_in_c(prefix, source):
    """A program in C, built in the source's folder as the documentation says."""
    env = {"PKG_CONFIG_PATH": str(library_dir(prefix) / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "neve_mpi", **env).split()
    program = source.with_suffix("")
    strict = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    run("mpicc", *strict, source, "-o", program, *flags, f"-Wl,-rpath,{library_dir(prefix)}", "-lm")
    return program


def test_the_adaptive_code_goes_on_from_its_checkpoint(prefix, tmp_path):
    for name in ("blocks_amr.c", "blocks_mesh.h"):
        shutil.copy(ROOT / "examples" / "c" / name, tmp_path)
    program = built_in_c(prefix, tmp_path / "blocks_amr.c")
    for folder in ("out", "again"):
        (tmp_path / folder).mkdir()
    told = run("mpirun", "-n", 2, program, 40, tmp_path / "out")
    assert "plt00040.h5: " in told and "of the bound" in told
    run("mpirun", "-n", 1, program, 40, tmp_path / "again", tmp_path / "out" / "chk00020.h5")
    whole, again = (tmp_path / folder / "chk00040.h5" for folder in ("out", "again"))
    assert json.loads(run(prefix / "bin" / "neve", "verify", whole, again, "--json"))["ok"]


def test_the_first_program_of_the_page_on_c_runs(prefix, tmp_path):
    page = (ROOT / "docs" / "c-api.md").read_text()
    program = page.split("```c\n")[1].split("```")[0]
    (tmp_path / "plot.c").write_text(program)
    built = built_in_c(prefix, tmp_path / "plot.c")
    subprocess.run([built], cwd=tmp_path, check=True, timeout=TIMEOUT_SECONDS)
    with h5py.File(tmp_path / "plt00000.h5") as f:
        assert f["level_0/boxes"].shape == (1,)


def test_the_installed_command(prefix, tmp_path):
    command = prefix / "bin" / "neve"
    sample = ROOT / "examples" / "samples" / "nyx_lya32_plt00113"
    run(command, "convert", sample, tmp_path / "x.h5")
    (plugin,) = prefix.rglob("plugin/*.so")
    out = run(command, "doctor", HDF5_PLUGIN_PATH=str(plugin.parent))
    assert f"{plugin}: works" in out


def test_the_installed_trace_library_is_found(prefix, tmp_path):
    written, trace = tmp_path / "f", tmp_path / "t.json"
    dd = ["dd", "if=/dev/zero", f"of={written}", "bs=1000", "count=7", "status=none"]
    run(prefix / "bin" / "neve", "trace", "run", "-o", trace, "--", *dd)
    (file,) = (f for f in json.loads(trace.read_text())["files"] if f["path"] == str(written))
    assert file["phases"][0]["posix"]["write_sizes"] == [[1000, 7]]


def test_headers_name_only_what_is_installed(prefix):
    include = prefix / "include"
    headers = [path for path in include.rglob("*") if path.suffix in (".h", ".hpp")]
    assert include / "neve" / "amrex.hpp" in headers and len(headers) > 10
    for header in headers:
        for line in header.read_text().splitlines():
            if line.startswith('#include "'):
                assert (include / line.split('"')[1]).exists(), f"{header}: {line}"


def test_the_amrex_component_brings_its_headers(prefix, tmp_path):
    """Without AMReX only what find_package finds can be seen; tests/amrex compiles the headers."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(x C CXX)\n"
        "find_package(neve REQUIRED COMPONENTS amrex)\n"
        "get_target_property(includes neve::amrex INTERFACE_INCLUDE_DIRECTORIES)\n"
        "get_target_property(libraries neve::amrex INTERFACE_LINK_LIBRARIES)\n"
        "find_file(header neve/amrex.hpp PATHS ${includes} NO_DEFAULT_PATH REQUIRED)\n"
        'message(STATUS "links ${libraries}")\n'
    )
    out = run("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert "links neve::mpi" in out


def test_an_unknown_component_is_refused(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(x C CXX)\n"
        "find_package(neve REQUIRED COMPONENTS teapot)\n"
    )
    done = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode != 0
    assert "teapot" in done.stderr and "core;mpi" in done.stderr.replace(" ", "")
