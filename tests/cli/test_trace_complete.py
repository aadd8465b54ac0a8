# SPDX-License-Identifier: BSD-3-Clause
"""Nothing that a traced program writes is lost without a word: sums against sizes of files."""

import json
import pathlib
import shutil
import sys

import pytest

from .conftest import BUILD, run

ODD_WRITES = BUILD / "bin" / "trace_odd_writes"


def trace_of(neve, tmp_path, *command, options=()):
    """The trace of a command, and its files by path."""
    out = tmp_path / "trace.json"
    neve("trace", "run", "-o", out, *options, "--", *command)
    found = json.loads(out.read_text())
    return found, {file["path"]: file for file in found["files"]}


def odd_writes(neve, tmp_path, mode, *words, options=()):
    folder = tmp_path / "d"
    folder.mkdir(exist_ok=True)
    found, files = trace_of(neve, tmp_path, ODD_WRITES, mode, folder, *words, options=options)
    return found, files, folder


def counter(file, level, name):
    return sum(phase[level]["counters"][name] for phase in file["phases"] if level in phase)


def bytes_written(file):
    """By write and its kin, and by stdio."""
    return counter(file, "posix", "POSIX_BYTES_WRITTEN") + counter(
        file, "stdio", "STDIO_BYTES_WRITTEN"
    )


def shares(file, kind):
    return sum(share.get(kind, {"bytes": 0})["bytes"] for share in file["shares"])


def test_what_memory_cannot_hold_is_counted_together(neve, tmp_path):
    count = 40000
    found, files, folder = odd_writes(neve, tmp_path, "many-files", count, options=["--memory", 1])
    assert 10 < len(files) < count
    over = found["incomplete"]["overflow"]
    kept = files.values()
    assert sum(bytes_written(f) for f in kept) > 0
    written = sum(counter(f, "posix", "POSIX_BYTES_WRITTEN") for f in kept)
    assert written + over["posix"]["write"]["bytes"] == 40 * count
    assert (
        sum(counter(f, "posix", "POSIX_WRITES") for f in kept) + over["posix"]["write"]["calls"]
        == count
    )
    read = sum(counter(f, "posix", "POSIX_BYTES_READ") for f in kept)
    assert read + over["posix"]["read"]["bytes"] == 10 * count
    opens = sum(counter(f, "posix", "POSIX_OPENS") for f in kept)
    assert opens + over["posix"]["opens"] == count
    printed = sum(counter(f, "stdio", "STDIO_BYTES_WRITTEN") for f in kept)
    assert printed + over["stdio"]["write"]["bytes"] == 5 * count
    assert over["posix"]["counters"]["POSIX_BYTES_WRITTEN"] == over["posix"]["write"]["bytes"]
    (process,) = found["processes"]
    assert process["overflow"]["posix_write"]["bytes"] == over["posix"]["write"]["bytes"]
    assert sum(process["heatmap"]["posix"]["write"]) == 40 * count


def test_enough_memory_overflows_nothing(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "many-files", 300)
    assert "overflow" not in found["incomplete"]
    assert {f: bytes_written(file) for f, file in files.items()} == {
        str(folder / f"file{i:06d}"): 45 for i in range(300)
    }


def test_formatted_writes(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "formatted")
    file = files[str(folder / "formatted")]
    size = (folder / "formatted").stat().st_size
    assert counter(file, "posix", "POSIX_BYTES_WRITTEN") == size == 5112
    assert counter(file, "posix", "POSIX_WRITES") == 3
    assert "unexplained_bytes" not in file


def test_characters_stored_by_the_program(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "inlined")
    file = files[str(folder / "inlined")]
    # 10000 + 4000 + 77, then 6 over others.
    assert (folder / "inlined").stat().st_size == 14077
    assert counter(file, "stdio", "STDIO_BYTES_WRITTEN") == 14083
    assert counter(file, "stdio", "STDIO_BYTES_INLINED") == 14083 - 3000
    assert counter(file, "stdio", "STDIO_WRITES") == 1000
    assert shares(file, "stdio_write") == 14083
    left = files[str(folder / "left")]
    assert counter(left, "stdio", "STDIO_BYTES_WRITTEN") == (folder / "left").stat().st_size == 5004
    assert counter(left, "stdio", "STDIO_BYTES_INLINED") == 5001
    assert found["incomplete"]["unexplained"] == {"files": 0, "bytes": 0}


