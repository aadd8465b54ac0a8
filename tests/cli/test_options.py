# SPDX-License-Identifier: BSD-3-Clause
"""Nothing runs something else than asked: what no option takes, and options that would do nothing,
are refused by name."""

import os
import re
import subprocess

import numpy as np
import pytest

import neve

from . import step_files
from .conftest import NEVE, SAMPLE, environment

USAGE = 2


def neve_in(folder, *words):
    done = subprocess.run(
        [str(NEVE), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=240,
        env=environment(),
        cwd=folder,
    )
    return done.returncode, done.stdout, done.stderr


def subcommands_in(text):
    """Those that a help text lists, CLI11's and argparse's."""
    found = []
    # CLI11 has a section for each group of them; names of options begin with a dash.
    for heading, section in re.findall(r"^(\S[^\n]*):\n((?:  .*\n)+)", text, re.M):
        if heading not in ("Positionals", "Examples") and "positional" not in heading:
            found += re.findall(r"^  ([a-z]\S*)(?:  |$)", section, re.M)
    positional = re.search(r"^positional arguments:\n(.*?)(\n\n|\Z)", text, re.M | re.S)
    if positional:
        found += re.findall(r"^    (\S+)  ", positional[1], re.M)
    return found


def every_command(folder, words=()):
    code, out, err = neve_in(folder, *words, "--help")
    assert code == 0, (words, err)
    yield words
    for name in subcommands_in(out):
        yield from every_command(folder, (*words, name))


@pytest.mark.parametrize("idle", [("--method", "zstd"), ("--codec", "exact")])
def test_a_log_that_would_be_empty_is_refused(tmp_path, idle):
    steps = step_files.make(tmp_path / "steps", 2)
    words = ("convert", *steps, "--into", "into", "--choices", "log")
    code, _, err = neve_in(tmp_path, *words, *idle)
    name = " ".join(idle).removeprefix("--")
    assert code == USAGE and not (tmp_path / "into").exists()
    assert f"--choices log has no meaning with {name}: no variable chooses a method" in err
    rule = ("--field", "smooth:codec=lossless,method=auto")
    assert neve_in(tmp_path, *words, *idle, *rule)[0] == 0
    chosen = neve.read_choices(tmp_path / "into").choices
    assert [(c.variable, c.step) for c in chosen] == [("/smooth", 0), ("/smooth", 1)]


def test_candidates_may_have_blanks_between_them(tmp_path):
    steps = step_files.make(tmp_path / "steps", 1)
    words = ("convert", *steps, "--into", "into", "--choices", "log")
    assert neve_in(tmp_path, *words, "--candidates", "zstd + lz4")[0] == 0
    assert neve.read_choices(tmp_path / "into").rules["candidates"] == "zstd+lz4"


def test_every_subcommand_names_an_unknown_option(tmp_path):
    commands = list(every_command(tmp_path))
    names = {" ".join(words) for words in commands}
    # The walk has not lost its way.
    expected = {"convert", "plot", "export", "trace run", "mpi run", "bench"}
    assert (
        expected | {f"bench {name}" for name in ("amr", "codebooks", "disk", "rd", "study")}
        <= names
    )
    for words in commands:
        code, out, err = neve_in(tmp_path, *words, "--nonsense")
        assert code == USAGE, (words, code, out, err)
        assert "--nonsense" in err, (words, err)
        assert out == "", (words, out)
        assert os.listdir(tmp_path) == [], words


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("trace", "run", "-o", "", "--", "true"), "--output"),
        (("mpi", "run", "--bound", "", "--", "true"), "--bound"),
        (("bench", "struct", "--folder", ""), "--folder"),
        (("bench", "ensemble", "--deck", ""), "--deck"),
        (("convert", "a", "b", "--rules", ""), "--rules"),
        (("plot", "a", "--field", "u", "-o", ""), "--output"),
        (("export", "a", "b.npy", "--field", ""), "--field"),
    ],
)
def test_empty_values_are_refused(tmp_path, words, option):
    code, out, err = neve_in(tmp_path, *words)
    assert code == USAGE, (code, out, err)
    assert option in err and "empty" in err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("bench", "struct", "--vaild", "0.2"), ["--vaild", "--valid"]),
        (("bench", "ensemble", "--nonsense", "1"), ["--nonsense"]),
        (("bench", "amr", "struct"), ["struct"]),
        (("bench", "amr", "extra"), ["extra"]),
        (("bench", "rd", "file", "--bonds", "1e-3"), ["--bonds", "--bounds"]),
        (("bench", "codecs", "extra"), ["extra"]),
        (("convert", "a", "b", "--covred", "keep"), ["--covred", "--covered"]),
        (("convert", "a", "b", "c"), ["c is one file too many", "--into"]),
        (("info", "a", "b"), ["'b'"]),
        (("plot", "a", "--feld=x", "-o", "x.png"), ["--feld", "--field"]),
        (("export", "a", "b.npy", "--levle", "1"), ["--levle", "--level"]),
        (("bench", "study", "two-cores", "--dry-runs"), ["--dry-runs", "--dry-run"]),
        (("mpi", "run", "--bond", "rel=1e-3", "--", "true"), ["--bond", "--bound"]),
        (("trace", "run", "--outptu", "x", "--", "true"), ["--outptu", "--output"]),
    ],
)
def test_the_nearest_known_option_is_suggested(tmp_path, words, named):
    code, out, err = neve_in(tmp_path, *words)
    assert code == USAGE, (code, out, err)
    for word in named:
        assert word in err, err
    assert os.listdir(tmp_path) == []


