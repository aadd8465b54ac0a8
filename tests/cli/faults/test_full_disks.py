# SPDX-License-Identifier: BSD-3-Clause
"""Files that may not grow, disks that are full, folders that are read-only."""

import os
import subprocess

import pytest

from .faults import COMMANDS, LONG, note, put_back, snapshot


@pytest.mark.parametrize("command", COMMANDS)
def test_file_size_limit(place, command):
    here = place(command)
    outcomes = []
    limits = (0, 1, 100, 4096, 20000, 100000, 200000) if LONG else (100, 20000)

    for size in limits:
        # Of the ranks alone: mpirun has files of its own. So has its transport by shared memory.
        limited = ("env", "--ignore-signal=XFSZ", "prlimit", f"--fsize={size}")
        done = here.run(wrapper=limited, OMPI_MCA_btl="self,tcp")
        outcomes.append(here.check(done.returncode, done.stderr))
        put_back(here)
    note(command, "file size limit", outcomes)


@pytest.fixture
def mounted(tmp_path):
    """Mounts file systems of the options asked for."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    mounts = []

    def mount(options):
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "neve-test", folder],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            pytest.skip(f"mounting a file system needs more rights: {done.stderr.strip()}")
        mounts.append(folder)
        return folder

    yield mount
    for path in mounts:
        subprocess.run(["umount", "-l", path], check=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_full_disk(place, mounted, command):
    folder = mounted("size=4m")
    here = place(command, folder)
    outcomes = []
    for free in (0, 4096, 16384, 65536, 131072, 262144) if LONG else (0, 16384, 65536):
        filler = folder / "filler"
        room = os.statvfs(folder)
        filler.write_bytes(bytes(max(room.f_bavail * room.f_frsize - free, 0)))
        here.before = snapshot(folder)
        done = here.run()
        outcomes.append(here.check(done.returncode, done.stderr))
        put_back(here)
    assert "kept" in outcomes, "it was never too full"
    note(command, "full disk", outcomes)


@pytest.mark.parametrize("command", COMMANDS)
def test_read_only_folder(place, mounted, command):
    folder = mounted("size=4m")
    here = place(command, folder)
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    done = here.run()
    assert done.returncode != 0
    assert here.check(done.returncode, done.stderr) == "kept"
    assert "Read-only file system" in done.stderr
    note(command, "read-only folder", ["kept"])
