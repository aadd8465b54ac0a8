# SPDX-License-Identifier: BSD-3-Clause
"""`neve study miniio`: its figures against the mini-apps' own and against arithmetic; killed and
gone on with; what it refuses.
"""

import csv
import json
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import time

import pytest

from .conftest import NEVE, ROOT, environment

GRID = "48,40,8"
TINY = ("--grid", GRID, "--count-grid", GRID, "--ranks", "1", "2", "--tiles", "2", "4")
TINY = (*TINY, "--repeats", "1")
COUNTED = ("--items", "load-imbalance", "io-imbalance", "continents", "--no-pictures")
SURFACES = 3  # of continents; the tiles are counted once for both other items
UNLIKE_THE_PAPER = (
    "cannot be had here",
    "cannot be told",
    "does not hold here",
    "holds in part",
)
TIMED_REPEATS = ("--items", "figure-1", "--repeats", "500")


def run_tiny(neve, into, *words, **options):
    return neve("study", "miniio", "--into", into, *TINY, *words, **options)


def items_of(folder):
    recorded = json.loads((folder / "miniio.json").read_text())
    return {one["item"]: one for one in recorded["items"]}


def rows_of(folder, how):
    with open(folder / "miniio.csv") as file:
        return [row for row in csv.DictReader(file) if row["how"] == how]


@pytest.fixture(scope="module")
def study(neve, tmp_path_factory):
    """Every item, on the smallest grid."""
    into = tmp_path_factory.mktemp("study") / "tiny"
    run_tiny(neve, into)
    return into


# ---- figures, recomputed -----------------------------------------------------------------------


def test_tiles_are_those_of_the_mini_app(neve, study, tmp_path):
    """Counted once more, on another number of ranks."""
    numbers = items_of(study)["tile-sizes"]["numbers"]
    names = ("hdf5-shuffle-zlib", "hdf5-zfp", "neve")
    options = ("--grid", GRID, "--bound", "abs=1e-4", "--tiles", "2,4", "--json")
    options += ("--outputs", ",".join(names), "--folder", tmp_path)
    for count in neve("bench", "struct", *options, ranks=3).json["tile_counts"]:
        layout = "balanced" if count["name"] == "balanced" else "equal"
        for one in count["outputs"]:
            values = one["tile_bytes"]
            busiest = max(values) * len(values) / sum(values)
            found = numbers[layout][one["output"]][str(count["tiles"])]
            assert found == pytest.approx(busiest), (layout, one["output"])
        raw = count["raw_bytes"]
        found = numbers["raw"][count["name"]][str(count["tiles"])]
        assert found == pytest.approx(max(raw) * len(raw) / sum(raw))


def test_shares_of_imbalance_are_arithmetic(study):
    items = items_of(study)
    of = items["tile-sizes"]["numbers"]
    shares = items["mended-bytes"]["numbers"]["share_of_imbalance_in_bytes"]
    raw = of["raw"]["balanced"]["4"]
    for name, share in shares.items():
        assert share == pytest.approx(1 - (of["balanced"][name]["4"] - 1) / (raw - 1))


def test_speed_up_is_a_quotient_of_seconds(study):
    """The table of figure 1 against the seconds of the CSV file."""
    seconds = {}
    for row in rows_of(study, "timed"):
        if "--weak" not in row["words"]:
            place = (row["output"], row["layout"], int(row["ranks"]))
            seconds.setdefault(place, []).append(float(row["write_seconds"]))
    assert len({output for output, _, _ in seconds}) >= 7
    table = re.findall(
        r"^\| ([a-z0-9-]+) +\| +(balanced|unbalanced) \| +(\d+) \|"
        r".*\| +([0-9.]+) \| +([0-9.]+) \|$",
        (study / "miniio.md").read_text(),
        re.M,
    )
    assert len(table) == len(seconds)
    for output, layout, ranks, over_one, over_plain in table:
        mine = statistics.median(seconds[output, layout, int(ranks)])
        alone = statistics.median(seconds[output, layout, 1])
        plain = statistics.median(seconds["hdf5", "unbalanced", int(ranks)])
        assert float(over_one) == pytest.approx(alone / mine, rel=0.006)
        assert float(over_plain) == pytest.approx(plain / mine, rel=0.006)


