# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles in xarray: what is opened is what neve.open gives, read when asked for."""

from __future__ import annotations

import collections
import math
import os
import pickle
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import neve
import neve._core
from neve.plotfile import Box
from neve_bench import made_plotfile

xr = pytest.importorskip("xarray", reason="xarray is not installed")
pytest.importorskip("dask", reason="dask is not installed")

from neve.xarray import XarrayBackend, _datasets, _frame_chunks  # noqa: E402 - xarray was asked for

PAGE = Path(__file__).parents[2] / "docs" / "xarray.md"
FIELDS = ["density", "x velocity", "Temp", "phi"]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three levels in many small boxes, moved off the origin; cells of different widths."""
    levels = [
        made_plotfile.MadeLevel(level.domain, level.boxes, (0.5 / 2**n, 0.25 / 2**n, 1.0 / 2**n))
        for n, level in enumerate(made_plotfile.nested_levels(32, 8, 3))
    ]
    path = tmp_path_factory.mktemp("made") / "plt"
    values = made_plotfile.waves(levels)
    made_plotfile.write(path, FIELDS, levels, values, prob_lo=(-3.0, 100.0, 0.5))
    return path


def converted_by(command: Path, source: Path, name: str, *words: str) -> Path:
    target = source.parent / name
    if not target.exists():
        run = [command, "convert", source, target, "--chunk-size", "64KiB", *words]
        subprocess.run(run, check=True, capture_output=True, timeout=120)
    return target


@pytest.fixture(scope="module")
def many_frames(neve_command: Path, original: Path) -> Path:
    return converted_by(neve_command, original, "exact.h5", "--bound", "lossless")


@pytest.fixture(scope="module")
def without_covered(neve_command: Path, original: Path) -> Path:
    words = ("--bound", "rel=1e-4", "--covered", "auto")
    return converted_by(neve_command, original, "auto.h5", *words)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> collections.Counter:
    """How often each component of each frame was decoded."""
    counts: collections.Counter = collections.Counter()
    real = neve._core.Frame

    class Counted:
        def __init__(self, raw):
            self._frame, self._key = real(raw), hash(bytes(raw))

        def __getattr__(self, name):
            return getattr(self._frame, name)

        def decode_box(self, box, component, out):
            counts[self._key, component] += 1
            self._frame.decode_box(box, component, out)

        def decode_component(self, component, out):
            counts[self._key, component] += 1
            self._frame.decode_component(component, out)

    monkeypatch.setattr(neve._core, "Frame", Counted)
    return counts


def open_tree(path, **keywords):
    return xr.open_datatree(path, engine="neve", **keywords)


def on_hull(level, field):
    """A level's values on the hull of its boxes, put there box by box."""
    corners = np.array(level.boxes)
    lo, hi = corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)
    out = np.full(hi - lo + 1, np.nan)
    for box, values in zip(level.boxes, level[field], strict=True):
        out[Box(box.lo, box.hi).within(Box(tuple(lo), tuple(hi)))] = values
    return out


def under_finer(plotfile, number):
    """Which cells of a level's hull lie under finer boxes, cell by cell."""
    level = plotfile[number]
    lo = np.array(level.boxes)[:, 0].min(axis=0)
    mask = np.zeros(on_hull(level, FIELDS[0]).shape, bool)
    for box in plotfile[number + 1].boxes if number + 1 < len(plotfile) else ():
        for offset in np.ndindex(*box.shape):
            at = (np.array(box.lo) + offset) // level.ref_ratio - lo
            mask[tuple(at)] = True
    return mask


# --- opening ---


def test_nothing_is_decoded_before_it_is_asked_for(many_frames, decoded):
    with open_tree(many_frames) as tree, open_tree(many_frames, chunks={}) as lazy:
        repr(tree), lazy["level_1"]["Temp"].mean(), tree["level_0"]["Temp"].isel(x=3)
        tree.neve.composite(2), tree["level_0"].to_dataset().neve.bounds
        assert not decoded
        tree["level_0"]["Temp"].isel(x=0, y=0, z=0).values  # noqa: B018
        assert sum(decoded.values()) == 1


