# SPDX-License-Identifier: BSD-3-Clause
"""The folder that MPI's own files have while a command runs alone: gone with the command, whatever
ends it, and a plain message where there is no place for it."""

import os
import signal
import subprocess
import time

import pytest

from .conftest import NEVE, SAMPLE, environment, run

PATIENCE_SECONDS = 20


def appears(folder, process):
    end = time.monotonic() + PATIENCE_SECONDS
    while not os.listdir(folder) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.001)


def is_soon_empty(folder):
    end = time.monotonic() + PATIENCE_SECONDS
    while os.listdir(folder) and time.monotonic() < end:
        time.sleep(0.01)
    return os.listdir(folder) == []


def started(folder, *words, **pipes):
    env = environment(TMPDIR=str(folder))
    return subprocess.Popen([str(NEVE), *map(str, words)], env=env, **pipes)


@pytest.mark.parametrize("wait_seconds", [0, 0.005, 0.02, 0.05])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_of_a_command_that_is_ended(tmp_path, number, wait_seconds):
    folder = tmp_path / "tmp"
    folder.mkdir()
    words = ("convert", SAMPLE, tmp_path / "o.h5", "--effort", "max")
    process = started(folder, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    appears(folder, process)
    time.sleep(wait_seconds)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_SECONDS)
    assert is_soon_empty(folder)


def test_nothing_is_left_where_nobody_reads(tmp_path):
    for _ in range(5):
        process = started(tmp_path, "info", SAMPLE, stdout=subprocess.PIPE)
        process.stdout.close()
        process.wait(timeout=PATIENCE_SECONDS)
        assert is_soon_empty(tmp_path)


def test_nothing_is_left_of_a_command_that_ends_by_itself(tmp_path):
    assert run([NEVE, "info", SAMPLE], TMPDIR=str(tmp_path)).code == 0
    assert os.listdir(tmp_path) == []


def test_what_links_lead_to_is_kept(tmp_path):
    kept, folder = tmp_path / "kept", tmp_path / "tmp"
    kept.mkdir()
    folder.mkdir()
    (kept / "file").write_text("mine")
    words = ("convert", SAMPLE, tmp_path / "o.h5", "--effort", "max")
    process = started(folder, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    appears(folder, process)
    (own,) = os.listdir(folder)
    (folder / own / "link").symlink_to(kept)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE_SECONDS)
    assert is_soon_empty(folder)
    assert (kept / "file").read_text() == "mine"


@pytest.mark.parametrize("words", [("info", SAMPLE), ("verify", SAMPLE, SAMPLE)])
def test_no_place_for_it_is_said_in_one_line(tmp_path, words):
    missing = tmp_path / "missing"
    outcome = run([NEVE, *words], TMPDIR=str(missing))
    assert outcome.code == 1
    assert len(outcome.err.splitlines()) == 1, outcome.err
    assert f"{missing}: no folder for the files of MPI can be made there (No such" in outcome.err
    assert "set TMPDIR to a folder that can be written" in outcome.err
