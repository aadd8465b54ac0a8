# SPDX-License-Identifier: BSD-3-Clause
"""Data files on regular grids for ParaView: `neve convert SRC OUT.xdmf` writes an XML file that
says where the values of a netCDF-4, HDF5 or .npy file lie. The values stay where they are.

python -m neve.xdmf SRC OUT.xdmf [--follow-external] [--json]
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

import h5py

from . import _files
from ._arguments import Parser
from ._errors import FAILURE, USAGE, Error
from ._first_bytes import NETCDF_CLASSIC, NPY
from ._page import shown_lines
from ._referring import keep_together, name_from
from ._xdmf_grids import Grid, grids_of_hdf5, grids_of_npy, has_levels
from ._xdmf_steps import can_name_file, needs_steps, write_steps
from ._xdmf_text import document

STEPS = ".steps.h5"
_SOURCES = "allowed for .xdmf are netCDF-4, HDF5 data files and .npy arrays"
_ALLOWED = "allowed are letters, digits, spaces and any of _./+=,%-"


@dataclass(frozen=True)
class Report:
    """What `neve convert` says of an .xdmf file that it has made."""

    source: str
    destination: str
    steps: str | None  # the file that has each time step apart (_xdmf_steps)
    grids: list[str]
    variables: list[str]
    packed: list[str]  # those whose stored numbers ParaView shows
    by_index: dict[str, list[str]]  # on curvilinear grids, with the coordinates that are not used
    left_out: dict[str, str]  # variables that are not shown, and why

    def text(self) -> str:
        lines = [
            f"{self.destination}: XDMF, variables: {len(self.variables)}, grids: {len(self.grids)}",
            keep_together(self.destination, self.source),
        ]
        if self.steps is not None:
            lines.append(f"{self.steps} names its values for XDMF: keep it beside, too")
        lines += [f"{name}: ParaView shows the packed numbers" for name in self.packed]
        for places in sorted({", ".join(names) for names in self.by_index.values()}):
            names = [name for name, of in self.by_index.items() if ", ".join(of) == places]
            lines.append(
                f"{', '.join(names)}: shown by index, as the grid is curvilinear: {places} are not "
                "used for its places"
            )
        lines += [f"{name} is left out: {why}" for name, why in self.left_out.items()]
        return "\n".join(lines) + "\n"


def describe(source: str | Path, out: str | Path, follow_external: bool = False) -> Report:
    """Writes `out`, which describes the variables of `source`: a netCDF-4 or HDF5 data file, or a
    .npy array. Raises neve.Error where it is none of them or has nothing to show.
    """
    path = Path(source)
    if path.is_dir():
        if (path / "Header").is_file():
            raise has_levels(path)
        raise Error(f"{source} is a directory; {_SOURCES}")
    try:
        with open(path, "rb") as file:
            begin = file.read(8)
    except OSError as error:
        raise Error(f"cannot open {path}: {error.strerror}", FAILURE) from None
    if Path(out).exists() and path.samefile(out):
        raise Error(f"{source} and {out} are the same file; a copy needs a name of its own")
    left_out: dict[str, str] = {}
    if h5py.is_hdf5(path):
        grids, left_out = grids_of_hdf5(path, follow_external)
    elif begin.startswith(NPY):
        grids = grids_of_npy(path)
    elif begin.startswith(NETCDF_CLASSIC):
        raise Error(
            f"{source} is a netCDF file in classic format, which ParaView opens as it is; "
            "`nccopy -k nc4` makes it netCDF-4"
        )
    else:
        raise Error(f"{source}: {_SOURCES}")
    if not grids:
        why = "".join(f"; {name}: {reason}" for name, reason in left_out.items())
        raise Error(
            f"{source}: no variable of numbers on a grid of 1 to 3 dimensions and time{why}"
        )
    steps = _write(grids, path, out)
    shown = [variable for grid in grids for variable in grid.variables]
    return Report(
        str(source),
        str(out),
        steps,
        [grid.name for grid in grids],
        [variable.name for variable in shown],
        [variable.name for variable in shown if variable.packing],
        {variable.name: list(variable.places) for variable in shown if variable.places},
        left_out,
    )


def _write(grids: list[Grid], source: Path, out: str | Path) -> str | None:
    """Returns the file with the time steps, None where none is needed."""
    name = name_from(out, source)
    steps = Path(out).with_suffix(STEPS)
    has_steps = any(
        needs_steps(grid, variable, name) for grid in grids for variable in grid.variables
    )
    _check_names(out, name, steps.name, grids, has_steps)
    if has_steps:
        with _files.replacing(steps) as made, h5py.File(made, "w") as file:
            write_steps(file, grids, name)
    root = document(grids, name, steps.name)
    ElementTree.indent(root)
    _files.write_bytes(out, ElementTree.tostring(root, "utf-8", xml_declaration=True) + b"\n")
    return str(steps) if has_steps else None


def _check_names(
    out: str | Path, source: str, steps: str, grids: list[Grid], has_steps: bool
) -> None:
    """Refuses what XDMF cannot name: an array has no other name than its file's."""
    is_array = any(variable.dataset is None for grid in grids for variable in grid.variables)
    if is_array and not can_name_file(source):
        raise Error(f"{source}: XDMF cannot name this file; {_ALLOWED}: rename it")
    if has_steps and not can_name_file(steps):
        raise Error(f"{out}: XDMF cannot name {steps} beside it; {_ALLOWED}: name OUT so")


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="neve convert")
    parser.add_argument("source")
    parser.add_argument("destination")
    parser.add_argument("--follow-external", action="store_true")
    parser.add_argument("--json", action="store_true")
    words = sys.argv[1:] if arguments is None else arguments
    others = [word for word in words[2:] if word not in ("--follow-external", "--json")]
    if others:
        print(
            f"neve convert: {others[0]} has no meaning for .xdmf, which describes values and holds "
            "none; convert SRC first, then describe the copy",
            file=sys.stderr,
        )
        return USAGE
    options = parser.parse_args(words)
    try:
        report = describe(options.source, options.destination, options.follow_external)
    except Error as error:
        print(shown_lines(f"neve convert: {error}"), file=sys.stderr)
        return error.code
    except OSError as error:
        print(shown_lines(f"neve convert: {options.source}: {error}"), file=sys.stderr)
        return FAILURE
    sys.stdout.write(json.dumps(asdict(report), indent=2) + "\n" if options.json else report.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
