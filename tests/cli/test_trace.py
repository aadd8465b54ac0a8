# SPDX-License-Identifier: BSD-3-Clause
"""`neve trace` against programs whose calls are known (tests/trace)."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

from .conftest import BUILD, ROOT, environment, run

MPI_CALLS = BUILD / "bin" / "trace_mpi_calls"
POSIX_CALLS = BUILD / "bin" / "trace_posix_calls"
MPICH_BUILD = pathlib.Path(os.environ.get("NEVE_MPICH_BUILD_DIR", ROOT / "build-mpich"))
BINS = ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M"]
BINS += ["100M_1G", "1G_PLUS"]
RANKS = [1, 2, 3, 4, 7]


def report(neve, trace, *options):
    return neve("trace", "report", trace, "--json", *options).json["traces"][0]


def traced(neve, tmp_path, *command, expect=0, options=()):
    """What a command did, as the report's JSON."""
    out = tmp_path / "trace.json"
    neve("trace", "run", "-o", out, *options, "--", *command, expect=expect)
    assert not (tmp_path / "trace.json.parts").exists()
    return report(neve, out)


def counters(found, path, level, phase=None):
    where = found["files"][str(path)] if phase is None else found["phases"][phase]
    return where[level]["counters"]


def sizes(found, path, level, direction="write"):
    return {s: n for s, n in found["files"][str(path)][level][f"{direction}_sizes"]}


def expect_mpi(found, path, ranks, kinds, wanted_sizes):
    """The MPI-IO level of a file: calls by kind, exact sizes, and histogram and bytes from them."""
    told = counters(found, path, "mpiio")
    for kind in ("INDEP", "COLL", "SPLIT", "NB"):
        assert told[f"MPIIO_{kind}_WRITES"] == kinds.get(kind, 0), kind
    wanted_sizes = {s: n for s, n in wanted_sizes.items() if n}
    assert sizes(found, path, "mpiio") == wanted_sizes
    assert told["MPIIO_BYTES_WRITTEN"] == sum(s * n for s, n in wanted_sizes.items())
    assert told["MPIIO_SIZE_WRITE_AGG_0_100"] == sum(n for s, n in wanted_sizes.items() if s <= 100)
    assert sum(told[f"MPIIO_SIZE_WRITE_AGG_{b}"] for b in BINS) == sum(wanted_sizes.values())
    assert told["MPIIO_COLL_OPENS"] == (ranks if ranks > 1 else 0)
    assert told["MPIIO_INDEP_OPENS"] == (0 if ranks > 1 else 1)
    # Without read-modify-write, what is handed to MPI-IO reaches POSIX once.
    assert counters(found, path, "posix")["POSIX_BYTES_WRITTEN"] == told["MPIIO_BYTES_WRITTEN"]
    assert found["files"][str(path)]["write_amplification"] == 1
    return told


@pytest.mark.parametrize("ranks", RANKS)
def test_independent(neve, tmp_path, ranks):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", ranks, MPI_CALLS, "independent", path)
    small = ranks * (ranks + 1) // 2
    told = expect_mpi(
        found, path, ranks, {"INDEP": 5 * ranks + small}, {1000: 5 * ranks, 64: small}
    )
    assert told["MPIIO_SYNCS"] == ranks
    posix = counters(found, path, "posix")
    assert posix["POSIX_WRITES"] == 5 * ranks + small
    assert sizes(found, path, "posix") == {1000: 5 * ranks, 64: small}
    assert (posix["POSIX_ACCESS1_ACCESS"], posix["POSIX_ACCESS1_COUNT"]) == (1000, 5 * ranks)
    writers = found["files"][str(path)]["writers"]
    assert writers == {"mpiio": list(range(ranks)), "posix": list(range(ranks)), "stdio": []}
    assert found["processes"] == ranks


