# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of options: out of their range they are refused by name, with value and range."""

import os

import numpy as np
import pytest

from .conftest import NEVE, SAMPLE, run

USAGE = 2
MOST = 2**64 - 1


def refused(*words, **changes):
    outcome = run([NEVE, *words], **changes)
    assert outcome.code == USAGE, (words, outcome.code, outcome.out, outcome.err)
    lines = outcome.messages()
    assert len(lines) == 1, outcome.err
    return lines[0]


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("--min-bytes", "-1", f"is -1; 0 to {MOST} are allowed"),
        ("--min-bytes", "-5", f"is -5; 0 to {MOST} are allowed"),
        ("--min-bytes", "9" * 20, f"is {'9' * 20}; 0 to {MOST} are allowed"),
        ("--min-bytes", "0x10", f"is '0x10', which is not a whole number; 0 to {MOST} are allowed"),
        ("--layer", "-3", "is -3; 1 to 1073741824 are allowed"),
        ("--layer", "0", "is 0; 1 to 1073741824 are allowed"),
        (
            "--layer",
            "16,0x10",
            "is '0x10', which is not a whole number; 1 to 1073741824 are allowed",
        ),
    ],
)
def test_flags_of_mpi_run_refuse_what_their_variables_refuse(tmp_path, flag, value, words):
    line = refused("mpi", "run", "--bound", "rel=1e-3", flag, value, "--", "true")
    assert f"{flag} {words}" in line
    library = NEVE.parent.parent / "lib" / "libneve_pmpi.so"
    variable = "NEVE_MPI_" + flag.strip("-").replace("-", "_").upper()
    if not library.exists():
        pytest.skip(f"{library} is not built")
    preloaded = {"LD_PRELOAD": str(library), "NEVE_MPI_BOUND": "rel=1e-3", variable: value}
    outcome = run([NEVE, "info", SAMPLE], **preloaded, TMPDIR=str(tmp_path))
    assert outcome.code == USAGE and f"{variable} {words}" in outcome.err, outcome.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--ghosts", "-1"), "--ghosts is -1; 0 to 64 are allowed"),
        (("--targets", "0"), "--targets is 0; 1 to 100000000 are allowed"),
        (("--ratio", "0"), "--ratio is 0; 0.1 to 1e+06 are allowed"),
        (("--ranks-per-node", "0"), "--ranks-per-node is 0; 1 to "),
        (("--request-latency", "-1"), "--request-latency is -1; 0 to "),
        (("--lock-latency", "-1"), "--lock-latency is -1; 0 to "),
        (("--call-latency", "-1"), "--call-latency is -1; 0 to "),
        (("--node-bandwidth", "0"), "--node-bandwidth is 0; "),
        (("--aggregate-boxes", "0"), "--aggregate-boxes is 0; 1 to "),
        (("--aggregate-boxes", "99999999999"), "--aggregate-boxes is 99999999999; 1 to "),
        (("--stripe-count", "99999999999"), "--stripe-count is 99999999999; 0 to 2000 are allowed"),
        (
            ("--stripe-size", "8GiB"),
            "stripe size is 8589934592 bytes; multiples of 65536 below 4 GiB",
        ),
        (("--targets", "0x10"), '--targets: "0x10" is not a whole number'),
        (("--targets", " 4"), '--targets: " 4" is not a whole number'),
        (("--ratio", "0x10"), '--ratio: "0x10" is not a finite number'),
        (("--ratio", "nan"), '--ratio: "nan" is not a finite number'),
        (("--request-latency", "inf"), "--request-latency is inf; 0 to 1e+08 are allowed"),
    ],
)
def test_numbers_of_a_plan_are_refused_rather_than_ignored(words, told):
    assert told in refused("plan", SAMPLE, "--ranks", "4", *words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--block-values", "-1"), "--block-values is -1; 256 to 16777216 are allowed"),
        (("--block-values", "255"), "--block-values is 255; 256 to 16777216 are allowed"),
        (("--restart", "-1"), '--restart: "-1" is not a whole number of at least 0'),
        (("--dims", "0x1"), '--dims: "0x1" is not a whole number'),
        (("--dims", "+1"), '--dims: "+1" is not a whole number'),
        (("--dims", "4"), "--dims is 4; 0 to 3 are allowed"),
        (("--block-values", "0x1"), '--block-values is "0x1"; 256 to 16777216 are allowed'),
        (("--chunk", "0"), "--chunk is 0; 1024 to 1073741824 are allowed"),
        (("--restart", "99999999999"), "--restart is 99999999999; 0 to 4294967295 are allowed"),
    ],
)
def test_numbers_that_are_not_below_zero(tmp_path, words, told):
    np.save(tmp_path / "a.npy", np.zeros(9, np.float32))
    files = (tmp_path / "a.npy", tmp_path / "b.neve", "--bound", "abs=1")
    assert told in refused("compress", "--stream", *words, *files)
    assert os.listdir(tmp_path) == ["a.npy"]


THREADS = "1 to 1024 are allowed"
SIDES = {"unit": "0, 8, 16, 32 and 64 are allowed", "block": "0, 4 and 6 are allowed"}


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        *[("threads", value, THREADS) for value in ("-1", "0", "1025", "99999999999")],
        *[("unit", value, SIDES["unit"]) for value in ("-8", "7", "99999999999")],
        *[("block", value, SIDES["block"]) for value in ("-1", "5")],
        ("speed-weight", "-1", "finite numbers of at least 0 are allowed"),
        ("ratio-weight", "inf", "finite numbers of at least 0 are allowed"),
    ],
)
def test_options_of_the_table_are_named_with_their_range(tmp_path, option, value, allowed):
    told = f"--{option} is {value}; {allowed}"
    effort = ("--effort", "max")
    assert told in refused("convert", SAMPLE, tmp_path / "o.h5", *effort, f"--{option}", value)
    assert told in refused(
        "compress", "a.npy", "b.neve", "--bound", "rel=1", *effort, f"--{option}", value
    )
    bound = ("--bound", "rel=1e-3")
    assert told in refused("mpi", "run", *bound, *effort, f"--{option}", value, "--", "true")
    if option == "threads":
        assert told in refused("decompress", "a.neve", "b.npy", "--threads", value)
    else:
        key = option.replace("-", "_")
        rule = refused("convert", SAMPLE, tmp_path / "o.h5", "--field", f"Temp:{key}={value}")
        assert f"--field Temp: {key} is {value}; {allowed}" in rule
    assert os.listdir(tmp_path) == []


