# SPDX-License-Identifier: BSD-3-Clause
"""Errors are found, crashes and hangs cost one row, tables and JSON agree."""

from __future__ import annotations

import json
import os
import signal
import time

import numpy as np
import pytest

from neve_bench import codecs, fields, report, timing, trial, wide, wide_fields
from neve_bench.__main__ import main
from neve_bench.case import Case
from neve_bench.method import Method, NotApplicable

ARRAY = np.array([0.0, -0.0, np.nan, np.inf, -999.0, 1.0, 2.0, 3.0], np.float32)
FIELD = Case("special", "small", ARRAY, 0.1, -999.0)


def test_bound_is_of_the_valid_range():
    assert FIELD.bound_abs() == pytest.approx(0.3)
    assert Case("special", "none", np.full(3, np.nan), 0.1).bound_abs() == 0


def test_compare_counts_violations_and_lost_specials():
    decoded = ARRAY.copy()
    assert trial.compare(FIELD, decoded, 0.3)["violations"] == 0
    assert trial.compare(FIELD, decoded, 0.3)["specials_lost"] == 0
    decoded[5] += 0.31
    decoded[6] = np.nan
    decoded[1] = 0.0
    decoded[4] = -999.1
    found = trial.compare(FIELD, decoded, 0.3)
    assert (found["violations"], found["specials"], found["specials_lost"]) == (2, 4, 2)
    assert found["max_abs_error"] == pytest.approx(0.31, rel=1e-6)


def identity(field, bound):
    return lambda: field.array.tobytes(), lambda data: np.frombuffer(data, field.array.dtype)


def crash(field, bound):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(field, bound):
    time.sleep(60)


def refuse(field, bound):
    raise NotApplicable("no such bound")


def fail(field, bound):
    raise RuntimeError("out of luck")


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [
        (crash, {"error": "crashed (SIGKILL)"}),
        (hang, {"error": "stopped after 0.5 s"}),
        (refuse, {"skipped": "no such bound"}),
        (fail, {"error": "RuntimeError: out of luck"}),
    ],
)
def test_a_contender_that_fails_costs_its_row(prepare, expected):
    assert trial.run(Method("bad", "", prepare), FIELD, 0.3, 1, 0.5) == expected


def test_a_contender_that_works_is_measured():
    found = trial.run(Method("plain", "", identity), FIELD, 0.3, 5, 60)
    assert found["ratio"] == 1
    assert (found["violations"], found["specials_lost"]) == (0, 0)


def test_the_median_of_an_even_number_is_between_the_two_in_the_middle():
    seconds = iter([0, 4, 10, 11, 20, 22, 30, 109])  # 4, 1, 2 and 79 of them
    assert timing.median_seconds(lambda: None, 4, lambda: next(seconds)) == 3


def test_contenders_take_turns():
    order = []
    found = timing.in_turns("ab", 2, lambda name: order.append(name) or len(order))
    assert order == ["a", "b", "a", "b"]
    assert found == {"a": [1, 3], "b": [2, 4]}


def test_what_decodes_to_another_shape_has_no_ratio():
    def flattened(case, bound):
        return lambda: b"1234", lambda data: np.zeros(3, np.float32)

    found = trial.run(Method("flat", "", flattened), FIELD, 0.3, 1, 60)
    assert found == {"error": "decoded to float32 (3,)"}


def test_generated_fields_are_the_same_everywhere():
    pytest.importorskip("scipy")
    cube = fields.turbulence(16)
    assert cube.dtype == np.float32 and cube.shape == (16, 16, 16)
    np.testing.assert_array_equal(cube, fields.turbulence(16))
    assert (cube > 0).all() and np.log(cube).std() == pytest.approx(1, abs=0.01)


