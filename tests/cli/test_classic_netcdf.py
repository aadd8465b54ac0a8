# SPDX-License-Identifier: BSD-3-Clause
"""netCDF classic files (CDF-1, 64-bit offset, 64-bit data): sources of convert, verify, info."""

import pathlib
import random
import struct
import sys
from unicodedata import category

import netCDF4
import numpy as np
import pytest

from neve._page import shown

from .classic_files import FORMATS, make
from .conftest import run_as_stranger, shared

TOOL = pathlib.Path(__file__).with_name("classic_files.py")


def assert_same(source, copy, *largest_error):
    run_as_stranger(sys.executable, TOOL, source, copy, *largest_error)


@pytest.mark.parametrize("kind", FORMATS)
def test_everything_is_kept(neve, tmp_path, kind):
    source, copy = tmp_path / "old.nc", tmp_path / "new.nc"
    make(source, kind)
    before = source.read_bytes()
    report = neve("convert", source, copy, "--json").json
    assert report["source_kind"] == "netCDF classic file"
    assert report["destination_kind"] == "HDF5 data file"
    assert source.read_bytes() == before
    assert_same(source, copy)
    assert neve("verify", source, copy, "--json").json["ok"]
    air = next(v for v in report["variables"] if v["name"] == "/air")
    assert air["coded"] and air["ratio"] > 2


def test_info_shows_no_chunks_and_no_dimension_as_a_variable(neve, tmp_path):
    source, copy = tmp_path / "old.nc", tmp_path / "new.nc"
    make(source, "NETCDF3_CLASSIC")
    neve("convert", source, copy)
    with netCDF4.Dataset(source) as file:
        variables = set(file.variables)
    sizes = {"/lev": 20, "/lon": 90, "/letters": 8}
    bare = [{"name": name, "length": n, "is_unlimited": False} for name, n in sizes.items()]
    for path in (source, copy):
        told = neve("info", path, "--json").json
        assert {v["name"].split("_nc4_non_coord_")[-1].strip("/") for v in told["variables"]} == (
            variables
        )
        assert told["dimensions"] == bare
        text = neve("info", path).out
        assert f"{len(variables)} variables" in text
        assert "dimensions without a variable: /lev 20, /lon 90, /letters 8" in text
        has_chunks = [v["name"] for v in told["variables"] if v["chunk"]]
        assert bool(has_chunks) == (path == copy)


def test_info_says_which_dimension_has_no_end(neve, tmp_path):
    for kind in ("NETCDF3_CLASSIC", "NETCDF4"):
        path = tmp_path / f"{kind}.nc"
        with netCDF4.Dataset(path, "w", format=kind) as file:
            file.createDimension("time", None)
            file.createDimension("x", 3)
            file.createVariable("v", "f4", ("time", "x"))[:] = np.zeros((4, 3))
        text = neve("info", path).out
        assert "1 variable," in text
        assert "dimensions without a variable: /time unlimited, /x 3\n" in text


def test_a_bound_holds_and_a_change_is_found(neve, tmp_path):
    source, copy = tmp_path / "old.nc", tmp_path / "new.nc"
    make(source, "NETCDF3_CLASSIC")
    neve("convert", source, copy, "--field", "air:bound=abs=0.01", "--threads", 2)
    assert neve("verify", source, copy, "--json").json["ok"]
    assert_same(source, copy, "0.01")
    with netCDF4.Dataset(source, "a") as file:
        file["air"][30, 2, 30, 30] += 1
    assert "VIOLATED" in neve("verify", source, copy, expect=3).out


