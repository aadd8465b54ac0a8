# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench layouts`: what lies in the files, and how HDF5 was called for it, counted by hand."""

import os
import shutil
import sys

import h5py
import numpy as np
import pytest

import neve as neve_package

from .conftest import NEVE, PLUGIN_DIR, ROOT, run

sys.path.append(str(ROOT / "bench" / "python"))
from neve_bench.amr.hierarchy import load  # noqa: E402

WAYS = (
    *("nocomp", "amrex", "amrex:4096", "amric-lr", "amric-interp", "padded-lr", "per-rank-lr"),
    *("per-field-lr", "neve", "neve:balanced", "neve-behind"),
)
FRAMES = ("amric-lr", "padded-lr", "per-rank-lr", "per-field-lr")
FIELDS = ("density", "x_velocity", "phi_grav")
REL = 1e-3
PLOTFILE_VALUES = "data:datatype=0"
STAGES = ("prepare", "encode", "write", "sync", "total")

h5py.h5pl.prepend(str(PLUGIN_DIR).encode())


@pytest.fixture(scope="module")
def hierarchy(sample):
    return load(sample, FIELDS)


@pytest.fixture(scope="module", params=(1, 2, 3))
def measured(request, neve, sample, tmp_path_factory):
    """All ways by some ranks: the report, the folder of the files, how many ranks."""
    folder = tmp_path_factory.mktemp(f"ranks{request.param}")
    report = neve(
        *("bench", "layouts", sample, "--ways", ",".join(WAYS), "--fields", ",".join(FIELDS)),
        *("--rel", REL, "--repeats", 1, "--folder", folder, "--keep", "--json", "-"),
        ranks=request.param,
    ).json
    return report, folder, request.param


def kept(folder, way):
    return h5py.File(folder / f"neve_layouts_{way.replace(':', '-')}.h5")


def owned_cells(folder, level):
    """Cells of a level that each rank with boxes holds, as the plotfile says who held them."""
    with kept(folder, "amric-lr") as file:
        group = file[f"level_{level}"]
        boxes = np.array(group["boxes"][()].tolist())
        cells = np.prod(boxes[:, 3:] - boxes[:, :3] + 1, axis=1)
        owners = group["Processors"][()]
        return [int(cells[owners == rank].sum()) for rank in np.unique(owners)]


def row_of(report, way):
    return next(row for row in report["rows"] if row["way"] == way)


def datasets_of(file, level):
    return [name for name in file[f"level_{level}"] if name not in ("boxes", "data:offsets=0")]


def stored_bytes(file):
    """Of the values' datasets alone."""
    total = 0
    for group in (file["level_0"], file["level_1"]):
        names = [n for n in group if n == PLOTFILE_VALUES or n.startswith(("rank_", "field_"))]
        total += sum(group[name].id.get_storage_size() for name in names)
    return total


def test_every_way_holds_its_bounds_and_says_what_it_took(measured, hierarchy):
    report, folder, ranks = measured
    assert [row["way"] for row in report["rows"]] == list(WAYS)
    assert report["ranks"] == ranks and report["rel"] == REL
    cells = sum(level.cells() for level in hierarchy.levels)
    covered = hierarchy.levels[1].cells() // 8
    for row in report["rows"]:
        assert row["error"] is None and row["violations"] == 0
        assert row["raw_bytes"] == cells * len(FIELDS) * hierarchy.dtype.itemsize
        keeps_covered = row["way"].startswith(("nocomp", "amrex"))
        held = cells if keeps_covered else cells - covered
        assert row["compared_values"] == held * len(FIELDS)
        path = folder / f"neve_layouts_{row['way'].replace(':', '-')}.h5"
        assert row["stored_bytes"] == path.stat().st_size
        seconds = row["seconds"]
        assert set(seconds) == set(STAGES)
        assert row["spread"] == [seconds["total"]] * 2
        # Stages are the slowest rank's, each; write is the rest, if there is one.
        together = sum(seconds[stage] for stage in STAGES[:-1])
        assert together >= seconds["total"] * (1 - 1e-6)
        assert seconds["write"] == 0 or together == pytest.approx(seconds["total"])
        assert 0 < row["call_seconds"] <= seconds["total"]


