# SPDX-License-Identifier: BSD-3-Clause
"""The words of the report, each explained once."""

from __future__ import annotations

WORDS = (
    (
        "Ind. I/O, Coll. I/O, ACB",
        "the paper's three methods: a write a box by its rank alone; the same, collective, with "
        "empty calls of ranks that have no box left; all boxes of a rank in one collective write",
    ),
    (
        "by the model",
        "counted and priced by neve plan (docs/io-model.md) for the paper's machines, which are "
        "not here",
    ),
    ("measured here, traced here", "run on this machine: neve bench chombo, neve trace"),
    (
        "fitted, predicted",
        "the model's constants were fitted to section IV-B (figures 6 and 7) alone; every other "
        "speedup is predicted",
    ),
    (
        "hdf5-...",
        "the paper's methods as Chombo calls HDF5: H5Dwrite for each box, or a union of hyperslabs "
        "by H5S_SELECT_OR; hdf5-aggregated-independent is the union in independent mode",
    ),
    (
        "independent, collective, aggregated",
        "the same by Neve, through MPI-IO without HDF5",
    ),
    (
        "cb2-...",
        "two-phase writes by the rules of Cray's CB2 on Lustre: an aggregator a stripe count, "
        "writes cut at stripes, nothing read back",
    ),
    (
        "skeleton, compressed",
        "Neve's own: the file's structure first, then all boxes of a rank in one call; compressed, "
        "the same with frames, by default within 1e-3 of each level's range",
    ),
    ("structure", "writes of a file's headers and indices, beside the boxes' values"),
    (
        "bytes written / given (amplification)",
        "bytes that reach the file system over those given to MPI-IO; of strategies that call none "
        "(cb2-..., compressed), over the bytes of the file",
    ),
    (
        "may read and write back",
        "a strategy by which the MPI library may read a range of the file, change a part and write "
        "it whole; so it says itself",
    ),
    ("buffer", "what a strategy allocates to pack boxes, on the rank with most of it"),
    ("OST, stripe", "a disk server of Lustre; the piece of a file that lies on one"),
    ("ompio, romio", "the two implementations of MPI-IO in Open MPI"),
)
