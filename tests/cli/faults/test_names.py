# SPDX-License-Identifier: BSD-3-Clause
"""Targets with long names, and behind symbolic links."""

import os
import shutil

import pytest

from .faults import COMMANDS, note, snapshot


@pytest.mark.parametrize("command", COMMANDS)
def test_long_paths(place, tmp_path, command):
    deep = tmp_path / ("d" * 200) / ("e" * 200)
    deep.mkdir(parents=True)
    here = place(command, deep)
    done = here.run()
    assert done.returncode == 0, done.stderr
    assert here.check(0) == "new"
    note(command, "path of 400 bytes", ["new"])


@pytest.mark.parametrize("command", COMMANDS)
def test_symbolic_links(place, tmp_path, command):
    here = place(command)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place_of_target = elsewhere / "result"
    shutil.move(here.target, place_of_target)
    here.target.symlink_to(place_of_target)
    done = here.run()
    assert done.returncode == 0, done.stderr
    assert here.target.is_symlink() and here.is_whole()
    assert os.listdir(elsewhere) == ["result"]
    here.target.unlink()
    here.target.symlink_to(tmp_path / "nowhere")
    before = snapshot(tmp_path)
    done = here.run()
    assert done.returncode != 0 and "symbolic link" in done.stderr, done.stderr
    assert snapshot(tmp_path) == before
    note(command, "symbolic links", ["new", "kept"])
