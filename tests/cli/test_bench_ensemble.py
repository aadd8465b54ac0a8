# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench ensemble`: the filter helps, ranks do not matter, files come back bit for bit."""

import signal
import subprocess
import time

import pytest

from .conftest import NEVE, ROOT, TIMEOUT_SECONDS, environment

SMALL = (
    *("--nx", "40", "--ny", "44", "--layers", "4", "--spacing", "60", "--members", "10"),
    *("--cycles", "2", "--outputs", "2", "--spinup-hours", "6"),
    *("--stations", "60", "--radius", "250"),
)
METHODS = ["netcdf", "none", "zlib", "bzip2", "lzo", "speed", "ratio"]
VARIABLES = ["U", "V", "DZ", "QVAPOR"]


@pytest.fixture(scope="module")
def results(neve, tmp_path_factory):
    """Of 1, 2 and 4 ranks; 4 with fewer LETKF processes than ranks."""
    made = {}
    few = ("--methods", "netcdf,speed,ratio")
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


TINY = (
    *("--nx", "24", "--ny", "32", "--layers", "2", "--spacing", "100", "--members", "2"),
    *("--cycles", "2", "--outputs", "2", "--spinup-hours", "0", "--stations", "30"),
)


def test_members_shared_by_ranks_are_the_same_bit_for_bit(neve, tmp_path):
    """2 members on up to 7 ranks: all but the seventh, which is left over, run one."""
    made = {}
    for ranks, shared in ((1, 1), (2, 1), (3, 1), (4, 2), (7, 3)):
        folder = tmp_path / str(ranks)
        folder.mkdir()
        few = ("--methods", "netcdf,none", "--letkf-ranks", "1", "--verify", "--keep")
        found = neve(
            *("bench", "ensemble", *TINY, *few, "--folder", folder, "--json"), ranks=ranks
        ).json
        assert found["member_ranks"] == shared
        files = {path.name: path.read_bytes() for path in folder.glob("*.bin")}
        assert len(files) == 2 * 2 + 1
        made[ranks] = (found["cycles"], [m["bytes"] for m in found["methods"]], files)
    for ranks in (2, 3, 4, 7):
        assert made[ranks] == made[1], f"{ranks} ranks"


def test_imitated_storage_adds_bytes_over_its_bandwidth(neve, tmp_path):
    few = ("--methods", "netcdf,none,zlib", "--folder", tmp_path)
    result = neve("bench", "ensemble", *TINY, *few, "--storage", "2", "--json", ranks=2).json
    assert result["storage_MBps"] == 2
    for method in result["methods"]:
        measured, imitated = method["seconds"], method["imitated_seconds"]
        assert imitated["model"] == imitated["letkf"] == 0
        written = method["forecast_bytes"] + method["revised_bytes"]
        assert imitated["write"] == pytest.approx(written / 2e6)
        assert method["total_seconds"] == pytest.approx(measured["total"] + imitated["total"])
    netcdf, none, _ = result["methods"]
    # Each file is read and made anew, and the revised state, too.
    read_values = netcdf["converted_bytes"]
    # HDF5 reads no more than the values; its files are some bytes longer.
    added = netcdf["imitated_seconds"]["conversion"]
    assert added == pytest.approx(2 * read_values / 2e6, rel=0.02)
    assert netcdf["conversion_share"] > 0.3
    assert none["imitated_seconds"]["conversion"] == none["conversion_share"] == 0
    # The same run: the same bytes, and so the same seconds.
    again = neve("bench", "ensemble", *TINY, *few, "--storage", "2", "--json", ranks=2).json
    for before, after in zip(result["methods"], again["methods"], strict=True):
        assert before["imitated_seconds"] == after["imitated_seconds"]
    out = neve("bench", "ensemble", *TINY, *few, "--storage", "2").out
    assert "Storage of 2 MB/s for all ranks is imitated" in out


ACOMPS = {f"{b}-{m}" for b in ("B", "BW", "BWXOR") for m in ("LZO", "ZLIB", "BZIP2")}


def test_choices_are_logged_and_keep_to_the_candidates(neve, tmp_path):
    methods = "none,speed,acomps-speed,acomps-ratio,ratio:B-LZO+bw-zlib"
    result = neve(
        *("bench", "ensemble", *TINY, "--methods", methods, "--folder", tmp_path, "--json"),
        ranks=2,
    ).json
    _, _, by_speed, by_ratio, of_set = result["methods"]
    assert "choices" not in result["methods"][0]
    for method, allowed in ((by_speed, ACOMPS), (by_ratio, ACOMPS), (of_set, {"B-LZO", "BW-ZLIB"})):
        chosen = {c["method"].upper() for c in method["choices"]}
        assert chosen and chosen <= {name.upper() for name in allowed}
        # One member of this rank, two outputs, two cycles: four steps of each of 19 variables.
        steps = {(c["variable"], c["step"]) for c in method["choices"]}
        assert steps == {(v, s) for v in {v for v, _ in steps} for s in range(4)}
        assert len({v for v, _ in steps}) == 19
        assert all(c["reason"] == "first" for c in method["choices"] if c["step"] == 0)
    assert by_ratio["bytes"] <= min(by_speed["bytes"], of_set["bytes"])


