# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench chombo`: the table, the JSON, decks, and what it refuses."""

import collections
import re
import shutil
import sys

import pytest

from .conftest import NEVE, PLUGIN_DIR, run

SMALL = ("--box-cells", "4", "--repeats", "1")


def test_counts_and_verification(neve, tmp_path):
    result = neve(
        "bench", "chombo", *SMALL, "--folder", tmp_path, "--verify", "--json", ranks=2
    ).json
    assert result["ranks"] == 2
    assert result["boxes"] == 225
    writes = {s["name"]: s["mpi_writes"] for s in result["strategies"]}
    assert list(writes)[0] == "hdf5-independent", "Chombo's own path comes first"
    assert writes["hdf5-independent"] == 225
    assert writes["hdf5-aggregated"] == writes["cb2-aggregated"] == 6
    assert writes["skeleton"] == 2
    for strategy in result["strategies"]:
        verified = strategy["verified"]
        assert verified["values"] == 225 * 4**3 * 2
        assert verified["max_abs_error"] <= verified["bound_abs"]
    assert list(tmp_path.iterdir()) == []


def test_a_deck_gives_options_and_the_command_line_overrides_them(neve, tmp_path):
    deck = tmp_path / "case.toml"
    deck.write_text(
        "units = [2, 1, 1]\nbox-cells = 4\nrepeats = 1\n"
        f'strategies = ["collective", "skeleton"]\nfolder = "{tmp_path}"\n'
        "keep = true\njson = true\n"
    )
    result = neve("bench", "chombo", "--deck", deck, "--units", "1,1,2").json
    assert result["units"] == [1, 1, 2]
    assert result["boxes"] == 450
    assert [s["name"] for s in result["strategies"]] == ["collective", "skeleton"]
    names = sorted(path.name for path in tmp_path.glob("*.h5"))
    assert names == ["neve_chombo_collective.h5", "neve_chombo_skeleton.h5"]
    info = neve("info", tmp_path / "neve_chombo_skeleton.h5", "--json").json
    assert [level["boxes"] for level in info["levels"]] == [2, 64, 384]


def test_table_names_phases_and_hints(neve, tmp_path):
    strategies = ("--strategies", "aggregated,compressed", "--aggregators", "1")
    out = neve("bench", "chombo", *SMALL, *strategies, "--folder", tmp_path, ranks=2).out
    for word in ("MPI-IO writes", "plan", "encode", "place", "write", "sync", "cb_nodes=1"):
        assert word in out


def test_several_numbers_of_boxes_are_a_row_each(neve, tmp_path):
    options = ("--strategies", "skeleton,hdf5-aggregated", "--aggregate-boxes", "1,4,0")
    options += ("--read-back", "--folder", tmp_path)
    rows = neve("bench", "chombo", *SMALL, *options, "--json", ranks=2).json["strategies"]
    assert [row["name"] for row in rows] == [
        "skeleton",
        "hdf5-aggregated, 1 box",
        "hdf5-aggregated, 4 boxes",
        "hdf5-aggregated, all boxes",
    ]
    assert [row.get("aggregate_boxes") for row in rows] == [None, 1, 4, 0]
    box = 6**3 * 2 * 8
    assert [row["peak_buffer_bytes"] for row in rows[:3]] == [0, box, 4 * box]
    assert rows[3]["peak_buffer_bytes"] >= 96 * box
    assert rows[1]["mpi_writes"] > rows[2]["mpi_writes"] > rows[3]["mpi_writes"] == 6
    assert all(row["read_seconds"] > 0 for row in rows)
    out = neve("bench", "chombo", *SMALL, *options, ranks=2).out
    assert "hdf5-aggregated, all boxes" in out
    assert " buffer " in out and " read\n" in out


@pytest.mark.parametrize("io", ["ompio", "romio321"])
def test_the_mpi_io_in_use_is_named(neve, tmp_path, io):
    options = ("--strategies", "hdf5-aggregated,collective", "--folder", tmp_path, "--json")
    found = neve("bench", "chombo", *SMALL, *options, ranks=2, OMPI_MCA_io=io).json
    assert found["mpi_io"] == io.removesuffix("321")
    flags = {row["name"]: row["read_modify_write"] for row in found["strategies"]}
    # OMPIO sieves where pieces are as small as these; ROMIO is told not to.
    assert flags == {"hdf5-aggregated": False, "collective": io == "ompio"}


STRACE_CALLS = "read,pread64,readv,preadv,write,pwrite64,writev,pwritev"