def test_threads_that_share_a_stream(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "threads")
    file = files[str(folder / "common")]
    assert counter(file, "stdio", "STDIO_BYTES_WRITTEN") == 800000
    assert counter(file, "stdio", "STDIO_BYTES_INLINED") == 0


def test_writes_past_the_c_library_are_told(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "direct")
    assert files[str(folder / "direct")]["unexplained_bytes"] == 700
    assert files[str(folder / "direct-left")]["unexplained_bytes"] == 50
    assert found["incomplete"]["unexplained"] == {"files": 2, "bytes": 750}


def test_files_that_are_opened_again_and_again(neve, tmp_path):
    """Their sizes are looked at in the end, also of one that gets another name or none."""
    _, files, folder = odd_writes(neve, tmp_path, "reopened")
    for name in ["stays", "moves", "goes"]:
        assert files[str(folder / name)]["unexplained_bytes"] == 900
        assert counter(files[str(folder / name)], "posix", "POSIX_OPENS") == 201
    assert files[str(folder / "moves")]["renamed_to"] == [str(folder / "moved")]
    opens = {
        name: counter(files[str(folder / name)], "posix", "POSIX_OPENS")
        for name in ["behind", "link"]
    }
    assert opens == {"behind": 2, "link": 1}
    assert bytes_written(files[str(folder / "behind")]) == 20


def test_children_in_the_memory_of_their_parent(neve, tmp_path):
    _, files, folder = odd_writes(neve, tmp_path, "children")
    opened = {
        name[len(str(folder)) + 1 :]: counter(f, "posix", "POSIX_OPENS")
        for name, f in files.items()
    }
    assert opened == {"parent": 1, "between": 1, "after": 1}
    (phase,) = files[str(folder / "parent")]["phases"]
    assert phase["posix"]["write_sizes"] == [[50, 3]]


def sizes_at_close(files):
    return {pathlib.Path(path).name: file["size"]["at_close"] for path, file in files.items()}


def told(files):
    return {
        pathlib.Path(path).name: file["unexplained_bytes"]
        for path, file in files.items()
        if "unexplained_bytes" in file
    }


def test_children_that_no_handler_of_fork_sees(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "unseen-children")
    written = {pathlib.Path(path).name: bytes_written(file) for path, file in files.items()}
    assert written == {"parent": 1120, "of-clone": 77, "of-call": 77}
    assert (folder / "parent").stat().st_size == 1120
    assert len(found["processes"]) == 3
    assert found["incomplete"]["unreadable_parts"] == 0
    assert told(files) == {}


def test_one_file_by_two_names(neve, tmp_path):
    """Bytes written by either name explain its size; what none explains is told once."""
    found, files, folder = odd_writes(neve, tmp_path, "linked")
    assert sum(told(files).values()) == 30 and set(told(files)) <= {"third", "fourth"}
    assert found["incomplete"]["unexplained"] == {"files": 1, "bytes": 30}
    for name in ["third", "fourth"]:
        assert files[str(folder / name)]["size"]["inode"].endswith(
            f":{(folder / name).stat().st_ino}"
        )
    # A selection of files leaves out no explanation.
    out = tmp_path / "trace.json"
    report = neve("trace", "report", out, "--file", "*/first", "--json").json["traces"][0]
    assert "unexplained_bytes" not in report["files"][str(folder / "first")]


def test_what_waits_in_buffers(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "left-in-buffers")
    sizes = {"twice": 20, "shared": 20, "at-exit": 70, "again": 10, "other": 5, "nobody": 0}
    assert sizes_at_close(files) == sizes
    assert {name: (folder / name).stat().st_size for name in sizes} == sizes
    assert told(files) == {"twice": 10}
    assert counter(files[str(folder / "at-exit")], "stdio", "STDIO_BYTES_WRITTEN") == 70


