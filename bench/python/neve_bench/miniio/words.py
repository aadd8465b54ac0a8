# SPDX-License-Identifier: BSD-3-Clause
"""The words of the report, each explained once."""

from __future__ import annotations

WORDS = (
    (
        "equal, unbalanced; balanced",
        "tiles of equal size; tiles with equally many valid points, by recursive bisection",
    ),
    ("tile", "a rank's rectangle of the grid's columns, at full depth"),
    ("valid, blanked", "points of water, and of land, which holds the fill value -999"),
    ("busiest / mean", "what the tile or rank with most has, over what they have on average"),
    (
        "tile bytes, tiles alone",
        "what a tile becomes where it is compressed by itself, in one piece",
    ),
    (
        "in the file",
        "bytes of the file by the rank that they are of. Chunks of HDF5 and netCDF are of the "
        "grid: each counts for the rank that has most of its values",
    ),
    (
        "hdf5-..., adios-mpi-..., neve...",
        "parallel HDF5 with its filters; ADIOS 1.13 by its transport MPI with its transforms; "
        "Neve's parallel writer (docs/miniapps.md has them all)",
    ),
    ("neve, zfp", "within 1e-4 of every value; the others keep every bit"),
    (
        "noise cells a point",
        "the frequency of the noise from one grid point to the next: the less, the smoother",
    ),
    ("weak", "--weak: every rank has the same grid, side by side, as smooth from point to point"),
    (
        "pairs, p",
        "runs of one repeat beside each other; how likely as many or more of them would be in "
        "favour if both were alike (a sign test, of both sides)",
    ),
    ("by the model", "by arithmetic for the paper's cores and its file system, which are not here"),
)
