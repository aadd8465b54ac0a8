# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench struct`, cartiso, amr, unstruct, noise: reports, decks, kept files, refusals."""

import json
import pathlib
import re
import xml.etree.ElementTree as ET

import h5py
import numpy as np
import pytest

from .conftest import PLUGIN_DIR, run

SMALL = ("--grid", "40,24,8", "--chunk", "20,12,8", "--space-frequency", "1")
ZFP_PLUGINS = pathlib.Path("/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins")


def test_the_same_field_on_any_number_of_ranks(neve, tmp_path):
    results = {}
    for ranks in (1, 3):
        options = (*SMALL, "--outputs", "raw,neve", "--folder", tmp_path, "--json")
        results[ranks] = neve("bench", "struct", *options, ranks=ranks).json
        for layout in results[ranks]["layouts"]:
            assert sum(layout["valid_points"]) == round(results[ranks]["valid"] * 40 * 24 * 8)
            for output in layout["outputs"]:
                assert output["verified"]["wrong"] == 0
                assert output["verified"]["values"] == 40 * 24 * 8
    assert len({r["field_checksum"] for r in results.values()}) == 1
    assert abs(results[1]["valid"] - 0.65) <= 0.005
    assert list(tmp_path.iterdir()) == []


def test_a_deck_and_kept_files(neve, tmp_path):
    deck = tmp_path / "case.toml"
    deck.write_text(
        "grid = [40, 24, 8]\nchunk = [20, 12, 8]\nspace-frequency = 1\nsteps = 2\nfirst-step = 3\n"
        f'outputs = ["raw", "hdf5-zfp", "hdf5-neve"]\nfolder = "{tmp_path}"\nkeep = true\n'
        'balance = "off"\nvalid = 0.5\nfill = -5.0\njson = true\n'
    )
    result = neve("bench", "struct", "--deck", deck, "--valid", "0.65", ranks=2).json
    assert [layout["name"] for layout in result["layouts"]] == ["unbalanced"]
    raw = np.fromfile(tmp_path / "neve_struct_unbalanced_raw_000004.raw", "<f4").reshape(8, 24, 40)
    assert abs((raw != -5).mean() - 0.65) <= 0.005
    tree = ET.parse(tmp_path / "neve_struct_unbalanced_hdf5-zfp.xdmf")
    assert [float(time.get("Value")) for time in tree.iter("Time")] == [3, 4]
    name, _, dataset = tree.findall(".//Attribute/DataItem")[1].text.partition(":/")
    kept = tmp_path / name
    with h5py.File(kept) as file:
        assert file[dataset].shape == raw.shape
        assert file[dataset].chunks == (8, 12, 20)
    # As anybody's zfp filter reads it.
    if not (ZFP_PLUGINS / "libh5zzfp.so").exists():
        pytest.skip("Debian's hdf5-filter-plugin-zfp-serial is not installed")
    plain = tmp_path / "plain.bin"
    done = run(
        ["h5dump", "-d", dataset, "-b", "LE", "-o", plain, kept], HDF5_PLUGIN_PATH=str(ZFP_PLUGINS)
    )
    assert done.code == 0, done.err
    values = np.fromfile(plain, "<f4").reshape(raw.shape)
    assert np.abs(values - raw).max() <= 1e-4


def test_reports_are_written_as_they_are_printed(neve, tmp_path):
    table, report = tmp_path / "table.txt", tmp_path / "report.json"
    options = (*SMALL, "--outputs", "hdf5", "--folder", tmp_path)
    assert neve("bench", "struct", *options, "-o", table, ranks=2).out == table.read_text()
    printed = neve("bench", "struct", *options, "--json", "-o", report, ranks=2).out
    assert printed == report.read_text() and json.loads(printed)["ranks"] == 2
    for bench in (("noise", "--seconds", "0.01"), ("disk", "--mib", "1", "--folder", tmp_path)):
        assert neve("bench", *bench, "--output", table).out == table.read_text()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        (".", "'.' is a folder; -o is the report's file"),
        ("speeds.png", "'speeds.png' is a picture's name; -o is the report's file"),
        ("missing/report.txt", "missing"),
        ("", "--output has an empty value"),
    ],
)
def test_names_that_are_no_reports_are_refused_before_the_work(neve, name, part):
    outcome = neve("bench", "noise", "-o", name, expect=2)
    assert part in outcome.err and outcome.out == ""