LOSSLESS = ("--bound", "lossless")
IDLE = [
    *[
        (("--uncompressed",), option)
        for option in (
            ("--method", "rank"),
            ("--speed-weight", "1"),
            ("--ratio-weight", "2"),
            ("--bound", "rel=1e-3"),
            ("--effort", "max"),
            ("--covered", "auto"),
            ("--threads", "2"),
        )
    ],
    ((), ("--merge-units",)),
    ((), ("--block", "4")),
    (("--codec", "interpolation"), ("--block", "4")),
    (("--codec", "interpolation", "--arrangement", "cluster"), ("--merge-units",)),
    (("--codec", "context"), ("--merge-units",)),
    (("--effort", "max", "--arrangement", "in_place"), ("--merge-units",)),
    ((), ("--method", "rank")),
    (("--strategy", "independent"), ("--aggregators", "2")),
    (("--strategy", "independent"), ("--buffer-size", "1MiB")),
    ((*LOSSLESS, "--method", "zstd"), ("--speed-weight", "3")),
    (("--codec", "dual_quant"), ("--ratio-weight", "2")),
    (("--codec", "dual_quant"), ("--field", "Temp:method=rank")),
    (LOSSLESS, ("--codec", "interpolation")),
    (("--codec", "lossless"), ("--bound", "rel=1e-3")),
    (LOSSLESS, ("--block", "4")),
    (("--codec", "exact"), ("--effort", "max")),
    (("--strategy", "amrex-1d"), ("--chunk-size", "8MiB")),
    (("--strategy", "filtered"), ("--chunk-size", "8MiB")),
    (("--strategy", "filtered"), ("--chunk-values", "4096")),
    ((), ("--chunk-values", "1024")),
    (("--uncompressed",), ("--chunk-values", "4096")),
    (("--strategy", "amrex-1d"), ("--unit", "8")),
    (("--strategy", "amrex-1d"), ("--block", "4")),
    ((), ("--cross-level",)),
    ((), ("--rules", "rules.toml")),
    ((), ("--restart",)),
]


