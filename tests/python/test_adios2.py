# SPDX-License-Identifier: BSD-3-Clause
"""Neve as an operator of ADIOS2, loaded by ADIOS2's own Python package."""

import dataclasses
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import neve

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEVE_BUILD_DIR", ROOT / "build"))
PLUGIN = BUILD / "lib" / "adios2" / "libadios2neve.so"

adios2 = pytest.importorskip("adios2", reason="ADIOS2 is missing: pip install adios2")
pytestmark = pytest.mark.skipif(
    not PLUGIN.exists(),
    reason=f"{PLUGIN} is missing: ADIOS2 was not there when CMake ran",
)


@pytest.fixture
def write_and_read(tmp_path, monkeypatch):
    """Writes an array through the operator; returns what is read back and the bytes on disk."""
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(PLUGIN.parent))

    def run(array, **parameters):
        path = tmp_path / "out.bp"
        context = adios2.Adios()
        operator = context.define_operator(
            "neve", "Plugin", {"PluginName": "neve", "PluginLibrary": "adios2neve", **parameters}
        )
        io = context.declare_io("writer")
        variable = io.define_variable(
            "field", array, array.shape, [0] * array.ndim, array.shape, True
        )
        variable.add_operation(operator, {})
        engine = io.open(str(path), adios2.bindings.Mode.Write)
        engine.begin_step()
        engine.put(variable, array)
        engine.end_step()
        engine.close()
        stored = sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
        with adios2.FileReader(str(path)) as reader:
            return reader.read("field"), stored

    return run


def waves(dtype, shape=(24, 40, 48)):
    z, y, x = np.meshgrid(*(np.linspace(0, 3, n) for n in shape), indexing="ij")
    return (np.sin(x + y) * np.cos(2 * z) + 0.1 * x * y).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_come_back_within_the_bound_and_smaller(write_and_read, dtype):
    field = waves(dtype)
    read, stored = write_and_read(field, bound="abs=1e-3")
    assert read.dtype == dtype
    assert np.abs(read - field).max() <= 1e-3
    assert stored < field.nbytes / 8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lossless_keeps_every_bit(write_and_read, dtype):
    field = waves(dtype)
    field[3, 4, 5:8] = np.nan, np.inf, -0.0
    read, stored = write_and_read(field, bound="lossless", method="shuffle-zstd", threads="2")
    assert read.tobytes() == field.tobytes()
    assert stored < field.nbytes


def test_noise_fits_the_room_that_was_promised(write_and_read):
    noise = np.frombuffer(np.random.default_rng(1).bytes(1 << 18), dtype=np.float32).copy()
    read, _ = write_and_read(noise, bound="lossless")
    assert read.tobytes() == noise.tobytes()


@pytest.mark.parametrize(
    "parameters, part",
    [
        ({"accuracy": "1e-3"}, 'unknown option "accuracy"; allowed are bound'),
        ({"bound": "tight"}, "bound"),
        ({"codec": "zip"}, "codec"),
        ({"effort": "huge"}, "effort"),
        ({"method": "tar"}, "method"),
        ({"threads": "0"}, "threads is 0"),
        ({"accuracy": "1e-3"}, "choices, variable"),
        ({"candidates": "gzip", "bound": "lossless"}, 'lossless method "gzip" unknown'),
        ({"delta": "-1", "bound": "lossless"}, "delta is -1"),
        ({"speeds": "fast", "bound": "lossless", "speed_weight": "1"}, 'speeds "fast" unknown'),
        ({"fill": "maybe"}, "fill"),
        ({"unit": "8 cells"}, "unit"),
        ({"bound": "rel=1e-3", "codec": "context", "method": "rank"}, "method has no meaning"),
        ({"bound": "rel=1e-3", "block": "4"}, "block has no meaning"),
        ({"method": "zstd"}, "method has no meaning with bound abs or rel"),
        ({"bound": "lossless", "codec": "interpolation"}, "cannot keep the bound lossless"),
        (
            {"bound": "lossless", "method": "zstd", "speed_weight": "3"},
            "speed_weight has no meaning",
        ),
    ],
)
def test_refuses_by_name(write_and_read, parameters, part):
    with pytest.raises(Exception, match=part):
        write_and_read(waves(np.float32, (4, 4, 4)), **parameters)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("kind", ["i", "u"])
