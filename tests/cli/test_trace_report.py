# SPDX-License-Identifier: BSD-3-Clause
"""`neve trace report`: what it shows of traces whose counts are known."""

import json
import os
import random
import re
import sys

import pytest

from . import made_trace
from .conftest import peak_bytes
from .made_trace import file, level, share
from .shown_report import Page, row_of, rows_of

KIB, MIB = 2**10, 2**20


def many_files(count):
    """Files whose order differs by bytes, calls and time; and what each moved."""
    chosen = random.Random(38)
    numbers = list(range(1, count + 1))
    sizes, calls, times = (chosen.sample(numbers, count) for _ in range(3))
    files, moved = [], {}
    for i in range(count):
        path = f"/run/file{i:03}"
        writes = [1000 * sizes[i]] + [1] * calls[i]
        files.append(file(path, posix=level("posix", writes, seconds=times[i])))
        # An open, and each write.
        moved[path] = {"calls": len(writes) + 1, "bytes": sum(writes), "time": times[i]}
    return files, moved


@pytest.mark.parametrize("sort", ["bytes", "time", "calls"])
def test_first_come_the_files_with_the_most(neve, tmp_path, sort):
    files, moved = many_files(60)
    path = made_trace.write(tmp_path / "t.json", made_trace.trace(files))
    wanted = sorted(moved, key=lambda name: -moved[name][sort])
    for options, shown in ((), 20), (("--top", 7), 7), (("--top", 0), 60):
        text = neve("trace", "report", path, "--sort", sort, *options).out
        rows = rows_of(text, "t: file")
        assert [row.split()[0] for row in rows[:shown]] == wanted[:shown]
        rest = [moved[name] for name in wanted[shown:]]
        if not rest:
            assert len(rows) == 60
            continue
        calls, size = (sum(one[what] for one in rest) for what in ("calls", "bytes"))
        told = f"{size / MIB:.1f} MiB" if size >= MIB else f"{size / KIB:.1f} KiB"
        assert rows[shown:] == [f"and {len(rest)} more files: {calls:,} calls, {told}"]
    found = neve("trace", "report", path, "--json", "--sort", sort, "--top", 7).json["traces"][0]
    assert list(found["files"]) == wanted[:7]
    assert found["more_files"]["files"] == 53
    everything = neve("trace", "report", path, "--json").json["traces"][0]
    assert set(everything["files"]) == set(wanted)


def test_ranks(neve, tmp_path):
    written = [7 * MIB, MIB, 3 * MIB, 5 * MIB]
    shares = [share(p, posix_write=(10 * (p + 1), size, 0.5)) for p, size in enumerate(written)]
    made = made_trace.trace([file("/run/f", shares, posix=level("posix", written))])
    path = made_trace.write(tmp_path / "t.json", made)
    text = neve("trace", "report", path, "--top", 2).out
    rows = rows_of(text, "t: rank")
    assert [row.split("  ")[0] for row in rows] == [
        "0",
        "3",
        "idlest: 1",
        "mean",
        "busiest / mean",
        "and 2 more ranks: 50 calls, 4.0 MiB",
    ]
    assert row_of(text, "mean")[2:4] == ["25", "4.0 MiB"]
    assert row_of(text, "busiest / mean")[2:4] == ["1.600", "1.750"]  # 40 / 25, 7 / 4
    assert row_of(text, "idlest: 1")[2:4] == ["20", "1.0 MiB"]
    by_calls = neve("trace", "report", path, "--sort", "calls").out
    assert [row.split()[0] for row in rows_of(by_calls, "t: rank")[:4]] == ["3", "2", "1", "0"]


