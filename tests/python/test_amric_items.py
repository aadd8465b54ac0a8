# SPDX-License-Identifier: BSD-3-Clause
"""What the study of AMRIC says of its measurements, and its frame: inputs, workers, progress."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import textwrap
import time
from dataclasses import replace

import pytest

from neve import Error
from neve_bench import report
from neve_bench.amric import drawing, paper, points, requests, tell, ways
from neve_bench.amric.files import File, Settings
from neve_bench.amric.items import (
    ITEMS,
    conclusions,
    equation_1,
    figure_5,
    figure_6,
    figure_7,
    figure_10,
    figure_15,
    past_the_paper,
    pictures,
    section_3_3,
    table_1,
    table_2,
    write_times,
)
from neve_bench.amric.requests import Panels, Plane, Point, Writes
from neve_bench.amric.results import Results, span_and_mean
from neve_bench.paper import inputs, item, output, unpack, workers
from neve_bench.paper.numbers import span
from neve_bench.paper.progress import Progress
from neve_bench.paper.unit import Unit, brief, key_of
from neve_bench.study.page import Page

SETTINGS = Settings(
    items=tuple(one.name for one in ITEMS),
    fields=(),
    bounds=(1e-3, 1e-2),
    curve_bounds=(1e-3, 1e-2),
    cells="uncovered",
    ranks=(1, 2),
    repeats=1,
    axis="",
    at=None,
)


def a_file(name="plt1", levels=2, fields=("Temp", "density"), **changes) -> File:
    look = {
        "dims": 3,
        "raw_bytes": 1000,
        "ends": {field: [(0.0, 1.0)] * levels for field in fields},
        "levels": [
            {
                "level": n,
                "grid": [32] * 3,
                "cells": 100,
                "density": 0.9 if n == 0 else 0.1,
                "auto_unit": 8,
                "boxes": 4,
                "boxes_that_hold": {"8": 4, "16": 4, "32": 4, "64": 4},
            }
            for n in range(levels)
        ],
    }
    return File(
        **{
            "name": name,
            "identity": name,
            "run": name,
            "step": 1,
            "is_last": True,
            "steps": 1,
            "look": look,
            **changes,
        }
    )


def a_row(stored, psnr, levels=2):
    other = dict.fromkeys((*points.OF_A_LEVEL, *points.OF_A_POINT))
    part = {
        **other,
        "raw_bytes": 1000,
        "stored_bytes": stored,
        "ratio": 1000 / stored,
        "psnr_db": psnr,
    }
    return {**part, "levels": [{**part, "level": n} for n in range(levels)]}


def measured(file, values):
    """Records of {(field, way, rel): (stored bytes, PSNR)}."""
    return {
        (file, Point(field, way, rel, "uncovered")): {
            "error": None,
            "result": a_row(stored, psnr, len(file.levels)),
        }
        for (field, way, rel), (stored, psnr) in values.items()
    }


# ---- what is measured --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_", [
        Point("a", "amric:sle", 1e-3, "all"),
        Panels("a", ("amric:sle", "amric:lm"), 1e-3, "all", "errors", True, "x", 0.5),
        Plane("a", "", None),
        Writes(("nocomp",), ("a",), 1e-3, 2, 3),
        requests.Look(),
    ],
)  # fmt: skip
def test_requests_come_back_from_json(request_):
    again = requests.from_json(requests.as_json(request_))
    assert again == request_ and hash(again) == hash(request_)


def test_every_item_asks_for_ways_that_there_are():
    from neve_bench.amr.catalog import way

    file = a_file()
    asked = [one for each in ITEMS for one in each.needs(file, SETTINGS)]
    texts = {one.way for one in asked if isinstance(one, Point)}
    texts |= {text for one in asked if isinstance(one, Panels) for text in one.ways}
    assert {ways.ADAPTIVE, ways.TAC, ways.ZMESH, ways.AMREX} <= texts
    for text in texts:
        assert way(text).text == text, "records have the text that ways give themselves"


def test_curves_are_of_the_last_step_and_of_density_first():
    first, last = a_file("plt1", is_last=False), a_file("plt2")
    from neve_bench.amric.items import figure_5

    assert not list(figure_5.needs(first, SETTINGS))
    assert next(iter(figure_5.needs(last, SETTINGS))).field == "density"
    many = a_file(fields=("a", "b", "rho", "c"))
    assert many.curve_fields(SETTINGS) == ["rho", "a"]
    assert many.curve_fields(replace(SETTINGS, fields=("b", "c", "a"))) == ["a", "b", "c"]


def test_fields_without_a_range_are_left_out():
    file = a_file()
    file.look["ends"]["flat"] = [(3.0, 3.0), (3.0, 3.0)]
    file.look["ends"]["flat below"] = [(3.0, 3.0), (3.0, 4.0)]
    assert file.fields(SETTINGS) == ["Temp", "density", "flat below"]
    assert file.without_range(SETTINGS) == ["flat"]


# ---- what is said ------------------------------------------------------------------------------


def test_block_sides_are_those_of_equation_1():
    # Its three lines, and the paper's examples: 8 mod 6 = 2, and 16 without residue.
    assert {u: equation_1.block_side(u) for u in (6, 8, 9, 12, 16, 32, 62, 64, 128)} == {
        6: 4, 8: 4, 9: 6, 12: 4, 16: 6, 32: 4, 62: 4, 64: 6, 128: 6,
    }  # fmt: skip


def test_an_item_whose_measurements_failed_says_so():
    figure_10 = next(one for one in ITEMS if one.name == "figure-10")
    figure_17 = next(one for one in ITEMS if one.name == "figure-17")
    file = a_file(fields=("Ex",))
    records = {
        (file, one): {"error": "frame\nneve: the disk is full", "result": None}
        for each in (figure_10, figure_17)
        for one in each.needs(file, SETTINGS)
    }
    results = Results(SETTINGS, [file], records)
    found = paper.FRAME.findings(results, lambda what: None)
    for each, count in ((figure_10, 1), (figure_17, 2)):
        assert found[each].said == (
            f"failed: neve: the disk is full ({count} of {count} measurements failed: see What "
            "failed)"
        )
    assert found[next(one for one in ITEMS if one.name == "figure-1")].verdict == item.NOT_HERE


def test_a_way_of_writing_that_failed_is_among_the_failures():
    file = a_file()
    row = {"way": "padded-lr", "error": "no space"}
    writes = Writes(("padded-lr",), ("density",), 1e-3, 2, 1)
    records = {(file, writes): {"error": None, "result": {"ranks": 2, "unit": 8, "rows": [row]}}}
    failures = Results(SETTINGS, [file], records).failures()
    assert failures == [((file, writes), "padded-lr: no space")]


def test_every_item_says_something_of_nothing():
    results = Results(SETTINGS, [a_file(), a_file("plt2", levels=1)], {})
    for one in ITEMS:
        found = one.find(results)
        assert found.verdict in (item.MEASURED, item.DESCRIBED, item.NOT_HERE), one.name
        assert found.verdict != item.NOT_HERE or found.why, one.name


def test_gains_at_equal_psnr_of_parallel_curves():
    """Ratios that are 1.25 times as large at every PSNR."""
    file = a_file()
    values = {}
    for rel, psnr in ((1e-3, 60.0), (1e-2, 40.0)):
        values["density", "a", rel] = (int(1e6 / 1.25 * psnr), psnr)
        values["density", "b", rel] = (int(1e6 * psnr), psnr)
    results = Results(SETTINGS, [file], measured(file, values))
    for level in (None, 0, 1):
        assert results.gain(file, "density", "a", "b", level) == pytest.approx(1.25)
    assert results.gain(file, "density", "a", "c") is None


def test_means_are_over_fields_and_steps_and_skip_what_is_missing():
    files = [a_file("plt1"), a_file("plt2")]
    records = measured(
        files[0], {("density", "a", 1e-3): (100, 50.0), ("Temp", "a", 1e-3): (50, None)}
    )
    records |= measured(files[1], {("density", "a", 1e-3): (25, 80.0)})
    failed = {"error": "no", "result": None}
    impossible = {"error": None, "result": {"not_possible": "too small"}}
    records[files[1], Point("Temp", "a", 1e-3, "uncovered")] = failed
    records[files[1], Point("Temp", "a", 1e-2, "uncovered")] = impossible
    results = Results(SETTINGS, files, records)
    assert results.mean(files, "a", 1e-3, "ratio") == pytest.approx((10 + 20 + 40) / 3)
    assert results.mean(files, "a", 1e-3, "psnr_db") == pytest.approx(65)
    assert results.mean(files, "a", 1e-2, "ratio") is None
    assert [error for _, error in results.failures()] == ["no"]
    notes = {row["note"] for row in points.rows(results)}
    assert notes == {None, "no", "too small"}


def curves_of(files, factors):
    """Records of two ways at two bounds: `mine` is ahead by a factor on each of `files`."""
    records = {}
    for file, (mine, other, factor) in zip(files, factors, strict=True):
        values = {}
        for rel, psnr in ((1e-3, 60.0), (1e-2, 40.0)):
            values["density", mine, rel] = (1_000_000, psnr)
            values["density", other, rel] = (round(1_000_000 * factor), psnr)
        records |= measured(file, values)
    return records


def test_a_conclusion_that_fails_on_a_file_names_it():
    good, bad = a_file("good"), a_file("bad")
    claim = conclusions.CLAIMS[0]
    of = (claim.mine, claim.other)
    records = curves_of([good, bad], [(*of, 2), (*of, 0.5)])
    found = conclusions.find(Results(SETTINGS, [good, bad], records))
    assert found.verdict == item.FAILS, "none of the conclusions that were tried holds everywhere"
    row = found.numbers[claim.what]
    assert row["verdict"] == item.IN_PART and row["factor"] == "1.000"
    assert "bad density level 1 (0.5000)" in row["why"] and "good" not in row["why"]


def test_the_rule_of_all_verdicts():
    ahead, behind, equal = tell.AHEAD, tell.BEHIND, tell.EQUAL
    said = {1.0011: ahead, 1.0009: equal, 1.0: equal, 0.9992: equal, 0.9989: behind, 2.0: ahead}
    assert {factor: tell.standing(factor) for factor in said} == said
    untold = tell.UNTOLD
    for standings, verdict in (
        ([ahead, ahead], item.HOLDS),
        ([ahead, equal], item.IN_PART),
        ([ahead, untold], item.IN_PART),
        ([equal, behind], item.FAILS),
        ([untold, untold], item.MEASURED),
        ([untold, behind], item.FAILS),
        ([], item.MEASURED),
    ):
        assert tell.verdict_of_standings(standings) == verdict


def test_a_mean_above_1_hides_no_level_and_figures_agree_with_conclusions():
    """Level 0 far ahead, level 1 behind: the mean of the file is above 1."""
    file = a_file(fields=("density",))
    records = curves_of([file], [(ways.INTERP, ways.INTERP_LINEAR, 1.5)])
    for (_, request), record in records.items():
        if request.way == ways.INTERP_LINEAR:
            record["result"]["levels"][1]["ratio"] = 1000 / 994_000  # Neve's 1000 over 1e6
    results = Results(SETTINGS, [file], records)
    found = figure_5.find(results)
    assert found.verdict == item.IN_PART
    assert found.why == "not on 1 of 2: plt1 density level 1 (0.9940)"
    row = conclusions.find(results).numbers["cluster over linear for SZ_Interp, each level"]
    assert (row["verdict"], row["why"]) == (found.verdict, found.why)


def test_factors_of_1_are_named_equal():
    file = a_file(fields=("density",))
    records = curves_of([file], [(ways.INTERP, ways.INTERP_LINEAR, 1.0004)])
    found = figure_5.find(Results(SETTINGS, [file], records))
    assert found.verdict == item.FAILS
    assert found.why.startswith("equal on 2 of 2: plt1 density level 0 (1.0004)")


def test_units_that_no_box_holds_are_neither_measured_nor_judged():
    file = a_file(fields=("density",))
    for level, holding in zip(file.levels, ((4, 4, 0, 0), (4, 0, 0, 0)), strict=True):
        level["boxes_that_hold"] = dict(zip(("8", "16", "32", "64"), holding, strict=True))
    asked = {point.way for point in figure_7.needs(file, SETTINGS)}
    assert {ways.unit_of(way) for way in asked} == {None, 8, 16}
    claim = conclusions.CLAIMS[0]
    records = curves_of([file], [(claim.mine, claim.other, 2)])
    results = Results(SETTINGS, [file], records)
    row = conclusions.find(results).numbers[claim.what]
    assert row["verdict"] == item.MEASURED
    assert row["why"] == "plt1 level 1: no box holds a unit of 16"
    table = figure_7.find(results).blocks[0].content
    by_unit = {(line[0], line[1]): line[2:] for line in table}
    sle = f"{ways.label(ways.SLE)} / {ways.label(ways.LM)}"
    assert by_unit[sle, "16"] == ["no box holds it", "2.000"]
    assert by_unit[sle, "64"] == ["no box holds it", "no box holds it"]
    file.levels[1]["boxes_that_hold"]["16"] = 1
    row = conclusions.find(results).numbers[claim.what]
    assert row["verdict"] == item.HOLDS
    assert row["why"] == "plt1 level 1: 1 of 4 boxes hold a unit of 16"


NYX_FIELDS, WARPX_FIELDS = ("density", "particle_mass_density"), ("density", "Ex")


def test_the_better_codec_is_asked_of_each_code():
    files = [
        a_file("nyx", fields=NYX_FIELDS),
        a_file("warpx", fields=WARPX_FIELDS),
        a_file("other", fields=("density",)),
    ]
    assert [file.code for file in files] == ["Nyx", "WarpX", None]
    of = (ways.ADAPTIVE, ways.INTERP)
    records = curves_of(files, [(*of, 1.25), (*of, 1.25), (*of, 1.25)])
    found = conclusions.find(Results(SETTINGS, files, records)).numbers
    for at in ("at equal bound", "at equal PSNR"):
        nyx = found[f"SZ_L/R over SZ_Interp on Nyx, {at}"]
        assert (nyx["verdict"], nyx["factor"], nyx["why"]) == (item.HOLDS, "1.250", "")
        warpx = found[f"SZ_Interp over SZ_L/R on WarpX, {at}"]
        assert (warpx["verdict"], warpx["factor"]) == (item.FAILS, "0.800")
        assert "warpx density" in warpx["why"] and "nyx" not in warpx["why"]
        other = found[f"{conclusions.OF_OTHERS}, {at}"]
        assert (other["verdict"], other["why"]) == (item.MEASURED, "other")


def test_the_electric_field_and_the_baryons_are_drawn_of_their_codes():
    nyx, warpx, other = (
        a_file("nyx", fields=NYX_FIELDS),
        a_file("warpx", fields=WARPX_FIELDS),
        a_file("other", fields=("density", "Temp")),
    )
    of = {file.name: list(pictures.figure_13.needs(file, SETTINGS)) for file in (nyx, warpx, other)}
    assert of == {"nyx": [Plane("density", "", None)], "warpx": [], "other": []}
    assert list(pictures.figure_14.needs(warpx, SETTINGS)) == [Plane("Ex", "", None)]
    record = {"error": None, "result": {"png": ""}}
    results = Results(SETTINGS, [nyx, other], {(nyx, of["nyx"][0]): record})
    found = pictures.figure_13.find(results)
    assert found.ours == "nyx"
    assert "other (neither Nyx's nor WarpX's fields: density, Temp)" in found.blocks[-1].content


def test_figure_15_draws_the_judged_bounds_and_equal_ones():
    file = a_file(fields=("density",))
    asked = [one.rels for one in figure_15.needs(file, SETTINGS) if isinstance(one, Panels)]
    assert asked == [(1e-3, 1e-2, 1e-3), (1e-3, 1e-3, 1e-3)]
    without = replace(SETTINGS, bounds=(1e-3, 5e-3))
    asked = [one.rels for one in figure_15.needs(file, without) if isinstance(one, Panels)]
    assert asked == [(1e-3, 1e-3, 1e-3)]


def a_write(way, total, encode, spread, dataset_bytes=100, stored_bytes=100):
    seconds = {"prepare": 0.0, "encode": encode, "write": total - encode, "sync": 0.0}
    return {
        "way": way,
        "error": None,
        "raw_bytes": 1000,
        "stored_bytes": stored_bytes,
        "dataset_bytes": dataset_bytes,
        "seconds": {**seconds, "total": total},
        "spread": list(spread),
        "call_seconds": total,
    }


def of_writes(rows, ranks=2, repeats=3):
    file = a_file()
    request = Writes(write_times.WAYS, ("Temp", "density"), 1e-3, ranks, repeats)
    record = {"error": None, "result": {"ranks": ranks, "unit": 8, "rows": rows}}
    return Results(SETTINGS, [file], {(file, request): record})


@pytest.mark.parametrize(
    "free, verdict, why",
    [
        # AMRIC takes 2.0 s, 1.5 of them to encode.
        ((0.5, (0.4, 0.6)), item.FAILS, "(4.00: encode 1.50 s against 0 s)"),
        ((1.7, (1.6, 3.0)), item.MEASURED, "no difference can be told on 1 of 1: plt1 on 2 (1.18"),
        ((4.0, (3.9, 4.1)), item.HOLDS, ""),
    ],
)
def test_overhead_is_told_by_spread_and_its_reason_by_stages(free, verdict, why):
    total, spread = free
    rows = [
        a_write(write_times.LR, 2.0, 1.5, (1.9, 2.1)),
        a_write(write_times.NO_COMPRESSION, total, 0.0, spread),
    ]
    row = conclusions.find(of_writes(rows)).numbers["no overhead against no compression"]
    assert row["verdict"] == verdict
    assert why in row["why"] and bool(why) == bool(row["why"])


def test_writes_that_are_slow_at_writing_are_not_said_to_be_slow_at_encoding():
    rows = [
        a_write(write_times.LR, 2.0, 0.02, (1.9, 2.1)),
        a_write(write_times.NO_COMPRESSION, 1.0, 0.0, (0.9, 1.1)),
    ]
    why = conclusions.find(of_writes(rows)).numbers["no overhead against no compression"]["why"]
    assert "write 1.98 s against 1.00 s" in why and "encode" not in why
    rows[0]["seconds"] |= {"encode": 0.5, "write": 1.0, "prepare": 0.5}
    why = conclusions.find(of_writes(rows)).numbers["no overhead against no compression"]["why"]
    assert "reason not known" in why


def test_a_single_write_tells_no_difference():
    rows = [
        a_write(write_times.LR, 2.0, 1.0, (2.0, 2.0)),
        a_write(write_times.AMREX, 4.0, 1.0, (4.0, 4.0)),
    ]
    row = conclusions.find(of_writes(rows)).numbers["1D in small chunks is slower than AMRIC"]
    assert row["verdict"] == item.MEASURED and tell.UNTOLD in row["why"]


def test_padding_is_judged_by_time_too_and_sizes_by_values_alone():
    rows = [
        a_write(write_times.LR, 2.0, 1.0, (1.9, 2.1), dataset_bytes=100, stored_bytes=150),
        a_write(section_3_3.PADDED, 4.0, 3.0, (3.9, 4.1), dataset_bytes=110, stored_bytes=120),
    ]
    found = section_3_3.find(of_writes(rows))
    lines = {line[2]: line[3:] for line in found.blocks[1].content}
    assert lines == {
        "padding costs size": ["bytes of values 1.1000", "yes", ""],
        "padding costs time": [
            "seconds 2.00 (1.86 to 2.16)",
            "yes",
            "encode 3.00 s against 1.00 s",
        ],
    }
    assert found.verdict == item.HOLDS and "values' datasets alone" in found.blocks[0].content
    assert section_3_3.find(of_writes(rows, ranks=1)).verdict == item.NOT_HERE


def test_pictures_of_writes_have_the_names_of_the_paper():
    rows = [a_write(way, 2.0, 1.0, (1.9, 2.1)) for way in write_times.WAYS]
    found = write_times.figure_18.find(of_writes(rows))
    assert found.verdict == item.MEASURED, "all take as long"
    assert any(block.kind == "picture" for block in found.blocks)
    assert list(write_times.NAMES.values()) == [
        "NoComp", "AMReX", "AMRIC (SZ_L/R)", "AMRIC (SZ_Interp)", "Neve", "Neve behind",
    ]  # fmt: skip


def test_past_the_paper_takes_the_better_way_of_each_field():
    file = a_file()
    values = {}
    for field, lr, interp in (("density", 80, 100), ("Temp", 100, 50)):
        values[field, ways.ADAPTIVE, 1e-3] = (lr, 50.0)
        values[field, ways.INTERP, 1e-3] = (interp, 50.0)
        values[field, ways.NEVE["balanced"], 1e-3] = (40, 50.0)
    results = Results(SETTINGS, [file], measured(file, values))
    for over in (past_the_paper.PAPER_UNITS, past_the_paper.BEST_UNIT):
        bound = past_the_paper.at_equal_bound(results, file, 1e-3, "balanced", over)
        assert bound == pytest.approx((80 / 40 * 50 / 40) ** 0.5)
        psnr = past_the_paper.at_equal_psnr(results, file, "balanced", over)
        assert psnr == pytest.approx(bound)
        assert past_the_paper.at_equal_bound(results, file, 1e-3, "max", over) is None


def test_past_the_paper_judges_by_the_best_unit():
    """Unit 64 makes AMRIC better than Neve on a field that unit=auto leaves behind."""
    file = a_file(fields=("density",))
    values = {}
    for way, stored in ((ways.ADAPTIVE, 100), (ways.INTERP, 120), ("amric:interp,unit=64", 50)):
        for rel, psnr in ((1e-3, 60.0), (1e-2, 40.0)):
            values["density", way, rel] = (stored, psnr)
    for effort in ways.NEVE.values():
        for rel, psnr in ((1e-3, 60.0), (1e-2, 40.0)):
            values["density", effort, rel] = (80, psnr)
    found = past_the_paper.find(Results(SETTINGS, [file], measured(file, values)))
    assert found.verdict == item.FAILS
    assert found.numbers["over the paper's units"]["balanced at equal bound"] == pytest.approx(1.25)
    for at in ("equal bound", "equal PSNR"):
        of_best = found.numbers["over the best unit"]
        assert of_best[f"balanced at {at}"] == pytest.approx(50 / 80)
        assert f"plt1 at {'bound 0.001' if at == 'equal bound' else at} (0.625)" in found.why
    assert "fast is not ahead of the best unit at equal bound (0.625)" in found.why
    assert found.blocks[0].content[0][2:] == ["1.250"] * 3 + ["0.625"] * 3


def test_a_unit_that_cuts_as_auto_does_is_not_measured_twice():
    file = a_file()
    assert past_the_paper.units_apart(file) == [16, 32, 64]
    asked = {point.way for point in past_the_paper.needs(file, SETTINGS)}
    assert "amric:adaptive,unit=8" not in asked
    assert {"amric:adaptive", "amric:adaptive,unit=64", "amric:interp,unit=16"} <= asked
    file.levels[1]["auto_unit"] = 16
    assert past_the_paper.units_apart(file) == [8, 16, 32, 64]


def of_panels(jumps, jump_rms=(1.0, 1.0, 1.0), ratios=(50, 50, 50), psnrs=(60.0, 61.0, 62.0)):
    """The record of a slice by three ways."""
    each = zip(jumps, jump_rms, ratios, psnrs, strict=True)
    return {
        "error": None,
        "result": {
            "png": "",
            "ways": [
                {
                    "way": f"way {n}",
                    "rel": 0.01,
                    "ratio": ratio,
                    "psnr_db": psnr,
                    "band": 1.0,
                    "jump": jump,
                    "jump_rms": rms,
                }
                for n, (jump, rms, ratio, psnr) in enumerate(each)
            ],
        },
    }


def finding_of_panels(of, **records):
    """An item's finding of files of these names."""
    files = [a_file(name) for name in records]
    found = {}
    for file, record in zip(files, records.values(), strict=True):
        asked = [one for one in of.needs(file, SETTINGS) if isinstance(one, Panels)]
        found |= dict.fromkeys([(file, one) for one in asked], record)
    return of.find(Results(SETTINGS, files, found))


