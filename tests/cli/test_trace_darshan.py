# SPDX-License-Identifier: BSD-3-Clause
"""`neve trace report` of Darshan's logs: those that its Python package carries, and one made up."""

import json
import os
import pathlib
import struct
import sys

import pytest

from . import made_trace
from .conftest import run
from .made_trace import BINS, file, level
from .shown_report import Page, row_of, rows_of

MODULES = {"posix": "POSIX", "mpiio": "MPI-IO", "stdio": "STDIO"}
PREFIXES = {"posix": "POSIX", "mpiio": "MPIIO", "stdio": "STDIO"}
SUMMED = {
    "posix": "OPENS READS WRITES SEEKS FSYNCS FDSYNCS BYTES_READ BYTES_WRITTEN SEQ_WRITES".split(),
    "mpiio": "INDEP_OPENS COLL_OPENS INDEP_WRITES COLL_WRITES BYTES_READ BYTES_WRITTEN".split(),
    "stdio": "OPENS READS WRITES SEEKS FLUSHES BYTES_READ BYTES_WRITTEN".split(),
}
LOGS = {
    "ior_hdf5_example.darshan": {"posix", "mpiio", "stdio"},
    "shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158.darshan": {"posix", "mpiio"},
    "dxt.darshan": {"posix", "stdio"},
    "example.darshan": {"posix", "mpiio", "stdio"},
}


@pytest.fixture(scope="module")
def logs():
    darshan = pytest.importorskip("darshan", reason="reading logs takes the package darshan")
    return pathlib.Path(darshan.__file__).parent / "examples" / "example_logs"


def sums_of(path, levels):
    """The log's counters as its own package has them, added up over records, by level."""
    import darshan

    sums = {}
    with darshan.DarshanReport(str(path), read_all=False) as log:
        for one in levels:
            log.mod_read_all_records(MODULES[one], dtype="pandas")
            table = log.records[MODULES[one]][0]["counters"]
            sums[one] = table.sum(numeric_only=True)
    return sums


@pytest.mark.parametrize("name", LOGS)
def test_counters_are_those_of_the_log(neve, logs, name):
    found = neve("trace", "report", logs / name, "--json").json["traces"][0]
    assert found["kind"] == "darshan"
    sums = sums_of(logs / name, LOGS[name])
    for one, prefix in PREFIXES.items():
        told = found["total"][one]["counters"]
        for counter in (f"{prefix}_{c}" for c in SUMMED[one]):
            assert told[counter] == (sums[one][counter] if one in sums else None), counter
        middle = "AGG_" if one == "mpiio" else ""
        for size in (f"{prefix}_SIZE_WRITE_{middle}{b}" for b in BINS):
            is_there = one in sums and one != "stdio"
            assert told[size] == (sums[one][size] if is_there else None), size
        assert found["total"][one]["write_sizes"] is None
    by_file = sum(f["posix"]["counters"]["POSIX_WRITES"] for f in found["files"].values())
    assert by_file == sums["posix"]["POSIX_WRITES"]


def test_what_a_log_has_not_is_no_zero(neve, logs):
    text = neve("trace", "report", logs / "dxt.darshan", "--label", "log").out
    histogram = [row.split()[1:] for row in rows_of(text, "writes of size")]
    assert [row[0] for row in histogram] == [row[2] for row in histogram] == ["-"] * len(BINS)
    assert [row[1] for row in histogram][:3] == ["160", "12", "1325"]
    cells = rows_of(text, "log: file")[0].split("  ")
    assert [cell.strip() for cell in cells if cell.strip()][1:3] == ["-", "-"]
    assert "log: the log has no module MPI-IO: nothing is known of that level" in text


def test_a_log_beside_a_trace(neve, logs, tmp_path):
    pytest.importorskip("matplotlib")
    made = made_trace.trace([file("/run/f", mpiio=level("mpiio", [500] * 3))])
    trace = made_trace.write(tmp_path / "t.json", made)
    page = tmp_path / "p.html"
    name = "shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158.darshan"
    labels = ("--label", "neve", "--label", "log")
    text = neve("trace", "report", trace, logs / name, *labels, "--html", page).out
    sums = sums_of(logs / name, ["mpiio", "posix"])
    assert row_of(text, "MPI-IO writes")[1] == "7759"
    assert row_of(text, "write amplification")[0] == "0.000"
    told = float(row_of(text, "write amplification")[1])
    written = sums["posix"]["POSIX_BYTES_WRITTEN"] - 142.2 * 1024 - 12.2 * 1024  # of two text files
    assert told == pytest.approx(written / sums["mpiio"]["MPIIO_BYTES_WRITTEN"], rel=1e-3)
    totals = {row[0]: row[1:] for row in Page(page).table("bytes written")}
    assert totals["writes"] == ["3", "0", "0", "7,759", "7,816", "-"]
    assert totals["processes that write"][3:] == ["-", "-", "-"]


def test_damaged_logs(neve, logs, tmp_path):
    whole = (logs / "ior_hdf5_example.darshan").read_bytes()
    path = tmp_path / "x.darshan"
    for damaged, words in (
        (b"", "not a log of Darshan"),
        (b"{}", "not a log of Darshan"),
        (b"no log at all, but long enough to have a header", "not a log of Darshan"),
        (b"2.06\0\0\0\0" + whole[8:], "a log of Darshan's version 2.06; 3.x can be read"),
        (whole[:300], "damaged"),
        (whole[: len(whole) // 2], "damaged"),
        (whole[:1000] + bytes(200) + whole[1200:], "damaged"),
    ):
        path.write_bytes(damaged)
        told = neve("trace", "report", path, expect=4)
        assert told.out == "" and words in told.err and "x.darshan" in told.err


def test_a_log_is_known_by_its_bytes(neve, logs, tmp_path):
    path = tmp_path / "job.log"
    path.write_bytes((logs / "example.darshan").read_bytes())
    assert neve("trace", "report", path, "--json").json["traces"][0]["kind"] == "darshan"


def python_path(folder):
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])


