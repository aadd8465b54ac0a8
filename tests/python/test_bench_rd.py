# SPDX-License-Identifier: BSD-3-Clause
"""The rate-distortion study: gains and conclusions out of rows, what is measured, what it costs
when a way cannot.
"""

from __future__ import annotations

import io
import json
import math
import os
import signal
import time

import numpy as np
import pytest

from neve_bench.__main__ import main
from neve_bench.amr import catalog
from neve_bench.amr.equal_ratio import CLOSE_ENOUGH, at_ratio
from neve_bench.amr.hierarchy import load
from neve_bench.amr.measure import Measured, measure
from neve_bench.amr.parse import Method
from neve_bench.amr.subject import CELLS, subject
from neve_bench.amr.way import NotPossible, Way
from neve_bench.paper.progress import Progress
from neve_bench.rd import conclusions, curves, regrets, sweep
from neve_bench.rd.default_ways import default_ways, units_that_fit
from neve_bench.rd.ticker import Ticker


def row(way, ratio, psnr=60.0, rel=1e-3, field="f", seconds=1.0):
    return {
        "field": field,
        "way": way,
        "rel": rel,
        "ratio": ratio,
        "psnr_db": psnr,
        "stored_bytes": round(1e6 / ratio),
        "encode_seconds": seconds,
        "encode_mb_per_s": 1 / seconds,
    }


def test_ratio_at_equal_psnr_of_parallel_curves():
    theirs = [(40.0, 20.0), (60.0, 10.0), (80.0, 6.0)]
    mine = [(psnr, 3 * ratio) for psnr, ratio in theirs]
    assert curves.ratio_at_equal_psnr(mine, theirs) == pytest.approx(3)
    assert curves.ratio_at_equal_psnr(theirs, mine) == pytest.approx(1 / 3)


def test_ratio_at_equal_psnr_uses_the_shared_span_only():
    theirs = [(40.0, 16.0), (60.0, 4.0)]
    # 3 dB better at the same ratio: at 50 dB, theirs has 8 and mine 8 * 2**(3/10).
    mine = [(psnr + 3, ratio) for psnr, ratio in theirs]
    assert curves.ratio_at_equal_psnr(mine, theirs) == pytest.approx(2**0.3)


def test_curves_that_share_no_psnr_give_nothing():
    assert curves.ratio_at_equal_psnr([(40.0, 9.0)], [(50.0, 9.0)]) is None
    assert curves.ratio_at_equal_psnr([], [(50.0, 9.0)]) is None
    assert curves.ratio_at_equal_psnr([(50.0, 9.0)], [(50.0, 3.0)]) == pytest.approx(3)


def test_gain_is_over_the_bounds_that_both_have():
    rows = [row("a", 8, 50, 1e-2), row("a", 4, 70, 1e-4), row("b", 2, 52, 1e-2)]
    rows.append({"field": "f", "way": "b", "rel": 1e-4, "note": "cannot"})
    found = curves.gain(rows, "f", "a", "b")
    assert found["at_equal_bound"] == pytest.approx(4)
    # Straight in the logarithm: at 52 dB a has 8 * (1/2)**(2/20).
    assert found["at_equal_psnr"] == pytest.approx(8 * 0.5**0.1 / 2)
    assert curves.gain(rows, "f", "a", "c") is None


def test_conclusions_compare_the_same_settings():
    rows = [row("amric:sle", 11), row("amric:sle,unit=8", 12), row("amric:sle,unit=16", 13)]
    rows += [row("amric:lm", 10), row("amric:lm,unit=8", 15)]
    found = {one["mine"]: one for one in conclusions.conclusions(rows, "f")}
    assert {one["claim"] for one in found.values()} == {"SLE over LM"}
    assert set(found) == {"amric:sle", "amric:sle,unit=8"}
    assert found["amric:sle"]["at_equal_psnr"] == pytest.approx(1.1)
    assert found["amric:sle"]["holds"] is True and found["amric:sle,unit=8"]["holds"] is False
    equal = [row("amric:sle", 10), row("amric:lm", 10.000001)]
    assert [one["holds"] for one in conclusions.conclusions(equal, "f")] == [None]


def test_conclusions_across_papers():
    rows = [row("amric:adaptive", 10), row("amric:interp", 14), row("amrex:1d", 5)]
    rows += [row("amrex:1d,codec=interp", 7), row("tac:auto", 8), row("neve:auto", 21)]
    found = {one["claim"]: one for one in conclusions.conclusions(rows, "f")}
    assert found["3D over 1D, SZ_L/R"]["at_equal_bound"] == pytest.approx(2)
    assert found["3D over 1D, SZ_Interp"]["at_equal_bound"] == pytest.approx(2)
    assert found["AMRIC over TAC"]["at_equal_bound"] == pytest.approx(10 / 8)
    neve = found["Neve over the paper's better way"]
    assert (neve["theirs"], neve["at_equal_psnr"]) == ("amric:interp", pytest.approx(1.5))


