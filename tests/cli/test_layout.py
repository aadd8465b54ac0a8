# SPDX-License-Identifier: BSD-3-Clause
"""Stripes, aggregators and buffers of `neve convert`."""

LAYOUT = (
    *("--stripe-count", "4", "--stripe-size", "1MiB"),
    *("--aggregators", "1", "--buffer-size", "4MiB"),
)


def test_layout_becomes_hints_that_are_said_once(neve, sample, tmp_path):
    outcome = neve("convert", sample, tmp_path / "a.h5", *LAYOUT, ranks=2)
    lines = [line for line in outcome.out.splitlines() if line.startswith("MPI-IO hints")]
    assert len(lines) == 1
    for hint in ("cb_nodes=1", "cb_buffer_size=4194304", "striping_unit=1048576"):
        assert hint in lines[0]
    plain = neve("convert", sample, tmp_path / "b.h5", ranks=2)
    assert "MPI-IO hints" not in plain.out
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_users_hints_come_last(neve, sample, tmp_path):
    report = neve(
        *("convert", sample, tmp_path / "a.h5", *LAYOUT, "--json"), NEVE_MPI_HINTS="cb_nodes=3"
    ).json
    assert report["hints"]["cb_nodes"] == "3"
    assert report["hints"]["cb_buffer_size"] == "4194304"


def test_impossible_layouts_are_refused(neve, sample, tmp_path):
    for option, value, part in (
        ("--stripe-size", "1000", "65536"),
        ("--aggregators", "-1", "aggregators"),
        ("--buffer-size", "2GiB", "2 GiB"),
    ):
        outcome = neve("convert", sample, tmp_path / "a.h5", option, value, expect=2)
        assert part in outcome.err
    outcome = neve("convert", sample, tmp_path / "plt", "--aggregators", "1", expect=2)
    assert "--aggregators has no meaning" in outcome.err
    assert list(tmp_path.iterdir()) == []
