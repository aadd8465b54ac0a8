# SPDX-License-Identifier: BSD-3-Clause
"""Which variables and series a study is of."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neve._errors import FAILURE, Error

from ..amric.paper import sample
from ..paper.inputs import LeftAside, identity_of, name_of
from ..paper.unit import key_of
from . import arrays, made

SHARED = Path("../shared/data/climate")  # of the folder that the command runs in: a checkout
MADE = "made: "
MOST_STEPS = 12  # of a series of one's own
MOST_SERIES = 8  # of one's own
MOST_OF_FILE = 2  # of these along a file's axis of time: the largest variables


@dataclass(frozen=True)
class Variable:
    file: str
    identity: str  # of the file
    name: str
    dtype: str
    shape: tuple[int, ...]
    steps: int  # along a leading axis of time; 0: it has none

    @property
    def label(self) -> str:
        return f"{self.file}:{self.name}"


@dataclass(frozen=True)
class Series:
    name: str
    identity: str  # of its files' content; "" of a made one
    steps: int
    variable: str  # in each file; "" of a made one
    files: tuple[str, ...]  # identities; one: steps along its axis of time

    @property
    def is_made(self) -> bool:
        return self.name.startswith(MADE)


@dataclass(frozen=True)
class Inputs:
    variables: tuple[Variable, ...]
    series: tuple[Series, ...]  # made ones first
    left_aside: tuple[LeftAside, ...]
    paths: dict[str, Path]  # of files, by identity; empty where a plan was read

    @property
    def names(self) -> int:
        """How many variables there are, with all steps of a run of files counted as one."""
        return len({_run_of(one) or one for one in self.variables})

    def as_json(self) -> dict[str, Any]:
        """Without a path of the machine."""
        return {
            "variables": [vars(one) for one in self.variables],
            "series": [vars(one) for one in self.series],
            "left_aside": [vars(one) for one in self.left_aside],
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Inputs:
        return cls(
            tuple(Variable(**{**v, "shape": tuple(v["shape"])}) for v in content["variables"]),
            tuple(Series(**{**s, "files": tuple(s["files"])}) for s in content["series"]),
            tuple(LeftAside(**one) for one in content["left_aside"]),
            {},
        )


def default_words(command: Path, say: Callable[[str], None]) -> list[str]:
    """The climate files beside the checkout, where they are there, and the sample; says which."""
    there = [str(path) for path in sorted(SHARED.glob("*.nc"))]
    found = f"{len(there)} climate files in {SHARED}" if there else f"no climate file in {SHARED}"
    say(f"no input is named: measured are {found}, and the sample that comes with Neve")
    return [*there, str(sample(command))]


def find(
    words: Sequence[str],
    wanted: Sequence[str],
    say: Callable[[str], None],
    are_named: bool = True,
) -> Inputs:
    """`wanted` names variables, of any file; empty: all. `are_named`: by hand, so that a word that
    is no input counts as refused. Errors: no input has a variable that is wanted.
    """
    aside: list[LeftAside] = []
    paths: dict[str, Path] = {}
    variables: list[Variable] = []
    for path, is_named in _files(words, aside):
        say(f"looking at {name_of(path)}")
        try:
            found = arrays.variables_of(path)
        except (Error, OSError, ValueError) as error:
            reason = str(error).replace(str(path), name_of(path))
            aside.append(_left(path, reason, is_named and are_named))
            continue
        identity = identity_of(path)
        if not found:
            aside.append(
                _left(
                    path, "no variable of float32 or float64 large enough", is_named and are_named
                )
            )
        if identity not in paths:
            paths[identity] = path
            variables += [Variable(name_of(path), identity, *one) for one in found]
    chosen = [one for one in variables if not wanted or one.name in wanted]
    _check(wanted, variables, chosen, aside)
    series = [*_made(), *_of_files(chosen)[:MOST_SERIES]]
    return Inputs(tuple(chosen), tuple(series), tuple(aside), paths)


def _left(path: Path, reason: str, is_named: bool) -> LeftAside:
    return LeftAside(name_of(path), reason.partition("\n")[0] or "cannot be read", is_named)


def _files(words: Sequence[str], aside: list[LeftAside]) -> list[tuple[Path, bool]]:
    """(path, whether it was named by hand): files, and those in folders."""
    found: list[tuple[Path, bool]] = []
    for word in words:
        path = Path(word)
        if not path.exists():
            aside.append(_left(path, "there is no such file or folder", True))
        elif arrays.is_readable(path):
            found.append((path, True))
        elif path.is_dir():
            inside = [one for one in sorted(path.iterdir()) if arrays.is_readable(one)]
            if not inside:
                aside.append(_left(path, "no file in it that can be read", True))
            found += [(one, False) for one in inside]
        else:
            reason = "neither netCDF, HDF5, .npy nor a plotfile, by its name"
            aside.append(_left(path, reason, True))
    return found


def _check(
    wanted: Sequence[str],
    variables: Sequence[Variable],
    chosen: Sequence[Variable],
    aside: Sequence[LeftAside],
) -> None:
    known = list(dict.fromkeys(one.name for one in variables))
    for name in wanted:
        if known and name not in known:
            raise Error(f"--variables {name}: no input has it; there are {', '.join(known)}")
    if not chosen:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in aside)
        raise Error(f"no floating-point variable among the inputs: {reasons}", FAILURE)


def _made() -> list[Series]:
    return [Series(MADE + name, "", made.STEPS, "", ()) for name in made.NAMES]


def _of_files(variables: Sequence[Variable]) -> list[Series]:
    """Of several files whose names differ in their last number, and along axes of time: those of
    files first, then the longest.
    """
    runs: dict[tuple, list[Variable]] = {}
    for one in variables:
        run = _run_of(one)
        if run is not None:
            runs.setdefault(run, []).append(one)
    over = [_over_files(of_run) for of_run in runs.values() if len(of_run) >= arrays.LEAST_STEPS]
    along: dict[str, list[Series]] = {}
    for one in sorted(variables, key=lambda one: -math.prod(one.shape)):
        if one.steps:
            steps = min(one.steps, MOST_STEPS)
            series = Series(one.label, one.identity, steps, one.name, (one.identity,))
            along.setdefault(one.identity, []).append(series)
    of_time = [one for of_file in along.values() for one in of_file[:MOST_OF_FILE]]
    return [*over, *sorted(of_time, key=lambda one: -one.steps)]


def _run_of(one: Variable) -> tuple | None:
    """The same for files whose names differ in their last number alone; None without a number."""
    stem, suffix = Path(one.file).stem, Path(one.file).suffix
    numbers = re.fullmatch(r"(.*?)(\d+)(\D*)", stem, re.DOTALL)
    if numbers is None:
        return None
    return (numbers[1], numbers[3], suffix, one.name, one.dtype, one.shape)


def _over_files(of_run: list[Variable]) -> Series:
    """In the order of the names' last numbers."""
    last = re.compile(r"(\d+)\D*$")
    steps = sorted(of_run, key=lambda one: int(last.search(Path(one.file).stem)[1]))[:MOST_STEPS]
    files = tuple(one.identity for one in steps)
    name = f"{steps[0].file} to {steps[-1].file}:{steps[0].name}"
    return Series(name, key_of(files), len(steps), steps[0].name, files)