@pytest.mark.parametrize(
    "jumps, jump_rms, verdict, said",
    [
        ((2.0, 1.5, 0.9), (3.0, 2.0, 1.0), item.HOLDS, ""),
        # Smaller errors alone are no smaller artifact, nor the other way round.
        (
            (1.5, 2.0, 0.9),
            (3.0, 2.0, 1.0),
            item.FAILS,
            "AMRIC's jump is not the smaller one on one",
        ),
        (
            (2.0, 1.5, 0.9),
            (2.0, 3.0, 1.0),
            item.FAILS,
            "AMRIC's jump is not the smaller one on one",
        ),
        ((0.9, 0.8, 0.9), (3.0, 2.0, 1.0), item.MEASURED, "no artifact seen in either on one"),
        (
            (2.0, 1.5, 3.09),
            (3.0, 2.0, 1.0),
            item.HOLDS,
            "one (3.09; of the range 0.0100, original 0.0300)",
        ),
    ],
)
def test_an_artifact_is_a_jump_between_levels_larger_than_within(jumps, jump_rms, verdict, said):
    found = finding_of_panels(figure_10, one=of_panels(jumps, jump_rms))
    assert found.verdict == verdict
    assert said in found.why and bool(said) == bool(found.why)


def test_slices_of_another_ratio_are_marked_and_not_counted():
    near = of_panels((1, 1, 1), ratios=(200, 200, 332), psnrs=(60.0, 58.0, 1.0))
    far = of_panels((1, 1, 1), ratios=(198, 332, 198), psnrs=(60.0, 10.0, 1.0))
    found = finding_of_panels(figure_6.ITEM, near=near, far=far)
    assert found.numbers["psnr_of_slices_db"] == [2.0]
    assert "far: not counted" in found.why
    notes = [[row[-1] for row in block.content] for block in found.blocks if block.kind == "table"]
    assert notes[:2] == [["", "", drawing.NEAREST], ["", drawing.NEAREST, ""]]
    assert drawing.NEAREST in drawing._label("neve:auto", 332, 198)
    assert drawing._label("neve:auto", 198.5, 198) == drawing._label("neve:auto", 332, None)
    in_figure_10 = finding_of_panels(figure_10, far=far)
    assert in_figure_10.verdict == item.MEASURED and in_figure_10.numbers["jump"][:2] == [
        None,
        None,
    ]