@pytest.mark.parametrize(("given", "idle"), IDLE, ids=lambda words: " ".join(words) or "default")
def test_convert_refuses_options_that_do_nothing(tmp_path, given, idle):
    code, out, err = neve_in(tmp_path, "convert", SAMPLE, "x.h5", *given, *idle)
    assert code == USAGE, (code, out, err)
    option = idle[0] if idle[0] != "--field" else "--field Temp: method"
    assert f"{option} " in err and "no meaning" in err, err
    # The arrangement is named where it is at fault.
    at_fault = idle == ("--merge-units",) and "--arrangement" in given
    assert ("and arrangement " in err) == at_fault, err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "option",
    [
        ("--method", "rank"),
        ("--speed-weight", "1"),
        ("--bound", "abs=1"),
        ("--uncompressed",),
        ("--strategy", "skeleton"),
        ("--aggregators", "1"),
        ("--explain",),
    ],
    ids=lambda words: words[0],
)
def test_convert_to_amrex_takes_no_options_of_compression(tmp_path, option):
    code, out, err = neve_in(tmp_path, "convert", SAMPLE, "plt", *option)
    assert code == USAGE, (code, out, err)
    assert f"{option[0]} has no meaning for an AMReX plotfile directory" in err
    assert os.listdir(tmp_path) == []


def test_what_has_an_effect_is_allowed(tmp_path):
    for number, words in enumerate(
        [
            ("--codec", "lorenzo_regression", "--block", "4", "--merge-units", "--unit", "8"),
            ("--codec", "interpolation", "--merge-units", "--unit", "64"),
            ("--effort", "max", "--block", "6"),
            ("--field", "Temp:codec=lorenzo_regression,block=4"),
            ("--codec", "lossless", "--method", "shuffle-lz4"),
            ("--field", "Temp:lossless", "--method", "BW-zlib"),
            ("--codec", "interpolation", "--field", "Temp:lossless"),
            ("--speed-weight", "1", "--effort", "balanced"),
            ("--codec", "interpolation", "--cross-level"),
            ("--strategy", "amrex-1d", "--chunk-values", "4096"),
        ]
    ):
        code, _, err = neve_in(tmp_path, "convert", SAMPLE, f"{number}.h5", *words)
        assert code == 0, (words, err)


@pytest.fixture
def array(tmp_path):
    path = tmp_path / "in" / "a.npy"
    path.parent.mkdir()
    np.save(path, np.linspace(0, 1, 4096, dtype=np.float32))
    return path


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--bound", "rel=1e-3", "--method", "rank"), "--method"),
        (("--bound", "rel=1e-3", "--merge-units"), "--merge-units"),
        (("--bound", "lossless", "--block", "4"), "--block"),
        (("--bound", "lossless", "--codec", "context"), "--codec"),
        (("--codec", "exact", "--bound", "ratio=5"), "--bound"),
        (("--codec", "lossless", "--bound", "psnr=60"), "--bound"),
        (("--codec", "lossless", "--bound", "rel=1e-3"), "--bound"),
        (("--bound", "rel=1e-3", "--stream", "--chi", "1,2"), "--chi"),
        (("--bound", "rel=1e-3", "--stream", "--effort", "max"), "--effort"),
        (("--bound", "rel=1e-3", "--restart", "3"), "--restart"),
    ],
)
def test_compress_refuses_options_that_do_nothing(tmp_path, array, words, option):
    code, out, err = neve_in(tmp_path, "compress", array, "out.neve", *words)
    assert code == USAGE, (code, out, err)
    assert f"{option} " in err and "no meaning" in err, err
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("plan", SAMPLE, "--ranks", "4", "--box-cells", "8"), "--box-cells"),
        (("plan", SAMPLE, "--ranks", "4", "--codec-speed", "8"), "--codec-speed"),
        (("plan", "--boxes", "64:9", "--ranks", "4", "--ghosts", "1"), "--ghosts"),
        (("plan", "--boxes", "64:9", "--ranks", "4", "--distribution", "greedy"), "--distribution"),
        (("mpi", "run", "--effort", "max", "--", "touch", "ran"), "--effort"),
        (("mpi", "run", "--files", "x", "--", "touch", "ran"), "--files"),
        (
            *(("mpi", "run", "--bound", "abs=1", "--calls", "gather", "--files", "x"),),
            "--files",
        ),
        (("bench", "chombo", "--strategies", "skeleton", "--effort", "max"), "--effort"),
        (("bench", "chombo", "--file", "checkpoint", "--ghosts", "2"), "--ghosts"),
        (("bench", "chombo", "--strategies", "skeleton", "--aggregate-boxes", "2"), "--aggregate"),
        (("bench", "cartiso", "--sigma-end", "1,1,1"), "--sigma-end"),
        (("bench", "ensemble", "--methods", "none", "--delta", "0.1"), "--delta"),
        (("bench", "rd", "x.npy", "--slice-field", "x"), "--slice-field"),
        (("bench", "study", "two-cores", "--list", "--no-pictures"), "--no-pictures"),
    ],
)
def test_other_commands_refuse_options_that_do_nothing(tmp_path, words, option):
    if words[:2] == ("mpi", "run") and "--" not in words:
        words = (*words, "--", "touch", "ran")
    code, out, err = neve_in(tmp_path, *words)
    assert code == USAGE, (code, out, err)
    assert option in err, err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "name", ["a.hf5", "a.h4", "a.hdf", "a.nc", "a.he5", "a.npy", "a.xyz", "plt.d/"]
)
def test_a_name_like_a_files_makes_no_folder(tmp_path, name):
    code, out, err = neve_in(tmp_path, "convert", SAMPLE, name)
    assert code == USAGE, (code, out, err)
    stem = name.rsplit(".", 1)[0]
    assert f"{stem}.h5" in err and "--to" in err, err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["plt00113", "plt.old", "plt1.5e3", "plt.0113", ".hidden"])
