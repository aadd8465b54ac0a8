# SPDX-License-Identifier: BSD-3-Clause
"""AMReX's compressed HDF5 output, AMRIC's baseline: a level of a rank is one run of values, box
after box, x fastest in a box, cut every `chunk` values wherever that falls; each piece is
compressed alone as an array of one dimension (AMRIC, sections 3.3 and 4.1).

Of AMReX's run, in which all fields of a box follow each other, these are the values of one field.
The last piece is as long as what is left: AMReX pads it. What is stored of a piece is its whole
frame, and its length in the index of the chunks. SZ's own chunks have less overhead (a ramp of 1024
values takes pysz 1.1.0, SZ3, 133 bytes and a frame 172) and take more all the same: on density of
two Nyx files and Ex of a WarpX file, at rel 1e-3 and 1e-2, SZ3's Lorenzo and regression takes 4 to
12 % more than these frames. test_amr_foreign.py compares them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from . import chunks, frames, ranks
from .parse import Method, among, whole_number
from .runs import boxes_of_run, held_again, run_of, told_of_held
from .subject import Part
from .way import PartCoders, Way

CHUNK = 1024  # AMReX's
EFFORT = "max"
CODECS = {"lr": "lorenzo_regression", "interp": "interpolation"}


def _prepare_part(part: Part, codec: str, length: int) -> PartCoders:
    options = {"codec": CODECS[codec], "effort": EFFORT}
    told = told_of_held(part)

    def encode() -> bytes:
        run = run_of(part.values, part.held)
        pieces = [run[at : at + length] for at in range(0, len(run), length)]
        texts = [frames.encode_array(piece, part.bound_abs, options) for piece in pieces]
        return chunks.join([told, *texts])

    def decode(stored: bytes) -> list[np.ndarray]:
        told_again, *texts = chunks.split(stored)
        run = np.concatenate([frames.decode_array(text) for text in texts])
        return boxes_of_run(run, held_again(part, told_again))

    return encode, decode


def _make(text: str, chosen: Mapping[str, str]) -> Way:
    def prepare_part(part: Part) -> PartCoders:
        return _prepare_part(part, chosen["codec"], int(chosen["chunk"]))

    interp = ", SZ_Interp" if chosen["codec"] == "interp" else ""
    chunk = "" if chosen["chunk"] == str(CHUNK) else f", chunks of {chosen['chunk']}"
    return Way(
        text,
        f"AMReX 1D{interp}{chunk}{ranks.label_of(chosen)}",
        "AMRIC, section 4.1: AMReX",
        ranks.over_ranks(text, prepare_part, chosen),
        ranks=int(chosen["ranks"]),
    )


METHODS = [
    Method(
        "amrex",
        "1d",
        "runs of one dimension, each piece compressed alone",
        {
            "codec": among("lr", *CODECS),
            "chunk": whole_number(CHUNK, 1, 1 << 30),
            **ranks.settings(),
        },
        _make,
    )
]
