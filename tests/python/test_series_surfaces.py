# SPDX-License-Identifier: BSD-3-Clause
"""One series through every surface that writes steps: with typical speeds all make the same choices
and the same bytes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import CHECKOUT

import neve

BUILD = Path(os.environ.get("NEVE_BUILD_DIR", CHECKOUT / "build"))
COMMAND = Path(os.environ.get("NEVE_COMMAND", BUILD / "bin" / "neve"))
LIBRARY = BUILD / "lib" / "libneve.so"
PLUGIN = BUILD / "lib" / "adios2" / "libadios2neve.so"
SHAPE = (96, 128)
STEPS = 12
TIMEOUT_SECONDS = 100
RULES = [
    {"candidates": "acomps", "speed_weight": 0.0, "ratio_weight": 1.0, "delta": 0.05},
    {"candidates": "acomps", "speed_weight": 1.0, "ratio_weight": 0.0, "delta": 0.1},
    {"candidates": "all", "speed_weight": 1.0, "ratio_weight": 1.0, "delta": 0.05},
    {
        "candidates": "zstd+BW-zlib+BWXOR-bzip2",
        "speed_weight": 0.2,
        "ratio_weight": 1.0,
        "delta": 0.0,
    },
]


def field(name: str, step: int) -> np.ndarray:
    """Smooth, of few values, or noise; which, changes with the step."""
    place = np.arange(np.prod(SHAPE), dtype=float).reshape(SHAPE)
    random = np.random.default_rng(100 * ord(name) + step)
    kinds = {
        "t": ("smooth", "levels", "noise"),
        "p": ("levels", "smooth", "smooth"),
        "q": ("noise", "noise", "levels"),
    }
    kind = kinds[name][step * 3 // STEPS]
    if kind == "smooth":
        return np.sin(place / 97 + step / 7)
    if kind == "levels":
        return random.integers(0, 4, SHAPE).astype(float)
    return random.standard_normal(SHAPE)


SERIES = {name: [field(name, step) for step in range(STEPS)] for name in "tpq"}


def as_text(rules: dict[str, object]) -> str:
    return ";".join(f"{name}={value}" for name, value in rules.items())


class Made:
    """Python's frames and choices, which the others are held against."""

    def __init__(self, rules: dict[str, object]) -> None:
        self.rules = rules
        self.series = neve.Series(**rules)  # type: ignore[arg-type]
        self.frames = {
            (name, step): self.series.step(name, SERIES[name][step])
            for step in range(STEPS)
            for name in SERIES
        }

    def told(self) -> dict[tuple[str, int], tuple[object, ...]]:
        return told_of(self.series.choices)


def told_of(choices) -> dict[tuple[str, int], tuple[object, ...]]:
    """All but the times."""
    return {
        (c.variable, c.step): (
            c.method,
            c.reason,
            c.performance,
            c.rival,
            c.raw_bytes,
            c.coded_bytes,
        )
        for c in choices
    }


@pytest.fixture(scope="module", params=RULES, ids=as_text)
def made(request) -> Made:
    return Made(request.param)


def test_the_series_is_worth_the_test(made: Made) -> None:
    for name in SERIES:
        methods = [c.method for c in made.series.choices if c.variable == name]
        assert len(methods) == STEPS
    # By typical speeds alone one method is always the best.
    if made.rules["ratio_weight"] != 0:
        assert sum(choice.is_new for choice in made.series.choices) > len(SERIES)
        assert len({choice.method for choice in made.series.choices}) > 1
    for (name, step), frame in made.frames.items():
        assert neve.decompress(frame).tobytes() == SERIES[name][step].tobytes()


@pytest.fixture(scope="module")
def c_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of docs/c-api.md, linked with the build's library."""
    if not LIBRARY.exists():
        pytest.skip(f"{LIBRARY} is missing: run `make build`, or name the build in NEVE_BUILD_DIR")
    program = tmp_path_factory.mktemp("c") / "series"
    source = CHECKOUT / "examples" / "c" / "series.c"
    flags = ["-std=c11", "-Wall", "-Werror", f"-I{CHECKOUT / 'include'}"]
    libraries = [f"-L{LIBRARY.parent}", "-lneve", f"-Wl,-rpath,{LIBRARY.parent}"]
    subprocess.run(["cc", *flags, source, "-o", program, *libraries], check=True)
    return program