def test_regret_is_against_forced_choices_of_the_same_effort():
    rows = [row("neve:auto,effort=fast", 100), row("neve:auto,effort=max", 200, seconds=3.0)]
    rows += [row("neve:dual_quant,effort=fast,arrangement=in_place", 125)]
    rows += [row("neve:context,arrangement=in_place", 160, seconds=2.0), row("amric:sle", 1e3)]
    found = {one["way"]: one for one in regrets.regrets(rows)}
    assert found["neve:auto,effort=fast"]["size_regret"] == pytest.approx(0.25)
    assert found["neve:auto,effort=max"]["size_regret"] == pytest.approx(-0.2)
    assert found["neve:auto,effort=max"]["best"] == "neve:context,arrangement=in_place"
    assert found["neve:auto,effort=max"]["time_regret"] == pytest.approx(0.5)


def test_default_ways_are_known_and_named_once(sample):
    hierarchy = load(sample, ["density"])
    texts = default_ways(hierarchy)
    assert len(set(texts)) == len(texts)
    assert [catalog.way(text).text for text in texts] == texts
    narrow = min(max(min(box.shape) for box in level.boxes) for level in hierarchy.levels)
    units = units_that_fit(hierarchy)
    assert units == [unit for unit in (8, 16, 32, 64) if unit <= narrow]
    for unit in units:
        assert {f"amric:lm,unit={unit}", f"neve:context,arrangement=cluster,unit={unit}"} <= {
            *texts
        }


# --- the sweep -------------------------------------------------------------------------------


def how(cells="uncovered", limit=60.0):
    return sweep.Measuring(cells, 1, limit, Ticker(Progress("test", 1.0, 1, io.StringIO())))


def made_way(text, encode, is_foreign=False):
    """Stores nothing but encode()'s text, and decodes to the values."""

    def prepare(asked):
        def decode(stored):
            return [[values.copy() for values in part.values] for part in asked.parts]

        return (lambda: [encode(asked)]), decode

    return Way(text, text, "made", prepare, is_foreign)


def swept(hierarchy, ways, bounds=(1e-2, 1e-3), **options):
    wanted = sweep.points(hierarchy.fields, bounds, ways)
    return list(sweep.sweep(hierarchy, wanted, how(**options)))


@pytest.mark.parametrize("cells", CELLS)
def test_every_row_holds_the_same_cells(sample, cells):
    hierarchy = load(sample, ["density"])
    texts = ["neve:auto", "amric:lm", "amric:interp", "amrex:1d", "tac:auto", "zmesh:lr"]
    rows = swept(hierarchy, [catalog.way(t) for t in texts], (1e-3,), cells=cells)
    assert [r["way"] for r in rows] == texts
    assert {r.get("note") for r in rows} == {None}
    asked = subject(hierarchy, "density", 1e-3, cells)
    expected = sum(int(held.sum()) for part in asked.parts for held in part.held)
    assert {r["held_cells"] for r in rows} == {expected}
    assert {r["cells"] for r in rows} == {cells}
    assert {(r["violations"], r["specials_lost"]) for r in rows} == {(0, 0)}


def test_figures_of_a_row_computed_anew(sample):
    hierarchy = load(sample, ["Temp"])
    way = catalog.way("amric:adaptive,unit=8")
    (found,) = swept(hierarchy, [way], (1e-3,))
    asked = subject(hierarchy, "Temp", 1e-3)
    encode, decode = way.prepare(asked)
    stored = encode()
    values = decode(stored)
    raw = sum(v.nbytes for level in hierarchy.levels for v in level.values["Temp"])
    assert found["ratio"] == pytest.approx(raw / sum(map(len, stored)))
    squares, cells, worst = 0.0, 0, 0.0
    for number, level in enumerate(hierarchy.levels):
        whole = np.concatenate([v.ravel() for v in level.values["Temp"]])
        spread = whole.max() - whole.min()
        finer = hierarchy.levels[number + 1].boxes if number + 1 < len(hierarchy.levels) else ()
        for box, true, got in zip(level.boxes, level.values["Temp"], values[number], strict=True):
            error = (got - true) / spread
            for at in np.ndindex(box.shape):
                cell = [lo + n for lo, n in zip(box.lo, at, strict=True)]
                if not any(
                    all(lo <= 2 * c and 2 * c + 1 <= hi for lo, c, hi in zip(b.lo, cell, b.hi))  # noqa: B905
                    for b in finer
                ):
                    squares += error[at] ** 2
                    worst = max(worst, abs(error[at]))
                    cells += 1
    assert found["held_cells"] == cells
    assert found["psnr_db"] == pytest.approx(-10 * math.log10(squares / cells))
    assert found["max_error_over_bound"] == pytest.approx(worst / 1e-3)


def test_what_a_way_cannot_costs_its_own_rows(sample):
    def impossible(asked):
        raise NotPossible("units do not fit")

    def broken(asked):
        raise IndexError("out of luck")

    ways = [
        made_way("impossible", impossible),
        made_way("broken", broken),
        made_way("good", lambda asked: b"x"),
    ]
    rows = swept(load(sample, ["density"]), ways)
    notes = {r["way"]: r.get("note") for r in rows}
    assert len(rows) == 6
    assert notes == {
        "impossible": "units do not fit",
        "broken": "IndexError: out of luck",
        "good": None,
    }