def test_integers_come_back_bit_for_bit_and_smaller(write_and_read, kind, bits):
    dtype = np.dtype(f"{kind}{bits // 8}")
    limits = np.iinfo(dtype)
    field = np.round(100 * waves(np.float64) / np.abs(waves(np.float64)).max()).astype(dtype)
    field[3, 4, :2] = limits.min, limits.max
    read, stored = write_and_read(field, bound="lossless")
    assert read.dtype == dtype
    assert read.tobytes() == field.tobytes()
    assert stored < field.nbytes


def test_an_integer_fill_is_a_whole_number(write_and_read):
    field = np.round(100 * waves(np.float64)).astype(np.int32)
    field[5:9] = -999
    read, _ = write_and_read(field, bound="lossless", fill="-999")
    assert read.tobytes() == field.tobytes()


@pytest.mark.parametrize(
    "parameters, part",
    [
        ({}, "bound rel=0.001 for values of i32"),
        ({"bound": "abs=2"}, "bound abs=2 for values of i32"),
        ({"bound": "lossless", "fill": "1.5"}, "fill value 1.5 for values of i32"),
    ],
)
def test_what_a_type_cannot_take_is_stored_as_it_is_and_said(tmp_path, parameters, part):
    """In a process of its own, which ends well."""
    script = f"""
import adios2, numpy as np
values = np.arange(64, dtype=np.int32)
context = adios2.Adios()
operator = context.define_operator(
    "neve", "Plugin", {{"PluginName": "neve", "PluginLibrary": "adios2neve", **{parameters!r}}})
io = context.declare_io("writer")
variable = io.define_variable("field", values, values.shape, [0], values.shape, True)
variable.add_operation(operator, {{}})
engine = io.open({str(tmp_path / "a.bp")!r}, adios2.bindings.Mode.Write)
engine.begin_step()
engine.put(variable, values)
engine.end_step()
engine.close()
with adios2.FileReader({str(tmp_path / "a.bp")!r}) as reader:
    assert (reader.read("field") == values).all()
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"ADIOS2_PLUGIN_PATH": str(PLUGIN.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "neve: a variable is stored without compression: " in done.stderr
    assert part in done.stderr


def test_a_block_that_cannot_be_encoded_is_stored_as_it_is(tmp_path):
    """Memory ends when the engine encodes; the program does not."""
    script = f"""
import adios2, numpy as np, resource
values = np.random.default_rng(1).random(1 << 24)
context = adios2.Adios()
operator = context.define_operator(
    "neve", "Plugin", {{"PluginName": "neve", "PluginLibrary": "adios2neve", "bound": "lossless"}})
