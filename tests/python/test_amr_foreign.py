# SPDX-License-Identifier: BSD-3-Clause
"""Other programs as ways, and children that measure them."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from made_hierarchies import FIELD, MADE

from neve_bench.amr import foreign, pieces
from neve_bench.amr.catalog import way
from neve_bench.amr.hierarchy import load
from neve_bench.amr.in_child import measure_in_child
from neve_bench.amr.measure import Measured, measure
from neve_bench.amr.subject import CELLS, subject
from neve_bench.amr.way import NotPossible, Way

TEXTS, MISSING = foreign.at_hand()
LIMIT_SECONDS = 120.0
# Without NaN and infinities, which these programs do not promise.
FINITE = (
    "in units",
    "in units, f4",
    "odd, ratio 4",
    "2D",
    "thin",
    "covered wholly",
    "three levels",
)


def ways_of(program: foreign.Program) -> list[str]:
    name = f"{program.paper}:{program.name}"
    return [text for text in TEXTS if text.split(",")[0] == name]


@pytest.mark.parametrize("program", foreign.PROGRAMS, ids=lambda program: program.label)
def test_programs_keep_the_held_cells(program):
    if not program.is_installed():
        pytest.skip(f"{program.package} is not installed")
    for text in ways_of(program):
        for name in FINITE:
            for cells in ("uncovered", "restorable"):
                asked = subject(MADE[name](), FIELD, 1e-2, cells)
                found = measure_in_child(way(text), asked, 1, LIMIT_SECONDS)
                assert isinstance(found, Measured), (text, name, found)
                assert found.row["violations"] == 0, (text, name, cells)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("name", pieces.PIECES)
def test_pieces_join_to_what_was_cut(name, cells):
    cut, shapes, joined = pieces.PIECES[name]
    for made in MADE:
        for part in subject(MADE[made](), FIELD, 1e-3, cells).parts:
            if part.held_cells == 0:
                continue
            arrays, told = cut(part)
            assert [array.shape for array in arrays] == shapes(part, told)
            back = joined(part, told, arrays)
            for true, held, got in zip(part.values, part.held, back, strict=True):
                assert got.shape == true.shape
                assert got[held].tobytes() == true[held].tobytes()


def test_boxes_that_fill_their_bounding_box_are_one_array():
    coarse, fine = subject(MADE["in units"](), FIELD, 1e-3).parts
    arrays, _ = pieces.cut_boxes(coarse)
    assert [array.shape for array in arrays] == [(24, 16, 32)]
    # The fine boxes do not: each is an array.
    arrays, _ = pieces.cut_boxes(fine)
    assert [array.shape for array in arrays] == [(16, 16, 16), (32, 16, 16)]


def test_a_cluster_is_near_a_cube():
    for count in range(1, 200):
        grid = pieces.cluster_grid(count, 3)
        assert np.prod(grid) >= count
        assert max(grid) <= 3 * min(grid)


def test_levels_without_a_range_are_not_possible():
    asked = subject(MADE["constant"](), FIELD, 1e-3)
    for program in foreign.PROGRAMS:
        if program.is_installed():
            with pytest.raises(NotPossible, match="level 0 has no range: no bound for"):
                measure(way(f"{program.paper}:{program.name}"), asked)


def test_a_missing_program_is_named(monkeypatch):
    monkeypatch.setattr(foreign.importlib.util, "find_spec", lambda name: None)
    texts, missing = foreign.at_hand()
    assert texts == []
    assert len(missing) == len(foreign.PROGRAMS)
    assert missing[0] == "SZ3: not measured, pysz is not installed"
    with pytest.raises(Exception, match="'sz3:default': the Python package pysz is not installed"):
        way("sz3:default")


def test_chunks_of_1d_cost_no_more_than_sz3s(sample):
    """AMReX's pieces as Neve's frames, with their headers, against SZ3's of the same values."""
    if not foreign.PROGRAMS[1].is_installed():
        pytest.skip("pysz is not installed")
    asked = subject(load(sample, ["density"]), "density", 1e-3)
    ours = measure(way("amrex:1d"), asked).row["stored_bytes"]
    theirs = measure_in_child(way("sz3:lr,pieces=1d"), asked, 1, LIMIT_SECONDS)
    assert isinstance(theirs, Measured)
    assert ours <= theirs.row["stored_bytes"]


def made_way(encode) -> Way:
    return Way("made", "made", "", lambda asked: (encode, lambda stored: []), is_foreign=True)


def asked_small():
    return subject(MADE["2D"](), FIELD, 1e-3)


def test_a_child_gives_what_measuring_here_does():
    asked = asked_small()
    found = measure_in_child(way("neve:auto"), asked, 1, LIMIT_SECONDS)
    assert isinstance(found, Measured)
    here = measure(way("neve:auto"), asked)
    times = {"encode_seconds", "decode_seconds", "encode_mb_per_s", "decode_mb_per_s"}
    assert {k: v for k, v in found.row.items() if k not in times} == {
        k: v for k, v in here.row.items() if k not in times
    }
    for there, boxes in zip(found.values, here.values, strict=True):
        for a, b in zip(there, boxes, strict=True):
            assert a.tobytes() == b.tobytes()


def test_a_crash_costs_its_row_only():
    found = measure_in_child(
        made_way(lambda: os.kill(os.getpid(), signal.SIGSEGV)), asked_small(), 1, LIMIT_SECONDS
    )
    assert found == "crashed (SIGSEGV)"
    found = measure_in_child(made_way(lambda: os._exit(7)), asked_small(), 1, LIMIT_SECONDS)
    assert found == "crashed (exit code 7)"


def test_an_exception_is_the_rows_text():
    def encode():
        raise RuntimeError("no dictionary")

    found = measure_in_child(made_way(encode), asked_small(), 1, LIMIT_SECONDS)
    assert found == "RuntimeError: no dictionary"


def test_a_hang_is_stopped():
    start = time.monotonic()
    found = measure_in_child(made_way(lambda: time.sleep(1000)), asked_small(), 1, 0.5)
    assert found == "stopped after 0.5 s"
    assert time.monotonic() - start < 60


def test_what_is_not_possible_is_said_here_too():
    def prepare(asked):
        raise NotPossible("not on Tuesdays")

    with pytest.raises(NotPossible, match="not on Tuesdays"):
        measure_in_child(Way("made", "made", "", prepare), asked_small(), 1, LIMIT_SECONDS)
