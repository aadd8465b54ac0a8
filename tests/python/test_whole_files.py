# SPDX-License-Identifier: BSD-3-Clause
"""neve.convert, verify, file_info and doctor: the command from Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest

import neve

pytestmark = pytest.mark.usefixtures("neve_command")


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    path = tmp_path / "data.nc"
    with h5py.File(path, "w") as file:
        rng = np.random.default_rng(1)
        walk = np.cumsum(rng.normal(size=(40, 60, 50)), axis=0).astype("f4")
        file.create_dataset("temp", data=walk, chunks=(10, 60, 50))
        file.create_dataset("count", data=np.arange(5000, dtype="i4").reshape(50, 100))
    return path


@pytest.fixture
def pretending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A command that is a shell script of these lines."""

    def pretend(text: str) -> Path:
        script = tmp_path / "pretended"
        script.write_text(f"#!/bin/bash\n{text}\n")
        script.chmod(0o755)
        monkeypatch.setenv("NEVE_COMMAND", str(script))
        return script

    return pretend


def test_a_plotfile_there_and_back(sample: Path, tmp_path: Path):
    small, back = tmp_path / "plt.h5", tmp_path / "plt_back"
    report = neve.convert(
        sample, small, bound="rel=1e-4", fields={"Temp": "abs=0.5"}, chunk_size="1MiB", threads=2
    )
    assert report.ratio == report["ratio"] > 4
    fields = {field["name"]: field for field in report.levels[0]["fields"]}
    assert fields["Temp"]["bound_abs"] == 0.5 >= fields["Temp"]["max_abs_error"]
    assert neve.open(small)[1]["Temp"].bound_abs == 0.5
    assert neve.verify(sample, small).ok
    told = neve.file_info(small)
    assert [level["boxes"] for level in told["levels"]] == [1, 3]
    assert neve.convert(small, back).destination_kind == "AMReX plotfile"
    assert neve.verify(small, back).ok


def test_a_data_file_with_a_bound_for_a_variable(data_file: Path, tmp_path: Path):
    copy = tmp_path / "copy.nc"
    report = neve.convert(data_file, str(copy), fields={"temp": "abs=0.01"})
    with h5py.File(data_file) as a, h5py.File(copy) as b:
        error = np.abs(a["temp"][()].astype("f8") - b["temp"][()]).max()
        assert 0 < error <= 0.01
        assert (a["count"][()] == b["count"][()]).all()
    text, html = repr(report), report._repr_html_()
    assert "ratio" in text and "/temp" in text and "0.01" in text and "lossless" in text
    assert "<td>/temp</td>" in html
    verdict = neve.verify(data_file, copy)
    assert "within its bounds" in repr(verdict)
    with pytest.raises(AttributeError, match="the report has no 'ratios'; it has"):
        _ = report.ratios
    assert set(report) <= set(dir(report))


def test_a_broken_bound_is_an_error_that_holds_the_comparison(data_file: Path, tmp_path: Path):
    copy = tmp_path / "copy.nc"
    neve.convert(data_file, copy, bound="abs=0.01")
    with h5py.File(data_file, "r+") as file:
        file["temp"][3, 4, 5] += 1
    with pytest.raises(neve.Error, match="BROKEN") as caught:
        neve.verify(data_file, copy)
    assert caught.value.code == 3
    assert caught.value.report is not None and not caught.value.report["ok"]


@pytest.mark.parametrize(
    "options, code, message",
    [
        (
            {"chunk_sizee": 4},
            2,
            r"^convert: unknown option '--chunk-sizee'; did you mean --chunk-size",
        ),
        ({"bound": "rel=x"}, 2, 'bound "rel=x": value "x" is not a number'),
        ({"bound": False}, 2, "--bound"),
        ({"fields": {"none": "abs=1"}}, 2, "none"),
        ({"threads": -1}, 2, "--threads"),
        ({"threads": [1, 2]}, 2, "--threads"),
        ({"progress": 1}, 2, "progress=1; allowed are True, False and None"),
    ],
)
def test_what_the_command_refuses(data_file: Path, tmp_path: Path, options, code, message):
    with pytest.raises(neve.Error, match=message) as caught:
        neve.convert(data_file, tmp_path / "copy.nc", **options)
    assert caught.value.code == code
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.nc"]


def test_a_switch_that_is_off_asks_for_nothing(sample: Path, tmp_path: Path):
    options = {"uncompressed": False, "cross_level": False, "explain": False, "restart": None}
    assert neve.convert(sample, tmp_path / "a.h5", **options).ratio > 5
    with pytest.raises(neve.Error, match="unknown option '--smaller'"):
        neve.convert(sample, tmp_path / "b.h5", smaller=False)


def test_reserved_keywords_and_absent_files(tmp_path: Path):
    with pytest.raises(TypeError, match="unexpected keyword argument 'json'"):
        neve.convert("a", "b", json=True)
    with pytest.raises(TypeError):
        neve.verify("a", "b", bound="rel=1e-3")  # type: ignore[call-arg]
    with pytest.raises(neve.Error, match="No such file") as caught:
        neve.file_info(tmp_path / "none.h5")
    assert caught.value.code == 1


