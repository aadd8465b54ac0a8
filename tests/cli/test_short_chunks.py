# SPDX-License-Identifier: BSD-3-Clause
"""Chunks that are stored with fewer or more bytes than they need: HDF5 takes them as they are."""

import struct

import h5py
import numpy as np
import pytest

VALUES = np.arange(4096, dtype="f4")
CHUNK = 1024
ALL_SKIPPED = 0xFFFFFFFF

PIPELINES = {
    "none": ({}, 0),
    "deflate skipped": ({"compression": "gzip"}, ALL_SKIPPED),
    "shuffle": ({"shuffle": True}, 0),
    "shuffle, deflate skipped": ({"shuffle": True, "compression": "gzip"}, 0b10),
    "checksum skipped": ({"fletcher32": True}, ALL_SKIPPED),
}


def make(path, pipeline, stored_bytes):
    """A dataset whose second chunk has so many bytes."""
    properties, mask = PIPELINES[pipeline]
    with h5py.File(path, "w") as file:
        file["sound"] = VALUES
        d = file.create_dataset("d", VALUES.shape, "f4", chunks=(CHUNK,), **properties)
        for first in range(0, VALUES.size, CHUNK):
            values = VALUES[first : first + CHUNK]
            if first == CHUNK:
                content = (values.tobytes() * 3)[:stored_bytes]
                d.id.write_direct_chunk((first,), content, mask)
            else:
                d[first : first + CHUNK] = values
    return path


@pytest.mark.parametrize("stored_bytes", [9, 4095, 10_000])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_what_is_no_whole_chunk_is_refused(neve, tmp_path, pipeline, stored_bytes):
    source, copy = make(tmp_path / "a.h5", pipeline, stored_bytes), tmp_path / "b.h5"
    # More than a chunk has room, and harms nobody; of chunks without filters none is right.
    is_refused = stored_bytes < 4096 or pipeline == "none"
    done = neve("convert", source, copy, expect=4 if is_refused else 0)
    assert "/d" in done.err or not is_refused
    assert copy.exists() == (not is_refused)
    # Chunks under filters that stay are copied as they are stored.
    neve("convert", source, copy, "--field", "d:unchanged", expect=4 if pipeline == "none" else 0)
    done = neve("verify", source, source, expect=4 if is_refused else 0)
    assert "/d" in done.err or not is_refused


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_whole_chunks_without_their_filters_are_read(neve, tmp_path, pipeline):
    if pipeline == "shuffle" or pipeline == "shuffle, deflate skipped":
        stored = VALUES[CHUNK : 2 * CHUNK].view("u1").reshape(-1, 4).T.tobytes()
    else:
        stored = VALUES[CHUNK : 2 * CHUNK].tobytes()
    source = make(tmp_path / "a.h5", pipeline, 4096)
    with h5py.File(source, "r+") as file:
        file["d"].id.write_direct_chunk((CHUNK,), stored, PIPELINES[pipeline][1])
    for extra in ((), ("--field", "d:unchanged")):
        neve("convert", source, tmp_path / "b.h5", *extra, "--restart")
        assert neve("verify", source, tmp_path / "b.h5", "--json").json["ok"]
        (tmp_path / "b.h5").unlink()


