# SPDX-License-Identifier: BSD-3-Clause
"""What plotfiles of Chombo have beside their fields: ghost cells, attributes, objects."""

import h5py
import numpy as np
import pytest

from .chombo_files import Variable, write
from .conftest import PLUGIN_DIR, shared

BOUND_VIOLATED, USAGE = 3, 2
REAL = ["chombo/ramp.000020.3d.hdf5", "chombo/explosion_density.000020.3d.hdf5"]
# Of the level: Neve writes its own, which say the same.
GEOMETRY = ("prob_domain", "dx")


@pytest.fixture(scope="module", autouse=True)
def plugin():
    h5py.h5pl.prepend(str(PLUGIN_DIR).encode())


def boxes_with_ghosts(path):
    """Every box of every level as its elements, by corners."""
    with h5py.File(path) as file:
        found = {}
        for level in range(int(file.attrs["num_levels"])):
            group = file[f"level_{level}"]
            ghosts = group["data_attributes"].attrs["outputGhost"].item()
            components = int(group["data_attributes"].attrs["comps"])
            values, offsets = group["data:datatype=0"][()], group["data:offsets=0"][()]
            for box, begin in zip(group["boxes"][()], offsets[:-1], strict=True):
                corners = box.item()
                dims = len(ghosts)
                sides = zip(corners[:dims], corners[dims:], ghosts, strict=True)
                cells = int(np.prod([hi - lo + 1 + 2 * g for lo, hi, g in sides])) * components
                found[level, corners] = values[begin : begin + cells]
    return found


def lost_attributes(original, copy):
    with h5py.File(original) as a, h5py.File(copy) as b:
        lost = []
        groups = ["/", "Chombo_global"]
        groups += [f"level_{level}" for level in range(int(a.attrs["num_levels"]))]
        groups += [f"{level}/data_attributes" for level in groups[2:]]
        groups += [name for name in a if name not in groups]
        for name in groups:
            for key, value in a[name].attrs.items():
                other = b[name].attrs.get(key)
                if other is None or np.asarray(other).tolist() != np.asarray(value).tolist():
                    lost.append((name, key))
        return lost


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("ranks", [None, 3])
def test_uncompressed_keeps_ghosts_and_attributes(neve, tmp_path, name, ranks):
    source, copy = shared(name), tmp_path / "plain.hdf5"
    outcome = neve("convert", source, copy, "--uncompressed", ranks=ranks)
    assert "stay" not in outcome.err
    original, found = boxes_with_ghosts(source), boxes_with_ghosts(copy)
    assert original.keys() == found.keys()
    assert all(original[key].tobytes() == found[key].tobytes() for key in original)
    assert lost_attributes(source, copy) == []
    with h5py.File(copy) as file:
        assert file["level_0"].attrs["dt"] > 0 and file["level_2"].attrs["ref_ratio"] == 2
        for group in (file, file["level_1"]):
            assert all(np.ndim(value) == 0 for value in group.attrs.values()), "Chombo's reader"


@pytest.mark.parametrize("name", REAL)
def test_compressed_keeps_ghosts_within_the_bound_and_attributes(neve, tmp_path, name):
    source, copy, again = shared(name), tmp_path / "x.h5", tmp_path / "again.h5"
    neve("convert", source, copy, "--covered", "keep", ranks=2)
    verdict = neve("verify", source, copy, "--json", ranks=2).json
    assert verdict["ok"]
    original, found = boxes_with_ghosts(source), boxes_with_ghosts(copy)
    bounds = [level["fields"][0]["bound_abs"] for level in verdict["levels"]]
    for (level, corners), values in original.items():
        cells = values.size // len(verdict["levels"][0]["fields"])
        error = np.abs(values[:cells] - found[level, corners][:cells]).max()
        assert error <= bounds[level]
    assert lost_attributes(source, copy) == []
    # Neve's own files keep them as well.
    neve("convert", copy, again, "--uncompressed", ranks=3)
    second = boxes_with_ghosts(again)
    assert all(found[key].tobytes() == second[key].tobytes() for key in found)
    assert lost_attributes(source, again) == []
    third = tmp_path / "third.h5"
    neve("convert", again, third, "--bound", "lossless")
    assert lost_attributes(source, third) == []
    assert neve("verify", again, third, "--json").json["ok"]


