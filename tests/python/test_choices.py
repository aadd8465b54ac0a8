# SPDX-License-Identifier: BSD-3-Clause
"""Logs of a series' choices: written, read, in parts, drawn."""

import json
import math
import os
import subprocess
import sys
import tracemalloc

import h5py
import numpy as np
import pytest

import neve
from neve import Error, _choice_log, _choice_text, choices
from neve._choice_runs import by_variable, runs_of

RULES = {
    "candidates": "all",
    "delta": 0.05,
    "speeds": "typical",
    "speed_weight": 1.0,
    "ratio_weight": 0.5,
}


def choice(variable="/t", step=0, method="zstd", reason="kept", **more):
    values = {
        "level": 0,
        "performance": 2.0,
        "estimate": 0.0,
        "rival": "",
        "rival_estimate": 0.0,
        "raw_bytes": 1000,
        "coded_bytes": 500,
        **more,
    }
    return neve.Choice(variable=variable, step=step, method=method, reason=reason, **values)


def series(variables, steps):
    """Each variable changes its method every third step."""
    methods = ("zstd", "rank", "lorenzo", "B-LZO")
    return [
        choice(
            f"/group/variable number {v:02d} $x_1$",
            step,
            methods[(v + step // 3) % 4],
            "first" if step == 0 else ("drift", "rival", "due")[v % 3] if step % 3 == 0 else "kept",
            performance=1 + (v + step) % 5,
        )
        for v in range(variables)
        for step in range(steps)
    ]


def write(path, rows, rules=RULES, **more):
    with h5py.File(path, "a") as file:
        _choice_log.write(file, rows, rules, **more)
    return path


def test_what_is_written_is_read(tmp_path):
    rows = [
        choice("/ocean/température", 0, "zstd", "first", estimate=2.1, rival="lz4"),
        choice("/ocean/température", 1, choosing_seconds=0.5, coding_seconds=1.5),
        choice("/b", 0, "interpolation", "due", level=2, raw_bytes=2**40, coded_bytes=0),
    ]
    log = neve.read_choices(write(tmp_path / "a.h5", rows, times=True))
    assert log.rules == RULES and [repr(c) for c in log.choices] == [repr(c) for c in rows]
    assert math.isnan(log.choices[2].ratio) and log.choices[0].ratio == 2
    assert log.choices[0].is_new and not log.choices[1].is_new
    assert len(log) == 3
    assert repr(log) == (
        "<neve.ChoiceLog(candidates='all', delta=0.05, speeds='typical', speed_weight=1.0, "
        "ratio_weight=0.5): 3 steps of 2 variables, 2 choices>"
    )
    again = neve.read_choices(write(tmp_path / "a.h5", rows[:1]))
    assert len(again.choices) == 1 and math.isnan(again.choices[0].coding_seconds)


@pytest.mark.parametrize("rows", [0, 3])
def test_netcdf_finds_one_dimension_and_invents_none(tmp_path, rows):
    pytest.importorskip("netCDF4")
    path = write(tmp_path / "a.nc", series(1, rows))
    code = (
        "import json, netCDF4, sys\n"
        "with netCDF4.Dataset(sys.argv[1]) as file:\n"
        "    log = file['neve_choices']\n"
        "    print(json.dumps([list(log.dimensions), log['step'][:].tolist()]))\n"
    )
    words = [sys.executable, "-c", code, str(path)]
    told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    assert told == [["choice"], list(range(rows))]


def test_a_log_of_nothing_is_read(tmp_path):
    log = neve.read_choices(write(tmp_path / "a.h5", []))
    assert log.choices == () and len(log) == 0
    with pytest.raises(Error, match="nothing to draw"):
        choices.save(log, tmp_path / "a.png", "a.h5")


def test_files_of_a_folder_are_one_log(tmp_path):
    rows = series(2, 6)
    for step in range(6):
        write(tmp_path / f"{9 - step}.h5", [row for row in rows if row.step == step])
    h5py.File(tmp_path / "other.h5", "w").close()
    (tmp_path / "text").write_text("x")
    log = neve.read_choices(tmp_path)
    key = [(c.variable, c.step) for c in log.choices]
    assert len(key) == 12 and sorted(key) == sorted((c.variable, c.step) for c in rows)
    for of_variable in by_variable(log.choices).values():
        assert [c.step for c in of_variable] == list(range(6))
    write(tmp_path / "z.h5", [choice("/t")], {**RULES, "delta": 0.1})
    with pytest.raises(Error, match="their rules differ"):
        neve.read_choices(tmp_path)


def test_wrong_arguments(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        with pytest.raises(Error, match="rules of choices lack speeds, speed_weight"):
            _choice_log.write(file, [], {"candidates": "all", "delta": 0, "ratio_weight": 1})
        with pytest.raises(Error, match="reason 'whim' in row 0; allowed are kept, first"):
            _choice_log.write(file, [choice(reason="whim")], RULES)
        file["neve_choices"] = 3
        with pytest.raises(Error, match="no log of choices"):
            _choice_log.write(file, [], RULES)
    with pytest.raises(TypeError, match="pth"):
        neve.read_choices(pth="x")


def damage(path, change, code=4):
    with h5py.File(path, "r+") as file:
        change(file["neve_choices"])
    with pytest.raises(Error) as refused:
        neve.read_choices(path)
    assert refused.value.code == code, refused.value
    return str(refused.value)


def fresh(tmp_path):
    return write(tmp_path / f"{len(list(tmp_path.iterdir()))}.h5", series(1, 2))


def replaced(name, values, **more):
    """A change: the column has other values, or is made otherwise."""

    def change(group):
        del group[name]
        group.create_dataset(name, data=values, **more)

    return change


def test_damaged_logs_are_refused_by_name(tmp_path):
    def told(change, code=4):
        return damage(fresh(tmp_path), change, code)

    assert "lacks step" in told(lambda g: g.__delitem__("step"))
    assert "lacks delta" in told(lambda g: g.attrs.__delitem__("delta"))
    assert "not equally long" in told(replaced("step", np.arange(3)))
    assert "not equally long" in told(replaced("step", 3))
    assert "not equally long" in told(replaced("step", h5py.Empty("i4")))
    assert "method of its log" in told(replaced("method", [1.0, 2.0]))
    assert "reason 'x'" in told(replaced("reason", ["x", "x"]))
    later = told(lambda g: g.attrs.__setitem__("version", 2), code=2)
    assert "version 2" in later and "allowed is 1" in later


@pytest.mark.parametrize(
    "version", [[1, 1], math.nan, 1.0, "1", "x", 0, -1, True, h5py.Empty("i4"), b"\xff"], ids=repr
)
def test_a_version_is_one_whole_number(tmp_path, version):
    told = damage(fresh(tmp_path), lambda group: group.attrs.__setitem__("version", version))
    assert "version of its log of choices" in told and "allowed is 1" in told


@pytest.mark.parametrize(
    ("column", "values", "part"),
    [
        ("step", [0.0, 1.0], "float64; needed: int"),
        ("step", [0, -1], "step -1 in row 1; allowed are whole numbers from 0"),
        ("step", [1, 1], "row 1 has step 1 of "),
        ("level", [0, 2**31], "level 2147483648 in row 1"),
        ("level", [0, -1], "level -1 in row 1"),
        ("raw_bytes", [-5, 1], "raw_bytes -5 in row 0"),
        ("coded_bytes", [1.5, 1], "needed: int"),
        ("performance", [1, 2], "needed: float"),
        ("performance", [1, math.nan], "performance nan in row 1; allowed is a finite"),
        ("performance", [-1.0, 1], "performance -1.0 in row 0"),
        ("estimate", [1, math.inf], "estimate inf in row 1"),
        ("rival_estimate", [1, -math.inf], "rival_estimate -inf in row 1"),
        ("coding_seconds", [-1.0, 1], "coding_seconds -1.0 in row 0"),
        ("choosing_seconds", [math.nan, math.inf], "choosing_seconds inf in row 1"),
    ],
)
def test_columns_hold_what_they_can(tmp_path, column, values, part):
    assert part in damage(fresh(tmp_path), replaced(column, values))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("delta", wrong) for wrong in (-0.1, math.nan, math.inf, [0.1, 0.2], "0.1", True)),
        *(("speeds", wrong) for wrong in ("fast", "", 1, ["typical", "measured"])),
        *(("speed_weight", wrong) for wrong in (-1, math.nan, "x")),
        *(("ratio_weight", wrong) for wrong in (-1.0, math.inf, h5py.Empty("f8"))),
        *(("candidates", wrong) for wrong in (3, "", ["all", "acomps"])),
    ],
)
def test_rules_are_of_their_kinds(tmp_path, name, value):
    def change(group):
        group.attrs[name] = value

    assert f"{name} is " in damage(fresh(tmp_path), change)


