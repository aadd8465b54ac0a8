# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench rd` on the bundled sample: complete rows, errors inside bounds, pictures."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")

BOUNDS = (1e-2, 1e-3)
FIELDS = ("density", "Temp")
CODECS = (
    "auto fast",
    "dual_quant in_place, fast",
    "lorenzo_regression linear 8, max",
    "lorenzo_regression in_place, max",
    "amrex-1d",
)


@pytest.fixture(scope="module")
def study(neve, sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rd")
    outcome = neve(
        *("bench", "rd", sample, "--fields", *FIELDS, "--bounds", "1e-2,1e-3"),
        *("--codecs", *CODECS, "SZ3 boxes", "--repeats", "1", "--ranks", "1"),
        *("--plot", folder / "pictures", "--json", folder / "rd.json"),
        *("-o", folder / "rd.md"),
    )
    return folder, outcome, json.loads((folder / "rd.json").read_text())


def test_every_method_field_and_bound_has_a_row(study):
    rows = [r for r in study[2]["rows"] if r["method"] in CODECS]
    found = {(r["method"], r["field"], r["rel"]) for r in rows}
    assert found == {(m, f, b) for m in CODECS for f in FIELDS for b in BOUNDS}
    assert len(rows) == len(found)
    for row in rows:
        assert row["raw_bytes"] == 8 * (32**3 + 12288)  # both levels of the sample
        assert row["ratio"] == pytest.approx(row["raw_bytes"] / row["stored_bytes"])
        assert row["bits_per_cell"] == pytest.approx(64 / row["ratio"])
        assert 0 < row["max_error_over_bound"] <= 1
        assert row["violations"] == row["specials_lost"] == 0
        # Uniform errors inside a bound e of the range have PSNR -20 log10(e / sqrt(3)).
        assert row["psnr_db"] > -20 * np.log10(row["rel"]) + 4.0
        assert row["encode_mb_per_s"] > 0


def test_peers_are_measured_or_said_to_be_missing(study):
    _, outcome, recorded = study
    peer = [r for r in recorded["rows"] if r["method"] == "SZ3 boxes"]
    missing = [line for line in recorded["not_measured"] if line.startswith("SZ3:")]
    if missing:
        assert "pysz is not installed" in missing[0] and missing[0] in outcome.err
        assert not peer
    else:
        assert len(peer) == len(FIELDS) * len(BOUNDS)
        assert all(r["ratio"] > 1 and r["violations"] == 0 for r in peer)


def test_what_the_rows_say(study):
    _, outcome, recorded = study
    rows = {(r["method"], r["field"], r["rel"]): r for r in recorded["rows"]}
    for found in recorded["size_regrets"]:
        auto = rows["auto fast", found["field"], found["rel"]]
        forced = rows["dual_quant in_place, fast", found["field"], found["rel"]]
        assert found["best"] == forced["method"]
        regret = auto["stored_bytes"] / forced["stored_bytes"] - 1
        assert found["size_regret"] == pytest.approx(regret)
    assert {r["field"] for r in recorded["time_regrets"]} == set(FIELDS)
    times = {r["strategy"]: r["seconds"] for r in recorded["write_times"]}
    assert set(times) == {"skeleton", "filtered", "amrex-1d", "uncompressed"}
    for strategy, seconds in times.items():
        assert (seconds["encode"] > 0) == (strategy != "uncompressed")
        assert seconds["write"] > 0
    # What is printed is what is kept as a table.
    assert (study[0] / "rd.md").read_text() in outcome.out
    assert "Neve's bound violations 0, special values lost 0" in outcome.out


def test_pictures(study):
    from matplotlib import image

    folder = study[0] / "pictures"
    names = {
        "rate_distortion_density.png",
        "rate_distortion_Temp.png",
        "arrangements_lorenzo_regression_density.png",
        "error_slices_density.png",
        "write_times.png",
    }
    assert {path.name for path in folder.iterdir()} == names
    for name in names:
        picture = image.imread(folder / name)[..., :3]
        assert min(picture.shape[:2]) > 400
        assert len(np.unique((picture * 255).astype(np.uint8).reshape(-1, 3), axis=0)) > 50


def test_array(neve, tmp_path):
    x, y = np.meshgrid(np.linspace(0, 3, 40), np.linspace(0, 2, 24))
    np.save(tmp_path / "wave.npy", np.sin(3 * x + y**2).astype(np.float32))
    arguments = ["--bounds", "1e-3", "--codecs", "auto fast", "--repeats", "1", "--ranks"]
    arguments += ["--brief", "--json", tmp_path / "rd.json"]
    neve("bench", "rd", tmp_path / "wave.npy", *arguments)
    (row,) = json.loads((tmp_path / "rd.json").read_text())["rows"]
    assert (row["field"], row["raw_bytes"], row["violations"]) == ("data", 40 * 24 * 4, 0)
    assert "levels" not in row


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fields", "salt"], "no field 'salt'; the file has density, Temp"),
        (["--codecs", "zip"], "--codecs zip: there is no such; there are auto fast"),
        (["--bounds", "1e-3,two"], "'1e-3,two'; allowed are numbers between 0 and 1"),
        (["--bounds", "2"], "'2'; allowed are numbers between 0 and 1"),
        (
            ["--fields", "Temp", "--slice-field", "density", "--plot", "x"],
            "'density' is not studied",
        ),
        (["-o", "pictures"], "'pictures' has no suffix, as a folder; -o is the report's file"),
        (["-o", "error.png"], "--plot DIR takes pictures"),
        (["-o", "."], "--plot DIR takes pictures"),
        (["--markdown", "rd.md"], "--markdown: the report is written by -o FILE"),
    ],
)
def test_bad_words_are_named(neve, sample, arguments, words):
    outcome = neve("bench", "rd", sample, *arguments, expect=2)
    assert words in outcome.err
    assert "Traceback" not in outcome.err


def test_help_has_examples(neve):
    text = neve("bench", "rd", "--help").out
    assert "neve bench rd plt00113 --fields density Temp" in text
