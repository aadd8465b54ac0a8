# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of an original and its copy: the error that is drawn, told and counted."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import small_amr

import neve
from neve.plot._borders import INTERIOR, BorderErrors, Levels
from neve.plotfile import Box

pytest.importorskip("matplotlib")
import neve.plot  # noqa: E402

DIMS = (1, 2, 3)


def error_panel(figure, panel=2):
    return figure.axes[panel].get_images()[0].get_array()


@pytest.mark.parametrize("dims", (2, 3))
def test_identical_files_have_no_error(tmp_path, dims):
    path = small_amr.write(tmp_path / "a.h5", dims)
    figure = neve.plot.compare(path, path, "a")
    assert len(figure.axes) == 4
    assert (error_panel(figure) == 0).all()
    both = [figure.axes[i].get_images()[0] for i in (0, 1)]
    assert both[0].norm is both[1].norm
    assert "worst by level: 0, 0" in figure.axes[2].get_title()


def test_errors_lie_beside_the_border_where_they_are(tmp_path):
    original = small_amr.write(tmp_path / "a.h5", 2)
    copy = small_amr.write(tmp_path / "b.h5", 2, error=0.5)
    error = error_panel(neve.plot.compare(original, copy, "a"))
    fine = np.zeros((16, 16), bool)
    fine[4:10, 4:12] = True
    inner = np.zeros((16, 16), bool)
    inner[5:9, 5:11] = True
    np.testing.assert_array_equal(error, np.where(fine & ~inner, 0.5, 0))


def distances_by_search(file, level):
    """Of the cells of a level, the slow way: to the nearest cell of another level."""
    owner = np.zeros(file[level].domain.shape, bool)
    for box in file[level].boxes:
        owner[box.within(file[level].domain)] = True
    if level == 0:
        finer = file[1].boxes[0].coarsen((2,) * file.dims)
        owner[finer.within(file[0].domain)] = False
    cells, others = np.argwhere(owner), np.argwhere(~owner)
    apart = np.abs(cells[:, None] - others[None]).max(axis=2).min(axis=1) - 1
    return {tuple(c): min(INTERIOR, int(d)) for c, d in zip(cells, apart, strict=True)}


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("level", (0, 1))
def test_distances_from_a_level_s_border(tmp_path, dims, level):
    with neve.open(small_amr.write(tmp_path / "a.h5", dims)) as file:
        wanted = distances_by_search(file, level)
        found = {}
        for box in file[level].boxes:
            visible, distance = Levels(file, 1).distance(level, box)
            for cell in np.argwhere(visible):
                at = cell + np.array(box.lo) - np.array(file[level].domain.lo)
                found[tuple(at)] = int(distance[tuple(cell)])
    assert found == wanted


@pytest.mark.parametrize("dims", DIMS)
def test_statistics_by_distance(tmp_path, dims):
    original = small_amr.write(tmp_path / "a.h5", dims)
    copy = small_amr.write(tmp_path / "b.h5", dims, error=0.5)
    with neve.open(original) as before, neve.open(copy) as after:
        borders = BorderErrors(after, 1, (1.0, 0.25))
        for level in range(2):
            for number, values in enumerate(after[level]["a"]):
                borders.add(level, number, values - before[level]["a"][number])
        by_box, by_level = borders.curves()
        fine = after[1].boxes[0].shape
        inner = int(np.prod([max(0, n - 2) for n in fine]))
        covered = after[1].boxes[0].coarsen((2,) * dims).cells
        visible = small_amr.BASE_CELLS**dims - covered + int(np.prod(fine))
    assert by_box.cells.sum() == by_level.cells.sum() == visible
    assert by_box.worst[0] == by_level.worst[0] == pytest.approx(2)
    assert (np.nan_to_num(by_level.worst[1:]) == 0).all()
    wrong = int(np.prod(fine)) - inner
    assert by_level.rms[0] == pytest.approx(2 * np.sqrt(wrong / by_level.cells[0]))


def test_boxes_of_one_level_have_no_border_between_them(tmp_path):
    with neve.open(small_amr.write(tmp_path / "a.h5", 2)) as file:
        box = file[0].boxes[0]
        visible, distance = Levels(file, 0).distance(0, box)
    assert visible.all() and (distance == INTERIOR).all()
    assert isinstance(box, Box)


