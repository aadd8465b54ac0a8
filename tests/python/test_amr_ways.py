# SPDX-License-Identifier: BSD-3-Clause
"""Every way of the catalog keeps the same cells within the same bound."""

from __future__ import annotations

import numpy as np
import pytest
from made_hierarchies import FIELD, MADE

from neve_bench.amr import foreign
from neve_bench.amr.catalog import METHODS, way
from neve_bench.amr.hierarchy import load
from neve_bench.amr.subject import CELLS, subject
from neve_bench.amr.way import NotPossible

FOREIGN = {f"{program.paper}:{program.name}" for program in foreign.PROGRAMS}
OURS = [name for name in METHODS if name not in FOREIGN]
# Settings beside the defaults, of which each is measured on everything, too.
MORE = [
    "amric:adaptive,unit=8",
    "amric:sle,unit=16",
    "amric:lm,unit=8,ranks=3",
    "amric:adaptive,ranks=3,ranges=rank",
    "amric:interp,ranks=5",
    "amrex:1d,chunk=100",
    "amrex:1d,codec=interp",
    "amrex:1d,ranks=3,ranges=rank",
]


def assert_keeps(text: str, made, cells: str, rel: float = 1e-3) -> None:
    """Counted here, without measure()."""
    asked = subject(made, FIELD if FIELD in made.fields else made.fields[0], rel, cells)
    chosen = way(text)
    try:
        encode, decode = chosen.prepare(asked)
        stored = encode()
    except NotPossible as reason:
        assert "unit=" in text, reason
        return
    assert all(isinstance(piece, bytes) for piece in stored)
    levels = decode(stored)
    for part, boxes in zip(asked.parts, levels, strict=True):
        for values, held, got in zip(part.values, part.held, boxes, strict=True):
            assert got.dtype == values.dtype
            assert got.shape == values.shape
            assert_within(values[held], got[held], part.bound_abs)


def assert_within(true: np.ndarray, got: np.ndarray, bound_abs: float) -> None:
    special = ~np.isfinite(true) | ((true == 0) & np.signbit(true))
    assert true[special].tobytes() == got[special].tobytes()
    error = np.abs(got[~special].astype(np.float64) - true[~special].astype(np.float64))
    assert (error <= bound_abs).all()


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("text", [*OURS, *MORE])
def test_every_way_keeps_the_held_cells_of_every_hierarchy(text, made):
    for cells in CELLS:
        assert_keeps(text, MADE[made](), cells)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("text", [*OURS, *MORE])
def test_every_way_keeps_the_held_cells_of_the_sample(text, cells, sample_hierarchy):
    assert_keeps(text, sample_hierarchy, cells)


@pytest.fixture(scope="module")
def sample_hierarchy(sample):
    return load(sample, ["density"])
