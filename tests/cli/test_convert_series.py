# SPDX-License-Identifier: BSD-3-Clause
"""`neve convert STEP... --into FOLDER`: methods kept from file to file, the log of choices, and
what `neve choices` shows of it.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

import neve as package

from . import step_files
from .conftest import NEVE, TIMEOUT_SECONDS, environment, run_as_stranger

COUNT = 6
BOUND = ("--bound", "abs=0.01")


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    return step_files.make(tmp_path_factory.mktemp("series") / "steps", COUNT)


@pytest.fixture(scope="module")
def logged(neve, steps, tmp_path_factory):
    """The folder of copies with a log, and the command's report."""
    folder = tmp_path_factory.mktemp("logged") / "into"
    report = neve("convert", *steps, "--into", folder, "--choices", "log", "--json").json
    return folder, report


def assert_alike(a, b, count):
    """All but the times of objects, which are new in each copy."""
    for step in range(count):
        one, other = (folder / f"step_{step}.h5" for folder in (a, b))
        assert step_files.frames(one) == step_files.frames(other)
        assert one.stat().st_size == other.stat().st_size
    rows = [[repr(c) for c in package.read_choices(folder).choices] for folder in (a, b)]
    assert rows[0] == rows[1]


def of_variable(choices, name):
    return [choice for choice in choices if choice["variable"] == f"/{name}"]


def test_every_copy_holds_what_its_source_holds(neve, steps, logged):
    folder, report = logged
    assert sorted(p.name for p in folder.iterdir()) == [p.name for p in steps]
    assert [file["destination"] for file in report["files"]] == [
        str(folder / p.name) for p in steps
    ]
    assert report["files_done_before"] == 0
    assert report["stored_bytes"] == sum(p.stat().st_size for p in folder.iterdir())
    for path in steps:
        assert neve("verify", path, folder / path.name, "--json").json["ok"]


def test_the_method_stays_and_changes_with_the_data(logged):
    _, report = logged
    smooth, turning = (of_variable(report["choices"], name) for name in ("smooth", "turning"))
    assert [c["step"] for c in smooth] == [c["step"] for c in turning] == list(range(COUNT))
    assert len({c["method"] for c in smooth}) == 1
    assert [c["reason"] for c in smooth] == ["first"] + ["kept"] * (COUNT - 1)
    before, after = turning[0]["method"], turning[-1]["method"]
    assert before != after and turning[step_files.CHANGE + 1]["method"] == after
    assert turning[step_files.CHANGE - 1]["method"] == before
    assert any(c["reason"] in ("drift", "rival") for c in turning[step_files.CHANGE :])
    for choice in smooth + turning:
        ratio = choice["raw_bytes"] / choice["coded_bytes"]
        assert choice["raw_bytes"] == np.prod(step_files.SHAPE) * 4
        assert choice["performance"] == pytest.approx(ratio)
    # Noise is copied as it is, and nothing was chosen for it in the end.
    assert not of_variable(report["choices"], "noise")
    noise = [v for v in report["files"][0]["variables"] if v["name"] == "/noise"][0]
    assert not noise["coded"] and noise["why_not"] == "frames would be no smaller"


def test_the_first_file_of_a_series_is_that_of_a_plain_copy(neve, steps, logged, tmp_path):
    """One method for all chunks of a variable, the one that most of them take."""
    folder, _ = logged
    neve("convert", steps[0], tmp_path / "plain.h5")
    plain, of_series = (
        step_files.frames(tmp_path / "plain.h5"),
        step_files.frames(folder / "step_0.h5"),
    )
    for name in ("smooth", "counts"):
        of_name = [key for key in plain if key[0] == name]
        assert of_name and all(plain[key] == of_series[key] for key in of_name)


@pytest.mark.parametrize("threads", [2, 4])
def test_bytes_do_not_depend_on_threads(neve, steps, logged, tmp_path, threads):
    folder, _ = logged
    options = ("--choices", "log", "--threads", threads)
    neve("convert", *steps, "--into", tmp_path / "into", *options)
    assert_alike(tmp_path / "into", folder, COUNT)


