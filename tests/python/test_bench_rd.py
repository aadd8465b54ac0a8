# SPDX-License-Identifier: BSD-3-Clause
"""The arithmetic of the rate-distortion study, and the arrays that peers are given."""

from __future__ import annotations

import math

import numpy as np
import pytest

import neve
from neve_bench import codec_methods, trial
from neve_bench.case import Case
from neve_bench.method import Method
from neve_bench.rd import curves, hierarchy, methods, peers, slices


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


def test_file_psnr_weighs_levels_by_their_cells():
    levels = [{"held_cells": 300, "psnr_db": 60.0}, {"held_cells": 100, "psnr_db": 50.0}]
    expected = -10 * math.log10((300 * 1e-6 + 100 * 1e-5) / 400)
    assert methods.file_psnr(levels) == pytest.approx(expected)
    # A level without errors adds cells and no error; without any error there is no PSNR.
    exact = {"held_cells": 400, "psnr_db": None}
    assert methods.file_psnr([*levels, exact]) == pytest.approx(expected + 10 * math.log10(2))
    assert methods.file_psnr([exact]) is None


def test_regret_is_against_the_codecs_the_effort_allows():
    def row(name, stored):
        return {"field": "f", "rel": 1e-3, "method": name, "stored_bytes": stored, "ratio": 1.0}

    rows = [row("auto fast", 103), row("auto max", 90)]
    rows += [row("dual_quant in_place, fast", 100), row("context in_place, max", 80)]
    rows.append(row(methods.FIXED_BLOCK, 1))  # a variant for comparison is no choice of auto's
    found = {r["effort"]: r for r in curves.size_regrets(rows, methods.methods())}
    assert found["fast"]["size_regret"] == pytest.approx(0.03)
    assert found["max"]["size_regret"] == pytest.approx(0.125)
    assert found["max"]["best"] == "context in_place, max"


def test_methods_have_names_of_their_own():
    names = [m.name for m in methods.methods()]
    assert len(names) == len(set(names))
    assert {methods.SLE, methods.AMREX_1D, *slices.SHOWN} <= set(names)


def test_written_hierarchy_reads_back(sample, tmp_path):
    subject = hierarchy.load(sample, ["Temp", "density"])
    subject.write(tmp_path / "plain.h5", subject.fields)
    with neve.open(sample) as original, neve.open(tmp_path / "plain.h5") as copy:
        assert copy.components == ("Temp", "density")
        for theirs, mine in zip(original.levels, copy.levels, strict=True):
            assert (mine.boxes, mine.domain) == (theirs.boxes, theirs.domain)
            assert mine.ref_ratio == theirs.ref_ratio
            for field in copy.components:
                for a, b in zip(theirs[field], mine[field], strict=True):
                    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("arrangement", ["boxes", "cluster", "1d"])
@pytest.mark.parametrize("level", [0, 1])
def test_arrangements_hold_every_cell_once(sample, arrangement, level):
    subject = hierarchy.load(sample, ["density"])
    pieces = peers.arrange(subject, level, "density", arrangement, leaves_out=False)
    flat = pieces.flat(pieces.arrays)
    expected = np.concatenate([v.ravel() for v in subject.levels[level].values["density"]])
    np.testing.assert_array_equal(np.sort(flat), np.sort(expected))
    if arrangement == "1d":
        assert {a.size for a in pieces.arrays} == {peers.CHUNK_1D}
    if arrangement == "cluster":  # cubes stay cubes: the first one is a corner of the first box
        side = pieces.unit_side
        corner = subject.levels[level].values["density"][0][:side, :side, :side]
        np.testing.assert_array_equal(pieces.arrays[0][:side, :side, :side], corner.T)


def test_cluster_leaves_wholly_covered_cubes_out(sample):
    subject = hierarchy.load(sample, ["density"])
    level, finer = subject.levels
    whole = peers.arrange(subject, 0, "density", "cluster", leaves_out=False)
    kept = peers.arrange(subject, 0, "density", "cluster", leaves_out=True)
    covered = peers._covered_units(level, finer, kept.unit_side)
    assert whole.held - kept.held == len(covered) * kept.unit_side**3
    assert whole.held - kept.held <= finer.cells() // 8


@pytest.mark.parametrize("leaves_out", [(False, False), (True, False)])
def test_a_peer_in_pieces_is_measured_over_all_of_them(sample, leaves_out):
    subject = hierarchy.load(sample, ["density"])

    def plain(field, bound_abs):
        shape, dtype = field.array.shape, field.array.dtype
        return (
            lambda: np.ascontiguousarray(field.array).tobytes(),
            lambda stored: np.frombuffer(stored, dtype).reshape(shape) + bound_abs / 2,
        )

    codec = peers.Codec("plain", "numpy", plain, ("cluster",))
    row = peers.measure(subject, "density", codec, "cluster", 1e-3, leaves_out, 0, 60)
    if not any(leaves_out):
        assert row["stored_bytes"] >= row["raw_bytes"]
    assert row["max_error_over_bound"] == pytest.approx(0.5)
    assert row["violations"] == 0
    assert row["psnr_db"] == pytest.approx(-20 * math.log10(0.5e-3), abs=0.01)


def test_a_peer_that_fails_keeps_its_reason(sample):
    subject = hierarchy.load(sample, ["density"])

    def broken(field, bound_abs):
        raise RuntimeError("out of luck")

    codec = peers.Codec("broken", "numpy", broken, ("boxes",))
    row = peers.measure(subject, "density", codec, "boxes", 1e-3, [False, False], 0, 60)
    assert row["note"] == "level 0: RuntimeError: out of luck"
    assert "ratio" not in row


def test_sperr_holds_its_bound():
    pytest.importorskip("hdf5plugin")
    cube = np.sin(np.linspace(0, 9, 16**3)).reshape(16, 16, 16)
    field = Case("rd", "cube", cube, 1e-3)
    found = trial.run(Method("SPERR", "", codec_methods.sperr), field, 2e-3, 1, 60)
    assert found["violations"] == 0 and found["ratio"] > 4