def test_syncs_and_stdio(neve, tmp_path):
    files = [
        file("/run/a", posix=level("posix", [8], FSYNCS=3, FDSYNCS=4)),
        file("/run/log", [share(1, stdio_write=(2, 3000, 0.1))],
             stdio=level("stdio", [1000, 2000], [48])),
    ]  # fmt: skip
    path = made_trace.write(tmp_path / "t.json", made_trace.trace(files))
    text = neve("trace", "report", path).out
    assert [row_of(text, name) for name in ("syncs", "  fsync", "  fdatasync")] == [
        ["7"],
        ["3"],
        ["4"],
    ]
    cells = row_of(text, "/run/log")
    assert cells[5:9] == ["2", "2.9 KiB", "48 B", "1 s"]
    assert cells[9] == "0/0/1"
    stdio = rows_of(text, "writes of size")
    assert stdio[1].split() == ["100_1K", "0", "1"]  # nothing was written by MPI-IO
    assert stdio[2].split() == ["1K_10K", "0", "1"]


def test_what_no_file_has_is_told_by_level_and_direction(neve, tmp_path):
    overflow = {"posix": level("posix", [40_000, 4_100], [30, 30, 30], OPENS=12)}
    made = made_trace.trace([file("/run/f", posix=level("posix", [100]))], overflow=overflow)
    path = made_trace.write(tmp_path / "t.json", made)
    text = neve("trace", "report", path).out
    assert "t: POSIX: 2 writes (43.1 KiB), 3 reads (90 B), 12 opens are of files that no" in text
    assert row_of(text, "POSIX writes") == ["3"]
    found = neve("trace", "report", path, "--json").json["traces"][0]
    assert found["total"]["posix"]["counters"]["POSIX_BYTES_WRITTEN"] == 44_200
    only = neve("trace", "report", path, "--json", "--file", "f").json["traces"][0]
    assert only["total"]["posix"]["counters"]["POSIX_BYTES_WRITTEN"] == 100


def test_bytes_that_no_call_explains(neve, tmp_path):
    files = []
    for i in range(7):
        grown = file(f"/run/f{i}", [share(0, posix_write=(1, 50, 0.1))], posix=level("posix", [50]))
        size = {"at_open": 0, "opened": 1, "at_close": 50 + 1000 * i, "closed": 2}
        grown["size"] = size | {"explained_end": 50, "appended_bytes": 0}
        files.append(grown)
    path = made_trace.write(tmp_path / "t.json", made_trace.trace(files))
    found = neve("trace", "report", path, "--json").json["traces"][0]
    assert found["warnings"] == [
        "/run/f6: simulation wrote 5.9 KiB that no counted call explains",
        "/run/f5: simulation wrote 4.9 KiB that no counted call explains",
        "/run/f4: simulation wrote 3.9 KiB that no counted call explains",
        "/run/f3: simulation wrote 2.9 KiB that no counted call explains",
        "/run/f2: simulation wrote 2.0 KiB that no counted call explains",
        "and 1 more files with 1000 B that no counted call explains",
    ]
    told = {name: f.get("unexplained_bytes", 0) for name, f in found["files"].items()}
    assert told == {f"/run/f{i}": 1000 * i for i in range(7)}


HOSTILE = "/run/<script>alert(1)</script>&\x1b[31m\n$\\frac{$\u00e9\ufffd"


