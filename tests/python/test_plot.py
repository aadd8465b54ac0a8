# SPDX-License-Identifier: BSD-3-Clause
"""Pictures show something, and say when they cannot."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import neve

pytest.importorskip("matplotlib")
from matplotlib import image  # noqa: E402

from neve.plot import main  # noqa: E402


def colours(path) -> int:
    picture = image.imread(path)[..., :3]
    return len(np.unique((picture * 255).astype(np.uint8).reshape(-1, 3), axis=0))


def test_field_alone(sample, tmp_path):
    out = tmp_path / "density.png"
    assert main([str(sample), "--field", "density", "-o", str(out)]) == 0
    picture = image.imread(out)
    assert min(picture.shape[:2]) > 500
    assert colours(out) > 100


def test_error_beside_the_field(converted, sample, tmp_path):
    out = tmp_path / "error.png"
    arguments = ["--field", "Temp", "--against", str(sample), "--axis", "x", "-o", str(out)]
    assert main([str(converted), *arguments]) == 0
    picture = image.imread(out)
    assert picture.shape[1] > 1.7 * picture.shape[0]
    # The right half shows errors of both signs: red and blue in good measure.
    right = picture[:, picture.shape[1] // 2 :, :3]
    red, blue = right[..., 0] - right[..., 2] > 0.2, right[..., 2] - right[..., 0] > 0.2
    assert red.mean() > 0.01 and blue.mean() > 0.01


def test_as_a_module(sample, tmp_path):
    out = tmp_path / "a.png"
    words = ["-m", "neve.plot", str(sample), "--field", "pressure", "--level", "0", "-o", str(out)]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--field", "rho"], 2, "no field 'rho'; the file has density"),
        (["--field", "density", "--level", "7"], 2, "level is 7; 0 to 1 are allowed"),
        (["--field", "density", "--coord", "99"], 2, "coord 99.0 is outside"),
        (["--field", "density", "--against", "missing"], 1, "missing: no such file"),
    ],
)
def test_what_cannot_be_drawn_is_named(sample, tmp_path, capsys, arguments, code, message):
    out = tmp_path / "a.png"
    assert main([str(sample), *arguments, "-o", str(out)]) == code
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_unwritable_picture(sample, tmp_path, capsys):
    out = tmp_path / "no_such_folder" / "a.png"
    assert main([str(sample), "--field", "density", "-o", str(out)]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_kinds_of_pictures_are_listed(sample, tmp_path, capsys):
    out = tmp_path / "a.foo"
    assert main([str(sample), "--field", "density", "-o", str(out)]) == 2
    assert "a.foo: a picture is .png, .pdf or .svg" in capsys.readouterr().err


def test_other_original_is_refused(sample, tmp_path, shared_data):
    other = shared_data / "amr" / "cns_rt_plt00450"
    with pytest.raises(neve.Error, match="differ in their boxes"):
        neve_plot(sample, other, tmp_path / "a.png")


def neve_plot(path, against, out) -> None:
    from neve.plot import plot

    plot(path, "density", out, against=against)
