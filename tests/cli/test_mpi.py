# SPDX-License-Identifier: BSD-3-Clause
"""`neve mpi run` and `neve bench mpi`: an unmodified program (tests/pmpi) with frames under it."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import struct

import numpy as np
import pytest

from .conftest import BUILD, ROOT, run

PROGRAM = BUILD / "bin" / "pmpi_program"
MPICH_BUILD = pathlib.Path(os.environ.get("NEVE_MPICH_BUILD_DIR", ROOT / "build-mpich"))
COUNT = 20000  # of the program


def carried(neve, mode, path, tolerance=1e-3, bound="abs=1e-3", ranks=3, options=(), code=0):
    """Runs the program; what the library said, and the numbers of its report."""
    bound = ("--bound", bound) if bound else ()
    done = neve(
        *("mpi", "run", "--report", *bound, *options, "--"),
        *("mpirun", "-n", ranks, PROGRAM, mode, path, tolerance),
        expect=code,
    )
    said = [line for line in done.err.splitlines() if line.startswith("neve mpi: ")]
    report = [line for line in said if "calls of all ranks" in line]
    numbers = [int(n) for n in re.findall(r"\d+", report[0])] if report else []
    return [line for line in said if line not in report], numbers


@pytest.mark.parametrize("ranks", [1, 4])
def test_gathers(neve, tmp_path, ranks):
    said, numbers = carried(
        neve, "gather", tmp_path / "f", ranks=ranks, options=("--min-bytes", 1000)
    )
    gathers, values, frames = numbers[:3]
    assert gathers == 3 * ranks  # of floats, in place, and MPI_Gatherv; not the integers
    if ranks > 1:
        # All but root's, and root of MPI_Gatherv is rank 0.
        pieces = (ranks - 1) * COUNT * (4 + 8) + sum(COUNT // 2 + r for r in range(1, ranks)) * 4
        assert values == pieces
        assert frames < values / 5
    assert all("derived datatype" in line for line in said) and len(said) == ranks


def test_gathers_under_a_ratio(neve, tmp_path):
    options = ("--min-bytes", 1000, "--calls", "gather")
    said, numbers = carried(neve, "gather", tmp_path / "f", bound="ratio=8", options=options)
    assert numbers[0] == 9 and 7.6 < numbers[1] / numbers[2] < 8.4
    sites = [line for line in said if "ratio" in line]
    assert len(sites) == 3  # of floats, in place, and MPI_Gatherv
    for line in sites:
        ratio, error = re.search(r"ratio (\S+), largest error (\S+),", line).groups()
        assert 7.6 < float(ratio) < 8.4 and 0 < float(error) < 1e-3
        assert "1 calls" in line and "GB/s" in line


# Files do not take one, and what no ratio is is said.
@pytest.mark.parametrize("bound", ["ratio=8", "ratio=0", "ratio=nan", "ratio=x", "psnr=60"])
def test_bounds_that_are_not_for_files(neve, bound):
    assert bound in neve("mpi", "run", "--bound", bound, "--", "true", expect=2).err


# What the command says of codecs reaches the gathers: names, numbers and toggles.
@pytest.mark.parametrize(
    "options",
    [
        ("--codec", "lorenzo_regression", "--merge-units", "--block", 4),
        ("--effort", "max", "--unit", 16, "--arrangement", "linear"),
        ("--speed-weight", 0.5),
    ],
)
def test_gathers_take_every_option_of_codecs(neve, tmp_path, options):
    said, numbers = carried(
        neve, "gather", tmp_path / "f", ranks=2, options=("--min-bytes", 1000, *options)
    )
    assert numbers[0] == 6 and numbers[2] < numbers[1] / 2
    assert all("derived datatype" in line for line in said)


def test_variables_that_would_do_nothing_end_the_program(neve, tmp_path):
    words = ("mpirun", "-n", 2, PROGRAM, "gather", tmp_path / "f", 1e-3)
    done = neve(
        *("mpi", "run", "--bound", "rel=1e-3", "--", *words),
        expect=2,
        NEVE_MPI_CODEC="context",
        NEVE_MPI_METHOD="rank",
    )
    assert "neve mpi: NEVE_MPI_METHOD has no meaning" in done.err


def test_gathers_without_a_bound_are_mpis_own(neve, tmp_path):
    assert carried(neve, "gather", tmp_path / "f", tolerance=0, bound=None)[1][:1] == [0]
    calls = ("--calls", "file")
    assert carried(neve, "gather", tmp_path / "f", tolerance=0, options=calls)[1][:1] == [0]
    large = ("--min-bytes", 10**6)
    assert carried(neve, "gather", tmp_path / "f", tolerance=0, options=large)[1][:1] == [0]


def test_files_are_written_and_read_as_frames(neve, tmp_path):
    path = tmp_path / "f"
    said, numbers = carried(neve, "write_at", path)
    values = 3 * COUNT + 100
    assert said == [] and numbers[3:5] == [4, values * 8]
    info = neve("info", path, "--json").json
    assert info["kind"] == "Neve frame file" and info["shape"] == [values]
    assert path.stat().st_size == info["stored_bytes"] < values
    assert 0 < info["fields"][0]["max_abs_error"] <= info["fields"][0]["bound_abs"] == 1e-3

    # Other ranks than wrote would expect another size; the values are read without a bound.
    assert carried(neve, "read_doubles", path, bound=None)[1][6] == 12
    # They are frames' values: not exact.
    carried(neve, "read_doubles", path, tolerance=1e-9, bound=None, code=1)
    # Some of them written again, where no others change.
    said, numbers = carried(neve, "rewrite", path, bound="lossless")
    assert said == [] and numbers[3] == 3
    carried(neve, "read_doubles", path, bound=None)

    out = tmp_path / "f.npy"
    neve("decompress", path, out)
    assert out.stat().st_size == values * 8 + 128


def test_views_and_file_pointers(neve, tmp_path):
    path = tmp_path / "f"
    options = ("--min-bytes", 1000, "--layer", "50,20")
    said, numbers = carried(neve, "write_view", path, options=options)
    assert said == [] and numbers[3:5] == [9, (3 * COUNT + 100) * 4]
    assert path.stat().st_size < COUNT
    assert carried(neve, "read_floats", path, bound=None)[1][6] == 3


@pytest.mark.parametrize("mode", ["write_header", "write_columns"])
def test_what_cannot_be_frames_is_said_and_plain(neve, tmp_path, mode):
    path = tmp_path / "f"
    said, numbers = carried(neve, mode, path)
    assert said and all("passed through" in line and str(path) in line for line in said)
    assert numbers[3] == 0
    header = 8 if mode == "write_header" else 0
    assert path.stat().st_size == header + 3 * COUNT * 4
    if header:
        assert path.read_bytes()[:8] == struct.pack("<ii", COUNT, 3)


def test_files_that_are_not_asked_for_are_plain(neve, tmp_path):
    path = tmp_path / "f"
    small = ("--min-bytes", 10**9)
    said, _ = carried(neve, "write_at", path, tolerance=0, options=small)
    assert len(said) == 1 and "MIN_BYTES" in said[0]
    assert path.stat().st_size == (3 * COUNT + 100) * 8
    # What holds plain values stays plain.
    said, _ = carried(neve, "write_at", path, tolerance=0)
    assert len(said) == 1 and "other data than frames" in said[0]
    carried(neve, "read_doubles", path, tolerance=0)
    other = ("--files", "*/other")
    assert carried(neve, "write_at", tmp_path / "g", options=other)[0] == []
    assert (tmp_path / "g").stat().st_size == (3 * COUNT + 100) * 8


@pytest.mark.parametrize(
    ("pattern", "wants"),
    [
        ("density.*", True),
        ("out/density.*", True),
        ("./out/density.bin", True),
        ("density", False),
        ("ut/density.bin", False),
        ("/density.*", False),
        ("*/out/*", True),
        ("{absolute}", True),
    ],
)
def test_patterns_are_of_names_as_people_write_them(neve, tmp_path, pattern, wants):
    path = tmp_path / "out" / "density.bin"
    path.parent.mkdir()
    options = ("--files", pattern.format(absolute=path))
    said, _ = carried(neve, "write_at", path, tolerance=1e-3 if wants else 0, options=options)
    assert said == []
    assert (path.read_bytes()[:8] == b"NEVEFILE") == wants


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("write_mixed", "with a type other than that of its frames"),
        ("write_apart", "is one rank's own"),
    ],
)
def test_what_frames_cannot_hold_is_said_and_plain(neve, tmp_path, mode, words):
    path = tmp_path / "f"
    said, _ = carried(neve, mode, path)
    assert len(said) == 1 and words in said[0] and str(path) in said[0]
    assert path.stat().st_size >= 3 * COUNT * 4 and path.read_bytes()[:8] != b"NEVEFILE"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_frames_that_are_read_while_they_are_written(neve, tmp_path):
    path = tmp_path / "f"
    assert carried(neve, "write_and_read", path)[0] == []
    assert neve("info", path, "--json").json["shape"] == [3 * COUNT]


def test_frames_read_and_written_as_something_else(neve, tmp_path):
    path = tmp_path / "f"
    carried(neve, "write_at", path)
    before = path.read_bytes()
    assert carried(neve, "read_as_integers", path, bound=None)[0] == []
    assert path.read_bytes() == before
    damaged = tmp_path / "damaged"
    damaged.write_bytes(before[:100] + b"x" + before[101:-1])
    said, _ = carried(neve, "read_doubles", damaged, bound=None, code=3)
    assert any("index" in line for line in said)
    # A program without a bound writes plain values: so is the file then.
    said, _ = carried(neve, "rewrite", path, bound=None)
    assert len(said) == 1 and "not asked to write frames" in said[0]
    assert path.stat().st_size == (3 * COUNT + 100) * 8
    carried(neve, "read_doubles", path, bound=None)


# Native MPI at 2 ranks alone: Open MPI's preallocation of more hangs.
LEGAL = {
    "sync_and_read": 3,
    "read_at_once": 3,
    "doubles_behind_floats": 3,
    "integers_by_single_ranks": 3,
    "nonblocking": 3,
    "nonblocking_together": 3,
    "unequal_first_writes": 3,
    "split_calls": 3,
    "shared_pointers": 3,
    "holes": 3,
    "read_otherwise": 3,
    "sizes": 2,
    "begun_again": 3,
    "append": 3,
    "append_together": 3,
    "append_alone": 3,
    "views": 3,
    "deleted": 3,
    "alone": 3,
    "twice": 3,
    "atomic": 3,
    "wrong_file_calls": 3,
    "wrong_gathers": 3,
    "external_data": 3,
}


def plain_bytes(neve, path):
    """What a program finds in a file, of frames or not."""
    if path.read_bytes()[:8] != b"NEVEFILE":
        return path.read_bytes()
    neve("decompress", path, path.with_suffix(".npy"))
    return np.load(path.with_suffix(".npy")).tobytes()


def run_natively(command, path):
    """Open MPI's own file calls hang now and then (MPI_File_preallocate, shared pointers)."""
    for _ in range(3):
        path.unlink(missing_ok=True)
        outcome = run(["timeout", "60", *command])
        if outcome.code != 124:
            return outcome
    pytest.skip("native MPI hangs")


