# SPDX-License-Identifier: BSD-3-Clause
"""Makes HDF5 find the filter plugin that came with this package."""

from __future__ import annotations

import os
from pathlib import Path

from ._errors import PLUGIN_MISSING, Error


def plugin_dir() -> Path:
    """The folder that holds the HDF5 plugin: for HDF5_PLUGIN_PATH of tools outside Python."""
    return Path(__file__).parent / "plugin"


def register() -> None:
    """Put plugin_dir() first on the plugin path of this process.

    The environment variable serves other HDF5 libraries in the process and its children (netCDF4,
    h5dump) that read it when they start; h5py's own library may have started already and is told
    directly.
    """
    folder = plugin_dir()
    if not any(folder.glob("*.so")):
        raise Error(f"{folder}: no HDF5 plugin (*.so) in it; reinstall neve", PLUGIN_MISSING)
    paths = [str(folder)]
    paths += [
        p
        for p in os.environ.get("HDF5_PLUGIN_PATH", "").split(os.pathsep)
        if p and p != str(folder)
    ]
    os.environ["HDF5_PLUGIN_PATH"] = os.pathsep.join(paths)

    import h5py

    known = [h5py.h5pl.get(i) for i in range(h5py.h5pl.size())]
    if os.fsencode(folder) not in known:
        h5py.h5pl.prepend(os.fsencode(folder))
