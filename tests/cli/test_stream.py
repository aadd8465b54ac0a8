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


def test_bytes_of_the_engine(neve, tmp_path):
    array = field((12, 40, 50))
    array[3, 4:6] = np.nan
    np.save(tmp_path / "a.npy", array)
    compress = ["compress", tmp_path / "a.npy", tmp_path / "a.nevs", "--stream", "--engine"]
    for lanes in ("1", "3"):
        report = neve(*compress, "--bound", "rel=1e-3", "--lanes", lanes, "--json").json
        assert sum(r["values"] for r in report["rounds"]) == array.size
        assert 0 < report["max_abs_error"] <= report["bound_abs"]
        neve("verify", tmp_path / "a.npy", tmp_path / "a.nevs")
        blocks = neve("info", tmp_path / "a.nevs", "--json").json["blocks"]
        assert [b["values"] for b in blocks] == [4096] * 5 + [array.size - 5 * 4096]
        assert all(b["restarts"] and not b["raw"] and not b["extra_bits"] for b in blocks)
    assert "6 rounds of 1 lane" in neve(*compress, "--bound", "rel=1e-6").out
    assert all(
        not b["extra_bits"] for b in neve("info", tmp_path / "a.nevs", "--json").json["blocks"]
    )


def test_what_the_engine_is_not_built_for(neve, tmp_path):
    np.save(tmp_path / "a.npy", field())
    np.save(tmp_path / "d.npy", field().astype(np.float64))
    np.save(tmp_path / "long.npy", np.zeros((2, 5000), np.float32))
    np.save(tmp_path / "none.npy", np.zeros((0, 3), np.float32))
    for name, extra, word in (
        ("a", ["--bound", "psnr=50"], "allowed: abs=VALUE, rel=VALUE, ratio=VALUE"),
        ("a", ["--bound", "lossless"], "allowed: abs=VALUE, rel=VALUE, ratio=VALUE"),
        ("a", ["--bound", "abs=1", "--restart", "2"], "0 to 1 are allowed"),
        ("a", ["--bound", "abs=1", "--restart", "0", "--lanes", "2"], "needs one"),
        ("a", ["--bound", "abs=1", "--lanes", "0"], "1 to 64"),
        ("a", ["--bound", "abs=1", "--chunk", "1MiB"], "--chunk has no meaning with --engine"),
        ("a", ["--bound", "abs=1", "--block-values", "8192"], "allowed 256..4096"),
        ("a", ["--bound", "ratio=30"], "best effort"),
        ("d", ["--bound", "abs=1"], "the values are f64; allowed is f32"),
        ("long", ["--bound", "abs=1"], "lines of 5000 values, built for 4096"),
        ("none", ["--bound", "abs=1"], "without values"),
    ):
        compress = ["compress", tmp_path / f"{name}.npy", tmp_path / "a.nevs", "--stream"]
        failed = neve(*compress, "--engine", *extra, expect=2)
        assert word in failed.err
        assert not (tmp_path / "a.nevs").exists()
    bound = ["--bound", "abs=1"]
    failed = neve("compress", tmp_path / "a.npy", tmp_path / "a.nevs", *bound, "--engine", expect=2)
    assert "--engine has no meaning without --stream" in failed.err
    engine = ["--stream", "--engine", "--dims", "1"]
    neve("compress", tmp_path / "long.npy", tmp_path / "a.nevs", *bound, *engine)
    neve("verify", tmp_path / "long.npy", tmp_path / "a.nevs")


def test_best_effort_says_what_it_reached(neve, tmp_path):
    np.save(tmp_path / "a.npy", field())
    for extra in ([], ["--stream"], ["--stream", "--engine"]):
        compress = [
            "compress",
            tmp_path / "a.npy",
            tmp_path / "a.n",
            "--bound",
            "ratio=5000",
            *extra,
        ]
        assert (
            "not reached" in neve(*compress, expect=2).err
            or "loop reached" in neve(*compress, expect=2).err
        )
        assert not (tmp_path / "a.n").exists()
        said = neve(*compress, "--best-effort").out
        assert "ratio 5000 was asked for" in said
        report = neve(*compress, "--best-effort", "--json").json
        assert 1 < report["reached"] < 5000
        (tmp_path / "a.n").unlink()


def test_an_array_without_values(neve, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((5, 0, 2), np.float32))
    neve("compress", tmp_path / "a.npy", tmp_path / "a.n", "--bound", "rel=1e-3", "--stream")
    assert "as they are" in neve("info", tmp_path / "a.n").out
    neve("decompress", tmp_path / "a.n", tmp_path / "b.npy")
    assert np.load(tmp_path / "b.npy").shape == (5, 0, 2)
