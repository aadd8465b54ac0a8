# SPDX-License-Identifier: BSD-3-Clause
"""Rooms include and import what docs/rooms.toml allows, in one direction."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import tomllib
from conftest import CHECKOUT

ROOMS = tomllib.loads((CHECKOUT / "docs" / "rooms.toml").read_text())["room"]
FOLDERS = [room["folder"] for room in ROOMS]
PUBLIC = "include/neve"
MAX_TOP_FOLDERS = 12
PACKAGES = ("bindings/python", "bench/python")
EXTENSION = "_core"  # no Python

TABLE_BEGIN = "<!-- made from docs/rooms.toml by tests/python/test_rooms.py -->\n"
TABLE_END = "<!-- end of the table of rooms -->\n"


def short(folder: str) -> str:
    """As the table names it: of rooms in src/ their path there, as includes have it."""
    return folder.removeprefix("src/")


def room_of(path: str) -> str | None:
    """The innermost room that holds a file."""
    inside = [f for f in FOLDERS if path.startswith(f + "/")]
    return max(inside, key=len) if inside else None


def allows(room: dict, other: str) -> bool:
    if other in (room["folder"], PUBLIC):
        return True
    return any(fnmatch.fnmatch(short(other), pattern) for pattern in room["uses"])


@pytest.fixture(scope="module")
def files() -> list[str]:
    """All that git tracks."""
    done = subprocess.run(
        ["git", "-C", CHECKOUT, "ls-files"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def names_included(text: str) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', text, re.MULTILINE)


def included(path: str, tracked: set[str]) -> Iterator[str]:
    """The files of the checkout that a source includes."""
    for name in names_included((CHECKOUT / path).read_text(encoding="utf-8")):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        roots = ("src/", "include/", "bindings/amrex/include/", "")
        places = (beside, *(root + name for root in roots))
        yield from [place for place in places if place in tracked][:1]


def imported(path: str, tracked: set[str]) -> Iterator[str]:
    """The files of our packages that a Python file imports, when it is loaded or later."""
    root = next(package for package in PACKAGES if path.startswith(package + "/"))
    parts = Path(path).relative_to(root).with_suffix("").parts
    yield from imported_by((CHECKOUT / path).read_text(encoding="utf-8"), parts[:-1], tracked)


def imported_by(text: str, package: tuple[str, ...], tracked: set[str]) -> Iterator[str]:
    """The files of our packages that a module of that text in that package imports."""
    for node in ast.walk(ast.parse(text)):
        names: list[tuple[str, ...]] = []
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            names = [(*base, alias.name) for alias in node.names if alias.name != EXTENSION]
            names = [n if modules_at(n, tracked) else base for n in names]
        elif isinstance(node, ast.Call) and name_of_call(node) in ("import_module", "__import__"):
            names = [tuple(a.value.split(".")) for a in node.args[:1] if is_text(a)]
        for name in names:
            yield from modules_at(name, tracked)


def name_of_call(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def modules_at(name: tuple[str, ...], tracked: set[str]) -> list[str]:
    places = [
        f"{package}/{'/'.join(name)}{end}"
        for package in PACKAGES
        for end in (".py", "/__init__.py")
    ]
    return [place for place in places if place in tracked]


def circles(arrows: dict[str, set[str]]) -> list[str]:
    """What remains when all that points to nothing, or that nothing points to, has been taken away
    again and again.
    """
    left = {a: {b for b in targets if b != a} for a, targets in arrows.items()}
    while True:
        pointed_at = {b for targets in left.values() for b in targets}
        done = [a for a, to in left.items() if a not in pointed_at or not to & left.keys()]
        if not done:
            return sorted(left)
        for a in done:
            del left[a]


def is_source(path: str) -> bool:
    return path.endswith((".c", ".cpp", ".h", ".hpp"))


def is_of_package(path: str) -> bool:
    return path.endswith(".py") and path.startswith(tuple(p + "/" for p in PACKAGES))


def arrows_between_rooms(files: Iterable[str]) -> dict[str, dict[str, str]]:
    """For each room those it uses, each with a file that does."""
    tracked = set(files)
    arrows: dict[str, dict[str, str]] = defaultdict(dict)
    for path in tracked:
        if is_source(path):
            targets = included(path, tracked)
        elif is_of_package(path):
            targets = imported(path, tracked)
        else:
            continue
        for target in targets:
            arrows[room_of(path) or path].setdefault(room_of(target) or target, f"{path}: {target}")
    return arrows


def test_every_source_lies_in_a_room(files):
    assert [f for f in files if (is_source(f) or is_of_package(f)) and room_of(f) is None] == []
    assert [f for f in FOLDERS if not any(name.startswith(f + "/") for name in files)] == []


def test_rooms_use_what_the_table_allows(files):
    arrows = arrows_between_rooms(files)
    assert len(arrows) > len(ROOMS) / 2
    by_folder = {room["folder"]: room for room in ROOMS}
    wrong = [
        f"{room} may not use {other}: {example}"
        for room, others in arrows.items()
        for other, example in others.items()
        if not allows(by_folder[room], other)
    ]
    assert wrong == []


def test_the_table_has_no_circle():
    arrows = {
        room["folder"]: {other for other in FOLDERS if other != PUBLIC and allows(room, other)}
        for room in ROOMS
        if room["folder"] != PUBLIC
    }
    assert circles(arrows) == []


def test_python_modules_import_each_other_in_no_circle(files):
    tracked = set(files)
    arrows = {path: set(imported(path, tracked)) for path in tracked if is_of_package(path)}
    assert len(arrows) > 40
    assert circles(arrows) == []


def test_every_way_to_include_and_import_is_seen(files):
    text = '#include "core/a.hpp"\n# include <io/b.hpp>\n#include <vector>\n'
    assert names_included(text) == ["core/a.hpp", "io/b.hpp", "vector"]
    tracked = set(files)
    for text in (
        "import neve_bench.study",
        "from neve_bench import study",
        "def f():\n    importlib.import_module('neve_bench.study')",
        "__import__('neve_bench.study')",
    ):
        assert list(imported_by(text, ("neve",), tracked)) == [
            "bench/python/neve_bench/study/__init__.py"
        ], text


def test_a_circle_and_a_forbidden_arrow_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) != []
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    status = next(room for room in ROOMS if room["folder"] == "src/core/status")
    assert not allows(status, "src/parallel/write")
    assert not allows(status, "bench/harness")


def test_the_product_uses_no_benchmark_and_no_test(files):
    product = ("include/", "src/", "bindings/", "tools/")
    for room, others in arrows_between_rooms(files).items():
        if room.startswith(product):
            used = [example for other, example in others.items() if not other.startswith(product)]
            assert used == [], room


def test_few_folders_at_the_top(files):
    folders = {name.split("/")[0] for name in files if "/" in name}
    assert len(folders) <= MAX_TOP_FOLDERS, sorted(folders)


def table() -> str:
    rows = ["| folder | holds | may include |", "|---|---|---|"]
    for room in ROOMS:
        uses = ", ".join(f"`{name}`" for name in room["uses"])
        rows.append(f"| `{room['folder']}/` | {room['holds']} | {uses} |")
    return "\n".join(rows) + "\n"


def test_the_table_of_hacking_is_this_one():
    page = CHECKOUT / "HACKING.md"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(TABLE_BEGIN)
    _, after = rest.split(TABLE_END)
    made = before + TABLE_BEGIN + table() + TABLE_END + after
    if os.environ.get("NEVE_WRITE_TABLE"):
        page.write_text(made, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == made, "NEVE_WRITE_TABLE=1 writes it anew"