def test_table_2_counts_each_bound_once_and_all_bytes():
    file = a_file()
    values, everything = {}, {}
    # By field and bound: AMRIC's two, Neve's three.
    stored = {
        ("density", 1e-3): (500, 400, (400, 320, 300)),
        ("Temp", 1e-3): (10, 20, (5, 5, 5)),
        ("density", 1e-2): (100, 300, (100, 80, 50)),
        ("Temp", 1e-2): (10, 20, (10, 5, 5)),
    }
    for (field, rel), (lr, interp, neve) in stored.items():
        values[field, ways.ADAPTIVE, rel] = (lr, 50.0)
        values[field, ways.INTERP, rel] = (interp, 50.0)
        for way, size in zip(ways.NEVE.values(), neve, strict=True):
            values[field, way, rel] = (size, 50.0)
        everything[field, ways.AMREX, rel] = (1000 if rel == 1e-3 else 500, 50.0)
    records = measured(file, values)
    for (of, one), record in measured(file, everything).items():
        records[of, replace(one, cells="all")] = record
    found = table_2.find(Results(SETTINGS, [file], records))
    over = found.numbers["over_amric"]
    assert over["fast"] == pytest.approx((410 / 405 * 110 / 110) ** 0.5)
    assert over["balanced"] == pytest.approx((410 / 325 * 110 / 85) ** 0.5)
    # AMReX at 1e-3 and at 1e-2 once each, though the paper's pair has a line of its own.
    assert len(found.numbers["lines"]) == 3
    amrex = f"{(1 * 2) ** 0.5:.2f}"
    assert f": {amrex}, " in found.ours and "arithmetic means" in found.ours
    lr = ((1000 / 500 + 1000 / 10) / 2 * (1000 / 100 + 1000 / 10) / 2) ** 0.5
    assert f", {lr:.1f}, " in found.ours


