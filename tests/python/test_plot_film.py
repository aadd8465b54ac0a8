# SPDX-License-Identifier: BSD-3-Clause
"""Films: a frame for each file or step, with one scale of colours."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import small_amr

import neve

pytest.importorskip("matplotlib")
from PIL import Image  # noqa: E402

import neve.plot  # noqa: E402
from neve._told_steps import Steps  # noqa: E402
from neve.plot import _film  # noqa: E402
from neve.plot._film import steps_of  # noqa: E402
from neve.plot._view import view  # noqa: E402

PLAIN = view(
    axis=None,
    coord=None,
    at=None,
    index=None,
    level=None,
    outlines=True,
    log=None,
    value_range=None,
    cmap="viridis",
    size=(4.0, 3.0),
    dpi=50,
    follow_external=False,
)


@pytest.fixture
def scales(monkeypatch):
    """The ends of the colour scale of each frame, as they are drawn."""
    found = []
    draw = _film.draw_fields

    def noting(*arguments):
        picture = draw(*arguments)
        shown = picture.figure.axes[0].get_images()[0]
        found.append((shown.norm.vmin, shown.norm.vmax, shown.get_array().copy()))
        return picture

    monkeypatch.setattr(_film, "draw_fields", noting)
    return found


def test_plotfiles_by_their_time(tmp_path, scales):
    times = {"a": 3.0, "b": 1.0, "c": 2.0}
    paths = [small_amr.write(tmp_path / f"{n}.h5", 2, time=t, scale=t) for n, t in times.items()]
    out = tmp_path / "film.gif"
    assert neve.plot.film(paths, out, "a", size=(4, 3), dpi=50) == 3
    film = Image.open(out)
    assert (film.n_frames, film.size) == (3, (200, 150))
    ends = {(low, high) for low, high, _ in scales}
    assert len(ends) == 1
    assert [float(values.min()) for _, _, values in scales] == sorted(
        float(values.min()) for _, _, values in scales
    )
    (low, high) = ends.pop()
    assert low == min(v.min() for _, _, v in scales) and high == max(v.max() for _, _, v in scales)


def test_colours_of_a_film_are_those_of_the_scale(tmp_path):
    """A small bright spot keeps its colour beside many dark cells, in every frame."""
    from matplotlib import colormaps

    values = np.zeros((3, 40, 40))
    values[:, 20, 20] = (1.0, 0.5, 1.0)
    np.save(tmp_path / "f.npy", values)
    neve.plot.film(tmp_path / "f.npy", tmp_path / "f.gif", size=(6, 5), dpi=60)
    film = Image.open(tmp_path / "f.gif")
    for number, share in enumerate((1.0, 0.5, 1.0)):
        film.seek(number)
        wanted = np.array(colormaps["viridis"](share)[:3]) * 255
        pixels = np.asarray(film.convert("RGB")).astype(int)[:, :280]  # without the colour bar
        assert (np.abs(pixels - wanted).max(axis=2) <= 4).sum() >= 9


def test_pictures_among_the_files_are_left_out(tmp_path, capsys):
    paths = [small_amr.write(tmp_path / f"plt{i}", 2, time=i) for i in (1, 2)]
    (tmp_path / "plt1.png").write_bytes(b"\x89PNG")
    words = [*map(str, [*paths, tmp_path / "plt1.png"]), "--film", str(tmp_path / "a.gif")]
    assert neve.plot.main([*words, "--field", "a", "--dpi", "40"]) == 0
    said = capsys.readouterr()
    assert "2 frames" in said.out and "left out, as pictures: " in said.err


@pytest.fixture
def steps_file(tmp_path):
    path = tmp_path / "steps.nc"
    with h5py.File(path, "w") as f:
        f["time"] = np.arange(5.0)
        f["time"].attrs["units"] = "hours since 2000-01-01"
        f["time"].make_scale("time")
        f["t"] = np.random.default_rng(1).random((5, 2, 4, 6))
        f["t"].dims[0].attach_scale(f["time"])
    return path


def test_steps_of_a_variable(steps_file, tmp_path, scales, capsys):
    out = tmp_path / "t.gif"
    words = [str(steps_file), "--film", str(out), "--dpi", "40", "--fps", "10"]
    assert neve.plot.main(words) == 0
    said = capsys.readouterr()
    assert said.out == f"wrote {out}: 5 frames\n"
    assert said.err == ""  # it takes no time
    film = Image.open(out)
    assert film.n_frames == 5 and film.info["duration"] == 100
    assert len({ends[:2] for ends in scales}) == 1
    with h5py.File(steps_file) as f:
        for number, (_, _, values) in enumerate(scales):
            np.testing.assert_array_equal(values, f["t"][number, 1])


@pytest.mark.parametrize(("seconds", "told"), [(0.01, 0), (2.0, 10), (6.0, 10), (600.0, 10)])
def test_a_long_work_tells_a_line_now_and_then(monkeypatch, capsys, seconds, told):
    """100 steps, each of so many seconds."""
    now = [0.0]
    monkeypatch.setattr("neve._told_steps.time.monotonic", lambda: now[0])
    steps = Steps("neve plot", "frame", 100)
    for _ in range(100):
        now[0] += seconds
        steps.tell_next()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == told
    assert all(line.startswith("neve plot: frame ") and " of 100" in line for line in lines)


def test_along_any_dimension(steps_file):
    steps = steps_of([steps_file], "t", "1", PLAIN)
    assert [step.index for step in steps] == [("1", 0), ("1", 1)]
    with pytest.raises(neve.Error, match=r"no dimension 'q'; t has time \(5\), 1 \(2\)"):
        steps_of([steps_file], "t", "q", PLAIN)


def test_an_array_runs_along_its_first_dimension(tmp_path, scales):
    values = np.random.default_rng(1).random((4, 5, 6))
    np.save(tmp_path / "f.npy", values)
    assert neve.plot.film(tmp_path / "f.npy", tmp_path / "f.gif", range=(0, 2), dpi=40) == 4
    assert {ends[:2] for ends in scales} == {(0, 2)}


def test_video_by_ffmpeg(steps_file, tmp_path, monkeypatch):
    """What is handed to it: all frames, of an even size."""
    script = tmp_path / "ffmpeg"
    script.write_text('#!/bin/sh\nfor last; do :; done\necho "$@" > "$last"\ncat >> "$last"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    out = tmp_path / "t.mp4"
    assert neve.plot.film(steps_file, out, size=(3, 2.02), dpi=50) == 5
    words, pixels = out.read_bytes().split(b"\n", 1)
    assert b"-s 150x100 -r 5" in words
    assert len(pixels) == 5 * 150 * 100 * 3
    script.write_text("#!/bin/sh\necho no such codec >&2\nexit 1\n")
    before = out.read_bytes()
    with pytest.raises(neve.Error, match="ffmpeg failed: no such codec"):
        neve.plot.film(steps_file, out, size=(3, 2), dpi=50)
    assert out.read_bytes() == before
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(neve.Error, match="needs ffmpeg on the PATH"):
        neve.plot.film(steps_file, out)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"out": "a.avi"}, "a film is .gif or .mp4"),
        ({"out": "a.gif", "fps": 0}, "0.1 to 100 are allowed"),
        ({"out": "a.gif", "along": "x"}, "--along is for data files and arrays"),
        ({"out": "a.gif"}, "a film has two frames or more"),
        ({"out": "a.gif", "field": "q"}, "no field 'q'"),
    ],
)
def test_what_is_no_film_is_named(tmp_path, keywords, message):
    path = small_amr.write(tmp_path / "a.h5", 2)
    paths = [path, path] if "field" in keywords else path
    keywords["out"] = tmp_path / keywords["out"]
    with pytest.raises(neve.Error, match=message):
        neve.plot.film(paths, **keywords)
    assert not keywords["out"].exists()


def test_a_rate_of_zero_is_refused(steps_file, tmp_path, capsys):
    words = [str(steps_file), "--film", str(tmp_path / "a.gif"), "--fps", "0"]
    assert neve.plot.main(words) == 2
    assert "fps is 0; 0.1 to 100 are allowed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b"], "2 files; --film OUT.gif makes a film of them"),
        ([], "no FILE is named"),
        (["a", "--compare", "b", "c"], "--compare names both files"),
        (["a", "--film", "x.gif", "-o", "y.png"], "it names the film"),
        (["a", "--fps", "3"], "--fps is of a film"),
        (["a", "--log", "--linear"], "not allowed with"),
    ],
)
def test_options_that_do_not_go_together(capsys, words, message):
    with pytest.raises(SystemExit) as left:
        neve.plot.main(words)
    assert left.value.code == 2
    assert message in capsys.readouterr().err
