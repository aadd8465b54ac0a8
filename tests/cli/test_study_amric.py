# SPDX-License-Identifier: BSD-3-Clause
"""`neve study amric`: its figures against others' arithmetic; killed and gone on with; inputs that
are no plotfiles; folders without a path of the machine.
"""

import csv
import io
import json
import math
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from . import fab_files
from .conftest import NEVE, ROOT, SAMPLE, environment

sys.path.append(str(ROOT / "bench" / "python"))
from neve_bench.records import sealed  # noqa: E402

FIELDS = ("density", "Temp")
FEW = ("--items", "table-1", "table-2", "--bounds", "1e-3", "1e-2", "--fields", *FIELDS)
SMALL = ("--bounds", "1e-2", "--curve-bounds", "1e-2", "1e-3", "--no-pictures")
ITEMS = 25


def rows_of(folder):
    with open(folder / "amric.csv") as file:
        return list(csv.DictReader(file))


def point(rows, field, way, rel, level="all", cells="uncovered"):
    found = [
        row
        for row in rows
        if (row["field"], row["way"], row["level"], row["cells"]) == (field, way, level, cells)
        and float(row["rel"]) == rel
    ]
    assert len(found) == 1
    return found[0]


def items_of(folder):
    return {one["item"]: one for one in json.loads((folder / "amric.json").read_text())["items"]}


@pytest.fixture(scope="module")
def study(neve, tmp_path_factory):
    """The sample, every item, few bounds."""
    into = tmp_path_factory.mktemp("study") / "sample"
    words = ("--fields", *FIELDS, "--bounds", "1e-3", "1e-2", "--curve-bounds", "1e-3", "1e-2")
    neve("study", "amric", "--into", into, *words, "--ranks", "1", "2", "--repeats", "1")
    return into


# ---- figures, recomputed -----------------------------------------------------------------------


def test_densities_are_those_of_boxes_painted_on_grids(study):
    _, levels = fab_files.read(SAMPLE)
    said = next(iter(items_of(study)["table-1"]["numbers"].values()))
    painted = [100 * fab_files.held(levels, n).mean() for n in range(len(levels))]
    assert said == pytest.approx(painted, rel=1e-12)
    assert sum(painted) == pytest.approx(100)


@pytest.fixture(scope="module")
def by_convert(neve, tmp_path_factory):
    """A field of the sample by `neve convert`, at a bound, without covered cells."""
    folder = tmp_path_factory.mktemp("convert")

    def convert(field, rel, effort):
        source, path = folder / field, folder / f"{field}-{rel}-{effort}.h5"
        if not source.exists():
            fab_files.write_field(SAMPLE, source, field)
        words = ("--bound", f"rel={rel}", "--effort", effort, "--covered", "drop")
        neve("convert", source, path, *words, "--chunk-size", "64MiB")
        return path

    return convert


def frame_bytes(path, level):
    """Of the chunks of a level, which are frames."""
    with h5py.File(path) as file:
        data = file[f"level_{level}/data:datatype=0"].id
        return sum(data.get_chunk_info(n).size for n in range(data.get_num_chunks()))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("rel", [1e-3, 1e-2])
@pytest.mark.parametrize("effort", ["fast", "balanced", "max"])
def test_ratio_and_psnr_are_those_of_a_file(study, by_convert, field, rel, effort):
    import neve

    way = "neve:auto" if effort == "balanced" else f"neve:auto,effort={effort}"
    rows = rows_of(study)
    path = by_convert(field, rel, effort)
    names, levels = fab_files.read(SAMPLE)
    raw = stored = squares = cells = 0
    compared = 0
    with neve.open(path) as back:
        for number, level in enumerate(levels):
            row = point(rows, field, way, rel, str(number))
            true, got = both(level, names.index(field), back[number][field])
            every = true[fab_files.painted(level, level.boxes)]
            spread = every.max() - every.min()
            mask = fab_files.held(levels, number)
            error = (got - true)[mask] / spread
            assert np.abs(error).max() <= rel
            assert int(row["violations"]) == 0 and int(row["held_cells"]) == mask.sum()
            assert int(row["raw_bytes"]) == every.nbytes
            size, told = int(row["stored_bytes"]), float(row["psnr_db"])
            raw, stored = raw + every.nbytes, stored + size
            squares, cells = squares + mask.sum() * 10 ** (-told / 10), cells + mask.sum()
            # The file has the boxes in its writer's order, and says where each lies from the one
            # before: some bytes more or less a box. Balanced judges by a part of the cells, which
            # is another one in another order: levels of one box are compared.
            if effort == "balanced" and len(level.boxes) > 1:
                continue
            compared += 1
            assert told == pytest.approx(psnr(error), abs=1e-6)
            assert float(row["max_abs_error"]) == pytest.approx(np.abs(got - true)[mask].max())
            assert abs(size - frame_bytes(path, number)) <= 2 * (len(level.boxes) - 1)
    assert compared == (1 if effort == "balanced" else 2)
    row = point(rows, field, way, rel)
    assert float(row["ratio"]) == pytest.approx(raw / stored, rel=1e-12)
    assert float(row["psnr_db"]) == pytest.approx(-10 * math.log10(squares / cells), abs=1e-6)