def test_a_log_is_only_where_it_is_asked_for(neve, steps, logged, tmp_path):
    folder, _ = logged
    neve("convert", *steps[:2], "--into", tmp_path / "plain")
    neve("convert", *steps[:2], "--into", tmp_path / "timed", "--choices", "timings")
    for path in steps[:2]:
        with h5py.File(tmp_path / "plain" / path.name) as file, h5py.File(path) as source:
            assert set(file) == set(source)
    without, timed = (package.read_choices(f).choices for f in (folder, tmp_path / "timed"))
    assert all(np.isnan(c.coding_seconds) and np.isnan(c.choosing_seconds) for c in without)
    assert all(c.coding_seconds > 0 and c.choosing_seconds >= 0 for c in timed)
    outcome = neve("choices", tmp_path / "plain", expect=2)
    assert "no file in it has a log of choices" in outcome.err


def test_rules_are_heeded_and_logged(neve, steps, tmp_path):
    rules = ("--candidates", "acomps", "--speed-weight", 1, "--ratio-weight", 0.5, "--delta", 0.2)
    folder = tmp_path / "into"
    report = neve("convert", *steps, "--into", folder, "--choices", "log", *rules, "--json").json
    log = package.read_choices(folder)
    told = {
        "candidates": "acomps",
        "delta": 0.2,
        "speeds": "typical",
        "speed_weight": 1.0,
        "ratio_weight": 0.5,
    }
    assert log.rules == told and report["rules"] == told
    assert {choice.method.split("-")[0] for choice in log.choices} <= {"B", "BW", "BWXOR"}
    for path in steps:
        assert neve("verify", path, folder / path.name, "--json").json["ok"]


def test_candidates_of_a_single_file(neve, steps, tmp_path):
    copy = tmp_path / "copy.h5"
    report = neve("convert", steps[0], copy, "--candidates", "acomps", "--json").json
    methods = {m for v in report["variables"] if v["coded"] for m in v["methods"]}
    assert methods and all(
        re.match(r"lossless (B|BW|BWXOR)-", m) for m in methods - {"as they are"}
    )
    field = ("--field", "smooth:candidates=zstd+lz4")
    report = neve("convert", steps[0], copy, *field, "--json").json
    smooth = [v for v in report["variables"] if v["name"] == "/smooth"][0]
    assert set(smooth["methods"]) <= {"lossless zstd", "lossless lz4", "as they are"}