def test_a_log_is_not_read_from_other_files(tmp_path):
    other = write(tmp_path / "other", series(1, 2))
    (tmp_path / "secret").write_bytes(bytes(16))

    def virtual(group):
        layout = h5py.VirtualLayout((2,), "u8")
        layout[:] = h5py.VirtualSource(str(other), "neve_choices/step", (2,))
        del group["step"]
        group.create_virtual_dataset("step", layout)

    def link(made):
        def change(group):
            del group["step"]
            group["step"] = made

        return change

    outside = [(str(tmp_path / "secret"), 0, 16)]
    external = replaced("step", None, shape=(2,), dtype="u8", external=outside)
    assert "step of its log of choices has its values in another" in damage(
        fresh(tmp_path), external
    )
    assert "virtual dataset" in damage(fresh(tmp_path), virtual)
    for to in (h5py.ExternalLink(str(other), "/neve_choices/step"), h5py.SoftLink("/x")):
        assert "step of its log of choices is a link" in damage(fresh(tmp_path), link(to))


@pytest.mark.parametrize("rows", [10**6, 10**9, 10**15])
def test_rows_are_bounded_by_what_is_stored(tmp_path, rows):
    def change(group):
        for name in list(group):
            kind = group[name].dtype
            del group[name]
            group.create_dataset(name, (rows,), kind, chunks=(1000,), compression="gzip")

    told = damage(fresh(tmp_path), change)
    assert f"has {rows} rows" in told and "up to 0 are allowed" in told


