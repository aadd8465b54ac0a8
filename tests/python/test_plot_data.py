# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of netCDF-4 and HDF5 data files and of arrays."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

import neve

pytest.importorskip("matplotlib")
from matplotlib import image  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from pictures import STEP, colour_at, value_at  # noqa: E402

import neve.plot  # noqa: E402

TIMES, DEPTHS, ROWS, COLUMNS = 3, 4, 10, 16
LAND = (slice(None), slice(None), slice(0, 3), slice(5, 9))


def temperature() -> np.ndarray:
    t, d, y, x = np.meshgrid(*(np.arange(n) for n in (TIMES, DEPTHS, ROWS, COLUMNS)), indexing="ij")
    return (5 + 0.1 * x + 1.0 * y + 20.0 * d + 0.5 * t).astype(np.float32)


@pytest.fixture(scope="module")
def ocean(tmp_path_factory):
    """With land, a packed variable, a curvilinear one, and coordinates of all kinds."""
    netCDF4 = pytest.importorskip("netCDF4")
    path = tmp_path_factory.mktemp("data") / "ocean.nc"
    with netCDF4.Dataset(path, "w") as f:
        for name, size in zip(
            ("time", "depth", "lat", "lon"), (None, DEPTHS, ROWS, COLUMNS), strict=True
        ):
            f.createDimension(name, size)
        coordinates = {
            "time": ("days since 1990-01-01", "noleap", np.array([0.0, 31, 59])),
            "depth": ("m", "", np.array([5.0, 20, 100, 500])),
            "lat": ("degrees_north", "", np.linspace(-45, 45, ROWS)),
            "lon": ("degrees_east", "", np.arange(COLUMNS) * 20.0),
        }
        for name, (units, calendar, values) in coordinates.items():
            variable = f.createVariable(name, "f8", (name,))
            variable.units = units
            if calendar:
                variable.calendar = calendar
            if name == "depth":
                variable.positive = "down"
            variable[:] = values
        dims = ("time", "depth", "lat", "lon")
        temp = f.createVariable("temp", "f4", dims, fill_value=np.float32(1e20))
        temp.units = "degC"
        values = temperature()
        values[LAND] = 1e20
        temp[:] = values
        packed = f.createVariable("packed", "i2", ("lat", "lon"), fill_value=-32768)
        packed.scale_factor, packed.add_offset = 0.01, 20.0
        packed.set_auto_maskandscale(False)
        packed[:] = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
        packed[0, 0] = -32768
        for name, units in (("nav_lat", "degrees_north"), ("nav_lon", "degrees_east")):
            f.createVariable(name, "f4", ("lat", "lon")).units = units
        y, x = np.meshgrid(np.arange(ROWS), np.arange(COLUMNS), indexing="ij")
        f["nav_lat"][:] = 10 * np.sin(x / 20) + y * 2
        f["nav_lon"][:] = (150 + 4 * x + y) % 360 - 180 * ((150 + 4 * x + y) % 360 > 180) * 2
        skewed = f.createVariable("skewed", "f8", ("lat", "lon"))
        skewed.coordinates = "nav_lon nav_lat"
        skewed[:] = x + 100.0 * y
        f.createVariable("series", "f8", ("time",))[:] = [3, 1, 2]
        f.createVariable("words", str, ("time",))[:] = np.array(["a", "b", "c"], object)
    return path


def shown(figure, panel=0):
    return figure.axes[panel].get_images()[0].get_array()


