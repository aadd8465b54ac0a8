# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench ensemble`: the filter helps, ranks do not matter, files come back bit for bit."""

import pytest

from .conftest import ROOT

SMALL = (
    *("--nx", "40", "--ny", "44", "--layers", "4", "--spacing", "60", "--members", "10"),
    *("--cycles", "2", "--outputs", "2", "--spinup-hours", "6"),
    *("--stations", "60", "--radius", "250"),
)
WAYS = ["netcdf", "none", "zlib", "bzip2", "lzo", "speed", "ratio"]
VARIABLES = ["U", "V", "DZ", "QVAPOR"]


@pytest.fixture(scope="module")
def results(neve, tmp_path_factory):
    """Of 1, 2 and 4 ranks; 4 with fewer LETKF processes than ranks."""
    made = {}
    few = ("--ways", "netcdf,speed,ratio")
    for ranks, more in ((1, few), (2, ()), (4, (*few, "--letkf-ranks", "2"))):
        folder = tmp_path_factory.mktemp(f"ranks{ranks}")
        made[ranks] = neve(
            *("bench", "ensemble", *SMALL, *more, "--folder", folder, "--verify", "--json"),
            ranks=ranks,
        ).json
        assert list(folder.iterdir()) == []
    return made


def test_assimilation_lowers_the_error_below_the_free_run(results):
    cycles = results[1]["cycles"]
    assert len(cycles) == 2
    for cycle in cycles:
        for variable in VARIABLES:
            assert cycle["analysis"][variable] < cycle["background"][variable]
            assert cycle["analysis"][variable] < cycle["free"][variable]
        for wind in ("U", "V"):
            assert cycle["analysis"][wind] < 0.75 * cycle["free"][wind]
    # What the second forecast starts from is better, so it is better: the revised state is used.
    for variable in ("U", "V", "QVAPOR"):
        assert cycles[1]["background"][variable] < 0.95 * cycles[1]["free"][variable]


def test_states_and_sizes_of_values_do_not_depend_on_ranks(results):
    assert results[1]["ranks"] == 1
    assert results[4]["letkf_ranks"] == 2
    for ranks in (2, 4):
        assert results[ranks]["cycles"] == results[1]["cycles"]
        assert results[ranks]["raw_bytes"] == results[1]["raw_bytes"]


def test_all_ways_are_verified_and_accounted_for(results):
    assert [way["name"] for way in results[2]["ways"]] == WAYS
    for result in results.values():
        cells, columns = 40 * 44 * 4, 40 * 44
        forecast = 12 * cells + 7 * columns
        revised = 4 * cells
        assert result["raw_bytes"] == 4 * 10 * 2 * (2 * forecast + revised)
        for way in result["ways"]:
            assert way["verified_values"] == 10 * 2 * 2 * forecast
            parts = [way[kind] for kind in ("forecast_bytes", "converted_bytes", "revised_bytes")]
            assert way["bytes"] == sum(parts)
            assert (way["converted_bytes"] > 0) == (way["name"] == "netcdf")
            seconds = dict(way["seconds"])
            assert seconds.pop("total") == pytest.approx(sum(seconds.values()))
            assert (seconds["conversion"] > 0) == (way["name"] == "netcdf")


def test_break_even_is_where_fewer_bytes_make_up_for_more_seconds(results):
    for result in results.values():
        first, *others = result["ways"]
        assert first["name"] == "netcdf" and first["break_even_MBps"] is None
        for way in others:
            seconds, reference = way["seconds"], first["seconds"]
            more = sum(seconds[p] for p in ("write", "read", "preprocessing"))
            more -= sum(reference[p] for p in ("read", "preprocessing"))
            fewer = (first["bytes"] - way["bytes"]) / 1e6
            assert way["break_even_MBps"] == pytest.approx(fewer / max(more, 1e-3))


def test_what_is_chosen_by_ratio_is_the_smallest(results):
    written = {way["name"]: way["bytes"] for way in results[2]["ways"]}
    assert written["ratio"] == min(written.values())
    # With a second copy of everything in flat files, less than 30 % remains.
    assert written["ratio"] < 0.3 * written["netcdf"]
    assert written["netcdf"] > 1.9 * written["none"]


def test_files_of_the_last_cycle_are_ordinary_hdf5(neve, tmp_path):
    h5py = pytest.importorskip("h5py")
    deck = tmp_path / "case.toml"
    deck.write_text(
        "nx = 32\nny = 24\nlayers = 4\nspacing = 100\nmembers = 2\ncycles = 1\noutputs = 1\n"
        f'spinup-hours = 0\nways = ["zlib"]\nkeep = true\nfolder = "{tmp_path}"\n'
    )
    out = neve("bench", "ensemble", "--deck", deck, "--layers", "3").out
    assert "free run" in out
    with h5py.File(tmp_path / "neve_ensemble_zlib_c0_m1_t0.h5") as file:
        assert file["U"].shape == (3, 24, 32)
        assert file["RAINNC"].shape == (24, 32)
        assert 3 < abs(file["U"][:]).max() < 60
    with h5py.File(tmp_path / "neve_ensemble_zlib_c0_revised0.h5") as file:
        assert file["QVAPOR"].shape == (2, 3, 24, 32)


DECKS = ROOT / "bench" / "apps" / "ensemble" / "decks"


@pytest.mark.parametrize("deck", sorted(DECKS.glob("*.toml")))
def test_the_decks_that_come_with_it_are_valid(neve, tmp_path, deck):
    few = ("--nx", "32", "--ny", "24", "--layers", "2", "--spacing", "100", "--members", "2")
    found = neve(
        *("bench", "ensemble", "--deck", deck, *few, "--cycles", "1", "--outputs", "1"),
        *("--spinup-hours", "0", "--ways", "none,ratio", "--folder", tmp_path, "--json"),
    ).json
    assert found["grid"] == [32, 24, 2]
    assert found["delta"] == 0.05


def test_a_picture_is_drawn(neve, tmp_path):
    picture = tmp_path / "ensemble.png"
    few = ("--members", "2", "--cycles", "1", "--outputs", "1", "--spinup-hours", "0")
    out = neve(
        *("bench", "ensemble", "--nx", "32", "--ny", "24", "--layers", "2", "--spacing", "100"),
        *(*few, "--ways", "netcdf,ratio", "--folder", tmp_path, "--plot", picture),
        ranks=2,
    ).out
    assert "without model s" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments, part",
    [
        (("--ways", "tape"), "netcdf, none, zlib, bzip2, lzo, speed, ratio"),
        (("--ways", "zlib,zlib"), "given twice"),
        (("--perturbation", "9"), "perturbation is 9"),
        (("--letkf-ranks", "3"), "3 LETKF processes on 1 ranks"),
        (("--effort", "huge"), "fast, balanced"),
        (("--inflation", "0.5"), "inflation is 0.5"),
        (("-o", "ensemble.png"), "-o is the report's file; use --plot for pictures"),
    ],
)
def test_refuses(neve, tmp_path, arguments, part):
    outcome = neve("bench", "ensemble", *SMALL, "--folder", tmp_path, *arguments, expect=2)
    assert part in outcome.err
    assert list(tmp_path.iterdir()) == []
