# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench links`: fields through imitated links, the shim's cost, the picture."""

import json

import numpy as np
import pytest

from neve_bench import links_picture
from neve_bench.__main__ import main


def test_measures_fields_and_draws(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    z, y, x = np.mgrid[0:64, 0:64, 0:64]
    np.save(tmp_path / "waves.npy", (np.sin(0.1 * x) * np.cos(0.07 * y) + 0.01 * z).astype("f4"))
    words = ["links", "--field", str(tmp_path / "waves.npy"), "--megabytes", "2", "--repeats", "1"]
    words += ["--imitate", "12", "2", "--calls", "20", "--scratch", str(tmp_path)]
    out = tmp_path / "links.json"
    assert main([*words, "--json", str(out), "--plot", str(tmp_path)]) == 0
    recorded = json.loads(out.read_text())
    (field,) = recorded["fields"]
    assert field["field"] == "waves.npy" and field["max_abs_error"] <= field["bound_abs"]
    assert [point["encode_over_link"] for point in field["links"]] == [12, 2]
    assert all(row["mpi_seconds"] > 0 and row["shim_seconds"] > 0 for row in recorded["cost"])
    text = capsys.readouterr().out
    assert "asked: 8" in text and "asked: 1.5" in text and "asked: 1.05" in text
    assert (tmp_path / links_picture.NAME).read_bytes().startswith(b"\x89PNG")


def test_the_model_of_a_link():
    assert links_picture.gain(12, 1e9, 1e9, 1e9) == pytest.approx(12)  # only encoding takes time
    assert links_picture.gain(24, 8, 1e9, 1e9) == pytest.approx(8)  # only the link does
    assert links_picture.gain(2, 1e9, 0.5, 1e9) == pytest.approx(1)  # decoding takes twice as long
    assert links_picture.gain(2, 4, 2, 1) == pytest.approx(1)  # one block: nothing side by side


@pytest.mark.parametrize(
    "words", [["--repeats", "0"], ["--ranks", "1"], ["--calls", "0"], ["--data", "nowhere"]]
)
def test_refuses(words):
    assert main(["links", *words]) in (1, 2)
