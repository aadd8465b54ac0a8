# SPDX-License-Identifier: BSD-3-Clause
"""A row of the table of readers: an operation of a tool, and what it cannot do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .sample_files import Sample

IDENTICAL = "identical"
IMPOSSIBLE = "impossible"


class Refused(Exception):
    """A tool ended with an error: what it said."""


@dataclass(frozen=True)
class Reason:
    """Why an operation cannot be done on a kind of file."""

    text: str  # for the page
    said: str  # a part of what the tool says


@dataclass(frozen=True)
class Part:
    """What an operation leaves out of a kind of file. The rest is compared."""

    text: str  # for the page
    holds: Callable[[str], bool]  # whether the values of a name are in the result


@dataclass(frozen=True)
class Row:
    tool: str
    operation: str
    act: Callable[[Sample, Path], None]  # raises Refused, or AssertionError where values differ
    impossible: Mapping[str, Reason] = field(default_factory=dict)  # by kind
    parts: Mapping[str, Part] = field(default_factory=dict)  # by kind

    @property
    def name(self) -> str:
        return f"{self.tool}: {self.operation}"

    def outcome(self, kind: str) -> tuple[str, str]:
        """What the page shows: the word, and its footnote's text or nothing."""
        if kind in self.impossible:
            return IMPOSSIBLE, self.impossible[kind].text
        return IDENTICAL, self.parts[kind].text if kind in self.parts else ""


def run_row(row: Row, sample: Sample, folder: Path) -> None:
    """Does what the row says it does, and nothing better."""
    reason = row.impossible.get(sample.kind)
    part = row.parts.get(sample.kind)
    try:
        row.act(sample.only(part.holds) if part else sample, folder)
    except Refused as refusal:
        said = str(refusal)
        assert reason is not None, f"{row.name} on {sample.kind} refuses:\n{said[-3000:]}"
        assert reason.said in said, f"not {reason.said!r}, but:\n{said[-3000:]}"
    else:
        assert reason is None, f"{row.name} on {sample.kind} works, the table says impossible"


def little(values: np.ndarray) -> np.ndarray:
    return values.astype(values.dtype.newbyteorder("<"))


def assert_same(
    found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray], exactly: bool = True
) -> None:
    """Every bit of every value; `exactly`: and no other names."""
    missing = wanted.keys() - found.keys()
    assert not missing, f"missing: {sorted(missing)}; found: {sorted(found)}"
    assert not exactly or found.keys() == wanted.keys(), sorted(found.keys() - wanted.keys())
    for name, values in wanted.items():
        assert found[name].shape == values.shape, name
        assert little(found[name]).dtype == little(values).dtype, name
        assert little(found[name]).tobytes() == little(values).tobytes(), name
