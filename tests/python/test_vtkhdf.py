# SPDX-License-Identifier: BSD-3-Clause
"""neve.vtkhdf: what is referred to and what is stored, refusals, the file that was there before.
What VTK reads in such files: tests/cli/test_paraview.py.
"""

import os
import shutil
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest

import neve
from neve import _vtkhdf_group, vtkhdf

BOX = np.dtype([(f"{side}_{axis}", "<i4") for side in ("lo", "hi") for axis in "ijk"])


def write_chombo(path, boxes, ghosts=0, filters=None, dtype="<f8"):
    """One level of boxes of 2^3 cells in a row along x, two components."""
    with h5py.File(path, "w") as file:
        file.create_group("Chombo_global").attrs["SpaceDim"] = np.int32(3)
        file.attrs.update({"num_levels": np.int32(1), "num_components": np.int32(2), "time": 1.5})
        file.attrs["component_0"], file.attrs["component_1"] = np.bytes_("a"), np.bytes_("b")
        level = file.create_group("level_0")
        level.attrs["dx"], level.attrs["ref_ratio"] = 0.5, np.int32(2)
        level.attrs["prob_domain"] = np.array((0, 0, 0, 2 * boxes - 1, 1, 1), BOX)
        level["boxes"] = np.array([(2 * n, 0, 0, 2 * n + 1, 1, 1) for n in range(boxes)], BOX)
        elements = 2 * (2 + 2 * ghosts) ** 3
        level["data:offsets=0"] = np.arange(boxes + 1) * elements
        values = np.sin(np.arange(boxes * elements)).astype(dtype)
        level.create_dataset("data:datatype=0", data=values, **(filters or {}))
        attributes = level.create_group("data_attributes").attrs
        attributes["comps"] = np.int32(2)
        vector = np.dtype([(f"intvect{axis}", "<i4") for axis in "ijk"])
        attributes["outputGhost"] = np.array((ghosts,) * 3, vector)


def same_values(made, source):
    with h5py.File(made) as file, neve.open(source) as plotfile:
        for name in plotfile.components:
            found = file[f"VTKHDF/Level0/CellData/{name}"][()]
            wanted = np.concatenate([box.ravel(order="F") for box in plotfile[0][name]])
            assert found.tobytes() == wanted.tobytes()


def test_a_plotfile_is_referred_to_by_a_relative_name(tmp_path):
    (tmp_path / "run").mkdir()
    write_chombo(tmp_path / "run" / "plt.h5", 3)
    report = vtkhdf.refer(tmp_path / "run" / "plt.h5", tmp_path / "plt.vtkhdf")
    assert (report.holds_values, report.levels[0].virtual) == (False, 2)
    with h5py.File(tmp_path / "plt.vtkhdf") as file:
        dataset = file["VTKHDF/Level0/CellData/a"]
        assert {source.file_name for source in dataset.virtual_sources()} == {"run/plt.h5"}
    same_values(tmp_path / "plt.vtkhdf", tmp_path / "run" / "plt.h5")
    shutil.move(tmp_path, tmp_path.with_name(tmp_path.name + "_moved"))
    moved = tmp_path.with_name(tmp_path.name + "_moved")
    same_values(moved / "plt.vtkhdf", moved / "run" / "plt.h5")
    shutil.move(moved, tmp_path)


def test_without_its_source_it_shows_nothing(tmp_path):
    write_chombo(tmp_path / "plt.h5", 3)
    vtkhdf.refer(tmp_path / "plt.h5", tmp_path / "plt.vtkhdf")
    (tmp_path / "plt.h5").unlink()
    with h5py.File(tmp_path / "plt.vtkhdf") as file:
        assert np.isnan(file["VTKHDF/Level0/CellData/a"][()]).all()


@pytest.mark.parametrize("name", ["50%b.h5", "9%d.h5", "5%%.h5", "a:b%.h5"])
def test_a_percent_sign_in_the_name_is_one(tmp_path, name):
    write_chombo(tmp_path / name, 3)
    vtkhdf.refer(tmp_path / name, tmp_path / "plt.vtkhdf")
    same_values(tmp_path / "plt.vtkhdf", tmp_path / name)


def test_a_source_elsewhere_has_to_keep_its_place(tmp_path):
    (tmp_path / "run").mkdir()
    write_chombo(tmp_path / "run" / "plt.h5", 3)
    said = vtkhdf.refer(tmp_path / "run" / "plt.h5", tmp_path / "plt.vtkhdf").text()
    assert "looks for at run/plt.h5: keep that relative place" in said
    beside = vtkhdf.refer(tmp_path / "run" / "plt.h5", tmp_path / "run" / "plt.vtkhdf").text()
    assert f"keep it beside {tmp_path}/run/plt.vtkhdf" in beside


