# SPDX-License-Identifier: BSD-3-Clause
"""What an HDF5 file in Chombo's layout is, and what variables it holds.

The twin of hdf5/amr_file and hdf5/boxed_datasets for h5py, which brings its own HDF5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from ._errors import CORRUPT, Error
from ._referring import name_of_source

NEVE_PLOTFILE = "Neve HDF5"
NEVE_CHECKPOINT = "Neve checkpoint"
CHOMBO_CHECKPOINT = "Chombo checkpoint"

_RESTART = re.compile(r"tag_buffer_size|(regrid_interval|steps_since_regrid|is_periodic)_\d+")
_BOXED = re.compile(r"(.*):datatype=(\d+)", re.DOTALL)


class Variable(NamedTuple):
    """Values that lie together in one dataset of each level."""

    base: str  # of the datasets' names: "data", "thickness", "velocityData"
    name: str | None  # before the components' names; None: those stand alone
    components: tuple[str, ...]
    ghosts: tuple[int, ...] | None  # None: the file says it for each level

    def field_names(self) -> list[str]:
        if self.name is None:
            return list(self.components)
        return [
            name if len(self.components) == 1 and name == self.name else f"{self.name} {name}"
            for name in self.components
        ]


def is_amr_file(file: h5py.File) -> bool:
    """Whether it is a plotfile or a checkpoint, and no data file."""
    return has_link(file, "Chombo_global") or (
        "num_levels" in file.attrs and has_link(file, "level_0")
    )


def has_boxes(file: h5py.File) -> bool:
    """Whether it says that it has levels of boxes, complete or not."""
    return has_link(file, "Chombo_global") or "num_levels" in file.attrs


def has_link(group: h5py.Group, name: str) -> bool:
    """As `name in group`, for a file that _external_files has not checked yet: `in` opens what an
    external link leads to.
    """
    return bool(group.id.links.exists(name.encode()))


def refuse_for_vtk(file: h5py.File, path: Path) -> None:
    """Refuses what `neve convert SRC x.vtkhdf` makes of an HDF5 file: a group for VTK alone."""
    if not isinstance(file.get("VTKHDF", getlink=True), h5py.HardLink) or is_amr_file(file):
        return
    named: list[str] = []

    def look(_: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset) and item.is_virtual:
            named.extend(name_of_source(place.file_name) for place in item.virtual_sources())

    file["VTKHDF"].visititems(look)
    of = f"{named[0]}, to which it refers" if named else "the plotfile of which it was made"
    raise Error(f"{path} is for VTK and holds no levels of a plotfile: use {of}")


def refuse_data_file(file: h5py.File, path: Path) -> None:
    """Refuses what has nothing of a plotfile or checkpoint; a damaged one has something."""
    refuse_for_vtk(file, path)
    if not any(has_link(file, name) for name in ("Chombo_global", "neve", "level_0")):
        if "num_levels" not in file.attrs:
            raise Error(says_data_file(path))


def says_data_file(path: Path) -> str:
    return f"{path} is a data file; neve.open is for plotfiles and checkpoints"


def is_data_file(path: Path) -> bool:
    """Whether HDF5 opens it and finds neither a plotfile nor a checkpoint. What is for VTK alone is
    refused.
    """
    if not h5py.is_hdf5(path):
        return False
    try:
        with h5py.File(path, "r") as file:
            refuse_for_vtk(file, path)
            return not is_amr_file(file)
    except OSError:
        return False


def kind_of(file: h5py.File) -> str:
    """As io/hdf5/amr_file.hpp, but for files without Chombo_global, which AMReX may write."""
    if "neve" in file:
        return NEVE_CHECKPOINT if "neve/variables" in file else NEVE_PLOTFILE
    if "plotfile_type" not in file.attrs and _is_chombo_checkpoint(file):
        return CHOMBO_CHECKPOINT
    return "Chombo or AMReX HDF5"


def _is_chombo_checkpoint(file: h5py.File) -> bool:
    if any(_RESTART.fullmatch(name) for name in file.attrs):
        return True
    level = 0
    while f"level_{level}" in file:
        group = file[f"level_{level}"]
        if any(_RESTART.fullmatch(name) for name in group.attrs):
            return True
        for name in group:
            found = _BOXED.fullmatch(name)
            if found and found[1] != "data" and f"{found[1]}:offsets={found[2]}" in group:
                return True
        level += 1
    return False


def plain_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def neve_variables(file: h5py.File) -> list[Variable]:
    """Those of a checkpoint of Neve."""
    group = file["neve/variables"]
    found = []
    for number in range(int(group.attrs["count"])):
        attributes = group[str(number)].attrs
        name = plain_text(attributes["name"])
        components = tuple(
            plain_text(attributes[f"component_{c}"])
            for c in range(int(attributes["num_components"]))
        )
        found.append(Variable(f"{name}Data", name, components, None))
    return found


def chombo_levels(file: h5py.File) -> int:
    """Levels before the first without boxes."""
    count = 0
    while True:
        group = file.get(f"level_{count}")
        if group is None or "boxes" not in group or group["boxes"].size in (0, None):
            return count
        count += 1


def chombo_variables(file: h5py.File, dims: int) -> list[Variable]:
    """Those of a checkpoint of Chombo: datasets `<name>:datatype=0` on cells, in every level."""
    levels = [file[f"level_{index}"] for index in range(chombo_levels(file))]
    if not levels:
        raise Error(f"{file.filename}: level_0 is missing or has no boxes", CORRUPT)
    found: list[Variable] = []
    dtype = None
    for name in levels[0]:
        match = _BOXED.fullmatch(name)
        if match is None or match[2] != "0":
            continue
        base = match[1]
        fits = {_fit(group, base, dims) for group in levels}
        types = {group[name].dtype for group in levels if name in group}
        fit = fits.pop()
        if fit is None or fits or len(types) > 1:
            continue
        if dtype not in (None, types.copy().pop()):
            continue
        dtype = types.pop()
        components, ghosts = fit
        found.append(
            Variable(
                base,
                None if base == "data" else base,
                _component_names(file, base, components),
                ghosts,
            )
        )
    if not found:
        raise Error(
            f"{file.filename}: it is a checkpoint without a variable on cells that all levels have"
        )
    return found


def _component_names(file: h5py.File, base: str, count: int) -> tuple[str, ...]:
    if base == "data":
        for pattern in ("component_{}", "component_{:04}"):
            names = [pattern.format(c) for c in range(count)]
            if all(name in file.attrs for name in names):
                texts = tuple(plain_text(file.attrs[name]) for name in names)
                if len(set(texts)) == count:
                    return texts
    return (base,) if count == 1 else tuple(str(c) for c in range(count))


def _fit(group: h5py.Group, base: str, dims: int) -> tuple[int, tuple[int, ...]] | None:
    """Components and ghosts of a level's dataset, None where its elements are not of cells."""
    data, offsets = group.get(f"{base}:datatype=0"), group.get(f"{base}:offsets=0")
    if data is None or offsets is None or f"{base}:datatype=1" in group:
        return None
    if data.ndim != 1 or data.dtype.kind != "f" or data.dtype.itemsize not in (4, 8):
        return None
    boxes = group["boxes"][()]
    begins = offsets[()].astype(np.int64)
    if len(begins) != len(boxes) + 1:
        return None
    sizes = np.stack(
        [boxes[f"hi_{n}"].astype(np.int64) - boxes[f"lo_{n}"] + 1 for n in "ijk"[:dims]], axis=-1
    )
    said = group[f"{base}_attributes"].attrs if f"{base}_attributes" in group else {}
    room, first_cells = int(begins[1] - begins[0]), int(np.prod(sizes[0]))
    guess = room // first_cells if room >= first_cells and room % first_cells == 0 else 1
    components = int(said.get("comps", guess))
    order = np.argsort(begins[:-1], kind="stable")
    ends = np.append(begins[:-1][order][1:], data.shape[0])
    best = None
    for ghosts in _possible_ghosts(said, dims):
        needed = np.prod(sizes + 2 * np.array(ghosts), axis=1)[order] * components
        spare = ends - begins[:-1][order] - needed
        if begins[:-1].min() < 0 or (spare < 0).any():
            continue
        if not spare.any():
            return components, ghosts
        best = best or (components, ghosts)
    is_cells = plain_text(said.get("objectType", "FArrayBox")) == "FArrayBox"
    return best if is_cells and "outputGhost" in said else None


def _possible_ghosts(said: Mapping[str, Any], dims: int) -> list[tuple[int, ...]]:
    """Layers around each box by a level's attributes, the likeliest first."""
    if "outputGhost" in said:
        return [_vector(said["outputGhost"], dims)]
    told = [_vector(said["ghost"], dims)] if "ghost" in said else []
    return [*told, (0,) * dims]


def _vector(value: Any, dims: int) -> tuple[int, ...]:
    return tuple(int(n) for n in np.asarray(value).item())[:dims]