def test_compressed_columns_are_read(tmp_path):
    path = write(tmp_path / "a.h5", series(2, 1200))
    before = repr(neve.read_choices(path))
    with h5py.File(path, "r+") as file:
        group = file["neve_choices"]
        for name in list(group):
            values, kind = group[name][...], group[name].dtype
            del group[name]
            group.create_dataset(name, data=values, dtype=kind, chunks=True, compression="gzip")
    is_same = repr(neve.read_choices(path)) == before
    assert is_same


def test_a_write_that_fails_leaves_the_former_log(tmp_path, monkeypatch):
    path = write(tmp_path / "a.h5", series(1, 2))
    before = repr(neve.read_choices(path))
    wrong = [
        choice("a\0b"),
        choice(performance=math.nan),
        choice(step=-1),
        choice(level=2**31),
        choice(reason="whim"),
    ]
    for row in wrong:
        with pytest.raises(Error) as refused:
            write(path, [row])
        assert refused.value.code == 2 and repr(neve.read_choices(path)) == before
    with pytest.raises(Error, match="delta is -1"):
        write(path, [], {**RULES, "delta": -1})
    monkeypatch.setitem(_choice_log._TYPES, "coded_bytes", "no type")
    with pytest.raises(TypeError):
        write(path, series(1, 3))
    assert repr(neve.read_choices(path)) == before
    with h5py.File(path, "r") as file:
        assert list(file) == ["neve_choices"]


def test_control_characters_are_not_printed(tmp_path, capsys):
    path = write(tmp_path / "a.h5", [choice("/a\x1b[31m", 0, "zs\x07td", "first")])
    assert choices.main([str(path)]) == 0
    out = capsys.readouterr().out
    assert "/a\\x1b[31m" in out and "zs\\x07td" in out and out.replace("\n", "").isprintable()
    write(path, [choice("/t", 0, "zstd", "first")])
    damage(path, replaced("reason", ["\x1b[2J"]))
    assert choices.main([str(path)]) == 4
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
def test_pictures_show_what_fonts_have_no_picture_of(tmp_path):
    pytest.importorskip("matplotlib")
    from neve._choice_pictures import picture

    path = write(tmp_path / "a.h5", [choice("/a\x1b[3\u202e", 0, "zs\x07td\u2066", "first")])
    assert choices.main([str(path), "-o", str(tmp_path / "a.png")]) == 0
    assert choices.main([str(path), "-o", str(tmp_path / "a.html")]) == 0
    figure = picture(neve.read_choices(path))
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["/a\\x1b[3\\u202e"]
    assert figure.legends[0].get_texts()[0].get_text() == "zs\\x07td\\u2066"


