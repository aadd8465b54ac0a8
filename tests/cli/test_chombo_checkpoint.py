# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of Chombo and of codes on Chombo (BISICLES): recognised, and copied as they are."""

import shutil
import subprocess

import h5py
import numpy as np
import pytest

from .chombo_files import LEVELS, Variable, boxes_of, same_everywhere, write
from .conftest import NEVE, PLUGIN_DIR, environment, shared

BOUND_VIOLATED, USAGE = 3, 2
CHECKPOINT = "chombo/check.000050.3d.hdf5"
PLOTFILE = "chombo/ramp.000020.3d.hdf5"


@pytest.fixture(scope="module", autouse=True)
def plugin():
    h5py.h5pl.prepend(str(PLUGIN_DIR).encode())


def bisicles(path, dims=2, **changes):
    """A dataset for each variable, ghosts of their own, no attribute to restart from."""
    variables = [
        Variable("thickness", ghosts=1),
        Variable("velocity", components=2, ghosts=2),
        Variable("topography"),
    ]
    write(path, dims, variables, restart=False, **changes)
    return path


def filters_of(dataset):
    creation = dataset.id.get_create_plist()
    return [creation.get_filter(i)[0] for i in range(creation.get_nfilters())]


def h5diff(a, b):
    if shutil.which("h5diff") is None:
        pytest.skip("h5diff is missing")
    done = subprocess.run(
        ["h5diff", str(a), str(b)],
        capture_output=True,
        text=True,
        env=environment(HDF5_PLUGIN_PATH=str(PLUGIN_DIR)),
    )
    assert "cannot be read" not in done.stderr + done.stdout
    return done.returncode, done.stdout


@pytest.mark.parametrize("ranks", [None, 2, 3, 4])
def test_a_copy_is_the_same_file_for_any_reader(neve, tmp_path, ranks):
    source, copy = shared(CHECKPOINT), tmp_path / "x.h5"
    report = neve("convert", source, copy, "--json", ranks=ranks).json
    assert report["source_kind"] == report["destination_kind"] == "Chombo checkpoint"
    assert same_everywhere(source, copy) == []
    assert h5diff(source, copy) == (0, "")
    with h5py.File(copy) as file:
        for level in range(3):
            assert filters_of(file[f"level_{level}/data:datatype=0"]) == [466]
    verdict = neve("verify", source, copy, "--json", ranks=ranks).json
    assert verdict["ok"] and verdict["differences"] == []
    assert all(f["bound_abs"] == 0 for level in verdict["levels"] for f in level["fields"])


def test_uncompressed_needs_no_plugin(neve, tmp_path):
    source, copy = shared(CHECKPOINT), tmp_path / "plain.hdf5"
    neve("convert", source, copy, "--uncompressed", ranks=2)
    assert same_everywhere(source, copy) == []
    with h5py.File(copy) as file:
        for level in range(3):
            assert file[f"level_{level}/data:datatype=0"].chunks is None
    assert neve("verify", source, copy, "--json").json["ok"]


def test_info_says_what_it_is_and_why(neve, tmp_path):
    checkpoint, plotfile = shared(CHECKPOINT), shared(PLOTFILE)
    info = neve("info", checkpoint, "--json").json
    assert info["kind"] == "Chombo checkpoint" and "regrid_interval_0" in info["recognized_by"]
    assert [v["name"] for v in info["variables"]] == ["data"]
    info = neve("info", plotfile, "--json").json
    assert info["kind"] == "Chombo HDF5 plotfile" and "no attribute" in info["recognized_by"]
    assert "regrid_interval_0" in neve("info", checkpoint).out
    info = neve("info", bisicles(tmp_path / "ice.hdf5"), "--json").json
    assert info["kind"] == "Chombo checkpoint"
    assert "one for each variable" in info["recognized_by"]
    assert {v["name"]: v["ghosts"] for v in info["variables"]} == {
        "thickness": [1, 1],
        "topography": [0, 0],
        "velocity": [2, 2],
    }
    assert info["not_fields"] == ["bisicles"]


