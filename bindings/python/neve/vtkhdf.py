# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles for VTK 9.4 and later, ParaView 5.13 and later: `neve convert SRC OUT.vtkhdf`.

python -m neve.vtkhdf SRC OUT.vtkhdf [--follow-external] [--json] [options of neve convert]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import h5py

from . import _files
from ._amr_file import has_boxes, refuse_for_vtk
from ._arguments import Parser
from ._command import command_path
from ._errors import FAILURE, USAGE, Error
from ._hierarchy import Source
from ._page import shown_lines
from ._referring import keep_together, name_from
from ._value_runs import NeedsCoarserLevel
from ._vtkhdf_group import GROUP, VIRTUAL_BOXES, LevelReport, write_group
from .plotfile import open as open_plotfile

_OF_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
_OF_LAUNCHERS = ("OMPI_", "PMI_", "PMIX_", "HYDRA_", "MPIR_", "PRTE_")


@dataclass(frozen=True)
class Report:
    """What `neve convert` says of a .vtkhdf file that it has made."""

    source: str
    destination: str
    holds_values: bool  # false: SRC does, and has to stay where it is
    fields: int
    levels: list[LevelReport]
    hides_wrongly: list[int]  # levels whose covered cells VTK finds wrongly
    conversion: str = ""  # what the command said that made the plotfile, as text or as JSON

    def as_json(self) -> str:
        told = asdict(self)
        del told["conversion"]
        if self.conversion:
            told["conversion"] = json.loads(self.conversion)
        return json.dumps(told, indent=2) + "\n"

    def text(self) -> str:
        boxes = sum(level.boxes for level in self.levels)
        lines = [
            f"{self.destination}: VTKHDF, {_counted(len(self.levels), 'level')}, "
            f"{_counted(boxes, 'box', 'boxes')}, {_counted(self.fields, 'field')}"
        ]
        if not self.holds_values:
            again = (
                "; make it again when that is written again, for its values may lie elsewhere then"
            )
            lines.append(keep_together(self.destination, self.source) + again)
        for number, level in enumerate(self.levels):
            if level.copied:
                lines.append(
                    f"level {number}: values of {_counted(level.copied, 'field')} are stored again,"
                    f" lossless ({_why_copied(level)})"
                )
        for number in self.hides_wrongly:
            lines.append(
                f"level {number}: its refinement ratio differs between directions, which VTK does "
                "not know: it hides other cells than the covered ones (Neve's reader for ParaView "
                "hides the right ones)"
            )
        return self.conversion + "\n".join(lines) + "\n"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _with_unequal_ratios(source: Source) -> list[int]:
    levels = enumerate(source.levels[:-1])
    return [number for number, level in levels if len(set(level.ref_ratio)) > 1]


def _why_copied(level: LevelReport) -> str:
    if level.boxes > VIRTUAL_BOXES:
        return f"{level.boxes} boxes; more than {VIRTUAL_BOXES} are slow as virtual datasets"
    return "what VTK would find in the source has ghost cells, cells left out or another order"


def refer(source: str | Path, out: str | Path, follow_external: bool = False) -> Report:
    """Makes `out` of virtual datasets that refer to the HDF5 plotfile or checkpoint `source`.

    Raises neve.Error where `source` is no such file, and where its frames need the coarser level
    (cross-level prediction), which VTK cannot give them.
    """
    with (
        open_plotfile(source, follow_external=follow_external) as plotfile,
        _files.replacing(out) as made,
    ):
        with h5py.File(made, "w") as file:
            levels = _write(file, plotfile._source, name_from(out, source), source)
        held = all(level.virtual == 0 for level in levels)
        wrong = _with_unequal_ratios(plotfile._source)
        return Report(str(source), str(out), held, len(plotfile.components), levels, wrong)


def hold(
    source: str | Path, out: str | Path, options: list[str], follow_external: bool = False
) -> Report:
    """Makes `out` a plotfile by `neve convert` with these options, with the group for VTK inside:
    what reads Neve's plotfiles reads it, too.
    """
    with _files.replacing(out) as made:
        external = ["--follow-external"] * follow_external
        said = _convert(source, made, out, [*options, *external])
        # HDF5 does not read and change one file at a time.
        # By this name the next run clears it away, should this one be killed.
        with TemporaryDirectory(dir=made.parent, prefix=f"{made.name}.") as folder:
            with (
                open_plotfile(made) as plotfile,
                h5py.File(Path(folder) / "group", "w") as file,
            ):
                levels = _write(file, plotfile._source, ".", source)
                count = len(plotfile.components)
                wrong = _with_unequal_ratios(plotfile._source)
            with h5py.File(Path(folder) / "group") as file, h5py.File(made, "r+") as whole:
                file.copy(GROUP, whole)
    return Report(str(source), str(out), True, count, levels, wrong, said)


