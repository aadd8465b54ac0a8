# SPDX-License-Identifier: BSD-3-Clause
"""`neve mpi run` and `neve bench mpi`: an unmodified program (tests/pmpi) with frames under it."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import tempfile

import numpy as np
import pytest

from .conftest import BUILD, ROOT, SHARED_DATA, run

PROGRAM = BUILD / "bin" / "pmpi_program"
MPICH_BUILD = pathlib.Path(os.environ.get("NEVE_MPICH_BUILD_DIR", ROOT / "build-mpich"))
COUNT = 20000  # of the program


def carried(neve, mode, path, tolerance=1e-3, bound="abs=1e-3", ranks=3, options=(), code=0):
    """Runs the program; what the library said, and the numbers of its report."""
    bound = ("--bound", bound, "--always") if bound else ()
    done = neve(
        *("mpi", "run", "--report", *bound, *options, "--"),
        *("mpirun", "-n", ranks, PROGRAM, mode, path, tolerance),
        expect=code,
    )
    said = [line for line in done.err.splitlines() if line.startswith("neve mpi: ")]
    report = [line for line in said if "in all: " in line]
    numbers = [int(n) for n in re.findall(r"\d+", report[0])] if report else []
    return [line for line in said if line not in report], numbers


def sites(said):
    """What was said of calls by site: the function, and the numbers behind its name."""
    found = {}
    for line in said:
        match = re.match(
            r"neve mpi: (MPI_\w+) of .*, ratio (\S+), largest error (\S+), \S+ GB/s", line
        )
        assert match, line
        calls = int(re.search(r"(\d+) calls", line)[1])
        found.setdefault(match[1], []).append((calls, float(match[2]), float(match[3])))
    return found


def test_gathers(neve, tmp_path):
    said, numbers = carried(neve, "gather", tmp_path / "f", ranks=4, options=("--min-bytes", 1000))
    gathers, values, frames = numbers[:3]
    # Of floats, in place, of pairs, and MPI_Gatherv; not the integers. All but root's, and root of
    # MPI_Gatherv is rank 0.
    assert gathers == 4
    assert values == 3 * COUNT * (4 + 8 + 4) + sum(COUNT // 2 + r for r in range(1, 4)) * 4
    assert frames < values / 5
    of_floats, of_doubles = sites(said)["MPI_Gather"]
    assert of_floats[0] == 2 and of_doubles[0] == 1 and len(sites(said)["MPI_Gatherv"]) == 1
    assert 0 < of_doubles[2] <= 1e-3


def test_one_rank_alone_moves_nothing(neve, tmp_path):
    for mode in ("gather", "collectives"):
        options = ("--min-bytes", 1000)
        said, numbers = carried(neve, mode, tmp_path / "f", tolerance=0, ranks=1, options=options)
        assert said == [] and numbers[0] == 0


KINDS = {
    "MPI_Allgather": "allgather",
    "MPI_Alltoall": "alltoall",
    "MPI_Bcast": "bcast",
    "MPI_Scatter": "scatter",
}


@pytest.mark.parametrize("ranks", [2, 3])
def test_collective_calls(neve, tmp_path, ranks):
    said, numbers = carried(neve, "collectives", tmp_path / "f", ranks=ranks)
    assert numbers[0] == 5 and 0 < numbers[2] < numbers[1] / 5
    found = sites(said)
    assert {name: of_site[0][0] for name, of_site in found.items()} == {
        **dict.fromkeys(KINDS, 1),
        "MPI_Allgather": 2,
    }
    assert all(0 < of_site[0][2] <= 1e-3 for of_site in found.values())
    carried(neve, "collectives", tmp_path / "f", ranks=ranks, bound="lossless", tolerance=0)


@pytest.mark.parametrize("name", KINDS)
def test_calls_of_a_kind_alone(neve, tmp_path, name):
    said, _ = carried(neve, "collectives", tmp_path / "f", options=("--calls", KINDS[name]))
    assert list(sites(said)) == [name]


def test_nonblocking_calls_are_mpis_own_and_said(neve, tmp_path):
    said, numbers = carried(neve, "nonblocking_calls", tmp_path / "f", tolerance=0)
    assert numbers[0] == 0
    assert sorted(line.split(": ")[1] for line in said) == [
        "nonblocking MPI_Bcast is passed through as it is",
        "nonblocking MPI_Gather is passed through as it is",
    ]


# A type that tells a shape is coded as an array of it.
def test_boxes_are_coded_as_boxes(neve, tmp_path):
    def bytes_of(*options):
        return carried(neve, "gather_boxes", tmp_path / "f", ranks=2, options=options)[1][2]

    as_boxes, as_lines = bytes_of(), bytes_of("--layer", 64000)
    assert 0 < as_boxes < 0.7 * as_lines
    assert bytes_of("--layer", "40,40") == as_boxes


# Each call is made a second time as MPI makes it. The long form is docs/campaigns.md's.
@pytest.mark.parametrize(
    ("ranks", "bound", "tolerance", "block", "threads"),
    [(3, "abs=1e-3", 1.001e-3, 4096, 0), (4, "lossless", 0, 1000, 1)],
)
def test_random_collectives(neve, ranks, bound, tolerance, block, threads):
    program = BUILD / "bin" / "pmpi_random_collectives"
    options = ("--bound", bound, "--min-bytes", 500, "--report", "--threads", 2, "--always")
    programs, seeds = (200, range(1, 26)) if os.environ.get("NEVE_TEST_LONG") else (60, [1])
    for seed in seeds:
        done = neve(
            *("mpi", "run", *options, "--"),
            *("mpirun", "-n", ranks, program, seed, programs, tolerance),
            NEVE_MPI_BLOCK_BYTES=str(block),
            **({"RANDOM_THREADS": "1"} if threads else {}),
        )
        found = re.search(r"(\d+) calls of ranks, .* (\d+) violations", done.out)
        assert int(found[2]) == 0 and int(found[1]) > programs * ranks
        carried = re.search(r"in all: (\d+) collective calls", done.err)
        assert int(carried[1]) > programs / 2


def test_gathers_under_a_ratio(neve, tmp_path):
    options = ("--min-bytes", 1000, "--calls", "gather")
    said, numbers = carried(neve, "gather", tmp_path / "f", bound="ratio=8", options=options)
    assert numbers[0] == 4 and 7.6 < numbers[1] / numbers[2] < 8.4
    found = [site for of_name in sites(said).values() for site in of_name]
    assert len(found) == 3  # of floats, of doubles in place, and MPI_Gatherv
    assert all(7.6 < ratio < 8.4 and 0 < error < 1e-3 for _, ratio, error in found)


def test_files_under_a_ratio(neve, tmp_path):
    said, numbers = carried(neve, "write_at", tmp_path / "f", bound="ratio=8")
    assert len(said) == 1 and numbers[3] == 4 and 7.2 < numbers[4] / numbers[5] < 8.8
    ratio, error = re.search(r"1 calls.* ratio (\S+), largest error (\S+),", said[0]).groups()
    assert 7.6 < float(ratio) < 8.4 and 0 < float(error) < 1e-3 and "GB/s" in said[0]
    info = neve("info", tmp_path / "f", "--json").json
    assert info["fields"][0]["max_abs_error"] <= info["fields"][0]["bound_abs"]


# What no ratio is is said.
@pytest.mark.parametrize("bound", ["ratio=0", "ratio=nan", "ratio=x", "psnr=60"])
def test_bounds_that_are_not_for_calls(neve, bound):
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
    assert numbers[0] == 4 and numbers[2] < numbers[1] / 2
    assert set(sites(said)) == {"MPI_Gather", "MPI_Gatherv"}


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


def logical_bytes(neve, path):
    """What the program would have written without frames."""
    assert path.read_bytes()[:8] == b"NEVEFILE"
    neve("mpi", "cat", path, "-o", path.with_suffix(".raw"))
    return path.with_suffix(".raw").read_bytes()


@pytest.mark.parametrize("mode", ["write_header", "write_columns"])
def test_values_behind_integers_and_in_views_are_frames(neve, tmp_path, mode):
    path = tmp_path / "f"
    said, numbers = carried(neve, mode, path)
    assert said == [] and path.stat().st_size < COUNT
    assert numbers[3:5] == [3, 3 * COUNT * 4]  # the integers came before the frames
    held = logical_bytes(neve, path)
    if mode == "write_header":
        assert held[:8] == struct.pack("<ii", COUNT, 3)
        held = held[8:]
    plain = tmp_path / "plain"
    run(["mpirun", "-n", 3, PROGRAM, mode, plain, 0])
    expected = np.frombuffer(plain.read_bytes()[-len(held) :], np.float32)
    assert 0 < np.abs(np.frombuffer(held, np.float32) - expected).max() <= 1e-3


def test_files_that_are_not_asked_for_are_plain(neve, tmp_path):
    path = tmp_path / "f"
    small = ("--min-bytes", 10**9)
    said, _ = carried(neve, "write_at", path, tolerance=0, options=small)
    assert said == []
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


@pytest.mark.parametrize("mode", ["write_mixed", "write_apart"])
def test_types_are_mixed_in_a_file_of_frames(neve, tmp_path, mode):
    path = tmp_path / "f"
    assert carried(neve, mode, path)[0] == []
    assert path.stat().st_size < 3 * COUNT  # all of it is 0 and packed
    held = logical_bytes(neve, path)
    behind = struct.pack("<iii", 1, 1, 1) if mode == "write_mixed" else b""
    assert len(held) == 3 * COUNT * 4 + len(behind) and held.endswith(behind)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f", "f.raw"]


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
    "nothing_from_some": 3,
    "views_and_shared_pointers": 3,
    "wrong_gathers": 3,
    "external_data": 3,
}
# Open MPI's other MPI-IO, which is MPICH's too.
ROMIO = {"OMPI_MCA_io": "romio321"}


def plain_bytes(neve, path):
    """What a program finds in a file, of frames or not."""
    if path.read_bytes()[:8] != b"NEVEFILE":
        return path.read_bytes()
    neve("mpi", "cat", path, "-o", path.with_suffix(".raw"))
    return path.with_suffix(".raw").read_bytes()


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
        options = ("--bound", bound, "--min-bytes", 1000, "--always")
        command = ("mpirun", "-n", ranks, program, mode, path, tolerance)
        return neve("mpi", "run", *options, "--", *command)

    assert run_natively(["mpirun", "-n", ranks, program, mode, native, 0], native).code == 0
    with_frames("lossless", lossless, 0)
    assert plain_bytes(neve, lossless) == native.read_bytes()
    done = with_frames("abs=1e-3", bounded, 1.001e-3)
    said = [line for line in done.err.splitlines() if line.startswith("neve mpi: ")]
    assert all("passed through as it is" in line for line in said)
    for folder in folders:  # nothing is left beside the file
        assert [p.name for p in folder.iterdir() if p.suffix != ".raw"] == ["f"]


def test_a_rank_that_brings_nothing_is_told_so_by_romio_too(neve, tmp_path):
    command = (
        "mpirun",
        "-n",
        3,
        BUILD / "bin" / "pmpi_legal",
        "nothing_from_some",
        tmp_path / "f",
        0,
    )
    options = ("--bound", "lossless", "--min-bytes", 1000, "--always")
    neve("mpi", "run", *options, "--", *command, **ROMIO)


# Not as natively: Open MPI says that the collective calls are well.
def test_writes_to_a_file_that_is_only_read_are_refused(neve, tmp_path):
    command = (
        "mpirun",
        "-n",
        4,
        BUILD / "bin" / "pmpi_legal",
        "read_only",
        tmp_path / "f",
        1.001e-3,
    )
    neve("mpi", "run", "--bound", "abs=1e-3", "--min-bytes", 1000, "--always", "--", *command)


VIEWS = ["boxes", "boxes_of_fortran", "boxes_behind_a_header", "boxes_split"]
VIEWS += ["boxes_nonblocking", "boxes_alone", "distributed", "listed_rows", "memory_with_ghosts"]
VIEWS += ["ordered", "ordered_split", "shared", "unequal", "contiguous_types", "mixed", "steps"]


# The programs check every value.
@pytest.mark.parametrize("mode", VIEWS)
def test_views_types_and_pointers_of_every_kind_are_frames(neve, tmp_path, mode):
    path, exact = tmp_path / "f", tmp_path / "g"
    program = ("mpirun", "-n", 3, BUILD / "bin" / "pmpi_views", mode)
    done = neve(
        *(
            "mpi",
            "run",
            "--bound",
            "abs=1e-3",
            "--min-bytes",
            1000,
            "--always",
            "--",
            *program,
            path,
            1.001e-3,
        )
    )
    assert "neve mpi: " not in done.err
    held = logical_bytes(neve, path)
    assert path.stat().st_size < len(held) / 4
    neve(
        "mpi",
        "run",
        "--bound",
        "lossless",
        "--min-bytes",
        1000,
        "--always",
        "--",
        *program,
        exact,
        0,
    )
    assert len(logical_bytes(neve, exact)) == len(held)


def boxes_and_array(neve, folder, array):
    """Bytes at 1e-3 of a file that 8 ranks write by boxes of their own, and of the whole array."""
    path = folder / "f"
    np.save(folder / "array.npy", array)
    shape = np.array(array.shape, np.int32)
    path.with_suffix(".in").write_bytes(shape.tobytes() + array.tobytes())
    program = ("mpirun", "-n", 8, BUILD / "bin" / "pmpi_views", "given_array", path, 0)
    path.unlink(missing_ok=True)
    neve("mpi", "run", "--bound", "rel=1e-3", "--min-bytes", 1000, "--always", "--", *program)
    neve("compress", folder / "array.npy", folder / "array.neve", "--bound", "rel=1e-3")
    held = np.frombuffer(logical_bytes(neve, path), np.float32).reshape(array.shape)
    assert np.abs(held - array).max() <= 1e-3 * (array.max() - array.min()) * 1.000001
    return path.stat().st_size, (folder / "array.neve").stat().st_size


def test_boxes_of_an_array_take_no_more_than_the_array(neve, tmp_path):
    axes = np.meshgrid(*[np.linspace(0, 2 * np.pi, 96, endpoint=False)] * 3, indexing="ij")
    random = np.random.default_rng(1)
    array = np.zeros_like(axes[0])
    for k in range(1, 25):
        waves, phase = random.normal(size=3), random.uniform(0, 6.3)
        waves *= k / np.linalg.norm(waves)
        array += k**-1.5 * np.sin(
            sum(np.rint(w) * x for w, x in zip(waves, axes, strict=True)) + phase
        )
    boxes, whole = boxes_and_array(neve, tmp_path, array.astype(np.float32))
    assert whole / boxes >= 0.97


def test_boxes_of_real_fields_take_no_more_than_the_fields(neve, tmp_path):
    folder = SHARED_DATA / "arrays"
    if not folder.is_dir():
        pytest.skip("no ../shared/data")
    ratios = []
    for path in sorted(folder.glob("*.npy")):
        array = np.ascontiguousarray(np.load(path), np.float32)
        (tmp_path / path.stem).mkdir()
        boxes, whole = boxes_and_array(neve, tmp_path / path.stem, array)
        ratios.append(whole / boxes)
        print(path.stem, round(ratios[-1], 4))
        assert ratios[-1] >= 0.96, path  # of half a MB; a rank has 64 KB of it
    assert np.mean(ratios) >= 0.975


# Bound, largest error of values of up to 3, ranks, first program, how many.
CAMPAIGN = [("lossless", 0, 3, 0, 60), ("abs=1e-3", 1e-3, 2, 1000, 60)]
CAMPAIGN += [("rel=1e-3", 6.01e-3, 4, 2000, 30), ("lossless", 0, 1, 3000, 200)]
if os.environ.get("NEVE_TEST_LONG"):
    CAMPAIGN = [("lossless", 0, 1, 10000, 2500), ("abs=1e-3", 1e-3, 2, 20000, 2500)]
    CAMPAIGN += [("rel=1e-3", 6.01e-3, 3, 30000, 2500), ("lossless", 0, 4, 40000, 1500)]
    CAMPAIGN += [("abs=1e-3", 1e-3, 5, 50000, 500), ("rel=1e-3", 6.01e-3, 7, 60000, 500)]


@pytest.fixture
def folder_in_memory(tmp_path):
    """Thousands of small files, each of them synced, go faster there."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield pathlib.Path(folder)