def io_of_file(neve_command, folder, ranks, *options, **changes):
    """The result, and by strace: bytes written to the strategies' file and read of it, and its
    pwrites as {bytes: count}."""
    traces = folder / "strace"
    traces.mkdir()
    command = [
        "mpirun",
        "-n",
        ranks,
        "strace",
        "--seccomp-bpf",
        "-f",
        "-ff",
        "-y",
        "-e",
        f"trace={STRACE_CALLS}",
    ]
    command += ["-o", traces / "t", NEVE, "bench", "chombo", "--repeats", "1", "--json"]
    outcome = run([*neve_command, *command, "--folder", folder, *options], **changes)
    assert outcome.code == 0, outcome.err
    read, written = 0, collections.Counter()
    for part in traces.iterdir():
        for line in part.read_text(errors="replace").splitlines():
            # The file's name while it is written (src/io/files/private_folder.hpp).
            call = re.match(r"(\w+)\(\d+<[^>]*neve_chombo_[^>]*/new>.* = (\d+)$", line)
            if call is None:
                continue
            if "read" in call[1]:
                read += int(call[2])
            else:
                written[int(call[2])] += 1
    shutil.rmtree(traces)
    return outcome.json, read, written


EVERY = ["hdf5-independent", "hdf5-collective", "hdf5-aggregated", "hdf5-aggregated-independent"]
EVERY += ["cb2-collective", "cb2-aggregated", "independent", "collective", "aggregated", "skeleton"]

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not here")


@needs_strace
@pytest.mark.parametrize("io", ["ompio", "romio321"])
@pytest.mark.parametrize("strategy", EVERY)
def test_nothing_is_written_twice_unless_said_so(tmp_path, strategy, io):
    found, read, written = io_of_file(
        [], tmp_path, 4, "--box-cells", "8", "--strategies", strategy, OMPI_MCA_io=io
    )
    row = found["strategies"][0]
    assert row["read_modify_write"] is False
    assert read == 0
    total = sum(size * count for size, count in written.items())
    assert row["data_bytes"] <= total <= 1.05 * row["data_bytes"]


@needs_strace
@pytest.mark.parametrize(
    "changes, cells",
    [
        ({"OMPI_MCA_io": "romio321", "NEVE_MPI_HINTS": "romio_cb_write=enable"}, 8),
        ({"OMPI_MCA_io": "ompio"}, 2),
    ],
)
@pytest.mark.parametrize("strategy", ["hdf5-collective", "collective"])
def test_what_is_read_and_written_back_is_said(tmp_path, strategy, changes, cells):
    found, read, written = io_of_file(
        [], tmp_path, 4, "--box-cells", cells, "--strategies", strategy, **changes
    )
    assert found["strategies"][0]["read_modify_write"] is True
    assert read > 0
    assert (
        sum(size * count for size, count in written.items()) > found["strategies"][0]["file_bytes"]
    )


