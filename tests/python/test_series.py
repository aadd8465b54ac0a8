# SPDX-License-Identifier: BSD-3-Clause
"""neve.Series: steps of variables, the log of their choices, and what is refused."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import re

import h5py
import numpy as np
import pytest
from arrays import assert_same_bits
from conftest import CHECKOUT

import neve


def wave(step: int, shape: tuple[int, ...] = (48, 64), dtype: str = "f8") -> np.ndarray:
    place = np.arange(np.prod(shape), dtype=float)
    return np.sin(place / 40 + step / 10).reshape(shape).astype(dtype)


def levels(step: int, shape: tuple[int, ...] = (48, 64), dtype: str = "f8") -> np.ndarray:
    return np.random.default_rng(step).integers(0, 3, shape).astype(dtype)


def as_stored(array: np.ndarray) -> np.ndarray:
    return neve.decompress(neve.Series().step("x", array))


SPECIAL = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1.7e308, 1e20, -999.0])


@pytest.mark.parametrize(
    "array",
    [
        SPECIAL,
        np.where(np.abs(SPECIAL) < 1e38, SPECIAL, np.inf).astype("f4"),
        np.full(1000, np.nan),
        np.empty((0, 5)),
        np.empty((3, 0), "i4"),
        np.array(2.5),
        np.array(-7, "i8"),
        wave(0)[::2, ::-1],
        np.asfortranarray(wave(1, dtype="f4")),
        *(np.arange(-100, 100).astype(kind) for kind in ("i1", "u1", "i2", "u2", "i4", "u8", "i8")),
    ],
    ids=lambda a: f"{a.dtype}{list(a.shape)}",
)
def test_every_bit_comes_back(array: np.ndarray) -> None:
    assert_same_bits(as_stored(array), np.ascontiguousarray(array).reshape(array.shape))


def test_other_byte_orders_come_back_as_the_machines() -> None:
    assert_same_bits(as_stored(wave(0).astype(">f8")), wave(0))


def test_chunks_of_a_step_are_frames_of_their_own() -> None:
    series = neve.Series()
    chunks = [wave(0)[:24], wave(0)[24:]]
    frames = series.step("x", chunks)
    assert isinstance(frames, list) and len(frames) == 2
    for frame, chunk in zip(frames, chunks, strict=True):
        assert_same_bits(neve.decompress(frame), chunk)
    (choice,) = series.choices
    assert (choice.raw_bytes, choice.coded_bytes) == (wave(0).nbytes, sum(map(len, frames)))
    assert series.step("x", []) == []


def test_the_log_says_what_was_chosen_and_why() -> None:
    series = neve.Series(candidates="acomps", speed_weight=1, ratio_weight=1)
    sizes = []
    for step in range(12):
        sizes.append(len(series.step("x", (wave if step < 6 else levels)(step))))
        series.step("y", wave(step))
    log = [choice for choice in series.choices if choice.variable == "x"]
    assert [choice.step for choice in log] == list(range(12))
    assert [choice.coded_bytes for choice in log] == sizes
    assert log[0].reason == "first" and log[0].estimate > 0
    assert {choice.reason for choice in log} <= {"kept", "first", "drift", "rival", "due"}
    assert any(choice.is_new for choice in log[6:8]), log
    assert log[0].method != log[8].method
    assert all(choice.raw_bytes == wave(0).nbytes for choice in log)
    assert all(choice.performance > 0 and choice.coding_seconds > 0 for choice in log)
    nine = {f"{b}-{c}" for b in ("B", "BW", "BWXOR") for c in ("LZO", "zlib", "bzip2")}
    assert {choice.method for choice in log} <= nine
    others = [choice for choice in series.choices if choice.variable == "y"]
    assert [choice.reason for choice in others[1:6]] == ["kept"] * 5
    assert series.choices_dropped == 0
    assert series.rules == {
        "candidates": "acomps",
        "delta": 0.05,
        "speeds": "typical",
        "speed_weight": 1.0,
        "ratio_weight": 1.0,
    }
    assert "24 steps of 2 variables" in repr(series)


def test_a_rule_that_would_do_nothing_is_told_in_words_of_python() -> None:
    with pytest.raises(neve.Error) as refused:
        neve.Series(speeds="measured")
    assert "speeds has no meaning: speeds have no weight; allowed with a speed w" in str(
        refused.value
    )
    assert "--" not in str(refused.value)
    assert neve.Series(candidates="zstd + lz4").rules["candidates"] == "zstd+lz4"


def test_all_steps_are_counted_also_those_that_the_log_has_dropped() -> None:
    series = neve.Series(threads=1)
    for step in range(3):
        series.step(f"x{step}", wave(step))
    for _ in range(2**16 + 100):
        series.step("y", np.empty(0))
    assert series.choices_dropped == 103 and len(series.choices) == 2**16
    made = 3 + sum(choice.is_new for choice in series.choices) + 100
    told = repr(series)
    assert f"{2**16 + 103} steps of 4 variables, {made} choices" in told
    assert "the log no longer has the first 103 steps" in told
    series.step("x0", wave(0))
    assert f"{2**16 + 104} steps of 4 variables, {made} choices" in repr(series)


def test_a_choice_is_a_row_of_a_table() -> None:
    series = neve.Series()
    series.step("x", wave(0))
    (choice,) = series.choices
    with pytest.raises(dataclasses.FrozenInstanceError):
        choice.step = 3  # type: ignore[misc]
    row = dataclasses.asdict(choice)
    assert row["variable"] == "x" and row["step"] == 0 and row["method"] == choice.method
    assert "variable='x'" in repr(choice)
    assert choice.ratio == choice.raw_bytes / choice.coded_bytes


def test_shape_and_type_may_change_between_steps() -> None:
    series = neve.Series(candidates="acomps")
    for array in (
        wave(0),
        wave(1, (96, 16)),
        wave(2, (1000,), "f4"),
        levels(3, (4, 5, 6), "i2"),
        levels(4, (), "u1"),
        np.empty((0, 3), "f4"),
        wave(5),
    ):
        assert_same_bits(neve.decompress(series.step("x", array)), array)
    assert len(series.choices) == 7


def test_frames_do_not_depend_on_threads() -> None:
    one, four = (
        neve.Series(candidates="acomps", speed_weight=0.5, threads=threads) for threads in (1, 4)
    )
    for step in range(5):
        array = (wave if step < 3 else levels)(step, (300, 400))
        assert one.step("x", array) == four.step("x", array)
    assert [c.method for c in one.choices] == [c.method for c in four.choices]
    assert len(one.choices) == 5


def test_threads_may_step_distinct_variables_at_once() -> None:
    series = neve.Series(threads=1)
    names = [f"v{i}" for i in range(4)]

    def steps(name: str) -> list[bytes]:
        return [series.step(name, wave(step)) for step in range(6)]

    with concurrent.futures.ThreadPoolExecutor() as pool:
        frames = list(pool.map(steps, names))
    assert all(made == frames[0] for made in frames)
    assert len(series.choices) == 24


def test_candidates_are_the_only_ones() -> None:
    for candidates in ("zstd", ["zstd"], ("ZSTD", "BW-zlib"), "acomps", "zstd+BW-zlib"):
        series = neve.Series(candidates=candidates)
        series.step("x", wave(0))
        (choice,) = series.choices
        allowed = {"zstd"} if "BW-zlib" not in str(candidates) else {"zstd", "BW-zlib"}
        assert choice.method in allowed or candidates == "acomps"


def test_compress_takes_candidates_too() -> None:
    array = wave(0)
    frame = neve.compress(array, lossless=True, candidates=["BW-zlib"])
    assert frame == neve.compress(array, lossless=True, method="BW-zlib")
    assert_same_bits(neve.decompress(frame), array)
    with pytest.raises(neve.Error, match="candidates has no meaning"):
        neve.compress(array, lossless=True, method="zstd", candidates="acomps")


def test_measured_speeds_are_an_option() -> None:
    series = neve.Series(candidates="acomps", speed_weight=1, speeds="measured")
    for step in range(3):
        assert_same_bits(neve.decompress(series.step("x", wave(step))), wave(step))
    assert series.rules["speeds"] == "measured"


def test_the_log_goes_into_a_file(tmp_path) -> None:
    series = neve.Series(candidates="acomps", speed_weight=1)
    for step in range(3):
        series.step("x", wave(step))
    path = tmp_path / "log.h5"
    series.write_choices(path)
    log = neve.read_choices(path)
    assert log.rules == series.rules
    without_times = [
        dataclasses.replace(choice, choosing_seconds=0, coding_seconds=0)
        for choice in series.choices
    ]
    assert [
        dataclasses.replace(choice, choosing_seconds=0, coding_seconds=0) for choice in log.choices
    ] == without_times
    assert all(np.isnan(choice.coding_seconds) for choice in log.choices)
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["values"] = wave(0)
        series.write_choices(file, times=True)
    assert list(neve.read_choices(tmp_path / "data.h5").choices) == series.choices


@pytest.mark.parametrize(
    ("keywords", "part"),
    [
        ({"candidates": "gzip"}, 'lossless method "gzip" unknown'),
        ({"candidates": "auto"}, "auto is no method to choose from; allowed: all or acomps alone"),
        ({"candidates": "acomps+zstd"}, 'lossless method "acomps" unknown'),
        ({"candidates": "x" * 5000}, f'"{"x" * 40}..." unknown'),
        ({"candidates": []}, "candidates=[]"),
        ({"candidates": 3}, "candidates=3"),
        ({"candidates": ["zstd", 3]}, "candidates=['zstd', 3]"),
        ({"speed_weight": -1}, "speed_weight=-1"),
        ({"speed_weight": "1"}, "speed_weight='1'"),
        ({"ratio_weight": float("inf")}, "ratio_weight=inf"),
        ({"ratio_weight": 0}, "both 0"),
        ({"delta": -0.1}, "delta=-0.1"),
        ({"delta": float("nan")}, "delta=nan"),
        ({"delta": None}, "delta=None"),
        ({"speeds": "fast", "speed_weight": 1}, 'speeds "fast" unknown'),
        ({"speeds": "measured"}, "speeds has no meaning"),
        ({"speeds": 1}, "speeds=1"),
        ({"effort": "huge"}, 'effort "huge" unknown'),
        ({"effort": None}, "effort=None"),
        ({"threads": 0}, "threads"),
    ],
)
def test_a_series_refuses_by_name(keywords: dict[str, object], part: str) -> None:
    with pytest.raises(neve.Error) as refused:
        neve.Series(**keywords)  # type: ignore[arg-type]
    assert part in str(refused.value)
    assert refused.value.code == 2


def test_a_series_refuses_unknown_keywords() -> None:
    with pytest.raises(TypeError, match="did you mean candidates="):
        neve.Series(candidate="zstd")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'rel'"):
        neve.Series(rel=1e-3)  # type: ignore[call-arg]


def test_a_step_refuses_what_it_cannot_take() -> None:
    series = neve.Series()
    for values in (wave(0).astype("c16"), wave(0) > 0, np.array(["a"]), wave(0).astype("f2")):
        with pytest.raises(TypeError, match="dtype"):
            series.step("x", values)
    masked = np.ma.masked_greater(wave(0), 0.5)
    with pytest.raises(neve.Error, match="masked"):
        series.step("x", masked)
    with pytest.raises(neve.Error, match="name=3"):
        series.step(3, wave(0))  # type: ignore[arg-type]
    with pytest.raises(neve.Error, match="NUL"):
        series.step("a\0b", wave(0))
    for other in (wave(0)[:, :3], wave(0, dtype="f4")):
        with pytest.raises(neve.Error, match="chunk 1 of 'x'"):
            series.step("x", [wave(0), other])
    assert series.choices == []


def test_a_log_goes_only_where_it_can(tmp_path) -> None:
    with pytest.raises(OSError):
        neve.Series().write_choices(tmp_path / "no" / "folder.h5")


def test_the_documented_lines_run(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    page = (CHECKOUT / "docs" / "python.md").read_text()
    (block,) = re.findall(r"^## Time steps\n+```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    exec(block, {"neve": neve})
    told = capsys.readouterr().out.splitlines()
    assert len(told) >= 2, "the second method is not told"


def phases(step: int, count: int = 60000) -> np.ndarray:
    """A wave of single precision: nearly all values differ, but fewer than method rank holds."""
    return np.sin((np.arange(count) / 300 + step).astype("f4"))


@pytest.mark.parametrize("candidates", ["all", "lorenzo+rank"])
def test_ranks_of_values_that_all_differ_are_not_overlooked(candidates: str) -> None:
    series = neve.Series(candidates=candidates)
    for step in range(3):
        values = phases(step)
        assert len(np.unique(values)) > 59000
        ranked = neve.compress(values, lossless=True, method="rank")
        assert len(series.step("x", values)) <= 1.05 * len(ranked)
    assert {choice.method for choice in series.choices} == {"rank"}


def test_steps_with_nothing_to_choose_say_so() -> None:
    series = neve.Series()
    nothing = [np.empty((0, 5)), [], np.full(1000, 2.5)]
    for values in [*nothing, wave(0), *nothing]:
        series.step("x", values)
    log = series.choices
    methods = ["constant"] * 3
    assert [choice.method for choice in log] == [*methods, log[3].method, *methods]
    assert log[3].method != "constant"
    assert [choice.reason for choice in log] == ["first"] * 4 + ["kept"] * 3


def test_figures_of_steps_of_another_size_are_no_estimates() -> None:
    series = neve.Series()
    rng = np.random.default_rng(1)
    for step in range(20):
        count = 500 if step % 7 == 3 else 60000
        is_wave = step < 15
        values = phases(step, count) if is_wave else rng.integers(0, 5, count).astype("f4")
        series.step("x", values)
    small = {c.performance for c in series.choices if c.raw_bytes == 2000}
    large = [c for c in series.choices if c.raw_bytes == 240000]
    assert all(c.rival_estimate not in small and c.estimate not in small for c in large)