def test_other_programs_are_told_the_same(tmp_path):
    library = NEVE.parent.parent / "lib" / "libneve_pmpi.so"
    if not library.exists():
        pytest.skip(f"{library} is not built")
    variables = {"NEVE_MPI_UNIT": "-8", "NEVE_MPI_BOUND": "rel=1e-3", "LD_PRELOAD": str(library)}
    outcome = run([NEVE, "info", SAMPLE], **variables, TMPDIR=str(tmp_path))
    assert f"NEVE_MPI_UNIT is -8; {SIDES['unit']}" in outcome.err


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--strategy", "foo", '--strategy "foo" unknown; allowed: skeleton, '),
        ("--covered", "foo", '--covered "foo" unknown; allowed: auto, drop, keep'),
        ("--ghosts", "foo", '--ghosts "foo" unknown; allowed: keep, drop'),
        ("--bound", "rel=-1", "value is -1; finite numbers above 0 are allowed"),
        ("--chunk-size", "1024", "--chunk-size is 1024; 65536 to 1073741824 are allowed"),
        (
            "--field",
            "Temp:effort=max",
            'option "effort=max" has no meaning here; allowed are bound',
        ),
    ],
)
def test_names_and_ranges_are_refused_in_one_form(tmp_path, option, value, told):
    assert told in refused("convert", SAMPLE, tmp_path / "o.h5", option, value)


def test_directions_of_a_stream_are_named(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((4, 4, 4), np.float32))
    words = ("compress", tmp_path / "a.npy", tmp_path / "b.neve", "--bound", "abs=1", "--stream")
    assert "dims is 4; 0 to 3 are allowed" in refused(*words, "--dims", "4")


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        *[
            ({f"NEVE_MPI_{name}": value}, f"NEVE_MPI_{name} has no meaning without NEVE_MPI_BOUND")
            for name, value in [
                ("EFFORT", "max"),
                ("UNIT", "8"),
                ("LAYER", "4"),
                ("CALLS", "file"),
                ("FILES", "x"),
                ("MIN_BYTES", "1"),
            ]
        ],
        (
            {"NEVE_MPI_BOUND": "abs=1", "NEVE_MPI_CALLS": "gather", "NEVE_MPI_FILES": "x"},
            "NEVE_MPI_FILES has no meaning with NEVE_MPI_CALLS that are not file",
        ),
        (
            {"NEVE_MPI_BOUND": "abs=1", "NEVE_MPI_BLOCK_BYTES": "3"},
            "NEVE_MPI_BLOCK_BYTES is 3; 8 to 1073741824 are allowed",
        ),
        ({"NEVE_MPI_REPORT": "maybe"}, "NEVE_MPI_REPORT: 'maybe'; true or false is allowed"),
        ({"NEVE_MPI_REPORT": "true"}, None),
        ({"NEVE_MPI_THREADS": "2"}, None),
    ],
)
def test_variables_that_would_do_nothing_are_refused_as_flags_are(tmp_path, variables, told):
    library = NEVE.parent.parent / "lib" / "libneve_pmpi.so"
    if not library.exists():
        pytest.skip(f"{library} is not built")
    outcome = run(
        [NEVE, "info", SAMPLE], **variables, LD_PRELOAD=str(library), TMPDIR=str(tmp_path)
    )
    assert outcome.code == (0 if told is None else USAGE), outcome.err
    assert told is None or told in outcome.err


@pytest.mark.parametrize("words", [("foo",), ("trace", "show")])
def test_help_of_a_command_that_there_is_not_is_refused(words):
    outcome = run([NEVE, *words, "--help"])
    assert outcome.code == USAGE and outcome.out == ""
    assert f"'{words[-1]}'" in outcome.err


def test_what_grew_is_called_larger(tmp_path):
    np.save(tmp_path / "one.npy", np.ones(1))
    outcome = run(
        [NEVE, "compress", tmp_path / "one.npy", tmp_path / "o.neve", "--bound", "lossless"]
    )
    assert outcome.code == 0 and " times larger, " in outcome.out, outcome.out


def test_a_reader_that_stops_early_is_no_fault(tmp_path):
    words = f"'{NEVE}' bench study two-cores --dry-run --into '{tmp_path}/st' | head -n 1"
    outcome = run(["bash", "-c", words])
    assert outcome.err == "", outcome.err


def test_a_bound_that_no_number_holds_is_told_from_what_is_no_number(tmp_path):
    for value in ("1e-400", "1e400"):
        line = refused("compress", "a.npy", tmp_path / "b.neve", "--bound", f"abs={value}")
        assert f"value {value} is no number that f64 holds" in line
    line = refused("compress", "a.npy", tmp_path / "b.neve", "--bound", "abs=1e-4x")
    assert "is not a number" in line


def test_what_64_bits_do_not_hold_is_no_seed():
    line = refused("bench", "amr", "--seed", 2**64)
    assert f"--seed: {2**64} is beyond 64 bits; 0 to {MOST} are allowed" in line