def test_one_record_variable_is_not_padded(neve, tmp_path):
    source, copy = tmp_path / "old.nc", tmp_path / "new.nc"
    with netCDF4.Dataset(source, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("k", 3)
        file.createVariable("v", "i2", ("time", "k"))[:] = np.arange(3000).reshape(1000, 3)
    neve("convert", source, copy)
    assert_same(source, copy)


@pytest.mark.parametrize("made", ["nothing", "no records"])
def test_files_without_values(neve, tmp_path, made):
    source, copy = tmp_path / "old.nc", tmp_path / "new.nc"
    with netCDF4.Dataset(source, "w", format="NETCDF3_64BIT_OFFSET") as file:
        if made == "no records":
            file.createDimension("time", None)
            file.createVariable("v", "f4", ("time",)).units = "K"
    neve("convert", source, copy)
    assert_same(source, copy)


def test_a_file_that_was_streamed(neve, tmp_path):
    """Its header says that the number of records is not known: the size of the file tells."""
    source, copy, known = (tmp_path / name for name in ("streamed.nc", "new.nc", "known.nc"))
    make(known, "NETCDF3_CLASSIC")
    content = known.read_bytes()
    assert content[4:8] == struct.pack(">I", 37)
    source.write_bytes(content[:4] + b"\xff" * 4 + content[8:])
    neve("convert", source, copy)
    assert_same(known, copy)


def test_info_describes_it(neve, tmp_path):
    source = tmp_path / "old.nc"
    make(source, "NETCDF3_64BIT_DATA")
    described = neve("info", source, "--json").json
    assert described["kind"] == "netCDF classic file"
    variables = {v["name"]: v for v in described["variables"]}
    assert variables["/air"]["dims"] == [37, 20, 60, 90] and variables["/air"]["dtype"] == "f32"
    assert variables["/of_u8"]["dtype"] == "u64"


def test_a_file_that_is_cut_off(neve, tmp_path):
    source = tmp_path / "old.nc"
    make(source, "NETCDF3_CLASSIC")
    source.write_bytes(source.read_bytes()[:-100])
    outcome = neve("convert", source, tmp_path / "new.nc", expect=4)
    assert "old.nc" in outcome.err and "cut off" in outcome.err
    assert not (tmp_path / "new.nc").exists()


def test_an_unknown_version(neve, tmp_path):
    source = tmp_path / "old.nc"
    source.write_bytes(b"CDF\x03" + bytes(100))
    outcome = neve("convert", source, tmp_path / "new.nc", expect=4)
    assert "version 3; allowed: 1, 2" in outcome.err


def test_names_that_netcdf4_needs_itself(neve, tmp_path):
    source = tmp_path / "old.nc"
    with netCDF4.Dataset(source, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("x",)).setncattr("MARK", "mine")
    source.write_bytes(source.read_bytes().replace(b"MARK", b"NAME"))
    outcome = neve("convert", source, tmp_path / "new.nc", expect=2)
    assert "attribute NAME cannot be kept" in outcome.err


def test_damaged_headers_end_in_an_error(neve, tmp_path):
    source = tmp_path / "old.nc"
    with netCDF4.Dataset(source, "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("time", None)
        file.createDimension("k", 5)
        for number, kind in enumerate(("f4", "i8", "u2")):
            file.createVariable(f"v{number}", kind, ("time", "k"))[:] = np.ones((4, 5))
    whole = source.read_bytes()
    choose = random.Random(3)
    codes = set()
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(choose.randint(1, 4)):
            damaged[choose.randrange(4, 400)] = choose.choice([0, 1, 127, 128, 255])
        source.write_bytes(damaged)
        outcome = neve("convert", source, tmp_path / "new.nc", expect=None)
        codes.add(outcome.code)
        assert outcome.code in (0, 2, 4), outcome.err
        assert outcome.code == 0 or "old.nc" in outcome.err
    assert 4 in codes


def text(name):
    raw = name.encode()
    return struct.pack(">q", len(raw)) + raw + bytes(-len(raw) % 4)


def cdf5(records=0, dims=(), attributes=(), variables=()):
    """A file of 64-bit sizes: dimensions (name, length), attributes of one letter, variables
    (name, number of the dimension) without values."""

    def listed(tag, items):
        return struct.pack(">iq", tag if items else 0, len(items)) + b"".join(items)

    def variable(name, dimension):
        head = text(name) + struct.pack(">qq", 1, dimension) + struct.pack(">iq", 0, 0)
        return head + struct.pack(">iqq", 5, 0, 0)

    letter = struct.pack(">iq", 2, 1) + b"x\0\0\0"
    return (
        b"CDF\x05"
        + struct.pack(">Q", records)
        + listed(10, [text(name) + struct.pack(">Q", length) for name, length in dims])
        + listed(12, [text(name) + letter for name in attributes])
        + listed(11, [variable(*one) for one in variables])
    )


@pytest.mark.parametrize(
    ("content", "code", "part"),
    [
        (
            {"dims": [("y", 2**62)]},
            2,
            "dimension y has length 4611686018427387904; netCDF-4 allows",
        ),
        (
            {"dims": [("t", 0)], "records": 2**62},
            2,
            "record dimension t has length 4611686018427387904; netCDF-4 allows 46116860184273879",
        ),
        ({"dims": [("y", 2**64 - 2)]}, 4, "dimension y is 18446744073709551614; allowed: up to"),
        ({"dims": [("t", 0)], "records": 2**64 - 2}, 4, "the number of records is 184467440737"),
        ({"attributes": ["a" * 100_000]}, 2, "has a name of 100000 bytes; HDF5 allows 65534"),
        (
            {
                "dims": [("v", 3), ("e", 0)],
                "variables": [("v", 1), ("_nc4_non_coord_v", 1)],
            },
            2,
            "variable v and variable _nc4_non_coord_v cannot be kept beside each other",
        ),
        (
            {"dims": [("v", 3), ("e", 0), ("_nc4_non_coord_v", 2)], "variables": [("v", 1)]},
            2,
            "variable v and dimension _nc4_non_coord_v cannot be kept beside each other",
        ),
    ],
)
def test_what_netcdf4_cannot_hold_is_told_by_name(neve, tmp_path, content, code, part):
    source = tmp_path / "old.nc"
    source.write_bytes(cdf5(**content))
    outcome = neve("convert", source, tmp_path / "new.nc", expect=code)
    assert part in outcome.err and len(outcome.err) < 500


@pytest.mark.parametrize(
    "content",
    [
        {"dims": [("y", 2**62 - 1)]},
        {"dims": [("t", 0)], "records": 2**62 - 1},
        {"attributes": ["a" * 65_534]},
    ],
)
def test_the_largest_that_netcdf4_can_hold_is_kept(neve, tmp_path, content):
    source = tmp_path / "old.nc"
    source.write_bytes(cdf5(**content))
    neve("convert", source, tmp_path / "new.nc")


def test_each_of_many_dimensions_has_its_own_variable(neve, tmp_path):
    source, copy = tmp_path / "old.nc", tmp_path / "new.nc"
    count = 2000
    with netCDF4.Dataset(source, "w", format="NETCDF3_CLASSIC") as file:
        for i in range(count):
            file.createDimension(f"d{i}", 1 + i % 3)
        for i in reversed(range(count)):
            if i % 10:  # the others are dimensions without a variable
                file.createVariable(f"d{i}", "f4", (f"d{i}",))
        file.createVariable("d0", "f4", ("d7",))
    neve("convert", source, copy)
    with netCDF4.Dataset(copy) as file:
        assert list(file.dimensions) == [f"d{i}" for i in range(count)]
        assert {name: v.dimensions for name, v in file.variables.items()} == {
            "d0": ("d7",),
            **{f"d{i}": (f"d{i}",) for i in range(count) if i % 10},
        }


def test_names_are_shown_without_control_characters(neve, tmp_path):
    source, copy = tmp_path / "old.nc", tmp_path / "new.nc"
    names = ["a\x1b[31mred", "b\nc", "d\x9b1m", "é"]
    dims = [("e", 0), *((f"of {name}", 2) for name in names)]
    source.write_bytes(cdf5(dims=dims, variables=[(name, 0) for name in names]))
    for words in (
        ("info", source),
        ("convert", source, copy),
        ("info", copy),
        ("verify", source, copy),
    ):
        outcome = neve(*words)
        assert not {"\x1b", "\x9b"} & set(outcome.out), words
        for name in ("a\\x1b[31mred", "b\\x0ac", "d\\x9b1m", "é"):
            assert words[0] == "verify" or name in outcome.out, words
    missing = neve("info", tmp_path / "x\x1b[31m", expect=None)
    assert missing.code != 0 and "\x1b" not in missing.err and "x\\x1b[31m" in missing.err


def test_what_reorders_or_hides_text_is_shown_as_python_shows_it(neve, tmp_path):
    source, copy = tmp_path / "old.nc", tmp_path / "new.nc"
    of_format = [
        c for c in map(chr, range(1, sys.maxunicode)) if category(c) in ("Cc", "Cf", "Zl", "Zp")
    ]
    names = [f"n{i}" + "".join(of_format[i : i + 20]) for i in range(0, len(of_format), 20)]
    names += ["a\u202etxet", "b\u2066c\u2069", "\ufeffd", "e\u2028f", "água\U0001f30a"]
    dims = [("e", 0), *((f"of {name}", 2) for name in names)]
    source.write_bytes(cdf5(dims=dims, variables=[(name, 0) for name in names]))
    told = [neve("info", source), neve("convert", source, copy), neve("info", copy)]
    for outcome in (*told, neve("verify", source, copy)):
        assert not set(of_format) & set(outcome.out.replace("\n", ""))
    for outcome in told:
        assert [name for name in names if shown(name) not in outcome.out] == []
    assert "a\\u202etxet" in told[0].out and "b\\u2066c\\u2069" in told[0].out
    assert "água\U0001f30a" in told[0].out
    missing = neve("info", tmp_path / "x\u202e", expect=None)
    assert missing.code != 0 and "x\\u202e" in missing.err


def test_what_is_no_source_is_told_before_the_target(neve, tmp_path):
    source = tmp_path / "C"
    source.write_bytes(b"C")
    outcome = neve("convert", source, tmp_path / "new.nc", expect=2)
    assert f"{source} is not a plotfile; allowed: " in outcome.err
    assert "netCDF and other HDF5 files" in outcome.err


@pytest.mark.parametrize("name", ["ctorca.nc", "foam.ocean.nc", "rectilinear_grid_3D.nc"])
def test_real_files(neve, tmp_path, name):
    source, copy = shared(f"climate/{name}"), tmp_path / "new.nc"
    neve("convert", source, copy)
    assert_same(source, copy)
    assert neve("verify", source, copy, "--json").json["ok"]