def test_what_a_level_says(many_frames, without_covered):
    with open_tree(without_covered) as tree, neve.open(without_covered) as plotfile:
        assert tree.attrs["levels"] == 3 and tree.attrs["time"] == 0.25
        assert list(tree["level_1"].data_vars) == FIELDS
        level = tree["level_1"].to_dataset()
        assert level.attrs["level"] == 1 and level.attrs["dx"] == [0.25, 0.125, 0.5]
        assert float(level.time) == 0.25
        # Level 1 begins at cell 16 of its domain.
        assert level.x.values[0] == -3.0 + 16.5 * 0.25 and level.y.values[-1] == 100 + 47.5 * 0.125
        bound = plotfile[1]["Temp"].bound_abs
        assert level.Temp.attrs == {"bound": "rel=0.0001", "bound_abs": bound}
        assert level.neve.bounds["Temp"] == tree.neve.bounds["level_1"]["Temp"] == bound
    with open_tree(many_frames) as tree:
        assert set(tree.neve.bounds["level_2"].values()) == {0.0}


def test_one_level_and_left_out_variables(many_frames):
    with xr.open_dataset(many_frames, engine="neve", group="/level_2") as data:
        assert data.attrs["level"] == 2 and list(data) == FIELDS
    with xr.open_dataset(
        many_frames, engine="neve", group="level_0", drop_variables=["Temp", "density"]
    ) as data:
        assert list(data) == ["x velocity", "phi"]
    groups = xr.open_groups(many_frames, engine="neve", drop_variables="Temp")
    assert list(groups) == ["/", "/level_0", "/level_1", "/level_2"]
    assert list(groups["/level_1"]) == ["density", "x velocity", "phi"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({}, "group=None; allowed are 'level_0' to 'level_2'"),
        ({"group": "level_3"}, "group='level_3'; allowed are 'level_0' to 'level_2'"),
        ({"composite": 3}, "composite=3; allowed are 0 to 2"),
        ({"composite": 1.0}, "composite=1.0; allowed are 0 to 2"),
        ({"composite": True}, "composite=True; allowed are 0 to 2"),
        ({"composite": "1"}, "composite='1'; allowed are 0 to 2"),
        ({"composite": 1, "group": "level_1"}, "allowed is one of them"),
        ({"composite": 1, "covered": "nan"}, "covered='nan'; covered is of a level"),
        ({"covered": "drop"}, "covered='drop'; allowed are 'keep', 'nan', 'average'"),
    ],
)
def test_what_is_not_allowed_is_named(many_frames, words, part):
    with pytest.raises(neve.Error, match=part):
        xr.open_dataset(many_frames, engine="neve", **words)


def test_xarray_that_mixes_levels_up_is_refused(many_frames, monkeypatch):
    for version in ("2026.9.0", "2025.3.1", "2025.4.0.dev3+g1"):
        monkeypatch.setattr(xr, "__version__", version)
        open_tree(many_frames).close()
    for version in ("2025.3.0", "2024.11.0"):
        monkeypatch.setattr(xr, "__version__", version)
        with pytest.raises(neve.Error, match=f"xarray {version} mixes up the levels"):
            open_tree(many_frames)


def test_what_is_no_file_is_named(tmp_path):
    with pytest.raises(neve.Error, match="plt: no such file"):
        open_tree(tmp_path / "plt")
    with pytest.raises(neve.Error, match="given a BytesIO; it opens paths"):
        import io

        XarrayBackend().open_datatree(io.BytesIO())
    (tmp_path / "text").write_text("density")
    with pytest.raises(neve.Error, match="text: not a readable HDF5 file"):
        open_tree(tmp_path / "text")


def test_a_damaged_file_is_named(many_frames, tmp_path):
    path = tmp_path / "truncated.h5"
    path.write_bytes(many_frames.read_bytes()[:20000])
    assert not XarrayBackend().guess_can_open(path)
    with pytest.raises(neve.Error, match="truncated.h5: .*truncated"):
        xr.open_dataset(path, engine="neve", group="level_0")
    with pytest.raises(neve.Error, match="truncated.h5: .*truncated"):
        open_tree(path)


def test_a_composite_takes_the_file_s_names(tmp_path):
    import h5py
    import small_amr

    path = small_amr.write(tmp_path / "a.h5", 2)
    with h5py.File(path, "r+") as file:
        file.attrs["component_0"] = "a/b"
    with open_tree(path) as tree:
        for name in ("a/b", "a_b"):
            joined = tree.neve.composite(1, name)
            assert list(joined) == ["a_b"] and joined["a_b"].attrs["field"] == "a/b"
        assert list(tree["level_1"].to_dataset().neve.composite(0, ["b", "a/b"])) == ["b", "a_b"]
        with pytest.raises(neve.Error, match="composite: no field 'zzz'; the file has a/b, b"):
            tree.neve.composite(1, "zzz")


