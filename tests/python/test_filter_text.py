# SPDX-License-Identifier: BSD-3-Clause
"""The filter's parameters by name: neve.filter_parameters and neve.filter_text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tomllib
from hypothesis import given
from hypothesis import strategies as st

import neve

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def keywords(draw: Any) -> dict[str, Any]:
    """What neve.Filter may be given."""
    kind = draw(st.sampled_from(["abs", "rel", "lossless"]))
    given_here: dict[str, Any] = {}
    if kind == "lossless":
        given_here["lossless"] = True
    else:
        given_here[kind] = draw(st.floats(min_value=1e-300, max_value=1.0))
    if kind != "lossless" and (kind == "rel" or draw(st.booleans())):
        given_here["range"] = tuple(sorted(draw(st.tuples(numbers, numbers))))
    if draw(st.booleans()):
        given_here["fill"] = draw(st.lists(numbers, min_size=1, max_size=16))
    if draw(st.booleans()):
        given_here["detect_fill"] = draw(st.booleans())
    if draw(st.booleans()):
        given_here["effort"] = draw(st.sampled_from(["fast", "balanced", "max"]))
    for name in ("speed_weight", "ratio_weight"):
        if draw(st.booleans()):
            given_here[name] = draw(st.floats(min_value=1e-300, max_value=1e300))
    if draw(st.booleans()):
        given_here["candidates"] = draw(st.sampled_from(["all", "acomps", "zstd", "zstd+BW-LZO"]))
    if draw(st.booleans()):
        given_here["rewrite"] = draw(st.booleans())
    return given_here


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def as_text(given_here: dict[str, Any]) -> str:
    """The same by hand."""
    pairs = dict(given_here)
    if "range" in pairs:
        pairs["range.min"], pairs["range.max"] = pairs.pop("range")
    if "fill" in pairs:
        pairs["fill"], *others = pairs["fill"]
        pairs |= {f"missing.{number}": value for number, value in enumerate(others, 1)}
    return ", ".join(f"{name} = {toml_value(value)}" for name, value in pairs.items())


@given(keywords())
def test_the_text_says_what_filter_is_told(given_here: dict[str, Any]) -> None:
    words = neve.Filter(**given_here)["compression_opts"]
    assert neve.filter_parameters(as_text(given_here)) == words
    assert neve.filter_parameters(neve.filter_text(words)) == words


@given(keywords())
def test_the_text_is_toml(given_here: dict[str, Any]) -> None:
    """As HDF5 is to read it: every number of a bound is one with a fraction or an exponent."""
    text = neve.filter_text(neve.Filter(**given_here)["compression_opts"])
    table = tomllib.loads("x = {" + text + "}")["x"]
    for name in ("abs", "rel"):
        assert isinstance(table.get(name, 0.5), float)


def test_a_dataset_tells_its_parameters(tmp_path: Path) -> None:
    values = np.linspace(0, 1, 5000)
    words = neve.filter_parameters("abs = 0.001, fill = -9.0, effort = 'max'")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        data = file.create_dataset(
            "x", data=values, chunks=(999,), compression=466, compression_opts=words, fillvalue=7.0
        )
        stored = data.id.get_create_plist().get_filter(0)[2]
        assert np.abs(data[:] - values).max() <= 0.001
    text = neve.filter_text(stored)
    assert text == 'abs = 0.001, fill = -9.0, missing.1 = 7.0, effort = "max"'


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: neve.filter_parameters(3), "text=3 is no str"),
        (lambda: neve.filter_parameters("abs = 1.0, efort = 'max'"), "did you mean effort"),
        (lambda: neve.filter_parameters("rel = 0.1"), "needs the range of the whole variable"),
        (lambda: neve.filter_text([1.5]), "no whole number"),
        (lambda: neve.filter_text([-1]), "0 to 4294967295 are allowed"),
        (lambda: neve.filter_text([2**32]), "0 to 4294967295 are allowed"),
        (lambda: neve.filter_text([9, 9]), "layout version"),
    ],
)
def test_refusals_name_what_they_found(call: Any, message: str) -> None:
    with pytest.raises(neve.Error, match=message) as refused:
        call()
    assert refused.value.code == 2


words_of_any_origin = st.tuples(
    st.sampled_from([1, 2]),
    st.integers(0, 2),
    st.sampled_from([(0, 0), (1202590843, 1065646817)]),
    st.integers(0, 7),
    st.integers(0, 2),
    st.integers(0, 255),
    st.sampled_from([(0, 0), (5, 0), (0, 0x40140000)]),
).map(lambda w: [w[0], w[1], *w[2], w[3], w[4], w[5], *w[6], *[0] * (w[0] - 1)])


@given(words_of_any_origin)
def test_what_has_a_text_is_accepted(words: list[int]) -> None:
    try:
        text = neve.filter_text(words)
    except neve.Error:
        return
    again = neve.filter_parameters(text)
    assert neve.filter_parameters(neve.filter_text(again)) == again
