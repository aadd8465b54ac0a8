# SPDX-License-Identifier: BSD-3-Clause
"""Every function of the public headers is called with wrong arguments by one of the tests below."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include" / "neve"
WALKS = [
    ROOT / "tests" / "unit" / "include" / "wrong_calls_test.cpp",
    ROOT / "tests" / "mpi" / "wrong_calls_test.cpp",
    ROOT / "tests" / "mpi" / "outside_mpi.cpp",
]
# Arithmetic on what the caller has checked, without pointers or memory: no argument is refused.
ARITHMETIC = {
    "Box::size",
    "Box::cells",
    "Box::empty",
    "Box::contains",
    "FrameBox::cells",
    "BoxData::component_begin",
    "Rect::cells",
    "intersect",
    "floor_div",
    "coarsen",
    "refine",
    "all_members",
    "FileLayout::fields",
    "MissingValues::fields",
    "Selection::fields",
    "CodecTuning::fields",
    "ChoiceRules::fields",
    "LosslessMethods::has",
    "LosslessMethods::is_all",
    "FieldRule::fields",
    "WriteOptions::members",
}
# As those of std::span, whose place it takes: who calls them knows the size.
ARITHMETIC |= {
    f"Span::{name}"
    for name in (
        *("data", "size", "size_bytes", "empty", "begin", "end", "front", "back"),
        *("first", "last", "subspan"),
    )
}
# Of a value that its caller has seen to be there, as of std::optional; and what no program calls.
PRECONDITION = {"Result::value", "CoarserLevel::read"}
# Looks up a function in the process and does nothing else.
LOOKUP = {"neve_trace_phase"}
WORDS = {
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "decltype",
    "operator",
    "void",
    "bool",
    "int",
    "static_assert",
}


def code_of(path: Path) -> str:
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", " ", text, flags=re.M)
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


def functions_of(path: Path) -> set[str]:
    """Those declared at namespace or class level, "Class::name" for members; bodies are skipped."""
    found: set[str] = set()
    scopes: list[str | None] = []  # None: a body
    visible: list[bool] = []
    statement = ""
    for token in re.findall(r"\w+|[^\w\s]", code_of(path)):
        if token == "{":
            head = re.search(r"\b(namespace|class|struct|extern)\b(.*)$", statement)
            is_type = head is not None and "(" not in statement and "=" not in statement
            kind = head.group(1) if is_type else ""
            name = (re.findall(r"\w+", head.group(2).split(":")[0]) or [""])[-1] if is_type else ""
            declare(statement, scopes, visible, found)
            scopes.append((name if kind in ("class", "struct") else "") if is_type else None)
            visible.append(kind != "class")
            statement = ""
        elif token == "}":
            scopes.pop()
            visible.pop()
            statement = ""
        elif token == ";":
            declare(statement, scopes, visible, found)
            statement = ""
        elif token == ":" and statement.strip() in ("public", "private", "protected"):
            visible[-1] = statement.strip() == "public"
            statement = ""
        else:
            statement += f" {token}"
    return found


def declare(statement: str, scopes: list[str | None], visible: list[bool], found: set[str]) -> None:
    if None in scopes or not all(visible) or "typedef" in statement or "using" in statement.split():
        return
    call = re.search(r"(~?)\s*(\w+) \(", re.sub(r"< [^()]*? >", "", statement))
    if (
        call is None
        or call.group(1)
        or call.group(2) in WORDS
        or "operator" in statement.split("(")[0].split()
    ):
        return
    owner = next((scope for scope in reversed(scopes) if scope), "")
    if call.group(2) != owner:  # a constructor
        found.add(f"{owner}::{call.group(2)}" if owner else call.group(2))


def headers() -> list[Path]:
    return sorted([*HEADERS.glob("*.h"), *HEADERS.glob("*.hpp")])


def test_the_parser_finds_functions_of_every_kind():
    found = set().union(*(functions_of(path) for path in headers()))
    assert {"neve_compress", "neve_mpi_file_close", "encode_array", "write_plotfile"} <= found
    assert {"Frame::decode", "PlotfileSource::read_box", "ValueRange::merge"} <= found
    assert len(found) > 120


@pytest.mark.parametrize("header", headers(), ids=lambda path: path.name)
def test_every_function_is_called_with_something_wrong(header: Path):
    walked = set(re.findall(r'"([\w:]+)"', "\n".join(path.read_text() for path in WALKS)))
    missing = functions_of(header) - walked - ARITHMETIC - PRECONDITION - LOOKUP
    assert not missing, f"{header.name}: no test calls {sorted(missing)} with wrong arguments"