@pytest.mark.parametrize("ranks", RANKS)
def test_collective(neve, tmp_path, ranks):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", ranks, MPI_CALLS, "collective", path)
    expect_mpi(
        found,
        path,
        ranks,
        {"COLL": 4 * ranks},
        {100: ranks, 4096: 2 * ranks + 1, 0: ranks - 1},
    )


@pytest.mark.parametrize("ranks", RANKS)
def test_nonblocking(neve, tmp_path, ranks):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", ranks, MPI_CALLS, "nonblocking", path)
    expect_mpi(found, path, ranks, {"NB": 7 * ranks}, {512: 5 * ranks, 2048: 2 * ranks})


@pytest.mark.parametrize("ranks", RANKS)
def test_split_collective(neve, tmp_path, ranks):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", ranks, MPI_CALLS, "split", path)
    expect_mpi(found, path, ranks, {"SPLIT": 3 * ranks}, {300: ranks, 500: ranks, 700: ranks})


@pytest.mark.parametrize("ranks", [1, 3])
def test_shared_file_pointer(neve, tmp_path, ranks):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", ranks, MPI_CALLS, "shared", path)
    expect_mpi(
        found, path, ranks, {"INDEP": 2 * ranks, "COLL": ranks}, {200: 2 * ranks, 400: ranks}
    )


@pytest.mark.parametrize("ranks", RANKS)
def test_view_and_derived_type(neve, tmp_path, ranks):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", ranks, MPI_CALLS, "view", path)
    told = expect_mpi(found, path, ranks, {"COLL": ranks}, {64 * 16 * 8: ranks})
    assert told["MPIIO_VIEWS"] == ranks


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_romio(neve, tmp_path, ranks):
    path = tmp_path / "f"
    romio = ["mpirun", "--mca", "io", "romio321", "-n", ranks]
    found = traced(neve, tmp_path, *romio, MPI_CALLS, "split", path)
    expect_mpi(found, path, ranks, {"SPLIT": 3 * ranks}, {300: ranks, 500: ranks, 700: ranks})


@pytest.mark.parametrize("ranks", [1, 3])
def test_reads(neve, tmp_path, ranks):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", ranks, MPI_CALLS, "reads", path)
    told = counters(found, path, "mpiio")
    assert told["MPIIO_INDEP_READS"] == 2 * ranks
    assert told["MPIIO_COLL_READS"] == 2 * ranks
    assert told["MPIIO_NB_READS"] == ranks
    assert told["MPIIO_SPLIT_READS"] == ranks
    assert told["MPIIO_BYTES_READ"] == 6000 * ranks
    assert sizes(found, path, "mpiio", "read") == {1000: 6 * ranks}
    posix = counters(found, path, "posix")
    assert (posix["POSIX_WRITES"], posix["POSIX_BYTES_WRITTEN"]) == (1, 1 << 20)
    # The one POSIX write is rank 0's; no MPI-IO write was made.
    assert found["files"][str(path)]["writers"] == {"mpiio": [], "posix": [0], "stdio": []}


def test_phases_and_pause(neve, tmp_path):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", 3, MPI_CALLS, "phases", path)
    assert counters(found, path, "mpiio", "first")["MPIIO_INDEP_WRITES"] == 6
    assert counters(found, path, "mpiio", "second")["MPIIO_INDEP_WRITES"] == 9
    assert counters(found, path, "posix", "second")["POSIX_BYTES_WRITTEN"] == 9 * 256
    assert counters(found, path, "mpiio")["MPIIO_INDEP_WRITES"] == 15


@pytest.mark.parametrize("mode", ["killed", "aborted"])
@pytest.mark.parametrize("ranks", [1, 4])
def test_nothing_is_lost_without_finalize(neve, tmp_path, mode, ranks):
    path = tmp_path / "f"
    launch = ["mpirun", "-n", ranks, MPI_CALLS, mode, path]
    out = tmp_path / "trace.json"
    outcome = neve("trace", "run", "-o", out, "--", *launch, expect=None)
    assert outcome.code != 0
    found = report(neve, out)
    expect_mpi(found, path, ranks, {"INDEP": 4 * ranks}, {800: 4 * ranks})
    assert found["files"][str(path)]["writers"]["mpiio"] == list(range(ranks))