@pytest.mark.parametrize("value", [2**63 - 1, 2**53 + 1, -1e300])
def test_numbers_that_a_double_does_not_hold_are_refused(neve, tmp_path, value):
    found, _, _ = odd_writes(neve, tmp_path, "resized")
    (phase,) = found["files"][0]["phases"]
    phase["posix"]["counters"]["POSIX_BYTES_WRITTEN"] = value
    hostile = tmp_path / "hostile.json"
    hostile.write_text(json.dumps(found))
    err = neve("trace", "report", hostile, expect=4).err
    assert "hostile.json" in err and "POSIX_BYTES_WRITTEN" in err and str(2**53) in err
    phase["posix"]["counters"]["POSIX_BYTES_WRITTEN"] = 2**53
    hostile.write_text(json.dumps(found))
    report = neve("trace", "report", hostile, "--json").json["traces"][0]
    assert report["total"]["posix"]["counters"]["POSIX_BYTES_WRITTEN"] == 2**53


@pytest.mark.parametrize("mode", ["resized", "both-levels"])
def test_what_is_explained_is_not_told(neve, tmp_path, mode):
    found, files, folder = odd_writes(neve, tmp_path, mode)
    (file,) = files.values()
    size = (folder / {"resized": "resized", "both-levels": "both"}[mode]).stat().st_size
    assert file["size"]["at_close"] == size == {"resized": 9010, "both-levels": 360}[mode]
    assert "unexplained_bytes" not in file


def programs(source, folder):
    """Programs that are not ours, each with the file it writes; `sh` opens some of them for it."""
    out = str(folder / "out")
    lines = f"open({out!r}, 'w').writelines(f'{{i}}\\n' for i in range(20000))"
    return {
        "cut": f"cut -c 2- {source} > {out}",
        "base64": f"base64 {source} > {out}",
        "wc": f"wc {source} > {out}",
        "sort": f"sort -o {out} {source}",
        "sort to stdout": f"sort {source} > {out}",
        "tr": f"tr a-z A-Z < {source} > {out}",
        "uniq": f"uniq -c {source} {out}",
        "od": f"od -x {source} > {out}",
        "seq": f"seq 20000 > {out}",
        "sed": f"sed s/1/one/ {source} > {out}",
        "awk": f"awk '{{print $1 * 2}}' {source} > {out}",
        "gzip": f"gzip -c {source} > {out}",
        "xz": f"xz -c {source} > {out}",
        "dd": f"dd if={source} of={out} bs=1000 status=none",
        "append": f"seq 10 >> {out}; seq 2000 >> {out}; echo end >> {out}",
        "one after the other": f"(seq 3000; echo middle; cut -c 2- {source}; wc {source}) > {out}",
        "side by side": f"(seq 30000 & seq 40000 & wait) >> {out}",
        "python": f'{sys.executable} -c "{lines}"',
        "python print": f'{sys.executable} -c "print(*range(9999))" > {out}',
    }


@pytest.mark.parametrize("name", programs("", pathlib.Path("/")))
def test_programs_write_what_their_file_holds(neve, tmp_path, name):
    source, folder = tmp_path / "source", tmp_path / "d"
    folder.mkdir()
    source.write_text("".join(f"{i * 7919 % 100000} word {i}\n" for i in range(20000)))
    line = programs(source, folder)[name]
    if shutil.which(line.split()[0].lstrip("(")) is None:
        pytest.skip(f"{line.split()[0]} is missing")
    found, files = trace_of(neve, tmp_path, "sh", "-c", line)
    file = files[str(folder / "out")]
    size = (folder / "out").stat().st_size
    assert size > 0
    assert bytes_written(file) == size
    assert shares(file, "stdio_write") + shares(file, "posix_write") == size
    assert "unexplained_bytes" not in file


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_processes_that_append(neve, tmp_path, processes):
    found, files, folder = odd_writes(neve, tmp_path, "append", processes)
    file = files[str(folder / "append")]
    size = (folder / "append").stat().st_size
    assert size == 1000 + processes * 50 * 117
    assert counter(file, "posix", "POSIX_BYTES_WRITTEN") == size
    farthest = max(phase["posix"]["counters"]["POSIX_MAX_BYTE_WRITTEN"] for phase in file["phases"])
    assert farthest == size - 1
    # Each lands beyond the last of its own process: only the first of the file does not.
    assert counter(file, "posix", "POSIX_SEQ_WRITES") == processes * 150
    assert "unexplained_bytes" not in file