@pytest.mark.parametrize(("bound", "tolerance", "ranks", "first", "count"), CAMPAIGN)
def test_random_programs(neve, folder_in_memory, bound, tolerance, ranks, first, count):
    """The programs know what their file must hold, and say what it does not."""
    most = 250  # in a run
    for begin in range(first, first + count, most):
        numbers = (tolerance, begin, min(most, first + count - begin))
        done = neve(
            *("mpi", "run", "--bound", bound, "--min-bytes", 1000, "--always", "--"),
            *("mpirun", "-n", ranks),
            *(BUILD / "bin" / "pmpi_random", folder_in_memory / "f", *numbers),
            NEVE_MPI_BLOCK_BYTES="4096",
        )
        assert not [line for line in done.err.splitlines() if line.startswith("program ")]


def test_wrong_calls(neve, tmp_path):
    for options in (["--bound", "abs=-1"], ["--calls", "reduce"], ["--threads", "0"]):
        assert neve("mpi", "run", *options, "--", "true", expect=2).err
    variables = [
        "NEVE_MPI_BOUND=3",
        "NEVE_MPI_CALLS=reduce",
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
    assert {path.read_bytes()[8] for path in stored} == {1, 2, 3}  # layouts
    for path in stored:
        neve("mpi", "cat", path, "-o", tmp_path / "bytes")
        expected = path.with_suffix(".sha256").read_text().strip()
        assert hashlib.sha256((tmp_path / "bytes").read_bytes()).hexdigest() == expected, path
    neve("decompress", stored[0], tmp_path / "values.npy")
    assert np.load(tmp_path / "values.npy").tobytes() == neve_cat(neve, stored[0], tmp_path)


def neve_cat(neve, path, folder):
    neve("mpi", "cat", path, "-o", folder / "cat", "--threads", 2)
    return (folder / "cat").read_bytes()


def test_frame_files_of_several_types(neve, tmp_path):
    mixed = ROOT / "tests" / "golden" / "frames_mixed_two_ranks.nevefile"
    info = neve("info", mixed, "--json").json
    assert info["dtype"] is None and info["pieces"] == 8 and info["frames"] == 5
    types = {field["dtype"]: field for field in info["fields"]}
    assert set(types) == {"f32", "f64", "i16", "raw"}
    assert types["f64"]["pieces"] == 1 and types["f64"]["raw_bytes"] == 8000
    assert types["f32"]["bound"] == "abs=0.001" and 0 < types["f32"]["max_abs_error"] <= 1e-3
    text = neve("info", mixed).out
    assert "2 pieces of raw bytes" in text and "piece of f64" in text

    end = 100 + 20 * 24 * 28 * 4
    found = neve_cat(neve, mixed, tmp_path)
    assert len(found) == info["raw_bytes"] and found.startswith(b"a header of 100 bytes")
    z, y, x = np.meshgrid(range(20), range(24), range(28), indexing="ij")
    field = np.frombuffer(found[100:end], np.float32).reshape(20, 24, 28)
    assert np.abs(field - (np.sin(0.2 * x) * np.cos(0.13 * y) + 0.01 * z)).max() < 1.001e-3
    assert found[end + 8900 :] == bytes(200)

    done = neve("decompress", mixed, tmp_path / "x.npy", expect=2)
    assert "no line of values of one type; `neve mpi cat`" in done.err
    damaged = bytearray(mixed.read_bytes())
    damaged[-60] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    assert "does not match its checksum" in neve("mpi", "cat", tmp_path / "damaged", expect=4).err
    assert "NEVEFILE" in neve("mpi", "cat", tmp_path / "cat", expect=4).err


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
        *("mpi", "run", "--report", "--bound", "abs=1e-3", "--always", "--"),
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
