# SPDX-License-Identifier: BSD-3-Clause
"""The picture of write sizes shows the traces it is given, and says when it cannot."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib import image  # noqa: E402

from neve.trace import BINS, COLOURS, bin_counts, main  # noqa: E402


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
    assert bin_counts(trace, "mpiio", "MPIIO_SIZE_WRITE_AGG_") == list(range(10))
    assert bin_counts(trace, "posix", "POSIX_SIZE_WRITE_") == list(range(10, 20))


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
