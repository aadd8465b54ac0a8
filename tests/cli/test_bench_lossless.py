# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench lossless`: the table, the JSON, what is missing is named, what it refuses."""

import json

import pytest

from .conftest import SHARED_DATA, shared

SMALL = ("bench", "lossless", "--repeats", "1")


def test_sample_against_two_peers(neve, tmp_path):
    table = tmp_path / "table.md"
    report = tmp_path / "report.json"
    result = neve(
        *(*SMALL, "--only", "sample", "--codecs", "neve balanced", "bzip2", "LZO", "--regret"),
        *("--json", report, "-o", table),
    )
    assert table.read_text() == result.out
    found = json.loads(report.read_text())
    summary = found["summary"]
    assert summary["inexact"] == summary["errors"] == []
    totals = summary["totals"]["all"]
    assert set(totals) | set(found["missing"]) >= {"neve balanced", "bzip2", "LZO"}
    neve_total = totals["neve balanced"]
    assert neve_total["percent_smaller_than"]["bzip2"] > 0
    assert neve_total["ratio"] > 1 and neve_total["encode_mb_per_s"] > 0
    assert -0.01 < summary["regret"]["neve balanced"] < 0.1
    for row in found["rows"]:
        for codec in row["codecs"].values():
            assert codec.get("is_exact", "not_for" in codec)


def test_one_variable_of_a_real_file(neve):
    shared("climate/ctorca.nc")
    result = neve(
        *(*SMALL, "--data", SHARED_DATA, "--only", "climate", "--match", "ctorca.nc:sosstsst"),
        *("--codecs", "neve", "bzip2", "--rows", "--json", "-"),
    )
    totals = result.json["summary"]["totals"]["climate"]
    assert totals["neve max"]["variables"] == 1
    assert totals["neve max"]["percent_smaller_than"]["bzip2"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--codecs", "rar"), "--codecs rar: no such codec; there are neve fast"),
        (("--repeats", "0"), "--repeats 0"),
        (("--only", "climate", "--data", "nowhere"), "climate/*.nc: not in the data folder"),
        (("--only", "sample", "--match", "xyz"), "--match xyz: no variable"),
        (("-o", "."), "'.' is a folder; -o is the report's file"),
        (("-o", "table.png"), "-o is the report's file"),
    ],
)
def test_refusals(neve, arguments, words):
    result = neve("bench", "lossless", *arguments, expect=None)
    assert result.code in (1, 2)
    assert words in result.err


def test_help_has_examples(neve):
    out = " ".join(neve("bench", "lossless", "--help").out.split())
    assert "neve bench lossless --only sample" in out and "--regret" in out