io = context.declare_io("writer")
variable = io.define_variable("field", values, values.shape, [0], values.shape, True)
variable.add_operation(operator, {{}})
engine = io.open({str(tmp_path / "a.bp")!r}, adios2.bindings.Mode.Write)
engine.begin_step()
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = held + 320 * (1 << 20)  # ADIOS2's buffer for the block, and little more
resource.setrlimit(resource.RLIMIT_AS, (limit, -1))
engine.put(variable, values, adios2.bindings.Mode.Sync)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
engine.end_step()
engine.close()
"""
    environment = os.environ | {"ADIOS2_PLUGIN_PATH": str(PLUGIN.parent)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "neve: a block is stored without compression: " in done.stderr
    with adios2.FileReader(str(tmp_path / "a.bp")) as reader:
        read = reader.read("field")
    assert (read == np.random.default_rng(1).random(1 << 24)).all()


OPERATOR = {"PluginName": "neve", "PluginLibrary": "adios2neve"}


def write_steps(path, variables, **parameters):
    """Steps of variables, a list of arrays each, of one shape."""
    context = adios2.Adios()
    operator = context.define_operator("neve", "Plugin", {**OPERATOR, **parameters})
    io = context.declare_io("writer")
    made = {}
    for name, steps in variables.items():
        shape = steps[0].shape
        made[name] = io.define_variable(name, steps[0], shape, [0] * len(shape), shape, True)
        made[name].add_operation(operator, {} if name.startswith("_") else {"variable": name})
    engine = io.open(str(path), adios2.bindings.Mode.Write)
    for step in zip(*variables.values(), strict=True):
        engine.begin_step()
        for name, array in zip(variables, step, strict=True):
            engine.put(made[name], array)
        engine.end_step()
    engine.close()


def changing_steps():
    smooth = [waves(np.float64, (8, 16, 32)) + step / 10 for step in range(4)]
    rough = [np.random.default_rng(s).integers(0, 3, (8, 16, 32)) * 1.0 for s in range(4)]
    return smooth + rough


def test_choices_are_those_of_a_series_and_logged(tmp_path, monkeypatch):
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(PLUGIN.parent))
    rules = {"candidates": "acomps", "speed_weight": 1.0, "ratio_weight": 1.0, "delta": 0.1}
    variables = {"t": changing_steps(), "p": changing_steps()[::-1]}
    said = {name: str(value) for name, value in rules.items()}
    log = tmp_path / "choices, of one run.csv"
    write_steps(tmp_path / "a.bp", variables, bound="lossless", choices=str(log), **said)
    series = neve.Series(**rules)
    for step in zip(*variables.values(), strict=True):
        for name, array in zip(variables, step, strict=True):
            series.step(name, array)
    found = neve.read_choices(log)
    assert found.rules == series.rules

    def without_times(choices):
        return {dataclasses.replace(c, choosing_seconds=0, coding_seconds=0) for c in choices}

    assert without_times(found.choices) == without_times(series.choices)
    assert {choice.reason for choice in found.choices} > {"first", "kept"}
    with adios2.FileReader(str(tmp_path / "a.bp")) as reader:
        read = reader.read("t", step_selection=[5, 1])
    assert read.tobytes() == variables["t"][5].tobytes()


def test_variables_without_a_name_are_numbered(tmp_path, monkeypatch):
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(PLUGIN.parent))
    log = tmp_path / "%p.csv"
    variables = {"_a": changing_steps()[:2], "_b": changing_steps()[:2]}
    write_steps(tmp_path / "a.bp", variables, bound="lossless", choices=str(log))
    found = neve.read_choices(tmp_path / f"{os.getpid()}.csv")
    assert sorted((c.variable, c.step) for c in found.choices) == [
        (f"variable {v}", step) for v in (1, 2) for step in (0, 1)
    ]


def test_operators_with_other_rules_need_another_file(tmp_path, monkeypatch):
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(PLUGIN.parent))
    context = adios2.Adios()
    said = {**OPERATOR, "bound": "lossless", "choices": str(tmp_path / "a.csv")}
    operator = context.define_operator("one", "Plugin", said)
    values = waves(np.float32, (4, 4, 4))
    variable = context.declare_io("w").define_variable(
        "x", values, values.shape, [0] * 3, values.shape
    )
    variable.add_operation(operator, {"variable": "x"})
    with pytest.raises(Exception, match="a.csv: operators with candidates=all;.* write this file"):
        context.define_operator("other", "Plugin", {**said, "delta": "0.5"})


def test_a_log_that_cannot_be_written_is_said(tmp_path):
    """In a process of its own, which ends well."""
    script = f"""
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import test_adios2
steps = test_adios2.changing_steps()[:2]
path, log = {str(tmp_path / "a.bp")!r}, "/no/folder"
test_adios2.write_steps(path, {{"t": steps}}, bound="lossless", choices=log)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"ADIOS2_PLUGIN_PATH": str(PLUGIN.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (
        done.stderr.count("neve: log of choices: /no/folder: directory /no does not exist") == 1
    ), done.stderr
    with adios2.FileReader(str(tmp_path / "a.bp")) as reader:
        assert reader.read("t", step_selection=[1, 1]).tobytes() == changing_steps()[1].tobytes()


def test_a_damaged_text_log_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(PLUGIN.parent))
    log = tmp_path / "log.csv"
    write_steps(tmp_path / "a.bp", {"t": changing_steps()}, bound="lossless", choices=str(log))
    text = log.read_text()
    for old, new, code in (
        ("choices 1:", "choices 2:", 2),
        ("choices 1:", "choices :", 4),
        (",level,", ",levels,", 4),
        ("t,0,0,", "t,0,x,", 4),
        ("t,0,0,", "t,0,0,0,", 4),
        ("first", "worst", 4),
        ("delta=", "delat=", 4),
    ):
        log.write_text(text.replace(old, new, 1))
        with pytest.raises(neve.Error) as refused:
            neve.read_choices(log)
        assert refused.value.code == code and str(log) in str(refused.value), (old, new)


