# SPDX-License-Identifier: BSD-3-Clause
"""Chunks that are stored with fewer or more bytes than they need: HDF5 takes them as they are."""

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
    neve("convert", source, copy, "--field", "d:stays", expect=4 if pipeline == "none" else 0)
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
    for extra in ((), ("--field", "d:stays")):
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
