# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of traces show what they are given, and say when they cannot."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib import image  # noqa: E402

from neve._trace_counts import BINS, MPIIO, POSIX, span  # noqa: E402
from neve._trace_pictures import COLOURS, bytes_over_time  # noqa: E402
from neve.trace import main  # noqa: E402


def a_report(*counts):
    """A trace for each pair of ten counts: MPI-IO, POSIX."""
    traces = []
    for i, (mpiio, posix) in enumerate(counts):
        total = {
            "mpiio": {f"MPIIO_SIZE_WRITE_AGG_{b}": n for b, n in zip(BINS, mpiio, strict=True)},
            "posix": {f"POSIX_SIZE_WRITE_{b}": n for b, n in zip(BINS, posix, strict=True)},
        }
        total = {level: {"counters": counters} for level, counters in total.items()}
        traces.append({"label": f"trace {i}", "total": total})
    return {"traces": traces}


def share_of_colour(picture, colour) -> float:
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return float((np.abs(picture[..., :3] - wanted).max(axis=-1) < 0.02).mean())


def test_bars_of_each_trace(tmp_path):
    many, few = [1000] * 10, [1] * 5 + [0] * 5
    report = tmp_path / "report.json"
    report.write_text(json.dumps(a_report((many, many), (few, few))))
    out = tmp_path / "sizes.png"
    assert main([str(report), "-o", str(out)]) == 0
    picture = image.imread(out)
    first, second = (share_of_colour(picture, COLOURS[i]) for i in (0, 1))
    assert first > 4 * second > 0


def test_a_trace_without_writes(tmp_path):
    report = tmp_path / "report.json"
    report.write_text(json.dumps(a_report(([0] * 10, [0] * 10))))
    assert main([str(report), "-o", str(tmp_path / "none.png")]) == 0


def test_bins_are_read_in_order():
    trace = a_report((range(10), range(10, 20)))["traces"][0]
    assert MPIIO.bins(trace["total"]) == list(range(10))
    assert POSIX.bins(trace["total"]) == list(range(10, 20))


def a_rank(number, start, width, bins):
    heatmap = {"bin_seconds": width, "posix": {"write": bins}}
    return {"rank": number, "start": start, "heatmap": heatmap}


def test_bytes_over_time_lie_where_the_run_has_them():
    """By rank, on one clock, whatever the widths of the bins; no byte is lost."""
    ranks = [
        a_rank(1, 0.0, 0.2, [0, 7, 0, 5]),
        a_rank(0, 0.4, 0.1, [1, 2, 3]),
        {"rank": None, "start": 0.0},
    ]
    table, width = bytes_over_time({"ranks": ranks}, POSIX, "write")
    assert width == 0.2
    # Rank 0 begins at 0.4 s: its bins end up in [0.4, 0.6) and [0.6, 0.8).
    assert table[0].tolist()[:4] == [0, 0, 3, 3]
    assert table[1].tolist()[:4] == [0, 7, 0, 5]
    assert not table[2].any() and table.sum() == 18
    assert bytes_over_time({"ranks": ranks}, POSIX, "read") is None
    assert bytes_over_time({"ranks": ranks}, MPIIO, "write") is None


def test_a_process_that_starts_years_later_takes_no_memory():
    ranks = [a_rank(0, 0.0, 0.1, [1]), a_rank(1, 1e12, 0.1, [1])]
    table, width = bytes_over_time({"ranks": ranks}, POSIX, "write")
    assert table.shape[1] <= 401 and table.sum() == 2
    assert width * table.shape[1] > 1e12


def test_spans_are_of_all_levels():
    def counts(prefix, begin, end):
        names = (f"{prefix}_F_WRITE_START_TIMESTAMP", f"{prefix}_F_WRITE_END_TIMESTAMP")
        return {"counters": dict(zip(names, (begin, end), strict=True))}

    both = {"mpiio": counts("MPIIO", 1, 3), "posix": counts("POSIX", 2, 5)}
    assert span(both, "WRITE") == (1, 5)
    assert span(both, "READ") is None


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (None, 1, "No such file"),
        ("{}", 4, "not what `neve trace report --json` prints"),
        ("no json", 4, "not what"),
        ('{"traces": []}', 2, "a report of no trace"),
    ],
)
def test_refusals(tmp_path, capsys, text, code, message):
    report = tmp_path / "report.json"
    if text is not None:
        report.write_text(text)
    assert main([str(report), "-o", str(tmp_path / "x.png")]) == code
    assert message in capsys.readouterr().err


def test_a_picture_that_cannot_be_written(tmp_path, capsys):
    report = tmp_path / "report.json"
    report.write_text(json.dumps(a_report(([1] * 10, [1] * 10))))
    assert main([str(report), "-o", str(tmp_path / "no" / "x.png")]) == 1
    assert "does not exist" in capsys.readouterr().err