def test_adios2_leaves_complex_numbers_as_they_are(write_and_read):
    values = np.arange(64).astype(np.complex128)
    read, _ = write_and_read(values, bound="lossless")
    assert read.tobytes() == values.tobytes()


KILLED = f"""
import os, pathlib, signal, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import test_adios2 as t
context = t.adios2.Adios()
said = dict(t.OPERATOR, bound="lossless", choices=sys.argv[2])
operator = context.define_operator("neve", "Plugin", said)
io = context.declare_io("w")
values = t.waves("f8", (4, 4, 4))
variable = io.define_variable("x", values, values.shape, [0] * 3, values.shape, True)
variable.add_operation(operator, dict(variable="x"))
engine = io.open(sys.argv[1], t.adios2.bindings.Mode.Write)
files = set()
for step in range(100):
    engine.begin_step()
    engine.put(variable, values + step)
    engine.end_step()
    files.add(os.stat(sys.argv[2]).st_ino)
    assert os.listdir(pathlib.Path(sys.argv[2]).parent) == ["log.csv"]
print(len(files), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_keeps_its_log_and_no_other_file_is_touched(tmp_path):
    """Lines are added to one file; what lies at names that can be foretold is left alone."""
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "log.csv"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "a.bp"), str(log)],
        env=os.environ | {"ADIOS2_PLUGIN_PATH": str(PLUGIN.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -9 and done.stdout == "1\n", done.stderr
    choices = neve.read_choices(log).choices
    assert [c.step for c in choices] == list(range(len(choices)))
    assert 89 <= len(choices) <= 100


def test_a_log_behind_a_link_replaces_what_it_leads_to(tmp_path, monkeypatch):
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(PLUGIN.parent))
    victim, log = tmp_path / "victim", tmp_path / "log.csv"
    victim.write_text("mine")
    real = tmp_path / "real.csv"
    real.write_text("earlier")
    log.symlink_to(real)
    (tmp_path / f"log.csv.{os.getpid()}.tmp").symlink_to(victim)
    steps = changing_steps()[:3]
    write_steps(tmp_path / "a.bp", {"t": steps}, bound="lossless", choices=str(log))
    assert victim.read_text() == "mine" and log.is_symlink()
    assert [c.step for c in neve.read_choices(real).choices] == [0, 1, 2]


def test_a_log_is_not_written_over_what_is_no_file(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(PLUGIN.parent))
    os.mkfifo(tmp_path / "pipe")
    log = str(tmp_path / "pipe")
    write_steps(tmp_path / "a.bp", {"t": changing_steps()[:3]}, bound="lossless", choices=log)
    told = capfd.readouterr().err
    assert told.count("pipe exists and is not a regular file") == 1, told