def test_which_files_it_takes_for_its_own(many_frames, original, tmp_path):
    import h5py

    guess = XarrayBackend().guess_can_open
    assert guess(many_frames) and guess(str(original))
    assert not guess(tmp_path) and not guess(tmp_path / "nothing") and not guess(b"\x89HDF")
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["level_0/values"] = np.arange(3)
    (tmp_path / "short").write_bytes(b"\x89HDF")
    assert not guess(tmp_path / "data.h5") and not guess(tmp_path / "short")
    with xr.open_datatree(original) as tree:  # no engine: a directory is nobody else's
        assert tree.attrs["kind"] == "AMReX plotfile"


# --- values ---


@pytest.mark.filterwarnings("ignore:The specified chunks separate")
@pytest.mark.parametrize("keywords", [{}, {"chunks": {}}, {"chunks": {"x": 7, "z": 5}}])
def test_values_are_those_of_the_boxes(original, many_frames, without_covered, keywords):
    for path in (original, many_frames, without_covered):
        with open_tree(path, **keywords) as tree, neve.open(path) as plotfile:
            for number, level in enumerate(plotfile):
                for name in FIELDS:
                    found = tree[f"level_{number}"][name].values
                    np.testing.assert_array_equal(found, on_hull(level, name))


def test_single_precision_and_two_dimensions(neve_command, tmp_path):
    levels = made_plotfile.nested_levels(16, 8, 2, dims=2)
    values = made_plotfile.waves(levels)
    made_plotfile.write(tmp_path / "plt", FIELDS, levels, values, dtype=np.float32)
    path = converted_by(neve_command, tmp_path / "plt", "plt.h5")
    with open_tree(path, chunks={}) as tree, neve.open(path) as plotfile:
        data = tree["level_1"].to_dataset()
        assert data["Temp"].dims == ("x", "y") and data["Temp"].dtype == np.float32
        assert data["Temp"].values.dtype == np.float32 and "z" not in data.coords
        np.testing.assert_array_equal(data["Temp"], on_hull(plotfile[1], "Temp").astype("f4"))
        assert int(tree["level_0"].to_dataset().neve.covered.sum()) == 8 * 8


@pytest.mark.parametrize(
    "index",
    [
        {"x": slice(None, None, -1)},
        {"x": slice(20, 3, -5), "y": -1},
        {"x": [0, 9, 9, 2], "z": [30, 1]},
        {"x": -3, "y": 4, "z": 0},
        {"y": slice(5, 5)},
        {"x": [], "z": 3},
        {"z": slice(1, None, 7), "x": np.arange(31, 0, -3)},
        {"x": xr.DataArray([1, 5, 30], dims="place"), "z": xr.DataArray([2, 2, 31], dims="place")},
    ],
    ids=str,
)
def test_selections(many_frames, index):
    with open_tree(many_frames) as tree, neve.open(many_frames) as plotfile:
        for number in (0, 2):
            wanted = xr.DataArray(on_hull(plotfile[number], "Temp"), dims=("x", "y", "z"))
            found = tree[f"level_{number}"]["Temp"].isel(index)
            np.testing.assert_array_equal(found.values, wanted.isel(index).values)


@pytest.mark.parametrize("file", ["many_frames", "without_covered"])
def test_covered_cells(request, file):
    path = request.getfixturevalue(file)
    trees = {how: open_tree(path, covered=how) for how in ("keep", "nan", "average")}
    with neve.open(path) as plotfile:
        for number, level in enumerate(plotfile):
            keep, nan, average = (trees[how][f"level_{number}"]["density"].values for how in trees)
            mask = under_finer(plotfile, number)
            data = trees["keep"][f"level_{number}"].to_dataset()
            np.testing.assert_array_equal(data.neve.covered, mask)
            np.testing.assert_array_equal(
                trees["keep"].neve.covered[f"level_{number}/covered"], mask
            )
            part = data.isel(x=[3, 9, 20], y=slice(None, None, -2), z=11)
            assert part.neve.covered.dims == ("x", "y")
            np.testing.assert_array_equal(part.neve.covered, mask[[3, 9, 20], ::-2, 11])
            np.testing.assert_array_equal(keep, on_hull(level, "density"))
            np.testing.assert_array_equal(nan, np.where(mask, np.nan, keep))
            np.testing.assert_array_equal(average[~mask], keep[~mask])
            assert mask.any() == (number < 2)
        # Of the middle level's mean, and so of the finest level's.
        fine = trees["average"]["level_1"]["density"].values
        blocks = fine.reshape(16, 2, 16, 2, 16, 2).mean(axis=(1, 3, 5))
        mask = under_finer(plotfile, 0)
        found = trees["average"]["level_0"]["density"].values[mask].reshape(blocks.shape)
        np.testing.assert_allclose(found, blocks, rtol=1e-14)
    for tree in trees.values():
        tree.close()


