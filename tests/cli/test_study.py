# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench study`: decks and reports; killed and gone on with, failing cells, changed decks."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from .conftest import NEVE, environment

DECK = """
title = "Tiny"
ranks = [2]
repeats = 1
disk-mib = 1

[struct]
outputs = ["hdf5", "hdf5-shuffle-zlib", "hdf5-zfp", "hdf5-neve", "hdf5-neve-lossless"]
options = { grid = [64, 48, 16], space-frequency = 1 }

[unstruct]
outputs = ["raw"]
options = { points = 800 }
"""

# Stands for mpirun: logs what it is asked for, and answers as the app would.
LAUNCHER = """
import json, pathlib, sys, time
here = pathlib.Path(__file__).parent
ranks, words = sys.argv[1], sys.argv[2:]
with open(here / "calls", "a") as log:
    log.write(" ".join([ranks, *words[1:]]) + "\\n")
if (here / "slow").exists() and len((here / "calls").read_text().splitlines()) == 3:
    (here / "waiting").touch()
    time.sleep(60)
if words[2] == "disk":
    print(json.dumps({"write_MBps": 100.0}))
    sys.exit()
output = words[words.index("--outputs") + 1]
if output == (here / "broken").read_text():
    print("neve bench struct: no such luck", file=sys.stderr)
    sys.exit(1)
stored = {"output": output, "container": "hdf5", "compression": output[5:] or "none",
          "raw_bytes": 1000000, "file_bytes": 500000, "ratio": 2.0, "write_seconds": 0.5,
          "write_seconds_range": [0.5, 0.5], "write_MBps": 2.0, "compress_seconds": 0.1}
layout = {"name": "x", "max_over_mean": 1.1, "points_max_over_mean": 1.0, "make_seconds": 0.2,
          "outputs": [stored]}
print(json.dumps({"layouts": [layout]}))
"""
FAKED = """
ranks = [2]
repeats = 1
disk-mib = 0
launcher = "{python} {here}/launcher.py {{ranks}} {{command}}"
[struct]
balance = ["off"]
outputs = ["hdf5", "hdf5-zlib", "hdf5-szip", "hdf5-zfp"]
options = {{ grid = [32, 24, 8], steps = {steps} }}
"""


class Faked:
    def __init__(self, path):
        self.path, self.into = path, path / "into"
        (path / "launcher.py").write_text(LAUNCHER)
        (path / "broken").write_text("")
        self.deck(steps=1)

    def deck(self, steps, **changes):
        text = FAKED.format(python=sys.executable, here=self.path, steps=steps)
        for old, new in changes.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        (self.path / "deck.toml").write_text(text)

    @property
    def words(self):
        return ("bench", "study", self.path / "deck.toml", "--into", self.into, "--no-pictures")

    def calls(self):
        """Of the launcher since the last question."""
        log = self.path / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def rows(self):
        with open(self.into / "study.csv") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def faked(tmp_path):
    return Faked(tmp_path)


def test_from_a_deck_to_a_report(neve, tmp_path):
    deck, into = tmp_path / "deck.toml", tmp_path / "results"
    deck.write_text(DECK)
    listed = neve("bench", "study", deck, "--into", into, "--list").out
    assert "struct hdf5-zfp, balanced, 2 ranks: 0 of 1 runs done" in listed
    planned = neve("bench", "study", deck, "--into", into, "--dry-run").out.splitlines()
    assert len(planned) == 5 * 2 + 1 + 1
    assert not into.exists(), "neither makes anything"

    done = neve("bench", "study", deck, "--into", into)
    assert f"[{len(planned)}/{len(planned)}]" in done.err
    study = json.loads((into / "study.json").read_text())
    rows = {(r["output"], r["part"], r["layout"], r["ranks"]): r for r in study["rows"]}
    assert len(rows) == 5 * 2 + 2
    for row in rows.values():
        assert row["error"] is None and row["wrong_values"] == 0
        assert row["write_seconds_min"] <= row["write_seconds"] <= row["write_seconds_max"]
        assert row["of_disk"] == pytest.approx(
            row["write_MBps"] / study["disk_MBps"][str(row["ranks"])]
        )
    best = rows["hdf5-neve", "", "balanced", 2]
    assert best["ratio"] > rows["hdf5-zfp", "", "balanced", 2]["ratio"] > 1
    assert best["compress_seconds"] > 0 and best["max_abs_error"] <= 1e-4
    assert study["layouts"]["with compression"]["pairs"] == 4
    assert study["layouts"]["without compression"]["pairs"] == 1
    assert ("raw", "connectivity", "", 2) in rows
    with open(into / "study.csv") as file:
        assert len(list(csv.DictReader(file))) == len(rows)

    page = (into / "report.html").read_text()
    assert page.count("data:image/png;base64,") >= 5
    assert not re.search(r'(src|href)="(?!data:)', page), "nothing beside the page is needed"
    text = (into / "report.md").read_text()
    for words in ("What this shows", "9x", "shuffle", "file system's own bandwidth", "Phases"):
        assert words in text
    for picture in re.findall(r"\]\((.*?\.png)\)", text):
        assert (into / picture).stat().st_size > 1000
    assert not list(into.glob("neve-study-files*")), "files of the runs are gone"

    again = neve("bench", "study", deck, "--into", into, "--no-pictures")
    assert f"{len(planned)} of {len(planned)} runs are done already" in again.err
    assert "[1/" not in again.err


