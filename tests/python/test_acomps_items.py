# SPDX-License-Identifier: BSD-3-Clause
"""What the study of ACOMPS makes of numbers: rules, scores, claims and readers, recomputed here by
other means.
"""

import bz2
import math
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

import neve

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench" / "python"))
from neve._errors import Error
from neve_bench.acomps import (
    arrays,
    chooser,
    cycles,
    drawing,
    inputs,
    made,
    measured,
    methods,
    plan,
    points,
    published,
    requests,
    tell,
    work,
)
from neve_bench.acomps.inputs import Inputs, Series, Variable
from neve_bench.acomps.items import (
    ITEMS,
    conclusions,
    slide_3,
    slide_4,
    slide_5,
    slide_6,
    slide_8,
    slide_9,
    slide_11,
    slide_14,
    slide_15,
    slide_16,
)
from neve_bench.acomps.methods import ACOMPS, ALL, CANDIDATES, EVERY, NINE, NINETEEN
from neve_bench.acomps.requests import (
    DELTAS,
    WEIGHTS,
    WEIGHTS_OF_SERIES,
    Chunks,
    Cycle,
    Followed,
    Speeds,
    StepTables,
    Table,
    Threads,
    Weighed,
)
from neve_bench.acomps.results import Results, Subject
from neve_bench.acomps.settings import Settings

EVERY_ITEM = tuple(item.name for item in ITEMS)
SETTINGS = Settings(EVERY_ITEM, (), 1.0, 2, 2, (24, 20), 2, 1, 129.0)
HEAT = Variable("wrf.nc", "id", "T", "float32", (4, 16, 16), 4)
RAIN = Variable("wrf.nc", "id", "QRAIN", "float32", (4, 16, 16), 0)
OWN = Series("wrf.nc:T", "id", 4, "T", ("id",))
MADE = Series("made: wave, showers, layers", "", made.STEPS, "", ())
SUBJECT = Subject(SETTINGS, Inputs((HEAT, RAIN), (MADE, OWN), (), {}))
TYPICAL = dict.fromkeys(ALL, 1.0)
RAW = 1000


def table(sizes, seconds=1e-5, **more):
    """What work.table gives, with bytes by method; all others take 900."""
    found = {
        "raw_bytes": RAW,
        "is_constant": False,
        "methods": {
            m: {"bytes": sizes.get(m, 900), "is_exact": True, "encode_s": seconds, "decode_s": 1e-6}
            for m in ALL
        },
        "shape": [250],
        "dtype": "float32",
        "entropy": [1.0, 4.0, 7.5, 8.0],
        "plain": {"zlib": 950, "bzip2": 940, "LZO": 999},
        "lossy": {"rel": 1e-3, "bytes": 50, "changed": 200, "of": 250},
    }
    return {**found, **more}


def chosen(method, size):
    return {"method": method, "bytes": size, "choosing_s": 1e-4, "coding_s": 1e-2}


def log(*rows):
    """(method, reason, performance) of each step."""
    return [
        {"method": m, "reason": r, "performance": p, "bytes": 100, "choosing_s": 1, "coding_s": 99}
        for m, r, p in rows
    ]


def results_of(records, load=1.0):
    """`load`: of the machine of 2 cores, when each run began."""
    machine = {"cores": 2}
    return Results(
        SUBJECT,
        {
            k: {"error": None, "result": v, "load": load, "machine": machine}
            for k, v in records.items()
        },
    )


# ---- the slides' rule ---------------------------------------------------------------------------


def steps_of(*pairs):
    """Performances of two methods, by step."""
    return [{"a": a, "b": b} for a, b in pairs]


def test_the_method_is_kept_while_the_step_before_lay_strictly_within_delta():
    steps = steps_of((10, 1), (10.9, 1), (11, 50), (11, 50), (11, 50))
    found = published.follow(steps, 0.1)
    # 10.9 lies within 10 +- 1, and 11 does not: the step after it chooses again.
    assert [one.method for one in found] == ["a", "a", "a", "b", "b"]
    assert [one.reason for one in found] == ["first", "kept", "kept", "drift", "kept"]
    assert published.rechoices(found) == 1


