# SPDX-License-Identifier: BSD-3-Clause
"""What type checkers make of the package, and of a program that uses all of it."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT, SAMPLE

import neve
import neve._core

PACKAGE = Path(neve.__file__).parent
PROGRAM = Path(__file__).with_name("typed_api.py")

# A mistake in each line after the imports.
WRONG = """\
import numpy as np
import neve
neve.compress(np.zeros(3), relative=1e-3)
neve.explain(np.zeros(3), rel="1e-3")
neve.Filter(abs=1e-3, effort=3)
text: str = neve.compress(np.zeros(3), lossless=True)
neve.StreamEncoder((3,), abs=1e-3, blocks=4)
neve.open("plt00000")[0]["density"].bound
"""
WRONG_LINES = set(range(3, 9))


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[Path, set[int]]]:
    """The lines of each file that mypy finds wrong."""
    pytest.importorskip("mypy", reason="mypy is not installed (scripts/requirements.txt)")
    cache = tmp_path_factory.mktemp("mypy")

    def check(*paths: Path) -> dict[Path, set[int]]:
        done = run("mypy", "--strict", "--no-pretty", "--cache-dir", cache, *paths)
        found: dict[Path, set[int]] = {}
        for name, line in re.findall(r"^(.+?):(\d+): error: ", done.stdout, re.MULTILINE):
            found.setdefault(CHECKOUT / name, set()).add(int(line))
        assert (done.returncode != 0) == bool(found), done.stdout + done.stderr
        return found

    return check


def pyright(*paths: Path) -> dict[Path, set[int]]:
    """The lines of each file that pyright finds wrong."""
    pytest.importorskip("pyright", reason="pyright is not installed (scripts/requirements.txt)")
    done = run("pyright", "--outputjson", "--pythonpath", sys.executable, *paths)
    found: dict[Path, set[int]] = {}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        line = one["range"]["start"]["line"] + 1
        found.setdefault(Path(one["file"]), set()).add(line)
    assert (done.returncode != 0) == bool(found), done.stdout + done.stderr
    return found


def test_mypy_finds_nothing_in_the_package(mypy):
    assert mypy(CHECKOUT / "bindings" / "python" / "neve") == {}


def test_mypy_finds_nothing_in_a_program(mypy):
    assert mypy(PROGRAM) == {}


def test_pyright_finds_nothing_in_a_program():
    assert pyright(PROGRAM) == {}


def test_both_find_mistakes(mypy, tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    assert mypy(program) == {program: WRONG_LINES}
    assert pyright(program) == {program: WRONG_LINES}


def test_the_program_runs(tmp_path):
    subprocess.run([sys.executable, PROGRAM, tmp_path, SAMPLE], check=True, timeout=120)


def test_the_program_uses_every_public_name():
    used = {
        ast.unparse(node)
        for node in ast.walk(ast.parse(PROGRAM.read_text()))
        if isinstance(node, ast.Attribute)
    }
    over_mpi = ast.parse((PACKAGE / "mpi.py").read_text()).body
    public = {f"neve.{name}" for name in neve.__all__}
    public |= {
        f"neve.mpi.{node.name}"
        for node in over_mpi
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    }
    assert len(public) > 18 and public - used == set()


def names_of(body: list[ast.stmt]) -> set[str]:
    """What a stub declares, members of classes with the class before them."""
    found = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and not ast.unparse(node.annotation) == "TypeAlias":
            found.add(ast.unparse(node.target))
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for name in names_of(node.body)}
    return {name for name in found if not name.endswith("__init__")}


def test_the_stub_lists_the_names_of_the_extension():
    module: dict[str, Any] = vars(neve._core)
    there = {name for name in module if not name.startswith("__")}
    for name, value in module.items():
        if isinstance(value, type) and name in there:
            there |= {f"{name}.{m}" for m in vars(value) if not m.startswith("__")}
    assert len(there) > 40
    assert names_of(ast.parse((PACKAGE / "_core.pyi").read_text()).body) == there


def functions_of(stub: str) -> dict[str, list[str]]:
    """The parameters of the functions in a stub."""
    return {
        node.name: [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        for node in ast.parse(stub).body
        if isinstance(node, ast.FunctionDef)
    }


def test_the_stub_has_the_parameters_of_the_extension():
    stub = functions_of((PACKAGE / "_core.pyi").read_text())
    assert len(stub) > 10
    for name, declared in stub.items():
        # nanobind's own declaration, with numbers in the place of some types.
        text = getattr(neve._core, name).__nb_signature__[0][0]
        there = functions_of(re.sub(r"\\\d+", "object", text) + ": ...")[name]
        assert len(there) == len(declared), name
        nameless = [re.fullmatch(r"arg\d*", parameter) for parameter in there]
        pairs = zip(there, declared, nameless, strict=True)
        assert all(a == b for a, b, is_nameless in pairs if not is_nameless), name


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_explain_takes_what_compress_takes():
    weighed, compressed = (inspect.signature(f).parameters for f in (neve.explain, neve.compress))
    assert len(compressed) > 15 and dict(weighed) == dict(compressed)


def public_functions() -> dict[str, Callable[..., Any]]:
    found = {}
    for name in neve.__all__:
        value = getattr(neve, name)
        if inspect.isclass(value):
            methods = inspect.getmembers(value, inspect.isfunction)
            own = [(f"{name}.{m}", f) for m, f in methods if f.__module__.startswith("neve.")]
            found |= {m: f for m, f in own if not m.split(".")[1].startswith("_")}
            found[name] = value
        elif inspect.isfunction(value):
            found[name] = value
    return found


PUBLIC_FUNCTIONS = public_functions()
# Whose further keywords are the command's options: it knows them, and refuses others by name.
PASSED_ON = {"convert", "convert_series"}


@pytest.mark.parametrize("name", sorted(PUBLIC_FUNCTIONS))
def test_public_functions_name_their_keywords_and_are_documented(name):
    function = PUBLIC_FUNCTIONS[name]
    assert function.__doc__, name
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert (inspect.Parameter.VAR_KEYWORD in kinds) == (name in PASSED_ON)
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.name == "self" or parameter.annotation is not parameter.empty


@pytest.mark.parametrize(
    ("call", "words", "part"),
    [
        (neve.compress, {"abz": 1}, r"compress\(\).*'abz'; did you mean abs=\?"),
        (neve.explain, {"lossles": 1}, r"explain\(\).*'lossles'; did you mean lossless=\?"),
        (neve.Filter, {"ab": 1}, r"Filter\(\).*'ab'; did you mean abs=\?"),
        (neve.StreamEncoder, {"blok_values": 1}, "StreamEncoder.*did you mean block_values="),
        (neve.guess_chunks, {"appendaxis": 0}, "guess_chunks.*did you mean append_axis="),
        (neve.open, {"follow_externals": 1}, "open.*did you mean follow_external="),
        (neve.load_yt, {"unit_override": {}}, "load_yt.*did you mean units_override="),
        (neve.decompress, {"zzz": 1}, "decompress.*'zzz'; it has data, threads"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_misspelt_keyword_is_named_with_the_nearest(call, words, part):
    with pytest.raises(TypeError, match=part):
        call(**words)
