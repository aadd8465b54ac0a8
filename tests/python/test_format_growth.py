# SPDX-License-Identifier: BSD-3-Clause
"""What a later version may announce is refused, by the words of docs/format-growth.md."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest
import reference_decoder
from arrays import assert_same_bits
from conftest import CHECKOUT

import neve
from neve import _core

CORRUPT = 4
PAGE = (CHECKOUT / "docs" / "format-growth.md").read_text()
# What announces it, the words, what is still read.
ROWS = re.findall(r"^\| (.+?) \| `(.+?)` \| (.+) \|$", PAGE, re.MULTILINE)
WORDS = {announced: words for announced, words, _ in ROWS}
RAMP = np.array([20.0, 20.5, 21.25, 21.0, 20.75, 20.5, 20.0, 19.5], np.float32)


def with_raw_body(frame: bytes) -> bytearray:
    """The same frame, whose body is stored as it is: its bytes can be set. It is not signed."""
    (header_bytes,) = struct.unpack_from("<I", frame, 8)
    body = reference_decoder.Reader(frame[40 : header_bytes - 8]).packed(1 << 30)
    assert len(body) < 1 << 14
    packing = bytes([0, len(body) & 0x7F | 0x80, len(body) >> 7])
    header = bytearray(frame[:40]) + packing + body + bytes(8)
    raw = header + frame[header_bytes:]
    struct.pack_into("<I", raw, 8, len(header))
    struct.pack_into("<Q", raw, 16, len(raw))
    return raw


def sign_header(frame: bytearray) -> bytes:
    (header_bytes,) = struct.unpack_from("<I", frame, 8)
    checksum = reference_decoder.xxh3_64(bytes(frame[: header_bytes - 8]))
    struct.pack_into("<Q", frame, header_bytes - 8, checksum)
    return bytes(frame)


def sign(frame: bytearray) -> bytes:
    """Of a frame with one section: its entry ends with the section's checksum."""
    (header_bytes,) = struct.unpack_from("<I", frame, 8)
    checksum = reference_decoder.xxh3_64(bytes(frame[header_bytes:]))
    struct.pack_into("<Q", frame, header_bytes - 16, checksum)
    return sign_header(frame)


def array_frame(**options) -> Callable[[], bytes]:
    return lambda: neve.compress(RAMP, **{"abs": 0.25, "codec": "dual_quant", **options})


def integer_frame() -> bytes:
    return neve.compress(np.arange(8, dtype=np.int32), lossless=True, codec="exact")


def bits(first: int, last: int, beside: int) -> list[int]:
    return [beside | 1 << bit for bit in range(first, last + 1)]


@dataclass
class Place:
    """A byte that version 1 leaves room in: counted from the beginning of the frame, of its one
    component's record, of its one section's entry or of that section.
    """

    at: int
    reserved: Iterable[int]
    of: str = "frame"
    frame: Callable[[], bytes] = array_frame()

    def set_in(self, frame: bytearray, value: int) -> None:
        (header_bytes,) = struct.unpack_from("<I", frame, 8)
        # A component is 42 bytes; behind it stand the number of codebooks, 0, and the entry.
        entry = 12 if frame[12] == 1 else 10
        begin = {
            "frame": 0,
            "component": header_bytes - 8 - entry - 1 - 42,
            "entry": header_bytes - 8 - entry,
            "section": header_bytes,
        }[self.of]
        frame[begin + self.at] = value


PLACES = {
    "version 2": Place(4, range(2, 256)),
    "dtype 10": Place(6, range(10, 256)),
    "arrangement 2 of the prefix": Place(12, range(2, 256)),
    "flag bit 3 of the prefix": Place(13, bits(3, 7, 2)),
    "packing 2 of the body": Place(40, range(2, 256)),
    "bound mode 5": Place(0, range(5, 256), "component"),
    "flag bit 2 of a component": Place(1, bits(2, 7, 0), "component"),
    "arrangement 4 of a section": Place(
        1, range(4, 256), "entry", array_frame(arrangement="linear", unit=8)
    ),
    "codec 9": Place(0, [*range(9, 256), 0], "entry"),
    "codec 9, of integers": Place(0, range(9, 256), "entry", integer_frame),
    "flag bit 6 of a section, dual_quant": Place(0, bits(6, 6, 1), "section"),
    "flag bit 6 of a section, lorenzo_regression": Place(
        0, bits(6, 6, 0) + bits(1, 3, 0), "section", array_frame(codec="lorenzo_regression")
    ),
    # Behind the head of 21 bytes that such values have.
    "flag bit 6 of a section, interpolation": Place(
        21, bits(6, 7, 0) + bits(2, 5, 0), "section", array_frame(codec="interpolation")
    ),
    "flag bit 2 of a head, interpolation": Place(
        0, bits(2, 7, 0), "section", array_frame(codec="interpolation")
    ),
    "flag bit 1 of a head, context": Place(
        0, bits(1, 7, 0), "section", array_frame(codec="context")
    ),
    "flag bit 2 of a section, axis_passes": Place(
        0, bits(2, 7, 0), "section", array_frame(codec="axis_passes")
    ),
    "5 codebooks of a section": Place(3, [*range(5, 256), 0], "section"),
    "method 20 of codec lossless": Place(
        0, [*range(20, 256), 0], "section", array_frame(abs=None, lossless=True, codec="lossless")
    ),
}
FILTER_PLACES = {
    "layout 4 of the filter's words": (0, range(4, 256)),
    "bound mode 5 in the filter's words": (1, [5, 3, 4, *range(6, 256)]),
    "flag bit 8 of the filter's words": (6, [1 << bit for bit in range(8, 32)]),
}
STREAM = "version 2 of a stream"
PLOTFILE = "layout 2 of a plotfile or checkpoint"
FRAME_FILE = "version 4 of a frame file"


