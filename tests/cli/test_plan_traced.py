# SPDX-License-Identifier: BSD-3-Clause
"""`neve plan --mpi-io romio|ompio` against what `neve trace` counts of `neve bench chombo`."""

import re
import subprocess

import pytest

from .conftest import BUILD, environment

NEVES = ["independent", "collective", "aggregated", "skeleton", "compressed"]
OTHERS = [
    "hdf5-independent",
    "hdf5-collective",
    "hdf5-aggregated",
    "hdf5-aggregated-independent",
    "cb2-collective",
    "cb2-aggregated",
]
COMPONENTS = {"ompio": "ompio", "romio": "romio321"}


@pytest.fixture(scope="session")
def components():
    """MPI-IO components of the Open MPI that is here."""
    try:
        told = subprocess.run(["ompi_info"], capture_output=True, text=True, env=environment())
    except FileNotFoundError:
        pytest.skip("the MPI library is not Open MPI: ompi_info is missing")
    return set(re.findall(r"MCA io: (\w+)", told.stdout))


def traced(neve, folder, io, ranks, strategies, options):
    """Of each strategy: POSIX writes, bytes written and bytes read of its file."""
    bench = [BUILD / "bin" / "neve", "bench", "chombo", "--box-cells", "8", "--repeats", "1"]
    mpirun = ["env", f"OMPI_MCA_io={COMPONENTS[io]}", "mpirun", "-n", ranks]
    names = ["--strategies", ",".join(strategies), "--folder", folder]
    out = folder / "trace.json"
    neve("trace", "run", "-o", out, "--", *mpirun, *bench, *names, *options)
    found = neve("trace", "report", out, "--json").json["traces"][0]
    counts = {}
    for file in found["files"].values():
        name = re.search(r"neve_chombo_([\w-]+)\.h5$", " ".join(file["renamed_to"]))
        if name:
            of = file["posix"]["counters"]
            kinds = ("WRITES", "BYTES_WRITTEN", "BYTES_READ")
            counts[name[1]] = tuple(of[f"POSIX_{kind}"] for kind in kinds)
    assert set(counts) == set(strategies)
    return counts


def planned(neve, io, ranks, options):
    grid = ["--chombo", "1x1x1", "--box-cells", "8", "--ranks", ranks, "--ratio", "20"]
    result = neve("plan", *grid, "--mpi-io", io, "--json", *options).json
    assert result["mpi_io"] == io
    return {row["name"]: row for row in result["strategies"]}


def expect_as_planned(neve, folder, io, ranks, strategies, options=()):
    rows = planned(neve, io, ranks, options)
    names = {"compressed": "skeleton, compressed"}
    if "--aggregate-boxes" in options:
        names["aggregated"] = f"aggregated, {options[1]} boxes"
    for name, (writes, written, read) in traced(
        neve, folder, io, ranks, strategies, options
    ).items():
        row = rows[names.get(name, name)]
        told = row["posix"]["writes_with_metadata"]
        assert abs(writes - told) <= 0.1 * writes + 2, (name, writes, told)
        if name != "compressed":  # how small frames get is the codec's
            # Structure of 225 boxes: some 34 KB.
            assert 0 <= written - row["posix"]["bytes"] <= 40_000, name
            assert read == row["read_modify_write_bytes"], name


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("io", ["ompio", "romio"])
def test_every_strategy_makes_as_many_posix_writes_as_planned(
    neve, components, tmp_path, io, ranks
):
    if COMPONENTS[io] not in components:
        pytest.skip(f"this Open MPI has no {COMPONENTS[io]}")
    expect_as_planned(neve, tmp_path, io, ranks, NEVES + OTHERS)


@pytest.mark.parametrize(
    "options",
    [
        ("--aggregate-boxes", "4"),
        ("--aggregators", "2"),
    ],
)
@pytest.mark.parametrize("io", ["ompio", "romio"])
def test_boxes_a_call_and_aggregators(neve, components, tmp_path, io, options):
    """With aggregators asked for, ROMIO buffers calls that leave gaps, and reads them back."""
    if COMPONENTS[io] not in components:
        pytest.skip(f"this Open MPI has no {COMPONENTS[io]}")
    strategies = ["aggregated", "collective"]
    expect_as_planned(neve, tmp_path, io, 4, strategies, options)
    read = planned(neve, io, 4, options)["collective"]["read_modify_write_bytes"]
    assert (read > 0) == (io == "romio" and options[0] == "--aggregators")


def test_without_hints_romio_reads_back_what_lies_between_boxes(neve, components, tmp_path):
    if "romio321" not in components:
        pytest.skip("this Open MPI has no romio321")
    row = planned(neve, "romio", 4, ())["hdf5-collective, no hints"]
    hints = "NEVE_MPI_HINTS=romio_cb_write=automatic;romio_ds_write=automatic"
    bench = ["env", hints, "OMPI_MCA_io=romio321", "mpirun", "-n", 4, BUILD / "bin" / "neve"]
    names = ["--strategies", "hdf5-collective", "--folder", tmp_path, "--repeats", "1"]
    out = tmp_path / "trace.json"
    neve("trace", "run", "-o", out, "--", *bench, "bench", "chombo", "--box-cells", "8", *names)
    found = neve("trace", "report", out, "--json").json["traces"][0]["files"].values()
    of = next(f["posix"]["counters"] for f in found if f["renamed_to"])
    assert abs(of["POSIX_WRITES"] - row["posix"]["writes_with_metadata"]) <= 2
    assert of["POSIX_BYTES_READ"] == row["read_modify_write_bytes"] > 3 * 3_600_000


@pytest.mark.parametrize(
    "grid, file",
    [
        (["--chombo", "1x1x1"], ["--units", "1,1,1"]),
        (["--bisicles"], ["--grid", "bisicles"]),
    ],
)
@pytest.mark.parametrize("io", ["ompio", "romio"])
def test_structure_of_checkpoints(neve, components, tmp_path, io, grid, file):
    """One rank, so that writes of data leave no doubt."""
    if COMPONENTS[io] not in components:
        pytest.skip(f"this Open MPI has no {COMPONENTS[io]}")
    strategies = ["skeleton", "hdf5-aggregated"]
    for number in ("3", "15"):
        cells = ["--components", number]
        plan = ["--box-cells", "8", "--ranks", "1", "--mpi-io", io, "--checkpoint", "--json"]
        rows = {row["name"]: row for row in neve("plan", *grid, *cells, *plan).json["strategies"]}
        options = [*file, "--file", "checkpoint", *cells]
        for name, (writes, _, _) in traced(neve, tmp_path, io, 1, strategies, options).items():
            told = rows[name]["posix"]["writes_with_metadata"]
            assert abs(writes - told) <= max(4, 0.02 * writes), (name, number, writes, told)
