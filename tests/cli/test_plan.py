# SPDX-License-Identifier: BSD-3-Clause
"""`neve plan`: counts against the ACB paper's Table I, advice, and what it refuses."""

import pytest

from .conftest import shared


def plan(neve, *arguments):
    return neve("plan", *arguments, "--json").json


def by_name(result):
    return {strategy["name"]: strategy for strategy in result["strategies"]}


@pytest.mark.parametrize("stripes", ["48", "96"])
def test_table_one(neve, stripes):
    result = plan(
        neve,
        "--chombo",
        "8x8x8",
        "--ranks",
        "2304",
        "--stripe-count",
        stripes,
        "--stripe-size",
        "8MiB",
    )
    assert result["boxes"] == 115200
    assert result["bytes"] == 115200 * 4599936
    strategies = by_name(result)
    mpi = {name: s["mpi"]["writes"] for name, s in strategies.items()}
    assert mpi == {
        "independent": 115200,
        "collective": 119808,
        "aggregated": 6912,
        "skeleton": 2304,
    }
    posix = {name: s["posix"]["writes_with_metadata"] for name, s in strategies.items()}
    assert posix["independent"] == 115268
    assert posix["aggregated"] == 63241
    assert abs(posix["collective"] - 164270) <= 0.005 * 164270
    # The paper's factors: collective 1.1 to 1.6 times faster than independent, aggregated 2 to 3.4.
    seconds = {name: s["seconds"]["total"] for name, s in strategies.items()}
    assert 1.1 <= seconds["independent"] / seconds["collective"] <= 1.6
    assert 2.0 <= seconds["independent"] / seconds["aggregated"] <= 3.4


def test_table_names_what_its_numbers_stand_on(neve):
    text = neve("plan", "--chombo", "1x1x1", "--ranks", "8", "--bins", "--ratio", "10").out
    assert "skeleton, compressed" in text
    assert "10M-100M" in text
    for word in ("computed:", "calibrated:", "published:", "assumed:", "measured", "given:"):
        assert word in text


def test_small_boxes_of_a_checkpoint(neve):
    result = plan(
        neve,
        "--bisicles",
        "--checkpoint",
        "--ranks",
        "576",
        "--stripe-size",
        "4MiB",
    )
    strategies = by_name(result)
    independent, aggregated = (strategies[name]["posix"] for name in ("independent", "aggregated"))
    assert independent["writes"] >= 20 * aggregated["writes"]
    assert aggregated["mean_bytes"] >= 50 * independent["mean_bytes"]


def test_aggregate_boxes_makes_calls_of_so_many(neve):
    result = plan(
        neve,
        "--chombo",
        "1x1x1",
        "--ranks",
        "8",
        "--aggregate-boxes",
        "3",
        "--distribution",
        "chombo",
    )
    assert by_name(result)["aggregated, 3 boxes"]["mpi"]["writes"] == 8 * (1 + 2 + 8)


def test_compression_pays_until_the_codec_is_too_slow(neve):
    arguments = ("--chombo", "4x4x4", "--ranks", "576", "--ratio", "20")
    advice = plan(neve, *arguments)["recommended"]
    assert advice["compress"] is True
    break_even = advice["break_even_codec_MBps"]
    slower = plan(neve, *arguments, "--codec-speed", str(break_even * 0.9))["recommended"]
    faster = plan(neve, *arguments, "--codec-speed", str(break_even * 1.1))["recommended"]
    assert slower["compress"] is False
    assert faster["compress"] is True


def test_boxes_by_size(neve):
    result = plan(
        neve, "--boxes", "4KiB:100", "--boxes", "1000:10", "--ranks", "4", "--targets", "8"
    )
    assert result["boxes"] == 110
    assert result["bytes"] == 4096 * 100 + 10000
    assert result["stripe_count"] <= 8


def test_a_plotfile_is_planned_for(neve):
    path = shared("chombo/ramp.000020.3d.hdf5")
    result = plan(neve, path, "--ranks", "4")
    info = neve("info", path, "--json").json
    assert result["boxes"] == sum(level["boxes"] for level in info["levels"])
    assert result["bytes"] == sum(level["raw_bytes"] for level in info["levels"])


