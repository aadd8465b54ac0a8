# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench rd`: arguments, and the study from the file to the tables."""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import neve
from neve._command import command_path
from neve._errors import BOUND_VIOLATED, FAILURE, Error

from .. import arguments, covered, report, timing
from . import curves, figures, hierarchy, methods, peers, slices, tables, write_times

DEFAULT_BOUNDS = (1e-2, 1e-3, 1e-4, 1e-5)
EXAMPLES = """examples:
  neve bench rd plt00113 --fields density Temp --plot pictures -o rd.md --json rd.json
  neve bench rd field.npy --bounds 1e-2,1e-4 --codecs auto context SZ3
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Sweep relative bounds over this project's codecs and arrangements and the peers that are\n"
        "installed (SZ3: pysz, ZFP: zfpy, SPERR: hdf5plugin). Errors are measured in every row."
    )
    parser.epilog = EXAMPLES
    parser.add_argument("file", help="AMR plotfile that neve.open reads, or a .npy array")
    parser.add_argument("--fields", nargs="+", metavar="NAME", help="fields to study (all)")
    parser.add_argument(
        "--bounds",
        type=_bounds,
        default=DEFAULT_BOUNDS,
        metavar="REL,...",
        help="bounds relative to a level's range (1e-2,1e-3,1e-4,1e-5)",
    )
    covered.add_argument(parser)
    parser.add_argument(
        "--codecs",
        nargs="+",
        metavar="NAME",
        help="codecs whose name starts with one of these (all)",
    )
    parser.add_argument(
        "--slice-field", metavar="NAME", help="field of the error slices (the first)"
    )
    parser.add_argument(
        "--ranks", type=int, nargs="*", default=[1, 2], help="MPI ranks of the write times (1 2)"
    )
    parser.add_argument(
        "--sweep-repeats",
        type=int,
        metavar="N",
        help="timed runs for each row of the sweep (--repeats)",
    )
    parser.add_argument(
        "--brief",
        action="store_true",
        help="keep only rows of auto, its rivals and peers, without their levels",
    )
    arguments.add_measurement(parser, 3, data=False, time_limit=300, scratch=True)
    arguments.add_report(parser, pictures=True)


def _bounds(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(word) for word in text.split(","))
    except ValueError:
        values = ()
    if not values or not all(0 < value < 1 for value in values):
        raise argparse.ArgumentTypeError(
            f"'{text}'; allowed are numbers between 0 and 1, joined by commas"
        )
    return tuple(dict.fromkeys(values))


def run(options: argparse.Namespace) -> int:
    if options.slice_field and options.plot is None:
        raise Error("--slice-field has no meaning without --plot: no pictures are drawn")
    command = command_path()
    path = Path(options.file)
    if options.sweep_repeats is None:
        options.sweep_repeats = options.repeats
    subject = hierarchy.load(path, options.fields)
    slice_field = _slice_field(options, subject)
    mine, others, missing = _chosen(options.codecs, options.covered)
    for line in missing:
        print(f"neve bench rd: {line}", file=sys.stderr)
    pictures = _folder_for_pictures(options)

    with tempfile.TemporaryDirectory(prefix="neve-bench-rd-", dir=options.scratch) as folder:
        study = _Study(options, command, subject, Path(folder))
        recorded = {
            "command": _command(options, path),
            **_subject(subject),
            "covered": options.covered,
            "machine": report.machine(),
            "versions": {"neve": neve.__version__, **peers.versions([c for c, _ in others])},
            "timing": f"median of {options.repeats}, of {options.sweep_repeats} in the sweep; one "
            "core; Neve: wall time of the stage encode of all fields together; peers: CPU time",
            "not_measured": missing,
            "methods": {m.name: " ".join(m.options) for m in mine},
            **study.findings(study.sweep(mine, others), mine),
        }
        kept = brief(recorded) if options.brief else recorded
        report.deliver(options, kept, tables.tables(kept))
        if pictures is not None:
            study.draw(pictures, recorded, slice_field, mine)
    report.progress("")
    # A measurement that finds Neve's promise broken is not a success.
    broken = recorded["neve_violations"] or recorded["neve_specials_lost"]
    return BOUND_VIOLATED if broken else 0


def _slice_field(options: argparse.Namespace, subject: hierarchy.Hierarchy) -> str:
    field = options.slice_field or subject.fields[0]
    if field not in subject.fields:
        raise Error(
            f"--slice-field {field!r} is not studied; there are {', '.join(subject.fields)}"
        )
    return field


def _folder_for_pictures(options: argparse.Namespace) -> Path | None:
    """Made before hours of measurements, and only where something can be drawn."""
    if options.plot is None:
        return None
    figures.check_at_hand()
    folder = Path(options.plot)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"{folder}: cannot make the folder: {error.strerror}", FAILURE) from None
    return folder


def _subject(subject: hierarchy.Hierarchy) -> dict[str, Any]:
    """For the record."""
    return {
        "file": subject.name,
        "fields": list(subject.fields),
        "levels": [{"boxes": len(level.boxes), "cells": level.cells()} for level in subject.levels],
        "dtype": str(subject.dtype),
    }


def brief(recorded: dict[str, Any]) -> dict[str, Any]:
    """Small enough to keep: what was computed of the rows is in it, most rows are not."""
    forced = {m.name for m in methods.methods() if m.forced_codec is not None} - {methods.SLE}
    rows = [
        {key: value for key, value in row.items() if key != "levels"}
        for row in recorded["rows"]
        if row["method"] not in forced
    ]
    return {**recorded, "rows": rows}


def _chosen(
    names: Sequence[str] | None, covered_cells: str
) -> tuple[list[methods.Method], list[tuple[peers.Codec, str]], list[str]]:
    found, missing = peers.at_hand()
    mine = methods.methods(covered_cells)
    others = [(codec, arrangement) for codec in found for arrangement in codec.arrangements]
    if names is None:
        return mine, others, missing
    wanted = tuple(name.lower() for name in names)
    every = [m.name for m in mine] + [n for c in peers.CODECS for n in peers.method_names(c)]
    for name in wanted:
        if not any(known.lower().startswith(name) for known in every):
            raise Error(f"--codecs {name}: there is no such; there are {', '.join(every)}")
    return (
        [m for m in mine if m.name.lower().startswith(wanted)],
        [(c, a) for c, a in others if f"{c.name} {a}".lower().startswith(wanted)],
        [line for line in missing if line.lower().startswith(wanted)],
    )


def _command(options: argparse.Namespace, path: Path) -> str:
    words = ["neve bench rd", path.name, "--bounds", ",".join(f"{b:g}" for b in options.bounds)]
    words += ["--repeats", str(options.repeats), "--sweep-repeats", str(options.sweep_repeats)]
    words += ["--covered", options.covered, "--ranks", *map(str, options.ranks)]
    if options.fields:
        words += ["--fields", *options.fields]
    if options.codecs:
        words += ["--codecs", *(shlex.quote(name) for name in options.codecs)]
    if options.brief:
        words.append("--brief")
    return " ".join(words)


class _Study:
    """One file's measurements; `folder` is for the files they need."""

    def __init__(
        self,
        options: argparse.Namespace,
        command: Path,
        subject: hierarchy.Hierarchy,
        folder: Path,
    ):
        self._options = options
        self._command = command
        self._subject = subject
        self._folder = folder
        self._source = folder / "source.h5"
        subject.write(self._source, subject.fields)
        # The bound at which what is measured only once is measured: the one nearest 1e-3.
        self._middle = min(options.bounds, key=lambda rel: max(rel / 1e-3, 1e-3 / rel))

    def sweep(
        self, mine: Sequence[methods.Method], others: Sequence[tuple[peers.Codec, str]]
    ) -> list[dict[str, Any]]:
        rows = []
        for rel in self._options.bounds:
            for method in mine:
                report.progress(f"rel={rel:g}: {method.name}")
                rows += self._measured(method, rel)
            for codec, arrangement in others:
                for field in self._subject.fields:
                    report.progress(f"rel={rel:g}: {codec.name} {arrangement}, {field}")
                    rows.append(
                        peers.measure(
                            self._subject,
                            field,
                            codec,
                            arrangement,
                            rel,
                            self._leaves_out(rows, field, rel),
                            self._options.sweep_repeats,
                            self._options.time_limit,
                        )
                    )
        return rows

    def _measured(self, method: methods.Method, rel: float) -> list[dict[str, Any]]:
        target = self._folder / "copy.h5"
        limit, repeats = self._options.time_limit, self._options.sweep_repeats
        try:
            return methods.measure(self._command, method, self._source, target, rel, repeats, limit)
        except Error as error:  # what one method cannot do costs its own rows only
            what = {"method": method.name, "rel": rel, "note": str(error)}
            return [{"field": field, **what} for field in self._subject.fields]

    def _leaves_out(self, rows: Sequence[dict[str, Any]], field: str, rel: float) -> list[bool]:
        """Per level, whether any of Neve's methods left covered cells out at this bound."""
        found = [False] * len(self._subject.levels)
        for row in rows:
            if row["field"] == field and row["rel"] == rel:
                for level in row.get("levels", ()):
                    found[level["level"]] |= level["held_cells"] < level["cells"]
        return found

    def findings(
        self, rows: list[dict[str, Any]], mine: Sequence[methods.Method]
    ) -> dict[str, Any]:
        """What the rows of the sweep say, and what is measured after them."""
        names = {method.name for method in mine}
        of_neve = [row for row in rows if row["method"] in names and "ratio" in row]
        return {
            "geomeans": curves.geomeans(rows, dict.fromkeys(row["method"] for row in rows)),
            "equal_psnr": curves.comparisons(rows, self._subject.fields),
            "size_regrets": curves.size_regrets(rows, mine),
            "time_regrets": self.time_regrets(rows, mine),
            "write_times": self.write_times(),
            "neve_violations": sum(row["violations"] for row in of_neve),
            "neve_specials_lost": sum(row["specials_lost"] for row in of_neve),
            "rows": rows,
        }

    def time_regrets(
        self, rows: Sequence[dict[str, Any]], mine: Sequence[methods.Method]
    ) -> list[dict[str, Any]]:
        """Encoding a field by auto against encoding it by the best forced choice, each alone."""
        by_name = {method.name: method for method in mine}
        found = []
        for field in self._subject.fields:
            source = self._folder / "field.h5"
            self._subject.write(source, [field])
            for effort in methods.EFFORTS:
                auto = by_name.get(methods.auto_name(effort))
                best = curves.best_forced(rows, mine, field, self._middle, effort)
                if auto is None or best is None:
                    continue
                report.progress(f"encoding time of {field}, {effort}")
                medians = self._encode_seconds(source, [auto, by_name[best["method"]]])
                forced = medians[best["method"]]
                found.append(
                    {
                        "field": field,
                        "rel": self._middle,
                        "effort": effort,
                        "best": best["method"],
                        "auto_seconds": medians[auto.name],
                        "best_seconds": forced,
                        "time_regret": medians[auto.name] / forced - 1 if forced > 0 else None,
                    }
                )
        return found

    def _encode_seconds(self, source: Path, compared: Sequence[methods.Method]) -> dict[str, float]:
        """Medians, by name."""
        options = {method.name: method.options for method in compared}

        def encode(name: str) -> float:
            target = self._folder / "copy.h5"
            target.unlink(missing_ok=True)
            limit = self._options.time_limit
            done = methods.convert(
                self._command, source, target, self._middle, options[name], limit
            )
            return done["seconds"]["encode"]

        runs = timing.in_turns(options, max(self._options.repeats, 1), encode)
        return {name: statistics.median(times) for name, times in runs.items()}

    def write_times(self) -> list[dict[str, Any]]:
        if not self._options.ranks:
            return []
        report.progress("write times")
        options = self._options
        return write_times.measure(
            self._command,
            self._source,
            self._folder,
            self._middle,
            options.ranks,
            options.repeats,
            options.time_limit,
            options.covered,
        )

    def draw(
        self,
        output: Path,
        recorded: dict[str, Any],
        slice_field: str,
        mine: Sequence[methods.Method],
    ) -> None:
        rows = recorded["rows"]
        for field in self._subject.fields:
            report.progress(f"drawing {field}")
            picture = output / f"rate_distortion_{_file_name(field)}.png"
            shown = self._best_arrangements(rows, field, mine)
            figures.rate_distortion(picture, self._subject.name, field, rows, shown)
        for codec in methods.CODECS:
            shown = [m.name for m in mine if (m.forced_codec, m.effort) == (codec, "max")]
            if len(shown) > 1:
                picture = output / f"arrangements_{codec}_{_file_name(slice_field)}.png"
                figures.rate_distortion(picture, self._subject.name, slice_field, rows, shown)
        if recorded["write_times"]:
            title = f"{self._subject.name}: parts of a write at rel={self._middle:g}"
            figures.write_times(output / "write_times.png", title, recorded["write_times"])
        self._draw_slices(output, rows, slice_field, mine)

    def _best_arrangements(
        self, rows: Sequence[dict[str, Any]], field: str, mine: Sequence[methods.Method]
    ) -> list[str]:
        """auto, the ways it is held against, and each codec's and peer's best arrangement: all
        curves would be a tangle.
        """
        fixed = [m.name for m in mine if m.forced_codec is None or m.name == methods.SLE]
        groups = {
            codec: [m.name for m in mine if (m.forced_codec, m.effort) == (codec, "max")]
            for codec in methods.CODECS
        }
        groups |= {codec.name: peers.method_names(codec) for codec in peers.CODECS}
        stored = {
            row["method"]: row["stored_bytes"]
            for row in rows
            if row["field"] == field and row["rel"] == self._middle and "ratio" in row
        }
        best = [
            min(filter(stored.get, names), key=stored.get, default="") for names in groups.values()
        ]
        return [name for name in dict.fromkeys([*fixed, *best]) if name in stored]

    def _draw_slices(
        self,
        output: Path,
        rows: Sequence[dict[str, Any]],
        field: str,
        mine: Sequence[methods.Method],
    ) -> None:
        wanted = slices.target_ratio(rows, field, self._middle)
        if wanted is None or self._subject.dims < 2:
            return
        source, target = self._folder / "field.h5", self._folder / "copy.h5"
        self._subject.write(source, [field])
        panels = []
        for method in (m for m in mine if m.name in slices.SHOWN):
            report.progress(f"error slices: {method.name}")
            row = slices.at_ratio(
                self._command,
                method,
                source,
                target,
                wanted,
                self._middle,
                self._options.time_limit,
            )
            psnr = report.number(row["psnr_db"])
            label = f"{method.name}\nratio {row['ratio']:.3g}, PSNR {psnr} dB"
            limit = self._options.time_limit
            panels.append((label, *slices.errors(self._command, source, target, field, limit)))
        picture = output / f"error_slices_{_file_name(field)}.png"
        figures.error_slices(picture, f"{self._subject.name}: |error| of {field}", panels)


def _file_name(field: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in field)