def test_many_files_behind_are_the_worst_three_and_a_count():
    factors = {f"plt{n}": 0.5 + n / 100 for n in range(25)}
    files = [a_file(name) for name in factors]
    gains = [
        tell.Gain(file, "density", None, factor)
        for file, factor in zip(files, factors.values(), strict=True)
    ]
    assert tell.where_not(gains[::-1]) == (
        "not on 25 of 25: plt0 density (0.5000), plt1 density (0.5100), plt2 density (0.5200), and "
        "22 more"
    )
    assert tell.where_not(gains[:3]).endswith("plt2 density (0.5200)")


def test_ranges_are_said_once_where_both_ends_read_the_same():
    assert span([12.5, 12.5001], " %") == "12.5 %"
    assert span_and_mean([12.5], " %") == "12.5 %"
    assert span_and_mean([3.9, 17.6, 3.88], " %") == "3.88 to 17.6 %, mean 8.46 %"


def test_densities_over_steps_have_their_range():
    steps = [a_file(f"plt{n}", run="plt", steps=3, is_last=n == 2) for n in range(3)]
    for file, density in zip(steps, (0.039, 0.176, 0.0388), strict=True):
        file.levels[1]["density"] = density
    found = table_1.find(Results(SETTINGS, steps, {}))
    assert "finest level on 3.88 to 17.6 %, mean 8.46 % of the domain" in found.ours
    assert found.numbers["plt"] == pytest.approx([90, 100 * (0.039 + 0.176 + 0.0388) / 3])