def test_datasets_and_calls_of_the_filter_are_those_of_the_layout(measured, hierarchy):
    report, folder, ranks = measured
    fields = len(FIELDS)
    held = [owned_cells(folder, level) for level in (0, 1)]
    chunks = sum(len(cells) for cells in held)  # one for each rank that has boxes of a level
    assert ranks <= chunks <= 2 * ranks
    expected = {
        "nocomp": (2, 0),
        "amric-lr": (2, chunks),
        "amric-interp": (2, chunks),
        "padded-lr": (2, chunks),
        "per-rank-lr": (chunks, chunks),
        "per-field-lr": (2 * fields, fields * chunks),
        "neve": (2, 0),
        "neve:balanced": (2, 0),
        "neve-behind": (2, 0),
    }
    for way, chunk in (("amrex", 1024), ("amrex:4096", 4096)):
        calls = sum(-(-cells * fields // chunk) for level in held for cells in level)
        expected[way] = (2, calls)
    found = {row["way"]: (row["datasets"], row["filter_calls"]) for row in report["rows"]}
    assert found == expected
    assert expected["amrex:4096"][1] < expected["amrex"][1] / 3
    for way in ("nocomp", "amrex", "amrex:4096", "padded-lr", "per-rank-lr", "per-field-lr"):
        with kept(folder, way) as file:
            assert sum(len(datasets_of(file, level)) for level in (0, 1)) == expected[way][0]


def test_chunks_are_as_large_as_the_paper_says(measured):
    _, folder, _ = measured
    fields = len(FIELDS)
    for level in (0, 1):
        cells = owned_cells(folder, level)
        name = f"level_{level}"
        with kept(folder, "amrex:4096") as file:
            assert file[name][PLOTFILE_VALUES].chunks == (4096,)
        with kept(folder, "amric-lr") as file:
            assert file[name][PLOTFILE_VALUES].chunks == (max(cells) * fields,)
        with kept(folder, "per-field-lr") as file:
            for field in range(fields):
                assert file[name][f"field_{field}"].chunks == (max(cells),)
        with kept(folder, "per-rank-lr") as file:
            found = {file[name][d].chunks for d in datasets_of(file, level)}
            assert found == {(own * fields,) for own in cells}


def test_padding_is_stored(measured):
    """All that differs is the layout: without padding the frames are the same bytes."""
    report, folder, ranks = measured
    stored = {}
    for way in FRAMES:
        with kept(folder, way) as file:
            stored[way] = stored_bytes(file)
        assert row_of(report, way)["dataset_bytes"] == stored[way]
    is_even = all(len(set(owned_cells(folder, level))) == 1 for level in (0, 1))
    assert is_even == (ranks == 1)
    if is_even:
        assert stored["padded-lr"] == stored["amric-lr"]
    else:
        assert stored["padded-lr"] > stored["amric-lr"]
    assert stored["per-rank-lr"] == pytest.approx(stored["amric-lr"], abs=8 * ranks)


def values_of_box(file, way, level, number, field, cells, owner):
    """A field of a box out of the datasets, by the tables beside them."""
    group = file[f"level_{level}"]
    first = int(group["data:offsets=0"][number])
    if way == "per-field-lr":
        return group[f"field_{field}"][first : first + cells]
    name = f"rank_{owner}" if way == "per-rank-lr" else PLOTFILE_VALUES
    first += field * cells
    return group[name][first : first + cells]


def test_h5py_reads_what_was_written(measured, hierarchy):
    _, folder, _ = measured
    with kept(folder, "amric-lr") as file:
        owners = [file[f"level_{level}"]["Processors"][()] for level in (0, 1)]
    for way in ("nocomp", "amrex", "amrex:4096", *FRAMES):
        with kept(folder, way) as file:
            for number, level in enumerate(hierarchy.levels):
                for field, name in enumerate(FIELDS):
                    least, most = level.ends_of(name)
                    bound = 0 if way == "nocomp" else REL * (most - least)
                    for b, (box, values) in enumerate(
                        zip(level.boxes, level.values[name], strict=True)
                    ):
                        found = values_of_box(
                            file, way, number, b, field, box.cells, owners[number][b]
                        )
                        error = np.abs(found.reshape(values.shape, order="F") - values)
                        if way in FRAMES:
                            error = error[uncovered(hierarchy, number, box)]
                        assert error.max(initial=0) <= bound


def uncovered(hierarchy, number, box):
    mask = np.ones(box.shape, bool)
    if number + 1 < len(hierarchy.levels):
        for finer in hierarchy.levels[number + 1].boxes:
            ends = zip(finer.lo, finer.hi, box.lo, strict=True)
            cells = [slice(max(lo // 2 - at, 0), max((hi + 1) // 2 - at, 0)) for lo, hi, at in ends]
            mask[tuple(cells)] = False
    return mask


def test_neves_files_are_plotfiles(measured, hierarchy):
    _, folder, _ = measured
    for way in ("amric-lr", "amric-interp", "neve", "neve:balanced", "neve-behind"):
        with neve_package.open(folder / f"neve_layouts_{way.replace(':', '-')}.h5") as source:
            assert tuple(source.components) == FIELDS
            assert [tuple(level.boxes) for level in source.levels] == [
                level.boxes for level in hierarchy.levels
            ]


def test_ranks_without_boxes_take_part(neve, tmp_path):
    values = np.random.default_rng(1).normal(size=(24, 16, 16)).cumsum(axis=0)
    np.save(tmp_path / "array.npy", values)
    (tmp_path / "out").mkdir()
    options = ("--repeats", 1, "--folder", tmp_path / "out", "--json", "-")
    report = neve("bench", "layouts", tmp_path / "array.npy", *options, ranks=3).json
    for row in report["rows"]:
        assert row["error"] is None and row["violations"] == 0
        assert row["compared_values"] == values.size
    assert row_of(report, "per-rank-lr")["datasets"] == 1
    assert row_of(report, "amrex")["filter_calls"] == values.size // 1024
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("shape, kind", [((501,), "f4"), ((50, 33), "f4"), ((20, 24, 9), "f8")])
def test_any_dimension_type_and_special_values(neve, tmp_path, shape, kind):
    """Three copies on two ranks: the smaller one's chunk has padding."""
    values = np.random.default_rng(2).normal(size=shape).cumsum(axis=0).astype(kind)
    values.flat[[7, 99]] = np.nan, np.inf
    np.save(tmp_path / "array.npy", values)
    options = ("--copies", 3, "--repeats", 1, "--folder", tmp_path, "--json", "-")
    report = neve("bench", "layouts", tmp_path / "array.npy", *options, ranks=2).json
    for row in report["rows"]:
        assert row["error"] is None and row["violations"] == 0
        assert row["compared_values"] == 3 * values.size
        assert row["raw_bytes"] == 3 * values.nbytes
    padded, tight = row_of(report, "padded-lr"), row_of(report, "amric-lr")
    assert padded["dataset_bytes"] > tight["dataset_bytes"]


def test_copies_multiply_the_values(neve, sample, tmp_path):
    options = ("--ways", "nocomp", "--fields", "density", "--repeats", 1, "--folder", tmp_path)
    one = neve("bench", "layouts", sample, *options, "--json", "-", ranks=2).json
    many = neve("bench", "layouts", sample, *options, "--copies", "ranks", "--json", "-", ranks=2)
    twice = many.json
    assert twice["copies"] == 2
    assert twice["rows"][0]["raw_bytes"] == 2 * one["rows"][0]["raw_bytes"]
    assert twice["rows"][0]["compared_values"] == 2 * one["rows"][0]["compared_values"]
    assert twice["rows"][0]["violations"] == 0


@pytest.mark.parametrize("ranks, repeats", [(2, 3), (1, 2)])
def test_stages_are_those_of_the_median_write(neve, sample, tmp_path, ranks, repeats):
    """And so they add up; of two writes the quicker one is the lower middle."""
    options = ("--fields", "density", "--repeats", repeats, "--folder", tmp_path, "--json", "-")
    ways = ("--ways", ",".join(WAYS))
    rows = neve("bench", "layouts", sample, *ways, *options, ranks=ranks).json["rows"]
    for row in rows:
        seconds, (least, most) = row["seconds"], row["spread"]
        # Stages are the slowest rank's, each; write is the rest, if there is one.
        together = sum(seconds[stage] for stage in STAGES[:-1])
        assert together >= seconds["total"] * (1 - 1e-6)
        assert seconds["write"] == 0 or together == pytest.approx(seconds["total"])
        assert least <= seconds["total"] <= most and least < most
        assert repeats == 3 or seconds["total"] == least
        if row["way"] != "neve-behind":
            assert row["call_seconds"] == seconds["total"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_chunks_of_one_value(neve, tmp_path, ranks):
    values = np.random.default_rng(3).normal(size=(12, 8, 8)).cumsum(axis=0)
    np.save(tmp_path / "array.npy", values)
    options = ("--ways", "amrex:1,amrex:2", "--repeats", 1, "--folder", tmp_path, "--json", "-")
    rows = neve("bench", "layouts", tmp_path / "array.npy", *options, ranks=ranks).json["rows"]
    assert [row["filter_calls"] for row in rows] == [values.size, values.size // 2]
    for row in rows:
        assert row["error"] is None and row["violations"] == 0
        assert row["compared_values"] == values.size


def test_help_states_the_limits(neve):
    text = " ".join(neve("bench", "layouts", "--help").out.split())
    for words in ("CHUNK: 1 to 16777216 values", "1 to 1000", "1 to 4096"):
        assert words in text
    largest = neve("bench", "layouts", "none", "--ways", "amrex:16777217", expect=2)
    assert "a whole number from 1 to 16777216" in largest.err


def test_the_table_and_a_file_of_figures(neve, sample, tmp_path):
    figures = tmp_path / "figures.json"
    options = ("--ways", "nocomp,neve", "--repeats", 2, "--folder", tmp_path, "--no-verify")
    out = neve("bench", "layouts", sample, *options, "--json", figures).out
    for word in ("nocomp", "neve", "encode s", "waits s", "2 repeats"):
        assert word in out
    assert '"violations": null' in figures.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]


@pytest.mark.parametrize(
    "options, part",
    [
        (("--ways", "amric"), "way 'amric' is unknown; allowed: nocomp, amrex[:CHUNK]"),
        (("--ways", "amrex:0"), "a chunk of '0' values; a whole number from 1 to 16777216"),
        (("--ways", "amrex:4k"), "a chunk of '4k' values"),
        (("--ways", "nocomp:3"), "nocomp has no setting; '3' stands behind the colon"),
        (("--ways", "neve:quick"), "quick"),
        (("--ways", "amrex,amrex:1024"), "way 'amrex:1024' is the same as 'amrex'"),
        (("--ways", "nocomp", "--rel", "1e-2"), "--rel has no meaning with --ways nocomp alone"),
        (("--rel", "0"), "--rel: bound: value is 0"),
        (("--fields", "entropy"), "unknown field 'entropy'; the fields are density"),
        (("--fields", "Temp,Temp"), "field 'Temp' is given twice"),
        (("--copies", "0"), "copies is 0"),
        (("--copies", "many"), "--copies is 'many'"),
        (("--copies", "4096", "--repeats", "0"), "repeats is 0"),
        (("--json", "missing/figures.json"), "missing"),
    ],
)
def test_refuses(neve, sample, options, part):
    outcome = neve("bench", "layouts", sample, *options, expect=2, ranks=2)
    assert part in outcome.err and outcome.out == ""
    assert len(outcome.messages()) == 1


def test_a_folder_that_cannot_be_written_to_is_one_error(neve, sample, tmp_path):
    for folder in (tmp_path / "missing", sample / "Header"):
        outcome = neve("bench", "layouts", sample, "--folder", folder, expect=1, ranks=2)
        assert str(folder) in outcome.err and len(outcome.messages()) == 1


@pytest.mark.parametrize("phase", ["encode", "write", "sync"])
def test_one_rank_that_fails_ends_each_way_with_the_same_error(neve, sample, tmp_path, phase):
    options = ("--fields", "density", "--repeats", 2, "--folder", tmp_path, "--json", "-")
    rank = 0 if phase == "sync" else 1
    outcome = neve(
        "bench", "layouts", sample, *options, ranks=2, expect=1, NEVE_FAULT=f"{phase}:{rank}"
    )
    rows = outcome.json["rows"]
    failed = {row["way"] for row in rows if row["error"] is not None}
    assert all(phase in row["error"] for row in rows if row["way"] in failed)
    every = {row["way"] for row in rows}
    assert failed == (every - {"nocomp"} if phase == "encode" else every)
    assert len(outcome.messages()) == 1
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_one_error(sample, tmp_path):
    """A file system of 64 KiB, seen only by the command."""
    tmpfs = ("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path)
    probe = run(["unshare", "-rm", *tmpfs])
    if probe.code != 0:
        pytest.skip(f"no private file system can be mounted here: {probe.err.strip()}")
    bench = f"timeout 100 mpirun -n 2 {NEVE} bench layouts {sample} --repeats 1 --folder {tmp_path}"
    mount = " ".join(map(str, tmpfs))
    script = f"{mount} && {bench}; code=$?; echo left: $(ls -A {tmp_path}); exit $code"
    outcome = run(["unshare", "-rm", "bash", "-c", script])
    assert outcome.code == 1
    assert "No space left" in outcome.err
    assert len(outcome.messages()) == 1
    assert outcome.out.splitlines()[-1] == "left:"


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not here")
@pytest.mark.parametrize("way", ["nocomp", "amrex"])
def test_a_write_that_fails_is_an_error_of_all_ranks(sample, tmp_path, way):
    fails = "inject=pwrite64:error=EIO:when=3+"
    command = ["mpirun", "-n", 2, "strace", "--seccomp-bpf", "-f", "-o", "/dev/null", "-e", fails]
    command += [NEVE, "bench", "layouts", sample, "--ways", way, "--repeats", "1"]
    outcome = run(["timeout", "60", *command, "--folder", tmp_path])
    assert outcome.code == 1
    (message,) = outcome.messages()
    assert "Input/output error" in message
    assert list(tmp_path.iterdir()) == []