def test_names_that_begin_like_options(data_file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(data_file.parent)
    data_file.rename(data_file.with_name("--to=x.nc"))
    neve.convert("--to=x.nc", "-copy.nc")
    assert neve.verify("--to=x.nc", "-copy.nc").ok


def test_remarks_are_warnings_and_notes(pretending):
    pretending("echo '{\"ratio\": 2.0}'; echo 'neve convert: a holds b, which is not copied' >&2")
    with pytest.warns(UserWarning, match="^convert: a holds b, which is not copied$"):
        report = neve.convert("a", "b")
    assert report.notes == ("convert: a holds b, which is not copied",)
    assert report.notes[0] in repr(report)


def test_the_bar_follows_the_command(sample: Path, tmp_path: Path, capfd, pretending):
    pytest.importorskip("tqdm")
    neve.convert(sample, tmp_path / "plt.h5", progress=True)
    assert "100 %" in capfd.readouterr().err
    neve.convert(sample, tmp_path / "plt.h5")  # nobody looks
    assert capfd.readouterr().err == ""
    pretending(
        'echo "encode 0.25" >&$NEVE_PROGRESS_FD; echo junk >&$NEVE_PROGRESS_FD; sleep 0.3\n'
        'echo "two words 0.5" >&$NEVE_PROGRESS_FD; echo "{}"'
    )
    neve.convert("a", "b", progress=True)
    shown = capfd.readouterr().err
    assert "encode:  25 %" in shown and "two words:  50 %" in shown


def test_a_command_that_dies_says_of_what(pretending):
    pretending("kill -KILL $$")
    with pytest.raises(neve.Error, match="^convert: ended by SIGKILL$"):
        neve.convert("a", "b")
    pretending("exit 7")
    with pytest.raises(neve.Error, match="exit code 7, and not a word") as caught:
        neve.file_info("a")
    assert caught.value.code == 7


@pytest.mark.parametrize("progress", ["False", "True"])
def test_an_interruption_ends_the_command(tmp_path: Path, pretending, progress: str):
    pytest.importorskip("tqdm")
    pretending(
        f"echo $$ > {tmp_path}/pid.part; mv {tmp_path}/pid.part {tmp_path}/pid; exec sleep 60"
    )
    code = f"import neve; neve.convert('a', 'b', progress={progress})"
    started = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists():
        assert time.monotonic() < deadline and started.poll() is None
        time.sleep(0.02)
    os.kill(started.pid, signal.SIGINT)  # as a notebook's kernel gets it: its children do not
    _, said = started.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_in_a_rank_of_a_program_each_call_is_a_process_alone(sample: Path, tmp_path: Path):
    pytest.importorskip("mpi4py")
    code = (
        "from mpi4py import MPI; import neve, sys\n"
        "neve.convert(sys.argv[1], f'{sys.argv[2]}/{MPI.COMM_WORLD.rank}.h5')\n"
        "MPI.COMM_WORLD.barrier()\n"
    )
    words = ["mpirun", "-n", "2", sys.executable, "-c", code, str(sample), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    first, second = (tmp_path / f"{rank}.h5" for rank in (0, 1))
    assert first.read_bytes() == second.read_bytes()


def test_doctor_finds_the_plugin_of_this_process():
    found = neve.doctor()
    assert found.ok and Path(found.plugin).parent == neve.plugin_dir()
    assert found.neve in repr(found) and found.plugin in repr(found)


def test_without_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from neve._no_command import why_no_command

    monkeypatch.setenv("NEVE_COMMAND", str(tmp_path / "none"))
    with pytest.raises(neve.Error, match="none: no neve command") as caught:
        neve.doctor()
    assert caught.value.code == 1
    assert "`make build`" in why_no_command(str(tmp_path))
    (tmp_path / "missing.txt").write_text("CLI11;nlohmann_json\n")
    assert why_no_command(str(tmp_path)).endswith(
        "(Debian: apt-get install libcli11-dev nlohmann-json3-dev), and `pip install .` again"
    )


def test_reports_escape_names_and_shorten_long_tables():
    rows = [{"name": f"<i>{i}&", "raw_bytes": 1 << i % 40, "ratio": 1.0} for i in range(60)]
    report = neve.Report("<head>", {"variables": rows})
    html = report._repr_html_()
    assert "&lt;head&gt;" in html and "&lt;i&gt;3&amp;" in html and "<i>" not in html
    assert "... and 20 more" in html and "... and 20 more" in repr(report)
    assert len(repr(report).splitlines()) == 43
    assert json.loads(json.dumps(dict(report)))["variables"][0]["name"] == "<i>0&"


def test_no_warnings_without_remarks(sample: Path, tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        neve.convert(sample, tmp_path / "plt.h5")