def test_all_methods_are_verified_and_accounted_for(results):
    assert [method["name"] for method in results[2]["methods"]] == METHODS
    for result in results.values():
        cells, columns = 40 * 44 * 4, 40 * 44
        forecast = 12 * cells + 7 * columns
        revised = 4 * cells
        assert result["raw_bytes"] == 4 * 10 * 2 * (2 * forecast + revised)
        for method in result["methods"]:
            assert method["verified_values"] == 10 * 2 * 2 * forecast
            parts = [
                method[kind] for kind in ("forecast_bytes", "converted_bytes", "revised_bytes")
            ]
            assert method["bytes"] == sum(parts)
            assert (method["converted_bytes"] > 0) == (method["name"] == "netcdf")
            seconds = dict(method["seconds"])
            assert seconds.pop("total") == pytest.approx(sum(seconds.values()))
            assert (seconds["conversion"] > 0) == (method["name"] == "netcdf")


def test_break_even_is_where_fewer_bytes_make_up_for_more_seconds(results):
    for result in results.values():
        first, *others = result["methods"]
        assert first["name"] == "netcdf" and first["break_even_MBps"] is None
        for method in others:
            seconds, reference = method["seconds"], first["seconds"]
            more = sum(seconds[p] for p in ("write", "read", "preprocessing"))
            more -= sum(reference[p] for p in ("read", "preprocessing"))
            fewer = (first["bytes"] - method["bytes"]) / 1e6
            assert method["break_even_MBps"] == pytest.approx(fewer / max(more, 1e-3))


def test_what_is_chosen_by_ratio_is_the_smallest(results):
    written = {method["name"]: method["bytes"] for method in results[2]["methods"]}
    assert written["ratio"] == min(written.values())
    # With a second copy of everything in flat files, less than 30 % remains.
    assert written["ratio"] < 0.3 * written["netcdf"]
    assert written["netcdf"] > 1.9 * written["none"]


def test_files_of_the_last_cycle_are_ordinary_hdf5(neve, tmp_path):
    h5py = pytest.importorskip("h5py")
    deck = tmp_path / "case.toml"
    deck.write_text(
        "nx = 32\nny = 24\nlayers = 4\nspacing = 100\nmembers = 2\ncycles = 1\noutputs = 1\n"
        f'spinup-hours = 0\nmethods = ["zlib"]\nkeep = true\nfolder = "{tmp_path}"\n'
    )
    out = neve("bench", "ensemble", "--deck", deck, "--layers", "3").out
    assert "free run" in out
    with h5py.File(tmp_path / "neve_ensemble_zlib_c0_m1_t0.h5") as file:
        assert file["U"].shape == (3, 24, 32)
        assert file["RAINNC"].shape == (24, 32)
        assert 3 < abs(file["U"][:]).max() < 60
    with h5py.File(tmp_path / "neve_ensemble_zlib_c0_revised0.h5") as file:
        assert file["QVAPOR"].shape == (2, 3, 24, 32)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_no_files(tmp_path, number):
    words = [str(NEVE), "bench", "ensemble", "--members", "4", "--cycles", "100"]
    with subprocess.Popen(
        [*words, "--folder", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as running:
        try:
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while not list(tmp_path.glob(".neve_bench.neve-tmp-*/new/*")):
                assert running.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
            running.send_signal(number)
            assert running.wait(TIMEOUT_SECONDS) == -number
        finally:
            running.kill()
    assert list(tmp_path.iterdir()) == []


DECKS = ROOT / "bench" / "apps" / "ensemble" / "decks"


@pytest.mark.parametrize("deck", sorted(DECKS.glob("*.toml")))
def test_the_decks_that_come_with_it_are_valid(neve, tmp_path, deck):
    few = ("--nx", "32", "--ny", "24", "--layers", "2", "--spacing", "100", "--members", "2")
    found = neve(
        *("bench", "ensemble", "--deck", deck, *few, "--cycles", "1", "--outputs", "1"),
        *("--spinup-hours", "0", "--methods", "none,ratio", "--folder", tmp_path, "--json"),
    ).json
    assert found["grid"] == [32, 24, 2]
    assert found["delta"] == 0.05


def test_a_picture_is_drawn(neve, tmp_path):
    picture = tmp_path / "ensemble.png"
    few = ("--members", "2", "--cycles", "1", "--outputs", "1", "--spinup-hours", "0")
    out = neve(
        *("bench", "ensemble", "--nx", "32", "--ny", "24", "--layers", "2", "--spacing", "100"),
        *(*few, "--methods", "netcdf,ratio", "--folder", tmp_path, "--plot", picture),
        ranks=2,
    ).out
    assert "conversion" in out and "its spread" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments, part",
    [
        (("--methods", "tape"), "netcdf, none, zlib, bzip2, lzo, speed, ratio, acomps-speed"),
        (("--methods", "ratio:gzip"), 'lossless method "gzip" unknown'),
        (("--member-ranks", "2"), "member-ranks is 2; 0 to 1 is allowed with 1 ranks and 44 rows"),
        (("--relaxation", "2"), "relaxation is 2; 0 to 1"),
        (("--max-inflation", "0.5"), "max-inflation is 0.5; 1 to 10"),
        (("--thickness-for-winds", "-1"), "thickness-for-winds is -1"),
        (("--weight-spacing", "0"), "weight-spacing is 0; 1 to 64"),
        (("--storage", "-3"), "storage is -3"),
        (("--methods", "zlib,zlib"), "given twice"),
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