def both(level, component, back):
    """The original and the decoded values on the level's domain."""
    lo, hi = level.domain
    grids = np.zeros((2, *(hi - lo + 1)))
    for (a, b), true, got in zip(level.boxes, level.values, back, strict=True):
        where = tuple(slice(i, j + 1) for i, j in zip(a - lo, b - lo, strict=True))
        grids[0][where], grids[1][where] = true[component], got
    return grids


def psnr(error):
    """Of errors in units of the range."""
    return -10 * math.log10(np.square(error).mean())


def test_tables_are_means_over_the_fields(study):
    rows = rows_of(study)
    for name, of in (("table-2", "ratio"), ("table-3", "psnr_db")):
        lines = items_of(study)[name]["numbers"]["lines"]
        # The pair of bounds of the paper's Nyx runs, and each bound for both sides.
        assert [(one["bound"], one["amrex_bound"]) for one in lines] == [
            (1e-3, 1e-2),
            (1e-3, 1e-3),
            (1e-2, 1e-2),
        ]
        for line in lines:
            columns = (
                ("AMReX 1D, all cells", "amrex:1d", line["amrex_bound"], "all"),
                ("AMReX 1D, same cells", "amrex:1d", line["amrex_bound"], "uncovered"),
                ("AMRIC SZ_L/R", "amric:adaptive", line["bound"], "uncovered"),
                ("Neve max", "neve:auto,effort=max", line["bound"], "uncovered"),
            )
            for column, way, rel, cells in columns:
                of_fields = [float(point(rows, f, way, rel, cells=cells)[of]) for f in FIELDS]
                assert line[column] == pytest.approx(sum(of_fields) / len(FIELDS))


@pytest.mark.parametrize(
    "over, settings",
    [
        ("the paper's units", ("",)),
        # No box of the sample holds a unit of 64.
        ("the best unit", ("", *(f",unit={unit}" for unit in (8, 16, 32)))),
    ],
)
def test_past_the_paper_counts_the_better_of_its_ways(study, over, settings):
    rows = rows_of(study)
    assert not any("unit=64" in row["way"] for row in rows)
    numbers = items_of(study)["past-the-paper"]["numbers"][f"over {over}"]
    factors = []
    for rel in (1e-3, 1e-2):
        logs = []
        for field in FIELDS:
            mine = int(point(rows, field, "neve:auto", rel)["stored_bytes"])
            ways = [
                way + setting
                for way in ("amric:adaptive", "amric:interp")
                for setting in settings
                # What cuts as unit=auto does is there once; the sample's auto is 8 or larger.
                if any(row["way"] == way + setting for row in rows)
            ]
            assert len(ways) >= 2 * len(settings) - 2
            theirs = min(int(point(rows, field, way, rel)["stored_bytes"]) for way in ways)
            logs.append(math.log(theirs / mine))
        factors.append(math.exp(sum(logs) / len(logs)))
    expected = math.sqrt(factors[0] * factors[1])
    assert numbers["balanced at equal bound"] == pytest.approx(expected)


# ---- what is written ---------------------------------------------------------------------------