def test_ranks_that_hold_nothing_are_not_among_eight():
    records = {}
    file = a_file(fields=("density",))
    for way in figure_15.OF_RANKS:
        for rel in SETTINGS.bounds:
            row = a_row(100, 60.0) | {"rel": rel}
            for level, ranks in zip(row["levels"], (1, 3), strict=True):
                level["ranks_with_cells"] = ranks
            point = Point("density", way, rel, "uncovered")
            records[file, point] = {"error": None, "result": row}
    found = figure_15.find(Results(SETTINGS, [file], records))
    assert "8 ranks, of which hold something: 1 on level 0, 3 on level 1" in found.ours
    assert found.blocks[0].content[0][1] == "1, 3"


def test_markdown_has_a_short_line_an_item_and_its_sentences_below():
    page = Page("a study")
    one = item.Item("table-9", "Table 9", "A table", lambda: (), lambda: None)
    why = "because " * 40
    words = "a sentence of some length " * 10
    finding = item.Finding(item.FAILS, words, "ours", "-", why.strip())
    output.add_items(page, {one: finding})
    text = page.markdown()
    line = next(line for line in text.splitlines() if line.startswith("- **Table 9**"))
    assert item.FAILS in line and len(line) < 160 and line.endswith("...")
    assert "**Paper**: a sentence" in text and "**Here**: ours." in text and "**Neve**" not in text
    assert why.strip() in text and "|" not in text
    assert page.html().count(words.strip()) == 1 and "<table>" in page.html()