def test_steps_with_nothing_to_choose_are_told_apart_from_kept_ones(tmp_path, capsys):
    log = neve.Series()
    for values in (np.arange(5000.0), np.full(50, 2.5), np.arange(5000.0)):
        log.step("t", values)
    log.write_choices(tmp_path / "a.h5")
    assert choices.main([str(tmp_path / "a.h5"), "--steps"]) == 0
    why = [line.split("  ")[-1] for line in capsys.readouterr().out.splitlines()[-3:]]
    assert why == ["first choice", "one value, or none: nothing to choose", "kept"]


def test_runs_have_all_steps_once():
    rows = series(3, 10)
    for of_variable in by_variable(rows).values():
        for of_methods in (False, True):
            runs = list(runs_of(of_variable, of_methods))
            assert [c for run in runs for c in run] == of_variable
            assert all(len({c.method for c in run}) == 1 for run in runs)
        assert all(not c.is_new for run in runs_of(of_variable) for c in run[1:])
        assert len(list(runs_of(of_variable))) == 4
    gap = [choice(step=0, reason="first"), choice(step=2)]
    assert [len(run) for run in runs_of(gap, of_methods=True)] == [1, 1]
    levels = [choice(level=0), choice(level=1)]
    assert list(by_variable(levels)) == ["/t, level 0", "/t, level 1"]


@pytest.mark.parametrize("variables, steps", [(30, 40), (1, 1), (70, 3)])
def test_labels_of_a_picture_do_not_overlap(variables, steps):
    plt = pytest.importorskip("matplotlib.pyplot")
    from neve._choice_pictures import picture

    figure = picture(neve.ChoiceLog(RULES, tuple(series(variables, steps))))
    renderer = figure.canvas.get_renderer()
    figure.draw(renderer)
    axes = figure.axes[0]
    shown = min(variables, 60)
    assert len(axes.get_yticklabels()) == shown
    if variables > shown:
        assert f"{variables - shown} more variables" in axes.get_xlabel()
    texts = [*axes.get_yticklabels(), axes.xaxis.label, axes.title, *figure.legends[0].get_texts()]
    texts += [label for child in axes.child_axes for label in child.get_yticklabels()]
    boxes = [t.get_window_extent(renderer) for t in texts if t.get_text()]
    boxes += [t.get_window_extent(renderer) for t in axes.get_xticklabels() if t.get_text()]
    assert len(boxes) > 2 * shown
    for i, one in enumerate(boxes):
        assert figure.bbox.x0 <= one.x0 and one.x1 <= figure.bbox.x1
        for other in boxes[:i]:
            assert not one.overlaps(other)
    plt.close(figure)


