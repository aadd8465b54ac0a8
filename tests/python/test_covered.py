# SPDX-License-Identifier: BSD-3-Clause
"""Covered cells by default: what tools that know nothing of them read is within the bound."""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

import neve

REL = 1e-3
FILES = (
    "examples/samples/nyx_lya32_plt00113",
    "amr/nyx_za64_plt00088",
    "amr/cns_rt_plt00450",
    "amr/warpx_lwfa_plt000301.tar.xz",
    "chombo/ramp.000020.3d.hdf5",
    "chombo/explosion_density.000020.3d.hdf5",
)


@pytest.fixture
def source(request: pytest.FixtureRequest, sample: Path, tmp_path: Path) -> Path:
    name = request.param
    if name.startswith("examples/samples/"):
        return sample
    path = request.getfixturevalue("shared_data") / name
    if not path.exists():
        pytest.skip(f"../shared/data/{name} is not here")
    if not name.endswith(".tar.xz"):
        return path
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "source")
    headers = [p for p in (tmp_path / "source").rglob("Header") if (p.parent / "Level_0").is_dir()]
    return headers[0].parent


def convert(command: Path, source: Path, target: Path, *options: str) -> dict:
    done = subprocess.run(
        [str(command), "convert", str(source), str(target), "--json", *options],
        check=True,
        capture_output=True,
        text=True,
        timeout=240,
    )
    return json.loads(done.stdout)


def boxes_of(file: h5py.File, level: int, components: int) -> Iterator[tuple[tuple, np.ndarray]]:
    """Corner and values of each box as any reader of Chombo's layout finds them, without ghosts."""
    group = file[f"level_{level}"]
    attributes = group["data_attributes"].attrs
    ghosts = [int(n) for n in attributes["outputGhost"]] if "outputGhost" in attributes else []
    values, offsets = group["data:datatype=0"][()], group["data:offsets=0"][()]
    for number, box in enumerate(group["boxes"][()]):
        dims = len(box) // 2
        corners = [int(v) for v in box]
        around = ghosts or [0] * dims
        inside = [hi - lo + 1 for lo, hi in zip(corners[:dims], corners[dims:], strict=True)]
        shape = [n + 2 * g for n, g in zip(inside, around, strict=True)]
        begin, cells = int(offsets[number]), int(np.prod(shape))
        part = values[begin : begin + cells * components].reshape((components, *shape[::-1]))
        cut = [slice(g, g + n) for n, g in zip(inside, around, strict=True)]
        yield tuple(corners[:dims]), part[(slice(None), *cut[::-1])]


def range_of(field) -> float:
    values = np.concatenate([np.ravel(box) for box in field])
    finite = values[np.isfinite(values)].astype(np.float64)
    return float(finite.max() - finite.min())


@pytest.mark.parametrize("source", FILES, indirect=True)
def test_h5py_reads_every_value_within_its_bound(neve_command, source, tmp_path):
    target = tmp_path / "x.h5"
    report = convert(neve_command, source, target, "--bound", f"rel={REL}")
    assert (report["covered"], report["left_out_cells"]) == ("keep", 0)
    compared = 0
    with neve.open(source) as original, h5py.File(target, "r") as file:
        for level in original.levels:
            places = {tuple(box.lo[: original.dims]): n for n, box in enumerate(level.boxes)}
            fields = [level[name] for name in original.components]
            bounds = [REL * range_of(field) for field in fields]
            for corner, values in boxes_of(file, level.index, len(fields)):
                for field, bound, found in zip(fields, bounds, values, strict=True):
                    wanted = np.asarray(field[places[corner]]).T.reshape(found.shape)
                    known = np.isfinite(wanted)
                    error = np.abs(found[known].astype(np.float64) - wanted[known])
                    assert error.max(initial=0.0) <= bound * (1 + 1e-12), (level.index, field)
                    np.testing.assert_array_equal(found[~known], wanted[~known])
                    compared += found.size
    assert compared > 0


def test_a_covering_grid_of_yt_holds_the_mass(neve_command, shared_data, tmp_path):
    """Level 0 as unmodified yt shows it: all of it is there, covered or not."""
    yt = pytest.importorskip("yt")
    yt.set_log_level(50)
    source = shared_data / "amr" / "nyx_za64_plt00088"
    target = tmp_path / "x.h5"
    convert(neve_command, source, target, "--bound", f"rel={REL}")
    dataset = yt.load(str(target))
    grids = [g for g in dataset.index.grids if g.Level == 0]
    found = np.concatenate([np.asarray(g["chombo", "density"]).ravel() for g in grids])
    with neve.open(source) as original:
        wanted = np.concatenate([np.ravel(box) for box in original[0]["density"]])
    bound = REL * (wanted.max() - wanted.min())
    assert abs(found.max() - wanted.max()) <= bound
    assert found.sum() == pytest.approx(wanted.sum(), rel=1e-4)
    grid = dataset.covering_grid(0, dataset.domain_left_edge, dataset.domain_dimensions)
    mass = np.asarray(grid["chombo", "density"])
    assert mass.sum() == pytest.approx(wanted.sum(), rel=1e-4)
    assert abs(mass.max() - wanted.max()) <= bound


@pytest.mark.parametrize("covered", ["keep", "auto", "drop"])
def test_what_was_left_out_is_said_in_the_report_and_the_file(
    neve_command, sample, tmp_path, covered
):
    target = tmp_path / "x.h5"
    options = () if covered == "keep" else ("--covered", covered)
    report = convert(neve_command, sample, target, *options)
    left_out = report["left_out_cells"]
    assert report["covered"] == covered
    assert (left_out > 0) == (covered != "keep")
    by_level = [sum(f["left_out_cells"] for f in level["fields"]) for level in report["levels"]]
    with h5py.File(target, "r") as file:
        notes = [
            file.attrs["neve_covered"],
            *(file[f"level_{n}"].attrs["neve_covered"] for n in (0, 1)),
        ]
    for note, count in zip(notes, [left_out, *by_level], strict=True):
        text = note.decode() if isinstance(note, bytes) else note
        start = f"{covered}: {count} values of covered cells are left out"
        assert text.startswith(start if count else f"{covered}: every cell is stored"), text
    done = subprocess.run(
        [str(neve_command), "convert", str(sample), str(target), *options],
        check=True,
        capture_output=True,
        text=True,
        timeout=240,
    )
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("covered cells: "))
    assert line.startswith(f"covered cells: {covered}, ")
    assert ("h5py, yt, VisIt" in line and str(left_out) in line) == (covered != "keep")