# Two-phase writes end at stripes, and join whatever adjoins in a call: recomputed from where the
# boxes of each rank lie.
@needs_strace
def test_two_phase_writes_are_whole_up_to_ends_of_stripes(neve, tmp_path):
    stripe = 65536
    options = ("--box-cells", "8", "--strategies", "cb2-aggregated", "--stripe-size", "64KiB")
    _, read, written = io_of_file([], tmp_path, 4, *options)
    assert read == 0
    # One range a level, from byte 2048 on (src/io/hdf5/skip_driver.hpp).
    begin, wanted = 2048, collections.Counter()
    for boxes in (1, 32, 192):
        end = begin + boxes * 10**3 * 2 * 8
        while begin < end:
            size = min(end, (begin // stripe + 1) * stripe) - begin
            wanted[size] += 1
            begin += size
    structure = written - wanted
    assert wanted <= written
    assert sum(structure.values()) < 20


@needs_strace
@pytest.mark.parametrize("strategy", ["hdf5-independent", "hdf5-aggregated", "cb2-aggregated"])
@pytest.mark.parametrize("io", ["ompio", "romio321"])
def test_trace_counts_what_strace_counts(neve, tmp_path, strategy, io):
    out = tmp_path / "trace.json"
    _, _, written = io_of_file(
        [NEVE, "trace", "run", "-o", out, "--"],
        tmp_path,
        2,
        *("--box-cells", "4", "--keep", "--strategies", strategy),
        OMPI_MCA_io=io,
    )
    found = neve("trace", "report", out, "--json").json["traces"][0]["files"]
    path = next(path for path in found if f"neve_chombo_{strategy}.h5" in path)
    sizes = dict(found[path]["posix"]["write_sizes"])
    assert {int(size): count for size, count in sizes.items()} == dict(written)


@needs_strace
@pytest.mark.parametrize("io", ["ompio", "romio321"])
@pytest.mark.parametrize(
    "strategy", ["hdf5-independent", "hdf5-collective", "hdf5-aggregated", "cb2-aggregated"]
)
def test_a_write_that_fails_is_an_error_of_all_ranks(tmp_path, strategy, io):
    folder = tmp_path / "folder"
    folder.mkdir()
    fails = "inject=pwrite64:error=EIO:when=3+"
    command = [
        "mpirun",
        "-n",
        2,
        "strace",
        "--seccomp-bpf",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        fails,
        NEVE,
    ]
    command += ["bench", "chombo", *SMALL, "--strategies", strategy, "--folder", folder]
    outcome = run(["timeout", "60", *command], OMPI_MCA_io=io)
    assert outcome.code == 1
    (message,) = outcome.messages()
    assert f"neve_chombo_{strategy}.h5" in message
    assert "Input/output error" in message
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_one_error(tmp_path):
    """A file system of 256 KiB, seen only by the command."""
    tmpfs = ("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path)
    probe = run(["unshare", "-rm", *tmpfs])
    if probe.code != 0:
        pytest.skip(f"no private file system can be mounted here: {probe.err.strip()}")
    mount = " ".join(map(str, tmpfs))
    for strategy in ("hdf5-independent", "hdf5-aggregated", "cb2-aggregated"):
        bench = f"timeout 60 mpirun -n 2 {NEVE} bench chombo {' '.join(SMALL)}"
        bench += f" --strategies {strategy} --folder {tmp_path}"
        script = f"{mount} && {bench}; code=$?; echo left: $(ls -A {tmp_path}); exit $code"
        outcome = run(["unshare", "-rm", "bash", "-c", script])
        assert outcome.code == 1
        assert "No space left" in outcome.err
        assert len(outcome.messages()) == 1
        assert outcome.out.splitlines()[-1] == "left:"


def test_help_is_its_own(neve):
    assert "--aggregate-boxes" in neve("bench", "chombo", "--help").out


@pytest.mark.parametrize(
    "arguments, part",
    [
        (
            ("--strategies", "filtered"),
            "unknown strategy 'filtered'; allowed are hdf5-independent, hdf5-collective",
        ),
        (("--strategies", "skeleton,skeleton"), "strategy skeleton is given twice"),
        (("--aggregate-boxes", "-1"), "aggregate-boxes is -1"),
        (
            ("--strategies", "hdf5-collective", "--aggregate-boxes", "4"),
            "allowed with hdf5-aggregated, hdf5-aggregated-independent, cb2-aggregated, aggregated",
        ),
        (
            ("--strategies", "cb2-collective", "--buffer-size", "1MiB", "--stripe-size", "3MiB"),
            "multiples of the stripe size, 3145728",
        ),
        (("--grid", "sphere"), "chombo, bisicles"),
        (("--file", "movie"), "plot, checkpoint"),
        (("--units", "1,1"), "3 are wanted"),
        (("--units", "0,1,1"), "units"),
        (("--repeats", "0"), "repeats is 0"),
        (("--stripe-size", "1000B"), "65536"),
    ],
)
def test_refuses(neve, tmp_path, arguments, part):
    outcome = neve(
        "bench", "chombo", "--box-cells", "4", "--folder", tmp_path, *arguments, expect=2
    )
    assert part in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_more_aggregators_than_ranks_are_refused(neve, tmp_path):
    bench = ("bench", "chombo", "--box-cells", "4", "--folder", tmp_path, "--aggregators", "9")
    outcome = neve(*bench, ranks=2, expect=2)
    assert "--aggregators is 9; 1 to 2 are allowed" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_line_of_a_deck_is_named(neve, tmp_path):
    deck = tmp_path / "case.toml"
    deck.write_text("box_size = 4\n")
    assert "box_size" in neve("bench", "chombo", "--deck", deck, expect=2).err


def test_compressed_ghosts_are_where_chombo_readers_look(neve, tmp_path):
    options = ("--strategies", "skeleton,compressed", "--compress-ghosts", "--bound", "lossless")
    neve("bench", "chombo", *SMALL, *options, "--folder", tmp_path, "--keep", ranks=2)
    as_they_are = tmp_path / "neve_chombo_skeleton.h5"
    compressed = tmp_path / "neve_chombo_compressed.h5"
    # In a process of its own: HDF5 looks for plugins where it was told to when it started.
    code = f"""
import h5py, neve, numpy as np, yt
yt.set_log_level("error")
paths = [{str(as_they_are)!r}, {str(compressed)!r}]
plain, frames = (h5py.File(path) for path in paths)
for level in ("level_0", "level_1", "level_2"):
    a, b = plain[level], frames[level]
    for group in (a, b):
        assert group["data_attributes"].attrs["outputGhost"].tolist() == (1, 1, 1)
    assert (a["boxes"][()] == b["boxes"][()]).all()
    values, others = (group["data:datatype=0"][()].view("u8") for group in (a, b))
    elements = 2 * 6**3
    for p, q in zip(a["data:offsets=0"][:-1], b["data:offsets=0"][:-1]):
        assert (values[p : p + elements] == others[q : q + elements]).all(), level
first, second = (neve.open(path) for path in paths)
for a, b in zip(first.levels, second.levels):
    for name in first.components:
        for box in range(len(a.boxes)):
            assert (a[name][box] == b[name][box]).all()
first, second = (yt.load(path) for path in paths)
name = first.field_list[0]
for a, b in zip(first.index.grids, second.index.grids):
    assert a.Level == b.Level
    assert (np.asarray(a[name]) == np.asarray(b[name])).all()
"""
    done = run([sys.executable, "-c", code], HDF5_PLUGIN_PATH=str(PLUGIN_DIR))
    assert done.code == 0, done.err
    assert neve("verify", as_they_are, compressed, "--json").json["ok"]
