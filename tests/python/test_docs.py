# SPDX-License-Identifier: BSD-3-Clause
"""The documents name tests, files and numbers that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import CHECKOUT

DOCUMENTS = [CHECKOUT / "README.md", CHECKOUT / "HACKING.md", *(CHECKOUT / "docs").glob("*.md")]


def cpp_tests() -> set[str]:
    pattern = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+), (\w+)\)", re.MULTILINE)
    return {
        ".".join(found)
        for path in (CHECKOUT / "tests").rglob("*.cpp")
        for found in pattern.findall(path.read_text())
    }


def python_tests() -> set[str]:
    return {
        f"{path.name}::{name}"
        for path in (CHECKOUT / "tests").rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)
    }


def test_every_test_that_a_promise_names_exists():
    text = (CHECKOUT / "docs" / "guarantees.md").read_text()
    cpp = re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", text)
    python = re.findall(r"`(test_\w+\.py)::(?:\w+::)?(test_\w+)`", text)
    assert len(cpp) > 20 and len(python) > 15, "the promises have lost their tests"
    assert sorted(set(cpp) - cpp_tests()) == []
    assert sorted({"::".join(name) for name in python} - python_tests()) == []


def test_every_row_of_a_promise_names_a_test():
    text = (CHECKOUT / "docs" / "guarantees.md").read_text()
    rows = 0
    for table in re.findall(r"^\|[^\n]*\| test \|\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE):
        for row in table.splitlines():
            assert re.search(r"`(test_\w+\.py::|[A-Z]\w+\.[A-Z])", row), row
            rows += 1
    assert rows > 25


def headings(path: Path) -> list[tuple[int, str]]:
    """Depth and text of each heading, none of those in blocks of code."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [(len(marks), words) for marks, words in re.findall(r"^(#+) (.+)$", text, re.MULTILINE)]


def anchors(path: Path) -> list[str]:
    """Of each heading, as GitHub makes them."""
    names = [
        re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-") for _, words in headings(path)
    ]
    before = [names[:i].count(name) for i, name in enumerate(names)]
    return [f"{name}-{n}" if n else name for name, n in zip(names, before, strict=True)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text()):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_the_contents_of_the_format_are_its_headings():
    path = CHECKOUT / "docs" / "format.md"
    contents = path.read_text().split("## Contents\n")[1].split("\n## ")[0]
    listed = re.findall(r"^( *)- \[(.+)\]\(#(.+)\)$", contents, re.MULTILINE)
    below = [
        (depth, words, anchor)
        for (depth, words), anchor in zip(headings(path), anchors(path), strict=True)
        if depth > 1 and words != "Contents"
    ]
    assert [(2 + len(indent) // 2, words, anchor) for indent, words, anchor in listed] == below


def test_the_filter_parameters_are_those_of_the_header():
    """The two tables of cd_values, in the document and in the source, say the same."""
    document = (CHECKOUT / "docs" / "format.md").read_text()
    header = (CHECKOUT / "src" / "io" / "hdf5" / "filter_parameters.hpp").read_text()
    public = (CHECKOUT / "include" / "neve" / "filter.h").read_text()
    (number,) = re.findall(r"#define NEVE_FILTER_ID (\d+)", public)
    assert f"Filter id **{number}**" in document
    in_header = re.findall(r"^//   ([\d.-]+) +([a-z]+)", header, re.MULTILINE)
    section = document.split("cd_values")[1].split("\n## ")[0]
    in_document = re.findall(r"^\| ([\d.-]+) \| ([a-z]+)", section, re.M)
    words = {word.rstrip("."): what for word, what in in_header if word[0].isdigit()}
    assert words and {word.rstrip("."): what for word, what in in_document} == words
