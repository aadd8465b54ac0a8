# SPDX-License-Identifier: BSD-3-Clause
"""Fields that ranks hold in boxes, written through views of subarrays: what the cuts cost."""

import numpy as np
import pytest

from .conftest import BUILD, shared

PROGRAM = BUILD / "bin" / "pmpi_subarrays"
FIELDS = ("echam_t", "um_theta", "wpx_Ex", "wrf_QV", "wrf_T", "wrf_W")
REL = 1e-3
# Ranks in each direction, the slowest first; the bytes of the array as a frame over those of a file
# of boxes of it, at least.
LEAST_SHARES = {
    (1, 1, 1): 0.99,
    (2, 2, 2): 0.97,
    (4, 1, 1): 0.97,
    (2, 2, 1): 0.96,
    (1, 4, 1): 0.96,
    (1, 1, 4): 0.95,
}


def file_of(neve, values, folder, grid):
    raw, out = folder / "raw", folder / "x".join(map(str, grid))
    raw.write_bytes(values.tobytes())
    ranks = int(np.prod(grid))
    neve(
        *("mpi", "run", "--bound", f"rel={REL}", "--always"),
        *("--min-bytes", 1, "--"),
        *("mpirun", "-n", ranks, PROGRAM, raw, out, *values.shape, *grid),
    )
    return out


def field_of(name):
    values = np.load(shared(f"arrays/{name}.npy"))
    return values.reshape(values.shape[-3:]).astype(np.float32)


@pytest.mark.parametrize("name", FIELDS)
def test_boxes_take_hardly_more_than_the_array(neve, tmp_path, name):
    values = field_of(name)
    np.save(tmp_path / "values.npy", values)
    frame = ("compress", tmp_path / "values.npy", tmp_path / "frame")
    neve(*frame, "--bound", f"rel={REL}", "--effort", "fast")
    bound = REL * float(np.nanmax(values) - np.nanmin(values)) * (1 + 1e-6)
    shares = {}
    for grid in LEAST_SHARES:
        path = file_of(neve, values, tmp_path, grid)
        shares[grid] = (tmp_path / "frame").stat().st_size / path.stat().st_size
        neve("mpi", "cat", path, "-o", tmp_path / "bytes")
        found = np.fromfile(tmp_path / "bytes", np.float32).reshape(values.shape)
        assert np.abs(found.astype(np.float64) - values).max() <= bound
    print(name, {grid: round(share, 4) for grid, share in shares.items()})
    assert all(share >= LEAST_SHARES[grid] for grid, share in shares.items()), shares
