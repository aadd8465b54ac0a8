# SPDX-License-Identifier: BSD-3-Clause
"""docs/format.md is enough: a decoder written from it gives the library's bits."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import reference_decoder
import reference_interpolation
from arrays import assert_same_bits, bits
from conftest import CHECKOUT
from hypothesis import given
from hypothesis import strategies as st

import neve
from neve import _core

GOLDEN = sorted((CHECKOUT / "tests" / "golden").glob("*.neve"))
NESTED = sorted((CHECKOUT / "tests" / "golden").glob("*.nested"))
FILTER_ID = 466


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_frames_of_every_release(path):
    expected = path.with_suffix(".xxh3").read_text().strip()
    decoded = reference_decoder.decode(path.read_bytes())
    assert str(reference_decoder.xxh3_64(decoded.tobytes())) == expected


def coarser(component: int, cell: tuple[int, ...]) -> float | None:
    """The level under the nested golden frames: KnownLevel of nested_test.cpp."""
    x, y, z, w = cell
    if (x + 2 * y + 3 * z + w) % 31 == 0:
        return None
    if (x - y + z) % 37 == 0:
        return np.nan
    if (x + y + 5 * z) % 41 == 0:
        return 1e20
    n = (5 * x + 3 * y + 7 * z + 11 * w) % 64
    return 0.25 * (x + y) + 0.125 * z + w + component + n / 1024


@pytest.mark.parametrize("path", NESTED, ids=lambda p: p.stem)
def test_nested_frames_of_every_release(path):
    expected = path.with_suffix(".xxh3").read_text().strip()
    decoded = reference_decoder.decode(path.read_bytes(), coarser)
    assert str(reference_decoder.xxh3_64(decoded.tobytes())) == expected


@pytest.mark.parametrize("path", NESTED, ids=lambda p: p.stem)
def test_nested_frames_are_refused_without_the_coarser_level(path):
    with pytest.raises(neve.Error, match="cross-level prediction.*HDF5 plugin"):
        frame = _core.Frame(path.read_bytes())
        frame.decode(np.empty(frame.element_count, "f8" if frame.is_double else "f4"), 1)


def test_there_are_golden_frames():
    assert GOLDEN and NESTED, "tests/golden is empty: the tests above have tested nothing"


@st.composite
def fields(draw: st.DrawFn) -> np.ndarray:
    """Smooth in some directions and rough in others, with special values strewn in."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    shape = draw(st.lists(st.integers(1, 24), min_size=1, max_size=5))
    while np.prod(shape) > 4000:
        shape[shape.index(max(shape))] //= 2
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    field = np.full(shape, draw(st.sampled_from([0.0, 300.0, -1e6])))
    for axis, size in enumerate(shape):
        wave = np.sin(np.arange(size) * random.uniform(0, 1)) * random.uniform(0, 2)
        field = field + wave.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    field += random.standard_normal(shape) * draw(st.sampled_from([0, 1e-4, 1e-2, 1]))
    if draw(st.booleans()):
        where = random.random(shape) < draw(st.sampled_from([0.01, 0.3]))
        special = [np.nan, np.inf, -np.inf, -0.0, 1e20, 7e15, 1e-30]
        field[where] = random.choice(special, int(where.sum()))
    return field.astype(dtype)


@given(
    field=fields(),
    rel=st.sampled_from([1e-1, 1e-3, 1e-6]),
    effort=st.sampled_from(["fast", "balanced", "max"]),
)
def test_arrays(field, rel, effort):
    frame = neve.compress(field, rel=rel, effort=effort, threads=1)
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))


@given(
    field=fields(),
    rel=st.sampled_from([1e-2, 1e-4]),
    arrangement=st.sampled_from(
        [(name, unit) for name in ("linear", "cluster") for unit in (8, 16, 64)]
        + [("in_place", None)]
    ),
)
def test_arranged_arrays(field, rel, arrangement):
    name, unit = arrangement
    frame = neve.compress(field, rel=rel, arrangement=name, unit=unit, threads=1)
    sections = neve.info(frame)["sections"]
    assert all(s["arrangement"] == name and s["unit"] == (unit or 0) for s in sections)
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))
    # What dual_quant decodes depends on the values alone, not on how they lie.
    straight = neve.compress(field, rel=rel, codec="dual_quant")
    frame = neve.compress(field, rel=rel, codec="dual_quant", arrangement=name, unit=unit)
    assert_same_bits(neve.decompress(frame), neve.decompress(straight))


