# SPDX-License-Identifier: BSD-3-Clause
"""compress, decompress, verify and info of one array."""

import os

import numpy as np
import pytest

SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, -999.0])


def field_array(dtype=np.float32, shape=(24, 30, 36)):
    rng = np.random.default_rng(7)
    array = np.cumsum(rng.normal(size=shape), axis=-1).astype(dtype)
    array.reshape(-1)[::97][: len(SPECIAL)] = SPECIAL.astype(dtype)
    return array


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(1000,), (30, 40), (12, 20, 30), (3, 8, 10, 12), (2, 3, 4, 5, 6)]
)
def test_round_trip(neve, tmp_path, dtype, shape):
    array = field_array(dtype, shape)
    np.save(tmp_path / "a.npy", array)
    neve(
        "compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "abs=1e-3", "--fill", "-999"
    )
    neve("decompress", tmp_path / "a.neve", tmp_path / "b.npy")
    back = np.load(tmp_path / "b.npy")
    assert back.dtype == array.dtype and back.shape == array.shape
    finite = np.isfinite(array)
    assert np.abs(back[finite].astype(np.float64) - array[finite].astype(np.float64)).max() <= 1e-3
    special = ~finite | (array == -999) | ((array == 0) & np.signbit(array))
    assert special.sum() == len(SPECIAL)
    assert back[special].tobytes() == array[special].tobytes()


