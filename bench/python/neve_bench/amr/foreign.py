# SPDX-License-Identifier: BSD-3-Clause
"""Other programs as ways, where they are installed: SZ3, ZFP and SPERR on the pieces of each level
(pieces.py).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata

import numpy as np

from neve._errors import Error

from .. import codec_methods
from . import chunks
from .parse import Method, among
from .pieces import PIECES
from .subject import Part
from .way import NotPossible, PartCoders, Way, by_level

Encode = Callable[[np.ndarray, float], bytes]  # (array, bound)
Decode = Callable[[bytes, np.ndarray, float], np.ndarray]  # (stored, of which shape, bound)


@dataclass(frozen=True)
class Program:
    paper: str
    name: str
    label: str
    package: str  # as PyPI and the import system both call it
    encode: Encode
    decode: Decode
    pieces: tuple[str, ...] = tuple(PIECES)
    least_dims: int = 1

    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None


def _sz3(name: str, label: str, algorithm: str) -> Program:
    return Program(
        "sz3",
        name,
        label,
        "pysz",
        lambda array, bound: codec_methods.sz3_compress(array, bound, algorithm),
        lambda stored, like, bound: codec_methods.sz3_decompress(
            np.frombuffer(stored, np.uint8), like
        ),
    )


def _zfp_encode(array: np.ndarray, bound: float) -> bytes:
    import zfpy

    return zfpy.compress_numpy(array, tolerance=bound)


def _zfp_decode(stored: bytes, like: np.ndarray, bound: float) -> np.ndarray:
    import zfpy

    return zfpy.decompress_numpy(stored)


PROGRAMS = (
    _sz3("default", "SZ3", codec_methods.SZ3_DEFAULT),
    _sz3("lr", "SZ3 Lorenzo+reg", codec_methods.SZ3_LORENZO),
    Program("zfp", "abs", "ZFP", "zfpy", _zfp_encode, _zfp_decode),
    Program(
        "sperr",
        "abs",
        "SPERR",
        "hdf5plugin",
        codec_methods.sperr_compress,
        codec_methods.sperr_decompress,
        ("boxes", "cluster"),
        least_dims=2,
    ),
)


def at_hand() -> tuple[list[str], list[str]]:
    """The ways of installed programs, a text for each of their pieces, and a line about each
    program that is not installed.
    """
    texts, missing = [], []
    for program in PROGRAMS:
        if not program.is_installed():
            missing.append(f"{program.label}: not measured, {program.package} is not installed")
            continue
        default, *others = program.pieces
        name = f"{program.paper}:{program.name}"
        texts += [name, *(f"{name},pieces={pieces}" for pieces in others)]
    return texts, missing


def versions() -> dict[str, str]:
    """Of the installed packages."""
    return {p.package: metadata.version(p.package) for p in PROGRAMS if p.is_installed()}


def _prepare_part(part: Part, program: Program, pieces: str) -> PartCoders:
    if part.bound_abs == 0:
        raise NotPossible(f"level {part.number} has no range: no bound for {program.label}")
    if len(part.domain.lo) < program.least_dims:
        raise NotPossible(
            f"{program.label} takes {program.least_dims} dimensions or more, not "
            f"{len(part.domain.lo)}"
        )
    cut, shapes, joined = PIECES[pieces]

    def encode() -> bytes:
        arrays, told = cut(part)
        texts = [
            memoryview(program.encode(np.ascontiguousarray(array), part.bound_abs)).tobytes()
            for array in arrays
        ]
        return chunks.join([told, *texts])

    def decode(stored: bytes) -> list[np.ndarray]:
        told, *texts = chunks.split(stored)
        arrays = [
            program.decode(text, np.empty(shape, part.values[0].dtype), part.bound_abs)
            for text, shape in zip(texts, shapes(part, told), strict=True)
        ]
        return joined(part, told, arrays)

    return encode, decode


def _method(program: Program) -> Method:
    def make(text: str, chosen: Mapping[str, str]) -> Way:
        if not program.is_installed():
            raise Error(f"way {text!r}: the Python package {program.package} is not installed")

        def prepare_part(part: Part) -> PartCoders:
            return _prepare_part(part, program, chosen["pieces"])

        label = f"{program.label}, {chosen['pieces']}"
        return Way(text, label, program.label, by_level(prepare_part), is_foreign=True)

    return Method(
        program.paper,
        program.name,
        f"{program.label} on arrays, within the absolute bound",
        {"pieces": among(program.pieces[0], *program.pieces)},
        make,
    )


METHODS = [_method(program) for program in PROGRAMS]