def test_the_page_has_a_row_for_each():
    assert set(WORDS) == {*PLACES, *FILTER_PLACES, STREAM, PLOTFILE, FRAME_FILE}


def refusal(data: bytes) -> str:
    with pytest.raises(neve.Error) as refused:
        neve.decompress(data)
    assert refused.value.code == CORRUPT
    return str(refused.value)


def names(message: str, value: int) -> bool:
    return re.search(rf"\b({value}|0x{value:02x})\b", message) is not None


@pytest.mark.parametrize("announced", PLACES)
def test_every_reserved_number_of_a_frame_is_refused_by_name(announced):
    place = PLACES[announced]
    found = {}
    for value in place.reserved:
        frame = with_raw_body(place.frame())
        place.set_in(frame, value)
        data = sign(frame)
        found[value] = refusal(data)
        with pytest.raises(reference_decoder.Refused):
            reference_decoder.decode(data)
    assert next(iter(found.values())) == WORDS[announced]
    assert [value for value, message in found.items() if not names(message, value)] == []


@pytest.mark.parametrize("announced", PLACES)
def test_headers_are_read_where_the_page_says(announced):
    (read,) = (what for name, _, what in ROWS if name == announced)
    place = PLACES[announced]
    frame = with_raw_body(place.frame())
    place.set_in(frame, next(iter(place.reserved)))
    if read == "nothing":
        with pytest.raises(neve.Error):
            neve.info(sign(frame))
    else:
        assert read == "the header and all other sections"
        assert len(neve.info(sign(frame))["sections"]) == 1


def test_the_other_sections_are_read():
    """Of two components the last has a codec of a later version."""
    golden = (CHECKOUT / "tests" / "golden" / "boxes_f64_covered.neve").read_bytes()
    sections = _core.Frame(golden).sections
    assert [section["component"] for section in sections] == [0, 1]
    frame = with_raw_body(golden)
    (header_bytes,) = struct.unpack_from("<I", frame, 8)
    size_bytes = 1 if sections[-1]["stored_bytes"] < 1 << 7 else 2
    frame[header_bytes - 8 - 8 - size_bytes - 1] = 9
    later = _core.Frame(sign_header(frame))
    now = _core.Frame(golden)
    values = np.empty(np.prod(now.box(0)[1]), "f8")
    expected = np.empty_like(values)
    later.decode_box(0, 0, values)
    now.decode_box(0, 0, expected)
    assert_same_bits(values, expected)
    with pytest.raises(neve.Error, match=re.escape("(component 1): section: codec 9 cannot")):
        later.decode_box(0, 1, values)


@pytest.mark.parametrize("announced", FILTER_PLACES)
def test_every_reserved_number_of_the_filter_is_refused_by_name(announced):
    word, reserved = FILTER_PLACES[announced]
    found = {}
    for value in reserved:
        words = list(neve.Filter(abs=0.25)["compression_opts"])
        words[word] = value
        with pytest.raises(neve.Error) as refused:
            _core.check_filter_words(words)
        found[value] = str(refused.value)
    assert next(iter(found.values())) == WORDS[announced]
    assert [value for value, message in found.items() if not names(message, value)] == []


@pytest.mark.parametrize("is_raw", [False, True])
def test_a_stream_of_a_later_version_is_refused_by_name(is_raw):
    array = RAMP if is_raw else np.resize(RAMP, 1000)
    encoder = neve.StreamEncoder(array.shape, "float32", abs=0.25)
    encoder.push(array)
    encoder.finish()
    stream = bytearray(encoder.take())
    assert neve.info(bytes(stream))["raw"] == is_raw
    checked = len(stream) - 4 if is_raw else 48 + 8 * stream[10]
    struct.pack_into("<H", stream, 4, 2)
    struct.pack_into("<I", stream, checked, zlib.crc32(stream[:checked]))
    assert refusal(bytes(stream)) == WORDS[STREAM]


def said_by_info(neve_command: Path, path: Path) -> str:
    done = subprocess.run([neve_command, "info", path], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr


def test_a_plotfile_of_a_later_layout_is_refused_by_name(neve_command, converted, tmp_path):
    path = shutil.copy(converted, tmp_path / "later.h5")
    with h5py.File(path, "r+") as file:
        file["neve"].attrs.modify("layout_version", 2)
    with pytest.raises(neve.Error, match=re.escape(WORDS[PLOTFILE])):
        neve.open(path)
    assert WORDS[PLOTFILE] in said_by_info(neve_command, path)


def test_a_frame_file_of_a_later_version_is_refused_by_name(neve_command, tmp_path):
    golden = CHECKOUT / "tests" / "golden" / "frames_mixed_two_ranks.nevefile"
    data = bytearray(golden.read_bytes())
    struct.pack_into("<I", data, 8, 4)
    struct.pack_into("<Q", data, 56, reference_decoder.xxh3_64(bytes(data[:56])))
    path = tmp_path / "later.nevefile"
    path.write_bytes(data)
    assert WORDS[FRAME_FILE] in said_by_info(neve_command, path)