@pytest.mark.filterwarnings("error")
def test_names_are_drawn_without_control_characters(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for name, shape in (("t\x07\u202e", (8, 8)), ("line\x1b", (8,))):
            file[name] = np.arange(np.prod(shape), dtype="f4").reshape(shape)
            file[name].attrs["units"] = "m\x1b"
    plane = neve.plot.plot(path, out=tmp_path / "a.png", field="t\x07\u202e")
    line = neve.plot.plot(path, out=tmp_path / "b.png", field="line\x1b")
    texts = [t.get_text() for figure in (plane, line) for t in figure.findobj(Text)]
    assert not any(set("\x07\x1b\u202e") & set(text) for text in texts)
    assert any("t\\x07\\u202e" in text for text in texts)
    assert "line\\x1b (m\\x1b)" in texts and "m\\x1b" in texts


def test_without_a_field_all_fields_are_drawn_and_no_coordinates(ocean):
    figure = neve.plot.plot(ocean)
    assert [a.get_title().split()[0] for a in figure.axes] == ["temp", "packed", "skewed"]


def test_the_first_plane_with_land_and_coordinates(ocean):
    figure = neve.plot.plot(ocean, "temp", range=(0, 100), log=False)
    values = temperature()[0, 0]
    assert "time = 1990-01-01, depth = 5 m" in figure.axes[0].get_title()
    assert "degrees_east" in figure.axes[0].get_xlabel()
    assert value_at(figure, 0, 220, 15, 0, 100) == pytest.approx(values[6, 11], abs=100 * STEP)
    assert colour_at(figure, 0, 120, -35).tolist() == [0xC4] * 3  # land
    assert shown(figure).mask.sum() == 12


@pytest.mark.parametrize(
    ("keywords", "index"),
    [
        ({"at": {"time": 31.0, "depth": 90}}, np.s_[1, 2]),
        ({"at": {"time": "1990-03-01"}, "index": {"depth": -1}}, np.s_[2, 3]),
        ({"axis": "time"}, np.s_[1, 0]),
        ({"axis": "depth", "coord": 20}, np.s_[0, 1]),
        ({"at": {"lon": 60.0}}, np.s_[0, :, :, 3]),
        ({"at": {"lon": -40.0}, "index": {"depth": 1}}, np.s_[:, 1, :, -0]),
        ({"index": {"lat": 7, "lon": 2}}, np.s_[:, :, 7, 2]),
    ],
)
def test_the_plane_is_the_one_that_was_asked_for(ocean, keywords, index):
    if "lon" in keywords.get("at", {}) and keywords["at"]["lon"] < 0:
        index = np.s_[:, 1, :, 15]  # 320 is not there: 300 is the nearest to -40
    figure = neve.plot.plot(ocean, "temp", **keywords)
    axes = figure.axes[0]
    found = axes.get_images()[0] if axes.get_images() else axes.collections[0]
    wanted = temperature()
    wanted[LAND] = np.nan
    wanted = wanted[index]
    values = np.ma.filled(found.get_array().reshape(wanted.shape), np.nan)
    np.testing.assert_array_equal(values, wanted)


def test_depth_points_down(ocean):
    low, high = neve.plot.plot(ocean, "temp", at={"lon": 60}).axes[0].get_ylim()
    assert low > high


def test_a_line_through_three_dimensions(ocean):
    figure = neve.plot.plot(ocean, "temp", index={"time": 1, "lat": 5, "lon": 2})
    (line,) = figure.axes[0].get_lines()
    np.testing.assert_array_equal(line.get_ydata(), temperature()[1, :, 5, 2])
    np.testing.assert_array_equal(line.get_xdata(), [5, 20, 100, 500])
    (series,) = neve.plot.plot(ocean, "series").axes[0].get_lines()
    np.testing.assert_array_equal(series.get_ydata(), [3, 1, 2])


def test_packed_values_are_unpacked(ocean):
    values = shown(neve.plot.plot(ocean, "packed"))
    assert values.mask.sum() == 1 and values.mask[0, 0]
    np.testing.assert_allclose(values[1, 2], 20 + 0.01 * 18)


def test_a_curvilinear_grid_across_the_date_line(ocean):
    figure = neve.plot.plot(ocean, "skewed", range=(0, 1000), log=False)
    mesh = figure.axes[0].collections[0]
    assert mesh.get_array().size == ROWS * COLUMNS and not np.ma.is_masked(mesh.get_array())
    y, x = 6, 12
    west, east = figure.axes[0].get_xlim()
    assert east - west < 90  # in one piece
    longitude = (150 + 4 * x + y - west) % 360 + west
    latitude = 10 * np.sin(x / 20) + y * 2
    assert value_at(figure, 0, longitude, latitude, 0, 1000) == pytest.approx(
        x + 100 * y, abs=1000 * STEP
    )


@pytest.mark.parametrize(
    ("west", "lowest", "expected"),
    [
        (150, -180, (150, 220)),  # across the date line: on in 0..360
        (150, 0, (150, 220)),
        (-30, -180, (-30, 40)),
        (-30, 0, (-30, 40)),  # across Greenwich
        (250, -180, (-110, -40)),
        (250, 0, (250, 320)),
    ],
)
def test_longitudes_have_the_file_s_numbers_or_usual_ones(west, lowest, expected):
    from neve.plot._curvilinear import cells

    rows, columns = np.meshgrid(
        np.linspace(-20, 20, 9), west + np.arange(0, 71, 2.0), indexing="ij"
    )
    across, _, hidden = cells((columns - lowest) % 360 + lowest, rows)
    assert not hidden.any()
    np.testing.assert_allclose([across.min() + 1, across.max() - 1], expected, atol=0.01)


def test_a_curvilinear_grid_around_the_globe():
    from neve.plot._curvilinear import cells

    rows, columns = np.meshgrid(np.linspace(-80, 80, 30), np.arange(73, 433, 4.0), indexing="ij")
    longitudes = (columns + 180) % 360 - 180
    across, up, hidden = cells(longitudes, rows)
    assert across.min() >= -180 and across.max() <= 180 and hidden.sum() <= 30
    middle = (across[:-1, :-1] + across[1:, 1:]) / 2
    np.testing.assert_allclose(middle[~hidden], longitudes[~hidden], atol=0.02)
    np.testing.assert_allclose((up[:-1, :-1] + up[1:, 1:]) / 2, rows, atol=1e-9)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"field": "salt"}, r"no field 'salt'; the file has temp, packed, skewed, "),
        ({"field": "words"}, "words has shape .* plots are of numbers"),
        ({"field": "temp", "at": {"z": 3}}, r"no dimension 'z'; temp has time \(3\), depth \(4\)"),
        ({"field": "temp", "at": {"depth": 9999}}, "depth=9999 is outside of its coordinates"),
        ({"field": "temp", "at": {"depth": "deep"}}, r"depth=deep: allowed is a number \(m\)"),
        ({"field": "temp", "at": {"time": "soon"}}, "time=soon: allowed is a number or a date"),
        ({"field": "temp", "index": {"depth": 4}}, "index 4 of depth; allowed are 0 to 3"),
        ({"field": "temp", "coord": 3.0}, "coord 3 is of no dimension; name it"),
    ],
)
def test_what_is_not_there_is_named(ocean, keywords, message):
    with pytest.raises(neve.Error, match=message):
        neve.plot.plot(ocean, **keywords)


