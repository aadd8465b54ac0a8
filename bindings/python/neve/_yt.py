# SPDX-License-Identifier: BSD-3-Clause
"""AMR plotfiles as yt datasets, with the domain at its true place.

yt reads the files with its Chombo reader, which takes the corner of cell 0 for the origin, and
cells for cubes.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from . import plotfile
from ._amr_file import NEVE_PLOTFILE, has_link
from ._errors import USAGE, Error
from ._hierarchy import Box, LevelInfo
from ._keywords import checks_keywords

# By coordinate_system: yt's name, and how far directions reach that a file lacks.
_COORDINATES = (
    ("CARTESIAN", (1.0, 1.0, 1.0)),
    ("CYLINDRICAL", (1.0, 1.0, 2 * np.pi)),
    ("SPHERICAL", (1.0, np.pi, 2 * np.pi)),
)


class _Place(NamedTuple):
    """Where the domain and its boxes lie."""

    left: np.ndarray
    width: np.ndarray
    levels: tuple[LevelInfo, ...]

    @classmethod
    def of(cls, path: str, widths: tuple[float, ...]) -> _Place:
        """`widths`: of directions that the file lacks."""
        with plotfile.open(path) as file:
            levels = tuple(
                LevelInfo(level.domain, level.boxes, level.dx, level.ref_ratio)
                for level in file.levels
            )
            left, width = np.zeros(3), np.array(widths)
            left[: file.dims] = file.prob_lo
            width[: file.dims] = np.array(levels[0].domain.shape) * np.array(levels[0].dx)
            return cls(left, width, levels)

    def cell_widths(self, level: int) -> np.ndarray:
        cells = np.ones(3)
        shape = self.levels[level].domain.shape
        cells[: len(shape)] = shape
        return self.width / cells

    def edges(self, level: int, box: Box) -> tuple[np.ndarray, np.ndarray]:
        """Both corners. Edges of different levels that touch are the same numbers: a fraction of
        the width, such as 3/8 or 6/16, is."""
        domain = self.levels[level].domain
        begin, end = np.zeros(3), np.ones(3)
        begin[: len(box.lo)] = (np.array(box.lo) - domain.lo) / np.array(domain.shape)
        end[: len(box.lo)] = (np.array(box.hi) + 1 - domain.lo) / np.array(domain.shape)
        return self.left + self.width * begin, self.left + self.width * end


@functools.cache
def _dataset_class() -> type:
    """Made on the first call: yt is large, and Neve does without it."""
    from yt.frontends.chombo.api import ChomboDataset, ChomboHierarchy
    from yt.geometry.api import Geometry

    class NeveHierarchy(ChomboHierarchy):  # type: ignore[misc]
        def _parse_index(self) -> None:
            super()._parse_index()
            place = self.dataset.place
            for level in range(len(self.dds_list)):
                self.dds_list[level] = place.cell_widths(level)
            for i, grid in enumerate(self.grids):
                box = place.levels[grid.Level].boxes[grid._level_id]
                self.grid_left_edge[i], self.grid_right_edge[i] = place.edges(grid.Level, box)

    class NeveDataset(ChomboDataset):  # type: ignore[misc]
        _index_class = NeveHierarchy

        def __new__(cls, *_args: Any, **_kwargs: Any) -> NeveDataset:
            # yt's own would hand out what yt.load has made of the same path.
            return object.__new__(cls)

        @classmethod
        def _is_valid(cls, *_args: Any, **_kwargs: Any) -> bool:
            return False  # never chosen by yt.load: who has called that expects yt's own

        def _parse_parameter_file(self) -> None:
            super()._parse_parameter_file()
            geometry, widths = _COORDINATES[int(self._handle.attrs.get("coordinate_system", 0))]
            self.geometry = getattr(Geometry, geometry)
            self.place = _Place.of(str(self.parameter_filename), widths)
            self.domain_left_edge = self.place.left.copy()
            self.domain_right_edge = self.place.left + self.place.width
            # As of AMReX's own files: nothing says that anything is periodic. (yt's points of a
            # periodic domain are lost where it lies further from 0 than its own width.)
            self._periodicity = (False, False, False)

    return NeveDataset


@checks_keywords
def load_yt(
    path: str | os.PathLike[str],
    *,
    units_override: Mapping[str, Any] | None = None,
    unit_system: str = "cgs",
    default_species_fields: str | None = None,
    hint: str | None = None,
) -> Any:
    """A yt dataset of a plotfile, as `yt.load(path)` gives, with the domain at its true place.

    yt.load of an HDF5 plotfile takes cell 0 for the origin of space and cells for cubes. Here the
    low corner is the plotfile's `prob_lo`, each direction has its own cell size, and none is
    periodic (`ds.force_periodicity()` makes them so). Files that yt places
    correctly itself (AMReX's directories, Chombo's files and checkpoints) are loaded by yt.

    Keywords are those of yt's datasets:
    units_override  what a code unit is: {"length_unit": (1, "kpc")}
    unit_system     unit system of the fields: "cgs", "mks", "code", "galactic", ...
    default_species_fields  "neutral" or "ionized": makes fields of elements the file has none of
    hint            yt's kind of dataset for a directory, if yt finds several

    Raises neve.Error if the file is not a plotfile, or is AMReX's own HDF5, and
    ModuleNotFoundError if yt is not installed.
    """
    import yt

    name = os.fspath(path)
    of_dataset = {
        "units_override": units_override,
        "unit_system": unit_system,
        "default_species_fields": default_species_fields,
    }
    if Path(name).is_dir():
        return yt.load(name, hint=hint, **of_dataset)
    with plotfile.open(name) as file:
        kind = file.kind
    if kind == NEVE_PLOTFILE:
        return _dataset_class()(name, **of_dataset)
    if _is_of_chombo(name):
        return yt.load(name, hint=hint, **of_dataset)
    raise Error(
        f"load_yt: {name} is AMReX's own HDF5, which yt does not read; `neve convert` makes a "
        "plotfile of it",
        USAGE,
    )


def _is_of_chombo(path: str) -> bool:
    with h5py.File(path) as file:
        return has_link(file, "Chombo_global")
