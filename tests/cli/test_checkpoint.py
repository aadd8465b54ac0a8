# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints through `neve info`, `neve convert` and `neve verify`."""

import h5py
import numpy as np
import pytest

GRID = ("--file", "checkpoint", "--grid", "bisicles", "--box-cells", "2", "--components", "3")


@pytest.fixture(scope="module")
def checkpoint(neve, tmp_path_factory):
    """Three variables of one component, 4 or 5 layers of ghosts, uncompressed, by three ranks."""
    folder = tmp_path_factory.mktemp("checkpoint")
    options = (*GRID, "--strategies", "skeleton", "--repeats", "1", "--keep")
    neve("bench", "chombo", *options, "--folder", folder, ranks=3)
    return folder / "neve_chombo_skeleton.h5"


def variables(neve, path):
    return {v["name"]: v for v in neve("info", path, "--json").json["variables"]}


def test_info_names_variables_levels_ghosts_and_sizes(neve, checkpoint):
    info = neve("info", checkpoint, "--json").json
    assert info["kind"] == "Neve checkpoint"
    assert len(info["levels"]) == 5
    found = variables(neve, checkpoint)
    assert [v["ghosts"] for v in found.values()] == [[5, 5], [4, 4], [5, 5]]
    with h5py.File(checkpoint) as file:
        for name, variable in found.items():
            stored = sum(
                file[f"level_{level}"][f"{name}Data:datatype=0"].id.get_storage_size()
                for level in range(5)
            )
            assert variable["stored_bytes"] == variable["raw_bytes"] == stored
            assert not variable["compressed"]
    text = neve("info", checkpoint).out
    for name in found:
        assert name in text
    assert "uncompressed" in text and "5,5" in text


def test_a_copy_is_lossless_unless_told_otherwise(neve, checkpoint, tmp_path):
    copy = tmp_path / "copy.h5"
    report = neve("convert", checkpoint, copy, "--json", ranks=2).json
    assert report["destination_kind"] == "Neve checkpoint"
    assert report["stored_bytes"] == copy.stat().st_size < checkpoint.stat().st_size
    assert all(v["bound"] == "lossless" for v in variables(neve, copy).values())
    verdict = neve("verify", checkpoint, copy, "--json", ranks=2).json
    assert verdict["ok"]
    fields = [f for level in verdict["levels"] for f in level["fields"]]
    assert len(fields) == 15
    assert all(f["max_abs_error"] == 0 and f["bound_abs"] == 0 for f in fields)
    # And back: the file it was, apart from which rank has which box.
    back = tmp_path / "back.h5"
    neve("convert", copy, back, "--uncompressed", "--strategy", "aggregated", ranks=3)
    with h5py.File(checkpoint) as first, h5py.File(back) as second:
        for level in range(5):
            group = first[f"level_{level}"]
            for name in [n for n in group if n.endswith("Data:datatype=0")]:
                other = second[f"level_{level}"][name]
                assert np.array_equal(group[name][()].view("u8"), other[()].view("u8")), name


def test_bounds_hold_by_variable_and_every_strategy_makes_the_same_file(neve, checkpoint, tmp_path):
    names = list(variables(neve, checkpoint))
    rules = ("--bound", "rel=1e-3", "--field", f"{names[1]}:abs=0.5,codec=interpolation")
    rules += ("--field", f"{names[2]}:lossless")
    first = tmp_path / "skeleton.h5"
    neve("convert", checkpoint, first, *rules, ranks=2)
    found = variables(neve, first)
    assert [v["bound"] for v in found.values()] == ["rel=0.001", "abs=0.5", "lossless"]
    assert found[names[1]]["codec"] == "interpolation"
    assert found[names[1]]["stored_bytes"] < found[names[2]]["stored_bytes"] / 4
    verdict = neve("verify", checkpoint, first, "--json").json
    assert verdict["ok"]
    for level in verdict["levels"]:
        by_name = {f["name"]: f for f in level["fields"]}
        assert by_name[names[1]]["bound_abs"] == 0.5
        assert 0 < by_name[names[0]]["max_abs_error"] <= by_name[names[0]]["bound_abs"]
        assert by_name[names[2]]["max_abs_error"] == 0
    info = neve("info", first, "--json").json
    for level in info["levels"]:
        for field in level["fields"]:
            assert field["max_abs_error"] <= field["bound_abs"]
    for strategy in ("aggregated", "collective", "independent"):
        other = tmp_path / f"{strategy}.h5"
        neve("convert", checkpoint, other, *rules, "--strategy", strategy, ranks=2)
        assert other.read_bytes() == first.read_bytes(), strategy


def test_verify_notices_a_changed_ghost_cell(neve, checkpoint, tmp_path):
    copy = tmp_path / "copy.h5"
    copy.write_bytes(checkpoint.read_bytes())
    with h5py.File(copy, "r+") as file:
        name = next(n for n in file["level_2"] if n.endswith("Data:datatype=0"))
        file["level_2"][name][0] += 1e-9  # the first corner of the first box: a ghost cell
    outcome = neve("verify", checkpoint, copy, expect=3)
    assert "level 2" in outcome.err


def test_verify_judges_a_benchmark_file_with_ghosts(neve, tmp_path):
    way = ("--strategies", "compressed", "--compress-ghosts", "--bound", "rel=1e-4")
    options = (*GRID, *way, "--repeats", "1", "--folder", tmp_path, "--verify", "--keep", "--json")
    result = neve("bench", "chombo", *options, ranks=2).json
    verified = result["strategies"][0]["verified"]
    assert 0 < verified["max_abs_error"] <= verified["bound_abs"]
    found = variables(neve, tmp_path / "neve_chombo_compressed.h5")
    assert verified["values"] == sum(v["raw_bytes"] for v in found.values()) / 8
    assert [v["ghosts"] for v in found.values()] == [[5, 5], [4, 4], [5, 5]]


@pytest.mark.parametrize(
    "arguments, part",
    [
        (("copy.h5", "--covered", "keep"), "--covered has no meaning for a checkpoint"),
        (("copy.h5", "--fill", "none"), "--fill has no meaning for a checkpoint"),
        (("copy.h5", "--field", "none:rel=1e-3"), "unknown variable 'none'"),
        (("copy.h5", "--arrangement", "in_place"), "overlap"),
        (("copy.h5", "--strategy", "filtered"), "writes plotfiles only"),
        (("plotfile",), "must end in .h5"),
    ],
)
def test_convert_refuses(neve, checkpoint, tmp_path, arguments, part):
    name, *options = arguments
    outcome = neve("convert", checkpoint, tmp_path / name, *options, expect=2)
    assert part in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_verify_refuses_a_plotfile_beside_a_checkpoint(neve, checkpoint, converted):
    outcome = neve("verify", checkpoint, converted, expect=2)
    assert "is a checkpoint" in outcome.err
