# SPDX-License-Identifier: BSD-3-Clause
"""The log of a series' choices in an HDF5 or netCDF-4 file: the group `neve_choices`, in which each
column is a dataset, so that readers of netCDF show it as they show everything else. The rules that
the choices were made by are its attributes.

The twin of src/io/datafile/choice_log for h5py, which brings its own HDF5.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from . import _choice_columns, _choice_text
from ._choice import (
    RULES,
    Choice,
    ChoiceLog,
    check_choices,
    check_own_rules,
    check_rules,
    check_steps_differ,
    short,
)
from ._errors import CORRUPT, FAILURE, USAGE, Error
from ._keywords import checks_keywords

GROUP = "neve_choices"
VERSION = 1
# netCDF's, which all columns have: without it, readers make one up.
_DIMENSION = "choice"
_BARE_DIMENSION = "This is a netCDF dimension but not a netCDF variable.{:10}"
_OWN_RULES = "own_rules"  # an attribute, JSON
_TIMES = ("choosing_seconds", "coding_seconds")
_COLUMNS = tuple(field.name for field in fields(Choice))
_TEXTS = ("variable", "method", "reason", "rival")
_TYPES = {"level": "<i4", "step": "<u8", "raw_bytes": "<u8", "coded_bytes": "<u8"}
_KINDS = {
    name: "text" if name in _TEXTS else "int" if name in _TYPES else "float" for name in _COLUMNS
}


def write(
    file: h5py.File, choices: Sequence[Choice], rules: Mapping[str, Any], times: bool = False
) -> None:
    """Adds the log to a file that is open for writing, in place of one that it holds already.

    rules    candidates, delta, speeds, speed_weight, ratio_weight
    times    whether the seconds are written, too: they differ from run to run
    """
    place = str(file.filename)
    check_rules(rules, place, USAGE)
    check_choices(choices, place, USAGE)
    is_there = file.get(GROUP, getlink=True) is not None
    former = _log_group(file, place) if is_there else None
    # Without a name until it is whole: a write that fails leaves the former log as it is.
    group = file.create_group(None)
    group.attrs["version"] = np.int32(VERSION)
    for name in RULES:
        group.attrs[name] = rules[name]
    rows = group.create_dataset(_DIMENSION, shape=(len(choices),), dtype=">f4")
    rows.make_scale(_BARE_DIMENSION.format(len(choices)))
    for name in _COLUMNS:
        values = [getattr(choice, name) for choice in choices]
        if name in _TIMES and not times:
            values = [math.nan] * len(choices)
        kind = h5py.string_dtype() if name in _TEXTS else _TYPES.get(name, "<f8")
        column = group.create_dataset(name, data=np.array(values, dtype=kind), dtype=kind)
        column.dims[0].attach_scale(rows)
    if former is not None:
        del file[GROUP]
    file[GROUP] = group


@checks_keywords
def read_choices(path: str | Path) -> ChoiceLog:
    """The log of choices of a file, or of all files of a folder that have one: what
    `neve convert --into FOLDER --choices log`, Series.write_choices and the operator of ADIOS2
    write.

    neve.Error of code 2 where there is none, or the folder holds those of several series; of code 4
    where a log is damaged.
    """
    path = Path(path)
    if not path.exists():
        raise Error(f"{path}: no such file or folder", FAILURE)
    if not path.is_dir():
        if not path.is_file():
            raise Error(f"{path} is not a regular file", FAILURE)
        log = _of_text(path) if _choice_text.is_text_log(path) else _of_file(path)
        if log is None:
            raise Error(f"{path} has no log of choices; `neve convert --choices log` writes one")
        return _in_order(log)
    logs = {}
    for entry in sorted(path.iterdir()):
        if entry.is_file() and (log := _of_entry(entry)) is not None:
            logs[entry] = log
    if not logs:
        raise Error(f"{path}: no file in it has a log of choices (`neve convert --choices log`)")
    return _in_order(_joined(logs))


def _of_entry(path: Path) -> ChoiceLog | None:
    if _choice_text.is_text_log(path):
        return _of_text(path)
    return _of_file(path) if h5py.is_hdf5(path) else None


def _of_text(path: Path) -> ChoiceLog:
    rules, choices = _choice_text.read(path, _KINDS)
    place = f"{path}: its log of choices"
    check_rules(rules, place, CORRUPT)
    if more := [name for name in rules if name not in RULES]:
        raise Error(f"{place} has rules that are not known: {short(more)}", CORRUPT)
    # Operators of one name may write into one file: steps may be there more than once.
    check_choices(choices, place, CORRUPT)
    return ChoiceLog(rules, choices)


def _joined(logs: Mapping[Path, ChoiceLog]) -> ChoiceLog:
    first, rules = next((path, log.rules) for path, log in logs.items())
    known: dict[tuple[str, int, int], Path] = {}
    own: dict[str, Mapping[str, Any]] = {}
    for path, log in logs.items():
        if log.rules != rules:
            raise Error(f"{first} and {path} are of several series: their rules differ")
        for variable, of_variable in log.own_rules.items():
            if own.setdefault(variable, of_variable) != of_variable:
                words = f"their rules of {variable} differ"
                raise Error(f"{first} and {path} are of several series: {words}")
        for choice in log.choices:
            key = (choice.variable, choice.level, choice.step)
            if key in known:
                words = f"step {choice.step} of {choice.variable}"
                raise Error(f"{known[key]} and {path} are of several series: both have {words}")
            known[key] = path
    return ChoiceLog(rules, tuple(choice for log in logs.values() for choice in log.choices), own)


def _in_order(log: ChoiceLog) -> ChoiceLog:
    """By variable, in the order in which they appear, and by step."""
    of_variables: dict[str, list[Choice]] = {}
    for choice in log.choices:
        of_variables.setdefault(choice.variable, []).append(choice)
    for choices in of_variables.values():  # not by pairs of numbers: there may be millions
        choices.sort(key=attrgetter("step"))
        choices.sort(key=attrgetter("level"))
    return ChoiceLog(log.rules, tuple(chain(*of_variables.values())), log.own_rules)


def _log_group(file: h5py.File, path: str) -> h5py.Group:
    link = file.get(GROUP, getlink=True)
    group = file[GROUP] if isinstance(link, h5py.HardLink) else None
    if not isinstance(group, h5py.Group) or "version" not in group.attrs:
        raise Error(f"{path}: its {GROUP} is no log of choices", CORRUPT)
    version = _attribute(group, "version", path)
    if isinstance(version, bool) or not isinstance(version, int) or version < VERSION:
        raise Error(
            f"{path}: version of its log of choices is {short(version)}; allowed is {VERSION}",
            CORRUPT,
        )
    if version > VERSION:
        raise Error(
            f"{path}: a log of choices of version {version}; allowed is {VERSION}: "
            "a later Neve reads it",
            USAGE,
        )
    return group


def _of_file(path: Path) -> ChoiceLog | None:
    try:
        with h5py.File(path, "r") as file:
            if not isinstance(file.get(GROUP, getlink=True), h5py.HardLink):
                return None
            return _of_group(_log_group(file, str(path)), path)
    except Error:
        raise
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise Error(f"{path}: its log of choices cannot be read: {error}", CORRUPT) from None


def _of_group(group: h5py.Group, path: Path) -> ChoiceLog:
    place = f"{path}: its log of choices"
    if lacks := [name for name in RULES if name not in group.attrs]:
        raise Error(f"{place} lacks {', '.join(lacks)}", CORRUPT)
    rules = {name: _attribute(group, name, str(path)) for name in RULES}
    check_rules(rules, place, CORRUPT)
    own = _own_rules(group, str(path))
    check_own_rules(own, rules, place, CORRUPT)
    columns = _choice_columns.read(group, _KINDS, path)
    choices = tuple(Choice(*row) for row in zip(*columns, strict=True))
    check_choices(choices, place, CORRUPT)
    check_steps_differ(choices, place, CORRUPT)
    return ChoiceLog(rules, choices, own)


def _own_rules(group: h5py.Group, path: str) -> Any:
    """Of variables with settings of their own, where there are any."""
    if _OWN_RULES not in group.attrs:
        return {}
    text = _attribute(group, _OWN_RULES, path)
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        place = f"{path}: {_OWN_RULES} of its log of choices"
        raise Error(f"{place} cannot be read: {error}", CORRUPT) from None


def _attribute(group: h5py.Group, name: str, path: str) -> Any:
    """As Python has it where it is one value; h5py raises much for what it does not know."""
    try:
        value = group.attrs[name]
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise Error(
            f"{path}: {name} of its log of choices cannot be read: {error}", CORRUPT
        ) from None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.item() if isinstance(value, np.generic) else value