def test_names_of_amrex_folders(tmp_path, name):
    code, _, err = neve_in(tmp_path, "convert", SAMPLE, name)
    assert code == 0, err
    assert (tmp_path / name / "Header").exists()


def test_what_to_make_can_be_said(tmp_path):
    code, _, err = neve_in(tmp_path, "convert", SAMPLE, "a.nc", "--to", "amrex")
    assert code == 0, err
    assert (tmp_path / "a.nc" / "Header").exists()
    # A folder that is there says what it is.
    code, _, err = neve_in(tmp_path, "convert", SAMPLE, "a.nc")
    assert code == 0, err
    code, _, err = neve_in(tmp_path, "convert", SAMPLE, "plt", "--to", "hdf5")
    assert code == 0, err
    assert (tmp_path / "plt").is_file()
    code, _, err = neve_in(tmp_path, "convert", SAMPLE, "x.h5", "--to", "zarr")
    assert code == USAGE and "zarr" in err and "amrex" in err


def test_the_bound_taken_is_said(neve, tmp_path):
    taken = neve("convert", SAMPLE, tmp_path / "x.h5")
    assert "bound: rel=1e-3 (the default; choose with --bound or --field)\n" in taken.out
    report = neve("convert", SAMPLE, tmp_path / "x.h5", "--json").json
    assert (report["bound"], report["bound_is_default"]) == ("rel=0.001", True)
    chosen = ("convert", SAMPLE, tmp_path / "x.h5", "--bound", "rel=1e-4")
    assert "bound: rel=1e-4\n" in neve(*chosen).out
    report = neve(*chosen, "--json").json
    assert (report["bound"], report["bound_is_default"]) == ("rel=0.0001", False)


@pytest.mark.parametrize("command", ["convert", "compress"])
def test_a_bare_number_is_no_bound(neve, tmp_path, array, command):
    source = {"convert": SAMPLE, "compress": array}[command]
    outcome = neve(command, source, tmp_path / "x.h5", "--bound", "1e-3", expect=USAGE)
    assert "rel=1e-3" in outcome.err and "abs=1e-3" in outcome.err
    assert os.listdir(tmp_path) == ["in"]