@pytest.mark.parametrize("mode", LEGAL)
def test_legal_programs_have_the_results_of_native_mpi(neve, tmp_path, mode):
    program, ranks = BUILD / "bin" / "pmpi_legal", LEGAL[mode]
    folders = [tmp_path / name for name in ("native", "lossless", "bounded")]
    for folder in folders:
        folder.mkdir()
    native, lossless, bounded = (folder / "f" for folder in folders)

    def with_frames(bound, path, tolerance):
        options = ("--bound", bound, "--min-bytes", 1000)
        command = ("mpirun", "-n", ranks, program, mode, path, tolerance)
        return neve("mpi", "run", *options, "--", *command)

    assert run_natively(["mpirun", "-n", ranks, program, mode, native, 0], native).code == 0
    with_frames("lossless", lossless, 0)
    assert plain_bytes(neve, lossless) == native.read_bytes()
    done = with_frames("abs=1e-3", bounded, 1.001e-3)
    said = [line for line in done.err.splitlines() if line.startswith("neve mpi: ")]
    assert all("passed through as it is" in line for line in said)
    for folder in folders:  # nothing is left beside the file
        assert [p.name for p in folder.iterdir() if p.suffix != ".npy"] == ["f"]


def test_wrong_calls(neve, tmp_path):
    for options in (["--bound", "abs=-1"], ["--calls", "scatter"], ["--threads", "0"]):
        assert neve("mpi", "run", *options, "--", "true", expect=2).err
    variables = [
        "NEVE_MPI_BOUND=3",
        "NEVE_MPI_CALLS=bcast",
        "NEVE_MPI_THREADS=x",
        "NEVE_MPI_UNIT=7",
    ]
    variables += ["NEVE_MPI_UNITS=8", "NEVE_MPI_RATIO_WEIGHT=-1"]
    for variable in variables:
        name, value = variable.split("=")
        settings = {"NEVE_MPI_BOUND": "abs=1", name: value}
        library = BUILD / "lib" / "libneve_pmpi.so"
        done = run([PROGRAM, "gather", tmp_path / "f", 0], LD_PRELOAD=str(library), **settings)
        assert done.code == 2 and f"neve mpi: {name}" in done.err.replace("unknown variable ", "")
        if name == "NEVE_MPI_UNITS":
            assert "did you mean NEVE_MPI_UNIT?" in done.err