def test_delta_0_chooses_at_every_step_and_delta_1_heeds_no_fall():
    steps = steps_of((10, 1), (10, 1), (1, 9), (1, 9))
    assert published.rechoices(published.follow(steps, 0.0)) == 3
    assert [one.method for one in published.follow(steps, 1.0)] == ["a"] * 4


def test_a_rival_is_not_seen_while_the_method_in_use_performs_as_it_did():
    steps = steps_of((10, 1), (10, 1), *[(10, 40)] * 5, (10, 1))
    found = published.follow(steps, 0.1)
    kept = published.kept(found, steps)
    assert kept == [1, 1, 0.25, 0.25, 0.25, 0.25, 0.25, 1] and published.longest_blind(kept) == 5
    assert published.longest_blind([0.98, 0.96, 0.97, 0.9, 0.9]) == 2
    assert published.longest_blind([0.6, 0.51, 0.49, 0.9], 1.0) == 1


def test_performance_is_speed_times_wcs_plus_ratio_times_wcr():
    assert methods.performance(4.0, 2.5, 0.25, 2.0) == 2.5 * 2.0 + 4.0 * 0.25
    of = table({"B-zlib": 250, "zstd": 500}, seconds=2e-5)
    scores = methods.performances(of, ("B-zlib", "zstd"), (0.5, 3.0), {"B-zlib": 0.3, "zstd": 2})
    assert scores == {"B-zlib": 0.3 * 3 + 4 * 0.5, "zstd": 2 * 3 + 2 * 0.5}
    # Measured: 1000 bytes in 20 us are 50 MB/s, half of the unit.
    measured_scores = methods.performances(of, ("zstd",), (0.0, 1.0), None)
    assert measured_scores["zstd"] == pytest.approx(0.5)


# ---- values, and what is made of them -----------------------------------------------------------


def by_the_rule(array):
    """(the bytes that the rule of skewness segregates, value by value; the others)."""
    planes = array.view(np.uint8).reshape(-1, array.dtype.itemsize)
    most = [np.bincount(plane, minlength=256).max() for plane in planes.T]
    skewed = [count > 1.42 / 256 * array.size for count in most]
    assert any(skewed) and not all(skewed)
    return planes[:, skewed].tobytes(), planes[:, [not one for one in skewed]].tobytes()


def test_two_of_the_nine_are_the_coders_own_results_on_the_bytes_that_the_rule_segregates():
    array = (250 + np.sin(np.arange(60_000) / 3000)).astype("f4")
    array += np.random.default_rng(1).normal(0, 1e-3, array.size).astype("f4")
    segregated, noise = by_the_rule(array)
    for method, coded in (
        ("B-zlib", zlib.compress(segregated, 6)),
        ("B-bzip2", bz2.compress(segregated, 9)),
    ):
        row = work.forced(array, method, 1)
        if "error" in row:
            pytest.skip(row["error"])  # bzip2 is not linked
        frame = neve.compress(array, lossless=True, codec="lossless", method=method)
        assert coded in frame and noise in frame
        headers = row["bytes"] - len(coded) - len(noise)
        assert row["is_exact"] and 0 < headers < 200


def test_a_choice_has_as_many_bytes_as_the_same_method_by_name():
    rows = np.linspace(-90, 90, 100, dtype="f4")
    latitudes = np.repeat(rows[:, None], 150, axis=1)
    for candidates in CANDIDATES:
        found = chooser.choose(latitudes, candidates, (1.0, 0.0))
        forced = {m: work.forced(latitudes, m, 1) for m in CANDIDATES[candidates]}
        assert found["bytes"] == forced[found["method"]]["bytes"], candidates
        # Small frames are mostly header: no choice is smaller than all that it is among.
        assert found["bytes"] >= min(one["bytes"] for one in forced.values() if "bytes" in one)