def test_a_method_asked_for_by_name_is_used_or_refused(neve, tmp_path):
    """The bundled fields have more values than ranks can be of."""
    random = np.random.default_rng(3)
    np.save(tmp_path / "many.npy", random.random(200_000))
    np.save(tmp_path / "few.npy", random.integers(0, 30_000, 60_000).astype(np.float64))
    words = ("--bound", "lossless", "--method", "rank")
    outcome = neve("compress", tmp_path / "many.npy", tmp_path / "x", *words, expect=USAGE)
    assert "method rank" in outcome.err and "65536" in outcome.err and "lorenzo" in outcome.err
    assert not (tmp_path / "x").exists()
    report = neve("compress", tmp_path / "few.npy", tmp_path / "y", *words, "--json").json
    assert report["method"] == "rank"
    box = random.random((64, 64, 64))
    np.save(tmp_path / "box.npy", box)
    outcome = neve("convert", tmp_path / "box.npy", tmp_path / "z.h5", *words, expect=USAGE)
    assert "method rank" in outcome.err and "field " in outcome.err, outcome.err
    assert not (tmp_path / "z.h5").exists()


RULES = [
    ("T:unchanged,abs=1", "unchanged copies the variable as it is stored"),
    ("T:unchanged,effort=max", "unchanged copies the variable as it is stored"),
    ("T:unchanged,codec=exact,fill=3", "unchanged copies the variable as it is stored"),
    ("T:lossless,codec=interpolation", "codec interpolation cannot keep the bound lossless"),
    ("T:codec=exact,block=4", "block has no meaning with codec exact"),
    ("T:codec=exact,effort=max", "effort has no meaning with codec exact"),
    ("T:abs=1,codec=dual_quant,block=6", "block has no meaning with codec dual_quant"),
    ("T:abs=1,codec=dual_quant,method=zstd", "method has no meaning with codec dual_quant"),
    ("T:abs=1,codec=exact", "bound abs=1 has no meaning with codec exact"),
]


@pytest.fixture
def data_file(tmp_path):
    import h5py

    path = tmp_path / "in" / "a.h5"
    path.parent.mkdir()
    with h5py.File(path, "w") as f:
        for name in ("T", "U"):
            f[name] = np.linspace(0, 1, 4096, dtype=np.float32)
    return path


