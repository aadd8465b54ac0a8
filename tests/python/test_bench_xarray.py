# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench xarray`: xarray and yt find the same, and a difference is told."""

from __future__ import annotations

import json

import pytest

from neve_bench.__main__ import main

for module in ("xarray", "dask", "yt"):
    pytest.importorskip(module, reason=f"{module} is not installed")

from neve_bench import xarray  # noqa: E402 - its peers were asked for


@pytest.fixture
def words(monkeypatch, tmp_path, neve_command):
    monkeypatch.setattr(xarray, "MADE_CELLS", 16)
    monkeypatch.setattr(xarray, "MADE_BOX_CELLS", 8)
    monkeypatch.setattr(xarray, "command_path", lambda: neve_command)
    return ["xarray", "--only", "made", "--repeats", "1", "--scratch", str(tmp_path)]


def test_both_find_the_same(words, monkeypatch, tmp_path):
    real = xarray._peak_in_child

    def one_in_a_child(number, reader, *of):
        return real(number, reader, *of) if (number, reader) == (0, "xarray") else 0

    monkeypatch.setattr(xarray, "_peak_in_child", one_in_a_child)
    out = tmp_path / "found.json"
    assert main([*words, "--json", str(out), "-o", str(tmp_path / "found.md")]) == 0
    rows = json.loads(out.read_text())["rows"]
    assert len(rows) == len(xarray.TASKS) * 2 * 2
    assert all(row["difference"] <= 1e-12 and row["cpu_s"] > 0 for row in rows)
    assert any(row["peak_bytes"] > 0 for row in rows)
    assert "times faster than yt" in (tmp_path / "found.md").read_text()


def test_a_difference_is_told(words, monkeypatch):
    monkeypatch.setattr(xarray, "_peak_in_child", lambda *_: 0)
    wrong = xarray.TASKS[0]._replace(
        by={**xarray.TASKS[0].by, "xarray": lambda path, fields: [1.0 for _ in fields]}
    )
    monkeypatch.setattr(xarray, "TASKS", (wrong,))
    assert main(words) == 3
