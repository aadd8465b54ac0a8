# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench copy`: every copy is verified, sizes are those of the files."""

import json

import netCDF4
import numpy as np
import pytest

from neve_bench import copy
from neve_bench.__main__ import main


@pytest.fixture
def ocean(tmp_path):
    path = tmp_path / "ocean.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", 60)
        file.createDimension("x", 80)
        sst = file.createVariable("sst", "f4", ("y", "x"), fill_value=-999.0)
        y, x = np.mgrid[0:60, 0:80]
        sst[...] = np.ma.masked_where(x > 70, np.sin(x / 9.0) + np.cos(y / 7.0))
        packed = file.createVariable("depth", "i2", ("y", "x"))
        packed.scale_factor = 0.1
        packed[...] = x * 1.0
    return path


def test_all_methods_are_measured_and_smaller(ocean, tmp_path, capsys):
    out, report = tmp_path / "copy.json", tmp_path / "copy.md"
    words = ["copy", str(ocean), "--copies", "3", "--repeats", "1", "--bound", "rel=1e-3"]
    assert main([*words, "--json", str(out), "-o", str(report), "--scratch", str(tmp_path)]) == 0
    recorded = json.loads(out.read_text())
    rows = {row["method"]: row for row in recorded["rows"]}
    assert list(rows) == ["nccopy -d1 -s", "neve convert", "neve convert --bound rel=1e-3"]
    sizes = [row["bytes"] for row in rows.values()]
    assert recorded["source_bytes"] > sizes[1] > sizes[2] > 0
    assert all(row["cpu_seconds"] > 0 for row in rows.values())
    text = report.read_text()
    assert "`neve bench copy ocean.nc --copies 3 --bound rel=1e-3 --repeats 1`" in text
    assert text.strip() == capsys.readouterr().out.strip()
    assert not list(tmp_path.glob("neve-copy-*"))


def test_the_source_holds_what_the_files_hold(ocean, tmp_path):
    made = tmp_path / "made.nc"
    copy._write_source([str(ocean)], 2, made)
    with netCDF4.Dataset(ocean) as before, netCDF4.Dataset(made) as after:
        for dataset in (before, after):
            dataset.set_auto_maskandscale(False)
        assert list(after.groups) == ["copy_0", "copy_1"]
        for copies in after.groups.values():
            group = copies["ocean"]
            for name, variable in before.variables.items():
                assert group[name][...].tobytes() == variable[...].tobytes()
                assert group[name].ncattrs() == variable.ncattrs()


@pytest.mark.parametrize(
    "words, code, part",
    [
        (["--copies", "0"], 2, "--copies 0"),
        (["--repeats", "0"], 2, "--repeats 0"),
        (["--bound", "tight"], 1, "tight"),
    ],
)
def test_wrong_calls_are_refused(ocean, tmp_path, capsys, words, code, part):
    assert main(["copy", str(ocean), *words, "--scratch", str(tmp_path)]) == code
    assert part in capsys.readouterr().err
    assert not list(tmp_path.glob("neve-copy-*"))


def test_variables_in_groups_are_copied_too(tmp_path):
    path, made = tmp_path / "groups.nc", tmp_path / "made.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 50)
        below = file.createGroup("deep/deeper")
        below.createVariable("t", "f8", ("x",))[...] = np.arange(50) / 7
    copy._write_source([str(path)], 1, made)
    with netCDF4.Dataset(made) as after:
        assert (after["copy_0/groups/deep/deeper/t"][...] == np.arange(50) / 7).all()


def test_what_cannot_be_read_is_refused_by_name(tmp_path, capsys):
    (tmp_path / "text.nc").write_text("no netCDF")
    for name in ("missing.nc", "text.nc"):
        assert main(["copy", str(tmp_path / name), "--scratch", str(tmp_path)]) != 0
        assert name in capsys.readouterr().err


def test_a_variable_in_two_files_is_refused(ocean, tmp_path, capsys):
    assert main(["copy", str(ocean), str(ocean), "--scratch", str(tmp_path)]) == 2
    assert "has a variable sst already" in capsys.readouterr().err