def a_header(path):
    path.write_bytes(b"3.41\0\0\0\0" + struct.pack("<q", 6567223) + bytes(100))
    return path


def test_without_the_package(neve, tmp_path):
    (tmp_path / "darshan.py").write_text("raise ImportError('not installed')")
    told = neve("trace", "report", a_header(tmp_path / "a.darshan"), expect=1,
                PYTHONPATH=python_path(tmp_path))  # fmt: skip
    assert "a.darshan: to read a log of Darshan takes the package darshan" in told.err
    assert "pip install 'neve[darshan]'" in told.err
    assert "no such file" in neve("trace", "report", tmp_path / "b.darshan", expect=1).err.lower()


# Darshan's package, as far as it is called, with a log of two ranks that has heatmaps.
STAND_IN = """
import numpy as np, pandas as pd
class Heatmap:
    _bin_width_seconds, _nbins = 0.2, 3
    def to_df(self, ops, interval_index):
        return pd.DataFrame.from_dict({0: [1, 2, 0], 1: [0, 0, 40]} if ops == ["write"] else {},
                                      orient="index", columns=range(3))
class Records:
    def to_numpy(self):
        return [{"id": 7, "rank": rank, "counters": np.array([10 * (rank + 1), rank + 1, -1]),
                 "fcounters": np.array([0.5 + rank])} for rank in (0, 1)]
class DarshanReport:
    def __init__(self, path, read_all):
        self.modules = {"POSIX": {"partial_flag": True}, "HEATMAP": {}}
        self.metadata = {"job": {"nprocs": 2, "start_time_sec": 100, "run_time": 5.0}, "exe": "run"}
        self.counters = {"POSIX": {"counters": ["POSIX_BYTES_WRITTEN", "POSIX_WRITES",
                                                "POSIX_FSYNCS"],
                                   "fcounters": ["POSIX_F_WRITE_TIME"]}}
        self.records, self.name_records = {}, {7: "/run/f"}
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def mod_read_all_records(self, module, dtype): self.records[module] = Records()
    def read_all_heatmap_records(self): self.heatmaps = {"POSIX": Heatmap()}
"""


def test_heatmap_ranks_and_partial_modules_of_a_log(neve, tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "darshan.py").write_text(STAND_IN)
    path = a_header(tmp_path / "a.darshan")
    changes = {"PYTHONPATH": python_path(tmp_path)}
    found = neve("trace", "report", path, "--json", **changes).json["traces"][0]
    ranks = {rank["rank"]: rank for rank in found["ranks"]}
    assert ranks[0]["heatmap"] == {"bin_seconds": 0.2, "posix": {"write": [1, 2]}}
    assert ranks[1]["heatmap"] == {"bin_seconds": 0.2, "posix": {"write": [0, 0, 40]}}
    assert ranks[1]["posix_write"] == {"calls": 2, "bytes": 20, "seconds": 1.5}
    assert found["total"]["posix"]["counters"]["POSIX_BYTES_WRITTEN"] == 30
    assert found["writers"]["posix"] == [0, 1]
    assert (
        "Darshan ran out of memory for its module POSIX: what it counts there is incomplete"
        in (found["warnings"])
    )


def test_the_page_has_what_each_rank_of_a_log_moved(neve, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    shared = STAND_IN.replace('"rank": rank,', '"rank": -1,')
    assert shared != STAND_IN
    (tmp_path / "darshan.py").write_text(shared)
    path, page = a_header(tmp_path / "a.darshan"), tmp_path / "p.html"
    neve("trace", "report", path, "--html", page, PYTHONPATH=python_path(tmp_path))
    rows = {row[0]: row[1:] for row in Page(page).table("mean of all")}
    assert [name for name in rows if name.isdecimal()] == ["1", "0"]  # the busiest first
    assert (rows["1"][2], rows["0"][2], rows["mean of all"][2]) == ("40 B", "3 B", "22 B")
    assert rows["busiest / mean"][2] == "1.860"


def test_a_reader_that_dies(neve, tmp_path):
    (tmp_path / "darshan.py").write_text("import os; os.kill(os.getpid(), 11)")
    told = neve("trace", "report", a_header(tmp_path / "a.darshan"), expect=4,
                PYTHONPATH=python_path(tmp_path))  # fmt: skip
    assert "a.darshan: damaged: Darshan's library was ended by signal 11" in told.err


def test_the_reader_alone(tmp_path):
    """The module that the command starts: JSON on stdout, or why there is none."""
    done = run([sys.executable, "-m", "neve._darshan_log", tmp_path / "none"])
    assert done.code == 1 and done.out.endswith("none: No such file or directory\n")
    path = a_header(tmp_path / "a.darshan")
    (tmp_path / "darshan.py").write_text(STAND_IN)
    pytest.importorskip("pandas")
    told = run([sys.executable, "-m", "neve._darshan_log", path], PYTHONPATH=python_path(tmp_path))
    assert json.loads(told.out)["neve_trace"] == 1
