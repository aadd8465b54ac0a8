# SPDX-License-Identifier: BSD-3-Clause
"""Bad input: a message that names the thing, the value found and what is allowed; the exit code;
nothing left behind; the same on every rank."""

import os
import shutil

import numpy as np
import pytest

FAILURE, USAGE, BOUND_VIOLATED, CORRUPT, PLUGIN_MISSING = 1, 2, 3, 4, 5


def refused(outcome, code, *words):
    assert outcome.code == code, f"exit {outcome.code}\n{outcome.out}\n{outcome.err}"
    assert "Traceback" not in outcome.err and "terminate called" not in outcome.err
    for word in words:
        assert word in outcome.err, f"{word!r} is not in:\n{outcome.err}"
    assert outcome.out == ""


@pytest.mark.parametrize(
    "options, words",
    [
        (["--bound", "abs=0"], ["abs", "0"]),
        (["--bound", "abs=-1"], ["-1"]),
        (["--bound", "rel=nan"], ["nan"]),
        (["--bound", "rel=inf"], ["inf"]),
        (["--bound", "percent=3"], ["percent", "abs", "rel", "lossless"]),
        (["--bound", "rel="], ["rel"]),
        (["--field", "nosuch:abs=1"], ["nosuch", "density", "particle_mass_density"]),
        (["--field", "density"], ["density", "NAME:SETTING"]),
        (["--field", "density:abs=0"], ["density", "0"]),
        (["--field", "density:abs=1", "--field", "density:rel=1e-3"], ["density", "twice"]),
        (["--field", "density:fill=abc"], ["density", "abc"]),
        (["--codec", "magic"], ["magic", "dual_quant"]),
        (["--arrangement", "spiral"], ["spiral", "in_place"]),
        (["--unit", "7"], ["--unit is 7", "16"]),
        (["--arrangement", "in_place", "--unit", "8"], ["in_place", "unit is 8"]),
        (["--block", "5"], ["--block is 5", "4"]),
        (["--field", "density:arrangement=knot"], ["density", "knot", "cluster"]),
        (["--field", "density:unit=12"], ["density", "unit is 12"]),
        (["--field", "density:unit=many"], ["density", "many"]),
        (["--field", "density:unit=8,unit=8"], ["density", "unit", "twice"]),
        (["--effort", "lazy"], ["lazy", "balanced"]),
        (["--strategy", "hope"], ["hope", "skeleton", "filtered", "amrex-1d"]),
        (["--strategy", "amrex-1d", "--covered", "drop"], ["amrex-1d", "keep"]),
        (["--uncompressed", "--strategy", "filtered"], ["filtered", "aggregated", "independent"]),
        (["--uncompressed", "--bound", "rel=1e-3"], ["--bound", "--uncompressed"]),
        (["--aggregate-boxes", "3"], ["aggregate_boxes", "skeleton", "aggregated"]),
        (["--strategy", "aggregated", "--aggregate-boxes", "-1"], ["--aggregate-boxes", "-1"]),
        (["--covered", "maybe"], ["maybe", "drop"]),
        (["--chunk-size", "8Mb"], ["8Mb", "MiB"]),
        (["--chunk-size", "1KiB"], ["chunk", "1024"]),
        (["--threads", "0"], ["0", "threads"]),
        (["--fill", "blue"], ["blue", "none"]),
        (["--no-such-option"], ["--no-such-option"]),
    ],
)
def test_options(neve, sample, tmp_path, options, words):
    refused(neve("convert", sample, tmp_path / "x.h5", *options, expect=None), USAGE, *words)
    assert os.listdir(tmp_path) == []


def test_every_rank_ends_alike_and_one_speaks(neve, sample, tmp_path):
    outcome = neve(
        *("convert", sample, tmp_path / "x.h5", "--field", "nosuch:abs=1"), ranks=2, expect=None
    )
    refused(outcome, USAGE, "nosuch")
    assert len(outcome.messages()) == 1
    assert os.listdir(tmp_path) == []


def test_an_instruction_set_that_is_not_there(neve, sample, tmp_path):
    outcome = neve("convert", sample, tmp_path / "x.h5", expect=None, NEVE_SIMD="abacus")
    refused(outcome, USAGE, "NEVE_SIMD", "abacus", "portable")
    assert os.listdir(tmp_path) == []


def test_compression_options_mean_nothing_for_a_plotfile(neve, sample, tmp_path):
    outcome = neve("convert", sample, tmp_path / "plt", "--bound", "abs=1", expect=None)
    refused(outcome, USAGE, "--bound", ".h5")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("ranks", [None, 2])
