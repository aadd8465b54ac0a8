# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench region`: a part of a chunked file reads and decodes its own chunks alone."""

import json

import pytest

from neve_bench import region
from neve_bench.__main__ import main


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(region, "SAMPLE_SHAPE", (12, 40, 60))  # 9600 bytes a step


def test_parts_read_their_chunks_alone(small_sample, tmp_path, capsys):
    out = tmp_path / "region.json"
    words = ["region", "--only", "sample", "--chunk-kib", "20", "--repeats", "1"]
    assert main([*words, "--json", str(out), "--scratch", str(tmp_path)]) == 0
    rows = {(r["storage"], r["part"]): r for r in json.loads(out.read_text())["rows"]}
    assert set(rows) == {(s, p) for s in ("neve", region.GZIP) for p in ("all", "step", "region")}
    for storage in ("neve", region.GZIP):
        whole = rows[storage, "all"]
        assert whole["chunks"] == 6
        for part in ("step", "region"):
            assert rows[storage, part]["chunks"] == 1
            # One chunk of six, and what HDF5 reads of the file's structure.
            assert rows[storage, part]["bytes_read"] < whole["bytes_read"] / 2
        assert rows[storage, "step"]["values"] == 40 * 60
        assert rows[storage, "region"]["values"] == 20 * 30
    assert all(row["is_same"] for row in rows.values())
    assert list(tmp_path.glob("neve-bench-*")) == []
    assert "times less read than gzip" in capsys.readouterr().out


def test_a_wrong_value_is_told(small_sample, tmp_path, monkeypatch, capsys):
    read = region._read_dataset

    def damaged(path, name, part):
        values = read(path, name, part)
        values[0, 0, 0] += 1
        return values

    monkeypatch.setattr(region, "_read_dataset", damaged)
    words = ["region", "--only", "sample", "--repeats", "1", "--scratch", str(tmp_path)]
    assert main(words) == 3
    assert "NO" in capsys.readouterr().out


def test_chunks_of_a_part():
    part = (slice(3, 5), slice(10, 20))
    assert list(region.chunks_of(part, (4, 8))) == [(0, 8), (0, 16), (4, 8), (4, 16)]
    assert region.steps_in_chunk((100, 50, 50), 4, 30000) == (3, 50, 50)
    assert region.steps_in_chunk((100, 50, 50), 8, 10) == (1, 50, 50)


@pytest.mark.parametrize("words", [["--repeats", "0"], ["--chunk-kib", "0"], ["--data", "nowhere"]])
def test_refuses(words, capsys):
    assert main(["region", "--only", "climate", *words]) in (1, 2)
    assert "neve bench" in capsys.readouterr().err