def test_a_place_that_only_some_fields_have(ocean):
    figure = neve.plot.plot(ocean, ["temp", "packed"], at={"depth": 500})
    assert "depth = 500" in figure.axes[0].get_title()
    np.testing.assert_array_equal(
        np.ma.compressed(shown(figure)), temperature()[0, 3][~shown(figure).mask]
    )


def test_names_with_commas(tmp_path):
    path = tmp_path / "commas.h5"
    with h5py.File(path, "w") as f:
        f["a,b"] = np.arange(6.0).reshape(2, 3)
        f["a"] = np.arange(8.0).reshape(2, 4)
        f["c"] = np.arange(10.0).reshape(2, 5)
    assert [shown(neve.plot.plot(path, "a,b")).shape] == [(2, 3)]
    figure = neve.plot.plot(path, "a,c")
    assert [shown(figure, i).shape for i in (0, 1)] == [(2, 4), (2, 5)]


def test_variables_in_groups(tmp_path):
    path = tmp_path / "groups.h5"
    with h5py.File(path, "w") as f:
        f["ocean/deep/salt, ppt"] = np.arange(6.0).reshape(2, 3)
        f["ocean/temp"] = np.arange(8.0).reshape(2, 4)
        f["ocean/u"] = f["air/u"] = np.arange(10.0).reshape(2, 5)
    for name in ("/ocean/deep/salt, ppt", "ocean/deep/salt, ppt", "salt, ppt", "deep/salt, ppt"):
        figure = neve.plot.plot(path, name)
        assert shown(figure).shape == (2, 3)
        assert figure.axes[0].get_title().startswith("ocean/deep/salt, ppt")
    figure = neve.plot.plot(path, "temp,/air/u")
    assert [shown(figure, i).shape for i in (0, 1)] == [(2, 4), (2, 5)]
    with pytest.raises(neve.Error, match="field 'u' may be any of air/u, ocean/u"):
        neve.plot.plot(path, "u")
    with pytest.raises(neve.Error, match="no field '/temp'; the file has .*'ocean/deep/salt, ppt'"):
        neve.plot.plot(path, "/temp")