def test_variables_that_come_go_and_change(neve, tmp_path):
    """A variable that appears later, one that changes its shape, one that changes its type."""
    paths = [tmp_path / f"{step}.h5" for step in range(5)]
    rng = np.random.default_rng(4)
    for step, path in enumerate(paths):
        with h5py.File(path, "w") as file:
            wide = np.cumsum(rng.normal(size=(20 + 10 * step, 300)), axis=1).astype("f4")
            file.create_dataset("wide", data=wide, chunks=(10, 300))
            file["typed"] = (np.arange(9000) // 7).astype("f8" if step < 2 else "i2")
            if step > 1:
                file["late"] = np.arange(5000, dtype="f4")
            file.create_dataset("empty", (0, 300), "f4", maxshape=(None, 300), chunks=(1, 300))
    folder = tmp_path / "into"
    report = neve("convert", *paths, "--into", folder, "--choices", "log", "--json").json
    for path in paths:
        assert neve("verify", path, folder / path.name, "--json").json["ok"]
    assert [c["step"] for c in of_variable(report["choices"], "late")] == [0, 1, 2]
    assert [c["step"] for c in of_variable(report["choices"], "wide")] == [0, 1, 2, 3, 4]
    assert not of_variable(report["choices"], "empty")


def test_a_rule_is_of_variables_that_some_file_has(neve, tmp_path):
    """One that comes late, and one that the last file lacks; no file has what a typo names."""
    paths = [tmp_path / f"{step}.h5" for step in range(4)]
    for step, path in enumerate(paths):
        with h5py.File(path, "w") as file:
            file["always"] = np.cumsum(np.ones(5000, "f4")) + step
            if step == 1:
                file["late"] = np.sin(np.arange(5000) / 90).astype("f4")
            if step < 3:
                file["early"] = np.cos(np.arange(5000) / 90).astype("f4")
    rules = ("late:unchanged", "early:abs=0.01", "late*:candidates=zstd")
    fields = [word for rule in rules[:2] for word in ("--field", rule)]
    report = neve("convert", *paths, "--into", tmp_path / "a", *fields, "--json").json
    of = [{v["name"]: v for v in file["variables"]} for file in report["files"]]
    assert len(of) == 4 and not of[1]["/late"]["coded"]
    assert of[0]["/early"]["bound"] == of[2]["/early"]["bound"] == "abs=0.01"
    neve("convert", *paths, "--into", tmp_path / "b", "--field", rules[2])
    words = ("convert", *paths, "--into", tmp_path / "c", "--field", "lat:unchanged")
    outcome = neve(*words, expect=2)
    assert "the rule for 'lat' matches no variable of any of the 4 files" in outcome.err
    assert not (tmp_path / "c").exists()


def test_a_setting_is_of_use_in_some_file(neve, tmp_path):
    """The first file has nothing to choose, or a variable that takes no bound."""
    paths = [tmp_path / f"{step}.h5" for step in range(3)]
    smooth = np.cos(np.arange(5000) / 90).astype("f4")
    for step, path in enumerate(paths):
        with h5py.File(path, "w") as file:
            file["count"] = np.arange(5000, dtype="i4")
            file["wind"] = smooth if step else np.zeros(0, "f4")
            file["part"] = smooth if step == 2 else np.arange(5000, dtype="i4")
    rules = ("--field", "wind:abs=0.01", "--field", "part:abs=0.01,candidates=zstd")
    report = neve("convert", *paths, "--into", tmp_path / "a", *rules, "--json").json
    last = {v["name"]: v for v in report["files"][-1]["variables"]}
    assert last["/wind"]["bound"] == last["/part"]["bound"] == "abs=0.01"
    for path in paths[:2]:
        with h5py.File(path, "a") as file:
            del file["count"], file["part"]
    neve("convert", *paths, "--into", tmp_path / "b", "--candidates", "acomps")
    words = ("--field", "count:abs=1")
    outcome = neve("convert", *paths, "--into", tmp_path / "c", *words, expect=2)
    assert "gives a bound, but it matches no variable whose values" in outcome.err
    assert not (tmp_path / "c").exists()
    outcome = neve(
        "convert", *paths, "--into", tmp_path / "c", "--field", "*:unchanged", *BOUND, expect=2
    )
    assert "bound has no meaning where the rules leave all variables unchanged" in outcome.err


def test_a_rule_may_give_any_name(neve, tmp_path):
    """In the second file another name comes first; a group has a second one too."""
    smooth = np.cos(np.arange(5000) / 90).astype("f4")
    paths = [tmp_path / f"{step}.h5" for step in range(2)]
    for step, path in enumerate(paths):
        with h5py.File(path, "w") as file:
            file["gz"] = smooth
            if step:
                file["alias"] = file["gz"]
            file["run/old/wind"] = smooth
            file["run/a_new"] = file["run/old"]
            file["run/old/top"] = file["/"]
    name = "run/old/top/run/a_new/wind"
    rules = ("--field", "gz:abs=0.01", "--field", f"{name}:abs=0.02")
    report = neve("convert", *paths, "--into", tmp_path / "a", *rules, "--json").json
    for file in report["files"]:
        assert sorted(v["bound"] for v in file["variables"]) == ["abs=0.01", "abs=0.02"]


def test_rules_of_variables_of_their_own_are_logged(neve, steps, tmp_path):
    folder = tmp_path / "into"
    own = ("--field", "smooth:candidates=acomps,speed_weight=1")
    words = ("convert", *steps, "--into", folder, "--choices", "log", *own, "--json")
    report = neve(*words).json
    rules = {"candidates": "acomps", "speed_weight": 1.0, "ratio_weight": 1.0}
    log = package.read_choices(folder)
    assert log.own_rules == report["own_rules"] == {"/smooth": rules}
    assert log.rules["candidates"] == "all" and log.rules["speed_weight"] == 0
    line = "/smooth by its own: candidates acomps, speed weight 1, ratio weight 1"
    assert line in neve("choices", folder).out
    assert neve("choices", folder, "--json").json["own_rules"] == {"/smooth": rules}
    neve("choices", folder, "-o", tmp_path / "page.html")
    assert line in (tmp_path / "page.html").read_text()
    assert package.read_choices(folder / "step_1.h5").own_rules == log.own_rules
    assert neve("verify", steps[0], folder / "step_0.h5", "--json").json["ok"]
    with h5py.File(folder / "step_1.h5", "r+") as file:
        file["neve_choices"].attrs["own_rules"] = json.dumps(
            {"/smooth": {**rules, "speed_weight": 2}}
        )
    assert "rules of /smooth differ" in neve("choices", folder, expect=2).err
    for damage in ("{", "[]", '{"a": 1}', '{"a": {"candidates": "all"}}'):
        with h5py.File(folder / "step_1.h5", "r+") as file:
            file["neve_choices"].attrs["own_rules"] = damage
        assert "own_rules" in neve("choices", folder / "step_1.h5", expect=4).err


def test_bounds_hold_and_only_lossless_variables_are_logged(neve, steps, tmp_path):
    folder = tmp_path / "into"
    options = ("--bound", "rel=1e-3", "--field", "turning:lossless", "--choices", "log", "--json")
    report = neve("convert", *steps, "--into", folder, *options).json
    for path in steps:
        assert neve("verify", path, folder / path.name, "--json").json["ok"]
    assert {c["variable"] for c in report["choices"]} == {"/turning", "/counts"}
    first = {v["name"]: v for v in report["files"][0]["variables"]}
    assert first["/smooth"]["bound"] == "rel=0.001" and first["/smooth"]["max_abs_error"] > 0


def test_netcdf_readers_open_copies_with_a_log(neve, tmp_path):
    netCDF4 = pytest.importorskip("netCDF4")
    paths = [tmp_path / f"{step}.nc" for step in range(2)]
    for step, path in enumerate(paths):
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 3000)
            values = np.sin(np.arange(3000) / 100 + step)[None]
            file.createVariable("t", "f4", ("time", "x"))[:] = values
    neve("convert", *paths, "--into", tmp_path / "into", "--choices", "log")
    read = (
        "import sys, numpy as np\n"
        "if sys.argv[1] == 'netcdf4':\n"
        "    import netCDF4\n"
        "    a, b = (netCDF4.Dataset(p) for p in sys.argv[2:])\n"
        "    assert list(a.variables) == list(b.variables)\n"
        "    assert list(b.groups['neve_choices']['variable'][:]) == ['/t']\n"
        "else:\n"
        "    import xarray\n"
        "    a, b = (xarray.open_dataset(p, engine=sys.argv[1][7:]) for p in sys.argv[2:])\n"
        "    assert a.identical(b)\n"
        "assert np.array_equal(a['t'][:], b['t'][:])\n"
    )
    for reader in ("netcdf4", "xarray-netcdf4", "xarray-h5netcdf"):
        for path in paths:
            run_as_stranger(sys.executable, "-c", read, reader, path, tmp_path / "into" / path.name)
    if shutil.which("ncdump"):
        said = run_as_stranger("ncdump", tmp_path / "into" / "0.nc")
        assert "group: neve_choices" in said and 'variable = "/t"' in said
    for path in paths:
        assert neve("verify", path, tmp_path / "into" / path.name, "--json").json["ok"]