def test_verify_notices_a_changed_ghost_cell(neve, tmp_path):
    source, copy = shared(REAL[0]), tmp_path / "plain.hdf5"
    neve("convert", source, copy, "--uncompressed")
    with h5py.File(copy, "a") as file:
        file["level_1/data:datatype=0"][0] = 1.0  # in a corner, where the code left what it had
    outcome = neve("verify", source, copy, expect=BOUND_VIOLATED)
    assert "density" in outcome.messages()[-1]


def test_what_stays_behind_is_named(neve, tmp_path):
    source = shared(REAL[0])
    outcome = neve("convert", source, tmp_path / "x.h5", "--ghosts", "drop")
    assert any("1, 1, 1 layers of ghost cells" in line for line in outcome.messages())
    with h5py.File(tmp_path / "x.h5") as file:
        assert file["level_0/data_attributes"].attrs["outputGhost"].item() == (0, 0, 0)
    outcome = neve("convert", source, tmp_path / "plt")
    text = "\n".join(outcome.messages())
    for what in (
        "layers of ghost cells",
        "attribute dt of its levels",
        "Expressions",
    ):
        assert what in text, what
    assert "attribute iteration" not in text, "the Header holds it"


@pytest.mark.parametrize(
    "options",
    [
        ("--arrangement", "in_place"),
        ("--cross-level", "--codec", "interpolation"),
    ],
)
def test_what_ghosts_do_not_allow_is_refused_by_name(neve, tmp_path, options):
    source, copy = shared(REAL[0]), tmp_path / "x.h5"
    outcome = neve("convert", source, copy, *options, expect=USAGE)
    assert options[0] in outcome.messages()[-1] and "--ghosts drop" in outcome.messages()[-1]
    neve("convert", source, copy, *options, "--ghosts", "drop")
    assert neve("verify", source, copy, "--json").json["ok"]


@pytest.mark.parametrize("strategy", ["amrex-1d", "filtered"])
def test_every_strategy_keeps_ghosts(neve, tmp_path, strategy):
    source, copy = shared(REAL[0]), tmp_path / "x.h5"
    neve("convert", source, copy, "--strategy", strategy, ranks=2)
    assert neve("verify", source, copy, "--json").json["ok"]
    with h5py.File(copy) as file:
        assert file["level_0/data_attributes"].attrs["outputGhost"].item() == (1, 1, 1)
        assert file["level_0"].attrs["dt"] > 0


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
def test_made_files(neve, tmp_path, dims, dtype):
    """Padding after boxes, gzip chunks, a finest level without boxes."""
    source, copy, plain = (tmp_path / name for name in ("a.hdf5", "b.hdf5", "c.hdf5"))
    storage = {"chunks": (50,), "compression": "gzip"}
    data = Variable("data", 2, ghosts=2, dtype=dtype, gap=9, storage=storage)
    names = ("density", "pressure")
    write(source, dims, [data], restart=False, components=names, empty_level=True)
    outcome = neve("convert", source, copy, "--bound", "lossless", ranks=2)
    assert any("level_2/, without boxes" in line for line in outcome.messages())
    neve("convert", source, plain, "--uncompressed")
    for other in (copy, plain):
        assert neve("verify", source, other, "--json").json["ok"]
        with h5py.File(source) as a, h5py.File(other) as b:
            assert b["level_1"].attrs["time"] == 1.125 and b["level_1"].attrs["dt"] == 0.005
            assert b.attrs["iteration"] == 17 and b.attrs["max_level"] == 4
            assert b["bisicles"].attrs["friction law"] == a["bisicles"].attrs["friction law"]
            assert b["bisicles/table"][()].tobytes() == a["bisicles/table"][()].tobytes()