@pytest.mark.parametrize("shape", [(4, 32), (32, 4), (20, 20)])
def test_thin_domains_fill_their_page(tmp_path, shape):
    with h5py.File(tmp_path / "x.h5", "w") as f:
        for i in range(4):
            f[f"f{i}"] = np.random.default_rng(i).random(shape)
    figure = neve.plot.plot(tmp_path / "x.h5")
    FigureCanvasAgg(figure).draw()
    inches = figure.get_size_inches() * figure.dpi
    boxes = [axes.get_window_extent() for axes in figure.axes[:4]]
    filled = sum(box.width * box.height for box in boxes) / (inches[0] * inches[1])
    assert filled > (0.33 if 4 in shape else 0.6)
    assert boxes[0].width / boxes[0].height == pytest.approx(shape[1] / shape[0], rel=1e-3)
    assert max(boxes[0].width, boxes[0].height) > 4.5 * figure.dpi


def test_a_field_without_a_value_has_no_colour_bar(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as f:
        f["full"] = np.arange(6.0).reshape(2, 3)
        f["none"] = np.full((2, 3), np.nan)
    figure = neve.plot.plot(tmp_path / "x.h5")
    full, none = figure.axes[:2]
    assert len(full.child_axes) == 1 and not none.child_axes
    assert [text.get_text() for text in none.texts] == ["no finite value lies here"]


def test_bare_datasets_are_cut_in_their_middle(tmp_path):
    path = tmp_path / "bare.h5"
    values = np.random.default_rng(1).random((7, 5, 6))
    with h5py.File(path, "w") as f:
        f["deep/inside/u"] = values
    figure = neve.plot.plot(path)
    np.testing.assert_array_equal(shown(figure), values[3])
    assert figure.axes[0].get_xlabel() == "axis 2 (index)"
    np.testing.assert_array_equal(shown(neve.plot.plot(path, index={"2": 1})), values[:, :, 1])


@pytest.mark.parametrize("make", ["npy", "frame", "stream", "fortran", "big endian"])
def test_arrays(tmp_path, make):
    values = np.random.default_rng(1).random((5, 6)).astype(np.float32)
    values[2, 3], values[0, 0] = np.nan, np.inf
    path = tmp_path / "f.npy"
    if make == "frame":
        path = tmp_path / "f.neve"
        path.write_bytes(neve.compress(values, lossless=True))
    elif make == "stream":
        path = tmp_path / "f.nevs"
        encoder = neve.StreamEncoder((5, 6), np.float32, abs=1e-6)
        encoder.push(values)
        encoder.finish()
        path.write_bytes(encoder.take())
    elif make == "fortran":
        np.save(path, np.asfortranarray(values))
    else:
        np.save(path, values.astype(">f4") if make == "big endian" else values)
    found = shown(neve.plot.plot(path))
    assert found.mask.sum() == 2 and found.mask[2, 3] and found.mask[0, 0]
    error = 1e-6 if make == "stream" else 0
    np.testing.assert_allclose(found.compressed(), values[~found.mask], rtol=0, atol=error)


def test_a_value_for_land_in_an_array_is_masked(tmp_path):
    values = np.random.default_rng(1).random((40, 50)).astype(np.float32)
    values[10:20, 5:15] = 1e20
    np.save(tmp_path / "f.npy", values)
    assert shown(neve.plot.plot(tmp_path / "f.npy")).mask.sum() == 100


def test_long_sides_are_thinned_and_it_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("neve.plot._grid_view.LONGEST_SIDE", 10)
    values = np.arange(25.0 * 9).reshape(25, 9)
    np.save(tmp_path / "f.npy", values)
    np.testing.assert_array_equal(shown(neve.plot.plot(tmp_path / "f.npy")), values[::3])
    arguments = [str(tmp_path / "f.npy"), "-o", str(tmp_path / "f.png")]
    assert neve.plot.main(arguments) == 0
    assert "f: of 25 values along 0 one in 3 is drawn" in capsys.readouterr().err


def test_only_the_plane_is_read(ocean, monkeypatch):
    asked = []
    read = h5py.Dataset.__getitem__

    def noting(self, index, **keywords):
        found = read(self, index, **keywords)
        if self.name == "/temp":
            asked.append(np.size(found))
        return found

    monkeypatch.setattr(h5py.Dataset, "__getitem__", noting)
    neve.plot.plot(ocean, "temp")
    assert asked == [ROWS * COLUMNS]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"CDF\x01" + bytes(100), "netCDF classic file.*nccopy -k nc4"),
        (b"NEVEFILE" + bytes(100), "frame file of an MPI program.*neve decompress"),
        (b"\x93NUMPY\x01\x00", "not a complete .npy file"),
        (b"# text", "not a file that plots are made of; these are an AMReX plotfile directory"),
        (b"", "not a file that plots are made of"),
    ],
)
def test_other_files_are_refused_by_what_they_are(tmp_path, content, message):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(neve.Error, match=message):
        neve.plot.plot(path)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array(3.5), "it is one number; plots are of one dimension or more"),
        (np.array([{}, 1], object), "an array of Python objects; plots are of integers, "),
        (np.array(["a", "b"]), "an array of texts; plots are of integers, floating-point"),
        (np.ones(3, complex), "an array of complex128; plots are of integers, floating-point"),
        (np.zeros(3, [("u", "f8"), ("v", "f8")]), r"an array of records \(u, v\); plots are of"),
    ],
)
def test_arrays_of_other_types_are_refused_by_type(tmp_path, array, message):
    np.save(tmp_path / "s.npy", array)
    with pytest.raises(neve.Error, match=message) as raised:
        neve.plot.plot(tmp_path / "s.npy")
    assert raised.value.code == 2


