# SPDX-License-Identifier: BSD-3-Clause
"""compress, decompress and info keep their promises on any array."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from arrays import assert_same_bits, assert_within, bound_values, value_range, views
from hypothesis import given
from hypothesis import strategies as st

import neve


@given(views(), bound_values())
def test_abs_bound_holds_and_specials_come_back(array, bound):
    decoded = neve.decompress(neve.compress(array, abs=bound))
    assert_within(decoded, array, bound)


@given(views(), bound_values())
def test_rel_bound_is_of_the_value_range(array, rel):
    # Without detection nothing is fill, so the range is that of every finite value.
    decoded = neve.decompress(neve.compress(array, rel=rel, detect_fill=False))
    assert_within(decoded, array, rel * value_range(array))


@given(views(), bound_values())
def test_detected_fill_narrows_the_bound(array, rel):
    data = neve.compress(array, rel=rel)
    fill = neve.info(data)["components"][0]["fill"]
    assert_within(neve.decompress(data), array, rel * value_range(array, fill), fill)


@given(views(), bound_values(), st.sampled_from([-999.0, 1e20, 0.0, 1.0]))
def test_given_fill_comes_back_bit_for_bit(array, bound, fill):
    array = array.copy()
    array.reshape(-1)[::3] = fill
    fill = float(array.dtype.type(fill))
    decoded = neve.decompress(neve.compress(array, abs=bound, fill=fill))
    assert_within(decoded, array, bound, fill)


@given(views())
def test_lossless_keeps_every_bit(array):
    assert_same_bits(neve.decompress(neve.compress(array, lossless=True)), array)


@pytest.mark.parametrize(
    "array",
    [
        (np.arange(4096) % 513 < 300).astype("f4"),
        (np.arange(16384) % 513 < 256).astype("i4"),
        np.sin((np.arange(60000) / 300).astype("f4")),
        np.sin(np.arange(5400) / 40),
    ],
    ids=["periods", "integer periods", "wave", "small wave"],
)
def test_lossless_at_balanced_is_as_small_as_by_any_name(array):
    methods = ["zstd", "shuffle-zstd", "xor-zstd", "lorenzo", "multiple", "rank"]
    best = min(len(neve.compress(array, lossless=True, method=method)) for method in methods)
    assert len(neve.compress(array, lossless=True, effort="balanced")) <= 1.02 * best


@pytest.mark.parametrize("count", [40000, 50000, 100000])
def test_small_repeating_integers_are_small_at_fast_too(count):
    """One method on bytes may miss what others find."""
    array = (50 * np.sin(np.arange(count) % 100)).round().astype("i8")
    methods = ["zstd", "shuffle-zstd", "bitshuffle-zstd", "xor-zstd"]
    best = min(len(neve.compress(array, lossless=True, method=method)) for method in methods)
    assert len(neve.compress(array, lossless=True, effort="fast")) <= 1.3 * best


@given(views(), bound_values(), st.sampled_from(["fast", "balanced", "max"]))
def test_every_effort_holds_the_bound(array, bound, effort):
    decoded = neve.decompress(neve.compress(array, abs=bound, effort=effort))
    assert_within(decoded, array, bound)


@given(views(), bound_values())
def test_bytes_do_not_depend_on_threads(array, rel):
    one = neve.compress(array, rel=rel, threads=1)
    assert neve.compress(array, rel=rel, threads=3) == one
    assert_same_bits(neve.decompress(one, threads=3), neve.decompress(one, threads=1))


def large_field(dtype: type) -> np.ndarray:
    x, y, z = np.meshgrid(*[np.linspace(0, 9, n) for n in (61, 83, 118)], indexing="ij")
    noise = np.random.default_rng(5).standard_normal(x.shape)
    field = (np.sin(x) * np.cos(2 * y) + z * z + 0.01 * noise).astype(dtype)
    field[3:9, 40:, :7] = np.nan
    field[20:30, :, 80:] = -999
    return field


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_array_in_threads(dtype):
    field = large_field(dtype)
    one = neve.compress(field, rel=1e-4, threads=1)
    assert neve.compress(field, rel=1e-4, threads=4) == one
    assert_within(neve.decompress(one, threads=4), field, 1e-4 * value_range(field, -999.0), -999.0)
    assert len(one) < field.nbytes / 3


def test_threads_of_python_do_not_disturb_each_other():
    fields = [large_field(np.float32)[: 20 + 5 * i] for i in range(4)]
    expected = [neve.compress(f, rel=1e-3, threads=1) for f in fields]
    found = [None] * len(fields)

    def work(i):
        for _ in range(3):
            found[i] = neve.compress(fields[i], rel=1e-3, threads=2)
            neve.decompress(found[i])

    workers = [threading.Thread(target=work, args=(i,)) for i in range(len(fields))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == expected


# Hashes of the streams and of what they decode to, from a Python whose kernels are forced.
_SIMD_SCRIPT = """
import hashlib
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import neve
from test_compress import large_field
assert neve.simd_target() == sys.argv[2], neve.simd_target()
for dtype in (np.float32, np.float64):
    field = large_field(dtype)
    for array in (field, field[0], field[0, 0], field[::2, ::3], field[:1, :1, :1]):
        for bound in ({"rel": 1e-3}, {"rel": 1e-6}, {"abs": 30.0}, {"lossless": True}):
            data = neve.compress(array, **bound)
            print(hashlib.sha256(data).hexdigest())
            print(hashlib.sha256(neve.decompress(data).tobytes()).hexdigest())
