# SPDX-License-Identifier: BSD-3-Clause
"""Makes every HDF5 library of this process find the filter plugin that came with this package."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ._errors import PLUGIN_MISSING, Error

_VARIABLE = "HDF5_PLUGIN_PATH"
# Wheels bring libraries of their own: libhdf5-9e18f0c6.so.320.0.0. Debian's is
# libhdf5_serial.so.103, VTK's libvtkhdf5.so or libvtkhdf5-9.4.so.9.4, whose functions have its name
# before theirs.
_HDF5_LIBRARY = re.compile(r"lib(vtk)?hdf5(_serial|_openmpi|_mpich)?[-.][^/]*$")
_PREFIXES = {None: "", "vtk": "vtkhdf5_"}
_LONGEST_PATH = 4096


def plugin_dir() -> Path:
    """The folder that holds the HDF5 plugin: for HDF5_PLUGIN_PATH of tools outside Python."""
    return Path(__file__).parent / "plugin"


class _PluginPath:
    """The folders that one HDF5 library looks into for plugins (H5PL, HDF5 1.10.1 and later)."""

    def __init__(self, library: ctypes.CDLL, prefix: str):
        self._size = library[f"{prefix}H5PLsize"]
        self._get = library[f"{prefix}H5PLget"]
        self._prepend = library[f"{prefix}H5PLprepend"]
        self._size.argtypes = [ctypes.POINTER(ctypes.c_uint)]
        self._get.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t]
        self._get.restype = ctypes.c_ssize_t
        self._prepend.argtypes = [ctypes.c_char_p]

    def folders(self) -> list[str]:
        count = ctypes.c_uint()
        if self._size(ctypes.byref(count)) < 0:
            return []
        buffer = ctypes.create_string_buffer(_LONGEST_PATH)
        return [
            os.fsdecode(buffer.value)
            for i in range(count.value)
            if self._get(i, buffer, _LONGEST_PATH) >= 0
        ]

    def prepend(self, folder: str) -> None:
        if folder not in self.folders():
            self._prepend(os.fsencode(folder))


def _loaded_libraries() -> Iterator[_PluginPath]:
    """Those of h5py, of netCDF4's wheel, of VTK's, of whatever else has brought one."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    paths = {line.split(maxsplit=5)[5] for line in maps.splitlines() if line.count("/")}
    for path in sorted(paths):
        found = _HDF5_LIBRARY.search(path)
        if found is None:
            continue
        try:
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
            yield _PluginPath(library, _PREFIXES[found[1]])
        except (OSError, AttributeError):
            continue  # deleted since, or older than H5PL: the environment variable serves it


def _folders_of_netcdf4() -> list[str]:
    """Where the netCDF4 package has plugins of its own. It tells its HDF5 of them by the variable,
    when it is imported, and only where the variable is not set.
    """
    try:
        spec = importlib.util.find_spec("netCDF4")
    except (ImportError, ValueError):
        return []
    packages = (spec.submodule_search_locations if spec is not None else None) or []
    folders = [Path(package) / "plugins" for package in packages]
    return [str(folder) for folder in folders if any(folder.glob("*nczhdf5filters*"))]


def _folders_of_h5py() -> list[str]:
    import h5py

    return [os.fsdecode(h5py.h5pl.get(i)) for i in range(h5py.h5pl.size())]


def _give_h5py_a_blosc_of_its_own() -> None:
    """netCDF4 may have put its folder on the path of h5py's library, too. The Blosc in there calls
    netCDF4's HDF5: h5py reads with it, but cannot write, and hdf5plugin leaves its own out where it
    finds one. It is therefore imported here, whether or not the program imports it later.
    """
    if not set(_folders_of_netcdf4()).intersection(_folders_of_h5py()):
        return
    try:
        import hdf5plugin
    except ImportError:
        return
    hdf5plugin.register("blosc", force=True)


def register() -> None:
    """Put plugin_dir() first on the plugin path of this process.

    Libraries that are loaded already are told directly. The environment variable serves those that
    are loaded later, and children (h5dump). Setting it takes away what it stood for while it was
    not set: HDF5's own folder, and netCDF4's, which are therefore named in it.
    """
    folder = str(plugin_dir())
    if not any(plugin_dir().glob("*.so")):
        raise Error(f"{folder}: no HDF5 plugin (*.so) in it; reinstall neve", PLUGIN_MISSING)
    # Before the variable changes: netCDF4's plugins are not for h5py's library.
    import h5py

    libraries = list(_loaded_libraries())
    if os.environ.get(_VARIABLE):
        others = os.environ[_VARIABLE].split(os.pathsep)
    else:
        others = [path for library in libraries for path in library.folders()]
        others += _folders_of_netcdf4()
    paths = dict.fromkeys([folder, *(path for path in others if path)])
    os.environ[_VARIABLE] = os.pathsep.join(paths)
    for library in libraries:
        library.prepend(folder)
    if folder not in _folders_of_h5py():
        h5py.h5pl.prepend(os.fsencode(folder))
    _give_h5py_a_blosc_of_its_own()