@given(
    field=fields(),
    rel=st.sampled_from([1e-1, 1e-3, 1e-6]),
    effort=st.sampled_from(["fast", "balanced"]),
    arrangement=st.sampled_from(
        [("linear", None), ("linear", 8), ("cluster", 8), ("in_place", None)]
    ),
    block=st.sampled_from([None, 4, 6]),
    merge_units=st.booleans(),
)
def test_lorenzo_regression(field, rel, effort, arrangement, block, merge_units):
    name, unit = arrangement
    frame = neve.compress(
        field,
        rel=rel,
        codec="lorenzo_regression",
        effort=effort,
        arrangement=name,
        unit=unit,
        block=block,
        merge_units=merge_units and name == "linear",  # elsewhere it is refused
        threads=1,
    )
    assert {s["codec"] for s in neve.info(frame)["sections"]} <= {
        "lorenzo_regression",
        "constant",
        "exact",
    }
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))


@given(
    field=fields(),
    rel=st.sampled_from([1e-1, 1e-3, 1e-6]),
    codec=st.sampled_from(["interpolation", "context"]),
    arrangement=st.sampled_from(
        [("linear", None), ("linear", 8), ("cluster", 8), ("in_place", None)]
    ),
    merge_units=st.booleans(),
)
def test_interpolation(field, rel, codec, arrangement, merge_units):
    name, unit = arrangement
    frame = neve.compress(
        field,
        rel=rel,
        codec=codec,
        arrangement=name,
        unit=unit,
        merge_units=merge_units and name == "linear" and codec == "interpolation",
        threads=1,
    )
    used = {s["codec"] for s in neve.info(frame)["sections"]}
    assert used <= {codec, "constant", "exact"}
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))


@given(
    field=fields(),
    rel=st.sampled_from([3e-1, 1e-1, 1e-3, 1e-6]),
    effort=st.sampled_from(["fast", "balanced"]),
    arrangement=st.sampled_from(
        [("linear", None), ("linear", 8), ("cluster", 8), ("in_place", None)]
    ),
)
def test_axis_passes(field, rel, effort, arrangement):
    name, unit = arrangement
    frame = neve.compress(
        field, rel=rel, codec="axis_passes", effort=effort, arrangement=name, unit=unit, threads=1
    )
    used = {s["codec"] for s in neve.info(frame)["sections"]}
    assert used <= {"axis_passes", "constant", "exact"}
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5000,), (60, 70), (23, 23, 23), (3, 12, 14, 16), (1, 40, 1)])
def test_axis_passes_of_waves(dtype, shape):
    """Runs of zeros, escapes, listed values and special ones in one section."""
    field = waves(shape)
    flat = field.reshape(-1)
    flat[7 : flat.size // 3] = 1
    flat[[5, 6, 9, 13]] = [np.nan, -0.0, 3e6, 1e30]
    frame = neve.compress(field.astype(dtype), abs=1e-2, codec="axis_passes", threads=1)
    assert {s["codec"] for s in neve.info(frame)["sections"]} == {"axis_passes"}
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))


LOSSLESS_METHODS = (
    ["zstd", "lz4", "shuffle-zstd", "shuffle-lz4", "bitshuffle-zstd", "bitshuffle-lz4", "xor-zstd"]
    + [f"{how}-{coder}" for how in ("B", "BW", "BWXOR") for coder in ("LZO", "zlib", "bzip2")]
    + ["lorenzo", "multiple", "rank", "auto"]
)


@given(
    field=fields(),
    method=st.sampled_from(LOSSLESS_METHODS),
    arrangement=st.sampled_from(["linear", "in_place"]),
    digits=st.sampled_from([None, 0, 2]),
    effort=st.sampled_from(["fast", "balanced", "max"]),
)
def test_lossless_methods(field, method, arrangement, digits, effort):
    if digits is not None:
        with np.errstate(over="ignore"):
            field = np.round(field, digits)
    frame = neve.compress(
        field,
        lossless=True,
        method=method,
        arrangement=arrangement,
        effort=effort,
        threads=1,
    )
    assert {s["codec"] for s in neve.info(frame)["sections"]} <= {"lossless", "constant"}
    assert_same_bits(neve.decompress(frame), field)
    assert_same_bits(reference_decoder.decode(frame), field)


def waves(shape: tuple[int, ...]) -> np.ndarray:
    """Oblique and short: interpolation along the directions alone does badly."""
    random = np.random.default_rng(7)
    field = np.zeros(shape)
    for _ in range(4):
        phase = random.uniform(0, 6)
        for axis, size in enumerate(shape):
            at = np.arange(size) * random.uniform(0.3, 1.2)
            phase = phase + at.reshape([-1 if d == axis else 1 for d in range(len(shape))])
        field += np.sin(phase)
    return field + 1e-3 * random.standard_normal(shape)


