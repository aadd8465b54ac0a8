# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench chombo`: the table, the JSON, decks, and what it refuses."""

import pytest

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
    for word in ("MPI-IO writes", "plan", "encode", "place", "put", "sync", "cb_nodes=1"):
        assert word in out


def test_help_is_its_own(neve):
    assert "--aggregate-boxes" in neve("bench", "chombo", "--help").out


@pytest.mark.parametrize(
    "arguments, part",
    [
        (("--strategies", "filtered"), "skeleton, compressed"),
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