def test_a_failing_cell_is_in_the_report(neve, faked):
    (faked.path / "broken").write_text("hdf5-szip")
    outcome = neve(*faked.words, expect=1)
    assert "1 runs failed" in outcome.err
    assert len(faked.calls()) == 4, "the others are run all the same"
    assert [row["error"] for row in faked.rows()] == ["", "", "neve bench struct: no such luck", ""]
    for name in ("report.html", "report.md"):
        text = (faked.into / name).read_text()
        assert "no such luck" in text and "--outputs hdf5-szip" in text
    neve(*faked.words, expect=1)
    assert faked.calls() == [], "a failure is a result"
    (faked.path / "broken").write_text("")
    neve(*faked.words, "--retry")
    assert len(faked.calls()) == 1
    assert "Failed" not in (faked.into / "report.md").read_text()


def test_goes_on_where_it_was_killed(neve, faked):
    (faked.path / "slow").touch()
    study = subprocess.Popen([NEVE, *map(str, faked.words)], env=environment())
    until = time.monotonic() + 60
    while not (faked.path / "waiting").exists():
        assert time.monotonic() < until and study.poll() is None
        time.sleep(0.05)
    assert "another study" in neve(*faked.words, expect=1).err
    os.kill(study.pid, signal.SIGKILL)
    study.wait()
    (faked.path / "slow").unlink()
    assert len(faked.calls()) == 3
    neve(*faked.words)
    assert [line.split("--outputs ")[1].split()[0] for line in faked.calls()] == [
        "hdf5-szip",
        "hdf5-zfp",
    ]
    assert len(faked.rows()) == 4


@pytest.mark.parametrize("text", ["[1]", '{"result": {}}', "", None])
def test_a_damaged_record_is_named_and_run_again(neve, faked, text):
    neve(*faked.words)
    faked.calls()
    path, other = sorted((faked.into / "runs").iterdir())[:2]
    path.write_text(other.read_text() if text is None else text)
    message = f"runs/{path.name} is damaged: "
    listed = neve(*faked.words[:-1], "--list")
    assert listed.err.count(message + "it counts as not run") == 1
    assert listed.out.count("0 of 1 runs done") == 1
    only = neve(*faked.words, "--report-only")
    assert only.err.count(message + "it counts as not run") == 1
    assert faked.calls() == [] and len(faked.rows()) == 3
    again = neve(*faked.words)
    assert again.err.count(message + "run again") == 1
    assert len(faked.calls()) == 1 and len(faked.rows()) == 4
    assert " is damaged" not in neve(*faked.words).err


def test_records_of_before_they_had_digests_count(neve, faked):
    neve(*faked.words)
    faked.calls()
    machine = json.loads((faked.into / "study.json").read_text())["machines"]
    assert len(machine) == 1 and machine[0]["cpu"] in (faked.into / "report.md").read_text()
    for path in (faked.into / "runs").iterdir():
        record = json.loads(path.read_text())
        assert record.pop("digest") and record.pop("key") == path.stem and record.pop("machine")
        path.write_text(json.dumps(record))
    again = neve(*faked.words)
    assert faked.calls() == [] and " is damaged" not in again.err and len(faked.rows()) == 4
    assert json.loads((faked.into / "study.json").read_text())["machines"] == [None]
    assert "a machine that older records do not name" in (faked.into / "report.md").read_text()


def test_only_changed_cells_are_run_again(neve, faked):
    neve(*faked.words)
    faked.calls()
    faked.deck(steps=1, **{"hdf5-szip": "hdf5-neve"})
    neve(*faked.words)
    assert [line.split("--outputs ")[1].split()[0] for line in faked.calls()] == ["hdf5-neve"]
    assert [row["output"] for row in faked.rows()] == ["hdf5", "hdf5-zlib", "hdf5-neve", "hdf5-zfp"]
    faked.deck(steps=2)
    neve(*faked.words)
    assert len(faked.calls()) == 4


def test_a_launcher_of_nodes_and_a_time_limit(neve, faked):
    text = (faked.path / "deck.toml").read_text()
    text = text.replace("{ranks} {command}", "{nodes}x{ranks} {command}")
    (faked.path / "deck.toml").write_text(
        "ranks-per-node = 4\ntime-limit = 1\n" + text.replace("[2]", "[9]")
    )
    (faked.path / "slow").touch()
    neve(*faked.words, expect=1)
    calls = faked.calls()
    assert all(call.startswith("3x9 bench struct --json") for call in calls)
    assert [row["error"] for row in faked.rows()][2] == "stopped after 1 s"


def test_refuses_a_deck_before_anything_is_run(neve, faked):
    text = (faked.path / "deck.toml").read_text()
    (faked.path / "deck.toml").write_text(text.replace("ranks", "rank"))
    assert "unknown 'rank'" in neve(*faked.words, expect=2).err
    assert faked.calls() == [] and not faked.into.exists()


def test_the_deck_that_comes_with_neve(neve, tmp_path):
    into = ("--into", tmp_path / "x")
    planned = neve("bench", "study", "two-cores", *into, "--dry-run").out.splitlines()
    assert len(planned) > 100
    missing = neve("bench", "study", "three-cores", expect=1).err
    assert "three-cores" in missing and "two-cores" in missing
