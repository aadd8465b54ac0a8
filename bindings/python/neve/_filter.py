# SPDX-License-Identifier: BSD-3-Clause
"""The HDF5 filter as h5py's create_dataset takes it."""

from __future__ import annotations

import builtins
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._array import fill_value, integer_fill
from ._bound import given_range, parse_bound
from ._errors import Error
from ._keywords import checks_keywords
from ._methods import Candidates, candidates_text, weight

FILTER_ID = _core.FILTER_ID

# cd_values (docs/format.md): the words a user gives; the filter adds dtype, chunk shape and the
# dataset's own fill value itself.
_LOSSLESS, _ABS, _REL = 0, 1, 2
_FILL_GIVEN, _DETECT_FILL, _INTEGER_FILL, _WRITTEN_ONCE, _RANGE_GIVEN = 1, 2, 4, 8, 16

_EXACT_IN_DOUBLE = 2**53

CHUNK_TARGET_BYTES = 4 << 20

_CHOICES_UNTOLD = {
    "codec": "auto",
    "effort": "fast",
    "candidates": "all",
    "speed_weight": 0,
    "ratio_weight": 1,
}


def _choice(what: str, value: Any, allowed: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in allowed:
        raise Error(f"Filter: {what}={value!r}; allowed: {', '.join(allowed)}")
    return allowed[value]


def _double_words(value: float) -> tuple[int, int]:
    """The bits of a double as two 32-bit words, the low one first: a bound must arrive bit for
    bit.
    """
    return struct.unpack("<II", struct.pack("<d", value))


def _fill_words(fill: Any) -> tuple[int, tuple[int, int]]:
    """Flags and words of the first fill value."""
    if fill is None:
        return 0, (0, 0)
    if isinstance(fill, (int, np.integer)) and _EXACT_IN_DOUBLE < builtins.abs(int(fill)) < 2**64:
        wide: np.dtype[Any] = np.dtype(np.int64 if int(fill) < 0 else np.uint64)
        bits = integer_fill("Filter", fill, wide)
        return _FILL_GIVEN | _INTEGER_FILL, (bits & 0xFFFFFFFF, bits >> 32)
    return _FILL_GIVEN, _double_words(fill_value("Filter", fill))


def _fill_list(fill: Any) -> list[Any]:
    """`fill=` as a list: None, one value or several."""
    if fill is None:
        return []
    several = fill if np.ndim(fill) == 1 else [fill]
    for one in several:
        if one is None or one is np.ma.masked or isinstance(one, (bool, np.bool_)):
            raise Error(f"Filter: fill={fill!r}; allowed is a number, or a list of numbers")
    fills = [one.item() if isinstance(one, np.generic) else one for one in several]
    if len(fills) > _core.MAX_MISSING:
        most = _core.MAX_MISSING
        raise Error(f"Filter: fill= has {len(fills)} values; at most {most} are allowed")
    return fills


def _measured(data: Any, fills: list[Any], detect_fill: bool) -> tuple[Any, list[Any]]:
    """The range of an array's valid values, None where it has none, and its fill values."""
    if isinstance(data, np.ma.MaskedArray):
        fills = fills or [data.fill_value.item()] * np.ma.is_masked(data)
        hidden = np.ma.getdata(data)[np.ma.getmaskarray(data)]
        if hidden.size and not np.isin(hidden, np.array(fills, hidden.dtype)).all():
            raise Error(
                "Filter: data= has masked values whose numbers are none of its fill values "
                f"{fills}; write array.filled(v), and give that as data= and v as fill="
            )
        data = data.compressed()
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise Error(f"Filter: data= is no array: {error}") from None
    if array.dtype.name not in ("float32", "float64"):
        raise Error(
            f"Filter: data= has dtype {array.dtype}; a range is for float32 and float64, and "
            "integers take lossless=True"
        )
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    numbers = [fill_value("Filter", fill) for fill in fills]
    first = float(array.dtype.type(numbers[0])) if numbers else None
    found = _core.measure(array, array.dtype.itemsize == 4, first, numbers[1:], detect_fill)
    if found["fill"] is not None and not fills:
        fills = [found["fill"]]
    return (None if found["min"] is None else (found["min"], found["max"])), fills


def _range_and_fills(
    lossless: bool,
    range: tuple[float, float] | None,
    data: Any,
    fills: list[Any],
    detect_fill: bool,
) -> tuple[tuple[float, float] | None, list[Any]]:
    """What values lie between, where anybody says so, and the fill values, found ones too."""
    if data is not None and range is not None:
        raise Error("Filter: data= and range= are given; either of them tells the range")
    if lossless and (data is not None or range is not None):
        raise Error("Filter: a range has no meaning with lossless=True")
    if data is None:
        return (None if range is None else given_range("Filter", range)), fills
    limits, fills = _measured(data, fills, detect_fill)
    return limits or (0.0, 0.0), fills  # zeros: nothing that the bound holds for


class Filter(Mapping[str, Any]):
    """Keyword arguments for create_dataset: `f.create_dataset("t", data=t,
    **neve.Filter(abs=1e-3))`.

    Every value that is read stays within the bound of the value that was written, however often
    chunks are written in parts, extended, repacked or copied by other tools.

    abs, lossless   as in neve.compress
    rel             relative to the range of all values, which the filter cannot see: give the array
                    itself, `data=t`, or its range without fill values, `range=(lowest, highest)`;
                    name the fill values of `t` with `fill=`
    data, range     also improve `abs` for float32 values far from 0
    fill            the value that marks missing data, or a list of up to 16. They come back bit for
                    bit, and no other value becomes one of them. The dataset's own fill value (h5py:
                    fillvalue=, xarray: _FillValue) need not be named; one that only an attribute
                    holds, such as missing_value, must be. None: detected, in `data` if that is
                    given, else in each chunk, unless detect_fill=False
    codec, effort   as in neve.compress. Without rewrite=False they choose among the codecs that
                    keep their decoded values when these are encoded again: "dual_quant", "exact"
                    and "lossless"
    candidates, speed_weight, ratio_weight   as in neve.compress: how codec "lossless" chooses its
                    method, and with a bound the weights how "auto" chooses. They are kept in the
                    file, so that chunks that are written later choose likewise
    rewrite         False: each chunk is written once and whole. Then all codecs are available, and
                    `rel` may be relative to each chunk's own values, which is never looser than
                    over the whole dataset. Writing into such a chunk again adds the error again;
                    tools that copy the dataset, or its properties, keep values bit for bit.

    Chunks are the unit of compression, and h5py's own guess (16 KiB to 1 MiB) is too small. Give
    `chunks=neve.guess_chunks(shape, dtype)` to create_dataset, or your own of about 1 to 8 MiB.
    Datasets are float32, float64, or integers of 8 to 64 bits, which take `lossless=True` only, and
    have 1 to 32 dimensions; HDF5 refuses filters on scalars. An int as `fill` is exact where a
    float would not be.
    """

    @checks_keywords
    def __init__(
        self,
        *,
        rel: float | None = None,
        abs: float | None = None,
        lossless: bool = False,
        range: tuple[float, float] | None = None,
        data: npt.ArrayLike | None = None,
        fill: float | Sequence[float] | npt.NDArray[Any] | None = None,
        detect_fill: bool = True,
        codec: str = "auto",
        effort: str = "fast",
        candidates: Candidates = "all",
        speed_weight: float = 0.0,
        ratio_weight: float = 1.0,
        rewrite: bool = True,
    ) -> None:
        bound = parse_bound("Filter", {"abs": abs, "rel": rel, "lossless": lossless})
        mode, value = bound.mode, bound.value
        codec_word = _choice("codec", codec, _core.CODECS)
        effort_word = _choice("effort", effort, _core.EFFORTS)
        for name, switch in (("rewrite", rewrite), ("detect_fill", detect_fill)):
            if not isinstance(switch, (bool, np.bool_)):
                raise Error(f"Filter: {name}={switch!r} is not True or False")
        limits, fills = _range_and_fills(lossless, range, data, _fill_list(fill), detect_fill)
        if mode == _REL and limits is not None:
            mode, value = _core.bound_in_range(value, *limits)
        flags, first_fill = _fill_words(fills[0] if fills else None)
        flags |= (_DETECT_FILL if detect_fill else 0) | (0 if rewrite else _WRITTEN_ONCE)
        on_methods = _core.words_on_methods(
            candidates_text("Filter", candidates),
            weight("Filter", "speed_weight", speed_weight),
            weight("Filter", "ratio_weight", ratio_weight),
        )
        words = [_core.FILTER_LAYOUTS[bool(on_methods)], mode, *_double_words(value)]
        words += [codec_word, effort_word]
        words += [flags | (0 if limits is None else _RANGE_GIVEN), *first_fill]
        words.append(len(fills[1:]))
        for other_fill in fills[1:]:
            words += _double_words(fill_value("Filter", other_fill))
        for limit in limits or ():
            words += _double_words(limit)
        words += on_methods
        _core.check_filter_words(words)
        self._arguments = {"compression": FILTER_ID, "compression_opts": tuple(words)}
        chosen = {"codec": codec, "effort": effort, "candidates": candidates}
        weights = {"speed_weight": speed_weight, "ratio_weight": ratio_weight}
        self._text = self._described(
            mode, value, rel, limits, fills, {**chosen, **weights}, rewrite
        )

    @staticmethod
    def _described(
        mode: int,
        value: float,
        rel: float | None,
        limits: tuple[float, float] | None,
        fills: list[Any],
        choices: dict[str, Any],
        rewrite: bool,
    ) -> str:
        parts = [{0: "lossless=True", _ABS: f"abs={value!r}", _REL: f"rel={value!r}"}[mode]]
        if limits is not None:
            parts.append(f"range=({limits[0]!r}, {limits[1]!r})")
        if fills:
            parts.append(f"fill={fills[0] if len(fills) == 1 else fills!r}")
        parts += [f"{k}={v!r}" for k, v in choices.items() if v != _CHOICES_UNTOLD[k]]
        parts += ["rewrite=False"] * (not rewrite)
        of_range = f", from rel={rel!r}" if rel is not None and mode != _REL else ""
        return f"neve.Filter({', '.join(parts)}){of_range}"

    def __getitem__(self, key: str) -> Any:
        return self._arguments[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arguments)

    def __len__(self) -> int:
        return len(self._arguments)

    def __repr__(self) -> str:
        return self._text


@checks_keywords
def filter_parameters(text: str) -> tuple[int, ...]:
    """The numbers (cd_values) that HDF5's functions and tools take for the filter, from its
    parameters by name, as they stand inside an inline table of TOML:
    `neve.filter_parameters('abs = 0.01, effort = "max"')`.

    The names are those of neve.Filter: abs, rel, lossless, range.min and range.max, fill,
    missing.1, missing.2 and so on (further fill values), detect_fill, codec, effort, candidates
    (names with + between them), speed_weight, ratio_weight, rewrite; and has_bound, with which
    chunks that are encoded again keep every bit. Texts stand in quotation marks. Without a bound:
    lossless. Raises neve.Error with exit code 2.
    """
    if not isinstance(text, str):
        raise Error(f"filter_parameters: text={text!r} is no str")
    return tuple(_core.filter_parameters(text))


@checks_keywords
def filter_text(cd_values: Sequence[int]) -> str:
    """The parameters by name that `cd_values` stand for: those given to HDF5, or those it stores
    with a dataset (h5py: `dataset.id.get_create_plist().get_filter(0)[2]`), without what the filter
    takes from the dataset itself. The inverse of filter_parameters. Raises neve.Error with exit
    code 2.
    """
    return _core.filter_text([_word(word) for word in cd_values])


def stored_bound(cd_values: Sequence[int]) -> float | None:
    """The absolute bound in the parameters that HDF5 stores with a dataset: 0 where every bit is
    kept, None where it depends on the values or the words are none of Neve's filter.
    """
    if len(cd_values) <= 3 or cd_values[1] not in (_LOSSLESS, _ABS):
        return None
    bound: float = struct.unpack("<d", struct.pack("<II", *cd_values[2:4]))[0]
    return bound


def _word(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise Error(f"filter_text: {value!r} in cd_values is no whole number")
    if not 0 <= int(value) < 2**32:
        raise Error(f"filter_text: {value!r} in cd_values; 0 to {2**32 - 1} are allowed")
    return int(value)


# Below this a chunk's header and index weigh against its values.
_MIN_CHUNK_BYTES = 256 << 10


@checks_keywords
def guess_chunks(
    shape: Sequence[int],
    dtype: npt.DTypeLike,
    target_bytes: int = CHUNK_TARGET_BYTES,
    *,
    append_axis: int | None = None,
) -> tuple[int, ...]:
    """A chunk shape of at most `target_bytes`, as near to a cube as halving the longest side gets,
    for a dataset of `shape`, slowest first; sizes may be 0.

    `append_axis` is the axis along which values are appended, one index a write, such as time. A
    chunk then holds one index of it, or more only where that would be under 256 KiB, so that each
    chunk is coded once, or a few times, and not once for every index of a large chunk.
    """
    sizes = [max(int(n), 1) for n in shape]
    itemsize = np.dtype(dtype).itemsize

    def size_bytes() -> int:
        return int(np.prod(sizes, dtype=object)) * itemsize

    if append_axis is not None:
        if not -len(sizes) <= append_axis < len(sizes):
            raise Error(
                f"guess_chunks: append_axis={append_axis} is no axis of a shape of {len(sizes)}"
            )
        most = sizes[append_axis] if int(shape[append_axis]) > 0 else _MIN_CHUNK_BYTES
        sizes[append_axis] = 1
        sizes[append_axis] = min(most, max(1, _MIN_CHUNK_BYTES // size_bytes()))
    while size_bytes() > target_bytes and max(sizes) > 1:
        longest = sizes.index(max(sizes))
        sizes[longest] = (sizes[longest] + 1) // 2
    return tuple(sizes)