def test_ratios_are_quotients_of_bytes_and_nothing_is_wrong(study):
    rows = rows_of(study, "stored")
    assert {row["app"] for row in rows} == {"struct", "cartiso", "amr", "unstruct"}
    for row in rows:
        assert float(row["ratio"]) == pytest.approx(int(row["raw_bytes"]) / int(row["file_bytes"]))
        assert row["wrong_values"] == "0", row


def test_counted_claims_hold_on_any_machine(study):
    items = items_of(study)
    for name in (
        "mini-apps",
        "load-imbalance",
        "io-imbalance",
        "filling",
        "continents",
        "time-variant",
    ):
        assert items[name]["verdict"] == "holds", items[name]
    for name in ("hdf5-filters", "valid-points", "zfp-9x"):
        assert items[name]["verdict"] == "holds", items[name]
    assert items["zfp-9x"]["numbers"]["hdf5-zfp"] == pytest.approx(9, rel=0.05)


def test_one_pair_of_runs_tells_nothing(study):
    """A sign test of one pair: no claim of times holds or fails."""
    items = items_of(study)
    for name in ("speed-up", "unbalanced-faster", "mended", "compressed-balanced"):
        assert items[name]["verdict"] in ("cannot be told", "measured"), items[name]
        if items[name]["verdict"] == "cannot be told":
            assert items[name]["why"].startswith("too few pairs: --repeats 1"), items[name]


def test_too_few_repeats_are_told_before_anything_is_measured(neve, tmp_path):
    few = "too few pairs: --repeats 1 decide no comparison of times, which takes 6 or more"
    words = ("--items", "figure-1", "--dry-run")
    assert few in run_tiny(neve, tmp_path / "x", *words).err
    assert "too few" not in run_tiny(neve, tmp_path / "x", *words, "--repeats", "6").err
    counted = ("--items", "continents", "--dry-run")
    assert "too few" not in run_tiny(neve, tmp_path / "x", *counted).err, "nothing is timed"
    assert "below 6 are too few pairs" in _flat(neve("study", "miniio", "--help").out)


# ---- what is written ---------------------------------------------------------------------------


def _flat(text):
    return " ".join(text.split())


def test_every_item_has_a_row_and_a_verdict(neve, study):
    items = items_of(study)
    asked = re.search(r"of (mini-apps, .*?) \(all\)", _flat(neve("study", "miniio", "--help").out))
    assert list(items) == asked[1].replace("- ", "-").split(", ")  # argparse breaks lines there
    for one in items.values():
        assert one["verdict"] != "failed" and one["paper"] and one["ours"] and one["neve"], one
        if one["verdict"] in UNLIKE_THE_PAPER:
            assert one["why"], one
    page = (study / "miniio.html").read_text()
    assert page.count("data:image/png;base64,") >= 8
    assert not re.search(r'(src|href)="(?!data:)', page), "nothing beside the page is needed"
    for picture in re.findall(r"\]\((.*?\.png)\)", (study / "miniio.md").read_text()):
        assert (study / picture).stat().st_size > 1000


def test_nothing_failed(study):
    assert json.loads((study / "miniio.json").read_text())["failures"] == []


def test_no_path_of_the_machine_is_written(study):
    for path in [*study.glob("miniio.*"), *study.glob("*.json"), *(study / "runs").iterdir()]:
        text = path.read_text()
        for place in (str(ROOT), str(study.parent), os.environ.get("HOME", "/root") + "/"):
            assert place not in text, (path.name, place)
    assert not (study / "scratch").exists()


def test_the_report_again(neve, study, tmp_path):
    copy = tmp_path / "elsewhere"
    shutil.copytree(study, copy)
    (copy / "miniio.csv").unlink()
    neve("study", "miniio", "--into", copy, "--report-only", "--no-pictures")
    assert (copy / "miniio.csv").read_text() == (study / "miniio.csv").read_text()
    assert "data:image" not in (copy / "miniio.html").read_text()
    done = neve("study", "miniio", "--into", copy, "--list").out.splitlines()[-1]
    count, total = map(int, re.fullmatch(r"(\d+) of (\d+) measurements are done", done).groups())
    assert count == total > 30


def test_neve_bench_study_is_the_same(neve):
    assert neve("bench", "study", "miniio", "--help").out == neve("study", "miniio", "--help").out
    assert "miniio" in neve("study", "--help").out


# ---- progress, and going on --------------------------------------------------------------------