@pytest.mark.parametrize("method", ["auto", "BWXOR-zlib", "b-lzo", "multiple", "bitshuffle-lz4"])
def test_lossless_methods(neve, tmp_path, method):
    np.save(tmp_path / "a.npy", field_array())
    report = neve(
        *("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "lossless"),
        *("--codec", "lossless", "--method", method, "--json"),
    ).json
    assert report["codec"] == "lossless"
    if method != "auto":
        assert report["method"].lower() == method.lower()
    neve("decompress", tmp_path / "a.neve", tmp_path / "b.npy")
    assert np.load(tmp_path / "b.npy").tobytes() == field_array().tobytes()


def test_an_unknown_lossless_method_is_named(neve, tmp_path):
    np.save(tmp_path / "a.npy", field_array())
    failed = neve(
        *("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "lossless"),
        *("--method", "gzip"),
        expect=2,
    )
    assert "gzip" in failed.err and "shuffle-zstd" in failed.err


def test_verify_and_info(neve, tmp_path):
    np.save(tmp_path / "a.npy", field_array())
    report = neve(
        *("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "rel=1e-3", "--json")
    ).json
    stored = os.path.getsize(tmp_path / "a.neve")
    assert report["stored_bytes"] == stored
    assert report["raw_bytes"] == field_array().nbytes
    for copy in ("a.neve", "b.npy"):
        if copy == "b.npy":
            neve("decompress", tmp_path / "a.neve", tmp_path / "b.npy")
        verdict = neve("verify", tmp_path / "a.npy", tmp_path / copy, "--json").json
        assert verdict["ok"] is True
        (level,) = verdict["levels"]
        (field,) = level["fields"]
        assert field["cells"] == field_array().size
        assert field["special_mismatches"] == 0
        assert 0 < field["max_abs_error"]
    info = neve("info", tmp_path / "a.neve", "--json").json
    assert info["shape"] == [24, 30, 36]
    assert info["dtype"] == "f32"
    assert info["fields"][0]["bound"] == "rel=0.001"
    assert neve("info", tmp_path / "a.npy", "--json").json["shape"] == [24, 30, 36]


@pytest.mark.parametrize(
    "options, keywords",
    [
        ([], {}),
        (["--arrangement", "linear", "--unit", "8"], {"arrangement": "linear", "unit": 8}),
        (["--arrangement", "cluster", "--unit", "16"], {"arrangement": "cluster", "unit": 16}),
    ],
)
def test_the_bytes_are_those_of_python(neve, tmp_path, options, keywords):
    import neve as package

    array = field_array()
    np.save(tmp_path / "a.npy", array)
    neve("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "rel=1e-3", *options)
    assert (tmp_path / "a.neve").read_bytes() == package.compress(array, rel=1e-3, **keywords)


def test_verify_finds_another_array(neve, tmp_path):
    array = field_array()
    np.save(tmp_path / "a.npy", array)
    neve("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "abs=1e-3")
    array[5, 5, 5] += 1
    np.save(tmp_path / "other.npy", array)
    outcome = neve("verify", tmp_path / "other.npy", tmp_path / "a.neve", "--json", expect=3)
    assert outcome.json["ok"] is False


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_small_shapes(neve, tmp_path, shape):
    array = np.ones(shape, np.float64)
    np.save(tmp_path / "a.npy", array)
    neve("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "abs=1e-3")
    neve("decompress", tmp_path / "a.neve", tmp_path / "b.npy")
    back = np.load(tmp_path / "b.npy")
    assert back.shape == shape
    assert (np.abs(back - array) <= 1e-3).all()


def test_under_mpirun(neve, tmp_path):
    np.save(tmp_path / "a.npy", field_array())
    outcome = neve(
        *("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "abs=1e-3", "--json"),
        ranks=2,
    )
    assert outcome.json["raw_bytes"] == field_array().nbytes  # one report, not two
    assert sorted(os.listdir(tmp_path)) == ["a.neve", "a.npy"]


def test_fortran_order(neve, tmp_path):
    array = np.asfortranarray(field_array())
    np.save(tmp_path / "a.npy", array)
    neve("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "abs=1e-3")
    neve("decompress", tmp_path / "a.neve", tmp_path / "b.npy")
    back = np.load(tmp_path / "b.npy")
    finite = np.isfinite(array)
    assert back.shape == array.shape
    assert np.abs(back[finite].astype(np.float64) - array[finite]).max() <= 1e-3


@pytest.mark.parametrize(
    "make, code, words",
    [
        (lambda p: np.save(p, np.arange(5)), 2, ["i64", "lossless"]),
        (lambda p: np.save(p, np.zeros(5, np.complex64)), 2, ["<c8", "f4"]),
        (lambda p: np.save(p, np.ones(5, ">f8")), None, []),
        (lambda p: p.write_bytes(b"\x93NUMPY\x01\x00"), 4, ["a.npy"]),
        (lambda p: p.write_bytes(b""), 4, ["a.npy"]),
    ],
)
def test_bad_arrays(neve, tmp_path, make, code, words):
    make(tmp_path / "a.npy")
    outcome = neve(
        *("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "abs=1e-3"), expect=None
    )
    if code is None:
        # Another byte order is either read right or refused.
        if outcome.code == 0:
            neve("decompress", tmp_path / "a.neve", tmp_path / "b.npy")
            assert (np.abs(np.load(tmp_path / "b.npy") - 1) <= 1e-3).all()
        else:
            assert outcome.code == 2 and ">f8" in outcome.err
        return
    assert outcome.code == code, outcome.err
    for word in words:
        assert word in outcome.err, outcome.err
    assert not (tmp_path / "a.neve").exists()


def test_cut_and_damaged_frames(neve, tmp_path):
    np.save(tmp_path / "a.npy", field_array(shape=(8, 8, 9)))
    neve("compress", tmp_path / "a.npy", tmp_path / "a.neve", "--bound", "abs=1e-3")
    whole = (tmp_path / "a.neve").read_bytes()
    for cut in (5, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.neve").write_bytes(whole[:cut])
        outcome = neve("decompress", tmp_path / "cut.neve", tmp_path / "b.npy", expect=None)
        assert outcome.code == 4, outcome.err
        assert "cut.neve" in outcome.err
    for position in (9, len(whole) // 2, len(whole) - 2):
        flipped = bytearray(whole)
        flipped[position] ^= 4
        (tmp_path / "bad.neve").write_bytes(flipped)
        outcome = neve("decompress", tmp_path / "bad.neve", tmp_path / "b.npy", expect=None)
        assert outcome.code == 4, outcome.err
    assert not (tmp_path / "b.npy").exists()


def test_bound_is_required(neve, tmp_path):
    np.save(tmp_path / "a.npy", np.ones(4))
    outcome = neve("compress", tmp_path / "a.npy", tmp_path / "a.neve", expect=None)
    assert outcome.code == 2
    assert "--bound" in outcome.err