@pytest.mark.parametrize(("rule", "message"), RULES)
def test_rules_of_data_files_that_contradict_themselves(tmp_path, data_file, rule, message):
    code, _, err = neve_in(tmp_path, "convert", data_file, "b.h5", "--field", rule)
    assert code == USAGE and f"T: {message}" in err, err
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--field", "T:block=4"), "the rule for 'T': block has no meaning"),
        (("--field", "T:merge_units"), "the rule for 'T': merge-units has no meaning"),
        (
            *(("--bound", "rel=1e-3", "--field", "T:method=zstd"),),
            "the rule for 'T': method has no meaning",
        ),
        (("--bound", "rel=1e-3", "--method", "zstd"), "method has no meaning"),
        (("--field", "*:unchanged", "--codec", "exact"), "codec has no meaning"),
        (("--field", "*:unchanged", "--method", "zstd"), "method has no meaning"),
        (("--field", "*:unchanged=true", "--bound", "abs=1"), "bound has no meaning"),
        (("--field", "*:unchanged", "--chunk-size", "1MiB"), "chunk-size has no meaning"),
        (("--field", "T:,,"), "--field T: ',,' has an empty setting; allowed settings: bound"),
        (("--field", "T:abs=1,"), "--field T: 'abs=1,' has an empty setting"),
        (("--field", "T:unchanged=7"), "--field T: unchanged: '7'; true or false is allowed"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_what_changes_nothing_in_a_data_file_is_refused(tmp_path, data_file, words, message):
    code, _, err = neve_in(tmp_path, "convert", data_file, "b.h5", *words)
    assert code == USAGE and message in err, err
    assert os.listdir(tmp_path) == ["in"]


def test_what_changes_something_in_a_data_file_is_allowed(tmp_path, data_file):
    for number, words in enumerate(
        [
            ("--field", "T:method=zstd"),
            ("--bound", "rel=1e-3", "--field", "T:codec=lorenzo_regression,block=4"),
            # A later rule makes use of what an earlier one says.
            ("--field", "T:block=4", "--field", "*:rel=1e-3,codec=lorenzo_regression"),
            ("--field", "T:unchanged", "--codec", "exact"),
            ("--field", "*:unchanged=false,method=zstd"),
            ("--field", "T:block=4", "--field", "T:unchanged"),
            ("--bound", "rel=1e-3", "--field", "T:lossless", "--method", "zstd"),
        ]
    ):
        code, _, err = neve_in(tmp_path, "convert", data_file, f"{number}.h5", *words)
        assert code == 0, (words, err)


def test_flags_are_true_or_false(tmp_path, array):
    for flag in ("--json=3", "--explain=7"):
        words = ("compress", array, "b.neve", "--bound", "rel=1e-3", flag)
        code, out, err = neve_in(tmp_path, *words)
        assert code == USAGE and "true or false is allowed" in err, (out, err)
        assert flag.split("=")[0] in err and os.listdir(tmp_path) == ["in"]
    for flag, is_json in (("--json=on", True), ("--json=true", True), ("--json=off", False)):
        words = ("compress", array, "b.neve", "--bound", "rel=1e-3", flag)
        code, out, err = neve_in(tmp_path, *words)
        assert code == 0 and out.startswith("{") == is_json, (flag, out, err)


def test_a_bound_for_what_stays_is_refused(tmp_path, data_file):
    def convert(*rules):
        words = [word for rule in rules for word in ("--field", rule)]
        return neve_in(tmp_path, "convert", data_file, "b.h5", *words)

    code, _, err = convert("T:unchanged", "T:abs=1")
    assert code == USAGE and "the rule for 'T' gives a bound, but" in err, err
    assert os.listdir(tmp_path) == ["in"]
    # A later rule wins, and a bound may be for others.
    assert convert("T:abs=1", "T:unchanged")[0] == 0
    assert convert("T:unchanged", "?:abs=1")[0] == 0


def test_a_report_that_cannot_be_written_is_an_error(tmp_path, data_file):
    for words in (("info", data_file), ("convert", data_file, tmp_path / "b.h5"), ("--help",)):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [NEVE, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=environment()
            )
        assert done.returncode == 1 and "neve: standard output" in done.stderr


@pytest.mark.parametrize("limit", [5000, 9000])
def test_a_file_size_limit_is_an_error_by_name(tmp_path, limit):
    """Of a shell's own, whose signal would end the command. Smaller ones end Open MPI itself."""
    np.save(tmp_path / "a.npy", np.random.default_rng(1).random(2_000_000))
    script = f"ulimit -f {limit}; exec {NEVE} compress a.npy b.neve --bound lossless"
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 1 and "File too large" in done.stderr, (done.returncode, done.stderr)
    assert os.listdir(tmp_path) == ["a.npy"]


@pytest.mark.parametrize(("bytes_written", "code"), [(100_000, 153), (1000, 0)])
def test_programs_meet_the_limit_as_they_would_alone(tmp_path, bytes_written, code):
    program = f"ulimit -f 4; head -c {bytes_written} /dev/zero > big"
    command = [NEVE, "trace", "run", "-o", "t.json", "--", "bash", "-c", program]
    alone = subprocess.run(["bash", "-c", program], cwd=tmp_path, capture_output=True)
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True)
    assert alone.returncode == code
    # The counts themselves may find no room.
    assert done.returncode == code or b"File too large; the counts of this" in done.stderr
    assert (tmp_path / "big").stat().st_size == min(bytes_written, 4096)