def test_frame_files_of_every_release(neve, tmp_path):
    stored = sorted((ROOT / "tests" / "golden").glob("*.nevefile"))
    assert stored
    for path in stored:
        neve("decompress", path, tmp_path / "values.npy")
        values = np.load(tmp_path / "values.npy")
        expected = path.with_suffix(".sha256").read_text().strip()
        assert hashlib.sha256(values.tobytes()).hexdigest() == expected, path


def test_what_fortran_calls(neve, tmp_path):
    compiler = shutil.which("mpif90.openmpi") or shutil.which("mpif90")
    if compiler is None:
        pytest.skip("no mpif90: Fortran's names are not tested")
    program = tmp_path / "fortran"
    source = ROOT / "tests" / "pmpi" / "fortran.f90"
    compiled = run([compiler, "-O1", source, "-o", program])
    assert compiled.code == 0, compiled.err
    path = tmp_path / "f"
    done = neve(
        *("mpi", "run", "--report", "--bound", "abs=1e-3", "--"),
        *("mpirun", "-n", 2, program, path),
    )
    assert 0 < float(done.out.split()[-1]) <= 1e-3 + 1e-6  # of Fortran's own sines
    assert neve("info", path, "--json").json["shape"] == [100000]
    assert path.stat().st_size < 100000 * 4 / 5


