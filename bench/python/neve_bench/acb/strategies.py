# SPDX-License-Identifier: BSD-3-Clause
"""The strategies: those of the model, and those that are measured."""

from __future__ import annotations

# Of the model, which counts what reaches MPI-IO, whoever calls it.
INDEPENDENT, COLLECTIVE, AGGREGATED = "independent", "collective", "aggregated"
METHODS = (INDEPENDENT, COLLECTIVE, AGGREGATED)  # the paper's three
SKELETON, COMPRESSED = "skeleton", "compressed"  # Neve's own

# Measured: the paper's three through HDF5, as Chombo calls it.
HDF5 = {
    INDEPENDENT: "hdf5-independent",
    COLLECTIVE: "hdf5-collective",
    AGGREGATED: "hdf5-aggregated",
}
HDF5_AGGREGATED_INDEPENDENT = "hdf5-aggregated-independent"
# Two phases by the rules of Cray's CB2, which reads nothing back.
CB2_COLLECTIVE, CB2_AGGREGATED = "cb2-collective", "cb2-aggregated"
UNCOMPRESSED = (
    *HDF5.values(),
    HDF5_AGGREGATED_INDEPENDENT,
    *METHODS,
    CB2_COLLECTIVE,
    CB2_AGGREGATED,
    SKELETON,
)
MEASURED = (*UNCOMPRESSED, COMPRESSED)

PAPERS_NAMES = {
    INDEPENDENT: "Ind. I/O",
    COLLECTIVE: "Coll. I/O",
    AGGREGATED: "ACB",
    SKELETON: "Neve skeleton",
    COMPRESSED: "Neve compressed",
}


def is_hdf5(name: str) -> bool:
    return name.startswith("hdf5-")


def label(name: str) -> str:
    """For people: the paper's name of its methods."""
    return PAPERS_NAMES.get(name, name)