@pytest.mark.parametrize("codec", ["interpolation", "context"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(700,), (40, 50), (23, 23, 23), (3, 12, 14, 16)])
def test_interpolation_with_stencils(codec, dtype, shape, monkeypatch):
    """Fields large enough for stencils to be worth their weights, up to blends of all experts."""
    max_experts = 0
    blend = reference_interpolation.blend

    def count_experts(p, estimates):
        nonlocal max_experts
        max_experts = max(max_experts, len(p))
        return blend(p, estimates)

    monkeypatch.setattr(reference_interpolation, "blend", count_experts)
    field = waves(shape)
    field.reshape(-1)[[5, 60, 333]] = [np.nan, -0.0, 1e20]
    frame = neve.compress(field.astype(dtype), abs=1e-3, codec=codec, threads=1)
    assert {s["codec"] for s in neve.info(frame)["sections"]} == {codec}
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))
    assert max_experts == min(len(shape), 3) + (len(shape) <= 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lossless_arrays(dtype):
    field = np.random.default_rng(5).standard_normal((7, 50)).astype(dtype)
    field[0, :3] = [np.nan, -0.0, np.inf]
    frame = neve.compress(field, lossless=True)
    assert_same_bits(reference_decoder.decode(frame), field)


@pytest.mark.parametrize("asked", [{"ratio": 5}, {"psnr": 60}])
def test_a_ratio_or_a_psnr(asked):
    frame = neve.compress(np.sin(np.arange(4000, dtype=np.float32) / 50), **asked)
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))


def test_an_array_of_several_tiles():
    """More cells than a tile has, with sides that halve unevenly."""
    field = np.zeros((3, 701, 1003), np.float32)
    field[1, 300:400, 5] = np.linspace(0, 1, 100)
    field[2, :, 900:] = np.nan
    frame = neve.compress(field, abs=1e-3)
    assert len(neve.info(frame)["sections"]) > 1
    assert_same_bits(reference_decoder.decode(frame), neve.decompress(frame))


def chunks_of(dataset: h5py.Dataset):
    for number in range(dataset.id.get_num_chunks()):
        chunk = dataset.id.get_chunk_info(number)
        _, data = dataset.id.read_direct_chunk(chunk.chunk_offset)
        yield chunk.chunk_offset, data


def test_chunks_of_a_filtered_dataset(tmp_path):
    """Through the plugin h5py gets what the frames hold, edge chunks included."""
    field = np.sin(np.arange(30 * 41.0)).reshape(30, 41).astype(np.float32)
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("a", data=field, chunks=(16, 16), **neve.Filter(abs=1e-3))
    with h5py.File(tmp_path / "f.h5") as file:
        dataset = file["a"]
        (filter_id, words) = next(
            (number, values)
            for number, _, values, _ in (
                dataset.id.get_create_plist().get_filter(i)
                for i in range(dataset.id.get_create_plist().get_nfilters())
            )
        )
        bound = np.float64(1e-3).view(np.uint64)
        user = [2, 1, int(bound & 0xFFFFFFFF), int(bound >> np.uint64(32)), 0, 0, 66, 0, 0, 0]
        assert filter_id == FILTER_ID
        assert list(words) == [*user, 0, 2, 16, 0, 16, 0]
        read = dataset[...]
        for offset, data in chunks_of(dataset):
            where = tuple(slice(o, o + 16) for o in offset)
            part = read[where]
            decoded = reference_decoder.decode(data)
            assert decoded.shape == (16, 16)
            assert_same_bits(decoded[tuple(slice(n) for n in part.shape)], part)


def test_chunks_of_a_plotfile(converted):
    """Where the document says a box's values are, there they are."""
    with h5py.File(converted) as file, neve.open(converted) as plotfile:
        assert file["neve"].attrs["layout_version"] == 1
        for level in plotfile.levels:
            group = file[f"level_{level.index}"]
            dataset = group["data:datatype=0"]
            elements = np.zeros(dataset.shape, dataset.dtype)
            for (begin,), data in chunks_of(dataset):
                elements[begin : begin + dataset.chunks[0]] = reference_decoder.decode(data)
            assert_same_bits(elements, dataset[...])
            offsets = group["data:offsets=0"][...]
            assert offsets[-1] == len(elements)
            for number, box in enumerate(level.boxes):
                for component, name in enumerate(plotfile.components):
                    begin = offsets[number] + component * box.cells
                    found = elements[begin : begin + box.cells].reshape(box.shape, order="F")
                    held = ~level[name].left_out(number)
                    assert (bits(found)[held] == bits(level[name][number])[held]).all()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_it_refuses_what_the_library_refuses(path):
    whole = path.read_bytes()
    flips = np.random.default_rng(1).integers(0, 8 * len(whole), 40)
    cuts = np.random.default_rng(2).integers(0, len(whole), 10)
    damaged = [whole[:cut] for cut in cuts]
    for flip in flips:
        copy = bytearray(whole)
        copy[flip // 8] ^= 1 << (flip % 8)
        damaged.append(bytes(copy))
    for data in damaged:
        with pytest.raises(reference_decoder.Refused):
            reference_decoder.decode(data)
        with pytest.raises(neve.Error):
            neve.decompress(data)
