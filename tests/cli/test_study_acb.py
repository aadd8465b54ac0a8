# SPDX-License-Identifier: BSD-3-Clause
"""`neve study acb`: its figures against others' arithmetic and strace's; killed and gone on with;
what it refuses.
"""

import csv
import json
import math
import os
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

from .conftest import NEVE, ROOT, environment

TINY = ("--box-cells", "4", "--ranks", "1", "2", "--repeats", "1")
MODEL = ("--items", "table-1", "--no-pictures")  # of which the paper's part is by the model
RANKS = (1, 2)
# The paper's description: a unit of 1 + 4x4x2 + 8x8x3 boxes of 64^3, a layer of ghosts, 2 values.
UNIT = (1, 32, 192)
UNITS = 8**3
PAPERS_RANKS = 2304
BOX_BYTES = 66**3 * 2 * 8
STRIPE = 8 << 20
STRUCTURE = 68  # writes of the file's structure: Table I's MPI-IO writes less its boxes


def run_tiny(neve, into, *words, **options):
    return neve("study", "acb", "--into", into, *TINY, *words, **options)


def items_of(folder):
    return {one["item"]: one for one in json.loads((folder / "acb.json").read_text())["items"]}


def rows_of(folder, how):
    with open(folder / "acb.csv") as file:
        return [row for row in csv.DictReader(file) if row["how"] == how]


@pytest.fixture(scope="module")
def study(neve, tmp_path_factory):
    """Every item, on the smallest boxes."""
    into = tmp_path_factory.mktemp("study") / "tiny"
    run_tiny(neve, into)
    return into


# ---- figures, recomputed -----------------------------------------------------------------------


def test_table_1_is_that_of_the_paper_and_of_the_description(study):
    model = items_of(study)["table-1"]["numbers"]["model"]

    def here(what):
        assert model[what]["within"] > 0 or model[what]["held"] == (
            model[what]["paper"] == model[what]["here"]
        )
        return model[what]["here"]

    boxes = [UNITS * of_unit for of_unit in UNIT]
    layers = sum(math.ceil(of_level / PAPERS_RANKS) for of_level in boxes)
    stripes, begin = 0, 0
    for of_level in boxes:
        end = begin + of_level * BOX_BYTES
        stripes += math.ceil(end / STRIPE) - begin // STRIPE
        begin = end
    for osts in (48, 96):
        assert here(f"Ind. I/O, {osts} OSTs: MPI-IO writes") == sum(boxes) + STRUCTURE == 115268
        assert here(f"Ind. I/O, {osts} OSTs: POSIX writes") == sum(boxes) + STRUCTURE
        assert here(f"Coll. I/O, {osts} OSTs: MPI-IO writes") == layers * PAPERS_RANKS == 119808
        assert here(f"ACB, {osts} OSTs: MPI-IO writes") == len(UNIT) * PAPERS_RANKS == 6912
        assert here(f"ACB, {osts} OSTs: POSIX writes") == stripes + STRUCTURE == 63241
        assert here(f"Ind. I/O, {osts} OSTs: top access size") == BOX_BYTES == 4599936
        assert here(f"ACB, {osts} OSTs: top access size") == STRIPE


def test_calls_here_are_those_of_boxes_and_ranks(study):
    traced = {
        (int(row["ranks"]), row["mpi_io"], row["strategy"]): row for row in rows_of(study, "traced")
    }
    assert {ranks for ranks, _, _ in traced} == set(RANKS)
    structures = set()
    for (ranks, _, strategy), row in traced.items():
        layers = sum(math.ceil(of_level / ranks) for of_level in UNIT)
        expected = {
            "independent": sum(UNIT),
            "collective": layers * ranks,
            "aggregated": len(UNIT) * ranks,
            "skeleton": ranks,
        }
        if strategy in expected:
            assert int(row["mpi_writes"]) == expected[strategy], (strategy, ranks)
            assert int(row["bytes"]) == sum(UNIT) * 6**3 * 2 * 8
        # HDF5 writes its structure through MPI-IO, too, and by every strategy the same.
        through_hdf5 = expected.get(strategy.removeprefix("hdf5-"))
        if strategy.startswith("hdf5-") and through_hdf5:
            structures.add(int(row["mpi_writes"]) - through_hdf5)
    assert len(structures) == 1 and min(structures) > 0