def test_long_cells_do_not_widen_their_column():
    lines = report.table(("a", "b"), [("x", "short"), ("y", "z" * 300)]).splitlines()
    assert len(lines[2]) < 20 and lines[0].index("|", 1) == lines[2].index("|", 1)
    assert "z" * 300 in lines[3]


def test_points_that_broke_their_bound_are_told():
    file = a_file()
    records = measured(file, {("density", "a", 1e-3): (100, 50.0), ("density", "b", 1e-3): (9, 9)})
    rows = list(points.rows(Results(SETTINGS, [file], records)))
    assert points.broken(rows) == []
    next(iter(records.values()))["result"]["violations"] = 3
    rows = list(points.rows(Results(SETTINGS, [file], records)))
    assert [(row["way"], row["level"]) for row in points.broken(rows)] == [("a", "all")]


@pytest.mark.parametrize(
    "held, tried, verdict",
    [(0, 0, item.MEASURED), (2, 2, item.HOLDS), (1, 2, item.IN_PART), (0, 2, item.FAILS)],
)
def test_verdicts(held, tried, verdict):
    assert item.verdict_of(held, tried) == verdict


@pytest.mark.parametrize("text", ["axis=x", "axis=z,at=0.5", "at=2,axis=y"])
def test_slices(text):
    axis, at = paper._slice(text)
    assert f"axis={axis}" in text and (at is None) == ("at=" not in text)


