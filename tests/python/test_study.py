# SPDX-License-Identifier: BSD-3-Clause
"""What a study says of its runs: pairs of layouts, the sign test."""

import re

import pytest

import neve
from neve_bench.study import deck, summary


def row(layout, output, seconds, ranks=2):
    return {
        "app": "struct",
        "layout": layout,
        "output": output,
        "compression": output[5:] or "none",
        "ranks": ranks,
        "write_seconds": sorted(seconds.values())[len(seconds) // 2],
        "write_runs": seconds,
    }


@pytest.mark.parametrize(
    "wins, losses, chance", [(0, 0, 1), (1, 0, 1), (3, 3, 1), (6, 0, 2 / 64), (0, 6, 2 / 64)]
)
def test_sign_test(wins, losses, chance):
    assert summary.sign_test(wins, losses) == pytest.approx(chance)


def test_layouts_are_compared_run_by_run():
    table = [
        row("unbalanced", "hdf5", {0: 1.0, 1: 2.0, 2: 4.0}),
        # Run 1 failed: 0 belongs to 0, 2 to 2.
        row("balanced", "hdf5", {0: 1.5, 2: 3.0}),
        row("unbalanced", "hdf5-zlib", {repeat: 1.0 for repeat in range(6)}),
        row("balanced", "hdf5-zlib", {repeat: 1.2 for repeat in range(6)}),
        row("unbalanced", "hdf5", {0: 1.0}, ranks=1),
        row("balanced", "hdf5", {0: 9.0}, ranks=1),
        row("unbalanced", "hdf5-zfp", {0: 1.0}),
    ]
    compared = summary.layouts_compared(table)
    assert compared["without compression"]["factors"] == [1.5, 0.75]
    assert not summary.is_told(compared["without compression"])
    assert compared["zlib"]["wins"] == compared["with compression"]["wins"] == 6
    assert summary.is_told(compared["zlib"])
    assert compared["zlib"]["median"] == pytest.approx(1.2)
    assert compared[summary.CONTROL]["factors"] == [9.0]
    assert "zfp" not in compared


def test_compressions_are_compared_in_one_place():
    def one(container, compression, ranks):
        place = {"app": "struct", "part": "", "layout": "balanced", "write_seconds": 1.0}
        return {**place, "container": container, "compression": compression, "ranks": ranks}

    table = [
        one("hdf5", "zfp", 1),
        one("hdf5", "zfp", 2),
        one("hdf5", "neve", 2),
        one("neve", "neve", 2),
        one("adios-mpi", "zfp", 2),
    ]
    pairs = summary.compressions_compared(table, "struct", "neve", "zfp")
    assert [(a["container"], b["container"], b["ranks"]) for a, b in pairs] == [
        ("hdf5", "hdf5", 2),
        ("neve", "hdf5", 2),
    ]


def test_csv_has_a_line_a_row():
    text = summary.as_csv([{"app": "struct", "error": 'a "quoted", one'}])
    assert text.splitlines()[0].startswith("app,part,output")
    assert text.splitlines()[1].endswith('"a ""quoted"", one"')


DECK = """
ranks = [2]
repeats = 1
writes = 3
launcher = "mpirun -n {ranks} {command}"
[struct]
balance = ["off"]
outputs = ["hdf5"]
options = { fill = -9.5, steps = 1 }
at.2 = { grid = [32, 24, 8], bound = "abs=1e-4" }
"""


def test_a_cell_is_a_command(tmp_path):
    path = tmp_path / "deck.toml"
    path.write_text(DECK)
    (cell,) = deck.read(str(path)).cells
    assert " ".join(cell.launcher) == "mpirun -n 2 {command}"
    assert " ".join(cell.words) == (
        "bench struct --json --phases --outputs hdf5 --balance off "
        "--repeats=3 --fill=-9.5 --steps=1 --grid=32,24,8 --bound=abs=1e-4"
    )


@pytest.mark.parametrize(
    "old, new, part",
    [
        ("ranks = [2]", "", "has no ranks"),
        ("ranks = [2]", "rank = [2]", "unknown 'rank'"),
        ("ranks = [2]", "ranks = [0]", "ranks is 0"),
        ("repeats = 1", "repeats = 0", "repeats is 0"),
        ("repeats = 1", "repeats = true", "repeats is True"),
        ("[struct]", "[structure]", "unknown 'structure'"),
        ('["off"]', '["maybe"]', "allowed are off, on"),
        ("steps = 1", "steps = 1, keep = true", "the study's own"),
        ("{ranks} {command}", "{command}", "{ranks}"),
        ("{ranks} {command}", "{ranks} {nodes} {command}", "ranks-per-node"),
        ("[struct]", "[struct", "deck.toml"),
    ],
)
def test_refuses_decks(tmp_path, old, new, part):
    path = tmp_path / "deck.toml"
    assert old in DECK
    path.write_text(DECK.replace(old, new))
    with pytest.raises(neve.Error, match=re.escape(part)) as refused:
        deck.read(str(path))
    assert refused.value.code == 2
