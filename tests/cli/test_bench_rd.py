# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench rd` on the bundled sample: complete rows on the same cells, pictures of any plane,
progress, refusals.
"""

import json
import subprocess
import time

import numpy as np
import pytest

from .conftest import NEVE, environment

pytest.importorskip("matplotlib")

BOUNDS = (1e-2, 1e-3)
FIELDS = ("density", "Temp")
FORCED = "neve:dual_quant,effort=fast,arrangement=in_place"
WAYS = ("neve:auto,effort=fast", "neve:auto", FORCED, "amric:lm", "amric:adaptive", "amrex:1d")


@pytest.fixture(scope="module")
def study(neve, sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rd")
    outcome = neve(
        *("bench", "rd", sample, "--fields", *FIELDS, "--bounds", "1e-2,1e-3", "--levels"),
        *("--ways", *WAYS, "--plot", folder / "pictures", "--json", folder / "rd.json"),
        *("-o", folder / "rd.md", "--axis", "x", "--index", "40"),
    )
    return folder, outcome, json.loads((folder / "rd.json").read_text())


def test_every_way_field_and_bound_has_a_row(study):
    rows = study[2]["rows"]
    found = [(r["way"], r["field"], r["rel"]) for r in rows]
    assert sorted(found) == sorted((w, f, b) for w in WAYS for f in FIELDS for b in BOUNDS)
    for row in rows:
        assert row["raw_bytes"] == 8 * (32**3 + 12288)  # both levels of the sample
        assert row["held_cells"] == 32**3 - 12288 // 8 + 12288
        assert row["ratio"] == pytest.approx(row["raw_bytes"] / row["stored_bytes"])
        assert 0 < row["max_error_over_bound"] <= 1
        assert row["violations"] == row["specials_lost"] == 0
        # Uniform errors inside a bound e of the range have PSNR -20 log10(e / sqrt(3)).
        assert row["psnr_db"] > -20 * np.log10(row["rel"]) + 4.0
        assert row["encode_seconds"] > 0
        levels = row["levels"]
        assert sum(level["stored_bytes"] for level in levels) == row["stored_bytes"]
        assert sum(level["held_cells"] for level in levels) == row["held_cells"]
        assert row["artifact"]["border_faces"] > 0 and row["artifact"]["jump"] > 0


def test_what_the_rows_say(study):
    folder, outcome, recorded = study
    rows = {(r["way"], r["field"], r["rel"]): r for r in recorded["rows"]}
    regrets = {(r["way"], r["field"], r["rel"]): r for r in recorded["regrets"]}
    assert set(regrets) == {("neve:auto,effort=fast", f, b) for f in FIELDS for b in BOUNDS}
    for (way, field, rel), found in regrets.items():
        assert found["best"] == FORCED
        expected = rows[way, field, rel]["stored_bytes"] / rows[FORCED, field, rel]["stored_bytes"]
        assert found["size_regret"] == pytest.approx(expected - 1)
    claims = {(c["claim"], c["field"]): c for c in recorded["conclusions"]}
    for field in FIELDS:
        found = claims["3D over 1D, SZ_L/R", field]
        gains = [rows["amric:adaptive", field, b]["ratio"] for b in BOUNDS]
        others = [rows["amrex:1d", field, b]["ratio"] for b in BOUNDS]
        expected = np.sqrt(np.prod(gains) / np.prod(others))
        assert found["at_equal_bound"] == pytest.approx(expected)
        assert found["holds"] is True
    # What is printed is what is kept as a table.
    assert (folder / "rd.md").read_text() in outcome.out
    assert "Neve's bound violations 0, special values lost 0" in outcome.out
    assert "### Each level" in outcome.out


def test_pictures(study):
    from matplotlib import image

    folder = study[0] / "pictures"
    names = {f"rate_distortion_{field}.png" for field in FIELDS}
    names |= {f"{kind}_density.png" for kind in ("arrangements_amric", "error_slices")}
    names.add("side_by_side_density.png")
    assert {path.name for path in folder.iterdir()} == names
    for name in names:
        picture = image.imread(folder / name)[..., :3]
        assert min(picture.shape[:2]) > 400
        assert len(np.unique((picture * 255).astype(np.uint8).reshape(-1, 3), axis=0)) > 50


def test_it_says_how_far_it_is_before_it_has_anything(neve, sample):
    start = time.monotonic()
    words = ["bench", "rd", str(sample), "--fields", "density", "--bounds", "1e-2,1e-3,1e-4"]
    running = subprocess.Popen(
        [str(NEVE), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        first = running.stderr.readline()
        took = time.monotonic() - start
        assert running.poll() is None
    finally:
        running.kill()
        running.communicate()
    assert first == "neve bench rd: reading nyx_lya32_plt00113\n"
    assert took < 10  # a second, on a machine with nothing else to do


def test_default_ways_on_an_array(neve, tmp_path):
    x, y = np.meshgrid(np.linspace(0, 3, 40), np.linspace(0, 2, 24))
    np.save(tmp_path / "wave.npy", np.sin(3 * x + y**2).astype(np.float32))
    arguments = ["--bounds", "1e-3", "--brief", "--json", tmp_path / "rd.json"]
    neve("bench", "rd", tmp_path / "wave.npy", *arguments, "--plot", tmp_path / "pictures")
    recorded = json.loads((tmp_path / "rd.json").read_text())
    rows = {row["way"]: row for row in recorded["rows"]}
    auto = rows["neve:auto"]
    assert (auto["field"], auto["raw_bytes"], auto["violations"]) == ("data", 40 * 24 * 4, 0)
    assert "levels" not in auto
    assert {"amric:lm,unit=8", "amric:interp,unit=16", "amrex:1d", "tac:auto"} <= set(rows)
    assert "amric:lm,unit=32" not in rows  # no box holds such a unit
    assert not any(way.startswith("neve:dual_quant") for way in rows)
    assert auto["artifact"]["jump"] is None  # one level has no border
    assert (tmp_path / "pictures" / "side_by_side_data.png").exists()


def test_ways_are_listed(neve):
    text = neve("bench", "rd", "--list-ways").out
    assert "amric:lm: " in text and "    unit=auto   allowed: " in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fields", "salt"], "no field 'salt'; the file has density, Temp"),
        (["--ways", "zip:1"], "way 'zip:1': there is no 'zip:1'; there are neve:auto"),
        (["--ways", "amric:sle,unit=7"], "unit is '7'; allowed are auto, 8"),
        (["--bounds", "1e-3,two"], "'1e-3,two'; allowed are numbers between 0 and 1"),
        (["--bounds", "2"], "'2'; allowed are numbers between 0 and 1"),
        (["--cells", "some"], "invalid choice: 'some'"),
        (["--repeats", "0"], "--repeats 0: allowed are whole numbers from 1"),
        (["--time-limit", "0"], "--time-limit 0: allowed are numbers above 0"),
        (["--brief", "--levels"], "--levels and --brief exclude each other"),
        (
            ["--fields", "Temp", "--slice-field", "density", "--plot", "{tmp}"],
            "'density' is not studied",
        ),
        (["--axis", "x"], "--axis has no meaning without --plot"),
        (["--at", "1"], "--at has no meaning without --plot"),
        (["--pictured", "neve:auto"], "--pictured has no meaning without --plot"),
        (["--at", "1", "--index", "1", "--plot", "{tmp}"], "not allowed with argument"),
        (["--index", "64", "--plot", "{tmp}"], "index 64 of z; allowed are cells 0 to 63"),
        (["--axis", "y", "--at", "8.5", "--plot", "{tmp}"], "outside the domain 0.0..8.0 along y"),
        (["--codecs", "auto", "SZ3"], "--codecs: ways are named by --ways"),
        (["--covered", "auto"], "--covered: --cells says which cells every way holds"),
        (["--ranks"], "--ranks: neve bench layouts measures the times of writes"),
        (["--sweep-repeats", "1"], "--sweep-repeats: --repeats is that of every row"),
        (["--scratch", "x"], "--scratch: no file is written but those of"),
        (["-o", "pictures"], "'pictures' has no suffix, as a folder; -o is the report's file"),
        (["-o", "error.png"], "--plot DIR takes pictures"),
        (["-o", "."], "--plot DIR takes pictures"),
        (["--markdown", "rd.md"], "--markdown: the report is written by -o FILE"),
    ],
)
def test_bad_words_are_named(neve, sample, tmp_path, arguments, words):
    given = [word.format(tmp=tmp_path / "pictures") for word in arguments]
    outcome = neve("bench", "rd", sample, *given, expect=2)
    assert words in outcome.err
    assert "Traceback" not in outcome.err


def test_help_has_examples(neve):
    text = neve("bench", "rd", "--help").out
    assert "neve bench rd plt00113 --fields density Temp" in text