def test_a_foreign_program_that_dies_or_hangs(sample):
    def crash(asked):
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(asked):
        time.sleep(60)

    ways = [
        made_way("crashing", crash, True),
        made_way("hanging", hang, True),
        made_way("good", lambda asked: b"x", True),
    ]
    rows = swept(load(sample, ["density"]), ways, (1e-2,), limit=2.0)
    notes = {r["way"]: r.get("note") for r in rows}
    assert notes == {
        "crashing": "crashed (SIGKILL)",
        "hanging": "stopped after 2 s",
        "good": None,
    }


def test_a_long_measurement_is_told_of_on_and_on(monkeypatch):
    monkeypatch.setattr("neve_bench.paper.progress.SECONDS_BETWEEN_LINES", 0.05)
    monkeypatch.setattr("neve_bench.rd.ticker.SECONDS", 0.05)
    told = io.StringIO()
    with Ticker(Progress("test", 4.0, stream=told)) as ticker:
        ticker.now("a long one")
        time.sleep(1)
        ticker.add(1.0)
        time.sleep(1)
    lines = told.getvalue().splitlines()
    assert len(lines) > 4
    assert all(line.endswith("what is left: a long one") for line in lines)
    assert "0% done" in lines[0] and "25% done" in lines[-1]


def test_a_slow_way_is_not_asked_again(sample):
    calls = []

    def slow(asked):
        calls.append(asked.rel)
        time.sleep(0.3)
        return b"x"

    rows = swept(load(sample, ["density"]), [made_way("slow", slow)], limit=0.2)
    assert calls == [1e-2]
    assert "ratio" in rows[0]
    assert rows[1]["note"].startswith("not run: at rel=0.01 it took")


# --- the command -----------------------------------------------------------------------------


def method(way):
    return Method("made", way.text, "made", {}, lambda text, settings: way)


def run_command(sample, tmp_path, monkeypatch, ways):
    """Its exit code, and what it kept."""
    for way in ways:
        monkeypatch.setitem(catalog.METHODS, way.text, method(way))
    kept = tmp_path / "rd.json"
    words = ["rd", str(sample), "--fields", "density", "--bounds", "1e-2", "--json", str(kept)]
    code = main([*words, "--time-limit", "30", "--ways", *(way.text for way in ways)])
    return code, json.loads(kept.read_text())


@pytest.mark.parametrize(("is_foreign", "code"), [(False, 3), (True, 0)])
def test_a_broken_bound_is_no_success(sample, tmp_path, monkeypatch, is_foreign, code):
    def prepare(asked):
        def decode(stored):
            values = [[v.copy() for v in part.values] for part in asked.parts]
            values[1][0][3, 3, 3] += 1.5 * asked.parts[1].bound_abs
            return values

        return (lambda: [b"x"]), decode

    way = Way("made:broken", "broken", "made", prepare, is_foreign)
    found, recorded = run_command(sample, tmp_path, monkeypatch, [way])
    assert found == code
    assert recorded["rows"][0]["violations"] == 1
    assert recorded["neve_violations"] == int(not is_foreign)


def test_a_peer_that_crashes_leaves_the_others(sample, tmp_path, monkeypatch, capsys):
    def crash(asked):
        os.kill(os.getpid(), signal.SIGKILL)

    ways = [made_way("made:crash", crash, True), made_way("made:good", lambda asked: b"x")]
    code, recorded = run_command(sample, tmp_path, monkeypatch, ways)
    assert code == 0
    assert recorded["rows"][0]["note"] == "crashed (SIGKILL)"
    assert recorded["rows"][1]["stored_bytes"] == 1
    assert "crashed (SIGKILL)" in capsys.readouterr().out


def test_at_ratio_finds_the_bound(sample):
    hierarchy = load(sample, ["density"])
    way = catalog.way("neve:auto,effort=fast")
    asked, found = at_ratio(way, hierarchy, "density", "uncovered", 20.0, 1e-3)
    assert found.row["ratio"] == pytest.approx(20, rel=2 * CLOSE_ENOUGH)
    again = measure(way, subject(hierarchy, "density", asked.rel))
    assert again.row["stored_bytes"] == found.row["stored_bytes"]


@pytest.mark.parametrize("power", [0.2, 0.5, 3.0])
@pytest.mark.parametrize("start", [1e-6, 1e-3, 0.2])
def test_at_ratio_of_steep_and_flat_ways(sample, power, start):
    hierarchy = load(sample, ["density"])
    way = made_way("made", lambda asked: b"x")

    def measured(way, asked):
        return Measured({"ratio": 40 * (asked.rel / 4e-3) ** power}, [])

    asked, found = at_ratio(way, hierarchy, "density", "uncovered", 40.0, start, measured)
    assert found.row["ratio"] == pytest.approx(40, rel=2 * CLOSE_ENOUGH)
    assert asked.rel == pytest.approx(4e-3, rel=0.2)