def test_all_is_what_the_library_weighs_under_that_name():
    seen = set()
    arrays_of = [made.step_of(name, step) for name in made.NAMES for step in (0, 10, 20)]
    for array in (*arrays_of, np.repeat(np.linspace(0, 1, 100, dtype="f4"), 150)):
        for weights in ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0)):
            found = neve.explain(array, **chooser.settings(EVERY, weights))
            seen |= {one["name"].removeprefix("lossless ") for one in found["candidates"]}
    assert seen - {"constant", "as they are"} == set(CANDIDATES[EVERY])
    assert set(CANDIDATES[NINETEEN]) == set(ALL) and len(ALL) == 19


def test_entropies_are_those_of_the_bytes():
    array = np.array([1.0, 1.0, -1.0, 2.0], "f4")
    # Most significant bytes 3F, 3F, BF, 40: one half and two quarters.
    assert work.entropy(array)[0] == pytest.approx(1.5)
    second = [0x80, 0x80, 0x80, 0x00]
    shares = [second.count(one) / 4 for one in set(second)]
    expected = -sum(share * math.log2(share) for share in shares)
    assert work.entropy(array) == pytest.approx([1.5, expected, 0, 0])


def test_the_slides_values_share_their_high_bytes():
    low, high = (slide_3.bits_of(value) for value in slide_3.VALUES)
    assert low[:2] == high[:2] == ["00111011", "11000001"] and low[2] != high[2]


def test_made_series_are_functions_of_the_step():
    for name in made.NAMES:
        for step in (0, made.CHANGES[0], made.STEPS - 1):
            one, again = made.step_of(name, step), made.step_of(name, step)
            assert one.dtype == np.float32 and one.shape == made.SHAPE and one.flags.c_contiguous
            assert one.tobytes() == again.tobytes()
    before, after = (made.step_of("wave, showers, layers", s) for s in (9, 10))
    assert (before > 0).all() and 0.8 < (after == 0).mean() < 0.95


# ---- files --------------------------------------------------------------------------------------


def test_a_leading_part_is_read():
    assert arrays.part_of((100, 8), 4, 320) == (slice(0, 10),)
    assert arrays.part_of((1, 100, 8), 4, 320) == (slice(0, 1), slice(0, 10))
    assert arrays.part_of((5,), 4, 1 << 20) == (slice(0, 5),)
    assert arrays.part_of((3, 1000), 4, 40) == (slice(0, 1), slice(0, 10))


@pytest.fixture
def files(tmp_path):
    """The same values in all formats; an HDF5 file with an axis of time, as netCDF-4 has it."""
    values = np.arange(4 * 40 * 50, dtype=">f8").reshape(4, 40, 50)
    np.save(tmp_path / "array.npy", values)
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file["group/T"] = values.astype("f4")
        file["time"] = np.arange(4.0)
        file["time"].make_scale("time")
        file["group/T"].dims[0].attach_scale(file["time"])
        file["count"] = np.arange(5000)
        file["few"] = np.arange(10.0)
    return tmp_path, values