@pytest.mark.parametrize(
    "arguments, part",
    [
        (("--ranks", "4"), "give exactly one"),
        (("--ranks", "4", "--bisicles", "--chombo", "1x1x1"), "give exactly one"),
        (("--ranks", "0", "--bisicles"), "--ranks is 0"),
        (("--ranks", "4", "--chombo", "8x8"), "NXxNYxNZ"),
        (("--ranks", "4", "--chombo", "8x8x0"), "units"),
        (("--ranks", "4", "--boxes", "12"), "SIZE:COUNT"),
        (("--ranks", "4", "--boxes", "0:3"), "0 bytes"),
        (("--ranks", "4", "--bisicles", "--system", "laptop"), "edison, cori"),
        (("--ranks", "4", "--bisicles", "--distribution", "random"), "even-runs, greedy, chombo"),
        (("--ranks", "4", "--bisicles", "--stripe-count", "97"), "96 targets"),
        (("--ranks", "4", "--bisicles", "--ratio", "-3"), "--ratio"),
        (("--ranks", "4", "--bisicles", "--target-bandwidth", "-1"), "--target-bandwidth"),
        (("--ranks", "4", "--bisicles", "--target-bandwidth", "inf"), "inf"),
        (("--ranks", "4", "--bisicles", "--node-bandwidth", "nan"), "nan"),
        (("--ranks", "4", "--bisicles", "--ratio", "0"), "--ratio is 0; 0.1 to"),
        (("--ranks", "4", "--bisicles", "--request-latency", "-5"), "--request-latency is -5"),
        (("--ranks", "4", "--bisicles", "--lock-latency", "-5"), "--lock-latency is -5"),
        (("--ranks", "4", "--bisicles", "--call-latency", "-5"), "--call-latency is -5"),
        (("--ranks", "4", "--bisicles", "--stripe-count", "0"), "--stripe-count is 0"),
        (("--ranks", "4", "--bisicles", "--stripe-count", "9", "--targets", "8"), "8 targets"),
        (("--ranks", "4", "--bisicles", "--aggregators", "0"), "--aggregators is 0"),
        (("--ranks", "4", "--bisicles", "--aggregators", "100"), "1 to 4 are allowed"),
        (("--ranks", "4", "--bisicles", "--stripe-size", "8B"), "multiples of 65536"),
        (("--ranks", "4", "--bisicles", "--stripe-size", "100KiB"), "multiples of 65536"),
        (("--ranks", "4", "--bisicles", "--stripe-size", "0"), "--stripe-size is 0"),
        (("--ranks", "4", "x.h5", "--box-cells", "8"), "--box-cells has no meaning"),
        (("--ranks", "4", "--boxes", "9:9", "--box-cells", "8"), "--box-cells has no meaning"),
        (("--ranks", "4", "--boxes", "9:100000000"), "at most 1000000"),
        (
            ("--ranks", "4", "--boxes", "9:600000", "--boxes", "8:600000"),
            "600000 boxes of 8 bytes after 600000 others",
        ),
        (("--ranks", "4", "--chombo", "1000x1000x1000"), "at most 1000000"),
        (
            ("--ranks", "1000000", "--bisicles", "--checkpoint", "--distribution", "greedy"),
            "calls of strategy collective",
        ),
        (("--bisicles",), "--ranks is missing"),
        (("--ranks", "4", "--bisicles", "--mpi-io", "gpfs"), "lustre, romio, ompio"),
        (("--ranks", "4", "--bisicles", "--mpi-io", "romio", "--stripe-count", "4"), "no stripes"),
        (
            ("--ranks", "4", "--bisicles", "--mpi-io", "ompio", "--stripe-size", "1MiB"),
            "no stripes",
        ),
        (("--ranks", "4", "--bisicles", "--mpi-io", "ompio", "--system", "cori"), "no stripes"),
        (("--ranks", "4", "--bisicles", "--plot", "x.png"), "without --sweep"),
        (("--ranks", "4", "--bisicles", "--sweep", "ranks=1,2"), "--ranks has no meaning"),
        (("--ranks", "4", "--bisicles", "--sweep", "boxes=1"), "ranks, stripe-count"),
        (("--ranks", "4", "--bisicles", "--sweep", "aggregators=1,8"), "8 aggregators on 4 ranks"),
        (("--bisicles", "--sweep", "ranks=1,,2"), "'' is not a number"),
        (("--bisicles", "--sweep", "ranks="), "NAME=LIST"),
        (("--bisicles", "--sweep", "ranks=" + ",".join("1" * 65)), "at most 64"),
        (("--ranks", "4", "--bisicles", "--sweep", "stripe-size=100KiB"), "multiples of 65536"),
        (
            ("--ranks", "4", "--bisicles", "--mpi-io", "romio", "--sweep", "stripe-count=1"),
            "no str",
        ),
    ],
)
def test_refuses(neve, arguments, part):
    outcome = neve("plan", *arguments, expect=2)
    assert len(outcome.messages()) == 1
    assert part in outcome.messages()[0]


def pasted(result, use):
    return [line["line"] for line in result["paste"] if line["use"].startswith(use)]


