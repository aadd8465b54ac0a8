# SPDX-License-Identifier: BSD-3-Clause
"""docs/format.md is enough for streams: a decoder written from it gives the library's bits."""

from __future__ import annotations

import numpy as np
import pytest
import reference_stream
from conftest import CHECKOUT
from reference_decoder import Refused, xxh3_64

import neve

GOLDEN = sorted((CHECKOUT / "tests" / "golden").glob("*.nevs"))
TABLE = CHECKOUT / "src" / "core" / "stream" / "offline_codebooks.inc"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_streams_of_every_release(path):
    expected = path.with_suffix(".xxh3").read_text().strip()
    decoded = reference_stream.decode(path.read_bytes(), TABLE)
    assert str(xxh3_64(decoded.tobytes())) == expected


def test_there_are_golden_streams():
    assert GOLDEN, "tests/golden has no streams: the test above has tested nothing"


def hard_field(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Smooth, with jumps no symbol reaches, and all that has no quantization code, alone and in
    runs.
    """
    random = np.random.default_rng(seed)
    values = np.cumsum(random.normal(size=shape), axis=-1).astype(dtype).ravel()
    for special in (np.nan, np.inf, -0.0, -999.0, 1e30, np.finfo(dtype).tiny):
        begin = random.integers(values.size)
        values[begin : begin + random.integers(40)] = special
        values[random.integers(values.size)] = special
    values[random.integers(values.size, size=9)] += 5000
    return values.reshape(shape)


@pytest.mark.parametrize(
    "shape, options",
    [
        ((4000,), {}),
        ((50, 80), {"codebook_rule": "always", "chunk_bytes": 4096}),
        ((9, 20, 22), {"block_values": 256, "restart_blocks": 3}),
        (
            (3, 4, 15, 20),
            {"dims": 2, "codebook_rule": "chi", "chunk_bytes": 2048, "chi": (0.1, 5.0)},
        ),
        ((None, 40, 90), {"block_values": 1000, "dims": 1}),
        ((30000,), {"codebook_rule": "always"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_streams_made_now(shape, options, dtype):
    array = hard_field(tuple(3 if n is None else n for n in shape), dtype, len(shape))
    encoder = neve.StreamEncoder(shape, dtype, abs=0.03, fill=-999.0, **options)
    encoder.push(array)
    encoder.finish()
    stored = encoder.take()
    decoded = reference_stream.decode(stored, TABLE)
    library = neve.decompress(stored)
    assert decoded.dtype == library.dtype and decoded.shape == library.shape == array.shape
    assert decoded.tobytes() == library.tobytes()
    ordinary = np.isfinite(array) & (np.abs(array) < 1e29)
    assert np.abs(decoded[ordinary] - array[ordinary]).max() <= 0.03


def of_kinds(dtype: str) -> dict[str, tuple[np.ndarray, float]]:
    """What makes blocks raw, gives them extra bits, or both in one chunk; each with a bound."""
    random = np.random.default_rng(8)
    noise = random.uniform(-1e12, 1e12, 4000).astype(dtype)
    noise[::50] = random.integers(0, 256, 80 * noise.itemsize, np.uint8).view(dtype)
    tiny = (random.normal(size=4000) * np.finfo(dtype).tiny / 2**9).astype(dtype)
    rough = np.cumsum(random.normal(size=4000) * 10).astype(dtype)
    smooth = np.linspace(0, 1, 4000, dtype=dtype)
    mixed = np.concatenate([smooth, noise, rough, noise, noise, smooth, rough])
    return {
        "noise": (noise, 1e-3),
        "tiny": (tiny, 1e-320),
        "rough": (rough, 1e-3),
        "mixed": (mixed, 1e-3),
        "none": (noise[:0], 1e-3),
    }


@pytest.mark.parametrize("kind", ["noise", "tiny", "rough", "mixed", "none"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("block_values, restarts", [(1000, 0), (300, 2), (65536, 0)])
@pytest.mark.parametrize("is_open", [False, True])
def test_raw_blocks_extra_bits_and_raw_streams(kind, dtype, block_values, restarts, is_open):
    array, bound = of_kinds(dtype)[kind]
    array = array.reshape(-1, 4, 50)
    encoder = neve.StreamEncoder(
        (None, 4, 50) if is_open else array.shape,
        dtype,
        abs=bound,
        block_values=block_values,
        restart_blocks=restarts,
        chunk_bytes=1 << 20,
    )
    stored = encoder.encode(array)
    info = neve.info(stored)
    assert len(stored) <= array.nbytes + 64
    assert info["raw"] == (kind in ("noise", "tiny", "none"))
    if kind in ("rough", "mixed"):
        assert any(b["extra_bits"] for b in info["blocks"])
    if kind == "mixed" and block_values < 2000:
        assert any(b["raw"] for b in info["blocks"])
        assert 9000 < sum(r["raw_values"] for r in encoder.reports) < 15000
    decoded = reference_stream.decode(stored, TABLE)
    library = neve.decompress(stored)
    assert decoded.tobytes() == library.tobytes() and library.shape == array.shape
    ordinary = np.isfinite(array)
    assert library[~ordinary].tobytes() == array[~ordinary].tobytes()
    with np.errstate(over="ignore"):
        errors = np.abs(library[ordinary].astype("longdouble") - array[ordinary])
    assert (errors <= bound).all()


def test_a_stream_whose_step_changes():
    array = np.cumsum(np.random.default_rng(3).normal(size=(60, 100)), axis=-1)
    array[30:] *= 20
    encoder = neve.StreamEncoder(array.shape, array.dtype, chunk_bytes=16384, ratio=6)
    stored = encoder.encode(array)
    assert len({r["bound_abs"] for r in encoder.reports}) > 1
    assert reference_stream.decode(stored, TABLE).tobytes() == neve.decompress(stored).tobytes()


@pytest.mark.parametrize("kind", ["", "noise", "mixed"])
def test_both_refuse_damage(kind):
    array = of_kinds("float32")[kind][0][3800:4600] if kind else hard_field((500,), "float32", 1)
    stored = neve.StreamEncoder(array.shape, abs=0.1, block_values=256).encode(array)
    for at in range(0, len(stored), 11):
        damaged = bytearray(stored)
        damaged[at] ^= 1 << at % 8
        for decode in (neve.decompress, lambda data: reference_stream.decode(data, TABLE)):
            with pytest.raises((neve.Error, Refused)):
                decode(bytes(damaged))