def test_a_page_escapes_names_and_has_every_step(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [choice("/<b>&", step, reason="kept" if step else "first") for step in range(12)]
    choices.save(neve.ChoiceLog(RULES, tuple(rows)), tmp_path / "p.html", "a<b>.nc")
    page = (tmp_path / "p.html").read_text()
    assert "<b>" not in page.replace("<p><b>", "") and "/&lt;b&gt;&amp;" in page
    assert page.count("/&lt;b&gt;&amp;") >= 12 + 2


TEXT_RULES = "candidates=all;delta=0.05;speeds=typical;speed_weight=1;ratio_weight=0"
TEXT_COLUMNS = ",".join(_choice_log._COLUMNS)
TEXT_ROW = "t,0,0,zstd,first,2.5,2.5,lz4,1e-07,1000,500,nan,0.25"


def text_log(tmp_path, *rows, rules=TEXT_RULES, columns=TEXT_COLUMNS, end="\n"):
    path = tmp_path / "log.csv"
    path.write_text("\n".join([f"# neve choices 1: {rules}", columns, *rows]) + end)
    return path


def with_value(name, value):
    values = TEXT_ROW.split(",")
    values[_choice_log._COLUMNS.index(name)] = value
    return ",".join(values)


def test_a_log_of_text_is_read(tmp_path):
    named = with_value("variable", '"a, ""b""\n\rc"')
    log = neve.read_choices(text_log(tmp_path, TEXT_ROW, named))
    first, second = log.choices
    assert (first.rival_estimate, first.coding_seconds, first.raw_bytes) == (1e-07, 0.25, 1000)
    assert math.isnan(first.choosing_seconds) and second.variable == 'a, "b"\n\rc'
    assert log.rules["speed_weight"] == 1 and log.rules["candidates"] == "all"


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ([TEXT_ROW, "a,b"], "row 1 has 2 values; needed: 13"),
        ([TEXT_ROW + ",7"], "row 0 has 14 values; needed: 13"),
        ([with_value("step", "1_0")], "step of row 0 is '1_0'; allowed is a whole number"),
        ([with_value("step", "9" * 5000)], "allowed is a whole number"),
        ([with_value("step", "\u0663")], "allowed is a whole number"),
        ([with_value("raw_bytes", "1.5")], "raw_bytes of row 0 is '1.5'"),
        ([with_value("performance", "1_0.5")], "performance of row 0 is '1_0.5'; allowed is a num"),
        ([with_value("estimate", " 1")], "estimate of row 0 is ' 1'"),
        ([with_value("performance", "")], "performance of row 0 is ''"),
        ([TEXT_ROW, '"a'], "row 1 cannot be read; allowed are values with commas between"),
        ([TEXT_ROW, "a\rb"], "row 1 cannot be read; allowed are values with commas between"),
        (["x" * 70_000], "row 0 has more than 65536 characters"),
        (['"' + "a\n" * 50_000 + '"'], "row 0 has more than 65536 characters"),
        ([*['"a\nb",'] * 20_000], "row 0"),
    ],
)
def test_a_damaged_text_is_told_by_row(tmp_path, lines, part):
    with pytest.raises(Error, match="log.csv: ") as refused:
        neve.read_choices(text_log(tmp_path, *lines))
    assert refused.value.code == 4 and part in str(refused.value)


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ({"rules": "delta"}, "its rules have 'delta'; allowed is NAME=VALUE of each once"),
        ({"rules": "delta=1;delta=2"}, "its rules have 'delta=2'"),
        ({"rules": TEXT_RULES.replace("0.05", "1_0")}, "'delta' of its rules is '1_0'"),
        ({"rules": "x" * 70_000}, "its head has more than 65536 characters"),
        ({"columns": "variable,step"}, "has other columns than variable, level, step"),
        ({"columns": ""}, "has other columns than variable, level, step"),
        ({"end": ""}, "row 0 is cut off: its line has no end"),
    ],
)
def test_the_head_and_end_of_a_text_are_told(tmp_path, more, part):
    with pytest.raises(Error, match="log.csv: ") as refused:
        neve.read_choices(text_log(tmp_path, TEXT_ROW, **more))
    assert refused.value.code == 4 and part in str(refused.value)


def test_no_more_of_a_text_is_held_than_a_log_can_have(tmp_path, monkeypatch):
    path = tmp_path / "sparse.csv"
    for size, part in [(3 * 2**30, "has 3221225472 bytes; allowed"), (2**29, "its head has more")]:
        path.write_text("# neve choices 1: ")
        os.truncate(path, size)
        with pytest.raises(Error, match=part) as refused:
            neve.read_choices(path)
        assert refused.value.code == 4
    monkeypatch.setattr(_choice_text, "MOST_ROWS", 2)
    assert len(neve.read_choices(text_log(tmp_path, TEXT_ROW, with_value("step", "1")))) == 2
    with pytest.raises(Error, match="has more rows than 2"):
        neve.read_choices(text_log(tmp_path, *[TEXT_ROW] * 3))


def test_a_long_text_takes_little_memory(tmp_path):
    numbers = np.random.default_rng(1).random((30_000, 3)).tolist()
    rows = [
        f"variable_{i % 50},0,{i // 50},zstd-bitshuffle,kept,{a},0,,0,4194304,{2**20 + i},{b},{c}"
        for i, (a, b, c) in enumerate(numbers)
    ]
    path = text_log(tmp_path, *rows)
    tracemalloc.start()
    log = neve.read_choices(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(log) == len(rows) and peak < 3.3 * path.stat().st_size
    assert [c.step for c in log.choices[:600]] == [*range(600)]
    assert {c.variable for c in log.choices[:600]} == {"variable_0"}


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Error, match="pipe is not a regular file") as refused:
        neve.read_choices(tmp_path / "pipe")
    assert refused.value.code == 1
    with pytest.raises(Error, match="no file in it has a log"):
        neve.read_choices(tmp_path)