def test_classic_files(neve, tmp_path):
    netCDF4 = pytest.importorskip("netCDF4")
    paths = [tmp_path / f"{step}.nc" for step in range(3)]
    for step, path in enumerate(paths):
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("x", 30000)
            file.createVariable("t", "f4", ("x",))[:] = np.sin(np.arange(30000) / 100 + step)
    report = neve("convert", *paths, "--into", tmp_path / "into", "--json").json
    assert [file["source_kind"] for file in report["files"]] == ["netCDF classic file"] * 3
    for path in paths:
        assert neve("verify", path, tmp_path / "into" / path.name, "--json").json["ok"]


def kill_when(command, condition):
    """SIGKILL as soon as `condition` holds. False when the command ended before."""
    process = subprocess.Popen(
        [str(w) for w in command], env=environment(), stdout=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < end:
            if process.poll() is not None:
                return False
            if condition():
                process.send_signal(signal.SIGKILL)
                process.wait()
                return True
            time.sleep(0.001)
        raise AssertionError("nothing was written")
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return step_files.make(tmp_path_factory.mktemp("many") / "steps", 12)


def test_killed_and_gone_on_with(neve, many, tmp_path):
    whole, folder = tmp_path / "whole", tmp_path / "into"
    options = ("--choices", "log", "--effort", "balanced")
    neve("convert", *many, "--into", whole, *options)
    command = [NEVE, "convert", *many, "--into", folder, *options]
    kills = 0
    for wanted in (1, 4, 5, 9):
        kills += kill_when(command, lambda n=wanted: (folder / f"step_{n}.h5").exists())
    assert kills >= 2
    done = len(list(folder.glob("step_*.h5")))
    outcome = neve(*command[1:], "--json")
    assert "continuing an interrupted series" in outcome.err
    report = outcome.json
    assert 0 < report["files_done_before"] <= done
    assert report["files_done_before"] + len(report["files"]) == len(many)
    assert sorted(p.name for p in folder.iterdir()) == sorted(p.name for p in many)
    assert_alike(folder, whole, len(many))


def test_other_options_and_restart_start_over(neve, many, tmp_path):
    folder = tmp_path / "into"
    command = ["convert", *many, "--into", folder]
    assert kill_when([NEVE, *command], lambda: (folder / "step_1.h5").exists())
    outcome = neve(*command, "--delta", 0.5, "--json")
    assert "starting over" in outcome.err and outcome.json["files_done_before"] == 0
    assert kill_when([NEVE, *command], lambda: (folder / ".neve-series").exists())
    outcome = neve(*command, "--restart", "--json")
    assert "continuing" not in outcome.err and outcome.json["files_done_before"] == 0


def test_a_file_that_fails_leaves_the_others(neve, steps, tmp_path):
    broken = tmp_path / "step_x.h5"
    with h5py.File(broken, "w") as file:
        values = np.arange(30000.0).reshape(3, 10000)
        made = file.create_dataset("t", data=values, chunks=(1, 10000), compression="gzip")
        file.flush()
        chunk = made.id.get_chunk_info(1)
    data = bytearray(broken.read_bytes())
    data[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    broken.write_bytes(data)
    folder = tmp_path / "into"
    outcome = neve("convert", *steps[:2], broken, *steps[3:], "--into", folder, expect=None)
    assert outcome.code in (1, 4)
    assert "2 of 6 files are done" in outcome.err and "step_x.h5" in outcome.err
    assert "the same command goes on" in outcome.err
    assert sorted(p.name for p in folder.glob("step*")) == ["step_0.h5", "step_1.h5"]
    for path in steps[:2]:
        assert neve("verify", path, folder / path.name, "--json").json["ok"]


def test_a_full_disk_keeps_what_is_done(neve, steps, tmp_path):
    """A file may not grow beyond what the first copies take."""
    folder = tmp_path / "into"
    big = tmp_path / "step_big.h5"
    with h5py.File(big, "w") as file:
        noise = np.random.default_rng(1).normal(size=(4, 200, 300))
        file.create_dataset("noise", data=noise, chunks=(1, 200, 300), compression="gzip")
    limit = 600_000
    words = ["prlimit", f"--fsize={limit}", NEVE, "convert", *steps[:2], big, "--into", folder]
    if shutil.which("prlimit") is None:
        pytest.skip("prlimit is not installed")
    done = subprocess.run(
        ["env", "--ignore-signal=XFSZ", *map(str, words)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 1 and "2 of 3 files are done" in done.stderr
    report = neve("convert", *steps[:2], big, "--into", folder, "--json").json
    assert report["files_done_before"] == 2 and len(report["files"]) == 1
    assert neve("verify", big, folder / big.name, "--json").json["ok"]


def test_wrong_arguments(neve, steps, tmp_path):
    folder = tmp_path / "into"

    def refused(*words, code=2):
        outcome = neve("convert", *words, expect=code)
        assert len(outcome.messages()) == 1
        return outcome.err

    array = tmp_path / "a.npy"
    np.save(array, np.arange(1000.0))
    assert "this is a .npy array" in refused(steps[0], array, "--into", folder)
    again = tmp_path / "again" / steps[0].name
    again.parent.mkdir()
    shutil.copy(steps[0], again)
    assert "would both be" in refused(steps[0], again, "--into", folder)
    assert str(steps[0]) in refused(steps[0], "--into", steps[0].parent)
    assert "one file too many" in refused(*steps[:3])
    assert "DST is required" in refused(steps[0])
    assert "--choices" in refused(steps[0], tmp_path / "b.h5", "--choices", "log")
    assert "--delta" in refused(steps[0], tmp_path / "b.h5", "--delta", "0.1")
    assert "none, log, timings" in refused(*steps, "--into", folder, "--choices", "all")
    assert "--explain" in refused(*steps, "--into", folder, "--explain")
    assert "--to" in refused(*steps, "--into", folder, "--to", "hdf5")
    assert "--delta" in refused(*steps, "--into", folder, "--method", "zstd", "--delta", "1")
    assert "-1" in refused(*steps, "--into", folder, "--delta=-1")
    assert "gzip" in refused(*steps, "--into", folder, "--candidates", "gzip")
    assert "missing" in refused(*steps, tmp_path / "missing.nc", "--into", folder, code=1)
    assert "--into" in refused(*steps, "--into", tmp_path / "no" / "folder", code=1)
    assert "matches no variable" in refused(*steps, "--into", folder, "--field", "x:lossless")
    assert not folder.exists()


def test_files_that_are_there_are_replaced_when_the_new_ones_are_whole(neve, steps, tmp_path):
    folder = tmp_path / "into"
    folder.mkdir()
    (folder / "step_0.h5").write_bytes(b"what was there before")
    (folder / "other.txt").write_text("stays")
    neve("convert", *steps[:2], "--into", folder)
    assert neve("verify", steps[0], folder / "step_0.h5", "--json").json["ok"]
    assert (folder / "other.txt").read_text() == "stays"


def test_choices_as_a_table_and_as_data(neve, logged):
    folder, report = logged
    told = neve("choices", folder, "--json").json
    assert told["rules"] == report["rules"]
    keys = ("variable", "step", "method", "reason", "performance", "estimate", "rival")
    shown = {tuple(c[k] for k in keys) for c in told["choices"]}
    assert shown == {tuple(c[k] for k in keys) for c in report["choices"]}
    assert len(told["choices"]) == len(report["choices"])
    text = neve("choices", folder).out
    for choice in report["choices"]:
        if choice["reason"] != "kept":
            pattern = rf"{choice['variable']} +{choice['step']}(-\d+)? +{choice['method']} "
            assert re.search(pattern, text), choice
    assert "first choice" in text
    every = neve("choices", folder, "--steps").out
    assert len(every.splitlines()) == 3 + len(report["choices"])
    one = neve("choices", folder / "step_0.h5", "--json").json
    assert {c["step"] for c in one["choices"]} == {0}


def test_choices_as_a_page_and_a_picture(neve, logged, tmp_path):
    folder, report = logged
    neve("choices", folder, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for choice in report["choices"]:
        assert choice["variable"] in page and choice["method"] in page
    assert "data:image/png;base64," in page and "candidates all" in page
    neve("choices", folder, "-o", tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"


def test_choices_of_what_has_none(neve, steps, logged, tmp_path):
    assert "has no log of choices" in neve("choices", steps[0], expect=2).err
    assert "no such file" in neve("choices", tmp_path / "no", expect=1).err
    (tmp_path / "text").write_text("no HDF5")
    assert "cannot be read" in neve("choices", tmp_path / "text", expect=4).err
    folder, _ = logged
    two = tmp_path / "two"
    two.mkdir()
    for name in ("a.h5", "b.h5"):
        shutil.copy(folder / "step_0.h5", two / name)
    assert "several series" in neve("choices", two, expect=2).err
    with h5py.File(two / "a.h5", "r+") as file:
        del file["neve_choices/method"]
    assert "lacks method" in neve("choices", two / "a.h5", expect=4).err
    assert "unknown option '--jsom'" in neve("choices", folder, "--jsom", expect=2).err
    allowed = "allowed are names that end in .html, .htm, .png, .pdf, .svg"
    assert allowed in neve("choices", folder, "-o", tmp_path / "x.doc", expect=2).err


def test_a_copy_with_a_log_is_converted_again(neve, steps, logged, tmp_path):
    folder, _ = logged
    outcome = neve(
        *("convert", folder / "step_0.h5", "--into", tmp_path / "into", "--choices", "log"),
        expect=2,
    )
    assert "another series' choices" in outcome.err
    neve("convert", folder / "step_0.h5", tmp_path / "copy.h5")
    assert neve("verify", steps[0], tmp_path / "copy.h5", "--json").json["ok"]


def test_info_names_methods(neve, steps, logged, tmp_path):
    folder, report = logged
    told = neve("info", folder / "step_0.h5", "--json").json
    made = {v["name"]: v for v in report["files"][0]["variables"]}
    seen = 0
    for variable in told["variables"]:
        if made.get(variable["name"], {}).get("coded"):
            assert variable["methods"] == made[variable["name"]]["methods"]
            assert variable["chunks"] == variable["chunks_looked_at"] == 4
            assert variable["bound"] == "lossless" and variable["bound_abs"] == 0
            seen += 1
    assert seen >= 4
    text = neve("info", folder / "step_0.h5").out
    assert "lossless " in text and "neve (466)" not in text
    assert told["has_choice_log"] and "neve_choices" not in text and "a log of choices" in text
    bounded = tmp_path / "bounded.h5"
    report = neve("convert", steps[0], bounded, "--bound", "abs=0.01", "--json").json
    made = {v["name"]: v for v in report["variables"]}
    for variable in neve("info", bounded, "--json").json["variables"]:
        if "methods" in variable:
            assert variable["methods"] == made[variable["name"]]["methods"]
            assert variable["max_abs_error"] == made[variable["name"]]["max_abs_error"]
            assert variable["bound_abs"] == made[variable["name"]]["bound_abs"]


def test_info_of_many_chunks_says_how_many_it_looked_at(neve, tmp_path):
    source, copy = tmp_path / "a.h5", tmp_path / "b.h5"
    with h5py.File(source, "w") as file:
        values = np.sin(np.arange(200 * 1000) / 50).reshape(200, 1000)
        file.create_dataset("t", data=values, chunks=(1, 1000))
    neve("convert", source, copy)
    [told] = neve("info", copy, "--json").json["variables"]
    assert told["chunks"] == 200 and told["chunks_looked_at"] == 64
    assert sum(told["methods"].values()) == 64
    assert "(64 of 200 chunks looked at)" in neve("info", copy).out
    data = bytearray(copy.read_bytes())
    with h5py.File(copy) as file:
        at = file["t"].id.get_chunk_info(0)
        data[at.byte_offset : at.byte_offset + at.size] = bytes(at.size)
    copy.write_bytes(data)
    [told] = neve("info", copy, "--json").json["variables"]
    assert told["methods"]["damaged"] == 1


def test_python_converts_a_series(steps, tmp_path):
    report = package.convert_series(steps[:2], tmp_path / "into", choices="log", progress=False)
    assert report["ratio"] > 1 and json.loads(json.dumps(report["rules"]))["candidates"] == "all"
    assert len(package.read_choices(tmp_path / "into").choices) > 4
    with pytest.raises(package.Error, match="would both be"):
        package.convert_series([steps[0], steps[0]], tmp_path / "into")
    named = package.convert_series(steps[:1], tmp_path / "named", candidates=["lorenzo", "zstd"])
    assert set(named["rules"]["candidates"].split("+")) == {"lorenzo", "zstd"}
    with pytest.raises(package.Error, match="is one path; a list of paths is needed"):
        package.convert_series(str(steps[0]), tmp_path / "into")
    with pytest.raises(package.Error, match="choices=True; allowed are 'log' and 'timings'"):
        package.convert_series(steps[:1], tmp_path / "into", choices=True)
    with pytest.raises(package.Error, match="candidates=3; allowed are 'all'"):
        package.convert(steps[0], tmp_path / "one.h5", candidates=3)


def test_choices_into_a_pipe_that_nobody_reads(logged):
    folder, _ = logged
    reader, writer = os.pipe()
    os.close(reader)
    command = [NEVE, "choices", folder, "--steps"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment())
    os.close(writer)
    assert done.stderr == b"" and done.returncode in (128 + signal.SIGPIPE, -signal.SIGPIPE)


def test_links_and_files_of_others_are_left_alone(neve, steps, tmp_path):
    own = [tmp_path / "source" / path.name for path in steps[:2]]
    own[0].parent.mkdir()
    for path, there in zip(steps[:2], own, strict=True):
        shutil.copy(path, there)
    before = [path.read_bytes() for path in own]
    folder = tmp_path / "into"
    folder.mkdir()
    (folder / own[0].name).symlink_to(own[1])
    said = neve("convert", *own, "--into", folder, expect=2).err
    assert "is a symbolic link" in said and own[0].name in said
    (folder / own[0].name).unlink()
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    hidden = folder / ".neve-series"
    hidden.symlink_to(victim)
    assert ".neve-series is not what" in neve("convert", *own, "--into", folder, expect=2).err
    hidden.unlink()
    hidden.write_text("mine, too\n")
    assert ".neve-series is not what" in neve("convert", *own, "--into", folder, expect=2).err
    hidden.rename(folder / "kept")
    hidden.mkdir()
    assert ".neve-series is not what" in neve("convert", *own, "--into", folder, expect=2).err
    assert victim.read_text() == "mine\n" and (folder / "kept").read_text() == "mine, too\n"
    assert [path.read_bytes() for path in own] == before
    assert sorted(p.name for p in folder.iterdir()) == [".neve-series", "kept"]


def test_info_says_what_a_folder_of_copies_is(neve, steps, logged, tmp_path):
    folder, _ = logged
    (tmp_path / "plain").mkdir()
    shutil.copy(steps[0], tmp_path / "plain")
    (tmp_path / "plain" / "notes.txt").write_text("x")
    told = neve("info", folder, "--json").json
    assert told["kind"] == "folder of data files" and told["has_choice_log"]
    assert [file["name"] for file in told["files"]] == [path.name for path in steps]
    assert told["stored_bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    text = neve("info", folder).out
    assert text.startswith(f"{folder}: folder of data files\n{COUNT} data files, ")
    assert "step_4.h5 and 1 more" in text and f"`neve choices {folder}` shows it" in text
    neve("info", folder / steps[0].name)
    plain = neve("info", tmp_path / "plain").out
    assert "1 data file, " in plain and "neve choices" not in plain
    (tmp_path / "plain" / steps[0].name).unlink()
    assert "without a file Header" in neve("info", tmp_path / "plain", expect=1).err


def test_small_variables_that_take_a_chunk_are_told(neve, tmp_path):
    sources = [tmp_path / f"{step}.nc" for step in range(2)]
    for path in sources:
        with h5py.File(path, "w") as file:
            file.create_dataset("t", (1,), "f8", data=[1.5], maxshape=(None,), chunks=(512,))
            file.create_dataset("v", data=np.zeros((64, 64)))
    told = (
        "more bytes than values have, for chunks are stored whole, and take some 100 bytes each: "
        "/t\n"
    )
    one = neve("convert", sources[0], tmp_path / "one.nc").out
    series = neve("convert", *sources, "--into", tmp_path / "into").out
    assert told in one and told in series
    row = next(line for line in series.splitlines() if line.startswith("/t"))
    assert re.match(r"/t +2 +16 B +8\.0 KiB +\d+ B ", row), row


def test_what_is_no_column_of_a_log_is_compared(neve, steps, logged, tmp_path):
    copy = tmp_path / steps[0].name
    shutil.copy(logged[0] / steps[0].name, copy)
    neve("verify", steps[0], copy)
    with h5py.File(copy, "r+") as file:
        file["neve_choices"]["x"] = [1, 2]
    assert "/neve_choices/x is only in the copy" in neve("verify", steps[0], copy, expect=3).out


def test_into_wants_a_folder(neve, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.zeros(5000)
    (tmp_path / "there").write_text("mine")
    outcome = neve("convert", tmp_path / "a.h5", "--into", tmp_path / "there", expect=2)
    assert "there is there and no folder; needed is a folder" in outcome.err
    assert (tmp_path / "there").read_text() == "mine"


def test_a_copy_replaces_a_file_of_its_name(neve, tmp_path):
    """As docs/netcdf.md says."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.zeros(5000)
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "a.h5").write_text("foreign")
    neve("convert", tmp_path / "a.h5", "--into", tmp_path / "into")
    with h5py.File(tmp_path / "into" / "a.h5") as file:
        assert "x" in file
