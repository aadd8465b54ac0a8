# SPDX-License-Identifier: BSD-3-Clause
"""`neve convert` to .vtkhdf and .xdmf: what it makes of what, says and refuses. What viewers read
there: test_paraview.py.
"""

import h5py
import numpy as np
import pytest

import neve as package

from .conftest import SAMPLE
from .readers.sample_files import make_netcdf


@pytest.fixture(scope="module")
def plotfile(neve, tmp_path_factory):
    path = tmp_path_factory.mktemp("vtkhdf") / "plt.h5"
    neve("convert", SAMPLE, path)
    return path


def test_a_plotfile_is_referred_to(neve, plotfile):
    made = plotfile.with_name("refers.vtkhdf")
    done = neve("convert", plotfile, made)
    assert f"values stay in {plotfile}" in done.out
    assert made.stat().st_size < plotfile.stat().st_size / 2
    with h5py.File(made) as file:
        assert list(file) == ["VTKHDF"]
        sources = file["VTKHDF/Level0/CellData/density"].virtual_sources()
        assert {source.file_name for source in sources} == {"plt.h5"}


def test_a_directory_becomes_a_plotfile_with_the_group_inside(neve, tmp_path):
    made = tmp_path / "whole.vtkhdf"
    done = neve("convert", SAMPLE, made, "--bound", "rel=1e-4", "--field", "Temp:lossless")
    assert "whole.vtkhdf: VTKHDF, 2 levels" in done.out
    assert str(made) in done.out and "neve-tmp" not in done.out + done.err
    assert neve("verify", SAMPLE, made).code == 0
    assert neve("info", made, "--json").json["kind"] == "Neve HDF5 plotfile"
    with h5py.File(made) as file, package.open(SAMPLE) as source:
        wanted = source[0]["Temp"][0].ravel(order="F")
        assert file["VTKHDF/Level0/CellData/Temp"][()].tobytes() == wanted.tobytes()


def test_copies_of_such_a_file_have_no_group(neve, tmp_path):
    neve("convert", SAMPLE, tmp_path / "whole.vtkhdf")
    neve("convert", tmp_path / "whole.vtkhdf", tmp_path / "copy.h5", "--bound", "lossless")
    with h5py.File(tmp_path / "copy.h5") as file:
        assert "VTKHDF" not in file


def test_the_report_as_json(neve, plotfile):
    made = plotfile.with_name("reported.vtkhdf")
    report = neve("convert", plotfile, made, "--json").json
    assert report["levels"] == [
        {"boxes": 1, "virtual": 8, "copied": 0},
        {"boxes": 3, "virtual": 8, "copied": 0},
    ]
    named = neve("convert", plotfile, plotfile.with_name("other"), "--to", "vtkhdf", "--json").json
    assert {**named, "destination": report["destination"]} == report


def test_the_report_of_a_directory_as_json(neve, tmp_path):
    report = neve("convert", SAMPLE, tmp_path / "whole.vtkhdf", "--json").json
    assert report["holds_values"]
    assert report["conversion"]["destination"] == str(tmp_path / "whole.vtkhdf")


def test_frames_that_need_the_coarser_level_are_refused(neve, tmp_path):
    nested = tmp_path / "nested.h5"
    neve("convert", SAMPLE, nested, "--codec", "interpolation", "--cross-level")
    done = neve("convert", nested, tmp_path / "out.vtkhdf", expect=2)
    assert "--bound lossless" in done.err
    assert not (tmp_path / "out.vtkhdf").exists()
    neve("convert", nested, tmp_path / "out.vtkhdf", "--bound", "lossless")
    assert neve("verify", nested, tmp_path / "out.vtkhdf").code == 0


def test_what_has_no_meaning_is_refused(neve, plotfile, tmp_path):
    make_netcdf(tmp_path / "ocean.nc")
    out = tmp_path / "out"
    for words, told in [
        ((tmp_path / "ocean.nc", f"{out}.vtkhdf"), ".xdmf is for data files"),
        ((plotfile, f"{out}.xdmf"), "OUT.vtkhdf"),
        ((tmp_path / "ocean.nc", f"{out}.xdmf", "--bound", "rel=1e-3"), "--bound"),
        ((plotfile, plotfile, "--to", "vtkhdf"), "same file"),
        ((SAMPLE, f"{out}.xdmf"), "has levels of boxes"),
        ((tmp_path.parent, f"{out}.xdmf"), "is a directory; allowed"),
        ((SAMPLE, f"{out}.vtkhdf", "--rules", "r.toml"), "--rules"),
        ((plotfile, f"{out}.h5", "--to", "vtk"), "vtkhdf, xdmf"),
    ]:
        done = neve("convert", *words, expect=None)
        assert done.code in (1, 2), words
        assert told in done.err, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ocean.nc"]


def test_a_file_that_refers_leads_to_its_source(neve, plotfile, tmp_path):
    made = plotfile.with_name("end.vtkhdf")
    neve("convert", plotfile, made)
    told = f"{made} is for VTK and holds no levels of a plotfile: use plt.h5, to which it refers"
    for out in ("out.vtkhdf", "out.xdmf"):
        assert told in neve("convert", made, tmp_path / out, expect=2).err
    with pytest.raises(package.Error, match="use plt.h5, to which it refers"):
        package.open(made)
    assert "use the plotfile of which it was made" in neve("verify", plotfile, made, expect=2).err
    assert neve("info", made, "--json").json["kind"].startswith("VTKHDF file; the plotfile")
    assert not list(tmp_path.iterdir())


def test_what_has_no_levels_is_told_from_a_plotfile(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    make_netcdf(tmp_path / "ocean.nc")
    for name in ("a.npy", "ocean.nc"):
        with pytest.raises(package.Error, match=f"{name} is a data file; neve.open is for"):
            package.open(tmp_path / name)


def test_ranks_are_refused(neve, plotfile):
    done = neve("convert", plotfile, plotfile.with_name("ranks.vtkhdf"), ranks=2, expect=None)
    assert done.code == 2
    assert any("is made by one rank, not 2" in line for line in done.messages())


def test_xdmf_tells_what_it_leaves_out(neve, tmp_path):
    make_netcdf(tmp_path / "ocean.nc")
    report = neve("convert", tmp_path / "ocean.nc", tmp_path / "ocean.xdmf", "--json").json
    assert report["packed"] == ["wind (packed)"]
    assert report["variables"] == ["air", "mask_land", "pressure", "wind (packed)"]
    assert list(report["left_out"]) == ["name"]
    with h5py.File(report["steps"]) as steps, h5py.File(tmp_path / "ocean.nc") as source:
        np.testing.assert_array_equal(steps["air/7"][()], source["air"][7])
