# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench struct`: bytes of tiles, counted; weak scaling at one smoothness; zfp's 9x; ADIOS'
dimensions; the table's columns. No time is looked at.
"""

import json
import re
import zlib

import numpy as np
import pytest

from .conftest import ROOT

TILES = (2, 4, 8, 16)
GRID = (256, 256, 64)
NOISE_CELLS = 10  # across the grid; smoother fields leave less to compress than coasts cost
# Without szip, which finds nothing to shrink in such floats but land's constant.
LOSSLESS = ("hdf5-zlib", "hdf5-shuffle-zlib", "hdf5-neve-lossless", "neve-lossless")
BOUNDED = ("hdf5-neve", "neve")
DECK = ROOT / "bench" / "apps" / "struct" / "decks" / "zfp-9x.toml"


def words_of(grid, *more):
    return ("--grid", ",".join(map(str, grid)), *more)


def busiest(values):
    return max(values) * len(values) / sum(values)


def count(neve, tmp_path, outputs, *more, tiles=TILES, ranks=2, grid=GRID):
    listed = ("--tiles", ",".join(map(str, tiles)), "--outputs", ",".join(outputs))
    options = (*words_of(grid), *listed, *more, "--folder", tmp_path, "--json")
    result = neve("bench", "struct", *options, ranks=ranks).json
    assert list(tmp_path.iterdir()) == [], "no file is left"
    return {(one["name"], one["tiles"]): one for one in result["tile_counts"]}


def test_compressed_balanced_tiles_are_alike_in_size(neve, tmp_path):
    counts = count(neve, tmp_path, (*LOSSLESS, *BOUNDED), "--space-frequency", NOISE_CELLS)
    assert set(counts) == {(name, n) for name in ("unbalanced", "balanced") for n in TILES}
    for tiles in TILES:
        balanced, equal = counts["balanced", tiles], counts["unbalanced", tiles]
        assert busiest(balanced["valid_points"]) <= 1.02 < busiest(equal["valid_points"])
        assert busiest(balanced["raw_bytes"]) > busiest(equal["raw_bytes"])
        for one in balanced["outputs"]:
            most = 1.06 if one["output"] in LOSSLESS else 1.10
            assert len(one["tile_bytes"]) == tiles
            assert one["tile_bytes_max_over_mean"] == pytest.approx(busiest(one["tile_bytes"]))
            assert one["tile_bytes_max_over_mean"] <= most, (tiles, one["output"])
    # What compression is for: without it the busiest tile of 16 has far more.
    assert busiest(counts["balanced", 16]["raw_bytes"]) > 1.2


def test_tiles_are_what_any_ranks_count(neve, tmp_path):
    """The bytes of tiles do not depend on who compresses them; nor on whether files are stored."""
    grid, outputs = (40, 24, 8), ("hdf5-zlib", "neve")
    by_ranks = [count(neve, tmp_path, outputs, tiles=(3,), ranks=n, grid=grid) for n in (1, 2)]
    assert by_ranks[0] == by_ranks[1]
    stored = neve(
        *("bench", "struct", *words_of(grid), "--outputs", ",".join(outputs)),
        *("--folder", tmp_path, "--json"),
        ranks=3,
    ).json
    for layout in stored["layouts"]:
        counted = by_ranks[0][layout["name"], 3]
        assert layout["valid_points"] == counted["valid_points"]
        assert layout["raw_rank_bytes"] == counted["raw_bytes"]
        packed, ours = layout["outputs"]
        assert packed["tile_bytes"] == counted["outputs"][0]["tile_bytes"]
        # A plotfile's frame says where its box lies, and what codes it is chosen for a level.
        assert ours["tile_bytes"] == pytest.approx(counted["outputs"][1]["tile_bytes"], rel=0.01)


def test_bytes_of_tiles_are_zlibs_own(neve, tmp_path):
    """Against zlib in Python, on the values that a run keeps."""
    grid = (40, 24, 8)
    counted = count(neve, tmp_path, ("hdf5-zlib",), "--balance", "off", tiles=(2,), grid=grid)
    neve(
        *("bench", "struct", *words_of(grid), "--outputs", "raw", "--balance", "off"),
        *("--folder", tmp_path, "--keep"),
    )
    values = np.fromfile(next(tmp_path.glob("*.raw")), "<f4").reshape(8, 24, 40)
    halves = [np.ascontiguousarray(half) for half in (values[..., :20], values[..., 20:])]
    expected = [len(zlib.compress(half.tobytes(), 6)) for half in halves]
    assert counted["unbalanced", 2]["outputs"][0]["tile_bytes"] == expected


def outputs_here(neve):
    said = neve("bench", "struct", "--outputs", "?", expect=2).err
    return re.search(r"allowed are (.*)", said)[1].split(", ")


def test_bytes_of_ranks_add_up_to_the_file(neve, tmp_path):
    """Every output: what the ranks have in a file is the file but for its structure."""
    names = [name for name in outputs_here(neve) if not re.match("adios.*szip", name)]
    options = (*words_of((64, 48, 16)), "--chunk", "32,16,16", "--outputs", ",".join(names))
    result = neve("bench", "struct", *options, "--folder", tmp_path, "--json", ranks=3).json
    for layout in result["layouts"]:
        for one in layout["outputs"]:
            total = sum(one["rank_bytes"])
            assert len(one["rank_bytes"]) == len(one["tile_bytes"]) == 3
            # Structures take some KiB, and ADIOS for Lustre begins ranks' parts at stripes.
            more = 131072 if one["container"] == "adios-lustre" else 32768
            assert total <= one["file_bytes"] <= total + more, one["output"]
            is_shared = one["rank_bytes_by"] == "owner of the chunk"
            assert is_shared == bool(re.match("(hdf5|netcdf)-(?!chunked)", one["output"]))
            if not is_shared:
                assert one["rank_bytes"] == one["tile_bytes"], one["output"]
            if one["compression"] in ("none", "chunked"):
                assert one["rank_bytes"] == layout["raw_rank_bytes"]


def test_weak_scaling_keeps_the_smoothness(neve, tmp_path):
    """Ratios on 1, 2, 4 ranks: flat with --weak; a larger grid alone is a smoother one."""
    fixed, growing = {}, {}
    for ranks, grid in ((1, (96, 96, 16)), (2, (96, 192, 16)), (4, (192, 192, 16))):
        options = ("--outputs", "hdf5-zfp", "--balance", "on", "--valid", "1", "--json")
        options += ("--folder", tmp_path)
        weak = neve("bench", "struct", *words_of((96, 96, 16), "--weak"), *options, ranks=ranks)
        larger = neve("bench", "struct", *words_of(grid), *options, ranks=ranks).json
        assert tuple(weak.json["grid"]) == grid == tuple(larger["grid"])
        assert weak.json["space_frequency_per_point"] == pytest.approx(10 / 96)
        assert larger["space_frequency_per_point"] == pytest.approx(10 / max(grid[:2]))
        for found, run in ((fixed, weak.json), (growing, larger)):
            found[ranks] = run["layouts"][0]["outputs"][0]["ratio"]
    assert max(fixed.values()) / min(fixed.values()) < 1.03
    assert growing[4] / growing[1] > 1.2


def test_frequencies_per_point(neve, tmp_path):
    options = ("--outputs", "raw", "--balance", "off", "--json", "--folder", tmp_path)
    per_point = ("--space-frequency-per-point", "0.25", "--mask-frequency-per-point", "0.125")
    across = ("--space-frequency", "10", "--mask-frequency", "5")
    runs = [
        neve("bench", "struct", *words_of((40, 24, 8), *one), *options).json
        for one in (per_point, across)
    ]
    assert runs[0]["field_checksum"] == runs[1]["field_checksum"]
    assert runs[0]["space_frequency"] == 10 and runs[1]["mask_frequency_per_point"] == 0.125


def test_the_deck_of_zfps_9x(neve, tmp_path):
    result = neve("bench", "struct", "--deck", DECK, "--folder", tmp_path, "--json").json
    rows = {one["output"]: one for one in result["layouts"][0]["outputs"]}
    assert rows["hdf5-zfp"]["ratio"] == pytest.approx(9, rel=0.05)
    assert rows["hdf5-neve"]["ratio"] > rows["hdf5-zfp"]["ratio"]
    assert all(one["verified"]["wrong"] == 0 for one in rows.values())
    assert result["bound_abs"] == 1e-4 and abs(result["valid"] - 0.65) < 0.001


def test_adios_zfp_has_its_dimensions_the_right_way(neve, tmp_path):
    if "adios-mpi-zfp" not in outputs_here(neve):
        pytest.skip("this build has no ADIOS")
    names = "hdf5-zfp,adios-mpi-zfp,adios-posix-zfp,adios-mpi-zfp-c-order"
    smooth = words_of((80, 64, 24), "--space-frequency", "4", "--mask-frequency", "2")
    options = (*smooth, "--balance", "on", "--outputs", names, "--json")
    result = neve("bench", "struct", *options, "--folder", tmp_path, ranks=2).json
    rows = {one["output"]: one for one in result["layouts"][0]["outputs"]}
    assert all(one["verified"]["wrong"] == 0 for one in rows.values())
    assert rows["adios-mpi-zfp"]["ratio"] == pytest.approx(rows["hdf5-zfp"]["ratio"], rel=0.1)
    assert rows["adios-posix-zfp"]["rank_bytes"] == rows["adios-mpi-zfp"]["rank_bytes"]
    assert rows["adios-mpi-zfp"]["ratio"] > 1.5 * rows["adios-mpi-zfp-c-order"]["ratio"]


def test_columns_of_the_table(neve, tmp_path):
    options = (*words_of((40, 24, 8)), "--outputs", "hdf5-zlib,neve", "--folder", tmp_path)
    out = neve("bench", "struct", *options, "--phases").out
    assert re.search(r"MB/s +compress s +read s .*wrong +busiest/mean +alone", out)
    assert re.search(r"hdf5-zlib .*1\.000\* +1\.000", out)
    assert "*: chunks are of the grid, not of a rank" in out and "by raw bytes" in out
    plain = neve("bench", "struct", *options, "--no-counts").out
    assert "compress s" not in plain and "busiest/mean" not in plain
    tiles = neve("bench", "struct", *options, "--tiles", "2,4").out
    assert re.search(r"4 balanced +1\.\d{3} +1\.\d{3} +1\.\d{3} +1\.\d{3}", tiles)


@pytest.mark.parametrize(
    "words, said",
    [
        (("--tiles", "0"), "tiles is 0; 1 to 65536 is allowed"),
        (("--tiles", "2", "--keep"), "--keep has no meaning beside --tiles"),
        (("--tiles", "2", "--repeats", "3"), "--repeats has no meaning beside --tiles"),
        (("--tiles", "2000"), "2000 tiles share 960 columns; each needs one"),
        (("--tasks", "1,2", "--tiles", "2"), "--tasks has no meaning beside --tiles"),
        (("--space-frequency", "1", "--space-frequency-per-point", "1"), "are both given"),
        (("--mask-frequency", "1", "--mask-frequency-per-point", "1"), "are both given"),
    ],
)
def test_refusals(neve, tmp_path, words, said):
    done = neve("bench", "struct", *words_of((40, 24, 8)), "--folder", tmp_path, *words, expect=2)
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_ranks_of_the_other_mini_apps_are_counted(neve, tmp_path):
    runs = (
        ("cartiso", ("--grid", "20,20,20"), ("grid_outputs", "surface_outputs")),
        ("unstruct", ("--points", "1000"), ("value_outputs", "connectivity_outputs")),
    )
    for app, words, lists in runs:
        options = ("--outputs", "raw,hdf5-zlib", "--folder", tmp_path, "--json")
        result = json.loads(neve("bench", app, *words, *options, ranks=2).out)
        for name in lists:
            plain, packed = result[name]
            assert sum(plain["rank_bytes"]) == plain["raw_bytes"], name
            assert 0 < sum(packed["rank_bytes"]) < packed["file_bytes"]
