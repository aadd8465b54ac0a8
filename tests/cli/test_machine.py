# SPDX-License-Identifier: BSD-3-Clause
"""doctor, help, and the commands that hand over to Python."""

import sys

import pytest

from .conftest import PLUGIN_DIR


def test_the_plugin_lies_alone():
    assert [p.name for p in PLUGIN_DIR.iterdir()] and all(
        p.name.startswith("lib") and ".so" in p.name for p in PLUGIN_DIR.iterdir()
    )
    assert len(list(PLUGIN_DIR.iterdir())) == 1


def test_doctor_with_the_plugin(neve):
    report = neve("doctor", "--json", HDF5_PLUGIN_PATH=str(PLUGIN_DIR)).json
    assert report["ok"] is True
    assert report["plugin"].startswith(str(PLUGIN_DIR))
    assert report["hdf5"]["parallel"] is True
    assert report["simd"] in report["simd_available"]
    assert "plugin" in neve("doctor", HDF5_PLUGIN_PATH=str(PLUGIN_DIR)).out


def test_doctor_without_the_plugin_gives_the_cure(neve, tmp_path):
    outcome = neve("doctor", expect=5, HDF5_PLUGIN_PATH=str(tmp_path))
    assert f"HDF5_PLUGIN_PATH={PLUGIN_DIR}" in outcome.err


def test_doctor_with_a_plugin_that_does_not_load(neve, tmp_path):
    broken = tmp_path / "libneve_h5plugin.so"
    broken.write_bytes(b"not a library")
    outcome = neve("doctor", "--json", expect=5, HDF5_PLUGIN_PATH=str(tmp_path))
    (plugin,) = outcome.json["plugins"]
    assert plugin["path"] == str(broken)
    assert plugin["works"] is False and "does not load" in plugin["problem"]


COMMANDS = ["convert", "verify", "info", "compress", "decompress", "doctor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(neve, command):
    text = neve(command, "--help").out
    assert "Examples:" in text
    assert f"neve {command}" in text
    entries = [line for line in text.split("\nExamples:")[0].splitlines() if line.startswith("  ")]
    assert max(map(len, entries)) <= 100


def test_help_and_version(neve):
    text = neve("--help").out
    for command in [*COMMANDS, "plot", "export", "bench"]:
        assert command in text
    assert neve("--version").out.startswith("neve ")
    assert neve("--help", ranks=2).out == text  # one rank speaks


@pytest.mark.parametrize("words", [("plot", "x"), ("bench", "codecs"), ("bench", "study", "x")])
def test_python_commands_without_python(neve, tmp_path, words):
    outcome = neve(*words, expect=1, NEVE_PYTHON=str(tmp_path / "nopython"))
    assert "nopython" in outcome.err and "import neve" in outcome.err


@pytest.mark.parametrize("command", ["plot", "export", "bench"])
def test_help_of_python_commands(neve, command):
    text = neve(command, "--help", NEVE_PYTHON=sys.executable).out
    assert f"neve {command}" in text


def test_plot(neve, sample, converted, tmp_path):
    picture = tmp_path / "density.png"
    neve(
        *("plot", converted, "--field", "density", "--against", sample, "-o", picture),
        NEVE_PYTHON=sys.executable,
        HDF5_PLUGIN_PATH=str(PLUGIN_DIR),
    )
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000


def test_plot_of_an_unknown_field(neve, converted, tmp_path):
    outcome = neve(
        *("plot", converted, "--field", "nosuch", "-o", tmp_path / "x.png"),
        expect=2,
        NEVE_PYTHON=sys.executable,
    )
    assert "nosuch" in outcome.err and "density" in outcome.err
    assert "Traceback" not in outcome.err
    assert not (tmp_path / "x.png").exists()