# ---- inputs ------------------------------------------------------------------------------------


def silent(_):
    pass


def test_steps_of_one_run_and_files_of_others(sample, tmp_path):
    for name in ("plt00117", "plt00113", "other00001"):
        shutil.copytree(sample, tmp_path / "in" / name)
    found, aside = inputs.find([str(tmp_path / "in")], tmp_path / "unpacked", silent)
    assert [one.name for one in found] == ["other00001", "plt00113", "plt00117"]
    assert aside == []
    runs = [one.run for one in found]
    assert runs[1] == runs[2] != runs[0] and [one.step for one in found] == [1, 113, 117]
    again, _ = inputs.find([str(tmp_path / "in"), str(tmp_path / "in/plt00113")], tmp_path, silent)
    assert len(again) == 3, "what is named twice is there once"


def test_another_content_is_another_identity(sample, tmp_path):
    copy = tmp_path / "plt00113"
    shutil.copytree(sample, copy)
    before = inputs.identity_of(copy)
    assert inputs.identity_of(copy) == before
    header = (copy / "Header").read_text()
    (copy / "Header").write_text(header.replace("0.000477", "0.000478"))
    assert inputs.identity_of(copy) != before


def test_links_in_folders_are_not_followed(sample, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "plt00001").symlink_to(sample)
    (folder / "round").symlink_to(folder)
    (folder / "nowhere").symlink_to(folder / "missing")
    (folder / "itself").symlink_to(folder / "itself")
    found, aside = inputs.find([str(folder)], tmp_path / "unpacked", silent)
    assert found == []
    reasons = {one.name: one.reason for one in aside if not one.is_named}
    assert reasons.pop("in/nowhere").startswith("a link that leads nowhere: No such file")
    assert reasons.pop("in/itself").startswith("a link that leads nowhere: Too many levels")
    assert reasons == dict.fromkeys(("in/plt00001", "in/round"), "a link, which is not followed")
    # The folder was named, and holds no plotfile.
    assert [one.name for one in aside if one.is_named] == ["in"]


def test_links_that_are_named_are_followed(sample, tmp_path):
    (tmp_path / "plt00001").symlink_to(sample)
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    told = []
    words = [str(tmp_path / name) for name in ("plt00001", "nowhere")]
    found, aside = inputs.find(words, tmp_path / "unpacked", told.append)
    assert [one.name for one in found] == ["plt00001"]
    assert [(one.name, one.is_named) for one in aside] == [("nowhere", True)]
    assert any(line.startswith("nowhere: a link that leads nowhere") for line in told)