def test_a_plotfile(neve, tmp_path):
    """Of Chombo's kind, with values and boxes under filters."""
    source = tmp_path / "a.h5"
    box = np.array(
        [(0, 0, 0, 15, 15, 15)], dtype=[(f"{end}_{d}", "i4") for end in ("lo", "hi") for d in "ijk"]
    )
    with h5py.File(source, "w") as file:
        file.attrs.update(num_components=1, num_levels=1, component_0="u")
        file["Chombo_global"] = np.zeros(0)
        del file["Chombo_global"]
        file.create_group("Chombo_global").attrs["SpaceDim"] = np.int32(3)
        level = file.create_group("level_0")
        level.attrs.update(dx=1.0, dt=0.1, time=0.0, ref_ratio=np.int32(2))
        level.attrs["prob_domain"] = box[0]
        level.create_dataset("boxes", data=box, chunks=(1,), shuffle=True)
        level["data:offsets=0"] = np.array([0, 4096], "i8")
        data = level.create_dataset(
            "data:datatype=0", (4096,), "f8", chunks=(4096,), compression="gzip"
        )
        data[...] = np.arange(4096)
        level.create_group("data_attributes").attrs["comps"] = np.int32(1)
    neve("convert", source, tmp_path / "b.h5")
    neve("verify", source, tmp_path / "b.h5")
    for name, chunk in (("data:datatype=0", 0xFFFFFFFF), ("boxes", 0)):
        with h5py.File(source, "r+") as file:
            file["level_0"][name].id.write_direct_chunk((0,), b"123456789", chunk)
        assert name in neve("convert", source, tmp_path / "c.h5", expect=4).err


def test_sources_of_a_virtual_dataset(neve, tmp_path):
    make(tmp_path / "a.h5", "deflate skipped", 9)
    layout = h5py.VirtualLayout((VALUES.size,), "f4")
    layout[:] = h5py.VirtualSource("a.h5", "d", (VALUES.size,))
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.create_virtual_dataset("v", layout)
    assert "a.h5: d: " in neve("convert", tmp_path / "v.h5", tmp_path / "b.h5", expect=4).err
    assert "a.h5: d: " in neve("verify", tmp_path / "v.h5", tmp_path / "v.h5", expect=4).err
    neve("info", tmp_path / "v.h5")  # reads no values


@pytest.mark.parametrize("kind", ["text", "reference"])
def test_values_that_are_elsewhere(neve, tmp_path, kind):
    """In the file a text takes 16 bytes, in memory 8."""
    dtype = h5py.string_dtype() if kind == "text" else h5py.ref_dtype
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = VALUES
        d = file.create_dataset("d", (CHUNK,), dtype, chunks=(CHUNK,), compression="gzip")
        d[...] = ["words"] * CHUNK if kind == "text" else [file["x"].ref] * CHUNK
    neve("convert", tmp_path / "a.h5", tmp_path / "sound.h5")
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        d = file["d"]
        d.id.write_direct_chunk((0,), bytes(8 * CHUNK - (kind != "text")), ALL_SKIPPED)
    assert "/d" in neve("convert", tmp_path / "a.h5", tmp_path / "b.h5", expect=4).err


@pytest.mark.parametrize("filters", [{}, {"compression": "gzip"}])
def test_chunks_without_end(neve, tmp_path, filters):
    """More bytes than HDF5 counts, so that they come to none."""
    path, sides = tmp_path / "a.h5", (119, 121, 123, 125)
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (130,) * 4, "f4", chunks=sides, maxshape=(None,) * 4, **filters)
    content = path.read_bytes()
    assert content.count(struct.pack("<4I", *sides)) == 1
    huge = struct.pack("<4I", 65536, 65536, 65536, 16384)
    path.write_bytes(content.replace(struct.pack("<4I", *sides), huge))
    for words in (("info", path), ("convert", path, tmp_path / "b.h5"), ("verify", path, path)):
        assert "/d" in neve(*words, expect=4).err


def test_references_of_short_addresses_are_refused(neve, tmp_path):
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_sizes(4, 4)
    path = tmp_path / "a.h5"
    file = h5py.File(h5py.h5f.create(bytes(path), fcpl=creation))
    file["x"] = VALUES
    file.close()
    neve("convert", path, tmp_path / "b.h5")
    with h5py.File(path, "r+") as file:
        file.create_dataset("d", (5,), h5py.ref_dtype)[...] = [file["x"].ref] * 5
    assert "/d: references" in neve("convert", path, tmp_path / "c.h5", expect=2).err
