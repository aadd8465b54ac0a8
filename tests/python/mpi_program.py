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

everywhere = neve.mpi.allgather(comm, field(rank, rank + 1), bound="abs=1e-3", threads=2)
wanted = np.concatenate([field(r, r + 1) for r in range(ranks)])
assert everywhere.shape == wanted.shape and everywhere.dtype == np.float32
assert np.abs(everywhere - wanted).max() <= 1e-3
assert all((other == everywhere).all() for other in comm.allgather(everywhere))
parts = neve.mpi.alltoall(comm, [field(rank, r + 1) for r in range(ranks)], bound="abs=1e-3")
for r, part in enumerate(parts):
    assert part.shape == (rank + 1, 20, 30) and np.abs(part - field(r, rank + 1)).max() <= 1e-3
assert (parts[rank] == field(rank, rank + 1)).all()
same = neve.mpi.bcast(comm, field(5) if rank == ranks - 1 else None, ranks - 1, "abs=1e-3")
assert same.shape == field(5).shape and np.abs(same - field(5)).max() <= 1e-3
sent = [field(r, r + 2) for r in range(ranks)] if rank == 0 else None
part = neve.mpi.scatter(comm, sent, bound="abs=1e-3", block_bytes=4096)
assert part.shape == (rank + 2, 20, 30) and np.abs(part - field(rank, rank + 2)).max() <= 1e-3
assert neve.mpi.alltoall(comm, [np.arange(r) for r in range(ranks)])[0].tolist() == list(
    range(rank)
)

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
for call, arguments, words in (
    (neve.mpi.allgather, (np.zeros((2, 3 if rank else 4)),), "shapes"),
    (neve.mpi.alltoall, ([np.zeros(2)] * (ranks + (rank == 0)),), "arrays; one for each"),
    (neve.mpi.bcast, (None,), "is None"),
    (neve.mpi.scatter, ([np.zeros(2)],), "arrays; one for each"),
):
    try:
        call(comm, *arguments)
        assert ranks == 1 and call in (neve.mpi.allgather, neve.mpi.scatter)
    except ValueError as error:
        assert words in str(error), error
try:
    neve.mpi.bcast(comm, np.zeros(3), bound="ratio=4")
    raise AssertionError("a ratio of a broadcast")
except neve.Error as error:
    assert "is for gathers" in str(error)
print(f"rank {rank} well")
