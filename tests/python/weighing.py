# SPDX-License-Identifier: BSD-3-Clause
"""Choices of codec lossless under weights of speed and ratio, judged by the score's own formula."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import neve
from neve_bench import variables

EFFORTS = ("fast", "balanced", "max")
# ACOMPS' methods, which heed no effort. Those by LZO and bzip2 need a library that not every reader
# has: where nobody asks for them they are not chosen.
NINE = tuple(f"{b}-{c}" for b in ("B", "BW", "BWXOR") for c in ("LZO", "zlib", "bzip2"))
NEEDS_A_LIBRARY = tuple(name for name in NINE if not name.endswith("zlib"))


class Weights(NamedTuple):
    speed: float
    ratio: float


# By the rising weight of speed against that of the ratio.
WEIGHTS = tuple(
    Weights(speed, ratio)
    for speed, ratio in [
        *[(0, 1), (0.1, 1), (0.3, 1), (0.5, 1), (1, 1), (2, 1)],
        *[(1, 0.25), (1, 0.1), (1, 0.01), (1, 0)],
    ]
)


def typical_speeds(checkout: Path) -> dict[str, float]:
    """Of each method that can be named, in the order of their numbers, from 1 on."""
    rows = (checkout / "src/core/catalog/lossless_methods.hpp").read_text()
    found = re.findall(r'\{LosslessMethod::\w+, "([^"]+)", ([\d.]+)\}', rows)
    return {name: float(speed) for name, speed in found[1:]}


class Section(NamedTuple):
    method: str
    raw_bytes: int
    stored_bytes: float  # with its share of the frame's header


class Coded(NamedTuple):
    sections: list[Section]
    stored_bytes: int

    def score(self, speeds: dict[str, float], weights: Weights) -> float:
        """The mean of its sections' scores."""
        raw_bytes = sum(section.raw_bytes for section in self.sections)
        scores = [
            section.raw_bytes
            * (
                weights.speed * speeds[section.method]
                + weights.ratio * section.raw_bytes / section.stored_bytes
            )
            for section in self.sections
        ]
        return sum(scores) / raw_bytes


class Coder:
    """Arrays by the method that is chosen, and by every one of them."""

    def __init__(self, speeds: dict[str, float]):
        self.speeds = speeds
        self._methods = list(speeds)

    def _coded(self, array: np.ndarray, **options: object) -> Coded:
        frame = neve.compress(array, lossless=True, codec="lossless", **options)
        described = neve.info(frame)
        place = described["header_bytes"]
        header_share = place / len(described["sections"])
        sections = []
        for section in described["sections"]:
            assert section["codec"] == "lossless"
            # Its first byte is the number of its method.
            method = self._methods[frame[place] - 1]
            raw_bytes = section["cells"] * array.itemsize
            sections.append(Section(method, raw_bytes, section["stored_bytes"] + header_share))
            place += section["stored_bytes"]
        return Coded(sections, len(frame))

    def chosen(self, array: np.ndarray, effort: str, weights: Weights) -> Coded:
        options = {"speed_weight": weights.speed, "ratio_weight": weights.ratio}
        return self._coded(array, effort=effort, **options)

    def forced(self, array: np.ndarray, effort: str, methods: list[str]) -> dict[str, Coded]:
        """By those that can hold the values, and whose library is installed."""
        found = {}
        for method in methods:
            try:
                found[method] = self._coded(array, effort=effort, method=method)
            except neve.Error as refused:
                if not re.search(r"different ones|lib(lzo2|bz2)\.so", str(refused)):
                    raise
        return found


def cut(array: np.ndarray, most_bytes: int) -> np.ndarray:
    """Slices from the middle of the slowest direction that has several."""
    while array.ndim > 1 and array.shape[0] == 1:
        array = array[0]
    if array.nbytes <= most_bytes:
        return array
    count = max(1, most_bytes * array.shape[0] // array.nbytes)
    begin = (array.shape[0] - count) // 2
    return np.ascontiguousarray(array[begin : begin + count])


def climate_variables(data: Path, most_bytes: int) -> Iterator[tuple[str, np.ndarray]]:
    """Those that are not one value throughout: such a section needs no method."""
    for case in variables.load(["climate"], data):
        array = cut(case.array, most_bytes)
        words = array.reshape(-1).view(f"u{array.itemsize}")
        if (words != words[0]).any():
            yield case.name, array