def test_every_item_has_a_row_and_a_verdict(study):
    items = items_of(study)
    assert len(items) == ITEMS
    for one in items.values():
        assert one["verdict"] and one["paper"] and one["ours"] and one["neve"]
        # What cannot be had, or does not hold everywhere, says why.
        if one["verdict"] in ("cannot be had here", "does not hold here", "holds in part"):
            assert one["why"], one
    page = (study / "amric.html").read_text()
    assert page.count("data:image/png;base64,") >= 8
    assert not re.search(r'(src|href)="(?!data:)', page), "nothing beside the page is needed"
    for picture in re.findall(r"\]\((.*?\.png)\)", (study / "amric.md").read_text()):
        assert (study / picture).stat().st_size > 1000


def test_no_path_of_the_machine_is_written(study):
    for path in [*study.glob("amric.*"), *study.glob("*.json"), *(study / "runs").iterdir()]:
        text = path.read_text()
        for place in (str(ROOT), str(study.parent), os.environ.get("HOME", "/root") + "/"):
            assert place not in text, (path.name, place)
    assert not (study / "scratch").exists()


def test_the_report_again_without_the_inputs(neve, study, tmp_path):
    copy = tmp_path / "elsewhere"
    shutil.copytree(study, copy)
    (copy / "amric.csv").unlink()
    neve("study", "amric", "--into", copy, "--report-only", "--no-pictures")
    assert (copy / "amric.csv").read_text() == (study / "amric.csv").read_text()
    assert "data:image" not in (copy / "amric.html").read_text()
    done = neve("study", "amric", "--into", copy, "--list").out.splitlines()[-1]
    count, total = map(int, re.fullmatch(r"(\d+) of (\d+) measurements are done", done).groups())
    assert count == total > 50


def test_neve_bench_study_is_the_same(neve):
    assert neve("bench", "study", "amric", "--help").out == neve("study", "amric", "--help").out


def test_the_page_says_how_it_was_made(neve, study):
    import neve as package

    page = (study / "amric.md").read_text().replace("\\", "")
    assert "neve study amric --into sample --fields density Temp --bounds 1e-3 1e-2" in page
    assert f"- Neve {package.__version__}, 20" in page
    assert "writes: on 1, 2 ranks; the median of 1" in page
    for word in ("band (border error)", "jump", "call", "prepare, encode, write, sync"):
        assert f"- **{word}**: " in page
    done = neve("study", "amric", "--into", study, "--report-only")
    assert "writing the report" in done.err.splitlines()[0]


# ---- progress, and going on --------------------------------------------------------------------


