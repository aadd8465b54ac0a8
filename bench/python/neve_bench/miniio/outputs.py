# SPDX-License-Identifier: BSD-3-Clause
"""The outputs of the mini-apps that the items look at, by their names in `neve bench struct`."""

from __future__ import annotations

RAW = "raw"
HDF5, ADIOS = "hdf5", "adios-mpi"
ZLIB, SZIP, SHUFFLE, ZFP = "hdf5-zlib", "hdf5-szip", "hdf5-shuffle-zlib", "hdf5-zfp"
HDF5_NEVE, HDF5_NEVE_LOSSLESS = "hdf5-neve", "hdf5-neve-lossless"
NEVE, NEVE_LOSSLESS, NEVE_PLAIN = "neve", "neve-lossless", "neve-none"
ADIOS_ZLIB, ADIOS_ZFP, ADIOS_ZFP_C_ORDER = (
    "adios-mpi-zlib",
    "adios-mpi-zfp",
    "adios-mpi-zfp-c-order",
)

HDF5_FILTERS = (ZLIB, SZIP, SHUFFLE)  # those that the paper has
TRANSPORTS = ("adios-posix", "adios-mpi", "adios-lustre", "adios-aggregate")
TRANSFORMS = ("zlib", "szip", "zfp")
UNCOMPRESSED = (RAW, HDF5, ADIOS, NEVE_PLAIN)
# Whose writes are timed, compressed ones beside the same container without compression.
PLAIN_OF = {
    ZLIB: HDF5,
    SZIP: HDF5,
    SHUFFLE: HDF5,
    ZFP: HDF5,
    HDF5_NEVE_LOSSLESS: HDF5,
    HDF5_NEVE: HDF5,
    ADIOS_ZLIB: ADIOS,
    ADIOS_ZFP: ADIOS,
    NEVE_LOSSLESS: NEVE_PLAIN,
    NEVE: NEVE_PLAIN,
}
TIMED = (HDF5, ADIOS, NEVE_PLAIN, *PLAIN_OF)
PAPERS = (HDF5, ZLIB, SZIP, SHUFFLE, ADIOS, ADIOS_ZLIB, ADIOS_ZFP, ZFP)
# Whose tiles are counted: every compression once.
LOSSLESS = (ZLIB, SZIP, SHUFFLE, HDF5_NEVE_LOSSLESS, NEVE_LOSSLESS)
BOUNDED = (ZFP, HDF5_NEVE, NEVE)
COUNTED = (*LOSSLESS, *BOUNDED)


def is_papers(output: str) -> bool:
    return "neve" not in output
