# SPDX-License-Identifier: BSD-3-Clause
"""What test_mpi.py runs under mpirun: neve.mpi on all ranks. Its argument: the folder for files."""

import sys

import numpy as np
from mpi4py import MPI

import neve
import neve.mpi

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size


def field(r: int, layers: int = 6) -> np.ndarray:
    z, y, x = np.mgrid[0:layers, 0:20, 0:30]
    return (np.sin(0.1 * x + r) * np.cos(0.2 * y) + 0.1 * z).astype(np.float32)


# As many layers as the rank says, the last rank at root.
whole = neve.mpi.gather(
    comm, field(rank, rank + 1), root=ranks - 1, bound="abs=1e-3", block_bytes=4096
)
assert (whole is None) == (rank != ranks - 1)
if whole is not None:
    wanted = np.concatenate([field(r, r + 1) for r in range(ranks)])
    assert whole.shape == wanted.shape and whole.dtype == np.float32
    assert 0 < np.abs(whole - wanted).max() <= 1e-3 or ranks == 1
numbers = neve.mpi.gather(comm, np.arange(5) + 10 * rank)
if rank == 0:
    assert numbers.tolist() == [10 * r + i for r in range(ranks) for i in range(5)]

if ranks > 1 and rank == ranks - 1:
    neve.mpi.send(comm, field(7), 0, tag=3, bound="lossless")
if ranks > 1 and rank == 0:
    out = np.zeros(5000, np.float32)
    assert neve.mpi.recv(comm, out, tag=3, threads=2) == field(7).size
    assert (out[: field(7).size] == field(7).ravel()).all()

path = sys.argv[1] + "/values.neve"
count = field(0).size
with neve.mpi.File(comm, path, "w") as file:
    assert file.dtype is None
    file.write_at_all(rank * count, field(rank), bound="abs=1e-3", effort="fast")
with neve.mpi.File(comm, path, "a") as file:
    if rank == 0:
        file.write_at(ranks * count, np.ones(3, np.float32), bound="lossless")
with neve.mpi.File(comm, path) as file:
    assert len(file) == ranks * count + 3 and file.dtype == np.float32
    other = (rank + 1) % ranks
    assert np.abs(file.read_at_all(other * count, count) - field(other).ravel()).max() <= 1e-3
    assert file.read_at(ranks * count, 3).tolist() == [1, 1, 1]
    try:
        file.read_at(ranks * count, 4)
        raise AssertionError("values beyond the end")
    except neve.Error as error:
        assert error.code == 2 and "the file holds" in str(error)

try:  # one rank's error is everybody's
    neve.mpi.gather(comm, field(0), bound="abs=-1" if rank == ranks - 1 else "abs=1")
    raise AssertionError("a negative bound")
except neve.Error as error:
    assert error.code == 2 and "-1" in str(error)
try:
    neve.mpi.gather(comm, np.zeros((2, 3 if rank else 4)))
    assert ranks == 1
except ValueError as error:
    assert "shapes" in str(error)
print(f"rank {rank} well")
