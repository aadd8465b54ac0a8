# SPDX-License-Identifier: BSD-3-Clause
"""`neve study acomps`: its figures recomputed by other means; killed and gone on with; what it
refuses.
"""

import bz2
import csv
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
import zlib

import h5py
import numpy as np
import pytest

from .conftest import NEVE, ROOT, environment

TINY = ("--most-mib", "0.01", "--repeats", "1", "--grid", "24,20", "--ranks", "2")
QUICK = ("--items", "slide-3", "slide-5", "--no-pictures")  # of variables alone
NINE = [f"{b}-{c}" for b in ("B", "BW", "BWXOR") for c in ("LZO", "zlib", "bzip2")]
STEPS = 4


@pytest.fixture(scope="module")
def own_file(tmp_path_factory):
    """A smooth and a dry variable along an axis of time, as netCDF-4 has them."""
    path = tmp_path_factory.mktemp("own") / "out.h5"
    z, y, x = np.meshgrid(*(np.linspace(0, 3, n) for n in (STEPS, 40, 50)), indexing="ij")
    smooth = (280 + 10 * np.sin(2 * x + z) * np.cos(y)).astype("f4")
    random = np.random.default_rng(5)
    dry = np.where(random.random(smooth.shape) < 0.9, 0, random.lognormal(size=smooth.shape))
    with h5py.File(path, "w") as file:
        file["time"] = np.arange(float(STEPS))
        file["time"].make_scale("time")
        for name, values in (("T", smooth), ("QRAIN", dry.astype("f4"))):
            file[name] = values
            file[name].dims[0].attach_scale(file["time"])
        file["FILL"] = np.full((40, 50), 7, "f4")
    return path


def run_tiny(neve, file, into, *words, **options):
    return neve("study", "acomps", file, "--into", into, *TINY, *words, **options)


def study_of(folder):
    return json.loads((folder / "acomps.json").read_text())


def items_of(folder):
    return {one["item"]: one for one in study_of(folder)["items"]}


def rows_of(folder, how):
    with open(folder / "acomps.csv") as file:
        return [row for row in csv.DictReader(file) if row["how"] == how]


def of_variables(folder):
    """Lines of methods on variables, without those on the steps of series."""
    return [row for row in rows_of(folder, "method") if not row["step"]]


@pytest.fixture(scope="module")
def study(neve, own_file, tmp_path_factory):
    """Every item, of a small file."""
    into = tmp_path_factory.mktemp("study") / "tiny"
    run_tiny(neve, own_file, into)
    return into


# ---- figures, recomputed -----------------------------------------------------------------------


def leading_part(file, name):
    """What --most-mib 0.01 leaves of a variable: rows of its first step."""
    with h5py.File(file) as opened:
        values = opened[name][0]
    return values[: int(0.01 * 2**20) // (values.shape[1] * 4)]


def segregated(values):
    """(bytes that the rule of skewness takes out of each value, the others), as the slides' B."""
    planes = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 4)
    skewed = [np.bincount(p, minlength=256).max() > 1.42 / 256 * len(planes) for p in planes.T]
    return planes[:, skewed].tobytes(), planes[:, [not one for one in skewed]].tobytes()


def test_sizes_are_those_of_the_coders_on_what_the_rule_segregates(study, own_file):
    rows = {(row["what"], row["method"]): row for row in of_variables(study)}
    for name in ("T", "QRAIN"):
        coded, rest = segregated(leading_part(own_file, name))
        for method, size in (
            ("B-zlib", len(zlib.compress(coded, 6))),
            ("B-bzip2", len(bz2.compress(coded, 9))),
        ):
            row = rows[f"out.h5:{name}", method]
            assert int(row["raw_bytes"]) == leading_part(own_file, name).nbytes
            # Beside them a frame has its headers.
            assert 0 < int(row["bytes"]) - size - len(rest) < 200, (name, method)
            assert row["is_exact"] == "True"
            assert float(row["ratio"]) == int(row["raw_bytes"]) / int(row["bytes"])


