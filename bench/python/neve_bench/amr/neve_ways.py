# SPDX-License-Identifier: BSD-3-Clause
"""Neve's own ways: its choice, and each codec and arrangement forced."""

from __future__ import annotations

from collections.abc import Mapping

from . import frames
from .parse import Method, among
from .subject import Part
from .way import PartCoders, Way, by_level

EFFORTS = ("fast", "balanced", "max")
CODECS = ("dual_quant", "axis_passes", "lorenzo_regression", "interpolation", "context")
ARRANGEMENTS = ("auto", "in_place", "linear", "cluster")
UNITS = ("0", "8", "16", "32", "64")  # 0: chosen


def frame_way(text: str, label: str, source: str, options: Mapping[str, str]) -> Way:
    """Each level one frame, made with these options of `neve convert`."""

    def prepare_part(part: Part) -> PartCoders:
        return (
            lambda: frames.encode_part(part, options),
            lambda stored: frames.decode_part(part, stored),
        )

    return Way(text, label, source, by_level(prepare_part))


def _auto(text: str, settings: Mapping[str, str]) -> Way:
    return frame_way(text, f"Neve {settings['effort']}", "Neve", settings)


def _forced(codec: str) -> Method:
    def make(text: str, settings: Mapping[str, str]) -> Way:
        label = f"Neve {text.removeprefix('neve:').replace(',', ' ')}"
        return frame_way(text, label, "Neve", {"codec": codec, **settings})

    settings = {
        "effort": among("max", *EFFORTS),
        "arrangement": among("auto", *ARRANGEMENTS),
        "unit": among("0", *UNITS),
    }
    return Method("neve", codec, f"codec {codec} for every section", settings, make)


METHODS = [
    Method("neve", "auto", "Neve's choice", {"effort": among("balanced", *EFFORTS)}, _auto),
    *map(_forced, CODECS),
]
