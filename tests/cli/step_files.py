# SPDX-License-Identifier: BSD-3-Clause
"""Time steps as files: variables whose best method changes at known steps, and awkward ones."""

import h5py
import numpy as np

SHAPE = (4, 60, 80)
CHUNK = (1, 60, 80)
CHANGE = 3  # the step at which the best method of `turning` becomes another


def fields(step):
    rng = np.random.default_rng(100 + step)
    # (Not a wave: its ranks take less than differences, which effort fast does not see.)
    walk = np.random.default_rng(7).standard_normal(SHAPE).cumsum() / 100
    smooth = (walk + 10 + 0.1 * step).reshape(SHAPE).astype("f4")
    coarse = (rng.integers(0, 40, SHAPE) * 0.25).astype("f4")
    holes = np.where(rng.random(SHAPE) < 0.3, np.nan, smooth).astype("f4")
    filled = np.where(rng.random(SHAPE) < 0.3, -999.0, coarse).astype("f8")
    return {
        "smooth": smooth,
        "turning": smooth if step < CHANGE else coarse,
        "holes": holes,
        "filled": filled,
        "counts": (np.arange(np.prod(SHAPE)) // 50 + step).reshape(SHAPE).astype("i4"),
        "noise": rng.bytes(int(np.prod(SHAPE)) * 4),
    }


def write(path, step):
    with h5py.File(path, "w") as file:
        for name, values in fields(step).items():
            if name == "noise":
                values = np.frombuffer(values, "u4").reshape(SHAPE)
            made = file.create_dataset(name, data=values, chunks=CHUNK)
            if name == "filled":
                made.attrs["_FillValue"] = np.float64(-999)
        file["one"] = np.float32(step)
        file["ones"] = np.full(1, step, "f8")
        file.attrs["step"] = step


def make(folder, count):
    """Files step_0.h5, step_1.h5, ... in a new folder."""
    folder.mkdir()
    paths = [folder / f"step_{step}.h5" for step in range(count)]
    for step, path in enumerate(paths):
        write(path, step)
    return paths


def frames(path):
    """The stored chunks of every chunked dataset, with their filter masks."""
    found = {}
    with h5py.File(path) as file:

        def look(name, item):
            if isinstance(item, h5py.Dataset) and item.chunks:
                for i in range(item.id.get_num_chunks()):
                    first = item.id.get_chunk_info(i).chunk_offset
                    found[name, first] = item.id.read_direct_chunk(first)

        file.visititems(look)
    return found