def test_help_has_a_line_for_each_bench_and_wraps(neve):
    text = neve("bench", "--help").out
    names = re.findall(r"^  ([a-z]+)  +[A-Z].*$", text, re.M)
    assert {"struct", "ensemble", "disk", "codecs", "study"} < set(names)
    assert len(names) == len(set(names)) == 24
    for name in names[: names.index("codecs")]:
        lines = neve("bench", name, "--help").out.split("\nExamples:")[0].splitlines()
        assert max(map(len, lines)) <= 100
        assert "Report:" in lines


def test_tables(neve, tmp_path):
    out = neve("bench", "struct", *SMALL, "--outputs", "hdf5", "--folder", tmp_path).out
    for word in ("balanced: busiest / mean", "ratio", "largest error"):
        assert word in out
    speeds = neve("bench", "noise", "--seconds", "0.02", "--json").json
    assert speeds[-1]["target"] == "portable"
    assert all(speed["samples_per_second"] > 0 for speed in speeds)


@pytest.mark.parametrize(
    "arguments, part",
    [
        (("--outputs", "hdf4"), "hdf5-shuffle-zlib"),
        (("--outputs", "raw,raw"), "twice"),
        (("--balance", "maybe"), "on, off, both"),
        (("--grid", "0,4,4"), "grid is 0"),
        (("--valid", "1.5"), "valid is 1.5"),
        (("--tasks", "3,1"), "tasks 3x1"),
        (("--bound", "lossless"), "lossless"),
    ],
)
def test_refuses(neve, tmp_path, arguments, part):
    outcome = neve("bench", "struct", "--folder", tmp_path, *arguments, expect=2)
    assert part in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_a_broken_bound_is_exit_code_3(neve, tmp_path):
    options = ("--outputs", "hdf5-zfp", "--fill=-1e30", "--folder", tmp_path)
    outcome = neve("bench", "struct", *SMALL, *options, expect=3)
    assert "hdf5-zfp" in outcome.err
    assert "largest error" in outcome.out, "the table is shown all the same"


def test_cartiso(neve, tmp_path):
    options = ("--grid", "20,20,20", "--outputs", "hdf5,hdf5-zlib,neve", "--keep")
    result = neve("bench", "cartiso", *options, "--folder", tmp_path, "--json", ranks=2).json
    assert [o["output"] for o in result["grid_outputs"]] == ["hdf5", "hdf5-zlib", "neve"]
    assert [o["output"] for o in result["surface_outputs"]] == ["hdf5", "hdf5-zlib"]
    assert all(
        o["verified"]["wrong"] == 0 for o in result["grid_outputs"] + result["surface_outputs"]
    )
    with h5py.File(tmp_path / "neve_cartiso_surface_hdf5_000000.h5") as file:
        assert file["triangles"].shape == (result["triangles"], 3)
        assert file["triangles"][()].max() == result["points"] - 1 == len(file["normals"]) - 1
        assert np.allclose(np.linalg.norm(file["normals"][()], axis=1), 1, atol=1e-5)
    tree = ET.parse(tmp_path / "neve_cartiso_surface_hdf5.xdmf")
    assert tree.find(".//Topology").get("TopologyType") == "Triangle"
    assert (
        "neve_cartiso_surface_hdf5_000000.h5:/triangles" in tree.find(".//Topology/DataItem").text
    )


def test_amr(neve, tmp_path):
    options = ("--blocks", "3,2,2", "--block-cells", "4", "--threshold", "0.3")
    methods = ("--methods", "skeleton,skeleton:auto", "--folder", tmp_path, "--keep", "--json")
    result = neve("bench", "amr", *options, *methods, ranks=2).json
    assert len(result["steps"]) == 2
    assert all(method["verified"]["wrong"] == 0 for method in result["methods"])
    info = neve("info", tmp_path / "neve_amr_skeleton-auto_000001.h5", "--json").json
    assert [level["boxes"] for level in info["levels"]] == result["steps"][1]["blocks"]
    assert "skeleton:auto" in neve("bench", "amr", "--methods", "striped", expect=2).err
    for way in ("skeleton", "skeleton-auto"):
        check_vtkhdf(tmp_path / f"neve_amr_{way}_000001.vtkhdf", result["steps"][1]["blocks"])