def test_lines_to_paste_for_lustre(neve):
    layout = ("--stripe-count", "8", "--stripe-size", "4MiB", "--ranks-per-node", "16")
    result = plan(neve, "--chombo", "2x2x2", "--ranks", "64", *layout)
    assert pasted(result, "the folder") == ["lfs setstripe -c 8 -S 4M DIR"]
    best = result["recommended"]["uncompressed"]
    text = f"strategy={best};stripe_count=8;stripe_size=4MiB;aggregators=8"
    assert pasted(result, "options as text") == [text]
    keys = dict(line.split(" = ") for line in pasted(result, "input file"))
    assert ";".join(f"{k.removeprefix('neve.')}={v}" for k, v in keys.items()) == text
    hints = dict(line.split() for line in pasted(result, "a line of the file"))
    # 8 aggregators on 4 nodes: two of each.
    assert hints["cb_config_list"] == "*:2"
    assert hints["cb_nodes"] == hints["striping_factor"] == "8"
    assert hints["striping_unit"] == str(4 << 20)
    # There colons part the hints.
    (cray,) = pasted(result, "environment, hints for any program on a Cray")
    assert ":cb_config_list=#*:2#:" in cray


@pytest.mark.parametrize("mpi_io", ["lustre", "romio", "ompio"])
def test_lines_to_paste_are_taken(neve, tmp_path, mpi_io):
    """By the commands that they are for, in one way or another."""
    more = () if mpi_io == "lustre" else ("--aggregators", "2")
    small = ("--chombo", "1x1x1", "--box-cells", "4")
    result = plan(neve, *small, "--ranks", "2", "--mpi-io", mpi_io, *more)
    assert pasted(result, "the folder") == [] or mpi_io == "lustre"
    (options,) = pasted(result, "neve bench chombo")
    bench = ("--repeats", "1", "--folder", tmp_path, *options.split())
    done = neve("bench", "chombo", *bench, "--json", ranks=2).json
    assert done["box_cells"] == 4
    assert [s["name"] for s in done["strategies"]] == [result["recommended"]["uncompressed"]]
    (options,) = pasted(result, "neve convert")
    source = shared("chombo/ramp.000020.3d.hdf5")
    neve("convert", source, tmp_path / "a.h5", "--uncompressed", *options.split(), ranks=2)
    for line in pasted(result, "environment, hints for Neve"):
        hints = line.removeprefix('export NEVE_MPI_HINTS="').removesuffix('"')
        neve("bench", "chombo", *bench, ranks=2, NEVE_MPI_HINTS=hints)


@pytest.mark.parametrize(
    "grid, datasets, made",
    [
        (("--chombo", "2x1x1", "--box-cells", "8"), 1, {"units": [2, 1, 1], "file": "plot"}),
        (
            ("--bisicles", "--checkpoint", "--components", "5", "--distribution", "greedy"),
            5,
            {"grid": "bisicles", "file": "checkpoint", "distribution": "greedy"},
        ),
    ],
)
def test_lines_to_paste_where_compression_pays(neve, tmp_path, grid, datasets, made):
    """They compress, and the benchmark writes the boxes that were planned for."""
    result = plan(neve, *grid, "--ranks", "2", "--ratio", "20", "--target-bandwidth", "0.001")
    assert result["recommended"]["compress"] is True
    (options,) = pasted(result, "neve bench chombo")
    bench = ("--repeats", "1", "--folder", tmp_path, *options.split())
    done = neve("bench", "chombo", *bench, "--json", ranks=2).json
    assert [s["name"] for s in done["strategies"]] == ["compressed"]
    # A plan counts a box once for each dataset that it is in.
    assert done["boxes"] * datasets == result["boxes"]
    assert done.items() >= made.items()
    (options,) = pasted(result, "neve convert")
    assert "--bound rel=" in options
    source = shared("chombo/ramp.000020.3d.hdf5")
    converted = tmp_path / "a.h5"
    neve("convert", source, converted, *options.split(), ranks=2)
    assert converted.stat().st_size < sum(
        level["raw_bytes"] for level in neve("info", converted, "--json").json["levels"]
    )


def test_stripes_are_those_of_the_fastest_strategy(neve):
    """Striping is searched for, beside skeleton, as independent would have it."""
    case = ("--chombo", "2x2x2", "--ranks", "64")
    result = plan(neve, *case)
    seconds = {name: s["seconds"]["total"] for name, s in by_name(result).items()}
    best = result["recommended"]["uncompressed"]
    assert best == min(seconds, key=seconds.get) == "independent"
    for count in (1, 4, 16, 32, 64, 96):
        for size in ("1MiB", "4MiB", "16MiB"):
            other = plan(neve, *case, "--stripe-count", str(count), "--stripe-size", size)
            times = [s["seconds"]["total"] for s in other["strategies"]]
            assert seconds[best] <= 1.05 * min(times), (count, size)
            # No striping makes collective or aggregated faster than skeleton.
            independent, collective, aggregated, skeleton = times
            assert skeleton <= aggregated <= collective