@pytest.mark.parametrize(
    ("boxes", "options"),
    [
        (_vtkhdf_group.VIRTUAL_BOXES + 1, {}),
        (3, {"ghosts": 1}),
        (3, {"filters": {"compression": "lzf"}, "dtype": "<f4"}),
    ],
)
def test_what_cannot_be_referred_to_is_stored(tmp_path, boxes, options):
    write_chombo(tmp_path / "plt.h5", boxes, **options)
    report = vtkhdf.refer(tmp_path / "plt.h5", tmp_path / "plt.vtkhdf")
    assert report.levels[0].copied == 2
    assert "stored again" in report.text()
    same_values(tmp_path / "plt.vtkhdf", tmp_path / "plt.h5")
    (tmp_path / "plt.h5").unlink()
    with h5py.File(tmp_path / "plt.vtkhdf") as file:
        assert file["VTKHDF/Level0/CellData/a"][()].size == 8 * boxes


def test_one_box_more_than_virtual_datasets_serve_is_the_limit(tmp_path):
    write_chombo(tmp_path / "plt.h5", _vtkhdf_group.VIRTUAL_BOXES)
    assert vtkhdf.refer(tmp_path / "plt.h5", tmp_path / "plt.vtkhdf").levels[0].virtual == 2


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "plt.vtkhdf").write_text("before")
    (tmp_path / "plt.h5").write_bytes(b"no plotfile")
    with pytest.raises(neve.Error, match="plt.h5"):
        vtkhdf.refer(tmp_path / "plt.h5", tmp_path / "plt.vtkhdf")
    assert (tmp_path / "plt.vtkhdf").read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["plt.h5", "plt.vtkhdf"]


KILLED_WITHIN = """
import os, signal, sys
from neve import vtkhdf
vtkhdf.write_group = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
vtkhdf.hold(sys.argv[1], sys.argv[2], [])
"""


def test_what_a_killed_one_has_left_goes_with_the_next(tmp_path):
    write_chombo(tmp_path / "plt.h5", 3)
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "plt.vtkhdf"
    words = [sys.executable, "-c", KILLED_WITHIN, str(tmp_path / "plt.h5"), str(out)]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    assert [path.name for path in out.parent.iterdir()] != []
    vtkhdf.hold(tmp_path / "plt.h5", out, [])
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_files_elsewhere_are_refused_without_follow_external(tmp_path):
    (tmp_path / "in").mkdir()
    write_chombo(tmp_path / "plt.h5", 2)
    with h5py.File(tmp_path / "plt.h5") as whole, h5py.File(tmp_path / "in/link.h5", "w") as file:
        for name in ("Chombo_global", "level_0"):
            file[name] = h5py.ExternalLink("../plt.h5", name)
        file.attrs.update(whole.attrs)
    with pytest.raises(neve.Error, match="follow_external"):
        vtkhdf.refer(tmp_path / "in" / "link.h5", tmp_path / "out.vtkhdf")
    vtkhdf.refer(tmp_path / "in" / "link.h5", tmp_path / "out.vtkhdf", True)
    same_values(tmp_path / "out.vtkhdf", tmp_path / "plt.h5")


VTK_FIRST = """
import sys
from vtkmodules.vtkIOHDF import vtkHDFReader
reader = vtkHDFReader()
reader.SetFileName(sys.argv[1])
reader.UpdateInformation()
import neve
reader = vtkHDFReader()
reader.SetFileName(sys.argv[1])
reader.Update()
block = reader.GetOutputDataObject(0).NewIterator().GetCurrentDataObject()
assert block.GetCellData().GetArray("a").GetNumberOfTuples() == 8
"""


def test_vtk_finds_the_plugin_where_its_hdf5_was_there_before_neve(tmp_path):
    pytest.importorskip("vtkmodules", reason="vtk is not installed: pip install vtk")
    write_chombo(tmp_path / "plt.h5", 3, ghosts=1)  # stored again, by Neve's filter
    vtkhdf.refer(tmp_path / "plt.h5", tmp_path / "plt.vtkhdf")
    environment = {k: v for k, v in os.environ.items() if k != "HDF5_PLUGIN_PATH"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", VTK_FIRST, tmp_path / "plt.vtkhdf"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
