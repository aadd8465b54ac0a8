# SPDX-License-Identifier: BSD-3-Clause
"""Streams: values compressed as they arrive, block after block, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._array import DTYPES, NUMPY_NAMES, fill_value, unmasked
from ._bound import given_range, parse_bound
from ._errors import Error
from ._keywords import checks_keywords
from ._ranges import whole_number

if TYPE_CHECKING:
    from ._core import Readable

BLOCK_VALUES = 1 << 16
CHUNK_BYTES = 32 << 20
CHI = (5.18, 9.69)


def _number(name: str, found: Any) -> int:
    least, most = _core.STREAM_LIMITS[name]
    return whole_number("StreamEncoder", name, found, least, most)


@checks_keywords
def best_stream_dims(
    array: npt.ArrayLike,
    *,
    abs: float,
    range: tuple[float, float] | None = None,
    fill: float | None = None,
    for_engine: bool = False,
) -> int:
    """The best number of prediction directions for a stream of this array, from a sample: each
    adds noise, so that fewer are better for rough fields. 1 to 3; `abs`, `range`, `fill` and
    `for_engine` are the stream's.
    """
    values = unmasked("best_stream_dims", array)
    name = values.dtype.newbyteorder("=").name
    if name not in ("float32", "float64"):
        raise TypeError(f"best_stream_dims: {values.dtype}; allowed are float32 and float64")
    native = np.ascontiguousarray(values, name)
    lowest, highest = (None, None) if range is None else given_range("best_stream_dims", range)
    return _core.best_stream_dims(
        DTYPES[name],
        list(values.shape),
        float(abs),
        lowest,
        highest,
        None if fill is None else fill_value("best_stream_dims", fill),
        bool(for_engine),
        native,
    )


class StreamEncoder:
    """Compresses values as they arrive; what take() gave so far can be decoded without the rest.

    shape       of the whole array, C order; None in the first place leaves the end open
    dtype       float32 or float64
    abs, rel, ratio, psnr   exactly one, as for compress(); rel and psnr need `range`, ratio and
                psnr are controlled chunk by chunk
    best_effort   with a ratio: finish() is no error where the ratio is not reached
    range       (lowest, highest) of all values to come
    fill        the value that marks missing data
    dims        directions that prediction uses, the fastest first: 1 to 3; None: as many as the
                shape has. best_stream_dims() chooses for a whole array
    block_values  values of a block
    chunk_bytes   bytes of values for which one codebook is chosen; the encoder holds them back
    restart_blocks  prediction restarts after so many blocks; 0: never
    codebook_rule   when a chunk gets a codebook of its own: "exact_cost", "chi", "always" or
                "never"
    chi         two thresholds of rule "chi" for the change of the standard deviation of the 1024
                symbol frequencies, each relative to 1/1024; None: those of CEAZ, 5.18 and 9.69
    offline_codebook  the only offline codebook to be used; None: whichever suits best
    for_engine  True: only blocks that Neve's hardware decoder reads, without extra bits, none raw

    neve.Error says which argument is wrong and what is allowed. TypeError is raised for other
    dtypes and for unknown keywords.
    """

    @checks_keywords
    def __init__(
        self,
        shape: int | Sequence[int | None] | None,
        dtype: npt.DTypeLike = np.float32,
        *,
        abs: float | None = None,
        rel: float | None = None,
        ratio: float | None = None,
        psnr: float | None = None,
        best_effort: bool = False,
        range: tuple[float, float] | None = None,
        fill: float | None = None,
        dims: int | None = None,
        block_values: int = BLOCK_VALUES,
        chunk_bytes: int = CHUNK_BYTES,
        restart_blocks: int = 0,
        codebook_rule: str = "exact_cost",
        chi: tuple[float, float] | None = None,
        offline_codebook: int | None = None,
        for_engine: bool = False,
    ) -> None:
        given = {"abs": abs, "rel": rel, "ratio": ratio, "psnr": psnr}
        bound = parse_bound("StreamEncoder", given)
        self._dtype = np.dtype(dtype).newbyteorder("=")
        if self._dtype.name not in ("float32", "float64"):
            raise TypeError(f"StreamEncoder: dtype {self._dtype}; allowed are float32 and float64")
        self._dtype = np.dtype(self._dtype.name)  # numpy's own object, which arrays share
        sizes = [
            0 if n is None else whole_number("StreamEncoder", "shape", n, 0, 2**63 - 1)
            for n in np.atleast_1d(np.asarray(shape, object))
        ]
        if chi is not None and codebook_rule != "chi":
            raise Error(
                f"StreamEncoder: chi has no meaning with codebook_rule={codebook_rule!r}; it is "
                "allowed with codebook_rule='chi'"
            )
        thresholds = CHI if chi is None else chi
        if np.shape(thresholds) != (2,):
            raise Error(f"StreamEncoder: chi={chi!r}; two thresholds are needed")
        lowest, highest = (None, None) if range is None else given_range("StreamEncoder", range)
        self._core = _core.StreamEncoder(
            DTYPES[self._dtype.name],
            sizes,
            bound.mode,
            bound.value,
            bool(best_effort),
            lowest,
            highest,
            None if fill is None else fill_value("StreamEncoder", fill),
            _number("block_values", block_values),
            _number("chunk_bytes", chunk_bytes),
            _number("restart_blocks", restart_blocks),
            str(codebook_rule),
            float(thresholds[0]),
            float(thresholds[1]),
            0 if dims is None else _number("dims", dims),
            -1 if offline_codebook is None else _number("offline_codebook", offline_codebook),
            bool(for_engine),
        )

    def _native(self, values: npt.ArrayLike) -> np.ndarray:
        # What small arrays are as a rule: the questions below take as long as encoding one.
        if type(values) is np.ndarray and values.dtype is self._dtype and values.flags.c_contiguous:
            return values
        array = unmasked("StreamEncoder", values)
        if array.dtype.newbyteorder("=") != self._dtype:
            raise TypeError(f"StreamEncoder: values of {array.dtype}, the stream is {self._dtype}")
        return np.ascontiguousarray(array, self._dtype)

    def push(self, values: npt.ArrayLike) -> None:
        """The next values in C order, any number of them."""
        self._core.push(self._native(values))

    def flush(self) -> None:
        """Makes output of the values pushed so far."""
        self._core.flush()

    def finish(self) -> None:
        """Ends the stream."""
        self._core.finish()

    def take(self) -> bytes:
        """Compressed bytes that are ready; each comes once."""
        return self._core.take()

    def reset(self) -> None:
        """Starts the next stream of the same kind, in the same memory."""
        self._core.reset()

    def encode(self, values: npt.ArrayLike) -> bytes:
        """One whole array as a stream of its own, in the same memory: for many small ones. Values
        that were pushed must have been finished, or dropped by reset().
        """
        return self._core.encode(self._native(values))

    @property
    def reports(self) -> list[dict[str, Any]]:
        """For each finished chunk: its size, bound, error, codebook and why it got that."""
        return self._core.reports


class StreamDecoder:
    """Returns values as bytes of a stream arrive."""

    def __init__(self) -> None:
        self._core = _core.StreamDecoder()

    def push(self, data: Readable) -> None:
        """The next bytes, cut anywhere."""
        self._core.push(data)

    def take(self) -> np.ndarray:
        """Values that are ready, as a 1D array; each comes once."""
        info = self._core.info
        if info is None:
            return np.empty(0, np.float32)  # nothing has come that could say otherwise
        return np.frombuffer(self._core.take(), NUMPY_NAMES[info["dtype"]])

    def finish(self) -> None:
        """Error unless the stream has ended."""
        self._core.finish()

    @property
    def has_ended(self) -> bool:
        return self._core.has_ended

    @property
    def info(self) -> dict[str, Any] | None:
        """The header's contents; None until it has been read."""
        return self._core.info