def test_program_of_another_mpi(neve, tmp_path):
    program = MPICH_BUILD / "bin" / "pmpi_program"
    if not program.exists():
        pytest.skip("no build against MPICH (make test-mpich)")
    done = neve(
        *("mpi", "run", "--bound", "abs=1", "--"),
        *("mpiexec.mpich", "-n", 1, program, "gather", tmp_path / "f", 1),
        expect=1,
    )
    assert "uses another MPI" in done.err


def test_bench(neve, tmp_path):
    options = ("--megabytes", 8, "--repeats", 1, "--folder", tmp_path, "--nodes", "2,8")
    done = run(["mpirun", "-n", 2, BUILD / "bin" / "neve", "bench", "mpi", *options, "--json"])
    assert done.code == 0, done.err
    told = done.json
    assert told["ranks"] == 2 and told["compared_values"] == 4 * 8 * 2**20 / 4
    assert 0 < told["max_abs_error"] <= told["bound_abs"]
    assert told["one_core"]["ratio"] > 10
    assert len(told["modelled"]) == 3 * 2 * 4
    for row in told["modelled"]:
        assert row["factor"] == pytest.approx(row["GBps"] / row["plain_GBps"], rel=1e-6)
    assert list(tmp_path.iterdir()) == []
    text = run(["mpirun", "-n", 1, BUILD / "bin" / "neve", "bench", "mpi", *options])
    assert "Modelled, not measured" in text.out and json.dumps(text.err)