def test_missing_source(neve, tmp_path, ranks):
    outcome = neve("convert", tmp_path / "nothing", tmp_path / "x.h5", ranks=ranks, expect=None)
    refused(outcome, FAILURE, "nothing")
    assert os.listdir(tmp_path) == []


def test_source_of_no_known_kind(neve, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("hello, this is not simulation output\n")
    refused(neve("convert", text, tmp_path / "x.h5", expect=None), USAGE, "notes.txt", ".npy")
    folder = tmp_path / "folder"
    folder.mkdir()
    outcome = neve("convert", folder, tmp_path / "x.h5", expect=None)
    assert outcome.code in (FAILURE, USAGE, CORRUPT)
    assert "Header" in outcome.err
    assert not (tmp_path / "x.h5").exists()


def damage_missing_data(plt):
    os.remove(plt / "Level_1" / "Cell_D_00001")


def damage_cut_data(plt):
    path = plt / "Level_0" / "Cell_D_00000"
    os.truncate(path, path.stat().st_size // 2)


def damage_missing_level(plt):
    shutil.rmtree(plt / "Level_1")


def damage_cut_header(plt):
    path = plt / "Header"
    os.truncate(path, path.stat().st_size // 2)


def damage_wrong_box_count(plt):
    path = plt / "Level_1" / "Cell_H"
    text = path.read_text()
    assert "(3 0" in text
    path.write_text(text.replace("(3 0", "(4 0", 1))


def damage_fab_of_other_box(plt):
    # The FAB header disagrees with the box list.
    path = plt / "Level_0" / "Cell_D_00000"
    data = path.read_bytes()
    assert b"(31,31,31)" in data[:400]
    path.write_bytes(data.replace(b"(31,31,31)", b"(31,31,30)", 1))


@pytest.mark.parametrize(
    "damage, codes, words",
    [
        (damage_missing_data, (FAILURE, CORRUPT), ["Cell_D_00001"]),
        (damage_cut_data, (CORRUPT,), ["Cell_D_00000"]),
        (damage_missing_level, (FAILURE, CORRUPT), ["Level_1"]),
        (damage_cut_header, (CORRUPT,), ["Header"]),
        (damage_wrong_box_count, (CORRUPT,), ["Cell_H"]),
        (damage_fab_of_other_box, (CORRUPT,), ["Cell_D_00000"]),
    ],
)
@pytest.mark.parametrize("ranks", [None, 2])
def test_damaged_plotfile(neve, sample_copy, tmp_path, damage, codes, words, ranks):
    damage(sample_copy)
    target = tmp_path / "out"
    target.mkdir()
    outcome = neve("convert", sample_copy, target / "x.h5", ranks=ranks, expect=None)
    assert outcome.code in codes, f"exit {outcome.code}\n{outcome.err}"
    refused(outcome, outcome.code, *words)
    assert len(outcome.messages()) == 1
    assert os.listdir(target) == []


@pytest.mark.parametrize("ranks", [None, 2])
def test_target_folder_is_missing(neve, sample, tmp_path, ranks):
    for name in ("x.h5", "plt"):
        outcome = neve("convert", sample, tmp_path / "no" / "such" / name, ranks=ranks, expect=None)
        refused(outcome, FAILURE, "no/such")
    assert os.listdir(tmp_path) == []


def test_target_is_something_else(neve, sample, tmp_path):
    (tmp_path / "x.h5").mkdir()
    outcome = neve("convert", sample, tmp_path / "x.h5", expect=None)
    assert outcome.code in (FAILURE, USAGE)
    assert "x.h5" in outcome.err
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    outcome = neve("convert", sample, precious, expect=None)
    assert outcome.code in (FAILURE, USAGE)
    assert "precious" in outcome.err
    assert (precious / "thesis.tex").read_text() == "years of work"
    assert sorted(os.listdir(tmp_path)) == ["precious", "x.h5"]


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("name", ["x.h5", "plt"])
def test_full_disk(tmp_path, sample, ranks, name):
    """A file system of 100 KiB, seen only by the command."""
    from .conftest import NEVE, run

    probe = run(["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", tmp_path])
    if probe.code != 0:
        pytest.skip(f"no private file system can be mounted here: {probe.err.strip()}")
    launcher = "" if ranks is None else f"mpirun -n {ranks} "
    outcome = run(
        [
            *("unshare", "-rm", "bash", "-c"),
            f"mount -t tmpfs -o size=100k tmpfs {tmp_path} && cd {tmp_path}"
            f" && {launcher}{NEVE} convert {sample} {name}; code=$?; ls -A {tmp_path}; exit $code",
        ]
    )
    refused(outcome, FAILURE, name, "No space left")  # and nothing is left behind
    assert len(outcome.messages()) == 1


@pytest.mark.parametrize(
    "phase", ["range", "plan", "encode", "place", "skeleton", "write", "sync", "rename"]
)
def test_an_injected_failure_in_each_phase(neve, sample, tmp_path, phase):
    old = tmp_path / "x.h5"
    old.write_bytes(b"the earlier file")
    rank = 0 if phase in ("skeleton", "sync", "rename") else 1
    outcome = neve("convert", sample, old, ranks=2, expect=None, NEVE_FAULT=f"{phase}:{rank}")
    refused(outcome, FAILURE, phase)
    assert len(outcome.messages()) == 1
    assert old.read_bytes() == b"the earlier file"
    assert os.listdir(tmp_path) == ["x.h5"]


def test_killed_write_leaves_the_earlier_file(neve, sample, tmp_path):
    old = tmp_path / "x.h5"
    old.write_bytes(b"the earlier file")
    outcome = neve("convert", sample, old, ranks=2, expect=None, NEVE_FAULT="write:1:kill")
    assert outcome.code != 0
    assert old.read_bytes() == b"the earlier file"


def test_verify_of_damaged_copy(neve, sample, converted, tmp_path):
    size = converted.stat().st_size
    damaged = tmp_path / "damaged.h5"
    shutil.copy(converted, damaged)
    with open(damaged, "r+b") as f:
        # The frames are most of the file, its middle belongs to one.
        f.seek(size // 2)
        byte = f.read(1)
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte[0] ^ 0x40]))
    for ranks in (None, 2):
        outcome = neve("verify", sample, damaged, ranks=ranks, expect=None)
        refused(outcome, CORRUPT, "damaged.h5")
    cut = tmp_path / "cut.h5"
    shutil.copy(converted, cut)
    os.truncate(cut, size // 2)
    outcome = neve("verify", sample, cut, expect=None)
    assert outcome.code in (CORRUPT, FAILURE)
    assert "cut.h5" in outcome.err


def test_folders_of_side_files_that_stand_twice_are_refused(neve, converted, tmp_path):
    """Of 12 folders, each 8 times in the one before, there are 8^12 ways to the last."""
    import h5py

    path = tmp_path / "x.h5"
    shutil.copy(converted, path)
    with h5py.File(path, "r+") as f:
        at = f["neve/side_files"]
        for _ in range(12):
            below = at.create_group("f0")
            for i in range(1, 8):
                at[f"f{i}"] = below
            at = below
    outcome = neve("info", path, expect=None)
    refused(outcome, CORRUPT, "side files: ", "also appears elsewhere")


def test_verify_finds_a_broken_bound(neve, sample_copy, converted):
    path = sample_copy / "Level_1" / "Cell_D_00000"
    data = bytearray(path.read_bytes())
    # The first value of the first box: after the FAB's one header line.
    begin = data.index(b"\n") + 1
    value = np.frombuffer(data[begin : begin + 8], dtype="<f8")[0]
    data[begin : begin + 8] = np.array([value * 2 + 1e12]).tobytes()
    path.write_bytes(data)
    for ranks in (None, 2):
        outcome = neve("verify", sample_copy, converted, "--json", ranks=ranks, expect=None)
        assert outcome.code == BOUND_VIOLATED
        assert "level 1 field density" in outcome.err
        assert outcome.json["ok"] is False
        bad = [f for level in outcome.json["levels"] for f in level["fields"] if not f["ok"]]
        assert [f["name"] for f in bad] == ["density"]
        assert bad[0]["violations"] == 1


def test_verify_finds_a_lost_special_value(neve, sample_copy, converted):
    path = sample_copy / "Level_1" / "Cell_D_00000"
    data = bytearray(path.read_bytes())
    begin = data.index(b"\n") + 1
    data[begin : begin + 8] = np.array([np.nan]).tobytes()
    path.write_bytes(data)
    outcome = neve("verify", sample_copy, converted, "--json", expect=None)
    assert outcome.code == BOUND_VIOLATED
    assert "special" in outcome.err
    mismatches = [
        f["special_mismatches"] for level in outcome.json["levels"] for f in level["fields"]
    ]
    assert sum(mismatches) == 1


def test_verify_of_files_that_do_not_belong_together(neve, sample, tmp_path):
    np.save(tmp_path / "a.npy", np.ones((4, 4)))
    outcome = neve("verify", sample, tmp_path / "a.npy", expect=None)
    assert outcome.code in (FAILURE, USAGE)
    assert outcome.messages()


def test_no_command_and_unknown_command(neve):
    assert neve(expect=None).code == USAGE
    outcome = neve("transmogrify", expect=None)
    refused(outcome, USAGE, "transmogrify")