def test_speedups_are_quotients_of_seconds(study):
    rows = {
        (row["words"], row["strategy"]): float(row["seconds"]) for row in rows_of(study, "modelled")
    }
    for number, system in ((6, "cori"), (7, "edison")):
        numbers = items_of(study)[f"figure-{number}"]["numbers"]
        of_system = [
            words
            for words in {words for words, _ in rows}
            if f"--system {system} " in words
            and re.search(r"--ranks (576|3072|5856) ", words)
            and re.search(r"--stripe-count (24|96|244) ", words)
            and (("--ranks 3072 " in words) == ("--stripe-size 8MiB" in words))
            and "--bisicles" not in words
        ]
        assert len(of_system) == 3, of_system
        factors = [rows[words, "independent"] / rows[words, "aggregated"] for words in of_system]
        name = f"{system.capitalize()}, ACB over Ind. I/O"
        assert numbers[f"{name}, least"]["here"] == pytest.approx(min(factors))
        assert numbers[f"{name}, most"]["here"] == pytest.approx(max(factors))


def bytes_by_strace(folder, strategy, mpi_io):
    """(writes, bytes) that reach the file of a strategy."""
    component = {"ompio": "ompio", "romio": "romio321"}[mpi_io]
    bench = [NEVE, "bench", "chombo", *TINY[:2], "--repeats", "1", "--folder", folder / "files"]
    (folder / "files").mkdir()
    command = ["strace", "-ff", "-qq", "-y", "-e", "trace=write,pwrite64,writev,pwritev"]
    command += ["-o", folder / "calls", "mpirun", "--mca", "io", component, "-n", "2", *bench]
    done = subprocess.run(
        [str(word) for word in [*command, "--strategies", strategy]],
        capture_output=True,
        text=True,
        timeout=200,
        env=environment(),
    )
    if "ptrace" in done.stderr:
        pytest.skip(f"strace may not trace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    call = re.compile(rf"^p?writev?(?:64)?\(\d+<[^>]*neve_chombo_{strategy}\.h5[^>]*>.* = (\d+)$")
    found = [
        int(match[1])
        for path in folder.glob("calls.*")
        for line in path.read_text(errors="replace").splitlines()
        if (match := call.match(line))
    ]
    return len(found), sum(found)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("strategy", ["independent", "aggregated", "hdf5-aggregated"])
def test_posix_writes_are_those_of_strace(study, tmp_path, strategy):
    rows = [
        row
        for row in rows_of(study, "traced")
        if row["strategy"] == strategy and row["ranks"] == "2" and row["mpi_io"]
    ]
    if not rows:
        pytest.skip("the MPI library is not Open MPI, whose MPI-IO can be chosen")
    row = rows[0]
    calls, written = bytes_by_strace(tmp_path, strategy, row["mpi_io"])
    assert (calls, written) == (int(row["posix_writes"]), int(row["posix_bytes"]))


def test_a_trend_is_what_the_table_of_seconds_says(study):
    trends = items_of(study)["figure-9"]["numbers"]["trends"]
    seconds = {}
    for row in rows_of(study, "modelled"):
        found = re.search(
            r"--ranks 2304 --system edison .*--stripe-count (\d+) --stripe-size (\d+)MiB "
            r"--ratio \d+$",
            row["words"],
        )
        if found:
            seconds[row["strategy"], int(found[1]), int(found[2])] = float(row["seconds"])
    names = {"independent": "Ind. I/O", "collective": "Coll. I/O", "aggregated": "ACB"}
    for strategy, name in names.items():
        falls = all(
            seconds[strategy, more, mib] < seconds[strategy, few, mib]
            for mib in (4, 8, 16)
            for few, more in ((36, 48), (48, 60), (60, 96))
        )
        assert trends[f"{name}: faster on more OSTs"] == falls


# ---- what is written ---------------------------------------------------------------------------


def test_every_item_has_a_row_and_a_verdict(neve, study):
    items = items_of(study)
    asked = re.search(r"of (abstract, .*?) \(all\)", _flat(neve("study", "acb", "--help").out))
    assert list(items) == asked[1].replace("- ", "-").split(", ")  # argparse breaks lines there
    tables_and_figures = {f"figure-{n}" for n in range(1, 14)} | {f"table-{n}" for n in (1, 2, 3)}
    assert tables_and_figures <= set(items)
    for one in items.values():
        assert one["verdict"] != "failed" and one["paper"] and one["ours"] and one["neve"], one
        if one["verdict"] in ("cannot be had here", "does not hold here", "holds in part"):
            assert one["why"], one
    page = (study / "acb.html").read_text()
    assert page.count("data:image/png;base64,") >= 12
    assert not re.search(r'(src|href)="(?!data:)', page), "nothing beside the page is needed"
    for picture in re.findall(r"\]\((.*?\.png)\)", (study / "acb.md").read_text()):
        assert (study / picture).stat().st_size > 1000


def _flat(text):
    return " ".join(text.split())


def test_nothing_failed(study):
    assert json.loads((study / "acb.json").read_text())["failures"] == []


def test_no_path_of_the_machine_is_written(study):
    for path in [*study.glob("acb.*"), *study.glob("*.json"), *(study / "runs").iterdir()]:
        text = path.read_text()
        for place in (str(ROOT), str(study.parent), os.environ.get("HOME", "/root") + "/"):
            assert place not in text, (path.name, place)
    assert not (study / "scratch").exists()


def test_the_report_again(neve, study, tmp_path):
    copy = tmp_path / "elsewhere"
    shutil.copytree(study, copy)
    (copy / "acb.csv").unlink()
    neve("study", "acb", "--into", copy, "--report-only", "--no-pictures")
    assert (copy / "acb.csv").read_text() == (study / "acb.csv").read_text()
    assert "data:image" not in (copy / "acb.html").read_text()
    done = neve("study", "acb", "--into", copy, "--list").out.splitlines()[-1]
    count, total = map(int, re.fullmatch(r"(\d+) of (\d+) measurements are done", done).groups())
    assert count == total > 50


@pytest.mark.parametrize("paper", ["acb", "amric"])
@pytest.mark.parametrize("how", ["--report-only", "--list"])
def test_what_only_looks_makes_no_folder(neve, tmp_path, paper, how):
    done = neve("study", paper, "--into", tmp_path / "no", how, expect=1)
    assert "plan.json: No such file or directory; no study was made here" in done.err
    assert not (tmp_path / "no").exists()


def test_a_report_has_no_share_of_its_own(neve, study, tmp_path):
    copy = tmp_path / "x"
    shutil.copytree(study, copy)
    lines = neve("study", "acb", "--into", copy, "--report-only").err.splitlines()
    assert "writing the report" in lines[0] and not any("%" in line for line in lines), lines


def test_neve_bench_study_is_the_same(neve):
    assert neve("bench", "study", "acb", "--help").out == neve("study", "acb", "--help").out
    assert "acb" in neve("study", "--help").out


# ---- progress, and going on --------------------------------------------------------------------


def start(into, *words):
    return subprocess.Popen(
        [NEVE, "study", "acb", *TINY, *words, "--into", into],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_progress_from_the_first_second(neve, tmp_path):
    began = time.monotonic()
    neve("study", "acb", "--help")
    until_help = time.monotonic() - began  # what the interpreter takes on this machine
    process = start(tmp_path / "x", *MODEL)
    try:
        assert select.select([process.stderr], [], [], 1 + 2 * until_help)[0]
        assert "looking at the inputs" in process.stderr.readline()
        line = process.stderr.readline()
        assert re.search(r"  0% done, estimating what is left: neve plan --chombo 8x8x8", line)
    finally:
        process.terminate()
        process.communicate()


def test_goes_on_where_it_was_killed(neve, tmp_path):
    into = tmp_path / "x"
    process = start(into, *MODEL)
    until = time.monotonic() + 120
    while len(list(into.glob("runs/*.json"))) < 1:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    again = run_tiny(neve, into, *MODEL)
    assert re.search(r"\d+ of \d+ measurements are done already", again.err)
    after = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    assert len(after) == 3 and {path: after[path] for path in before} == before
    run_tiny(neve, into, *MODEL)
    assert {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")} == after
    # Another question measures what it adds.
    listed = neve("study", "acb", "--into", into, *TINY, "--items", "figure-13", "--dry-run").out
    assert len(listed.splitlines()) == 2 and "--bisicles" in listed


def test_timed_writes_end_with_the_study(tmp_path):
    into = tmp_path / "x"
    process = start(into, "--items", "scaling-here", "--repeats", "500")
    until = time.monotonic() + 60
    while len(of_study(into)) < 2:  # mpirun and a rank
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate()
    assert process.returncode == 1 and "stopped; the same command goes on" in err
    assert not (into / "scratch").exists()
    while of_study(into):
        assert time.monotonic() < until, "ranks outlive the study"
        time.sleep(0.05)


def of_study(into):
    """The processes whose command names the study's scratch folder."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace")
        except OSError:
            continue
        if f"{into}/scratch" in words:
            found.append(int(process))
    return found


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, said",
    [
        (("--units", "1,1"), "'1,1'; allowed are three whole numbers"),
        (("--units", "0,1,1"), "'0'; allowed are whole numbers from 1 to 64"),
        (("--box-cells", "0"), "'0'; allowed are whole numbers from 1 to 128"),
        (("--box-cells", "1e9"), "'1e9'; allowed are whole numbers from 1 to 128"),
        (("--ranks", "0"), "'0'; allowed are whole numbers from 1 to"),
        (("--ranks", "100000"), "'100000'; allowed are whole numbers from 1 to"),
        (("--repeats", "-1"), "'-1'; allowed are whole numbers from 1 to 1000"),
        (("--mpi-io", "posix"), "invalid choice: 'posix'"),
        (("--system", "summit"), "invalid choice: 'summit'"),
        (("--items", "table-9"), "invalid choice: 'table-9'"),
        (("--report-only", "--box-cells", "4"), "--box-cells has no meaning beside --report-only"),
        (("--list", "--mpi-io", "ompio"), "--mpi-io has no meaning beside --list"),
        (("plt00113",), "unrecognized arguments: plt00113"),
    ],
)
def test_refusals(neve, tmp_path, words, said):
    done = neve("study", "acb", "--into", tmp_path / "x", *words, expect=2)
    assert said in _flat(done.err)
    assert not (tmp_path / "x").exists()


def test_a_folder_of_something_else_is_refused(neve, tmp_path):
    (tmp_path / "acb.csv").write_text("mine\n")
    done = run_tiny(neve, tmp_path, *MODEL, expect=1)
    assert "has acb.csv, but neither plan.json nor records of a study" in done.err
    assert (tmp_path / "acb.csv").read_text() == "mine\n"


def test_a_strategy_that_cannot_run_is_named_and_repeated(neve, tmp_path):
    """A launcher that fails: the model's part stands, the rest says why."""
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "mpirun").write_text("#!/bin/sh\necho no such network >&2\nexit 7\n")
    (broken / "mpirun").chmod(0o755)
    into = tmp_path / "x"
    path = f"{broken}:{os.environ['PATH']}"
    done = run_tiny(neve, into, "--items", "table-1", "scaling-here", expect=1, PATH=path)
    assert re.search(r"measurements that failed: \d; the report says how", done.err)
    items = items_of(into)
    assert items["scaling-here"]["verdict"] == "failed"
    assert "no such network" in items["scaling-here"]["why"]
    assert items["table-1"]["verdict"].startswith("holds")
    run_tiny(neve, into, "--items", "table-1", "scaling-here", "--retry")
    assert items_of(into)["scaling-here"]["verdict"] != "failed"
