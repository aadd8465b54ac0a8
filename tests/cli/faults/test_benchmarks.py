# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks and studies that meet faults keep all or nothing."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from ..conftest import NEVE, TIMEOUT_SECONDS, environment
from .faults import CALLS, LONG, OLD, failing, note, snapshot

BENCHMARKS = {
    "bench struct": (
        "--grid",
        "16,16,16",
        "--steps",
        "2",
        "--outputs",
        "hdf5,netcdf",
        "--keep",
    ),
    "bench chombo": (
        "--box-cells",
        "8",
        "--repeats",
        "1",
        "--strategies",
        "skeleton,compressed",
        "--keep",
    ),
    "bench amr": ("--blocks", "2,2,2", "--block-cells", "4", "--methods", "skeleton", "--keep"),
    "bench disk": ("--mib", "1", "--repeats", "2"),
}


@pytest.mark.parametrize("fault", CALLS)
@pytest.mark.parametrize("bench", BENCHMARKS)
def test_benchmarks_keep_all_or_nothing(tmp_path, tmp_path_factory, bench, fault):
    call, _ = CALLS[fault]
    if bench == "bench disk" and call == "rename":
        pytest.skip("it renames nothing")
    log = tmp_path_factory.mktemp("log") / "hits"
    words = [str(NEVE), *bench.split(), *BENCHMARKS[bench], "--folder", str(tmp_path)]
    (tmp_path / "bystander").write_bytes(OLD)
    subprocess.run(words, env=environment(), capture_output=True, check=True)
    kept = set(os.listdir(tmp_path))
    before = snapshot(tmp_path)
    for name in kept - {"bystander"}:
        (tmp_path / name).unlink()
    outcomes, hits = [], 0
    if LONG and bench == "bench struct":
        # netCDF's library itself crashes where it cannot close a file (nc_close, reportobject).
        words[words.index("hdf5,netcdf")] = "hdf5"
        subprocess.run(words, env=environment(), capture_output=True, check=True)
        kept = set(os.listdir(tmp_path))
        for name in kept - {"bystander"}:
            (tmp_path / name).unlink()
    for number in range(1, 100) if LONG else (1, 3):
        log.unlink(missing_ok=True)
        done = subprocess.run(
            words,
            env=environment(**failing(fault, number, tmp_path, log)),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        hits += log.exists()
        left = set(os.listdir(tmp_path))
        assert left == (kept if done.returncode == 0 else {"bystander"}), (
            number,
            left,
            done.stderr,
        )
        outcomes.append("new" if done.returncode == 0 else "kept")
        for name in left - {"bystander"}:
            (tmp_path / name).unlink()
        if not log.exists():
            break
    assert hits > 0
    assert before["bystander"] == snapshot(tmp_path)["bystander"]
    note(bench, fault, outcomes, hits)


@pytest.mark.parametrize("fault", ["no room to write", "over quota", "short write"])
def test_raw_values_that_mpi_loses_are_found(tmp_path, fault):
    """Open MPI's collective writes may say that all was written when it was not."""
    (tmp_path / "bystander").write_bytes(OLD)
    options = ("--grid", "16,16,16", "--steps", "1", "--outputs", "raw", "--folder", str(tmp_path))
    done = subprocess.run(
        [str(NEVE), "bench", "struct", *options],
        env=environment(**failing(fault, 1, tmp_path)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode in (1, 3)  # the writer found it, or the comparison
    assert "neve bench struct: " in done.stderr
    assert os.listdir(tmp_path) == ["bystander"]
    assert (tmp_path / "bystander").read_bytes() == OLD


def test_a_killed_study_leaves_no_files(tmp_path):
    """Its scratch folder goes with the next run, and nothing else of that name does."""
    folder = tmp_path / "study"
    command = [str(NEVE), "bench", "study", "two-cores", "--into", str(folder)]
    folder.mkdir()
    mine = folder / "neve-study-files-mine"
    mine.mkdir()
    (mine / "thesis").write_bytes(OLD)
    for _ in range(3 if LONG else 1):
        process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and not (folder / "scratch").exists():
            time.sleep(0.01)
        time.sleep(0.2)
        process.kill()
        process.wait()
    assert (folder / "scratch").exists()
    noted = pathlib.Path(json.loads((folder / "scratch").read_text()))
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + TIMEOUT_SECONDS
    while noted.exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait()
    assert not noted.exists()
    assert (mine / "thesis").read_bytes() == OLD
    note("study", "SIGKILL", ["kept"])