def test_a_damaged_archive_leaves_nothing(tmp_path):
    archive = tmp_path / "steps.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("plt/data")
        member.size = 200_000
        tar.addfile(member, io.BytesIO(os.urandom(member.size)))
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Error, match=r"steps\.tar\.gz"):
        unpack.unpacked(archive, tmp_path / "into")
    assert list((tmp_path / "into").iterdir()) == []
    archive.write_bytes(whole)
    folder = unpack.unpacked(archive, tmp_path / "into")
    assert (folder / "plt/data").stat().st_size == 200_000
    assert unpack.unpacked(archive, tmp_path / "into") == folder, "once is enough"


def test_an_archive_may_not_fill_the_disk(tmp_path, monkeypatch):
    archive = tmp_path / "steps.tar"
    with tarfile.open(archive, "w") as tar:
        member = tarfile.TarInfo("data")
        member.size = 5000
        tar.addfile(member, io.BytesIO(bytes(5000)))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(unpack.shutil, "disk_usage", lambda _: usage._replace(free=9000))
    with pytest.raises(Error, match="half of what the disk has free"):
        unpack.unpacked(archive, tmp_path / "into")


# ---- units -------------------------------------------------------------------------------------

WORK = """
import os, time

def measure(request, paths):
    if request["do"] == "crash":
        os._exit(7)
    if request["do"] == "sleep":
        time.sleep(60)
    return {"error": None, "result": request["do"]}
"""


def units(*names):
    return [Unit(name, name, 1.0, {"do": name}) for name in names]


@pytest.fixture
def work(tmp_path, monkeypatch):
    (tmp_path / "work_of_a_test.py").write_text(textwrap.dedent(WORK))
    monkeypatch.syspath_prepend(str(tmp_path))
    return "work_of_a_test"


def test_a_unit_that_crashes_or_hangs_costs_itself_alone(work):
    told = []
    with workers.Workers(work, 2, limit_seconds=8) as pool:
        found = dict(
            (unit.key, record)
            for unit, record in pool.run(units("a", "crash", "sleep", "b", "c"), told.append)
        )
    assert {key: found[key]["result"] for key in "abc"} == {"a": "a", "b": "b", "c": "c"}
    assert found["crash"]["error"] == "its process ended with 7"
    assert found["sleep"]["error"] == "stopped after 8 s"
    assert "sleep" in told


CHILDREN = """
import os, pathlib, signal, subprocess, sys, time

def measure(request, paths):
    from neve_bench.programs import output_of
    program = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    output_of([sys.executable, "-c", program], 60)
"""
STUDY = """
import sys
from neve_bench.paper.unit import Unit
from neve_bench.paper.workers import Workers

if __name__ == "__main__":
    sys.path.insert(0, ".")
    with Workers("children_of_a_test", 1, 60) as pool:
        list(pool.run([Unit("a", "a", 1.0, {})], lambda name: None))
"""


def test_a_killed_study_takes_its_workers_and_their_programs_along(tmp_path):
    (tmp_path / "children_of_a_test.py").write_text(CHILDREN)
    (tmp_path / "study.py").write_text(STUDY)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    study = subprocess.Popen([sys.executable, "study.py"], cwd=tmp_path, env=environment)
    until = time.monotonic() + 60
    while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text():
        assert study.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    program = int((tmp_path / "pid").read_text())
    study.kill()
    study.wait()
    while is_running(program):
        assert time.monotonic() < until, "it outlives the study"
        time.sleep(0.05)


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_keys_differ_by_everything_in_them():
    assert key_of("a", {"x": 1, "y": 2}) == key_of("a", {"y": 2, "x": 1})
    assert len({key_of("a", 1), key_of("a", 2), key_of("b", 1), key_of("a", 1, None)}) == 4


def test_progress_is_by_cost_and_not_at_every_unit():
    stream = io.StringIO()
    progress = Progress("neve study x", 40.0, stream=stream)
    progress.show("first", now=True)
    progress.add(30.0)
    for _ in range(100):
        progress.show("again")
    progress.show("last", now=True)
    assert stream.getvalue().splitlines() == [
        "neve study x:   0% done, estimating what is left: first",
        "neve study x:  75% done, estimating what is left: last",
    ]


def test_time_left_is_what_the_rest_takes_at_the_pace_of_this_study(monkeypatch):
    """Ten of a hundred were done before; then a slow start, and six steps at twice the estimate."""
    stream = io.StringIO()
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress("x", 100.0, done=10.0, stream=stream)
    progress.show("it", now=True)
    now[0] += 500
    for _ in range(6):
        progress.show("it", now=True)
        progress.add(5.0)
        now[0] += 10
    progress.show("it", now=True)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "x:  10% done, estimating what is left: it"
    assert lines[-2] == "x:  35% done, estimating what is left: it"
    # 25 in 60 s behind the first step, and 60 to go.
    assert lines[-1] == "x:  40% done, 2 min left: it"


def test_what_has_no_total_has_no_share():
    stream = io.StringIO()
    Progress("x", stream=stream).show("a look", now=True)
    assert stream.getvalue() == "x: a look\n"


def test_the_words_of_a_failure_are_found_between_frames():
    assert brief("-----\nneve: no such file\n-----\n") == "neve: no such file"
    assert brief("-----") == "-----"


def test_the_module_of_workers_is_there():
    __import__(paper.PAPER.module)
    assert callable(sys.modules[paper.PAPER.module].measure)
