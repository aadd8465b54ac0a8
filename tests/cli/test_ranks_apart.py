# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are started with other arguments each: all end, with one error."""

import os
import subprocess

import pytest

from .conftest import NEVE, SAMPLE, environment, run

USAGE = 2
TIMED_OUT = 124
SHORT_SECONDS = 60


def apart(first, second):
    """The one message of a job whose ranks run `neve FIRST` and `neve SECOND`."""
    words = ["mpirun", "-n", 1, NEVE, *first, ":", "-n", 1, NEVE, *second]
    outcome = run(["timeout", SHORT_SECONDS, *words])
    assert outcome.code != TIMED_OUT, f"hangs: {outcome.out}\n{outcome.err}"
    assert outcome.code == USAGE, (outcome.code, outcome.out, outcome.err)
    lines = outcome.messages()
    assert len(lines) == 1 and outcome.out == "", (outcome.out, outcome.err)
    return lines[0]


@pytest.mark.parametrize(
    "extra", [("--threads", "-1"), ("--strategy", "independent", "--aggregators", "1"), ("--json",)]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_convert_tells_which_rank_has_other_arguments(tmp_path, extra, is_first):
    plain = ["convert", SAMPLE, tmp_path / "m.h5"]
    pair = [[*plain, *extra], plain]
    line = apart(*pair) if is_first else apart(*reversed(pair))
    own, other = pair[is_first], pair[not is_first]
    for words in (own, other):
        assert f"'{' '.join(map(str, words))}'" in line, line
    assert "rank 1: its arguments are" in line and "all ranks must have the same" in line
    assert os.listdir(tmp_path) == []


def test_commands_of_one_rank_notice_it_too(tmp_path, converted):
    plan = ["plan", SAMPLE, "--ranks"]
    assert "rank 1" in apart([*plan, 4], [*plan, 5])
    assert "rank 1" in apart(["verify", SAMPLE, converted], ["verify", converted, converted])
    assert "rank 1" in apart(["info", converted], ["info", SAMPLE])
    assert "rank 1" in apart(["info", converted], ["verify", SAMPLE, converted])


@pytest.mark.parametrize("other", [["--help"], ["--bogus"], ["--threads"]])
@pytest.mark.parametrize("is_first", [True, False])
def test_ranks_that_would_not_start_are_told_apart(tmp_path, other, is_first):
    """One alone asks for help, or has a usage error before anything is read."""
    plain = ["convert", SAMPLE, tmp_path / "m.h5"]
    pair = [[*plain, *other], plain]
    line = apart(*pair) if is_first else apart(*reversed(pair))
    assert other[0] in line and "all ranks must have the same" in line
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [("--version", "neve "), ("plan --help", "Usage"), ("plan --chombo 1x1x1 --ranks 4", "Chombo")],
)
def test_a_rank_may_ask_alone_in_its_script(words, said):
    """What needs no MPI does not touch that of the job: the other rank never starts it."""
    script = f'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then {NEVE} {words}; else sleep 1; fi'
    outcome = run(["timeout", SHORT_SECONDS, "mpirun", "-n", 2, "bash", "-c", script])
    assert outcome.code == 0 and said in outcome.out, (outcome.code, outcome.out, outcome.err)


def test_ranks_in_other_folders_are_told_apart(tmp_path):
    (tmp_path / "sub").mkdir()
    script = f'[ "$OMPI_COMM_WORLD_RANK" = 1 ] && cd sub; exec {NEVE} convert {SAMPLE} m.h5'
    words = ["mpirun", "-n", 2, "--wdir", tmp_path, "bash", "-c", script]
    outcome = run(["timeout", SHORT_SECONDS, *words])
    assert outcome.code == USAGE, (outcome.code, outcome.out, outcome.err)
    assert len(outcome.messages()) == 1
    assert f"rank 1: its working folder is '{tmp_path}/sub'" in outcome.messages()[0]
    assert os.listdir(tmp_path) == ["sub"] and os.listdir(tmp_path / "sub") == []


def test_ranks_that_find_other_files_are_told_apart(tmp_path, converted):
    """Of one name, each on its own machine: here a link that each rank makes for itself."""
    for rank, source in enumerate((SAMPLE, converted)):
        (tmp_path / f"{rank}").mkdir()
        (tmp_path / f"{rank}" / "in").symlink_to(source)
    # Both work in one folder, whose "in" each rank sees through its own descriptor.
    script = f'exec 9< {tmp_path}/"$OMPI_COMM_WORLD_RANK"; cd {tmp_path}; exec {NEVE} "$@"'
    for words in (
        ["convert", "/proc/self/fd/9/in", "m.h5"],
        ["verify", "/proc/self/fd/9/in", converted],
    ):
        launched = ["mpirun", "-n", 2, "bash", "-c", script, "neve", *words]
        outcome = run(["timeout", SHORT_SECONDS, *launched])
        assert outcome.code == USAGE, (words, outcome.code, outcome.out, outcome.err)
        lines = outcome.messages()
        assert len(lines) == 1 and "rank 1: its /proc/self/fd/9/in has '" in lines[0], lines
        assert "bytes in Header'" in lines[0]


@pytest.mark.parametrize("ranks", [1, 2])
def test_an_error_of_the_arguments_names_no_rank(tmp_path, ranks):
    words = [NEVE, "convert", SAMPLE, tmp_path / "m.h5", "--threads", "-1"]
    outcome = run(["timeout", SHORT_SECONDS, "mpirun", "-n", ranks, *words])
    assert outcome.code == USAGE
    assert outcome.messages() == ["neve convert: --threads is -1; 1 to 1024 are allowed"]


def test_nothing_aborts_where_not_even_the_error_can_be_written(converted):
    """Both streams closed, and both on a full device."""
    for redirect in (">&- 2>&-", ">/dev/full 2>/dev/full"):
        done = subprocess.run(
            ["bash", "-c", f"{NEVE} info {converted} {redirect}"], env=environment()
        )
        assert done.returncode == 1, (redirect, done.returncode)
        done = subprocess.run(["bash", "-c", f"{NEVE} info none {redirect}"], env=environment())
        assert done.returncode in (1, USAGE), (redirect, done.returncode)