def test_hdf5_without_numbers(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as f:
        f["text"] = "words"
    with pytest.raises(neve.Error, match="no variable of numbers"):
        neve.plot.plot(tmp_path / "x.h5")
    with h5py.File(tmp_path / "y.h5", "w") as f:
        f.create_group("VTKHDF")
    with pytest.raises(neve.Error, match="a VTKHDF file"):
        neve.plot.plot(tmp_path / "y.h5")


def test_a_default_name_is_told(ocean, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert neve.plot.main([str(ocean), "--field", "temp"]) == 0
    assert capsys.readouterr().out == "wrote ocean_temp.png\n"
    assert image.imread(tmp_path / "ocean_temp.png").shape[1] > 800
    small = ["--field", "temp", "--size", "3,2", "--dpi", "50", "-o", "small.png"]
    assert neve.plot.main([str(ocean), *small]) == 0
    assert image.imread("small.png").shape[:2] == (100, 150)


def test_more_fields_than_panels(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with h5py.File("many.h5", "w") as f:
        for i in range(12):
            f[f"f{i:02d}"] = np.random.default_rng(i).random((4, 5))
    assert neve.plot.main(["many.h5", "--dpi", "50"]) == 0
    assert "9 of 12 fields are drawn; --field NAME draws others: f09, f10, f11" in (
        capsys.readouterr().err
    )


def test_real_files_give_a_picture_or_say_why_not(shared_data, tmp_path):
    """Each by itself, without options."""
    for path in sorted(shared_data.glob("climate/*")) + sorted(shared_data.glob("arrays/*")):
        try:
            neve.plot.plot(path, out=tmp_path / "a.png", dpi=40)
        except neve.Error as error:
            assert "netCDF classic" in str(error), path