def _write(file: h5py.File, source: Source, name: str, path: str | Path) -> list[LevelReport]:
    try:
        return write_group(file, source, name)
    except NeedsCoarserLevel:
        raise Error(
            f"{path}: its frames need those of the coarser level, which VTK does not give them; "
            "`neve convert SRC OUT.vtkhdf --bound lossless` stores frames that need no others",
            USAGE,
        ) from None


def _convert(source: str | Path, made: Path, out: str | Path, options: list[str]) -> str:
    """What the command says on its standard output. It runs alone, also below a launcher: that
    one's ranks are not this process's.
    """
    environment = dict(os.environ)
    if any(name in environment for name in _OF_RANKS):
        for name in [name for name in environment if name.startswith(_OF_LAUNCHERS)]:
            del environment[name]
    environment["NEVE_HINTS"] = "0"  # on other readers of plotfiles; VTK is told the true places
    words = [command_path(), "convert", source, made, "--to", "hdf5", *options]
    done = subprocess.run(
        [str(word) for word in words], env=environment, capture_output=True, text=True
    )
    said, complained = (text.replace(str(made), str(out)) for text in (done.stdout, done.stderr))
    sys.stderr.write(complained)
    if done.returncode != 0:
        raise _AlreadySaid(done.returncode)
    return said


class _AlreadySaid(Exception):
    """The command has told what was wrong."""

    def __init__(self, code: int):
        super().__init__(code)
        self.code = code


def convert(
    source: str,
    out: str,
    options: list[str],
    follow_external: bool = False,
    as_json: bool = False,
) -> Report:
    """`neve convert SRC OUT.vtkhdf OPTIONS`: a file that refers to SRC if SRC is HDF5 and nothing
    is asked for; else one that holds the values.
    """
    path = Path(source)
    if path.exists() and Path(out).exists() and path.samefile(out):
        raise Error(f"{source} and {out} are the same file; a copy needs a name of its own")
    if path.is_file() and not _has_boxes(path):
        raise Error(
            f"{source} is no plotfile and no checkpoint, for which .vtkhdf is; .xdmf is for data "
            "files: netCDF-4, HDF5, .npy"
        )
    if not options and path.is_file():
        return refer(source, out, follow_external)
    if not _has_ghosts_as_it_is(path, options, follow_external):
        options = [*options, "--ghosts", "drop"]
    if as_json:
        options = [*options, "--json"]
    return hold(source, out, options, follow_external)


def _has_boxes(path: Path) -> bool:
    if not h5py.is_hdf5(path):
        return False
    with h5py.File(path) as file:
        refuse_for_vtk(file, path)
        return has_boxes(file)


def _has_ghosts_as_it_is(path: Path, options: list[str], follow_external: bool) -> bool:
    """Viewers show no ghost cells. With them in the file, values would have to be stored again;
    but a checkpoint needs them, and whoever asks gets them.
    """
    if any(word.split("=")[0] == "--ghosts" for word in options):
        return True
    if not path.is_file():
        return False
    with open_plotfile(path, follow_external=follow_external) as plotfile:
        return "checkpoint" in plotfile.kind


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="neve convert")
    parser.add_argument("source")
    parser.add_argument("destination")
    parser.add_argument("--follow-external", action="store_true")
    parser.add_argument("--json", action="store_true")
    words = sys.argv[1:] if arguments is None else arguments
    own = [word for word in words if word in ("--follow-external", "--json")]
    options = parser.parse_args([*words[:2], *own])
    others = [word for word in words[2:] if word not in own]
    try:
        report = convert(
            options.source, options.destination, others, options.follow_external, options.json
        )
    except _AlreadySaid as error:
        return error.code
    except Error as error:
        print(shown_lines(f"neve convert: {error}"), file=sys.stderr)
        return error.code
    except OSError as error:
        print(shown_lines(f"neve convert: {options.destination}: {error}"), file=sys.stderr)
        return FAILURE
    sys.stdout.write(report.as_json() if options.json else report.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