def test_a_volume_weighted_mean_counts_every_place_once(without_covered):
    with open_tree(without_covered, chunks={}, covered="nan") as tree:
        levels = [node.to_dataset() for node in tree.children.values()]
        volumes = [math.prod(level.attrs["dx"]) for level in levels]
        total = sum(level["Temp"].sum() * v for level, v in zip(levels, volumes, strict=True))
        volume = sum(level["Temp"].count() * v for level, v in zip(levels, volumes, strict=True))
        assert float(volume) == 16.0 * 8.0 * 32.0  # the domain
        joined = tree.neve.composite(0)["Temp"]
        assert float(total / volume) == pytest.approx(float(joined.mean()), rel=1e-13)


def test_all_levels_at_the_resolution_of_one(many_frames, without_covered):
    for path in (many_frames, without_covered):
        with open_tree(path, chunks={}) as tree, neve.open(path) as plotfile:
            for number in range(3):
                data = tree.neve.composite(number, ["Temp", "density"])
                assert list(data) == ["Temp", "density"] and data["Temp"].chunks is not None
                wanted = plotfile[number]["Temp"].composite()
                np.testing.assert_array_equal(data["Temp"], wanted)
                part = data["Temp"].isel(x=slice(3, 40), y=7, z=slice(None, None, -3))
                np.testing.assert_array_equal(part, wanted[3:40, 7, ::-3])
                largest = max(level["Temp"].bound_abs for level in plotfile)
                assert data["Temp"].attrs["bound_abs"] == largest
            one = tree["level_2"].to_dataset().neve.composite(1, "density")
            assert list(one) == ["density"] and one.attrs["level"] == 1
            assert one.sizes == {"x": 64, "y": 64, "z": 64}
    with open_tree(many_frames) as tree:
        assert tree.neve.composite(0)["Temp"].chunks is None


def test_datasets_of_no_file_or_several_are_refused(many_frames):
    words = {"group": "level_0", "combine": "nested", "concat_dim": "time"}
    with xr.open_mfdataset([many_frames] * 2, engine="neve", **words) as series:
        assert series["Temp"].dims == ("time", "x", "y", "z")
        for call in (lambda: series.neve.covered, lambda: series.neve.composite(0)):
            with pytest.raises(neve.Error, match="dimension time, so it is not of one file"):
                call()
    with pytest.raises(neve.Error, match="does not say which file it is of"):
        xr.Dataset({"Temp": ("x", [1.0])}).neve.composite(0)
    with pytest.raises(neve.Error, match="no level of a plotfile"):
        xr.DataTree().neve.composite(0)


def test_a_composite_as_netcdf(many_frames, tmp_path):
    pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    with open_tree(many_frames, chunks={}) as tree:
        data = tree.neve.composite(1)
        data.to_netcdf(tmp_path / "uniform.nc")
        with xr.open_dataset(tmp_path / "uniform.nc") as back:
            xr.testing.assert_identical(back.load(), data.load().drop_encoding())


# --- chunks ---


@pytest.mark.parametrize("least", [0, _frame_chunks.LEAST_BYTES])
@pytest.mark.parametrize("file", ["many_frames", "without_covered"])
def test_chunks_decode_no_frame_twice(request, file, least, decoded, monkeypatch):
    monkeypatch.setattr(_frame_chunks, "LEAST_BYTES", least)
    path = request.getfixturevalue(file)
    with open_tree(path, chunks={}, covered="nan") as tree:
        chunked = tree["level_0"]["Temp"].data.npartitions
        assert chunked > 8 if least == 0 else chunked == 1
        for level in tree.children.values():
            level.to_dataset().mean().compute(scheduler="threads", num_workers=4)
    assert decoded and set(decoded.values()) == {1}


