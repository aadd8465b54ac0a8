# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench series`: a row for each made series and pair of weights; counts are promised."""

import json

import pytest

ROWS = 12  # four series, three pairs of weights


def test_changes_are_seen_and_chosen_for(neve):
    said = json.loads(neve("bench", "series", "--mb", "0.1", "--json").out)
    assert said["steps"] == 30 and len(said["rows"]) == ROWS
    for row in said["rows"]:
        assert row["steps_unseen"] <= 2, row
        assert row["mean_score_share"] >= 0.97, row
        changes = [by["changes"] for by in row["changes_by_delta"]]
        assert changes == sorted(changes, reverse=True), row
        if row["ratio_weight"] == 0:
            assert row["changes"] == 0 and row["least_score_share"] == 1, row


def test_the_table_has_what_the_json_has(neve):
    lines = neve("bench", "series", "--mb", "0.02", "--candidates", "lz4+zstd").out.splitlines()
    rows = [line for line in lines if line.lstrip().startswith("0.02")]
    assert len(rows) == ROWS and "steps unseen" in "".join(lines[:3])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--candidates", "zstdd"), "zstd"),
        (("--candidates", "auto"), "auto is no method"),
        (("--mb", "-1"), "--mb"),
        (("--dtype", "f16"), "f64"),
        (("--speeds", "fast"), "typical"),
        (("--pieces", "0"), "--pieces"),
    ],
)
def test_what_is_mistyped_is_named(neve, words, named):
    assert named in neve("bench", "series", *words, expect=2).err
