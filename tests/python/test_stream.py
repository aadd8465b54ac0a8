# SPDX-License-Identifier: BSD-3-Clause
"""Streams from Python, and bounds that are targets."""

import numpy as np
import pytest

import neve


def field(shape=(20, 30, 40), dtype=np.float32, seed=3):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=shape), axis=-1).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_come_and_go_in_pieces(dtype):
    array = field(dtype=dtype)
    array[3, 4, :7] = [np.nan, np.inf, -np.inf, -0.0, -999, -999, -999]
    encoder = neve.StreamEncoder(
        (None, 30, 40), dtype, abs=1e-3, fill=-999, block_values=1000, chunk_bytes=16000
    )
    stored = b""
    for plane in array:
        encoder.push(plane)
        stored += encoder.take()
    assert len(stored) > 1000
    encoder.finish()
    stored += encoder.take()

    back = neve.decompress(stored)
    assert back.shape == array.shape and back.dtype == array.dtype
    special = ~np.isfinite(array) | (array == -999) | ((array == 0) & np.signbit(array))
    assert back[special].tobytes() == array[special].tobytes()
    errors = back[~special].astype(np.float64) - array[~special].astype(np.float64)
    assert np.abs(errors).max() <= 1e-3

    decoder = neve.StreamDecoder()
    pieces = []
    for at in range(0, len(stored), 777):
        decoder.push(stored[at : at + 777])
        if decoder.info is not None:
            pieces.append(decoder.take())
    decoder.finish()
    assert decoder.has_ended and decoder.info["shape"] == [20, 30, 40]
    assert np.concatenate(pieces).tobytes() == back.tobytes()

    info = neve.info(stored)
    assert info["shape"] == (20, 30, 40) and info["values"] == array.size
    assert sum(b["values"] for b in info["blocks"]) == array.size
    assert {r["codebook"] for r in encoder.reports} <= {"kept", "rebuilt", "offline"}


def test_small_arrays_share_an_encoder():
    encoder = neve.StreamEncoder((16, 16), rel=1e-3, range=(-50, 50))
    for seed in range(5):
        array = field((16, 16), seed=seed)
        stored = encoder.encode(array)
        assert np.abs(neve.decompress(stored) - array).max() <= 0.1
        assert neve.info(stored)["blocks"][0]["codebook"] == "offline"


def test_mistakes_are_errors():
    with pytest.raises(neve.Error, match="needs the range"):
        neve.StreamEncoder((4,), rel=1e-3)
    with pytest.raises(neve.Error, match="exactly one"):
        neve.StreamEncoder((4,))
    with pytest.raises(neve.Error, match="sometimes.*exact_cost"):
        neve.StreamEncoder((4,), abs=1, codebook_rule="sometimes")
    with pytest.raises(TypeError, match="float64"):
        neve.StreamEncoder((4,), abs=1).push(np.zeros(4))
    with pytest.raises(neve.Error, match="two thresholds"):
        neve.StreamEncoder((4,), abs=1, codebook_rule="chi", chi=(1,))
    with pytest.raises(neve.Error, match="shape=1.5 is not a whole number"):
        neve.StreamEncoder((1.5,), abs=1)
    with pytest.raises(neve.Error, match="1 of the values are masked.*filled"):
        hidden = np.ma.masked_greater(np.arange(4, dtype=np.float32), 2)
        neve.StreamEncoder((4,), abs=1).push(hidden)
    encoder = neve.StreamEncoder((4,), abs=1)
    with pytest.raises(neve.Error, match="4 values of 4 are missing"):
        encoder.finish()
    encoder.push(np.zeros(4, np.float32))
    encoder.finish()
    stored = bytearray(encoder.take())
    stored[-1] ^= 1
    with pytest.raises(neve.Error, match="checksum"):
        neve.decompress(stored)


@pytest.mark.parametrize("ratio", [6, 10.5])
def test_ratio(ratio):
    array = field((40, 50, 60))
    stored = neve.compress(array, ratio=ratio)
    assert abs(array.nbytes / len(stored) / ratio - 1) < 0.05
    bound = neve.info(stored)["components"][0]["bound_abs"]
    assert np.abs(neve.decompress(stored).astype(np.float64) - array).max() <= bound


def test_psnr():
    array = field((40, 50, 60), np.float64)
    back = neve.decompress(neve.compress(array, psnr=70))
    rms = np.sqrt(np.mean((back - array) ** 2))
    assert 70 <= 20 * np.log10(np.ptp(array) / rms) < 71


def test_targets_are_for_whole_arrays():
    with pytest.raises(neve.Error, match="ratio= is for whole arrays"):
        neve.Filter(ratio=10)


def test_directions_and_one_offline_codebook():
    lines = np.cumsum(np.random.default_rng(2).normal(size=(200, 300)), axis=-1)
    assert neve.best_stream_dims(lines, abs=0.1) == 1
    sizes = {}
    for dims in (None, 1, 2):
        encoder = neve.StreamEncoder(
            lines.shape, lines.dtype, abs=0.1, dims=dims, codebook_rule="never", offline_codebook=9
        )
        stored = encoder.encode(lines)
        assert np.abs(neve.decompress(stored) - lines).max() <= 0.1
        assert encoder.reports[0]["offline_codebook"] == 9
        sizes[dims] = len(stored)
    assert sizes[1] < sizes[2] == sizes[None]


@pytest.mark.parametrize(
    ("keyword", "value", "words"),
    [
        ("dims", 4, "is 4; 1 to 3 are allowed"),
        ("dims", 0, "is 0; 1 to 3 are allowed"),
        ("offline_codebook", 16, "is 16; 0 to 15 are allowed"),
        ("block_values", -1, "is -1; 256 to 16777216 are allowed"),
        ("chunk_bytes", 2**70, f"is {2**70}; 1024 to 1073741824 are allowed"),
        ("restart_blocks", 2**32, f"is {2**32}; 0 to {2**32 - 1} are allowed"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(keyword, value, words):
    with pytest.raises(neve.Error, match=f"StreamEncoder: {keyword} {words}"):
        neve.StreamEncoder((4,), abs=1, **{keyword: value})
    for other in (1.5, "3", True):
        with pytest.raises(neve.Error, match=f"{keyword}={other!r} is not a whole number"):
            neve.StreamEncoder((4,), abs=1, **{keyword: other})


def test_thresholds_of_another_rule_are_refused():
    with pytest.raises(neve.Error, match="chi has no meaning with codebook_rule='exact_cost'"):
        neve.StreamEncoder((4,), abs=1, codebook_rule="exact_cost", chi=(1, 2))
    neve.StreamEncoder((4,), abs=1, codebook_rule="chi", chi=(1, 2))


def test_calls_in_another_order():
    encoder = neve.StreamEncoder((100,), abs=0.1)
    encoder.push(np.ones(5, np.float32))
    with pytest.raises(neve.Error, match="values have been pushed"):
        encoder.encode(np.ones(100, np.float32))
    encoder.reset()
    with pytest.raises(neve.Error, match="95 values of 100 are missing"):
        encoder.encode(np.ones(5, np.float32))
    encoder.push(np.ones(100, np.float32))
    encoder.finish()
    with pytest.raises(neve.Error, match="after its end"):
        encoder.flush()
    stored = encoder.take()
    decoder = neve.StreamDecoder()
    pieces = []
    for at in range(len(stored)):
        decoder.push(stored[at : at + 1])
        pieces.append(decoder.take())
    decoder.finish()
    assert np.abs(np.concatenate(pieces) - 1).max() <= 0.1 and sum(p.size for p in pieces) == 100