def test_special_matrix_has_zero_violations(tmp_path, capsys):
    pytest.importorskip("scipy")
    for peer in ("pysz", "zfpy", "fpzip"):
        pytest.importorskip(peer)
    out = tmp_path / "special.json"
    assert main(["codecs", "--only", "special", "--codecs", "neve", "--json", str(out)]) == 0
    recorded = json.loads(out.read_text())
    for codec in ("neve", "neve balanced"):
        assert sum(row["codec"] == codec for row in recorded["rows"]) == 38
    assert all(row["violations"] == row["specials_lost"] == 0 for row in recorded["rows"])
    assert recorded["summary"]["neve_violations"] == 0
    assert str(tmp_path) not in out.read_text()
    printed = capsys.readouterr().out
    assert "NaN payloads, float64" in printed
    assert codecs.tables(recorded) + "\n" == printed


def test_missing_data_is_named(tmp_path, capsys):
    assert main(["codecs", "--only", "reference", "--data", str(tmp_path)]) == 1
    assert "arrays/wpx_Ex.npy: not in the data folder given with --data" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (12.345, "12.3"), (1234.5, "1234"), (0.01234, "0.0123"), (3, "3")],
)
def test_numbers_of_tables(value, text):
    assert report.number(value) == text


def test_geomean():
    assert report.geomean([1, 100]) == pytest.approx(10)


def wide_row(field: str, rel: float, codec: str, ratio: float, violations: int = 0) -> dict:
    return {
        **{"kind": "lines", "field": field, "rel": rel, "codec": codec, "ratio": ratio},
        **{"violations": violations, "specials_lost": 0, "bound_abs": 1.0, "max_abs_error": 1.0},
    }


def test_holes_are_where_a_peer_that_holds_its_bound_is_ahead():
    rows = [
        wide_row("a", 1e-2, "neve fast", 8),
        wide_row("a", 1e-2, "SZ3", 10),
        wide_row("a", 1e-2, "SZ3 Lorenzo+reg", 99, violations=1),
        wide_row("a", 1e-3, "neve fast", 9.5),
        wide_row("a", 1e-3, "SZ3", 10),
        wide_row("b", 1e-2, "neve fast", 1),
        {"kind": "lines", "field": "b", "rel": 1e-2, "codec": "SZ3", "error": "crashed"},
    ]
    found = wide.summary(rows)
    assert found["holes"] == [{"field": "a", "rel": 1e-2, "codec": "neve fast", "over_sz3": 0.8}]
    assert found["over_sz3"]["lines"]["neve fast"] == pytest.approx((0.8 * 0.95) ** 0.5)
    assert found["neve_violations"] == 0


def test_every_kind_of_data_is_measured_and_drawn(tmp_path, capsys, monkeypatch):
    for package in ("scipy", "pysz", "zfpy", "hdf5plugin", "pcodec", "matplotlib"):
        pytest.importorskip(package)
    monkeypatch.setattr(wide_fields, "BOUNDS", (1e-2,))
    monkeypatch.setattr(wide_fields, "LINE_VALUES", 1 << 12)
    monkeypatch.setattr(wide_fields, "CUBE", 16)
    words = ("--wide", "--generated", "--repeats", "1", "--codecs", "neve", "SZ3")
    out = tmp_path / "wide.json"
    assert main(["codecs", *words, "--json", str(out), "--plot", str(tmp_path / "made")]) == 0
    recorded = json.loads(out.read_text())
    assert {row["kind"] for row in recorded["rows"]} == set(wide_fields.KINDS)
    assert {len(row["shape"]) for row in recorded["rows"]} == {1, 2, 3, 4}
    assert {row["dtype"] for row in recorded["rows"]} == {"float32", "float64"}
    assert all(row["violations"] == row["specials_lost"] == 0 for row in recorded["rows"])
    assert wide.tables(recorded) + "\n" == capsys.readouterr().out
    assert (tmp_path / "made" / "wide.png").stat().st_size > 10000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--wide", "--only", "masked"), "--only has no meaning with --wide"),
        (("--wide", "--threads", "2"), "--threads has no meaning with --wide"),
        (("--generated",), "--generated has no meaning without --wide"),
        (("--plot", "made"), "--plot has no meaning without --wide"),
    ],
)
def test_options_of_the_other_table_are_refused(words, message, capsys):
    assert main(["codecs", *words]) != 0
    assert message in capsys.readouterr().err