def test_formats_give_the_same_values(files):
    folder, values = files
    found = {path.name: arrays.variables_of(path) for path in sorted(folder.iterdir())}
    assert found == {
        "array.npy": [("array", "float64", (4, 40, 50), 0)],
        "file.h5": [("group/T", "float32", (4, 40, 50), 4)],
    }
    whole = arrays.read(folder / "array.npy", "array", 1 << 30)
    assert whole.dtype == np.dtype("=f8") and np.array_equal(whole, values)
    step = arrays.read(folder / "file.h5", "group/T", 40 * 50 * 4 // 2, 2)
    assert np.array_equal(step, values[2, :20])


def test_a_plotfile_gives_its_boxes(sample):
    name, dtype, shape, steps = arrays.variables_of(sample)[0]
    values = arrays.read(sample, name, 1 << 30)
    with neve.open(sample) as plotfile:
        boxes = [np.asarray(box) for box in plotfile.levels[0][name.removeprefix("level 0 ")]]
    assert (dtype, shape, steps) == ("float64", values.shape, 0)
    assert values.size == sum(box.size for box in boxes)
    assert values.reshape(-1)[:8].tolist() == boxes[0].T.reshape(-1)[:8].tolist()


def test_inputs_and_series(files, tmp_path):
    folder, values = files
    for step in (2, 10, 1):
        np.save(tmp_path / f"run_{step}.npy", values[step % 4].astype("f4"))
    (tmp_path / "notes.txt").write_text("no data")
    found = inputs.find([str(folder), str(tmp_path / "notes.txt"), str(tmp_path / "x")], [], print)
    assert {v.label for v in found.variables} >= {"array.npy:array", "file.h5:group/T"}
    assert [one.name for one in found.left_aside if one.is_named] == ["notes.txt", "x"]
    own = [one for one in found.series if not one.is_made]
    assert [(one.name, one.steps) for one in own] == [("file.h5:group/T", 4)]
    again = Inputs.from_json(found.as_json())
    assert (again.variables, again.series) == (found.variables, found.series)
    with pytest.raises(Error, match=r"--variables U: no input has it; there are .*group/T"):
        inputs.find([str(folder)], ["U"], print)
    with pytest.raises(Error, match="no floating-point variable among the inputs: x: there is no"):
        inputs.find([str(tmp_path / "x")], [], print)


def test_files_of_a_run_are_the_steps_of_a_series(tmp_path):
    for step in (2, 10, 1):
        with h5py.File(tmp_path / f"out_{step}.h5", "w") as file:
            file["T"] = np.full((40, 40), step, "f4")
    found = inputs.find([str(tmp_path)], [], print)
    (own,) = [one for one in found.series if not one.is_made]
    assert (own.name, own.steps) == ("out_1.h5 to out_10.h5:T", 3)
    places = {f"file{n}": str(found.paths[f]) for n, f in enumerate(own.files)}
    asked = StepTables(own.identity, own.name, own.steps, 1 << 20, 1)
    steps = work.steps_of(asked, {**places, "variable": "T"})
    assert [step[0, 0] for step in steps] == [1, 2, 10]


# ---- items --------------------------------------------------------------------------------------


def test_one_method_for_all_against_each_ones_best():
    heat, rain = table({"B-zlib": 400, "zstd": 300}), table({"B-zlib": 500, "BW-zlib": 100})
    results = results_of({SUBJECT.table_of(HEAT): heat, SUBJECT.table_of(RAIN): rain})
    # B-zlib for both is 900, BW-zlib 900 + 100.
    assert slide_4.one_for_all(results, NINE) == ("B-zlib", 900, 500)
    assert slide_4.one_for_all(results, ALL) == ("B-zlib", 900, 400)
    assert slide_4.claims(results)[0].verdict == "holds"
    best = slide_5.best_by(results.tables(), slide_5.RATIO, NINE)
    assert best == {HEAT: "B-zlib", RAIN: "BW-zlib"}
    assert slide_5.claims(results)[0].verdict == "holds"


def test_a_variable_of_one_value_is_left_out():
    constant = {"raw_bytes": RAW, "is_constant": True, "methods": {}}
    results = results_of({SUBJECT.table_of(HEAT): table({}), SUBJECT.table_of(RAIN): constant})
    assert list(results.tables()) == [HEAT] and results.constants() == [RAIN]


def test_the_choice_over_the_best_candidate():
    choices = [chosen("B-zlib", 400)] * 5 + [chosen("BW-zlib", 500)] * 6
    records = {
        Speeds(): {**TYPICAL, "BW-zlib": 2.0},
        SUBJECT.table_of(HEAT): table({"B-zlib": 400, "BW-zlib": 500}),
        SUBJECT.weighed_of(HEAT, ACOMPS): {"choices": choices},
    }
    results = results_of(records)
    shares = slide_8.shares(results, ACOMPS)[HEAT]
    for (ratio_weight, speed_weight), share, one in zip(WEIGHTS, shares, choices, strict=True):
        forced = {
            "B-zlib": 1.0 * speed_weight + 2.5 * ratio_weight,
            "BW-zlib": 2.0 * speed_weight + 2.0 * ratio_weight,
        }
        assert share == pytest.approx(forced[one["method"]] / max(forced.values()))
    assert min(shares) == pytest.approx(2.1 / 2.2, abs=0.01) or min(shares) < 1
    assert slide_6.chosen_over_best(results, ACOMPS) == {"wrf.nc:T": 1.0}


def test_each_set_of_candidates_is_judged_by_its_own_best():
    """B-bzip2 is none of `all`: a choice among these is not worse for it, that among all is."""
    records = {
        Speeds(): TYPICAL,
        SUBJECT.table_of(HEAT): table({"B-bzip2": 100, "zstd": 400}),
        **{
            SUBJECT.weighed_of(HEAT, c): {"choices": [chosen("zstd", 400)] * len(WEIGHTS)}
            for c in (EVERY, NINETEEN)
        },
    }
    results = results_of(records)
    assert slide_8.shares(results, EVERY)[HEAT][0] == 1.0
    assert slide_8.shares(results, NINETEEN)[HEAT][0] == pytest.approx(0.25)
    for claims, words in ((slide_6.claims, "selects"), (slide_8.claims, "scores 0.95")):
        verdicts = [one.verdict for one in claims(results) if words in one.what]
        assert len(verdicts) == 3 and verdicts[1] == "holds" and verdicts[2] != "holds"


def test_runs_of_a_series_by_both_rules():
    still = [table({"B-zlib": 500, "rank": 100}) for _ in range(OWN.steps)]
    records = {
        Speeds(): TYPICAL,
        SUBJECT.steps_of(OWN): {"steps": still},
        SUBJECT.followed_of(OWN, EVERY): {
            "runs": [
                {
                    "weights": list(weights),
                    "delta": delta,
                    "log": log(
                        ("zstd", "first", 1.0),
                        ("rank", "rival", 10.0),
                        *[("rank", "kept", 10.0)] * 2,
                    ),
                }
                for weights in WEIGHTS_OF_SERIES
                for delta in DELTAS
            ]
        },
    }
    results = results_of(records)
    source, own = slide_9.by_the_slides(results), slide_9.by_neve(results)
    assert len(source) == len(own) == len(WEIGHTS_OF_SERIES) * len(DELTAS)
    assert {run.rule for run in own} == {slide_9.OWN[EVERY]}
    by_ratio = [run for run in source if run.weights == (1.0, 0.0)]
    assert [run.rechoices for run in by_ratio] == [3, 0, 0, 0]
    # At the first step alone all nine are coded, each in the same time: 8 of 12 codings.
    assert by_ratio[1].choosing_share == pytest.approx(8 / 12)
    assert own[0].kept == [0.1, 1, 1, 1] and own[0].choosing_share == pytest.approx(0.01)
    told = {one.what: one for one in slide_9.claims(results)}
    assert told["the published rule: a larger delta never has more choices"].verdict == "holds"
    of_made = told[
        "Neve's rule: a rival that is better by more than delta stays unseen for 2 steps at most"
    ]
    assert of_made.said == "cannot be told"
    assert "rival 1" in str(slide_9.ITEM.find(results).blocks)


def test_rules_are_compared_at_equal_deltas_up_to_10_percent():
    better = [table({"B-zlib": 500})] + [table({"B-zlib": 500, "BW-zlib": 100})] * 3

    def run_of(weights, delta, is_late):
        slow, fast = (methods.performance(ratio, 1.0, *weights) for ratio in (2, 10))
        first = ("B-zlib", "first", slow)
        then = ("B-zlib", "kept", slow) if is_late else ("BW-zlib", "rival", fast)
        return {"weights": list(weights), "delta": delta, "log": log(first, *[then] * 3)}

    def followed(*late):
        runs = [run_of(weights, d, d in late) for weights in WEIGHTS_OF_SERIES for d in DELTAS]
        return {
            Speeds(): TYPICAL,
            SUBJECT.steps_of(OWN): {"steps": better},
            SUBJECT.followed_of(OWN, ACOMPS): {"runs": runs},
        }

    # What is blind by design, delta 100 %, is not judged.
    told = slide_16.claims(results_of(followed(1.0)))[2]
    assert told.said == "held" and told.tried == 3
    assert told.ours == (
        "the nine: blind for up to 0 at delta 0 %, 3 at delta 1 %, 3 at delta 10 %"
    )
    late = slide_16.claims(results_of(followed(0.1, 1.0)))[2]
    assert late.said == "held in part (2 of 3)" and late.why == "not faster at delta 10 %"


def test_the_ratio_may_rise_by_a_percent_and_heeds_what_neve_chooses():
    assert slide_8.never_rises([100, 100, 300]) and slide_8.never_rises([100_000, 99_100, 99_100])
    assert not slide_8.never_rises([100_000, 98_000])
    still = [chosen("B-zlib", 400)] * 11
    rising = [chosen("B-zlib", 400)] * 10 + [chosen("BW-zlib", 300)]
    tables = {SUBJECT.table_of(v): table({"B-zlib": 400}) for v in (HEAT, RAIN)}
    for of_rain, said in ((still, "held"), (rising, "held in part (1 of 2)")):
        chosen_of = {SUBJECT.weighed_of(HEAT, c): {"choices": still} for c in (ACOMPS, EVERY)}
        chosen_of[SUBJECT.weighed_of(RAIN, EVERY)] = {"choices": of_rain}
        told = slide_8.claims(results_of({Speeds(): TYPICAL, **tables, **chosen_of}))[0]
        assert told.said == said
        assert told.neve == f"among `all` in {2 - (of_rain is rising)} of 2; among all nineteen -"
    assert told.why == "among `all` not in wrf.nc:QRAIN"


def test_times_of_a_busy_machine_are_not_judged():
    records = {
        **{SUBJECT.table_of(v): table({}) for v in (HEAT, RAIN)},
        **dict.fromkeys(cycles.runs(SETTINGS), cycle_of()),
        SUBJECT.threads(): {"raw_bytes": RAW, "seconds": {"1": 2.0, "2": 1.0}},
        SUBJECT.chunks(): {"sizes": [1] * 8, "is_exact": True, "part_s": 1.0, "whole_s": 8.0},
    }
    why = (
        "the machine was busy (load 3.1 in the median on 2 cores): times are shown, and not judged"
    )
    quiet, busy = (
        {one.what: one for one in conclusions.claims(results_of(records, load))}
        for load in (2.9, 3.1)
    )
    changed = {what for what, one in busy.items() if one != quiet[what]}
    assert all((busy[what].said, busy[what].why) == ("cannot be told", why) for what in changed)
    assert {quiet[what].slide for what in changed} == {2, 5, 6, 11, 15, 16}
    assert {one.what for one in slide_15.claims(results_of(records))} <= changed
    assert why in slide_15.ITEM.find(results_of(records, 3.1)).why
    assert "compression reduces the volume of data" not in changed


def test_a_step_in_a_file_of_its_own_is_not_called_a_variable():
    of_run = [Variable(f"out_{n}.nc", str(n), "T", "float32", (40, 40), 0) for n in range(3)]
    run = Inputs((*of_run, HEAT), (MADE,), (), {})
    assert run.names == 2 and Inputs((HEAT, RAIN), (MADE,), (), {}).names == 2
    assert Results(Subject(SETTINGS, run), {}).variables == "variables and steps"
    assert results_of({}).variables == "variables"


def cycle_of(**changes):
    """What `neve bench ensemble --json` prints, of all methods: seconds of the phases are 1, those
    that storage of 129 MB/s adds to writing 2, bytes 1e8.
    """
    found = []
    for name in cycles.METHODS:
        seconds = dict.fromkeys(cycles.PHASES, 1.0)
        seconds["conversion"] = float(name == cycles.NETCDF)
        seconds |= changes.get(name, {}).get("seconds", {})
        imitated = {**dict.fromkeys(cycles.PHASES, 0.0), "write": 2.0}
        imitated["conversion"] = 3.0 * (name == cycles.NETCDF)
        size = changes.get(name, {}).get("bytes", 1e8)
        row = {"name": name, "bytes": size, "seconds": seconds, "imitated_seconds": imitated}
        found.append(row)
    return {"raw_bytes": int(1e8), "storage_MBps": 129.0, "methods": found}


def test_a_cycle_by_the_model():
    disk = measured.Runs([cycle_of()])
    assert disk.least(cycles.NETCDF) == 6 and disk.conversion_share() == pytest.approx(1 / 6)
    # Half the bandwidth takes twice the time: 4 s more of writing, 6 of the conversion.
    slow = disk.on(64.5)
    assert slow.phases(cycles.NETCDF)["write"] == pytest.approx(1 + 4)
    assert slow.phases(cycles.NETCDF)["conversion"] == pytest.approx(1 + 6)
    assert slow.least(cycles.NONE) == pytest.approx(5 + 4)
    assert slide_11.share_by_model(disk, 64.5) == pytest.approx(7 / (6 + 10))
    bandwidth = slide_11.storage_of_share(disk, 0.4)
    assert slide_11.share_by_model(disk, bandwidth) == pytest.approx(0.4)
    assert slide_11.storage_of_share(disk, 0.9) is None
    assert slide_11.slides_bandwidth() == pytest.approx(283e3 / (36.7 * 60))


def test_times_whose_repeats_overlap_cannot_be_told():
    fast, slow = {"seconds": {"write": 0.5}}, {"seconds": {"write": 2.0}}
    first = cycle_of(**{cycles.ACOMPS_RATIO: fast})
    runs = measured.Runs([first, cycle_of(**{cycles.ACOMPS_RATIO: slow})])
    assert runs.faster(cycles.ACOMPS_RATIO, "bzip2", "write") is None
    assert measured.Runs([first]).faster(cycles.ACOMPS_RATIO, "bzip2", "write") is None
    same = measured.Runs([first, first])
    assert same.faster(cycles.ACOMPS_RATIO, "bzip2", "write") is True
    assert same.faster("bzip2", cycles.ACOMPS_RATIO, "write") is False


def test_sizes_against_the_slides():
    saving = {
        cycles.NETCDF: {"bytes": 283},
        cycles.NONE: {"bytes": 191},
        "zlib": {"bytes": 73},
        "bzip2": {"bytes": 72.6},
        "lzo": {"bytes": 80},
        cycles.ACOMPS_SPEED: {"bytes": 67.5},
        cycles.ACOMPS_RATIO: {"bytes": 62.8},
        cycles.SPEED: {"bytes": 60},
        cycles.RATIO: {"bytes": 50},
    }
    records = dict.fromkeys(cycles.runs(SETTINGS), cycle_of(**saving))
    told = slide_14.claims(results_of(records))
    assert {one.verdict for one in told} == {"holds"}
    assert told[0].ours == "77.8 %" and told[1].ours == "13.5 %"
    saving["bzip2"] = {"bytes": 60}
    records = dict.fromkeys(cycles.runs(SETTINGS), cycle_of(**saving))
    told = slide_14.claims(results_of(records))
    assert told[1].verdict == "does not hold here" and "B-bzip2" in told[1].why
    assert slide_15.claims(results_of(records))[0].verdict == "holds"


def test_a_picture_says_how_many_rows_it_leaves_out():
    rows = [f"v{n}" for n in range(69)]
    assert drawing.titled("t", rows) == "t (the first 60 of 69; all are in the CSV file)"
    assert drawing.titled("t", rows[:60]) == "t"
    assert [drawing.cell_text(v) for v in (99.7, 9.96, 1.84, 0.031)] == [
        "100",
        "10",
        "1.8",
        "0.031",
    ]


def test_a_log_shows_every_way_of_choosing():
    assert len(drawing.WAYS) == 1 + len(CANDIDATES)
    one = (["zstd"] * 3, [0], [1.0] * 3)
    ways = {name: one for name in (slide_9.PUBLISHED, *slide_9.OWN.values())}
    assert drawing.log_of_choices("t", ["zstd"], ["zstd"] * 3, ways, ())[:4] == b"\x89PNG"
    with pytest.raises(ValueError, match="zip"):
        drawing.log_of_choices("t", ["zstd"], ["zstd"] * 3, {**ways, "x": one}, ())


def test_a_factor_below_one_is_told_as_larger():
    assert tell.smaller(2.5) == "2.50 times smaller" and tell.smaller(0.8) == "1.25 times larger"


def test_claims_become_a_verdict():
    one = tell.claim_of(True, slide=1, what="x", source="s", ours="o", neve="n")
    other = tell.claim_of(False, slide=1, what="y", source="s", ours="o", neve="n", why="because")
    none = tell.claim_of(None, slide=1, what="z", source="s", ours="o", neve="n", why="no data")
    part = tell.Claim(1, "w", "s", "o", "n", 2, 3, tell.MODEL)
    assert tell.verdict([one, one]) == "holds" and tell.verdict([one, none]) == "holds in part"
    assert tell.verdict([other]) == "does not hold here" and tell.verdict([]) == "measured"
    assert tell.verdict([none, none]) == "cannot be told"
    assert [c.said for c in (one, other, none, part)] == [
        *("held", "not held", "cannot be told", "held in part (2 of 3), by the model")
    ]
    assert tell.finding([one, other, none], "", "", "").why == (
        "y: not held (because); z: cannot be told (no data)"
    )
    late = replace(none, what="u")
    assert tell.missed([none, other, late, one]) == [
        "z, and u: cannot be told (no data)",
        "y: not held (because)",
    ]


def test_conclusions_have_every_claim_once():
    records = {
        **{SUBJECT.table_of(v): table({}) for v in (HEAT, RAIN)},
        **dict.fromkeys(cycles.runs(SETTINGS), cycle_of()),
    }
    told = conclusions.claims(results_of(records))
    names = [one.what for one in told]
    assert len(names) == len(set(names)) > 30
    slides = {one.slide for one in told}
    assert slides == {2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 15, 16}
    for one in told:
        assert one.verdict == "holds" or one.reason, one.what


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_item_stands_without_records(item):
    found = item.find(results_of({}))
    assert found.verdict in ("measured", "described", "cannot be had here") and found.paper
    for one in item.needs(SUBJECT):
        assert requests.from_json(requests.as_json(one)) == one


def test_every_request_is_planned_once():
    wanted = plan.wanted(SUBJECT)
    assert len(wanted) == len(set(wanted))
    kinds = {Speeds, Chunks, Table, Weighed, StepTables, Followed, Threads, Cycle}
    assert {type(one) for one in wanted} == kinds
    assert all(requests.name_of(one) for one in wanted)


def test_points_of_all_kinds():
    records = {
        SUBJECT.table_of(HEAT): table({"B-zlib": 500}),
        SUBJECT.weighed_of(HEAT, EVERY): {"choices": [chosen("zstd", 500)] * len(WEIGHTS)},
        SUBJECT.steps_of(OWN): {"steps": [table({})] * 2},
        SUBJECT.followed_of(OWN, EVERY): {
            "runs": [{"weights": [1, 0], "delta": 0.1, "log": log(("zstd", "first", 2.0))}]
        },
        cycles.runs(SETTINGS)[0]: cycle_of(),
    }
    rows = list(points.rows(results_of(records)))
    assert {row["how"] for row in rows} == {"method", "chosen", "step", "cycle"}
    assert all(set(row) <= set(points.COLUMNS) for row in rows)
    zlib_row, *_ = [r for r in rows if r["how"] == "method" and r["method"] == "B-zlib"]
    assert zlib_row["ratio"] == 2.0


def test_what_is_measured_without_a_named_input_is_said(tmp_path, monkeypatch, sample):
    monkeypatch.setattr(inputs, "sample", lambda command: sample)
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    said = []
    assert inputs.default_words(tmp_path, said.append) == [str(sample)]
    assert "no climate file in ../shared/data/climate" in said[0]
    climate = tmp_path / "shared/data/climate"
    climate.mkdir(parents=True)
    (climate / "a.nc").touch()
    assert inputs.default_words(tmp_path, said.append)[0].endswith("climate/a.nc")
    assert "1 climate files in ../shared/data/climate" in said[1]
