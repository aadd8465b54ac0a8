# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of plotfiles show the values of the plane that was asked for, in every dimension."""

from __future__ import annotations

import numpy as np
import pytest
import small_amr

import neve

pytest.importorskip("matplotlib")
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from pictures import STEP, value_at  # noqa: E402

import neve.plot  # noqa: E402

DIMS = (1, 2, 3)


@pytest.fixture(scope="module", params=["<f4", "<f8"])
def files(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("amr")
    return {d: small_amr.write(folder / f"a{d}.h5", d, request.param) for d in DIMS}


def middle(level, cell):
    """Coordinates of a cell's middle."""
    times = 2**level
    return [
        lo + (c - times * first + 0.5) * dx / times
        for c, lo, first, dx in zip(
            cell, small_amr.PROB_LO, small_amr.FIRST_CELL, small_amr.DX, strict=False
        )
    ]


def true_value(level, cell):
    return float(small_amr.value(level, tuple(np.asarray(c) for c in cell)))


CELLS = [(0, (-2, 3, 6)), (0, (5, 10, 0)), (1, (1, 11, 5)), (1, (6, 14, 10))]


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize(("level", "cell"), CELLS)
def test_pixels_are_the_values_of_the_plane(files, axis, level, cell):
    at = middle(level, cell)
    normal = "xyz".index(axis)
    low, high = 1000, 6000
    figure = neve.plot.plot(
        files[3], "a", at={axis: at[normal]}, range=(low, high), log=False, outlines=False
    )
    x, y = (at[d] for d in range(3) if d != normal)
    assert value_at(figure, 0, x, y, low, high) == pytest.approx(
        true_value(level, cell), abs=(high - low) * STEP
    )


def test_a_file_of_two_dimensions(files):
    figure = neve.plot.plot(files[2], range=(-3000, 3000), outlines=False)
    for level, cell in [(0, (-2, 3)), (1, (3, 12))]:
        x, y = middle(level, cell)
        for panel, sign in ((0, 1), (1, -1)):
            found = value_at(figure, panel, x, y, -3000, 3000)
            assert found == pytest.approx(sign * true_value(level, cell), abs=6000 * STEP)
    assert figure.axes[0].get_xlim() == (-1.0, 3.0) and figure.axes[0].get_ylim() == (10.0, 12.0)


def line_of(figure, panel=0):
    (line,) = figure.axes[panel].get_lines()
    return np.asarray(line.get_xdata()), np.ma.asarray(line.get_ydata())


@pytest.mark.parametrize("dims", DIMS)
def test_lines_hold_the_cells_along_them(files, dims):
    """Along the last dimension: of the finest level there is in each cell."""
    cell = (1, 11, 5)[: dims - 1]
    at = dict(zip("xyz", middle(1, cell), strict=False))
    points, values = line_of(neve.plot.plot(files[dims], "a", at=at))
    with neve.open(files[dims]) as file:
        fine = file[1].boxes[0]
        assert len(values) == file[1].domain.shape[-1]
    first = 2 * small_amr.FIRST_CELL[dims - 1]
    for k, value in enumerate(values):
        index = (*cell, first + k)
        inside = all(a <= n <= b for a, n, b in zip(fine.lo, index, fine.hi, strict=True))
        level = 1 if inside else 0
        true = true_value(level, index if inside else tuple(n // 2 for n in index))
        assert value == pytest.approx(true, rel=1e-6)
        assert points[k] == pytest.approx(middle(1, index)[-1])


def test_an_index_counts_cells_of_the_level_that_is_drawn(files):
    by_index = neve.plot.plot(files[3], "a", index={"x": -2}, level=0)
    by_place = neve.plot.plot(files[3], "a", at={"x": -0.75}, level=0)
    fine = neve.plot.plot(files[3], "a", index={"x": 11})
    images = [f.axes[0].get_images()[0].get_array() for f in (by_index, by_place, fine)]
    np.testing.assert_array_equal(images[0], images[1])
    assert images[0].shape == (8, 8) and images[2].shape == (16, 16)
    with pytest.raises(neve.Error, match="index 12 of x; allowed are cells -4 to 11 of level 1"):
        neve.plot.plot(files[3], "a", index={"x": 12})


def test_boxes_are_outlined_unless_not_wanted(files):
    figure = neve.plot.plot(files[2], "a")
    outlines = figure.axes[0].collections
    assert [len(lines.get_paths()) for lines in outlines] == [2, 1]
    corners = outlines[1].get_paths()[0].vertices
    assert corners.min(axis=0).tolist() == [0.0, 10.5] and corners.max(axis=0).tolist() == [
        2,
        11.25,
    ]
    assert not neve.plot.plot(files[2], "a", outlines=False).axes[0].collections


@pytest.mark.parametrize(("size", "is_inside"), [(None, True), ((4, 2), False), ((2.5, 5), False)])
def test_the_legend_lies_below_a_small_picture(files, size, is_inside):
    figure = neve.plot.plot(files[2], "a", size=size)
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    legend, picture = axes.get_legend().get_window_extent(), axes.get_window_extent()
    assert legend.overlaps(picture) == is_inside
    assert legend.y0 >= 0
    assert not legend.overlaps(axes.xaxis.label.get_window_extent())


def test_cells_without_a_value_are_grey(tmp_path):
    import h5py

    path = small_amr.write(tmp_path / "nan.h5", 2)
    with h5py.File(path, "r+") as file:
        file["level_0/data:datatype=0"][0] = np.nan
    figure = neve.plot.plot(path, "a", outlines=False)
    image = figure.axes[0].get_images()[0].get_array()
    assert image.mask.sum() == 4  # a coarse cell is four fine ones
    assert image.mask[:2, :2].all()


def test_a_plane_that_is_too_large_leaves_out_levels(files, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("neve.plot._amr_source.MOST_CELLS", 100)
    out = tmp_path / "a.png"
    assert neve.plot.main([str(files[2]), "--field", "a", "-o", str(out)]) == 0
    assert "levels beyond 0 are not drawn: the plane has 256 cells" in capsys.readouterr().err
    assert neve.plot.main([str(files[2]), "--field", "a", "--level", "1", "-o", str(out)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"at": {"w": 1}}, r"no dimension 'w'; level 1 of a3.h5 has x \(16\), y \(16\), z \(16\)"),
        ({"at": {"w": 1}, "level": 0}, r"no dimension 'w'; level 0 of a3.h5 has x \(8\), y"),
        ({"at": {"z": "noon"}}, "z=noon: allowed is a number"),
        ({"at": {"z": 1.0}, "axis": "z"}, "two places are given for dimension 'z'"),
        ({"at": {"x": 0, "y": 11, "z": 3}}, "one value is no picture"),
        ({"at": {"x": 77}}, "coord 77 is outside the domain"),
        ({"level": 5}, "level is 5; 0 to 1 are allowed"),
        ({"range": (2, 1)}, "allowed is LOWEST,HIGHEST"),
        ({"range": (0, 1), "log": True}, "a logarithmic scale begins above 0"),
        ({"cmap": "virids"}, "no colour map 'virids'.*viridis"),
        ({"size": (0.1, 5)}, "allowed are width and height of 1 to 200 inches"),
        ({"dpi": 1}, "10 to 2400 are allowed"),
        ({"field": "c"}, "no field 'c'; the file has a, b"),
    ],
)
def test_what_cannot_be_drawn_is_named(files, keywords, message):
    with pytest.raises(neve.Error, match=message):
        neve.plot.plot(files[3], **keywords)


@pytest.mark.parametrize("keywords", [{"axis": "z"}, {"at": {"z": 3}}, {"index": {"z": 0}}])
def test_two_dimensions_have_no_third(files, keywords):
    with pytest.raises(neve.Error, match=r"no dimension 'z'; level 1 of a2.h5 has x \(16\), y"):
        neve.plot.plot(files[2], **keywords)


def test_scales(files):
    from matplotlib.colors import LogNorm

    def norm(**keywords):
        return neve.plot.plot(files[3], "a", **keywords).axes[0].get_images()[0].norm

    assert not isinstance(norm(), LogNorm)
    assert isinstance(norm(log=True), LogNorm)
    assert (norm(range=(5, 7)).vmin, norm(range=(5, 7)).vmax) == (5, 7)
    with pytest.raises(neve.Error, match="a logarithmic scale needs values above 0"):
        neve.plot.plot(files[3], "b", log=True)


def test_a_checkpoint(tmp_path):
    import pathlib
    import sys

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
    import chombo_files

    path = tmp_path / "ice.hdf5"
    variables = [chombo_files.Variable("thickness", ghosts=1)]
    chombo_files.write(path, 2, [*variables, chombo_files.Variable("velocity", components=2)])
    figure = neve.plot.plot(path)
    assert [axes.get_title().split()[0] for axes in figure.axes] == [
        "thickness",
        "velocity",
        "velocity",
    ]
    with neve.open(path) as file:
        wanted = file.slice("thickness").values.T
    np.testing.assert_array_equal(figure.axes[0].get_images()[0].get_array().filled(np.nan), wanted)


def test_pyplot_is_left_alone(files):
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    figure = neve.plot.plot(files[2])
    assert pyplot.get_fignums() == before
    assert figure._repr_png_().startswith(b"\x89PNG")  # what a notebook shows
