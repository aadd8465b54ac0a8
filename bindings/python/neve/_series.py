# SPDX-License-Identifier: BSD-3-Clause
"""Series: time steps of variables, each compressed by the lossless method that performs best."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, overload

import h5py
import numpy as np
import numpy.typing as npt

from . import _choice_log, _core
from ._array import DTYPES, thread_count, unmasked
from ._choice import Choice, counts_text, rules_text, short
from ._errors import Error
from ._keywords import checks_keywords
from ._methods import Candidates, candidates_text, weight


class Series:
    """Time steps of variables, compressed bit for bit. What performs best is chosen at a variable's
    first step, kept while it performs as it did then and no other is estimated to perform better by
    more than 0.4 x delta, and chosen again where not; `choices` says what was chosen at each step,
    and why.

    candidates    the methods to choose from: "all" (Neve's ten and "B-zlib"), "acomps" (the nine of
                  ACOMPS), or a list of names, as in neve.compress
    speed_weight, ratio_weight   weights of a method's performance: its speed in 100 MB/s times the
                  first plus its ratio times the second
    delta         a method is kept while its performance stays within this fraction of what it was
                  when it was chosen
    speeds        "typical", which makes the same choices and bytes everywhere, or "measured" (with
                  a speed_weight)
    effort        as in neve.compress
    threads       None: every CPU this process may use. The bytes do not depend on it.

    neve.Error says which argument is wrong, or would have no effect beside the others, and what is
    allowed; TypeError is raised for unknown keywords. Several threads may call step() of
    one series at the same time, each for another variable.
    """

    @checks_keywords
    def __init__(
        self,
        *,
        candidates: Candidates = "all",
        speed_weight: float = 0.0,
        ratio_weight: float = 1.0,
        delta: float = _core.DEFAULT_DELTA,
        speeds: str = "typical",
        effort: str = "fast",
        threads: int | None = None,
    ) -> None:
        for name, text in (("speeds", speeds), ("effort", effort)):
            if not isinstance(text, str):
                raise Error(f"Series: {name}={text!r} is no str")
        numbers = {"speed_weight": speed_weight, "ratio_weight": ratio_weight, "delta": delta}
        options = {name: repr(weight("Series", name, value)) for name, value in numbers.items()}
        options |= {"candidates": candidates_text("Series", candidates), "effort": effort}
        if speeds != "typical":
            options["speeds"] = speeds
        options["threads"] = str(thread_count("Series", threads))
        self._core = _core.Series(options)

    @overload
    def step(self, name: str, values: npt.NDArray[Any] | np.generic) -> bytes: ...
    @overload
    def step(self, name: str, values: Sequence[npt.NDArray[Any]]) -> list[bytes]: ...
    @checks_keywords
    def step(self, name: str, values: Any) -> bytes | list[bytes]:
        """The next step of variable `name`.

        values    an array of float32, float64 or integers of 8 to 64 bits, of any shape, memory
                  layout and byte order; or a list or tuple of such arrays, the chunks of a step,
                  of one dtype and one shape. Both may be others at the next step

        Returns the frame as bytes, which neve.decompress reads, or a list of them, one a chunk.
        neve.Error says what is wrong with the values; TypeError is raised for other dtypes.
        """
        if not isinstance(name, str):
            raise Error(f"Series.step: name={name!r} is no str")
        if "\0" in name:
            raise Error(f"Series.step: name={short(name)} has a NUL, which no file can name")
        is_chunked = isinstance(values, (list, tuple))
        arrays = [_native(chunk) for chunk in (values if is_chunked else [values])]
        first = arrays[0] if arrays else np.empty(0)
        for number, array in enumerate(arrays):
            if (array.dtype, array.shape) == (first.dtype, first.shape):
                continue
            raise Error(
                f"Series.step: chunk {number} of {name!r} is {array.dtype} of shape {array.shape}, "
                f"the first {first.dtype} of shape {first.shape}; chunks of a step are alike"
            )
        frames = self._core.step(name, DTYPES[first.dtype.name], list(first.shape), arrays)
        return frames if is_chunked else frames[0]

    @property
    def choices(self) -> list[Choice]:
        """The log: a neve.Choice for each step of each variable, in the order of the calls, of the
        last 65536 of them. `pandas.DataFrame(series.choices)` is a table of it.
        """
        return [Choice(*row) for row in self._core.choices]

    @property
    def choices_dropped(self) -> int:
        """How many older choices the log no longer has."""
        return self._core.choices_dropped

    @property
    def rules(self) -> dict[str, Any]:
        """What choices are made by: candidates, delta, speeds, speed_weight, ratio_weight."""
        return self._core.rules

    @checks_keywords
    def write_choices(self, file: str | PathLike[str] | h5py.File, *, times: bool = False) -> None:
        """Writes the log into an HDF5 or netCDF-4 file, from which neve.read_choices reads it.

        file     a path, of a file that is made or gets the log beside what it holds; or an
                 h5py.File that is open for writing. A log that is there is replaced
        times    whether it has seconds of choosing and coding, which differ from run to run
        """
        if isinstance(file, h5py.File):
            _choice_log.write(file, self.choices, self.rules, times)
            return
        with h5py.File(file, "a") as opened:
            _choice_log.write(opened, self.choices, self.rules, times)

    def __repr__(self) -> str:
        dropped = self.choices_dropped
        older = f"; the log no longer has the first {dropped} steps" if dropped else ""
        return f"<neve.Series({rules_text(self.rules)}): {counts_text(*self._core.counts)}{older}>"


def _native(values: Any) -> np.ndarray:
    array = unmasked("Series.step", values)
    if array.dtype.name not in DTYPES:
        raise TypeError(
            f"Series.step: values of dtype {array.dtype}; allowed are float32, float64 and "
            "integers of 8 to 64 bits (convert with .astype)"
        )
    native = array.dtype.newbyteorder("=")
    return np.ascontiguousarray(array, dtype=native).reshape(array.shape)
