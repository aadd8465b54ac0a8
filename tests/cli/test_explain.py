# SPDX-License-Identifier: BSD-3-Clause
"""--explain: every candidate, its score, and why it lost or was not tried."""

import h5py
import numpy as np
import pytest

from .conftest import SAMPLE

LOSSLESS = {
    *("lorenzo", "multiple", "rank", "xor-zstd", "shuffle-zstd", "bitshuffle-zstd", "zstd"),
    "shuffle-lz4",
}


@pytest.fixture
def wave(tmp_path):
    random = np.random.default_rng(5)
    z, y, x = np.meshgrid(*(np.linspace(0, 3, n) for n in (16, 64, 80)), indexing="ij")
    field = np.sin(x + y) * np.cos(z) + 1e-4 * random.standard_normal(x.shape)
    path = tmp_path / "wave.npy"
    np.save(path, field.astype("f4"))
    return path


def check(explanation, names):
    """Sums and the order of the candidates; the one that won."""
    candidates = explanation["candidates"]
    assert names <= {c["name"] for c in candidates}
    for candidate in candidates:
        assert sum(candidate["sections"].values()) <= explanation["sections"]
        assert candidate["outcome"]
        if set(candidate["sections"]) & {"won", "lost"}:
            assert candidate["coded_bytes"] > 0
    won = [c["sections"].get("won", 0) for c in candidates]
    assert won == sorted(won, reverse=True)
    assert sum(won) == explanation["sections"] > 0
    best = candidates[0]
    assert all(c["score"] <= best["score"] for c in candidates if "lost" in c["sections"])
    return best


@pytest.mark.parametrize("effort", ["fast", "balanced", "max"])
def test_every_lossless_method_has_an_outcome(neve, wave, tmp_path, effort):
    words = ("--bound", "lossless", "--effort", effort, "--explain")
    report = neve("compress", wave, tmp_path / "out", *words, "--json").json
    best = check(report["explanation"], {f"lossless {m}" for m in LOSSLESS})
    assert best["name"] == f"lossless {report['method']}"
    text = neve("compress", wave, tmp_path / "out", *words).out
    assert "candidate" in text and "not tried: only where speed has a weight" in text


def test_explaining_changes_no_byte(neve, wave, tmp_path):
    for name, more in (("plain", ()), ("explained", ("--explain",))):
        neve("compress", wave, tmp_path / name, "--bound", "rel=1e-3", "--effort", "max", *more)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "explained").read_bytes()


def test_lossy_and_lossless_compete_where_a_bound_is_given(neve, wave, tmp_path):
    words = ("--effort", "balanced", "--explain", "--json")
    smooth = neve("compress", wave, tmp_path / "a", "--bound", "rel=1e-5", *words).json
    best = check(smooth["explanation"], {"dual_quant", "interpolation", "lossless"})
    assert best["name"] == smooth["codec"] != "lossless"
    lossless = [c for c in smooth["explanation"]["candidates"] if c["name"] == "lossless"]
    assert not set(lossless[0]["sections"]) & {"won", "lost"}  # no sample asked for it
    # Hundredths, and a bound far below them: keeping every bit takes less.
    hundredths = np.random.default_rng(1).integers(0, 1000, (16, 64, 80)) / 100
    np.save(tmp_path / "sensor.npy", hundredths.astype("f4"))
    sensor = neve(
        "compress", tmp_path / "sensor.npy", tmp_path / "b", "--bound", "rel=1e-6", *words
    ).json
    best = check(sensor["explanation"], {"dual_quant", "lossless lorenzo"})
    assert best["name"] == "lossless multiple"
    assert sensor["codec"] == "lossless" and sensor["max_abs_error"] == 0


def test_speed_alone(neve, wave, tmp_path):
    words = ("--bound", "lossless", "--speed-weight", "1", "--ratio-weight", "0")
    report = neve("compress", wave, tmp_path / "out", *words, "--explain", "--json").json
    assert check(report["explanation"], set())["name"] == "lossless shuffle-lz4"


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_plotfile_by_level_and_field_over_all_ranks(neve, tmp_path, ranks):
    out = tmp_path / "out.h5"
    words = ("--effort", "balanced", "--explain")
    report = neve("convert", SAMPLE, out, *words, "--json", ranks=ranks).json
    for level in report["levels"]:
        for field in level["fields"]:
            best = check(field["explanation"], set())
            assert best["name"].split()[0] == field["codec"]
    text = neve("convert", SAMPLE, out, *words).out
    assert "level 0 density" in text and "choosing took" in text


def test_variables_of_a_data_file(neve, tmp_path):
    with h5py.File(tmp_path / "in.nc", "w") as file:
        file["counts"] = np.arange(60000).reshape(100, 600).astype("i4") // 7
        file["text"] = "words"
    target = tmp_path / "out.nc"
    report = neve("convert", tmp_path / "in.nc", target, "--explain", "--json").json
    by_name = {v["name"]: v for v in report["variables"]}
    check(by_name["/counts"]["explanation"], {"lossless lorenzo", "lossless rank"})
    assert "explanation" not in by_name["/text"]
    assert "/counts: " in neve("convert", tmp_path / "in.nc", target, "--explain").out


def test_nothing_to_explain_is_refused(neve, tmp_path):
    result = neve("convert", SAMPLE, tmp_path / "plt", "--explain", expect=2)
    assert "--explain has no meaning" in result.err
