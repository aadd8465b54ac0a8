# SPDX-License-Identifier: BSD-3-Clause
"""What objects show of themselves: levels, boxes, fields, bounds, sizes."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

import neve


def test_a_plotfile_tells_levels_fields_bounds_and_sizes(converted: Path):
    with neve.open(converted) as plotfile:
        text = repr(plotfile)
        cells = [sum(box.cells for box in level.boxes) for level in plotfile]
        stored = converted.stat().st_size
        raw = sum(cells) * len(plotfile.components) * 8
        assert f"ratio {raw / stored:.2f}" in text and f"{raw / 2**20:.1f} MiB" in text
        for level, count in zip(plotfile, cells, strict=True):
            assert f"{count:,}" in text and f"{count:,} cells" in repr(level)
            for name in plotfile.components:
                bound = f"{level[name].bound_abs:.3g}"
                assert bound in text and bound in repr(level)
                assert bound in repr(level[name]) and name in repr(level[name])
        plane = repr(plotfile.slice("density", "x"))
        assert "slice x = 4: 64 x 64 cells along y, z" in plane and "levels 0, 1" in plane


def test_an_amrex_plotfile_records_no_bounds(sample: Path):
    plotfile = neve.open(sample)
    assert "bound" not in repr(plotfile) and "bound" not in repr(plotfile[0]["Temp"])
    assert "Temp" in repr(plotfile) and "Temp" in repr(plotfile[1])
    assert plotfile._repr_html_().count("<tr>") == 1 + 2 + 1 + len(plotfile.components)


def test_a_closed_file_still_says_what_it_was(converted: Path):
    plotfile = neve.open(converted)
    level = plotfile[0]
    plotfile.close()
    assert "2 levels" in repr(plotfile) and "32,768" in repr(level)
    assert repr(level["Temp"]).startswith("<neve field 'Temp' of level 0: 1 box,")


def test_names_are_escaped_in_notebooks(converted: Path, tmp_path: Path):
    path = tmp_path / "plt <b>.h5"
    path.write_bytes(converted.read_bytes())
    with h5py.File(path, "r+") as file:
        file.attrs["component_1"] = np.bytes_("<script>&")
    with neve.open(path) as plotfile:
        for html in (plotfile._repr_html_(), plotfile[0]._repr_html_()):
            assert "&lt;script&gt;&amp;" in html and "<script>" not in html
            assert "<b></b>" not in html
        assert "<b>.h5" not in plotfile._repr_html_()
        field = plotfile[0]["<script>&"]._repr_html_()
        assert "&lt;neve field &#x27;&lt;script&gt;&amp;&#x27; of level 0" in field


def test_many_fields_are_counted(sample: Path):
    with neve.open(sample) as plotfile:
        names = tuple(f"field {i}" for i in range(100))
        plotfile._source.components = names  # as a file of a chemistry code has them
        assert "... and 60 more" in repr(plotfile)


def test_values_that_are_not_finite_are_in_no_range():
    from neve._describe import range_text

    assert range_text(np.full((2, 2), np.nan)) == "no finite values"
    assert range_text(np.array([[1, np.nan], [-2.5, np.inf]])) == "-2.5 .. 1"


def test_a_filter_tells_its_bound():
    assert repr(neve.Filter(rel=1e-3, range=(0, 2))) == (
        "neve.Filter(abs=0.002, range=(0.0, 2.0)), from rel=0.001"
    )