@pytest.mark.parametrize(
    "attribute",
    ["regrid_interval_1", "steps_since_regrid_0", "tag_buffer_size", "is_periodic_2", "level_1"],
)
def test_any_attribute_to_restart_from_makes_a_checkpoint(neve, tmp_path, attribute):
    path = tmp_path / "x.hdf5"
    write(path, 2, [Variable("data", 2)], restart=False, components=("density", "pressure"))
    assert neve("info", path, "--json").json["kind"] == "Chombo HDF5 plotfile"
    with h5py.File(path, "a") as file:
        where = file["level_1"] if attribute == "level_1" else file
        where.attrs["tag_buffer_size" if attribute == "level_1" else attribute] = np.int32(1)
    assert neve("info", path, "--json").json["kind"] == "Chombo checkpoint"


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
def test_any_dimension_type_and_storage(neve, tmp_path, dims, dtype):
    variables = [
        Variable("thickness", ghosts=1, dtype=dtype),
        Variable("velocity", components=3, ghosts=2, dtype=dtype, gap=11, reverse=True),
        Variable("packed", dtype=dtype, storage={"chunks": (100,), "compression": "gzip"}),
        Variable("silent", ghosts=1, dtype=dtype, says_ghosts=False),
        Variable("faces", faces=True, dtype=dtype),
        Variable("mask", dtype="<i4"),
        Variable("grows", dtype=dtype, storage={"chunks": (64,), "maxshape": (None,)}),
    ]
    source, copy, plain = (tmp_path / name for name in ("a.hdf5", "b.hdf5", "c.hdf5"))
    write(source, dims, variables, restart=dims == 3, empty_level=dims == 2)
    neve("convert", source, copy, ranks=2)
    neve("convert", copy, plain, "--uncompressed")
    assert same_everywhere(source, copy) == []
    assert same_everywhere(source, plain) == []
    info = neve("info", copy, "--json").json
    found = {v["name"]: v["ghosts"][0] for v in info["variables"]}
    assert found == {"thickness": 1, "velocity": 2, "packed": 0, "silent": 1, "grows": 0}
    others = " ".join(info["not_fields"])
    assert "faces" in others and "mask" in others
    for other in (copy, plain):
        assert neve("verify", source, other, "--json").json["ok"]


def test_bounds_are_for_what_they_are_asked_for(neve, tmp_path):
    source, copy = shared(CHECKPOINT), tmp_path / "x.h5"
    rules = ("--field", "density:abs=1e-3", "--field", "energy-density:rel=1e-4")
    # Of their own accord chunks of the smallest level are long, and exact as their momenta are.
    neve("convert", source, copy, *rules, "--chunk-size", 65536, ranks=2)
    verdict = neve("verify", source, copy, "--json", ranks=2).json
    assert verdict["ok"]
    for level in verdict["levels"]:
        fields = {f["name"]: f for f in level["fields"]}
        assert fields["density"]["bound_abs"] == 1e-3 >= fields["density"]["max_abs_error"] > 0
        assert (
            0 < fields["energy-density"]["max_abs_error"] <= fields["energy-density"]["bound_abs"]
        )
        for name in ("x-momentum", "y-momentum", "z-momentum"):
            assert fields[name]["max_abs_error"] == fields[name]["bound_abs"] == 0
    tables = tuple(f"/level_{level}/data_neve_fields" for level in range(3))
    values = tuple(f"/level_{level}/data:datatype=0" for level in range(3))
    assert same_everywhere(source, copy, ignore=tables + values) == []
    # Once more, without a bound: what is there is kept.
    again = tmp_path / "again.h5"
    neve("convert", copy, again)
    assert same_everywhere(copy, again) == []
    verdict = neve("verify", copy, again, "--json").json
    assert verdict["ok"]
    assert all(f["bound_abs"] == 0 for level in verdict["levels"] for f in level["fields"])


@pytest.mark.parametrize("field", ["density", "*momentum", "energy-density"])
def test_a_bound_for_some_components_costs_no_bytes(neve, tmp_path, field):
    source = shared(CHECKPOINT)
    sizes = []
    for i, options in enumerate(((), ("--field", f"{field}:rel=1e-3"))):
        neve("convert", source, tmp_path / f"{i}.h5", *options)
        assert neve("verify", source, tmp_path / f"{i}.h5", "--json").json["ok"]
        sizes.append((tmp_path / f"{i}.h5").stat().st_size)
    assert sizes[1] < sizes[0] < source.stat().st_size


def test_bounds_by_variable_and_special_values(neve, tmp_path):
    source, copy = tmp_path / "ice.hdf5", tmp_path / "copy.h5"
    bisicles(source, dims=3)
    neve("convert", source, copy, "--field", "velocity:rel=1e-3", "--field", "thickness:abs=1e-2")
    verdict = neve("verify", source, copy, "--json").json
    assert verdict["ok"]
    for level in verdict["levels"]:
        fields = {f["name"]: f for f in level["fields"]}
        assert fields["topography"]["max_abs_error"] == 0
        assert (
            fields["thickness"]["max_abs_error"] > 0 and fields["velocity 1"]["max_abs_error"] > 0
        )
        assert all(f["special_cells"] > 0 and f["special_mismatches"] == 0 for f in fields.values())
    smaller = tmp_path / "all.h5"
    neve("convert", source, smaller, "--bound", "rel=1e-2")
    assert neve("verify", source, smaller, "--json").json["ok"]
    assert smaller.stat().st_size < copy.stat().st_size