def test_chunks_that_divide_frames_keep_what_they_decoded(many_frames, decoded, monkeypatch):
    monkeypatch.setattr(_frame_chunks, "MOST_BYTES", 6 * 6 * 6 * 8)
    with open_tree(many_frames, chunks={}) as tree, neve.open(many_frames) as plotfile:
        found = tree["level_0"]["Temp"]
        assert math.prod(map(max, found.chunks)) <= 6 * 6 * 6
        values = found.compute(scheduler="threads", num_workers=3).values
        np.testing.assert_array_equal(values, on_hull(plotfile[0], "Temp"))
    # As opened for the wanted values, and once for all chunks.
    assert max(decoded.values()) <= 5


def test_lines_cross_no_frame_unless_a_chunk_would_be_too_large():
    def sizes(frames, lengths, most=10**9, least=0):
        region = Box((10,) * len(lengths), tuple(9 + n for n in lengths))
        lo = np.array([[a + 10 for a, _ in frame] for frame in frames])
        hi = np.array([[b + 10 for _, b in frame] for frame in frames])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_frame_chunks, "LEAST_BYTES", least)
            patch.setattr(_frame_chunks, "MOST_BYTES", most)
            return _frame_chunks._chunks(region, [(lo, hi)], 1)

    halves = [[(0, 3), (0, 7)], [(4, 9), (0, 7)]]
    assert sizes(halves, (10, 8)) == ((4, 6), (8,))
    assert sizes(halves, (10, 8), least=1000) == ((10,), (8,))
    assert sizes([[(0, 9), (0, 7)]], (10, 8), most=20) == ((5, 5), (4, 4))
    # A line that one frame crosses is better than one that two do.
    assert sizes([[(0, 5)], [(3, 5)], [(5, 9)]], (10,), most=5)[0][0] == 3
    assert sizes([[(0, 0)]], (5,)) == ((1, 1, 1, 1, 1),)


def test_boxes_far_apart_are_laid_out_at_once(tmp_path):
    most = _datasets.MOST_CELLS
    boxes = [Box((0, 0), (7, 7)), Box((most - 8, 0), (most - 1, 7))]
    levels = [made_plotfile.MadeLevel(Box((0, 0), (most - 1, 7)), boxes, (1.0, 1.0))]
    made_plotfile.write(tmp_path / "plt", ["Temp"], levels, made_plotfile.waves(levels))
    before = time.process_time()
    with open_tree(tmp_path / "plt", chunks={}) as tree:
        found = tree["level_0"]["Temp"]
        assert found.sizes["x"] == most and found.nbytes / found.data.npartitions > 1 << 16
        np.testing.assert_array_equal(found[-8:], neve.open(tmp_path / "plt")[0]["Temp"][1])
    assert time.process_time() - before < 20  # in the square of the cells: minutes


# --- elsewhere ---


def test_the_page_runs_as_it_stands(converted, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    (tmp_path / "plt00113.h5").write_bytes(converted.read_bytes())
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    assert names["part"].dims == ("x", "y") and (tmp_path / "uniform.nc").exists()
    names["tree"].close()


@pytest.mark.filterwarnings("ignore:The specified chunks separate")
def test_many_threads_read_the_same(many_frames):
    with neve.open(many_frames) as plotfile:
        wanted = {name: on_hull(plotfile[1], name) for name in FIELDS}
    with open_tree(many_frames, chunks={"x": 5, "y": 9}) as tree:
        level = tree["level_1"].to_dataset()
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda name: (name, level[name].values), FIELDS * 4))
    for name, values in found:
        np.testing.assert_array_equal(values, wanted[name])


def test_other_processes_open_the_file_for_themselves(many_frames, tmp_path):
    with open_tree(os.path.relpath(many_frames)) as tree:
        level = tree["level_1"].to_dataset()
        again = pickle.loads(pickle.dumps(level))
        np.testing.assert_array_equal(again["Temp"], level["Temp"])
    script = f"""
import dask, xarray
if __name__ == "__main__":
    with xarray.open_datatree({str(many_frames)!r}, engine="neve", chunks={{"x": 16}}) as tree:
        mean = tree["level_0"]["Temp"].mean()
        print(float(mean.compute(scheduler="processes", num_workers=2)) == float(mean.compute()))
"""
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "True", done.stderr