def test_names_of_programs_stay_text(neve, tmp_path):
    pytest.importorskip("matplotlib")
    named = {HOSTILE: level("posix", [5])}
    phases = {name: {"posix": counts} for name, counts in named.items()}
    phases["b"] = {"posix": level("posix", [6], begin=2)}
    made = made_trace.trace([file(HOSTILE, phases=phases)])
    made["command"] = ["<img src=x onerror=alert(1)>", "\x07"]
    path = made_trace.write(tmp_path / "t.json", made)
    page = tmp_path / "p.html"
    text = neve("trace", "report", path, "--html", page, "--label", "<b>$x").out
    assert "\x1b" not in text and "\x07" not in text
    assert "/run/<script>alert(1)</script>&\\x1b[31m\\x0a$" in text
    shown = page.read_text()
    assert "<script>alert" not in shown and "<img src=x" not in shown and "<b>$x" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;\\x1b[31m\\x0a$" in shown
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", shown)


def test_a_real_name_that_is_not_utf8(neve, tmp_path):
    name = os.fsencode(tmp_path) + b"/n\xff"
    out = tmp_path / "t.json"
    code = f"import os; os.write(os.open({name!r}, os.O_CREAT | os.O_WRONLY), b'12345')"
    neve("trace", "run", "-o", out, "--", sys.executable, "-c", code)
    found = neve("trace", "report", out, "--json").json["traces"][0]["files"]
    counts = found[f"{tmp_path}/n\ufffd"]["posix"]["counters"]
    assert counts["POSIX_BYTES_WRITTEN"] == 5


def acb_pair(tmp_path):
    """The same 4 MiB by 64 independent writes that reach POSIX twice, and by 4 aggregated ones."""
    many = file(
        "/run/plt.h5",
        [share(p, mpiio_write=(16, MIB, 0.2), posix_write=(32, 2 * MIB, 0.2)) for p in range(4)],
        mpiio=level("mpiio", [64 * KIB] * 64, begin=1),
        posix=level("posix", [64 * KIB] * 128, begin=1),
    )
    few = file(
        "/run/plt.h5",
        [share(p, mpiio_write=(1, MIB, 0.1)) for p in range(4)]
        + [share(0, mpiio_write=(1, MIB, 0.1), posix_write=(1, 4 * MIB, 0.1))],
        mpiio=level("mpiio", [MIB] * 4, begin=1),
        posix=level("posix", [4 * MIB], begin=1),
    )
    few["shares"].pop(0)
    heat = {"bin_seconds": 0.4, "posix": {"write": [0, 0, 2 * MIB]}}
    return [
        made_trace.write(
            tmp_path / "base.json", made_trace.trace([many], heatmaps={p: heat for p in range(4)})
        ),
        made_trace.write(tmp_path / "acb.json", made_trace.trace([few], heatmaps={0: heat})),
    ]


def test_page_of_two_runs_side_by_side(neve, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "page.html"
    neve("trace", "report", *acb_pair(tmp_path), "--html", path)
    page = Page(path)
    assert page.outside == []
    assert all(data.startswith(b"\x89PNG\r\n") for _, data in page.pictures)
    assert [words for words, _ in page.pictures] == [
        "how many writes of which size, at each level",
        "base: when its first files of the table below were opened, read, written and closed",
        "acb: when its first files of the table below were opened, read, written and closed",
        "bytes by rank and time at the POSIX level",
    ]
    runs = page.table("run")
    assert [row[-1] for row in runs] == ["write amplification", "2.000", "1.000"]
    totals = {row[0]: row[1:] for row in page.table("bytes written")}
    assert totals["writes"] == ["64", "128", "0", "4", "1", "0"]
    assert totals["bytes written"] == ["4.0 MiB", "8.0 MiB", "0 B", "4.0 MiB", "4.0 MiB", "0 B"]
    four, none = "4 of 4", "0 of 4"
    assert totals["processes that write"] == [four, four, none, four, "1 of 4", none]
    words = "".join(page.words)
    assert words.index("No warnings") < words.index("Totals") < words.index("Sizes of writes")


def test_page_tells_warnings_first_and_every_rank(neve, tmp_path):
    pytest.importorskip("matplotlib")
    made = made_trace.trace([file("/run/f", posix=level("posix", [5]))], processes=30)
    made["incomplete"]["writable_maps"] = 3
    made["files"][0]["shares"] = [share(p, posix_write=(1, p, 0.1)) for p in range(30)]
    path = tmp_path / "p.html"
    neve("trace", "report", made_trace.write(tmp_path / "t.json", made), "--html", path,
         "--top", 5)  # fmt: skip
    page = Page(path)
    words = "".join(page.words)
    assert words.index("t: 3 shared writable mappings") < words.index("Totals")
    ranks = [row[0] for row in page.table("rank")]
    assert ranks == ["rank", "29", "28", "27", "26", "25", "idlest of 30: 0", "mean of all",
                     "busiest / mean"]  # fmt: skip
    assert page.table("rank")[-1][4] == f"{29 / 14.5:.3f}"


def test_page_without_matplotlib(neve, tmp_path):
    blocked = tmp_path / "blocked"
    (blocked / "matplotlib").mkdir(parents=True)
    (blocked / "matplotlib" / "__init__.py").write_text("raise ImportError('not installed')")
    python = os.pathsep.join([str(blocked), os.environ.get("PYTHONPATH", "")])
    path = tmp_path / "p.html"
    told = neve("trace", "report", acb_pair(tmp_path)[0], "--html", path, expect=1,
                PYTHONPATH=python)  # fmt: skip
    assert "--html needs matplotlib: pip install 'neve[plot]'" in told.err
    assert not path.exists()


def test_a_cut_trace_is_refused(neve, tmp_path):
    whole = acb_pair(tmp_path)[0].read_bytes()
    for length in range(0, len(whole), len(whole) // 23):
        cut = tmp_path / "cut.json"
        cut.write_bytes(whole[:length])
        told = neve("trace", "report", cut, expect=4)
        assert "cut.json: not JSON" in told.err and told.out == ""


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("neve_trace",), 9, "a trace of version 9"),
        (("processes", 0, "rank"), 1e300, "rank is 1e+300; allowed: a whole number"),
        (("processes",), {}, "a share names process 0 of 0"),
        (("files", 0, "shares", 0, "process"), 99, "a share names process 99 of 4"),
        (("files", 0, "phases", 0, "posix", "counters", "POSIX_WRITES"), -(2**70), "whole number"),
        (("files", 0, "phases", 0, "posix", "counters"), [], "not a trace"),
        (("files", 0, "path"), 7, "type must be string"),
        (("processes", 0, "heatmap", "bin_seconds"), 1e-300, "bins of 1e-300 seconds"),
        (("processes", 0, "heatmap", "posix", "write"), [1] * 100_000, "has 100000 bins"),
        (("incomplete",), None, "not a trace"),
    ],
)
def test_a_damaged_trace_is_refused(neve, tmp_path, place, value, words):
    path = acb_pair(tmp_path)[0]
    made = json.loads(path.read_text())
    at = made
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    made_trace.write(path, made)
    told = neve("trace", "report", path, expect=4)
    assert "base.json: " in told.err and words in told.err