def test_a_copy_within_its_bound_and_one_beyond(neve_command, sample, converted, tmp_path, capsys):
    out = tmp_path / "a.png"
    arguments = ["--compare", str(sample), str(converted), "--field", "Temp", "-o", str(out)]
    assert neve.plot.main(arguments) == 0
    said = capsys.readouterr()
    assert "error of Temp, worst by level: " in said.out and "; bound by level: " in said.out
    assert said.err == ""
    other = tmp_path / "changed.h5"
    with neve.open(sample) as file:
        values = file[0]["density"].composite()
    np.save(tmp_path / "a.npy", values)
    np.save(tmp_path / "b.npy", values * (1 + 1e-3))
    with h5py.File(other, "w") as f:
        f["t"] = values
    assert neve.plot.main(["--compare", str(tmp_path / "a.npy"), str(other), "-o", str(out)]) == 0


def test_arrays_and_their_bound(tmp_path, capsys):
    values = np.random.default_rng(2).random((30, 40))
    np.save(tmp_path / "f.npy", values)
    (tmp_path / "f.neve").write_bytes(neve.compress(values, abs=1e-3))
    words = ["--compare", str(tmp_path / "f.npy"), str(tmp_path / "f.neve")]
    assert neve.plot.main([*words, "-o", str(tmp_path / "f.png")]) == 0
    said = capsys.readouterr()
    worst = np.abs(neve.decompress((tmp_path / "f.neve").read_bytes()) - values).max()
    assert f"error of f, worst: {worst:.3g}; bound: 0.001" in said.out and not said.err
    (tmp_path / "g.neve").write_bytes(neve.compress(values + 0.01, abs=1e-3))
    words = ["--compare", str(tmp_path / "f.npy"), str(tmp_path / "g.neve")]
    assert neve.plot.main([*words, "-o", str(tmp_path / "f.png")]) == 0
    assert "the bound is broken" in capsys.readouterr().err


def test_data_files_with_land_and_the_filter_s_bound(tmp_path):
    values = np.random.default_rng(2).random((3, 20, 30)).astype(np.float32)
    values[:, :5, :5] = 1e20
    paths = tmp_path / "a.nc", tmp_path / "b.nc"
    filters = ({}, {"chunks": (1, 20, 30), **neve.Filter(abs=1e-2, fill=1e20)})
    for path, keywords in zip(paths, filters, strict=True):
        with h5py.File(path, "w") as f:
            f.create_dataset("t", data=values, **keywords).attrs["_FillValue"] = np.float32(1e20)
    figure = neve.plot.compare(*paths)
    assert len(figure.axes) == 3
    error = error_panel(figure)
    assert error.mask.sum() == 25 and 0 < np.abs(error).max() <= 1e-2
    assert "bound: 0.01" in figure.axes[2].get_title()


def test_lines_are_compared_too(tmp_path):
    a, b = (small_amr.write(tmp_path / f"{e}.h5", 1, error=e) for e in (0.0, 0.25))
    (line,) = neve.plot.compare(a, b, "a").axes[2].get_lines()
    assert sorted(set(line.get_ydata())) == [0, 0.25]


def test_the_short_form_has_the_copy_and_its_error(tmp_path):
    a, b = (small_amr.write(tmp_path / f"{e}.h5", 2, error=e) for e in (0.0, 0.25))
    figure = neve.plot.plot(b, ["a", "b"], against=a)
    assert len(figure.axes) == 4
    assert error_panel(figure, 1).max() == 0.25


def test_what_cannot_be_compared_is_named(tmp_path, sample):
    plotfile = small_amr.write(tmp_path / "a.h5", 2)
    np.save(tmp_path / "f.npy", np.zeros((3, 4)))
    np.save(tmp_path / "g.npy", np.zeros((4, 3)))
    for pair, message in (
        (("a.h5", "f.npy"), "are of different kinds"),
        (("f.npy", "g.npy"), r"shapes \(3, 4\) and \(4, 3\) in the two files"),
    ):
        with pytest.raises(neve.Error, match=message):
            neve.plot.compare(*(tmp_path / name for name in pair))
    with pytest.raises(neve.Error, match="no field 'a'; the file has density"):
        neve.plot.compare(sample, plotfile)