def test_after_finalize(neve, tmp_path):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", 2, MPI_CALLS, "after-finalize", path)
    for rank in range(2):
        assert sizes(found, f"{path}{rank}", "posix") == {333: 1}
    assert counters(found, path, "mpiio")["MPIIO_INDEP_WRITES"] == 13
    assert found["processes"] == 2


def test_renamed(neve, tmp_path):
    path = tmp_path / "f"
    found = traced(neve, tmp_path, "mpirun", "-n", 2, MPI_CALLS, "renamed", path)
    file = found["files"][f"{path}.tmp"]
    assert file["renamed_to"] == [str(path)]
    assert file["mpiio"]["counters"]["MPIIO_COLL_WRITES"] == 2
    only = neve("trace", "report", tmp_path / "trace.json", "--file", path).out
    assert str(path) in only


def test_ranks_without_files(neve, tmp_path):
    found = traced(neve, tmp_path, "mpirun", "-n", 3, MPI_CALLS, "nothing", "x")
    assert found["processes"] == 3
    assert found["files"] == {}


def test_a_launcher_inside_a_script_runs_twice(neve, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(
        f"mpirun -n 2 {MPI_CALLS} independent {tmp_path}/a\n"
        f"mpirun -n 3 {MPI_CALLS} independent {tmp_path}/b\n"
    )
    found = traced(neve, tmp_path, "bash", script)
    for name, ranks in (("a", 2), ("b", 3)):
        small = ranks * (ranks + 1) // 2
        told = counters(found, tmp_path / name, "mpiio")
        assert told["MPIIO_INDEP_WRITES"] == 5 * ranks + small


def test_the_library_by_hand(neve, tmp_path):
    """As in a job script: no `neve trace run`, the trace is written at MPI_Finalize."""
    library = next(p for p in (BUILD / "lib").glob("libneve_trace.so"))
    out, path = tmp_path / "t.json", tmp_path / "f"
    preload = ["-x", f"LD_PRELOAD={library}", "-x", f"NEVE_TRACE_OUTPUT={out}"]
    outcome = run(["mpirun", "-n", 2, *preload, MPI_CALLS, "independent", path])
    assert outcome.code == 0
    assert json.loads(out.read_text())["neve_trace"] == 1
    assert not (tmp_path / "t.json.parts").exists()
    assert counters(report(neve, out), path, "mpiio")["MPIIO_INDEP_WRITES"] == 13


def posix_calls(neve, tmp_path, mode, **how):
    folder = tmp_path / "d"
    folder.mkdir()
    return traced(neve, tmp_path, POSIX_CALLS, mode, folder, **how), folder


def test_every_posix_call(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "every")
    told = counters(found, folder / "every", "posix")
    assert sizes(found, folder / "every", "posix") == {10: 1, 20: 1, 21: 1, 70: 1, 30: 1, 40: 1}
    assert sizes(found, folder / "every", "posix", "read") == {0: 1, 11: 1, 12: 1, 70: 1}
    wanted = {
        "POSIX_OPENS": 1,
        "POSIX_WRITES": 6,
        "POSIX_READS": 4,
        "POSIX_SEEKS": 1,
        "POSIX_FSYNCS": 1,
        "POSIX_FDSYNCS": 1,
        "POSIX_TRUNCATES": 1,
        "POSIX_ALLOCATES": 1,
        "POSIX_BYTES_WRITTEN": 191,
        "POSIX_MAX_BYTE_WRITTEN": 339,
        "POSIX_RW_SWITCHES": 1,
        "POSIX_CONSEC_WRITES": 2,  # 10 at 0, 20 at 10, 21 at 30; the rest leave gaps
        "POSIX_SEQ_WRITES": 5,
    }
    assert {name: told[name] for name in wanted} == wanted
    assert found["writers"] == {"mpiio": [], "posix": [0], "stdio": []}


def test_duplicated_descriptors(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "duplicates")
    assert sizes(found, folder / "duplicates", "posix") == {100: 10}
    assert sizes(found, folder / "other", "posix") == {9: 2}
    told = counters(found, folder / "duplicates", "posix")
    assert (told["POSIX_DUPS"], told["POSIX_OPENS"]) == (2, 3)
    assert told["POSIX_CONSEC_WRITES"] == 9  # the copies stand where the original stands


def test_threads(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "threads")
    for thread in range(8):
        assert sizes(found, folder / f"thread{thread}", "posix") == {32: 1000}
    assert sizes(found, folder / "common", "posix") == {48: 8000}
    assert found["warnings"] == []


def test_fork_and_vfork(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "forks")
    assert sizes(found, folder / "forked", "posix") == {50: 5, 60: 4}
    assert len(found["files"][str(folder / "forked")]["writers"]["posix"]) == 2


def test_a_killed_process(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "killed", expect=128 + signal.SIGKILL)
    assert sizes(found, folder / "killed", "posix") == {70: 6}


def test_stdio(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "stream")
    told = counters(found, folder / "stream", "stdio")
    wanted = {
        "STDIO_OPENS": 1,
        "STDIO_WRITES": 13,
        "STDIO_BYTES_WRITTEN": 1018,
        "STDIO_READS": 3,
        "STDIO_BYTES_READ": 110,
        "STDIO_SEEKS": 1,
        "STDIO_FLUSHES": 1,
        "STDIO_MAX_BYTE_WRITTEN": 1017,
    }
    assert {name: told[name] for name in wanted} == wanted
    assert sizes(found, folder / "stream", "stdio") == {100: 10, 12: 1, 5: 1, 1: 1}
    assert counters(found, folder / "stream", "posix")["POSIX_WRITES"] == 0


def test_asynchronous(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "asynchronous")
    assert sizes(found, folder / "asynchronous", "posix") == {123: 3}
    assert sizes(found, folder / "asynchronous", "posix", "read") == {100: 1}


def test_many_sizes_are_exact(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "sizes")
    assert sizes(found, folder / "sizes", "posix") == {size: 2 for size in range(1, 301)}


def test_too_many_sizes_are_told(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "sizes", options=["--sizes", 100])
    file = found["files"][str(folder / "sizes")]["posix"]
    kept = {size: 2 for size in range(1, 101)}
    assert {s: n for s, n in file["write_sizes"]} == kept
    assert file["write_sizes_beyond"] == {"calls": 400, "bytes": 2 * sum(range(101, 301))}
    assert file["counters"]["POSIX_WRITES"] == 600
    assert file["counters"]["POSIX_SIZE_WRITE_100_1K"] == 400
    assert any("400 POSIX accesses" in line and "--sizes" in line for line in found["warnings"])


def test_too_little_memory_is_told(neve, tmp_path):
    found, _ = posix_calls(neve, tmp_path, "files", options=["--memory", 1])
    assert 100 < len(found["files"]) < 1000
    assert any("(--memory)" in line for line in found["warnings"])


def test_many_files(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "files")
    assert len(found["files"]) == 1000
    assert sizes(found, folder / "file0999", "posix") == {40: 1}
    assert found["total"]["posix"]["counters"]["POSIX_BYTES_WRITTEN"] == 40000


def test_phases_by_the_header(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "phases")
    by_phase = {name: phase["posix"]["write_sizes"] for name, phase in found["phases"].items()}
    assert by_phase == {"": [[1, 1]], "one": [[2, 1], [4, 1]], "two": [[3, 1]]}


def test_signal_handlers_that_write(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "signals")
    assert sizes(found, folder / "signals", "posix") == {16: 50000}
    handler = found["files"].get(str(folder / "handler"))
    seen = handler["posix"]["counters"]["POSIX_WRITES"] if handler else 0
    written = (folder / "handler").stat().st_size // 8
    missed = [int(w.split()[0]) for w in found["warnings"] if "signal handlers" in w]
    assert seen + sum(missed) == written > 0


def test_writable_mappings_are_told(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "mapped")
    assert counters(found, folder / "mapped", "posix")["POSIX_MMAPS"] == 1
    assert any("1 shared writable mappings" in line for line in found["warnings"])


def test_appends(neve, tmp_path):
    found, folder = posix_calls(neve, tmp_path, "append")
    told = counters(found, folder / "append", "posix")
    assert told["POSIX_WRITES"] == 4
    assert told["POSIX_MAX_BYTE_WRITTEN"] == 999
    assert told["POSIX_CONSEC_WRITES"] == 3


def test_programs_that_are_not_ours(neve, tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    found = traced(
        neve, tmp_path, "dd", "if=/dev/zero", f"of={source}", "bs=4096", "count=25", "status=none"
    )
    assert sizes(found, source, "posix") == {4096: 25}
    found = traced(neve, tmp_path, "cp", "--reflink=never", source, copy)
    assert counters(found, copy, "posix")["POSIX_BYTES_WRITTEN"] == 102400
    assert counters(found, source, "posix")["POSIX_BYTES_READ"] == 102400
    code = f"open({str(copy)!r}, 'wb', buffering=0).write(b'x' * 1234)"
    found = traced(neve, tmp_path, sys.executable, "-c", code)
    assert sizes(found, copy, "posix") == {1234: 1}


def test_inherited_descriptors(neve, tmp_path):
    out = tmp_path / "out"
    found = traced(neve, tmp_path, "sh", "-c", f"head -c 5000 /dev/zero > {out}")
    total = found["files"][str(out)]
    written = total["posix"]["counters"]["POSIX_BYTES_WRITTEN"]
    assert written + total["stdio"]["counters"]["STDIO_BYTES_WRITTEN"] == 5000


def test_h5py(neve, tmp_path):
    pytest.importorskip("h5py")
    path = tmp_path / "x.h5"
    code = (
        "import h5py, numpy as np\n"
        f"with h5py.File({str(path)!r}, 'w') as f:\n"
        "  d = f.create_dataset('d', (8, 65536), 'f8', chunks=(1, 65536))\n"
        "  for i in range(8): d[i] = np.random.rand(65536)\n"
    )
    found = traced(neve, tmp_path, sys.executable, "-c", code)
    assert sizes(found, path, "posix")[524288] == 8
    told = counters(found, path, "posix")
    assert told["POSIX_MAX_BYTE_WRITTEN"] + 1 == path.stat().st_size


def test_neve_itself_writes_each_byte_once(neve, sample, tmp_path):
    path = tmp_path / "x.h5"
    convert = [BUILD / "bin" / "neve", "convert", sample, path]
    found = traced(neve, tmp_path, "mpirun", "-n", 2, *convert)
    (name,) = [n for n, f in found["files"].items() if f["renamed_to"] == [str(path)]]
    posix = counters(found, name, "posix")
    size = path.stat().st_size  # with room that HDF5 has left
    assert 0.99 * size <= posix["POSIX_BYTES_WRITTEN"] <= 1.05 * size
    assert posix["POSIX_BYTES_READ"] == 0


@pytest.mark.parametrize("io", ["ompio", "romio321"])
def test_no_strategy_reads_back_what_it_writes(neve, tmp_path, io):
    """Boxes of all ranks in turns, in rounds that leave gaps. HDF5 writes for strategy filtered."""
    strategies = "independent,collective,aggregated,skeleton,compressed"
    for options in (["--strategies", strategies],
                    ["--strategies", "aggregated", "--aggregate-boxes", "4"]):  # fmt: skip
        bench = [BUILD / "bin" / "neve", "bench", "chombo", "--box-cells", "8", "--repeats", "1"]
        command = ["env", f"OMPI_MCA_io={io}", "mpirun", "-n", "3", *bench, *options]
        found = traced(neve, tmp_path, *command, "--folder", tmp_path)
        written = [f["posix"]["counters"] for f in found["files"].values() if f["renamed_to"]]
        assert len(written) >= 1
        for told in written:
            assert told["POSIX_BYTES_WRITTEN"] > 0
            assert told["POSIX_BYTES_READ"] == 0


def test_patterns(neve, tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    options = ["--exclude", "*/file00*", "--exclude", "*/file01*", "--include", "*/file0042"]
    found = traced(neve, tmp_path, POSIX_CALLS, "files", folder, options=options)
    assert len(found["files"]) == 801
    assert str(folder / "file0042") in found["files"]


def test_report_side_by_side_with_picture(neve, tmp_path):
    pytest.importorskip("matplotlib")
    for mode in ("independent", "collective"):
        out = tmp_path / f"{mode}.json"
        launch = ["mpirun", "-n", 2, MPI_CALLS, mode, tmp_path / mode]
        neve("trace", "run", "-o", out, "--", *launch)
    picture = tmp_path / "sizes.png"
    traces = [tmp_path / "independent.json", tmp_path / "collective.json"]
    text = neve("trace", "report", *traces, "--plot", picture).out
    assert "independent MPI-IO  independent POSIX  collective MPI-IO" in text
    assert picture.read_bytes().startswith(b"\x89PNG")
    labelled = neve("trace", "report", *traces, "--json", "--label", "A", "--label", "B").json
    assert [t["label"] for t in labelled["traces"]] == ["A", "B"]


def test_parts_are_merged_as_a_report_is_read(neve, tmp_path):
    library = next(p for p in (BUILD / "lib").glob("libneve_trace.so"))
    out = tmp_path / "t.json"
    env = environment(LD_PRELOAD=str(library), NEVE_TRACE_OUTPUT=str(out))
    folder = tmp_path / "d"
    folder.mkdir()
    for mode in ("append", "sizes"):
        subprocess.run([POSIX_CALLS, mode, folder], env=env, check=True, timeout=60)
    assert not out.exists()
    found = report(neve, out)
    assert found["processes"] == 2
    assert sizes(found, folder / "append", "posix") == {250: 4}
    # What is no part, or half of one, is told and does not stop the rest.
    (tmp_path / "t.json.parts" / "host.1.0.part").write_bytes(b"no part of a trace")
    found = report(neve, out)
    assert found["processes"] == 2
    assert any("1 parts could not be read" in line for line in found["warnings"])


def test_exit_codes_and_messages(neve, tmp_path):
    out = tmp_path / "t.json"
    assert neve("trace", "run", "-o", out, "--", "sh", "-c", "exit 9", expect=9).code == 9
    outcome = neve("trace", "run", "-o", out, "--", tmp_path / "missing", expect=1)
    assert "missing" in outcome.err
    assert not out.with_name("t.json.parts").exists()
    other = tmp_path / "precious.txt"
    other.write_text("not a trace")
    outcome = neve("trace", "run", "-o", other, "--", "true", expect=2)
    assert "precious.txt exists and is no trace" in outcome.err
    assert other.read_text() == "not a trace"
    assert "no such file" in neve("trace", "report", tmp_path / "none.json", expect=1).err
    assert "not JSON" in neve("trace", "report", other, expect=4).err
    neve("trace", "run", expect=2)
    outcome = neve("trace", "run", "-o", out, "--", "true", NEVE_TRACE_LIBRARY="/nowhere", expect=1)
    assert "NEVE_TRACE_LIBRARY '/nowhere' is not a file" in outcome.err
    help_text = neve("trace", "run", "--help").out
    assert "Examples:" in help_text and "mpirun -n 4" in help_text


def test_overhead(neve, tmp_path):
    """A traced write may cost some microseconds more: small beside what a write to a disk costs."""
    folder = tmp_path / "d"
    folder.mkdir()
    if shutil.disk_usage("/dev/shm").free < 1 << 24:
        pytest.skip("/dev/shm is full")
    plain = min(float(run([POSIX_CALLS, "many", folder]).out) for _ in range(3))
    words = ["trace", "run", "-o", tmp_path / "t.json", "--", POSIX_CALLS, "many", folder]
    with_trace = min(float(neve(*words).out) for _ in range(3))
    assert with_trace - plain < 20e-6
    assert sizes(report(neve, tmp_path / "t.json"), folder / "many", "posix") == {64: 300000}


@pytest.mark.parametrize("mode", ["independent", "collective", "nonblocking", "split", "shared"])
def test_mpich(neve, tmp_path, mode):
    """A program of another MPI, with the library built for it (make test-mpich)."""
    calls = MPICH_BUILD / "bin" / "trace_mpi_calls"
    library = MPICH_BUILD / "lib" / "libneve_trace.so"
    if not calls.exists() or not library.exists():
        pytest.skip(f"{MPICH_BUILD} is missing: make test-mpich")
    path, out = tmp_path / "f", tmp_path / "t.json"
    launch = ["mpiexec.mpich", "-n", 2, calls, mode, path]
    neve("trace", "run", "-o", out, "--", *launch, NEVE_TRACE_LIBRARY=str(library))
    found = report(neve, out)
    wanted = {
        "independent": ({"INDEP": 13}, {1000: 10, 64: 3}),
        "collective": ({"COLL": 8}, {100: 2, 4096: 5, 0: 1}),
        "nonblocking": ({"NB": 14}, {512: 10, 2048: 4}),
        "split": ({"SPLIT": 6}, {300: 2, 500: 2, 700: 2}),
        "shared": ({"INDEP": 4, "COLL": 2}, {200: 4, 400: 2}),
    }
    expect_mpi(found, path, 2, *wanted[mode])
    assert found["processes"] == 2
    # The library of the wrong MPI says so, and the program does not run into it. (Without mpiexec,
    # which may lose the last words of a program that ends itself.)
    outcome = neve("trace", "run", "-o", out, "--", *launch[3:], expect=None)
    assert outcome.code != 0
    assert "take the library of a Neve built with it" in outcome.err


def test_fortran(neve, tmp_path):
    if shutil.which("mpifort") is None:
        pytest.skip("mpifort is missing")
    source, program, path = tmp_path / "f.f90", tmp_path / "f.x", tmp_path / "f"
    source.write_text(
        "program p\n use mpi\n integer :: e, f, n(256) = 1, s(MPI_STATUS_SIZE)\n"
        " integer(kind=MPI_OFFSET_KIND) :: o = 0\n character(len=4096) :: path\n"
        " call MPI_Init(e)\n call get_command_argument(1, path)\n"
        " call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE+MPI_MODE_WRONLY, &\n"
        "   MPI_INFO_NULL, f, e)\n"
        " call MPI_File_write_at(f, o, n, 256, MPI_INTEGER, s, e)\n"
        " call MPI_File_write_at_all(f, o, n, 128, MPI_INTEGER, s, e)\n"
        " call MPI_File_close(f, e)\n call MPI_Finalize(e)\nend program\n"
    )
    assert run(["mpifort", source, "-o", program]).code == 0
    found = traced(neve, tmp_path, "mpirun", "-n", 2, program, path)
    told = counters(found, path, "mpiio")
    assert (told["MPIIO_INDEP_WRITES"], told["MPIIO_COLL_WRITES"]) == (2, 2)
    assert sizes(found, path, "mpiio") == {1024: 2, 512: 2}
    assert found["processes"] == 2
