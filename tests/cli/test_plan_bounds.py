# SPDX-License-Identifier: BSD-3-Clause
"""What `neve plan` and the lists of `neve bench chombo` allow: an end in memory and time."""

import resource
import subprocess

import pytest

from .conftest import BUILD, environment

GIB = 1 << 30
# Of a plan: seconds of processor time, of which the slowest takes 4.
MOST_BYTES, MOST_SECONDS = 1 << 30, 30


def plan_within(most_bytes, *arguments):
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))

    return subprocess.run(
        [BUILD / "bin" / "neve", "plan", *arguments],
        capture_output=True,
        text=True,
        env=environment(),
        preexec_fn=limit,
        timeout=600,
    )


def usage_error(*arguments):
    done = plan_within(MOST_BYTES, *arguments)
    assert done.returncode == 2, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "options, boxes, box_bytes, cut",
    [
        (["--stripe-size", "64KiB", "--stripe-count", "1"], 300_000, GIB, 65_536),
        ([], 100, 1024 * GIB, 1 << 20),
        (["--mpi-io", "ompio"], 1000, 100 * GIB, 1 << 20),
        (["--mpi-io", "romio"], 1000, 100 * GIB, 1 << 19),
        (["--mpi-io", "ompio", "--aggregate-boxes", "1"], 1000, 100 * GIB, 1 << 20),
        (["--mpi-io", "ompio", "--aggregate-boxes", "1"], 1_000_000, 1 << 18, 1 << 15),
        (["--stripe-size", "64KiB", "--sweep", "stripe-count=1,2,4,8"], 100, 2 * GIB, 65_536),
    ],
)
def test_bytes_a_stripe_are_refused_by_name(options, boxes, box_bytes, cut):
    message = usage_error("--boxes", f"{box_bytes}:{boxes}", "--ranks", "1000", *options)
    plans = 4 if "--sweep" in options else 1
    requests = boxes * box_bytes // cut + boxes
    for part in (f"{boxes * box_bytes} bytes", f" of {cut} bytes", f"{requests} requests"):
        assert part in message
    assert f"at most {8_000_000 // plans} are allowed" in message


def test_a_sweep_pays_for_each_of_its_plans():
    grid = ["--chombo", "16x16x16", "--ranks", "3", "--stripe-size", "1MiB"]
    counts = "stripe-count=1,2,4,8,16,24,32,48,64,72,80,96"
    message = usage_error(*grid, "--sweep", counts)
    assert "in each of 12 plans" in message


def test_frames_and_pieces_are_refused_before_they_are_made():
    grid = ["--chombo", "8x8x8", "--ranks", "300"]
    frames = usage_error(*grid, "--ratio", "10", "--chunk-size", "8")
    assert "frames" in frames and "--chunk-size" in frames
    pieces = usage_error(
        "--chombo", "16x16x16", "--ranks", "300", "--checkpoint", "--components", "72"
    )
    assert f"{4096 * 225} boxes in 19 datasets of a level" in pieces


@pytest.mark.parametrize(
    "options",
    [
        ["--boxes", "7MiB:1000000", "--ranks", "1000"],
        ["--boxes", "480GiB:1", "--ranks", "1000", "--stripe-size", "64KiB", "--stripe-count", "1"],
        ["--boxes", "1TiB:7", "--ranks", "3", "--mpi-io", "ompio"],
        ["--boxes", "1TiB:3", "--ranks", "3", "--mpi-io", "romio"],
    ],
)
def test_what_is_allowed_ends_soon_and_takes_little_memory(options):
    done = plan_within(MOST_BYTES, *options, "--json")
    assert done.returncode == 0, done.stderr


def test_memory_that_is_gone_is_an_error_and_no_abort():
    done = plan_within(200 << 20, "--boxes", "7MiB:1000000", "--ranks", "1000")
    assert done.returncode == 1
    assert done.stderr == "neve plan: out of memory\n"


@pytest.mark.parametrize("option", ["--box-cells", "--components"])
def test_options_of_grids_say_what_is_allowed(neve, option):
    assert (
        "1 to 1024 are allowed"
        in neve("plan", "--chombo", "1x1x1", "--ranks", "2", option, "1025", expect=2).err
    )
    neve("plan", "--chombo", "1x1x1", "--ranks", "2", option, "1024", "--stripe-size", "1GiB",
         "--stripe-count", "4")  # fmt: skip


def test_bench_takes_as_many_numbers_of_boxes_as_a_sweep(neve, tmp_path):
    bench = ["bench", "chombo", "--box-cells", "4", "--strategies", "aggregated"]
    values = ",".join(str(n) for n in range(1, 66))
    message = neve(*bench, "--folder", tmp_path, "--aggregate-boxes", values, expect=2).err
    assert "65 values; at most 64 are allowed" in message
    assert list(tmp_path.iterdir()) == []
