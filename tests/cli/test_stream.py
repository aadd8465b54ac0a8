# SPDX-License-Identifier: BSD-3-Clause
"""compress --stream, and what comes after it; bounds that are targets."""

import numpy as np
import pytest


def field(shape=(30, 40, 50)):
    return np.cumsum(np.random.default_rng(5).normal(size=shape), axis=-1).astype(np.float32)


def test_stream_round_trip(neve, tmp_path):
    array = field()
    np.save(tmp_path / "a.npy", array)
    report = neve(
        *("compress", tmp_path / "a.npy", tmp_path / "a.nevs", "--bound", "rel=1e-3", "--stream"),
        *("--chunk", "64KiB", "--block-values", "4096", "--json"),
    ).json
    assert sum(c["values"] for c in report["chunks"]) == array.size
    assert report["max_abs_error"] <= report["bound_abs"]
    assert {c["reason"] for c in report["chunks"]} <= {"first", "fewest bytes"}
    neve("decompress", tmp_path / "a.nevs", tmp_path / "b.npy")
    back = np.load(tmp_path / "b.npy")
    assert back.shape == array.shape
    assert np.abs(back - array).max() <= report["bound_abs"]
    assert neve("verify", tmp_path / "a.npy", tmp_path / "a.nevs", "--json").json["ok"]
    info = neve("info", tmp_path / "a.nevs", "--json").json
    assert info["kind"] == "Neve stream" and info["shape"] == [30, 40, 50]
    assert "blocks" in neve("info", tmp_path / "a.nevs").out


def test_directions_are_chosen_or_told(neve, tmp_path):
    np.save(tmp_path / "a.npy", field())  # smooth along lines only
    compress = [
        "compress",
        tmp_path / "a.npy",
        tmp_path / "a.nevs",
        "--bound",
        "abs=0.1",
        "--stream",
    ]
    for extra, dims in (([], 1), (["--dims", "3"], 3), (["--dims", "2"], 2)):
        neve(*compress, *extra)
        assert neve("info", tmp_path / "a.nevs", "--json").json["dims"] == dims
        neve("verify", tmp_path / "a.npy", tmp_path / "a.nevs")
    assert "dims is 4; 0 to 3 are allowed" in neve(*compress, "--dims", "4", expect=2).err


def test_a_damaged_stream_is_corrupt(neve, tmp_path):
    np.save(tmp_path / "a.npy", field())
    neve("compress", tmp_path / "a.npy", tmp_path / "a.nevs", "--bound", "abs=0.1", "--stream")
    stored = bytearray((tmp_path / "a.nevs").read_bytes())
    stored[len(stored) // 2] ^= 4
    (tmp_path / "a.nevs").write_bytes(stored)
    failed = neve("decompress", tmp_path / "a.nevs", tmp_path / "b.npy", expect=4)
    assert "checksum" in failed.err
    assert not (tmp_path / "b.npy").exists()


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_ratio_and_psnr(neve, tmp_path, stream):
    np.save(tmp_path / "a.npy", field())
    report = neve(
        *("compress", tmp_path / "a.npy", tmp_path / "a.n", "--bound", "ratio=8", "--json", *stream)
    ).json
    assert report["ratio"] == pytest.approx(8, rel=0.05)
    neve("compress", tmp_path / "a.npy", tmp_path / "a.n", "--bound", "psnr=60", *stream)
    level = neve("verify", tmp_path / "a.npy", tmp_path / "a.n", "--json").json["levels"][0]
    assert 60 <= level["fields"][0]["psnr_db"] < 62


def test_options_that_mean_nothing_are_refused(neve, tmp_path):
    np.save(tmp_path / "a.npy", field())
    bound = ["--bound", "abs=1"]
    for extra, word in (
        (["--stream", "--codec", "context"], "--codec"),
        (["--chunk", "1MiB"], "--stream"),
        (["--stream", "--codebook-rule", "often"], "exact_cost"),
        (["--stream", "--chunk", "10"], "1024"),
    ):
        failed = neve("compress", tmp_path / "a.npy", tmp_path / "a.n", *bound, *extra, expect=2)
        assert word in failed.err
    np.save(tmp_path / "i.npy", np.arange(10))
    failed = neve(*("compress", tmp_path / "i.npy", tmp_path / "a.n", *bound, "--stream"), expect=2)
    assert "f32 and f64" in failed.err