def test_the_best_method_is_that_of_the_lines(study):
    best = items_of(study)["slide-5"]["numbers"]["best"]
    for name in ("out.h5:T", "out.h5:QRAIN"):
        sizes = {r["method"]: int(r["bytes"]) for r in of_variables(study) if r["what"] == name}
        assert sizes[best[name]["ratio"]] == min(sizes[method] for method in NINE)
        assert sizes[best[name]["ratio of all"]] == min(sizes.values())
    assert not any(row["what"] == "out.h5:FILL" for row in rows_of(study, "method"))
    assert "1 of one value alone" in (study / "acomps.md").read_text()


def typical_speeds(study):
    """In 100 MB/s, by method."""
    of = items_of(study)["slide-7"]["numbers"]["methods"]
    return {name: one["typical_MBps"] / 100 for name, one in of.items()}


def test_scores_are_speed_times_wcs_plus_ratio_times_wcr(study):
    typical = typical_speeds(study)
    of_methods = of_variables(study)
    numbers = items_of(study)["slide-8"]["numbers"]
    chosen = [row for row in rows_of(study, "chosen") if row["what"] != "out.h5:FILL"]
    assert len(chosen) == 2 * 3 * 11  # variables, candidates, weights
    sets = {"acomps": NINE, "nineteen": sorted({row["method"] for row in of_methods})}
    sets["all"] = [m for m in sets["nineteen"] if m not in NINE or m == "B-zlib"]
    assert len(sets["nineteen"]) == 19
    for row in chosen:
        ratios = {r["method"]: float(r["ratio"]) for r in of_methods if r["what"] == row["what"]}
        among = [m for m in sets[row["candidates"]] if m in ratios]
        wcr, wcs = float(row["ratio_weight"]), float(row["speed_weight"])
        best = max(typical[m] * wcs + ratios[m] * wcr for m in among)
        raw = next(int(r["raw_bytes"]) for r in of_methods if r["what"] == row["what"])
        mine = typical[row["method"]] * wcs + raw / int(row["bytes"]) * wcr
        shares = numbers["shares"][row["candidates"]][row["what"]]
        place = numbers["weights"].index([wcr, wcs])
        assert shares[place] == pytest.approx(mine / best) and shares[place] <= 1 + 1e-9


def test_the_published_rule_is_replayed_as_the_slide_says_it(study):
    typical = typical_speeds(study)
    rows = [row for row in rows_of(study, "method") if row["step"]]
    for run in items_of(study)["slide-9"]["numbers"]["published"]:
        wcr, wcs = run["weights"]
        scores = [{} for _ in range(len(run["methods"]))]
        for row in rows:
            if row["what"] == run["series"] and row["method"] in NINE:
                score = typical[row["method"]] * wcs + float(row["ratio"]) * wcr
                scores[int(row["step"])][row["method"]] = score
        best_performance, latest, method, again = 0.0, None, None, 0
        for step, of in enumerate(scores):
            delta = run["delta"] * best_performance
            if latest is None or not best_performance - delta < latest < best_performance + delta:
                method = max(of, key=of.get)
                best_performance = of[method]
                again += latest is not None
            latest = of[method]
            assert run["methods"][step] == method
        assert run["choices again"] == again


def test_more_delta_has_no_more_choices(study):
    for who in ("published", "neve"):
        counts = {}
        for run in items_of(study)["slide-9"]["numbers"][who]:
            place = (run["rule"], run["series"], tuple(run["weights"]))
            counts.setdefault(place, []).append((run["delta"], run["choices again"]))
        assert counts
        for of in counts.values():
            choices = [count for _, count in sorted(of)]
            assert choices == sorted(choices, reverse=True), of