def start(into, *words):
    return subprocess.Popen(
        [NEVE, "study", "amric", *map(str, words), "--into", into],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_progress_from_the_first_second(neve, tmp_path):
    began = time.monotonic()
    neve("study", "amric", "--help")
    until_help = time.monotonic() - began  # what the interpreter takes on this machine
    began = time.monotonic()
    process = start(tmp_path / "x", *FEW)
    try:
        assert select.select([process.stderr], [], [], 1 + 2 * until_help)[0]
        assert "looking at the inputs" in process.stderr.readline()
        lines = [process.stderr.readline() for _ in range(4)]
        assert any(": nyx_lya32_plt00113 a look at it" in line for line in lines), lines
        assert any(
            re.search(r"  0% done, estimating what is left: nyx_lya32", line) for line in lines
        ), lines
    finally:
        process.terminate()
        process.communicate()


def test_goes_on_where_it_was_killed(neve, tmp_path):
    into = tmp_path / "x"
    process = start(into, *FEW)
    until = time.monotonic() + 120
    while len(list(into.glob("runs/*.json"))) < 8:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    again = neve("study", "amric", *FEW, "--into", into)
    assert re.search(r"\d+ of \d+ measurements are done already", again.err)
    after = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    assert len(after) > len(before)
    assert {path: after[path] for path in before} == before, "nothing is measured twice"
    neve("study", "amric", *FEW, "--into", into)
    last = {path: path.stat().st_mtime_ns for path in into.glob("runs/*.json")}
    assert last == after


def of_study(into):
    """The processes whose command names the study's folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if f"{into}/scratch" in words:
            found.append(int(process.name))
    return found


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_timed_writes_end_with_the_study(neve, tmp_path, by):
    into = tmp_path / "x"
    words = ("--items", "figure-18", "--fields", "density", "--ranks", "2", "--repeats", "500")
    process = start(into, *words)
    until = time.monotonic() + 60
    while len(of_study(into)) < 3:  # mpirun and its ranks
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(by)
    _, err = process.communicate()
    if by == signal.SIGTERM:
        assert process.returncode == 1 and "stopped; the same command goes on" in err
        assert not (into / "scratch").exists()
    while of_study(into):
        assert time.monotonic() < until, "ranks outlive the study"
        time.sleep(0.05)


def test_what_is_asked_for_anew_is_measured_alone(neve, tmp_path):
    words = ("--items", "table-2", "--fields", "density", "--into", tmp_path / "x")
    neve("study", "amric", *words, "--bounds", "1e-2")
    first = set((tmp_path / "x" / "runs").iterdir())
    listed = neve("study", "amric", *words, "--bounds", "1e-2", "1e-3", "--dry-run").out
    assert listed and all(" at 0.001" in line for line in listed.splitlines())
    assert set((tmp_path / "x" / "runs").iterdir()) == first


TINY = ("--items", "table-2", "--fields", "density", "--bounds", "1e-2", "--no-pictures")


@pytest.fixture
def tiny(neve, tmp_path):
    """A study of few units: its folder, and the records of its points."""
    into = tmp_path / "x"
    neve("study", "amric", *TINY, "--into", into)
    records = {path: json.loads(path.read_text()) for path in sorted(into.glob("runs/*.json"))}
    points = [path for path, record in records.items() if record["request"]["kind"] == "point"]
    looks = [path for path in records if path not in points]
    assert len(looks) == 1 and len(points) > 4
    return into, looks[0], points


def test_damaged_records_are_named_once_and_measured_again(neve, tiny):
    into, look, points = tiny
    edited = json.loads(points[3].read_text())
    edited["result"]["psnr_db"] = "abc"
    damages = {
        look: "[1]",
        points[0]: '{"result": {}}',
        points[1]: points[2].read_text(),
        points[3]: json.dumps(edited),
        points[4]: "",
    }
    before = {path: path.stat().st_mtime_ns for path in points[5:]}

    def named(err, then):
        found = re.findall(r"runs/(\S+)\.json is damaged: (.*)", err)
        assert sorted(found) == sorted((path.stem, then) for path in damages)

    for path, text in damages.items():
        path.write_text(text)
    listed = neve("study", "amric", "--into", into, "--list")
    assert "to do" in listed.out and f"of {len(points)} measurements are done" in listed.out
    damages.pop(look)  # the list is of what the look has planned
    named(listed.err, "it counts as not measured")
    damages[look] = "[1]"
    again = neve("study", "amric", "--into", into, "--report-only", "--no-pictures")
    named(again.err, "it counts as not measured")
    named(neve("study", "amric", *TINY, "--retry", "--into", into).err, "measured again")
    rows = rows_of(into)
    assert len({(row["way"], row["cells"]) for row in rows}) == len(points)
    assert all(float(row["psnr_db"]) > 0 for row in rows)
    assert {path: path.stat().st_mtime_ns for path in points[5:]} == before
    assert " is damaged" not in neve("study", "amric", *TINY, "--into", into).err


@pytest.mark.parametrize("text", ["[1]", '{"units": 3}', "", "not JSON"])
def test_a_damaged_plan_is_an_error(neve, tiny, text):
    into, _, _ = tiny
    (into / "plan.json").write_text(text)
    for words in (("--list",), ("--report-only", "--no-pictures")):
        done = neve("study", "amric", *words, "--into", into, expect=1)
        assert "plan.json: damaged" in done.err and "Traceback" not in done.err
    neve("study", "amric", *TINY, "--into", into)
    neve("study", "amric", "--list", "--into", into)


def test_the_report_names_the_machines_of_its_records(neve, tiny):
    into, look, points = tiny
    here = json.loads(look.read_text())["machine"]
    assert json.loads((into / "amric.json").read_text())["machines"] == [here]
    other = {**here, "cpu": "Unheard-of 9000", "cores": 96}
    for path in points[:2]:
        record = json.loads(path.read_text())
        rest = {k: v for k, v in record.items() if k not in ("key", "digest")}
        path.write_text(json.dumps(sealed(path.stem, {**rest, "machine": other})))
    neve("study", "amric", "--report-only", "--no-pictures", "--into", into)
    told = json.loads((into / "amric.json").read_text())["machines"]
    assert len(told) == 2 and here in told and other in told
    page = (into / "amric.md").read_text()
    assert "Unheard-of 9000, 96 cores" in page and f"{here['cpu']}, {here['cores']} cores" in page
    for path in (look, *points):
        record = json.loads(path.read_text())
        rest = {k: v for k, v in record.items() if k not in ("key", "digest")}
        path.write_text(json.dumps(sealed(path.stem, {**rest, "machine": other})))
    neve("study", "amric", "--report-only", "--no-pictures", "--into", into)
    assert json.loads((into / "amric.json").read_text())["machines"] == [other]


# ---- inputs ------------------------------------------------------------------------------------


def test_steps_of_a_run_out_of_an_archive(neve, tmp_path):
    archive = tmp_path / "steps.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        for step in (113, 117, 121):
            tar.add(SAMPLE, f"steps/plt{step:05}")
    words = ("--items", "figure-1", "table-1", "table-2", "--fields", "density")
    neve("study", "amric", archive, "--into", tmp_path / "x", *words, "--bounds", "1e-2")
    rows = rows_of(tmp_path / "x")
    assert {row["step"] for row in rows} == {"113", "117", "121"}
    assert {row["run"] for row in rows} == {"steps/plt00113..121"}
    assert items_of(tmp_path / "x")["figure-1"]["verdict"] == "described"
    assert (tmp_path / "x" / "amric.html").read_text().count("data:image/png") == 3
    assert len(items_of(tmp_path / "x")["table-2"]["numbers"]["lines"]) == 1


def evil(name, kind=tarfile.REGTYPE):
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, 4 if kind == tarfile.REGTYPE else 0
    member.linkname = "/etc"
    return member


@pytest.mark.parametrize(
    "member, said",
    [
        (evil("../escaped"), "outside"),
        (evil("/escaped"), "outside"),
        (evil("plt/link", tarfile.SYMTYPE), "a link"),
        (evil("plt/pipe", tarfile.FIFOTYPE), "a link or a device"),
    ],
)
def test_archives_do_not_leave_their_folder(neve, tmp_path, member, said):
    with tarfile.open(tmp_path / "evil.tar", "w") as tar:
        tar.addfile(member, io.BytesIO(b"evil"))
    done = neve("study", "amric", tmp_path / "evil.tar", "--into", tmp_path / "x", expect=1)
    assert said in done.err and "evil.tar" in done.err
    assert not list(tmp_path.rglob("escaped")) and not list(tmp_path.rglob("link"))


def test_broken_inputs_beside_a_good_one(neve, tmp_path):
    folder = tmp_path / "inputs"
    shutil.copytree(SAMPLE, folder / "good")
    shutil.copytree(SAMPLE, folder / "cut")
    fab = folder / "cut/Level_0/Cell_D_00000"
    os.truncate(fab, fab.stat().st_size // 2)
    (folder / "headless").mkdir()
    (folder / "headless/Header").write_text("no plotfile\n")
    (folder / "notes.txt").write_text("notes\n")
    (folder / "empty.h5").write_bytes(b"")
    words = ("--items", "table-2", "--fields", "density", "--bounds", "1e-2", "--no-pictures")
    done = neve("study", "amric", folder, "missing", "--into", tmp_path / "x", *words, expect=1)
    assert "neve study amric: missing: there is no such file or folder\n" in done.err
    assert "named and not measured: 1" in done.err and "headless" not in done.err
    assert {row["file"] for row in rows_of(tmp_path / "x")} == {"good"}
    aside = json.loads((tmp_path / "x/amric.json").read_text())["left_aside"]
    assert {one["name"] for one in aside} == {
        *(f"inputs/{name}" for name in ("cut", "headless", "notes.txt", "empty.h5")),
        "missing",
    }
    for one in aside:
        assert one["reason"] and str(tmp_path) not in one["reason"]
        assert one["name"] in (tmp_path / "x/amric.md").read_text().replace("\\", "")


def test_nothing_usable_is_an_error(neve, tmp_path):
    (tmp_path / "notes.txt").write_text("notes\n")
    done = neve("study", "amric", tmp_path / "notes.txt", "--into", tmp_path / "x", expect=1)
    assert "no plotfile among the inputs" in done.err and "notes.txt" in done.err
    (tmp_path / "empty").mkdir()
    done = neve("study", "amric", tmp_path / "empty", "--into", tmp_path / "x", expect=1)
    assert "among the inputs: empty: no plotfile in it, down to 4 folders deep" in done.err


@pytest.mark.parametrize("damage", ["header", "values"])
def test_a_broken_file_that_was_named(neve, tmp_path, damage):
    broken = tmp_path / "broken"
    shutil.copytree(SAMPLE, broken)
    file = broken / ("Header" if damage == "header" else "Level_0/Cell_D_00000")
    os.truncate(file, file.stat().st_size // 2)
    words = ("--items", "table-2", "--fields", "density", "--bounds", "1e-2", "--no-pictures")
    done = neve("study", "amric", SAMPLE, broken, "--into", tmp_path / "x", *words, expect=1)
    assert "neve study amric: broken: " in done.err
    assert {row["file"] for row in rows_of(tmp_path / "x")} == {SAMPLE.name}


def folder_with(tmp_path, name):
    into = tmp_path / "x"
    into.mkdir()
    (into / name).write_text("mine")
    return into


@pytest.mark.parametrize("name", ["amric.md", "amric.html", "amric.csv", "amric.json", "plan.json"])
def test_what_is_of_another_is_not_written_over(neve, tmp_path, name):
    into = folder_with(tmp_path, name)
    done = neve("study", "amric", *FEW, "--into", into, expect=1)
    assert f"has {name}, but neither plan.json nor records of a study" in done.err
    assert [one.name for one in into.iterdir()] == [name] and (into / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["pictures", "scratch"])
def test_folders_of_another_are_left_alone(neve, tmp_path, name):
    (tmp_path / "x" / name).mkdir(parents=True)
    (tmp_path / "x" / name / "mine").write_text("mine")
    done = neve("study", "amric", *FEW, "--into", tmp_path / "x", expect=1)
    assert f"has {name}, but neither plan.json nor records of a study" in done.err
    assert (tmp_path / "x" / name / "mine").read_text() == "mine"


def test_a_file_of_two_dimensions_and_one_level(neve, tmp_path):
    shape = (64, 48)
    fields = {"a": fab_files.smooth(shape), "flat": np.full(shape, 2.5)}
    fab_files.write_one_level(tmp_path / "plt2d", fields)
    words = ("--ranks", "1", "--repeats", "1", *SMALL)
    neve("study", "amric", tmp_path / "plt2d", "--into", tmp_path / "x", *words, expect=None)
    rows = rows_of(tmp_path / "x")
    assert {row["field"] for row in rows} == {"a"}, "a field without a range has no relative bound"
    assert "no range, so no relative bound: flat" in (tmp_path / "x/amric.md").read_text()
    whole = point(rows, "a", "neve:auto", 1e-2)
    assert whole["ratio"] == point(rows, "a", "neve:auto", 1e-2, "0")["ratio"]
    assert len(items_of(tmp_path / "x")) == ITEMS


def test_a_file_without_any_range(neve, tmp_path):
    fab_files.write_one_level(tmp_path / "plt", {"flat": np.full((16, 16, 16), 7.0)})
    neve("study", "amric", tmp_path / "plt", "--into", tmp_path / "x", *SMALL)
    assert rows_of(tmp_path / "x") == []
    assert {one["verdict"] for one in items_of(tmp_path / "x").values()} <= {
        "described",
        "measured",
        "cannot be had here",
    }


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, said",
    [
        (("--bounds", "0"), "between 0 and 1"),
        (("--curve-bounds", "1e-3", "nan"), "between 0 and 1"),
        (("--items", "table-9"), "table-9"),
        (("--cells", "some"), "uncovered"),
        (("--ranks", "0"), "whole numbers"),
        (("--ranks", "1", "4096"), "'4096'; allowed are whole numbers from 1 to"),
        (("--repeats", "-1"), "whole numbers"),
        (("--slice", "axis=w"), "axis=x, y, z"),
        (("--slice", "at=3"), "at needs axis="),
        (("--workers", "0"), "--workers 0"),
        (("--time-limit", "0"), "--time-limit 0"),
        (("--list", "--dry-run"), "exclude each other"),
        (("--list", "--retry"), "--retry has no meaning"),
        (("--dry-run", "--no-pictures"), "--no-pictures has no meaning"),
        (("--report-only", "--bounds", "1e-4"), "--bounds has no meaning"),
        (("--report-only", "plt"), "FILE has no meaning"),
        (("--nonsense",), "unknown option '--nonsense'"),
    ],
)
def test_refusals_name_what_is_wrong(neve, tmp_path, words, said):
    done = neve("study", "amric", "--into", tmp_path / "x", *words, expect=2)
    assert said in done.err
    assert not (tmp_path / "x").exists()


def test_refuses_fields_that_no_input_has(neve, tmp_path):
    done = neve("study", "amric", "--fields", "densty", "--into", tmp_path / "x", expect=2)
    assert "densty" in done.err and "density" in done.err


def test_an_input_behind_fields_is_told_where_it_belongs(neve, tmp_path):
    words = ("--fields", "density", SAMPLE, "--items", "table-2", "--dry-run")
    done = neve("study", "amric", "--into", tmp_path / "x", *words, expect=2)
    assert "put inputs before --fields, or after --" in done.err
    words = ("--items", "table-2", "--bounds", "1e-2,1e-3", "--fields", "density", "--", SAMPLE)
    listed = neve("study", "amric", "--into", tmp_path / "x", "--dry-run", *words).out
    assert " at 0.01\n" in listed and " at 0.001\n" in listed


@pytest.mark.parametrize("place", ["axis=z,at=1e9", "axis=x,at=-0.5"])
def test_refuses_a_slice_outside_of_all_inputs(neve, tmp_path, place):
    fab_files.write_one_level(tmp_path / "plt2d", {"a": fab_files.smooth((16, 16))})
    inputs, into = (SAMPLE, tmp_path / "plt2d"), tmp_path / "x"
    done = neve("study", "amric", *inputs, "--slice", place, "--into", into, expect=2)
    axis = place[5]
    high = dict(zip("xyz", map(float, sides(SAMPLE)), strict=True))[axis]
    assert f"--slice {place[:6]},at=" in done.err
    assert f"{axis} is from 0.0 to {high} in {SAMPLE.name}" in done.err
    assert "of 2 dimensions no plane is left in plt2d" in done.err
    kinds = [json.loads(path.read_text())["request"]["kind"] for path in into.glob("runs/*.json")]
    assert kinds == ["look", "look"], "nothing is measured"


def sides(plotfile):
    """The upper corner of the domain, as the header has it; the lower one is 0."""
    lines = (plotfile / "Header").read_text().splitlines()
    return lines[2 + int(lines[1]) + 4].split()


def test_inputs_that_a_slice_does_not_cut_say_so(neve, tmp_path):
    high = float(sides(SAMPLE)[2])
    field = fab_files.smooth((16, 16, int(2 * high)))
    values = {"density": field, "particle_mass_density": field}  # as Nyx has them
    fab_files.write_one_level(tmp_path / "taller", values)  # cells of side 1
    place = ("--slice", f"axis=z,at={1.5 * high}")
    words = ("--items", "figure-10", "figure-13", "--fields", "density", "--bounds", "1e-2")
    into = tmp_path / "x"
    neve("study", "amric", SAMPLE, tmp_path / "taller", *place, *words, "--into", into)
    reason = f"{SAMPLE.name}: --slice axis=z,at={1.5 * high}: z is from 0.0 to {high}"
    page = (into / "amric.md").read_text().replace("\\", "")
    assert page.count(reason) == 2, "in each item that has pictures"
    assert "failed" not in page.lower()
    assert len(list((into / "pictures").iterdir())) == 1
    told = json.loads((into / "amric.json").read_text())
    assert told["failures"] == [] and items_of(into)["figure-13"]["ours"] == "taller"


def test_a_report_of_nothing(neve, tmp_path):
    done = neve("study", "amric", "--report-only", "--into", tmp_path / "x", expect=1)
    assert "no study was made here" in done.err


def test_papers_that_there_are(neve):
    assert "amric" in neve("study", "--help").out
    done = neve("study", "other", expect=2)
    assert "'other'" in done.err and "neve study --help" in done.err


def test_without_benches_it_says_so(tmp_path):
    alone = tmp_path / "bin" / "neve"
    alone.parent.mkdir()
    shutil.copy(NEVE, alone)
    done = subprocess.run(
        [alone, "study", "amric"], env=environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and "NEVE_BENCH=ON" in done.stderr