def test_c_makes_the_same(made: Made, c_program: Path, tmp_path: Path) -> None:
    for name, steps in SERIES.items():
        np.stack(steps).tofile(tmp_path / name)
    command = [str(c_program), as_text(made.rules), *map(str, SHAPE), *SERIES]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )
    assert done.returncode == 0, done.stderr
    for (name, step), frame in made.frames.items():
        assert (tmp_path / f"{name}.{step}.neve").read_bytes() == frame, (name, step)
    lines = [line.split() for line in done.stdout.splitlines()]
    told = {(n, int(step)): (method, reason, float(p)) for n, step, method, reason, p in lines}
    assert told == {key: row[:3] for key, row in made.told().items()}


def test_the_c_program_says_what_is_wrong(c_program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [c_program, "candidates=gzip", "2", "2", "x"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert 'lossless method "gzip" unknown' in done.stderr


def test_adios2_makes_the_same(made: Made, tmp_path: Path, monkeypatch) -> None:
    adios2 = pytest.importorskip("adios2", reason="ADIOS2 is missing: pip install adios2")
    if not PLUGIN.exists():
        pytest.skip(f"{PLUGIN} is missing: ADIOS2 was not there when CMake ran")
    monkeypatch.setenv("ADIOS2_PLUGIN_PATH", str(PLUGIN.parent))
    log = tmp_path / "choices.csv"
    write_by_adios2(adios2, tmp_path / "a.bp", {**made.rules, "choices": log})
    assert told_of(neve.read_choices(log).choices) == made.told()
    stored = b"".join(path.read_bytes() for path in sorted((tmp_path / "a.bp").glob("data.*")))
    for key, frame in made.frames.items():
        assert frame in stored, key


def write_by_adios2(adios2, path: Path, parameters: dict[str, object]) -> None:
    context = adios2.Adios()
    said = {"PluginName": "neve", "PluginLibrary": "adios2neve", "bound": "lossless"}
    said |= {name: str(value) for name, value in parameters.items()}
    operator = context.define_operator("neve", "Plugin", said)
    io = context.declare_io("writer")
    variables = {}
    for name, (first, *_) in SERIES.items():
        variables[name] = io.define_variable(name, first, SHAPE, [0, 0], SHAPE, True)
        variables[name].add_operation(operator, {"variable": name})
    engine = io.open(str(path), adios2.bindings.Mode.Write)
    for step in range(STEPS):
        engine.begin_step()
        for name, variable in variables.items():
            engine.put(variable, SERIES[name][step])
        engine.end_step()
    engine.close()


def test_the_command_makes_the_same(made: Made, tmp_path: Path) -> None:
    if not COMMAND.exists():
        pytest.skip(f"no {COMMAND}: run `make build`, or name the command in NEVE_COMMAND")
    help_text = subprocess.run([COMMAND, "convert", "--help"], capture_output=True, text=True)
    if "--into" not in help_text.stdout:
        pytest.skip(f"{COMMAND} has no `convert STEPS --into`: it was built before that was there")
    sources = []
    for step in range(STEPS):
        sources.append(tmp_path / f"step{step:02}.h5")
        with h5py.File(sources[-1], "w") as file:
            for name in SERIES:
                file.create_dataset(name, data=SERIES[name][step], chunks=SHAPE)
    out = tmp_path / "out"
    options = ["--bound", "lossless", "--choices", "log", "--into", str(out)]
    for name, value in made.rules.items():
        options += [f"--{name.replace('_', '-')}", str(value)]
    done = subprocess.run(
        [COMMAND, "convert", *sources, *options],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    for step, source in enumerate(sources):
        with h5py.File(out / source.name) as file:
            for name in SERIES:
                _, frame = file[name].id.read_direct_chunk((0, 0))
                assert frame == made.frames[name, step], (name, step)
    told = {(name.lstrip("/"), step): row for (name, step), row in told_of_folder(out).items()}
    assert told == made.told()


def told_of_folder(folder: Path) -> dict[tuple[str, int], tuple[object, ...]]:
    return told_of(neve.read_choices(folder).choices)