def test_files_are_closed(many_frames, tmp_path):
    def opened():
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return sum(os.path.exists(link) and os.path.samefile(link, path) for link in links)

    path = tmp_path / "copy.h5"
    path.write_bytes(many_frames.read_bytes())
    tree = open_tree(path)
    tree["level_0"]["Temp"].values  # noqa: B018
    assert opened() == 1
    tree.close()
    assert opened() == 0
    with pytest.raises(neve.Error):
        xr.open_dataset(path, engine="neve", group="level_9")
    assert opened() == 0


def replaced(path, other):
    os.replace(shutil.copy(other, path.with_suffix(".new")), path)


def test_a_file_that_was_replaced_is_not_read(many_frames, without_covered, tmp_path):
    path = Path(shutil.copy(many_frames, tmp_path / "plt.h5"))
    with open_tree(path) as tree:
        level = tree["level_1"].to_dataset()
        pickled = pickle.dumps(level)
        xr.backends.file_manager.FILE_CACHE.clear()  # as many other files do
        np.testing.assert_array_equal(pickle.loads(pickled)["Temp"][3], level["Temp"][3])
        xr.backends.file_manager.FILE_CACHE.clear()
        replaced(path, without_covered)
        for call in (
            lambda: level["Temp"].values,
            lambda: pickle.loads(pickled)["Temp"].values,
            lambda: level.neve.covered,
            lambda: level.neve.composite(0),
        ):
            with pytest.raises(neve.Error, match=r"plt\.h5 was replaced or changed .*its inode"):
                call()
        os.remove(path)
        with pytest.raises(neve.Error, match=r"plt\.h5: No such file"):
            level["Temp"].load()


@pytest.mark.parametrize("is_open", [False, True])
def test_a_directory_that_was_replaced_is_not_read(original, tmp_path, is_open):
    path = shutil.copytree(original, tmp_path / "plt")
    with open_tree(path, chunks={}) as tree:
        if not is_open:
            xr.backends.file_manager.FILE_CACHE.clear()
        path.rename(tmp_path / "old")
        shutil.copytree(original, path)
        with pytest.raises(neve.Error, match="plt was replaced or changed"):
            tree["level_0"]["Temp"].compute(scheduler="threads")


def test_cells_that_coordinates_cannot_tell_apart_are_refused(tmp_path):
    levels = [
        made_plotfile.MadeLevel(level.domain, level.boxes, (4.0 / 2**n,) * 3)
        for n, level in enumerate(made_plotfile.nested_levels(16, 8, 2))
    ]
    for name, corner in (("far", 1e17), ("near", 1e12)):
        values = made_plotfile.waves(levels)
        made_plotfile.write(tmp_path / name, FIELDS, levels, values, prob_lo=(0.0, corner, 0.0))
    with open_tree(tmp_path / "near") as tree:
        assert int(tree["level_0"].to_dataset().neve.covered.sum()) == 8**3
    with open_tree(tmp_path / "far") as tree:
        with pytest.raises(neve.Error, match=r"along y \(1e\+17 and on\) are rounded to"):
            tree.neve.covered  # noqa: B018
        with pytest.raises(neve.Error, match="coordinate x is gone"):
            tree["level_0"].to_dataset().isel(x=1, drop=True).neve.covered  # noqa: B018


def test_a_level_of_too_many_cells_is_refused(many_frames, monkeypatch):
    monkeypatch.setattr(_datasets, "MOST_CELLS", 64)
    with open_tree(many_frames, chunks={}) as tree:
        assert tree["level_2"].sizes["x"] <= 64
    monkeypatch.setattr(_datasets, "MOST_CELLS", 31)
    with pytest.raises(neve.Error, match="level 0 reaches along x .* at most 31 are allowed"):
        open_tree(many_frames)
    with pytest.raises(neve.Error, match="level 1 reaches along x from cell 0 to 63, 64 cells"):
        xr.open_dataset(many_frames, engine="neve", composite=1)


def test_import_neve_imports_no_xarray():
    words = "import sys, neve; print('xarray' in sys.modules, 'dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_without_xarray_the_message_says_what_to_install():
    words = "import sys; sys.modules['xarray'] = None\nimport neve\nimport neve.xarray"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert "pip install 'neve[xarray]'" in done.stderr
