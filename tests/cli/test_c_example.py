# SPDX-License-Identifier: BSD-3-Clause
"""The adaptive code of examples/c: its files as other readers see them, and restarts on other
numbers of ranks, which end with the same values bit for bit."""

import sys

import numpy as np
import pytest

from .conftest import BUILD, run, run_as_stranger

CODE = BUILD / "bin" / "mpi_blocks_amr_c"

# The values of each box by level and component, out of h5py and the plugin.
READ = """
import sys, h5py, numpy as np
out = {}
with h5py.File(sys.argv[1]) as f:
    for level in range(f.attrs["num_levels"]):
        group = f[f"level_{level}"]
        values = group[f"{sys.argv[3]}:datatype=0"][()]
        offsets = group[f"{sys.argv[3]}:offsets=0"][()]
        boxes = group["boxes"][()]
        for box, begin in zip(boxes, offsets):
            key = f"{level} {box['lo_i']} {box['lo_j']}"
            out[key] = values[begin : begin + 512].reshape(2, 16, 16)
        out[f"time {level}"] = np.array([group.attrs["time"]])
np.savez(sys.argv[2], **out)
"""


def simulate(folder, ranks, steps, *restart):
    folder.mkdir(exist_ok=True)
    outcome = run(["mpirun", "-n", ranks, CODE, steps, folder, *restart])
    assert outcome.code == 0, outcome.err
    return outcome.out


def read(path, base):
    saved = path.with_suffix(f".{base}.npz")
    run_as_stranger(sys.executable, "-c", READ, str(path), str(saved), base)
    return dict(np.load(saved))


def assert_same_bits(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name].view("u8"), b[name].view("u8")), name


@pytest.fixture(scope="module")
def one_rank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks") / "one"
    return folder, simulate(folder, 1, 60)


def test_plotfiles_are_within_their_bounds_of_the_values_and_say_so(one_rank, neve):
    folder, told = one_rank
    for step in (20, 40, 60):
        plot, exact = folder / f"plt000{step}.h5", folder / f"chk000{step}.h5"
        assert f"{plot}: " in told
        found, wanted = read(plot, "data"), read(exact, "stateData")
        assert found.keys() == wanted.keys() and len(found) > 40
        levels = neve("info", plot, "--json").json["levels"]
        assert len(levels) == 3
        for number, level in enumerate(levels):
            density, tracer = level["fields"]
            assert (density["name"], tracer["name"]) == ("density", "tracer")
            assert tracer["bound_abs"] == 1e-3 and 5e-5 < density["bound_abs"] < 2e-4
            boxes = [key for key in found if key.startswith(f"{number} ")]
            for c, field in enumerate((density, tracer)):
                error = max(np.abs(found[key][c] - wanted[key][c]).max() for key in boxes)
                assert 0 < error <= field["bound_abs"]
                line = f"{field['name']:8s} "
                assert line in told and f"bound {field['bound_abs']:.3g}" in told
                assert error == pytest.approx(field["max_abs_error"])
        assert plot.stat().st_size < exact.stat().st_size / 2
        # It is an advected blob: mass is kept but for the finer levels' faces.
        density = np.concatenate([wanted[k][0] for k in wanted if k.startswith("0 ")])
        assert 1 <= density.min() and density.max() < 2
        assert density.mean() == pytest.approx(1 + np.pi / 120, rel=1e-3)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_any_number_of_ranks_computes_the_same(one_rank, tmp_path, ranks):
    simulate(tmp_path / "run", ranks, 40)
    for step in (20, 40):
        name = f"chk000{step}.h5"
        assert_same_bits(
            read(one_rank[0] / name, "stateData"), read(tmp_path / "run" / name, "stateData")
        )


@pytest.mark.parametrize(("wrote", "reads"), [(1, 2), (2, 1), (2, 4), (4, 2), (3, 7)])
def test_a_restart_on_other_ranks_goes_on_bit_for_bit(one_rank, neve, tmp_path, wrote, reads):
    simulate(tmp_path / "first", wrote, 20)
    start = tmp_path / "first" / "chk00020.h5"
    simulate(tmp_path / "second", reads, 60, start)
    assert not (tmp_path / "second" / "chk00020.h5").exists()
    for step in (40, 60):
        again, whole = tmp_path / "second" / f"chk000{step}.h5", one_rank[0] / f"chk000{step}.h5"
        assert_same_bits(read(whole, "stateData"), read(again, "stateData"))
        assert neve("verify", whole, again, "--json").json["ok"]


def test_a_restart_says_what_is_wrong(one_rank, tmp_path):
    for path, words in (
        (tmp_path / "none.h5", "none.h5"),
        (one_rank[0] / "plt00020.h5", "checkpoint"),
    ):
        outcome = run(["mpirun", "-n", 2, CODE, 40, tmp_path, path])
        assert outcome.code != 0
        assert words in outcome.err
