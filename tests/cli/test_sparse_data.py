# SPDX-License-Identifier: BSD-3-Clause
"""Datasets of which next to nothing was written: what a small file says of their size is free."""

import json
import sys

import h5py
import numpy as np
import pytest

from .conftest import peak_bytes, run_as_stranger

WAVES = np.sin(np.arange(2**16) * 0.01).astype("f4") + 280
AT = 3 * 2**38  # of the one chunk that was written


def contiguous(file, folder):
    del folder
    return file.create_dataset("d", (2**45,), "f4", fillvalue=7)


def chunked(file, folder):
    del folder
    d = file.create_dataset("d", (2**40,), "f4", chunks=(2**16,), fillvalue=7)
    d[AT : AT + 2**16] = WAVES
    return d


def chunked_2d(file, folder):
    del folder
    d = file.create_dataset("d", (2**20, 2**20), "f4", chunks=(2**8, 2**8), fillvalue=7)
    d[2**19 : 2**19 + 2**8, 2**18 : 2**18 + 2**8] = WAVES.reshape(2**8, 2**8)
    return d


def virtual(file, folder):
    with h5py.File(folder / "source.h5", "w") as source:
        source["s"] = WAVES
    layout = h5py.VirtualLayout((2**42,), "f4")
    layout[AT : AT + 2**16] = h5py.VirtualSource("source.h5", "s", (2**16,))
    return file.create_virtual_dataset("d", layout, fillvalue=7)


READ = """
import json, sys, h5py, numpy as np
d, at = h5py.File(sys.argv[1])["d"], 3 * 2**38
if d.ndim == 2:
    found, away = d[2**19 : 2**19 + 2**8, 2**18 : 2**18 + 2**8].ravel(), d[5, :100]
else:
    found, away = d[at : at + 2**16], d[5:100]
error = float(abs(found - np.load(sys.argv[2])).max())
print(json.dumps({"shape": d.shape, "error": error, "away": sorted(set(away.tolist()))}))
"""


@pytest.mark.parametrize("bound", ["lossless", "abs=1e-3", "rel=1e-3"])
@pytest.mark.parametrize("make", [contiguous, chunked, chunked_2d, virtual])
def test_what_nobody_wrote_is_not_gone_through(neve, tmp_path, make, bound):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        shape = make(file, tmp_path).shape
    neve("info", tmp_path / "a.h5")
    neve("convert", tmp_path / "a.h5", tmp_path / "b.h5", "--bound", bound)
    assert neve("verify", tmp_path / "a.h5", tmp_path / "b.h5", "--json").json["ok"]
    assert (tmp_path / "b.h5").stat().st_size < 500_000
    if make is contiguous:
        return
    np.save(tmp_path / "waves.npy", WAVES)
    found = json.loads(
        run_as_stranger(sys.executable, "-c", READ, tmp_path / "b.h5", tmp_path / "waves.npy")
    )
    assert found["shape"] == list(shape) and found["away"] == [7.0]
    # A range is of what was written.
    limits = {"lossless": 0, "abs=1e-3": 1e-3, "rel=1e-3": 1e-3 * np.ptp(WAVES) * (1 + 1e-9)}
    assert found["error"] <= limits[bound]


EVERYTHING = """
import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as a, h5py.File(sys.argv[2]) as b:
    for name in a:
        assert np.array_equal(a[name][...], b[name][...]), name
"""


@pytest.mark.parametrize("libver", ["earliest", "v110"])
@pytest.mark.parametrize("chunk_bytes", [None, 65_536, 2**22])
def test_every_kind_of_chunk_index(neve, tmp_path, libver, chunk_bytes):
    """HDF5 has five, by format and unlimited dimensions; some give wrong places of chunks."""
    rng = np.random.default_rng(7)
    with h5py.File(tmp_path / "a.h5", "w", libver=(libver, "v110")) as file:
        for n in range(60):
            rank = int(rng.integers(1, 4))
            dims = tuple(int(d) for d in rng.integers(1, (5000, 300, 40)[rank - 1], rank))
            chunks = tuple(int(rng.integers(1, d + 1)) for d in dims)
            chunks = tuple(max(c, d // 20 + 1) for c, d in zip(chunks, dims, strict=True))
            most = tuple(None if rng.random() < 0.4 else d for d in dims)
            options = {"compression": "gzip"} if rng.random() < 0.3 else {}
            d = file.create_dataset(
                f"d{n}", dims, "f4", chunks=chunks, maxshape=most, fillvalue=3, **options
            )
            if rng.random() < 0.4:
                d[...] = rng.random(dims).astype("f4")
            else:
                for _ in range(int(rng.integers(0, 4))):
                    at = tuple(int(rng.integers(0, size)) for size in dims)
                    d[at] = rng.random()
    options = ("--chunk-size", chunk_bytes) if chunk_bytes else ()
    neve("convert", tmp_path / "a.h5", tmp_path / "b.h5", *options)
    run_as_stranger(sys.executable, "-c", EVERYTHING, tmp_path / "a.h5", tmp_path / "b.h5")
    assert neve("verify", tmp_path / "a.h5", tmp_path / "b.h5", "--json").json["ok"]


def test_a_change_far_away_is_found(neve, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        chunked(file, tmp_path)
    with h5py.File(tmp_path / "b.h5", "w") as file:
        chunked(file, tmp_path)[2**39 + 5] = 8  # where the other has nothing
    for pair in (("a.h5", "b.h5"), ("b.h5", "a.h5")):
        found = neve("verify", *(tmp_path / name for name in pair), "--json", expect=3)
        assert not found.json["ok"]


def test_many_small_chunks_take_no_memory_each(tmp_path):
    """HDF5 keeps some 7 KB for each chunk that one read touches."""
    chunks = 200_000
    with h5py.File(tmp_path / "a.h5", "w") as file:
        values = np.arange(chunks * 8, dtype="f4")
        file.create_dataset("d", (chunks * 8,), "f4", chunks=(8,), data=values)
    most = 300 * 2**20
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    assert peak_bytes("convert", a, b, "--chunk-size", 2**22) < most
    assert peak_bytes("verify", a, b) < most
    assert peak_bytes("verify", a, a) < most