def start(into, *words):
    return subprocess.Popen(
        [NEVE, "study", "miniio", *TINY, *words, "--into", into],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_progress_from_the_first_second(neve, tmp_path):
    began = time.monotonic()
    neve("study", "miniio", "--help")
    until_help = time.monotonic() - began  # what the interpreter takes on this machine
    process = start(tmp_path / "x", *COUNTED)
    try:
        assert select.select([process.stderr], [], [], 1 + 2 * until_help)[0]
        assert "looking at the inputs" in process.stderr.readline()
        assert re.search(
            r"  0% done, estimating what is left: the surface", process.stderr.readline()
        )
    finally:
        process.terminate()
        process.communicate()


def test_goes_on_where_it_was_killed(neve, tmp_path):
    into = tmp_path / "x"
    process = start(into, *COUNTED)
    until = time.monotonic() + 120
    while len(list(into.glob("runs/*.json"))) < 1:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    again = run_tiny(neve, into, *COUNTED)
    assert re.search(r"\d+ of \d+ measurements are done already", again.err)
    after = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    assert len(after) == SURFACES + 1 and {path: after[path] for path in before} == before
    run_tiny(neve, into, *COUNTED)
    assert {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")} == after
    # Another question measures what it adds: the tiles are counted.
    words = ("--items", "tile-sizes", "--dry-run")
    listed = neve("study", "miniio", "--into", into, *TINY, *words).out.splitlines()
    assert len(listed) == 1 and "struct on 2 ranks" in listed[0]


def test_timed_writes_end_with_the_study(tmp_path):
    into = tmp_path / "x"
    process = start(into, *TIMED_REPEATS)
    until = time.monotonic() + 90
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
        (("--grid", "1,1"), "'1,1'; allowed are three whole numbers"),
        (("--grid", "8,8,1e3"), "'1e3'; allowed are whole numbers from 8 to 4096"),
        (("--count-grid", "0,8,8"), "'0'; allowed are whole numbers from 8 to 4096"),
        (("--ranks", "0"), "'0'; allowed are whole numbers from 1 to"),
        (("--ranks", "100000"), "'100000'; allowed are whole numbers from 1 to"),
        (("--tiles", "1"), "'1'; allowed are whole numbers from 2 to 1024"),
        (("--repeats", "-1"), "'-1'; allowed are whole numbers from 1 to 1000"),
        (("--seed", "x"), "'x'; allowed are whole numbers from 0 to"),
        (("--items", "figure-2"), "invalid choice: 'figure-2'"),
        (("--report-only", "--seed", "4"), "--seed has no meaning beside --report-only"),
        (("--list", "--tiles", "4"), "--tiles has no meaning beside --list"),
        (("plt00113",), "unrecognized arguments: plt00113"),
    ],
)
def test_refusals(neve, tmp_path, words, said):
    done = neve("study", "miniio", "--into", tmp_path / "x", *words, expect=2)
    assert said in _flat(done.err)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("how", ["--report-only", "--list"])
def test_what_only_looks_makes_no_folder(neve, tmp_path, how):
    done = neve("study", "miniio", "--into", tmp_path / "no", how, expect=1)
    assert "plan.json: No such file or directory; no study was made here" in done.err
    assert not (tmp_path / "no").exists()


def test_a_folder_of_something_else_is_refused(neve, tmp_path):
    (tmp_path / "miniio.csv").write_text("mine\n")
    done = run_tiny(neve, tmp_path, *COUNTED, expect=1)
    assert "has miniio.csv, but neither plan.json nor records of a study" in done.err
    assert (tmp_path / "miniio.csv").read_text() == "mine\n"


def test_a_launcher_that_fails_is_named_and_repeated(neve, tmp_path):
    """What needs no ranks stands, the rest says why."""
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "mpirun").write_text("#!/bin/sh\necho no such network >&2\nexit 7\n")
    (broken / "mpirun").chmod(0o755)
    into = tmp_path / "x"
    path = f"{broken}:{os.environ['PATH']}"
    done = run_tiny(neve, into, "--items", "continents", "mini-apps", expect=1, PATH=path)
    assert re.search(r"measurements that failed: \d; the report says how", done.err)
    items = items_of(into)
    assert items["mini-apps"]["verdict"] == "failed"
    assert "no such network" in items["mini-apps"]["why"]
    assert items["continents"]["verdict"] == "holds"
    run_tiny(neve, into, "--items", "continents", "mini-apps", "--retry")
    assert items_of(into)["mini-apps"]["verdict"] == "holds"