def test_offsets_of_appends(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "append-alone")
    file = files[str(folder / "alone")]
    assert (folder / "alone").stat().st_size == 600
    assert counter(file, "posix", "POSIX_WRITES") == 6
    assert counter(file, "posix", "POSIX_MAX_BYTE_WRITTEN") == 599
    assert counter(file, "posix", "POSIX_CONSEC_WRITES") == 5
    assert "unexplained_bytes" not in file


def test_names_in_a_chain(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "renames")
    names = {path: file["renamed_to"] for path, file in files.items()}
    assert names == {
        str(folder / a): [str(folder / b) for b in names_of_a]
        for a, names_of_a in {
            "a": ["c", "b"],
            "new": ["kept", "old"],
            "old": [],
            "tmp/deep/f": ["plt00000/deep/f", "plt/deep/f"],
            "left": ["right"],
            "right": ["left"],
        }.items()
    }


def test_names_by_folders_and_links(neve, tmp_path):
    found, files, folder = odd_writes(neve, tmp_path, "names")
    sizes = {
        path: {s: n for phase in file["phases"] for s, n in phase["posix"]["write_sizes"]}
        for path, file in files.items()
    }
    assert sizes == {
        str(folder / "one/x"): {10: 2, 20: 2},
        str(folder / "two/x"): {11: 2, 21: 2},
        str(folder / "one/y"): {30: 10},
        str(folder / "two/y"): {31: 10},
    }


def test_bytes_over_time(neve, tmp_path):
    tenths = 15
    found, files, folder = odd_writes(neve, tmp_path, "slow", tenths)
    (process,) = found["processes"]
    heat = process["heatmap"]
    bins = heat["posix"]["write"]
    assert heat["bin_seconds"] == 0.1
    assert sum(bins) == 150000 and bins[-1] > 0
    late = sum(bins[tenths - 1 :])
    assert late == 50000
    assert "mpiio" not in heat and "stdio" not in heat


def test_processes_share_the_width_of_their_bins(neve, tmp_path):
    script = tmp_path / "job.sh"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    # 200 bins of 0.1 s are 20 s.
    script.write_text(
        f"{ODD_WRITES} slow {tmp_path}/a 205 & {ODD_WRITES} slow {tmp_path}/b 1; wait\n"
    )
    found, files = trace_of(neve, tmp_path, "sh", script)
    heats = [p["heatmap"] for p in found["processes"] if "heatmap" in p]
    assert {heat["bin_seconds"] for heat in heats} == {0.2}
    heats = [heat for heat in heats if "write" in heat["posix"]]  # the shell reads its script
    assert [sum(heat["posix"]["write"]) for heat in heats] == [150000, 150000]
    assert sorted(len(heat["posix"]["write"]) > 100 for heat in heats) == [False, True]


@pytest.mark.parametrize("writable", [0, 1])
def test_an_open_costs_little(neve, tmp_path, writable):
    """Processor time of an open and a close beyond what they take alone."""
    folder = tmp_path / "d"
    folder.mkdir()
    plain = float(run([ODD_WRITES, "opens", folder, writable]).out)
    command = ["trace", "run", "-o", tmp_path / "t.json", "--", ODD_WRITES, "opens", folder]
    assert float(neve(*command, writable).out) - plain < 20e-6


def test_an_older_trace_is_read(neve, tmp_path):
    """Without what later versions added."""
    found, files, folder = odd_writes(neve, tmp_path, "inlined")
    for process in found["processes"]:
        process.pop("heatmap")
    for file in found["files"]:
        file.pop("size")
        for phase in file["phases"]:
            phase["stdio"]["counters"].pop("STDIO_BYTES_INLINED")
    found["incomplete"].pop("unexplained")
    older = tmp_path / "older.json"
    older.write_text(json.dumps(found))
    report = neve("trace", "report", older, "--json").json["traces"][0]
    told = report["files"][str(folder / "inlined")]["stdio"]["counters"]
    assert told["STDIO_BYTES_WRITTEN"] == 14083
    found["files"][0]["phases"][0]["stdio"]["counters"].pop("STDIO_BYTES_WRITTEN")
    older.write_text(json.dumps(found))
    assert "STDIO_BYTES_WRITTEN" in neve("trace", "report", older, expect=4).err