"""


def _hashes_with(target: str) -> str:
    environment = dict(os.environ, NEVE_SIMD=target)
    done = subprocess.run(
        [sys.executable, "-c", _SIMD_SCRIPT, os.path.dirname(__file__), target],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_streams_are_identical_on_every_instruction_set():
    targets = neve.simd_targets()
    assert "portable" in targets
    hashes = {target: _hashes_with(target) for target in targets}
    assert len(hashes["portable"].splitlines()) == 80
    for target in targets:
        assert hashes[target] == hashes["portable"], f"{target} differs from the portable kernels"


def test_unknown_instruction_set_is_refused():
    with pytest.raises(neve.Error, match="EXTRA9"):
        neve.set_simd_target("EXTRA9")


def test_a_codec_that_cannot_keep_every_bit_is_refused():
    with pytest.raises(neve.Error, match="codec interpolation cannot keep the bound lossless"):
        neve.compress(np.zeros(9, np.float32), lossless=True, codec="interpolation")


def test_masked_array_is_stored_with_its_fill():
    array = np.ma.masked_less(np.linspace(-1, 1, 1000, dtype=np.float32), 0)
    array.fill_value = 7.5
    decoded = neve.decompress(neve.compress(array, rel=1e-3))
    assert (decoded[array.mask] == np.float32(7.5)).all()
    assert_within(decoded[~array.mask], array.data[~array.mask], 1e-3 * 1.0)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint16])
def test_masked_integers_need_a_fill_that_they_can_hold(dtype):
    """numpy's default for masked integers is 999999, which nobody has given."""
    array = np.ma.array([1, 2, 3], mask=[False, True, False], dtype=dtype)
    with pytest.raises(neve.Error, match="1 of the values are masked.*give one.*as fill="):
        neve.compress(array, lossless=True)
    decoded = neve.decompress(neve.compress(array, lossless=True, fill=9))
    assert decoded.tolist() == [1, 9, 3]
    assert len(neve.compress(np.ma.array([1, 2], dtype=dtype), lossless=True)) > 0


def test_bytes_behind_a_frame_are_an_error():
    frame = neve.compress(np.arange(100.0), abs=0.1)
    for behind in (b"x", frame):
        with pytest.raises(neve.Error, match=f"the frame in them ends after {len(frame)}"):
            neve.decompress(frame + behind)


def test_numpys_own_truth_values():
    array = np.arange(10.0)
    assert neve.compress(array, lossless=np.True_) == neve.compress(array, lossless=True)
    assert neve.compress(array, abs=1, lossless=np.False_) == neve.compress(array, abs=1)
    assert dict(neve.Filter(lossless=np.True_)) == dict(neve.Filter(lossless=True))


def test_smaller_bound_costs_more_and_compression_pays():
    field = large_field(np.float32)
    sizes = [len(neve.compress(field, rel=rel)) for rel in (1e-2, 1e-3, 1e-4, 1e-5)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]
    assert sizes[0] < field.nbytes / 10


def test_info_tells_what_is_stored():
    field = large_field(np.float32)
    data = neve.compress(field, rel=1e-3)
    found = neve.info(data)
    assert (found["dtype"], found["shape"]) == ("float32", field.shape)
    assert found["stored_bytes"] == len(data)
    assert found["ratio"] == pytest.approx(field.nbytes / len(data))
    (component,) = found["components"]
    assert component["asked"] == "rel=0.001"
    assert component["fill"] == -999.0
    error = np.abs(neve.decompress(data).astype(np.float64) - field)
    measured = np.nanmax(error[field != -999])
    assert 0 < measured <= component["max_abs_error"] <= component["bound_abs"]
    assert sum(section["cells"] for section in found["sections"]) == field.size