def test_bytes_of_the_cycle_are_those_of_the_benchmark(neve, study, tmp_path):
    row = rows_of(study, "cycle")[0]
    found = neve("bench", "ensemble", *row["what"].split(), "--folder", tmp_path, "--json", ranks=2)
    sizes = {one["name"]: one["bytes"] for one in found.json["methods"]}
    stated = items_of(study)["slide-14"]["numbers"]["bytes"]
    assert stated == {name: sizes[name] for name in stated}
    assert {"netcdf", "none", "zlib", "bzip2", "lzo"} <= set(stated)
    assert {"speed", "ratio", "acomps-speed", "acomps-ratio"} <= set(stated)
    # By the model: bytes over the bandwidth are added, so that half of it adds twice as much.
    numbers = items_of(study)["slide-11"]["numbers"]
    netcdf = next(one for one in found.json["methods"] if one["name"] == "netcdf")
    added = netcdf["imitated_seconds"]["conversion"]
    seconds = items_of(study)["slide-15"]["numbers"]
    total = min(seconds["on storage"]["netcdf"])
    assert total > min(seconds["seconds"]["netcdf"]) + added
    assert numbers["share on storage"] > numbers["share on disk"]


# ---- what is written ---------------------------------------------------------------------------


def _flat(text):
    return " ".join(text.split())


def test_every_item_has_a_row_and_a_verdict(neve, study):
    items = items_of(study)
    asked = re.search(r"of (slide-2, .*?) \(all\)", _flat(neve("study", "acomps", "--help").out))
    assert list(items) == asked[1].replace("- ", "-").split(", ")  # argparse breaks lines there
    assert {f"slide-{n}" for n in range(2, 17)} <= set(items)
    for one in items.values():
        assert one["verdict"] != "failed" and one["paper"] and one["ours"] and one["neve"], one
        if one["verdict"] in ("cannot be had here", "does not hold here", "holds in part"):
            assert one["why"], one
    page = (study / "acomps.html").read_text()
    assert page.count("data:image/png;base64,") >= 10
    assert not re.search(r'(src|href)="(?!data:)', page), "nothing beside the page is needed"
    for picture in re.findall(r"\]\((.*?\.png)\)", (study / "acomps.md").read_text()):
        assert (study / picture).stat().st_size > 1000


def test_every_claim_is_a_row_of_the_conclusions(study):
    items = items_of(study)
    claims = items["conclusions"]["numbers"]["claims"]
    of_slides = {
        what: claim
        for name, one in items.items()
        if name.startswith("slide-")
        for what, claim in one["numbers"].get("claims", {}).items()
    }
    assert claims == of_slides and len(claims) > 30
    words = r"held|not held|cannot be told|held in part \(\d+ of \d+\)"
    for claim in claims.values():
        assert re.fullmatch(rf"({words})(, by the model)?", claim["verdict"]), claim


def test_nothing_failed(study):
    assert study_of(study)["failures"] == []


def test_no_path_of_the_machine_is_written(study):
    for path in [*study.glob("acomps.*"), *study.glob("*.json"), *(study / "runs").iterdir()]:
        text = path.read_text()
        for place in (str(ROOT), str(study.parent), os.environ.get("HOME", "/root") + "/"):
            assert place not in text, (path.name, place)
    assert not (study / "scratch").exists()


def test_the_report_again(neve, study, tmp_path):
    copy = tmp_path / "elsewhere"
    shutil.copytree(study, copy)
    neve("study", "acomps", "--into", copy, "--report-only")
    for name in ("acomps.json", "acomps.csv", "acomps.md"):
        assert (copy / name).read_text() == (study / name).read_text(), name
    listed = neve("study", "acomps", "--into", copy, "--list").out
    assert re.fullmatch(r"(\d+) of \1 measurements are done\n", listed)


# ---- progress, and going on --------------------------------------------------------------------