def test_few_ranks_and_disks_are_caveats(neve):
    result = plan(neve, "--chombo", "1x1x1", "--box-cells", "8", "--ranks", "2")
    assert any("2 ranks" in line for line in result["caveats"])
    assert any("without stripes" in line for line in result["caveats"])
    result = plan(neve, "--chombo", "1x1x1", "--ranks", "4", "--mpi-io", "romio")
    assert any("hdf5-collective, no hints writes" in line for line in result["caveats"])


def test_requests_of_ompio_and_romio(neve):
    small = ("--chombo", "1x1x1", "--box-cells", "8")
    # Two ranks of OMPIO write for themselves: each run of boxes that adjoin in the file, as traced.
    two = by_name(plan(neve, *small, "--ranks", "2", "--mpi-io", "ompio"))
    assert two["independent"]["posix"]["writes_with_metadata"] == 225 + 9
    assert two["aggregated"]["posix"]["writes"] == 59
    assert two["skeleton"]["posix"]["writes"] == 58
    four = by_name(plan(neve, *small, "--ranks", "4", "--mpi-io", "ompio"))
    assert four["aggregated"]["posix"]["writes"] == 3
    # Forced to buffer calls that leave gaps, ROMIO reads them.
    many = ("--ranks", "8", "--mpi-io", "romio", "--aggregators", "1")
    buffered = by_name(plan(neve, *small, *many))["collective"]
    assert buffered["read_modify_write_bytes"] > 2 * 3_600_000
    assert by_name(plan(neve, *small, "--ranks", "8"))["collective"]["read_modify_write_bytes"] == 0


@pytest.mark.parametrize("sweep", ["ranks=2,4", "stripe-count=1,8", "stripe-size=1MiB,4MiB"])
def test_a_sweep_is_the_plans_of_its_values(neve, sweep):
    small = ("--chombo", "1x1x1", "--box-cells", "16")
    ranks = () if sweep.startswith("ranks") else ("--ranks", "8")
    result = plan(neve, *small, *ranks, "--sweep", sweep)
    name, _, values = sweep.partition("=")
    assert result["sweep"] == name
    assert [point["text"] for point in result["points"]] == values.split(",")
    for point in result["points"]:
        assert point["plan"] == plan(neve, *small, *ranks, f"--{name}", point["text"])


def test_boxes_a_call_against_memory(neve):
    small = ("--chombo", "1x1x1", "--box-cells", "8", "--ranks", "8")
    result = plan(neve, *small, "--sweep", "aggregate-boxes=1,2,8,100")
    rows = [by_name(point["plan"]) for point in result["points"]]
    box = 10**3 * 2 * 8
    held = [
        row[f"aggregated, {k} boxes"]["buffer_bytes"]
        for row, k in zip(rows, (1, 2, 8, 100), strict=True)
    ]
    assert held[:3] == [box, 2 * box, 8 * box]
    assert held[3] == rows[3]["aggregated"]["buffer_bytes"] == 24 * box
    calls = [
        row[f"aggregated, {k} boxes"]["mpi"]["writes"]
        for row, k in zip(rows, (1, 2, 8, 100), strict=True)
    ]
    assert calls == sorted(calls, reverse=True)
    text = neve("plan", *small, "--sweep", "aggregate-boxes=1,2").out
    assert "aggregated, K boxes" in text and "15.6 KiB" in text
    romio = ("--mpi-io", "romio", "--sweep", "aggregate-boxes=1,2")
    text = neve("plan", *small, *romio).out
    assert "hdf5-collective, no hints" in text and "collective, K boxes" not in text


@pytest.mark.parametrize("kind, start", [("png", b"\x89PNG"), ("html", b"<!doctype html>")])
def test_a_sweep_is_drawn(neve, tmp_path, kind, start):
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"sweep.{kind}"
    small = ("--chombo", "1x1x1", "--box-cells", "8", "--ratio", "10")
    neve("plan", *small, "--sweep", "ranks=2,4,8", "--plot", picture)
    assert picture.read_bytes().startswith(start)
    outcome = neve("plan", *small, "--sweep", "ranks=2,4", "--plot", tmp_path / "x.xyz", expect=2)
    assert "a picture is" in outcome.err
