# SPDX-License-Identifier: BSD-3-Clause
"""The frame that docs/format.md works through is the library's, and means what the page says."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np
import pytest
import reference_decoder
from arrays import assert_same_bits
from conftest import CHECKOUT

import neve

PAGE = (CHECKOUT / "docs" / "format.md").read_text()
EXAMPLE = PAGE.split("\n## A frame byte by byte\n")[1].split("\n## ")[0]


@dataclass
class Row:
    """A row of the table of bytes."""

    offset: int
    data: bytes
    part: str
    field: str
    type: str
    value: str


def table(first_column: str) -> list[list[str]]:
    """The rows of the example's table whose first column has that title."""
    _, _, below = EXAMPLE.partition(f"\n| {first_column} |")
    rows = re.match(r".*\n\|[-|]+\|\n((?:\|.*\n)+)", below).group(1)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows.splitlines()]


def byte_rows() -> list[Row]:
    return [
        Row(int(offset), bytes.fromhex(data.strip("`")), part, field, kind, value)
        for offset, data, part, field, kind, value, _ in table("offset")
    ]


def page_frame() -> bytes:
    return b"".join(row.data for row in byte_rows())


def page_values() -> np.ndarray:
    (numbers,) = re.findall(r"np\.array\(\[(.+)\], np\.float32\)", EXAMPLE)
    return np.array(numbers.split(", "), np.float32)


def compressed() -> bytes:
    """What the page's own lines of Python make."""
    (code,) = re.findall(r"```python\n(.+?)```", EXAMPLE, re.DOTALL)
    names = {"np": np, "neve": neve}
    exec(code, names)  # the page is ours
    return names["frame"]


def meaning(row: Row) -> str:
    """The bytes of a row, read as its type says."""
    reader = reference_decoder.Reader(row.data)
    fixed = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f64": "d"}
    if row.type in fixed:
        value = repr(reader.unpack(fixed[row.type])[0])
    elif row.type == "lengths":
        halves = (half for byte in reader.take(len(row.data)) for half in (byte & 15, byte >> 4))
        value = ", ".join(map(str, halves))
    else:
        value = repr(getattr(reader, row.type)())
    reader.end(row.field)
    return value


def test_rows_follow_each_other_to_the_end():
    at = 0
    for row in byte_rows():
        assert row.offset == at, row.field
        at += len(row.data)
    assert at == len(compressed())


def test_every_byte_is_what_neve_compress_makes():
    frame = compressed()
    for row in byte_rows():
        assert frame[row.offset :][: len(row.data)] == row.data, f"{row.offset}: {row.field}"


@pytest.mark.parametrize("row", byte_rows(), ids=lambda r: f"{r.offset}-{r.field}")
def test_bytes_have_the_value_beside_them(row):
    of_bytes = re.fullmatch(r"XXH3-64 of (\d+) to (\d+)", row.value)
    if of_bytes:
        first, last = map(int, of_bytes.groups())
        checksum = reference_decoder.xxh3_64(page_frame()[first : last + 1])
        assert row.data == struct.pack("<Q", checksum)
    elif row.type == "bytes":
        assert row.value in ("", f'"{row.data.decode("latin1")}"')
    else:
        assert meaning(row) == row.value


def test_fields_are_those_of_the_prefix_and_its_picture():
    prefix = PAGE.split("\n### Prefix: 40 bytes\n")[1].split("\n### ")[0]
    fields = re.findall(r"^\| (\d+) \| ([a-z ]+) \|", prefix, re.MULTILINE)
    in_example = [(str(row.offset), row.field) for row in byte_rows() if row.part == "prefix"]
    assert in_example == fields
    picture = (CHECKOUT / "docs" / "images" / "frame.svg").read_text()
    cells = re.findall(r'<rect class="prefix" [^/]*/><text[^>]*>([a-z ]+)<', picture)
    assert cells == [field for _, field in fields]


def test_codes_lead_to_the_values():
    rows = {row.part + ": " + row.field: row for row in byte_rows()}
    first = int(rows["section 0: first"].value)
    lengths = [int(length) for length in rows["section 0: lengths"].value.split(", ")]
    codes = reference_decoder.code_table([0] * first + lengths)
    stream = reference_decoder.Bits(rows["section 0: codes"].data)
    origin = int(rows["section 0: origin"].value)
    step, center = (np.float32(rows[f"component 0: {name}"].value) for name in ("step", "center"))
    values = table("was")
    q = 0
    for _, code, symbol, residual, quant_code, moved, value in values:
        assert [stream.number(1) for _ in code] == [int(bit) for bit in code]
        assert codes[len(code), int(code, 2)] == int(symbol)
        assert int(residual) == int(symbol) - 128
        q += int(residual)
        assert (q, q + origin) == (int(quant_code), int(moved))
        decoded = np.float32(q + origin) * step + center
        assert_same_bits(np.array(decoded), np.array(value, np.float32))
    was, decoded = (np.array([row[column] for row in values], np.float32) for column in (0, -1))
    assert_same_bits(page_values(), was)
    largest, bound = (float(rows[f"component 0: {name}"].value) for name in ("max error", "bound"))
    assert np.abs(was - decoded).max() == largest <= bound


@pytest.mark.parametrize("decode", [neve.decompress, reference_decoder.decode])
def test_the_pages_bytes_decode_to_the_pages_values(decode):
    assert_same_bits(decode(page_frame()), np.array([row[-1] for row in table("was")], np.float32))