def start(file, into, *words):
    return subprocess.Popen(
        [str(word) for word in (NEVE, "study", "acomps", file, "--into", into, *TINY, *words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def test_progress_stands_on_stderr_at_once(neve, own_file, tmp_path):
    began = time.monotonic()
    neve("study", "acomps", "--help")
    until_help = time.monotonic() - began  # what the interpreter takes on this machine
    process = start(own_file, tmp_path / "x", *QUICK)
    try:
        assert select.select([process.stderr], [], [], 1 + 2 * until_help)[0]
        assert "looking at the inputs" in process.stderr.readline()
        assert "looking at out.h5" in process.stderr.readline()
        assert "0% done, estimating what is left: out.h5:" in process.stderr.readline()
    finally:
        process.terminate()
        process.communicate()


def test_goes_on_where_it_was_killed(neve, own_file, tmp_path):
    into = tmp_path / "x"
    process = start(own_file, into, *QUICK)
    until = time.monotonic() + 120
    while len(list(into.glob("runs/*.json"))) < 1:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    run_tiny(neve, own_file, into, *QUICK)
    after = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    assert len(after) == 3 and {path: after[path] for path in before} == before
    again = run_tiny(neve, own_file, into, *QUICK)
    assert re.search(r"3 of 3 measurements are done already", again.err)
    # Another question measures what it adds.
    listed = run_tiny(neve, own_file, into, "--items", "slide-7", "--dry-run").out
    assert listed == "typical speeds\n"


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, said",
    [
        (("--most-mib", "0"), "'0'; allowed are numbers from 0.001 to 16384"),
        (("--most-mib", "much"), "'much'; allowed are numbers from"),
        (("--repeats", "0"), "'0'; allowed are whole numbers from 1 to 1000"),
        (("--grid", "181"), "'181'; allowed are two whole numbers, as 181,151"),
        (("--grid", "4,4"), "'4'; allowed are whole numbers from 16 to 4096"),
        (("--members", "1"), "'1'; allowed are whole numbers from 2 to 10000"),
        (("--cycles", "-1"), "'-1'; allowed are whole numbers from 1 to 1000"),
        (("--ranks", "100000"), "'100000'; allowed are whole numbers from 1 to"),
        (("--storage", "0"), "'0'; allowed are numbers from 0.001 to 1e+09"),
        (("--items", "slide-1"), "invalid choice: 'slide-1'"),
        (("--report-only", "--grid", "24,20"), "--grid has no meaning beside --report-only"),
        (("--list", "--variables", "T"), "--variables has no meaning beside --list"),
        (("--report-only", "out.nc"), "FILE has no meaning beside --report-only"),
    ],
)
def test_refusals(neve, tmp_path, words, said):
    done = neve("study", "acomps", "--into", tmp_path / "x", *words, expect=2)
    assert said in _flat(done.err)
    assert not (tmp_path / "x").exists()


def test_a_variable_that_no_input_has(neve, own_file, tmp_path):
    done = run_tiny(neve, own_file, tmp_path / "x", "--variables", "U", expect=2)
    assert re.search(r"--variables U: no input has it; there are .*QRAIN", done.err)
    assert not (tmp_path / "x").exists()
    words = ("--items", "slide-7", "--dry-run")
    assert "every method" in run_tiny(neve, own_file, tmp_path / "x", *words).out
    assert not (tmp_path / "x").exists()


def test_inputs_that_are_none_are_named(neve, own_file, tmp_path):
    (tmp_path / "notes.txt").write_text("no data")
    words = ("study", "acomps", tmp_path / "notes.txt", own_file, "--into", tmp_path / "x")
    done = neve(*words, *TINY, *QUICK, expect=1)
    reason = "notes.txt: neither netCDF, HDF5, .npy nor a plotfile, by its name"
    assert reason in done.err and reason in (tmp_path / "x" / "acomps.md").read_text()
    assert "inputs that were named and not measured: 1" in done.err


def test_a_folder_of_something_else_is_refused(neve, own_file, tmp_path):
    (tmp_path / "acomps.csv").write_text("mine\n")
    done = run_tiny(neve, own_file, tmp_path, *QUICK, expect=1)
    assert "has acomps.csv, but neither plan.json nor records of a study" in done.err
    assert (tmp_path / "acomps.csv").read_text() == "mine\n"