ALLOWED = "abs=.*rel=.*lossless=True"


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        ({}, f"none given.*{ALLOWED}"),
        ({"rel": 1e-3, "abs": 1.0}, f"abs= and rel=.*{ALLOWED}"),
        ({"rel": 0}, "rel=0.0; finite numbers above 0 are allowed"),
        ({"rel": -1e-3}, "rel=-0.001"),
        ({"abs": float("nan")}, "abs=nan"),
        ({"abs": float("inf")}, "abs=inf"),
        ({"rel": "tight"}, "rel='tight' is not a number"),
        ({"pw_rel": 1e-3}, f"pw_rel=.*{ALLOWED}"),
        ({"psnr": 0}, f"psnr=.*{ALLOWED}"),
        ({"ratio": 1}, f"ratio=.*{ALLOWED}"),
        ({"rel": 1e-3, "codec": "best"}, "best.*dual_quant"),
        ({"rel": 1e-3, "arrangement": "knot"}, "knot.*in_place"),
        ({"rel": 1e-3, "unit": 9}, "unit is 9; 0, 8, 16, 32 and 64 are allowed"),
        ({"rel": 1e-3, "unit": "big"}, "unit is big; 0, 8, 16, 32 and 64 are allowed"),
        ({"rel": 1e-3, "block": 5}, "block is 5; 0, 4 and 6 are allowed"),
        ({"rel": 1e-3, "effort": "some"}, "some.*balanced"),
        ({"rel": 1e-3, "threads": 0}, "compress: threads is 0; 1 to 1024 are allowed"),
        ({"rel": 1e-3, "fill": "land"}, "fill='land' is not a number"),
    ],
)
def test_what_is_not_allowed_is_named(bound, message):
    with pytest.raises(neve.Error, match=message) as caught:
        neve.compress(np.ones(4, np.float32), **bound)
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == 2


def test_misspelt_keyword_is_a_type_error():
    with pytest.raises(TypeError, match="tolerance"):
        neve.compress(np.ones(4, np.float32), rel=1e-3, tolerance=1)


@pytest.mark.parametrize("dtype", ["float16", "complex64", "bool", "U3"])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match="allowed are float32, float64 and integers"):
        neve.compress(np.zeros(5, dtype), rel=1e-3)


def small_streams() -> list[bytes]:
    rng = np.random.default_rng(1)
    smooth = np.cumsum(rng.standard_normal((6, 7, 8)), axis=0)
    masked = smooth.astype(np.float32)
    masked[2:4] = np.nan
    arrays = [smooth, masked, np.float32(3.0), np.zeros((0, 4)), np.full(100, 2.5, np.float32)]
    return [neve.compress(a, rel=1e-3) for a in arrays] + [neve.compress(masked, lossless=True)]


@pytest.mark.parametrize("number", range(6))
def test_every_truncation_is_an_error(number):
    data = small_streams()[number]
    for length in range(len(data)):
        with pytest.raises(neve.Error):
            neve.decompress(data[:length])


@pytest.mark.parametrize("number", range(6))
def test_every_flipped_bit_is_an_error(number):
    data = small_streams()[number]
    for position in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            with pytest.raises(neve.Error) as caught:
                neve.decompress(damaged)
            assert str(caught.value)


@given(st.binary(max_size=400))
def test_garbage_is_an_error(data):
    with pytest.raises(neve.Error) as caught:
        neve.decompress(data)
    assert caught.value.code == 4


def test_decompress_takes_any_buffer():
    field = np.linspace(0, 1, 500)
    data = neve.compress(field, abs=1e-4)
    expected = neve.decompress(data)
    for form in (bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
        assert_same_bits(neve.decompress(form), expected)
    with pytest.raises(TypeError):
        neve.decompress("text")


@pytest.mark.parametrize("shape", [(0,), (3, 0, 5), (2**30, 2**30, 0), (0, 2**40)])
def test_a_size_of_zero_makes_an_array_without_values(shape):
    array = np.empty(shape, np.float32)
    data = neve.compress(array, rel=1e-3)
    decoded = neve.decompress(data)
    assert decoded.shape == shape and decoded.dtype == np.float32
    assert neve.info(data)["shape"] == shape


MEMORY_ENDS = """
import resource, sys
import numpy as np, neve
array = np.random.default_rng(1).random((40, 200, 200)).astype(np.float32)
frame = neve.compress(array, rel=1e-3)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
most = used + int(sys.argv[1]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for call in (
    lambda: neve.compress(array, rel=1e-3, threads=8),
    lambda: neve.decompress(frame, threads=8),
):
    try:
        call()
        print("made", end=" ")
    except (MemoryError, neve.Error) as error:
        assert isinstance(error, MemoryError) or "memory" in str(error), error
        print("refused", end=" ")
"""


@pytest.mark.parametrize("mib", [0, 2, 5, 9, 20, 400])
def test_memory_that_ends_is_an_error(mib):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY_ENDS, str(mib)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert len(words) == 2
    if mib == 400:
        assert words == ["made", "made"]
