# SPDX-License-Identifier: BSD-3-Clause
"""The XML of XDMF, in the forms that ParaView's readers of versions 2 and 3 both take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from ._xdmf_grids import MOST_AXES, Axis, Grid, Variable
from ._xdmf_steps import needs_steps, step_name

# By kind and bytes of a number: its name and precision. Version 3 names small integers apart.
_TYPES = {"f": "Float", "i": "Int", "u": "UInt"}
_SMALL = {("i", 1): "Char", ("u", 1): "UChar", ("i", 2): "Short", ("u", 2): "UShort"}


def document(grids: Sequence[Grid], file: str, steps: str) -> Element:
    """`file` and `steps` are names relative to the folder of the .xdmf: of the data file, and of
    the file that has the values of each time step apart (_xdmf_steps).
    """
    root = Element("Xdmf", Version="2.0")
    domain = SubElement(root, "Domain")
    times = next((grid.times for grid in grids if grid.times is not None), None)
    if times is None:
        at = _add_together(domain, grids, file, steps, None)
        _set_time(at, 0.0)  # PyVista reads nothing without a time
        return root
    series = SubElement(
        domain, "Grid", Name="steps", GridType="Collection", CollectionType="Temporal"
    )
    for step, time in enumerate(times):
        at = _add_together(series, grids, file, steps, step)
        _set_time(at, time)
    return root


def _set_time(grid: Element, time: float) -> None:
    grid.insert(0, Element("Time", Value=repr(time)))


def _add_together(
    parent: Element, grids: Sequence[Grid], file: str, steps: str, step: int | None
) -> Element:
    """All grids at one time: version 3 shows no grid without time beside others with it."""
    if len(grids) > 1:
        parent = SubElement(
            parent, "Grid", Name="grids", GridType="Collection", CollectionType="Spatial"
        )
    for grid in grids:
        at = _add_grid(parent, grid, file, steps, None if grid.times is None else step)
    return parent if len(grids) > 1 else at


def _add_grid(parent: Element, grid: Grid, file: str, steps: str, step: int | None) -> Element:
    axes = _three(grid.axes)
    at = SubElement(parent, "Grid", Name=grid.name, GridType="Uniform")
    size = _text(axis.size for axis in axes)
    # One kind of mesh for all: points along every axis, which are the indices where none are told.
    SubElement(at, "Topology", TopologyType="3DRectMesh", Dimensions=size)
    geometry = SubElement(at, "Geometry", GeometryType="VXVYVZ")
    for axis in reversed(axes):
        points = axis.points or tuple(map(float, range(axis.size)))
        item = SubElement(
            geometry,
            "DataItem",
            Dimensions=str(axis.size),
            NumberType="Float",
            Precision="8",
            Format="XML",
        )
        item.text = _text(map(repr, points))
    for variable in grid.variables:
        attribute = SubElement(
            at, "Attribute", Name=variable.name, AttributeType="Scalar", Center="Node"
        )
        if variable.packing:
            SubElement(attribute, "Information", Name="packing", Value=variable.packing)
        if needs_steps(grid, variable, file):
            assert variable.dataset is not None
            name = f"{steps}:{step_name(variable.dataset, step)}"
            _item(attribute, variable, size, "HDF").text = name
        else:
            _add_values(attribute, variable, file, size, step)
    return at


def _three(axes: tuple[Axis, ...]) -> list[Axis]:
    """Slowest first; axes that are missing have one point."""
    return [Axis("", 1)] * (MOST_AXES - len(axes)) + list(axes)


def _text(parts: Iterable[object]) -> str:
    return " ".join(map(str, parts))


def _add_values(
    parent: Element, variable: Variable, file: str, size: str, step: int | None
) -> None:
    if variable.dataset is None:
        cells = int(np.prod(variable.shape if step is None else variable.shape[1:]))
        seek = variable.seek + (step or 0) * cells * variable.dtype.itemsize
        endian = "Big" if variable.dtype.byteorder == ">" else "Little"
        _item(parent, variable, size, "Binary", Seek=str(seek), Endian=endian).text = file
    else:
        _item(parent, variable, size, "HDF").text = f"{file}:{variable.dataset}"


def _item(parent: Element, variable: Variable, size: str, form: str, **more: str) -> Element:
    kind, bytes_each = variable.dtype.kind, variable.dtype.itemsize
    name = _SMALL.get((kind, bytes_each), _TYPES[kind])
    told = {"Dimensions": size, "NumberType": name, "Precision": str(bytes_each), "Format": form}
    return SubElement(parent, "DataItem", {**told, **more})
