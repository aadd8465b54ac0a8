# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench ceaz`: studies of a folder of fields, the tables, the JSON, what it refuses."""

import json
import re

import numpy as np
import pytest

from .conftest import SAMPLE


@pytest.fixture
def data(tmp_path):
    """Three kinds of file: arrays, a netCDF variable, a plotfile."""
    import netCDF4

    folder = tmp_path / "data"
    for name in ("arrays", "climate", "amr"):
        (folder / name).mkdir(parents=True)
    (folder / "amr" / SAMPLE.name).symlink_to(SAMPLE)
    x, y = np.meshgrid(np.linspace(0, 9, 300), np.linspace(0, 7, 200))
    rng = np.random.default_rng(1)
    wave = np.sin(x) * np.cos(y) + 1e-3 * rng.standard_normal(x.shape)
    np.save(folder / "arrays" / "wave64.npy", wave)
    # So regular that no ratio asked for takes an error.
    steps = np.repeat(np.arange(100, dtype=np.float32), 600).reshape(x.shape)
    np.save(folder / "arrays" / "steps.npy", steps)
    with netCDF4.Dataset(folder / "climate" / "waves.nc", "w") as f:
        f.createDimension("y", 200)
        f.createDimension("x", 300)
        f.createVariable("wave", "f4", ("y", "x"))[:] = wave
    return folder


def test_ratio_of_a_folder(neve, data, tmp_path):
    table = tmp_path / "table.md"
    report = tmp_path / "report.json"
    out = neve(
        *("bench", "ceaz", "--only", "ratio", "--data", data, "--json", report),
        *("-o", table),
    ).out
    found = json.loads(report.read_text())["ratio"]
    rows = {row["field"]: row for row in found["rows"]}
    of_plotfile = {name for name in rows if name.startswith(SAMPLE.name)}
    assert set(rows) - of_plotfile == {"waves.nc:wave", "wave64", "steps"}
    assert rows["waves.nc:wave"]["target"] == 10.5 and rows["wave64"]["target"] == 21
    missed = set()
    for way in ("array", "stream"):
        within = {
            name
            for name, row in rows.items()
            if abs(row[way] / row["target"] - 1) <= 0.15
            or (row[f"{way}_error"] == 0 and row[way] > row["target"])
        }
        assert found[f"{way}_within_15"] == pytest.approx(len(within) / len(rows))
        assert found[f"{way}_within_10"] <= found[f"{way}_within_15"]
        missed |= set(rows) - within
    # Above its target without any error: reached.
    assert rows["steps"]["array"] > 1.15 * 10.5 and rows["steps"]["array_error"] == 0
    for text in (out, table.read_text()):
        assert "Fixed ratio (figure 13)" in text and f"{len(rows)} fields" in text
        assert {name for name in rows if f"- {name}: array" in text} == missed


def test_an_unknown_study_is_refused(neve):
    result = neve("bench", "ceaz", "--only", "figures", expect=2)
    assert "figures" in result.err and "ratio" in result.err


def test_codebooks_are_trained_on_a_folder(neve, data, tmp_path):
    table = tmp_path / "codebooks.inc"
    neve("bench", "codebooks", "--data", data, "--count", 2, "--table", table)
    codebooks = [text.split("\n},")[0] for text in table.read_text().split("\n{\n")[1:]]
    assert len(codebooks) == 2
    for codebook in codebooks:
        runs = re.findall(r"\{(\d+), (\d+)\}", codebook)
        assert sum(int(count) for _, count in runs) == 1024
        assert sum(int(count) * 2.0 ** -int(length) for length, count in runs) == 1


@pytest.mark.parametrize(
    ("count", "words"), [(0, "--count 0, allowed 1..256"), (257, "--count 257"), (200, "for 200")]
)
def test_codebooks_that_cannot_be_trained(neve, data, tmp_path, count, words):
    table = tmp_path / "codebooks.inc"
    code = 1 if count == 200 else 2
    result = neve(
        *("bench", "codebooks", "--data", data, "--count", count, "--table", table), expect=code
    )
    assert words in result.err
    assert not table.exists()
