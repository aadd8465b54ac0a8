# SPDX-License-Identifier: BSD-3-Clause
"""Whole files by the neve command: convert, convert_series, verify, file_info, doctor."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from ._command import Answer, PathLike, ask, word_of_path, words_of_options
from ._errors import BOUND_VIOLATED, PLUGIN_MISSING, Error
from ._methods import candidates_text
from ._progress import bar_for
from ._report import Report
from ._tables import size_text


def convert(
    source: PathLike,
    destination: PathLike,
    *,
    bound: str | None = None,
    fields: Mapping[str, str] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Report:
    """`neve convert`: a plotfile or checkpoint into HDF5, or back to an AMReX plotfile; a .npy
    array; a netCDF-4 or other HDF5 data file.

    bound     "abs=0.01", "rel=1e-4" (of each level's or variable's range) or "lossless"; None: as
              the command has it: rel=1e-3 for plotfiles and arrays, lossless for others
    fields    settings of single fields or variables: {"Temp": "abs=0.5", "mask*": "lossless"}
    progress  None: a bar in notebooks and on terminals where tqdm is installed; True needs it
    options   all options of the command by their names: chunk_size="4MiB", covered="auto",
              threads=4, uncompressed=True; one that the command does not have, it refuses

    The report has `ratio`, `stored_bytes`, and for each field or variable its bound and largest
    error. Remarks of the command are warnings, and the report's `notes`. What the command refuses
    is neve.Error with its message and exit code.
    """
    options = _settings("convert", fields, options)
    words = [word_of_path(source), word_of_path(destination)]
    words += words_of_options("convert", {"bound": bound, **options})
    answer = ask("convert", words, bar_for("convert", progress))
    _warn(answer)
    values = answer.report
    return Report(f"{os.fspath(destination)}: {_sizes(values)}", values, answer.notes)


def convert_series(
    sources: Iterable[PathLike],
    folder: PathLike,
    *,
    bound: str | None = None,
    fields: Mapping[str, str] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Report:
    """`neve convert SOURCES... --into FOLDER`: data files of time steps, in the order of their
    time, into copies of the same names. Lossless variables keep the method that was best from file
    to file; the report has `files`, each as the report of convert(), and `choices`.

    Keywords are those of convert(); of series candidates="acomps" or a list of methods,
    speed_weight=1, delta=0.1, and choices="log", which read_choices(folder) reads.
    """
    if isinstance(sources, (str, bytes, os.PathLike)):
        raise Error(f"convert_series: sources={sources!r} is one path; a list of paths is needed")
    if options.get("choices") is True:
        raise Error("convert_series: choices=True; allowed are 'log' and 'timings'")
    options = _settings("convert_series", fields, options)
    words = [word_of_path(source) for source in sources]
    words += words_of_options("convert_series", {"into": folder, "bound": bound, **options})
    answer = ask("convert", words, bar_for("convert", progress))
    _warn(answer)
    values = answer.report
    return Report(f"{os.fspath(folder)}: {_sizes(values)}", values, answer.notes)


def _settings(
    caller: str, fields: Mapping[str, str] | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """As the command takes them: each of `fields` is an option, and names of methods are one."""
    found = dict(options)
    if fields is not None:
        found["field"] = [f"{name}:{settings}" for name, settings in fields.items()]
    if found.get("candidates") is not None:
        found["candidates"] = candidates_text(caller, found["candidates"])
    return found


def verify(
    original: PathLike,
    copy: PathLike,
    *,
    follow_external: bool = False,
    progress: bool | None = None,
) -> Report:
    """`neve verify`: compares a copy with its original, every value with the bound that the copy
    records: plotfiles, checkpoints, arrays, netCDF-4 and HDF5 data files.

    A broken bound, or any other difference, is neve.Error of code 3, whose `report` holds the
    comparison. `progress` is that of convert().
    """
    words = [word_of_path(original), word_of_path(copy)]
    words += words_of_options("verify", {"follow_external": follow_external or None})
    answer = ask("verify", words, bar_for("verify", progress), (BOUND_VIOLATED,))
    verdict = "within its bounds" if answer.code == 0 else "BROKEN"
    head = f"{os.fspath(copy)}: {verdict}; {_sizes(answer.report)}"
    report = Report(head, answer.report, answer.notes)
    if answer.code == BOUND_VIOLATED:
        raise Error(f"verify: {report!r}", BOUND_VIOLATED, report)
    return report


def file_info(path: PathLike, *, follow_external: bool = False) -> Report:
    """`neve info`: levels, fields or variables of a file, their bounds, errors, codecs and sizes;
    nothing is decoded. (neve.info is for compressed bytes in memory.)
    """
    words = [word_of_path(path)]
    words += words_of_options("file_info", {"follow_external": follow_external or None})
    answer = ask("info", words)
    values = answer.report
    head = f"{os.fspath(path)}: {values['kind']}, {_sizes(values)}"
    return Report(head, values, answer.notes)


def doctor() -> Report:
    """`neve doctor`: versions, and which plugin HDF5 finds in programs that this process starts.
    `ok` tells whether one works.
    """
    answer = ask("doctor", [], allowed=(PLUGIN_MISSING,))
    values = answer.report
    plugin = values["plugin"] or "none that works"
    lines = [
        f"neve {values['neve']}",
        f"HDF5 {values['hdf5']['version']} of the command",
        f"MPI {values['mpi'] or 'none: the command runs in one process'}",
        f"HDF5 plugin {plugin}",
    ]
    return Report("\n".join(lines), values, answer.notes)


def _bytes_before(values: Mapping[str, Any]) -> int | None:
    """Of the source file where the report has that, else of the values."""
    for name in ("source_bytes", "raw_bytes"):
        if name in values:
            return int(values[name])
    parts = values.get("levels") or values.get("variables") or ()
    return sum(part.get("raw_bytes", 0) for part in parts) or None


def _sizes(values: Mapping[str, Any]) -> str:
    """ "2.8 MiB -> 226.6 KiB, ratio 12.43", as far as it is known."""
    before, stored = _bytes_before(values), values.get("stored_bytes")
    texts = [size_text(size) for size in (before, stored) if size is not None]
    ratio = values.get("ratio") or (before / stored if before and stored else None)
    return " -> ".join(texts) + (f", ratio {ratio:.2f}" if ratio else "")


def _warn(answer: Answer) -> None:
    for note in answer.notes:
        warnings.warn(note, UserWarning, stacklevel=3)