def test_verify_finds_a_changed_ghost_and_names_what_is_lost(neve, tmp_path):
    source, plain = tmp_path / "ice.hdf5", tmp_path / "plain.hdf5"
    bisicles(source)
    neve("convert", source, plain, "--uncompressed")
    with h5py.File(plain, "a") as file:
        file["level_1/velocity:datatype=0"][1] += 1.0  # in the outermost layer
    outcome = neve("verify", source, plain, expect=BOUND_VIOLATED)
    assert "velocity 0" in outcome.messages()[-1]
    neve("convert", source, plain, "--uncompressed")
    with h5py.File(plain, "a") as file:
        del file["level_0"].attrs["dt"]
        file["level_1"].attrs["time"] = 9.0
        file["bisicles/table"][0, 0] = 99
    for ranks in (None, 3):
        outcome = neve("verify", source, plain, "--json", ranks=ranks, expect=BOUND_VIOLATED)
        assert not outcome.json["ok"]
        differences = "\n".join(outcome.json["differences"])
        for what in (
            "/level_0: attribute dt is",
            "/level_1: attribute time",
            "/bisicles/table",
        ):
            assert what in differences
        assert "and 2 more" in outcome.messages()[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("plt",), "must end in .h5 or .hdf5"),
        (("x.h5", "--covered", "drop"), "--covered"),
        (("x.h5", "--strategy", "aggregated"), "--strategy"),
        (("x.h5", "--cross-level"), "--cross-level"),
        (("x.h5", "--stripe-count", "2"), "--stripe-count"),
        (("x.h5", "--arrangement", "in_place"), "in_place"),
        (("x.h5", "--field", "entropy:abs=1"), "they are data density"),
        (("x.h5", "--uncompressed", "--bound", "abs=1"), "--bound"),
        (("x.h5", "--field", "density:block=4"), "the rule for 'density': block has no meaning"),
        (
            ("x.h5", "--bound", "rel=1e-3", "--field", "density:method=zstd"),
            "the rule for 'density': method has no meaning",
        ),
        (("x.h5", "--field", "density:effort=max"), "effort is for the whole file"),
        (("x.h5", "--field", "*:unchanged", "--bound", "rel=1e-3"), "bound has no meaning"),
        (("x.h5", "--field", "*:unchanged", "--codec", "lossless"), "codec has no meaning"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(neve, tmp_path, options, message):
    destination = tmp_path / options[0]
    outcome = neve("convert", shared(CHECKPOINT), destination, *options[1:], expect=USAGE)
    assert message in outcome.messages()[-1]
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_fails_leaves_nothing(neve, tmp_path):
    target = tmp_path / "x.h5"
    target.write_text("earlier")
    code = f"trap '' XFSZ; ulimit -f 64; exec {NEVE} convert {shared(CHECKPOINT)} {target}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, env=environment())
    assert done.returncode == 1, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["x.h5"]
    assert target.read_text() == "earlier"


def test_every_box_is_where_its_offsets_say(neve, tmp_path):
    """Chunks end in the middle of boxes: small ones make every kind of cut."""
    source, copy = tmp_path / "x.hdf5", tmp_path / "y.hdf5"
    big = Variable("velocity", components=3, ghosts=3, gap=5)
    write(source, 3, [big])
    neve("convert", source, copy, "--chunk-size", "64KiB", "--field", "velocity:abs=0.5")
    with h5py.File(source) as a, h5py.File(copy) as b:
        for level in range(len(LEVELS)):
            x, y = (f[f"level_{level}/velocity:datatype=0"] for f in (a, b))
            assert y.chunks[0] < y.shape[0] == x.shape[0]
            offsets = b[f"level_{level}/velocity:offsets=0"][()]
            for number in range(len(boxes_of(level, 3))):
                part = np.s_[offsets[number] : offsets[number + 1] - big.gap]
                error = np.abs(x[part] - y[part])
                assert np.nanmax(error) <= 0.5 and np.array_equal(
                    np.isnan(x[part]), np.isnan(y[part])
                )


def test_advice_is_what_a_checkpoint_may_have(neve, tmp_path):
    source = bisicles(tmp_path / "chk.hdf5")
    refused = neve("convert", source, tmp_path / "s.nc", expect=2).err
    assert "the name of its copy must end in .h5 or .hdf5" in refused and "amrex" not in refused
    told = neve("convert", source, tmp_path / "s.h5").out
    assert "choose with --bound or --field)" in told and "--rules" not in told