def test_thousands_of_files_and_ranks(neve, tmp_path):
    ranks, count = 500, 6000
    files = [
        file(
            f"/run/plt{i}",
            [share(i % ranks, posix_write=(3, 3000, 0.1))],
            posix=level("posix", [1000] * 3),
        )
        for i in range(count)
    ]
    heat = {"bin_seconds": 0.1, "posix": {"write": [1000] * 100}}
    made = made_trace.trace(files, ranks, heatmaps={p: heat for p in range(ranks)})
    path = made_trace.write(tmp_path / "t.json", made)
    text = neve("trace", "report", path).out
    assert len(text.splitlines()) < 120
    assert f"and {count - 20:,} more files: {4 * (count - 20):,} calls" in text
    # The JSON as a tree takes several times its size; the report itself must add little.
    assert peak_bytes("trace", "report", path, "--json") < 12 * path.stat().st_size + 64 * MIB


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--top", "-1"), "--top"),
        (("--top", "many"), "--top"),
        (("--sort", "size"), "--sort"),
        (("--html", ""), "--html"),
    ],
)
def test_options_are_refused_by_name(neve, tmp_path, options, words):
    path = made_trace.write(tmp_path / "t.json", made_trace.trace([]))
    assert words in neve("trace", "report", path, *options, expect=2).err