def check_vtkhdf(path, blocks):
    """As VTKHDF 2 has an OverlappingAMR; its values are those of the plot file."""
    h5py.h5pl.prepend(str(PLUGIN_DIR).encode())
    with h5py.File(path) as file, h5py.File(path.with_suffix(".h5")) as plot:
        root = file["VTKHDF"]
        assert root.attrs["Type"] == b"OverlappingAMR" and list(root.attrs["Version"]) == [2, 0]
        assert root.attrs["GridDescription"] == b"XYZ" and list(root.attrs["Origin"]) == [0, 0, 0]
        for level, count in enumerate(blocks):
            group, other = root[f"Level{level}"], plot[f"level_{level}"]
            assert np.allclose(group.attrs["Spacing"], other.attrs["dx"])
            boxes = np.array(other["boxes"][()].tolist())
            assert len(boxes) == count
            assert (group["AMRBox"][()] == boxes[:, [0, 3, 1, 4, 2, 5]]).all()
            values, offsets = other["data:datatype=0"][()], other["data:offsets=0"][()]
            for component, name in enumerate(("noise", "noise1")):
                found = group["CellData"][name][()].reshape(count, 64)
                for box in range(count):
                    begin = offsets[box] + 64 * component
                    assert (found[box] == values[begin : begin + 64]).all()


def test_unstruct(neve, tmp_path):
    options = ("--points-per-rank", "1000", "--outputs", "raw,hdf5-neve", "--folder", tmp_path)
    result = neve("bench", "unstruct", *options, "--keep", "--json", ranks=2).json
    for output in result["value_outputs"] + result["connectivity_outputs"]:
        assert output["verified"]["wrong"] == 0
    cells = np.fromfile(tmp_path / "neve_unstruct_connectivity_raw_000000.raw", "<i4")
    assert len(cells) == 6 * result["wedges"] + 3 * result["triangles"]
    assert cells.min() == 0 and cells.max() == result["points"] - 1
    item = ET.parse(tmp_path / "neve_unstruct_triangles_raw.xdmf").find(".//Topology/DataItem")
    assert int(item.get("Seek")) == 4 * 6 * result["wedges"]
    topology = ET.parse(tmp_path / "neve_unstruct_wedges_hdf5-neve.xdmf").find(".//Topology")
    assert int(topology.get("NumberOfElements")) == result["wedges"]
    assert "plotfile" in neve("bench", "unstruct", "--outputs", "neve", expect=2).err


def test_kept_files_of_every_kind_are_in_the_way_of_the_next_run(neve, tmp_path):
    options = ("--points", "500", "--outputs", "raw", "--folder", tmp_path, "--keep")
    for kind in ("values", "connectivity"):
        taken = tmp_path / f"neve_unstruct_{kind}_raw_000000.raw"
        taken.write_text("an earlier run's")
        assert taken.name in neve("bench", "unstruct", *options, expect=2).err
        assert [path.name for path in tmp_path.iterdir()] == [taken.name]
        taken.unlink()


def test_disk(neve, tmp_path):
    result = neve("bench", "disk", "--mib", "1", "--folder", tmp_path, "--json", ranks=2).json
    assert result["ranks"] == 2 and result["bytes_per_rank"] == 1 << 20
    least, most = result["write_seconds_range"]
    assert 0 < least <= result["write_seconds"] <= most
    assert result["write_MBps"] * result["write_seconds"] == pytest.approx(2 * 1.048576)
    assert list(tmp_path.iterdir()) == []
    missing = neve("bench", "disk", "--mib", "1", "--folder", tmp_path / "no", expect=1, ranks=2)
    assert "does not exist" in missing.err
    assert "--mib is 0" in neve("bench", "disk", "--mib", "0", expect=2).err


def test_szip_of_adios_is_refused_where_it_would_end_the_program(neve, tmp_path):
    options = ("--outputs", "adios-mpi-szip", "--balance", "off", "--folder", tmp_path)
    field = ("--grid", "40,24,8", "--space-frequency", "200", "--valid", "1")
    outcome = neve("bench", "struct", *field, *options, expect=None, ranks=2)
    if "made without ADIOS" in outcome.err:
        pytest.skip("this build has no ADIOS")
    assert outcome.code == 1 and "szip" in outcome.err
    assert list(tmp_path.iterdir()) == []
