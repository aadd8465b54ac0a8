# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench chombo`: the table, the JSON, decks, and what it refuses."""

import sys

import pytest

from .conftest import PLUGIN_DIR, run

SMALL = ("--box-cells", "4", "--repeats", "1")


def test_counts_and_verification(neve, tmp_path):
    result = neve(
        "bench", "chombo", *SMALL, "--folder", tmp_path, "--verify", "--json", ranks=2
    ).json
    assert result["ranks"] == 2
    assert result["boxes"] == 225
    writes = {s["name"]: s["mpi_writes"] for s in result["strategies"]}
    assert writes["independent"] == 225
    assert writes["aggregated"] == 6
    assert writes["skeleton"] == 2
    for strategy in result["strategies"]:
        verified = strategy["verified"]
        assert verified["values"] == 225 * 4**3 * 2
        assert verified["max_abs_error"] <= verified["bound_abs"]
    assert list(tmp_path.iterdir()) == []


def test_a_deck_gives_options_and_the_command_line_overrides_them(neve, tmp_path):
    deck = tmp_path / "case.toml"
    deck.write_text(
        "units = [2, 1, 1]\nbox-cells = 4\nrepeats = 1\n"
        f'strategies = ["collective", "skeleton"]\nfolder = "{tmp_path}"\n'
        "keep = true\njson = true\n"
    )
    result = neve("bench", "chombo", "--deck", deck, "--units", "1,1,2").json
    assert result["units"] == [1, 1, 2]
    assert result["boxes"] == 450
    assert [s["name"] for s in result["strategies"]] == ["collective", "skeleton"]
    names = sorted(path.name for path in tmp_path.glob("*.h5"))
    assert names == ["neve_chombo_collective.h5", "neve_chombo_skeleton.h5"]
    info = neve("info", tmp_path / "neve_chombo_skeleton.h5", "--json").json
    assert [level["boxes"] for level in info["levels"]] == [2, 64, 384]


def test_table_names_phases_and_hints(neve, tmp_path):
    strategies = ("--strategies", "aggregated,compressed", "--aggregators", "1")
    out = neve("bench", "chombo", *SMALL, *strategies, "--folder", tmp_path, ranks=2).out
    for word in ("MPI-IO writes", "plan", "encode", "place", "write", "sync", "cb_nodes=1"):
        assert word in out


def test_help_is_its_own(neve):
    assert "--aggregate-boxes" in neve("bench", "chombo", "--help").out


@pytest.mark.parametrize(
    "arguments, part",
    [
        (("--strategies", "filtered"), "unknown strategy 'filtered'; allowed are skeleton"),
        (("--grid", "sphere"), "chombo, bisicles"),
        (("--file", "movie"), "plot, checkpoint"),
        (("--units", "1,1"), "3 are wanted"),
        (("--units", "0,1,1"), "units"),
        (("--repeats", "0"), "repeats is 0"),
        (("--stripe-size", "1000B"), "65536"),
    ],
)
def test_refuses(neve, tmp_path, arguments, part):
    outcome = neve(
        "bench", "chombo", "--box-cells", "4", "--folder", tmp_path, *arguments, expect=2
    )
    assert part in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_line_of_a_deck_is_named(neve, tmp_path):
    deck = tmp_path / "case.toml"
    deck.write_text("box_size = 4\n")
    assert "box_size" in neve("bench", "chombo", "--deck", deck, expect=2).err


def test_compressed_ghosts_are_where_chombo_readers_look(neve, tmp_path):
    options = ("--strategies", "skeleton,compressed", "--compress-ghosts", "--bound", "lossless")
    neve("bench", "chombo", *SMALL, *options, "--folder", tmp_path, "--keep", ranks=2)
    as_they_are = tmp_path / "neve_chombo_skeleton.h5"
    compressed = tmp_path / "neve_chombo_compressed.h5"
    # In a process of its own: HDF5 looks for plugins where it was told to when it started.
    code = f"""
import h5py, neve, numpy as np, yt
yt.set_log_level("error")
paths = [{str(as_they_are)!r}, {str(compressed)!r}]
plain, frames = (h5py.File(path) for path in paths)
for level in ("level_0", "level_1", "level_2"):
    a, b = plain[level], frames[level]
    for group in (a, b):
        assert group["data_attributes"].attrs["outputGhost"].tolist() == (1, 1, 1)
    assert (a["boxes"][()] == b["boxes"][()]).all()
    values, others = (group["data:datatype=0"][()].view("u8") for group in (a, b))
    elements = 2 * 6**3
    for p, q in zip(a["data:offsets=0"][:-1], b["data:offsets=0"][:-1]):
        assert (values[p : p + elements] == others[q : q + elements]).all(), level
first, second = (neve.open(path) for path in paths)
for a, b in zip(first.levels, second.levels):
    for name in first.components:
        for box in range(len(a.boxes)):
            assert (a[name][box] == b[name][box]).all()
first, second = (yt.load(path) for path in paths)
name = first.field_list[0]
for a, b in zip(first.index.grids, second.index.grids):
    assert a.Level == b.Level
    assert (np.asarray(a[name]) == np.asarray(b[name])).all()
"""
    done = run([sys.executable, "-c", code], HDF5_PLUGIN_PATH=str(PLUGIN_DIR))
    assert done.code == 0, done.err
    assert neve("verify", as_they_are, compressed, "--json").json["ok"]
