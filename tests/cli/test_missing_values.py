# SPDX-License-Identifier: BSD-3-Clause
"""All of CF's missing values through `neve convert` and `neve verify`, against netCDF4's masks."""

from __future__ import annotations

import os

import numpy as np
import pytest

import neve  # noqa: F401 - so that netCDF4 finds the plugin

from .conftest import run_neve

netCDF4 = pytest.importorskip("netCDF4")

FILES = 200 if os.environ.get("NEVE_TEST_LONG") else 48
EACH = 12  # of one test
DEFAULTS = netCDF4.default_fillvals


def add_variable(file, rng, name: str, sizes: tuple[int, ...]) -> None:
    """Around any base, with fills of any kind, limits, unwritten steps, packed shorts."""
    dtype = str(rng.choice(["f4", "f8", "i2"], p=[0.5, 0.35, 0.15]))
    is_float = dtype != "i2"
    choices = [None, None, -999.0, -9999.1, 1e20, 0.0, 280.0, np.nan] if is_float else [None, -999]
    fill = choices[rng.integers(len(choices))]
    arguments = {} if fill is None else {"fill_value": fill}
    chunks = (int(rng.integers(1, sizes[0] + 1)), *sizes[1:])
    variable = file.createVariable(name, dtype, ("t", "y", "x"), chunksizes=chunks, **arguments)
    variable.set_auto_maskandscale(False)
    array = rng.choice([280.0, 0.0, 1e5, -3.0]) + np.cumsum(rng.normal(size=sizes), axis=2)
    array = (array if is_float else np.clip(array, -3e4, 3e4)).astype(dtype)
    fills = [] if fill is None else [fill]
    if is_float and rng.random() < 0.5:
        kinds = [[-999.0], [1e20, -888.0], [-9999.1, 1e30, 12345.678], [-1.0, -2.0, -3.0]]
        kinds.append([-500.5 - i for i in range(20)])
        missing = kinds[rng.integers(len(kinds))]
        variable.missing_value = np.array(missing, dtype)
        fills += missing
    elif not is_float:
        variable.scale_factor, variable.add_offset = 0.01, 3.0
    if is_float and rng.random() < 0.4:
        low, high = np.percentile(array, [rng.integers(0, 20), rng.integers(80, 101)])
        attribute, value = [
            ("valid_range", [low, high]),
            ("valid_range", [np.nan, high]),
            ("valid_range", [low, np.nan]),
            ("valid_min", low),
            ("valid_max", high),
        ][rng.integers(5)]
        variable.setncattr(attribute, np.array(value, dtype))
    if is_float and rng.random() < 0.5:
        fills.append(DEFAULTS[dtype])
    if is_float and rng.random() < 0.3:
        fills.append(np.nan)
    for value in fills:
        array[rng.random(array.shape) < rng.random() * 0.2] = np.array(value, dtype)
    steps = len(array) if rng.random() < 0.7 else max(1, len(array) // 2)
    variable[:steps] = array[:steps]


def make_file(path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = tuple(int(n) for n in rng.integers(5, 40, 3))
    with netCDF4.Dataset(path, "w") as file:
        for name, size in zip("tyx", (None, *sizes[1:]), strict=True):
            file.createDimension(name, size)
        for k in range(4):
            add_variable(file, rng, f"v{k}", sizes)


def check_variable(before, after, bound: str, report: dict) -> None:
    masked, masked_after = (np.ma.getmaskarray(v[...]) for v in (before, after))
    assert np.array_equal(masked, masked_after)
    for variable in (before, after):
        variable.set_auto_maskandscale(False)
    a, b = before[...], after[...]
    assert a[masked].tobytes() == b[masked].tobytes()
    if tuple(report["dims"]) == a.shape:  # else netCDF adds steps that the file has not
        assert report["missing_cells"] == report["missing_cells_in_copy"] == masked.sum()
    assert report["missing_changes"] == 0
    if a.dtype.kind != "f":
        assert a.tobytes() == b.tobytes()
        return
    valid = ~masked & np.isfinite(a)
    values = a[valid].astype("f8")
    mode, limit = bound.split("=")
    allowed = float(limit) * (np.ptp(values) if mode == "rel" and values.size else 1)
    assert values.size == 0 or np.abs(values - b[valid]).max() <= allowed * (1 + 1e-12)


@pytest.mark.parametrize("first", range(0, FILES, EACH))
def test_masks_stay_and_fills_come_back_bit_for_bit(tmp_path, first):
    for seed in range(first, first + EACH):
        source, copy = tmp_path / f"{seed}.nc", tmp_path / f"{seed}_copy.nc"
        make_file(source, seed)
        bound = ("abs=0.5", "abs=1e-2", "rel=1e-3", "rel=1e-2")[seed % 4]
        effort = ("fast", "balanced", "max")[seed % 3]
        run_neve("convert", source, copy, "--bound", bound, "--effort", effort)
        report = run_neve("verify", source, copy, "--json").json
        assert report["ok"]
        reports = {v["name"]: v for v in report["variables"]}
        with netCDF4.Dataset(source) as before, netCDF4.Dataset(copy) as after:
            for k in range(4):
                check_variable(before[f"v{k}"], after[f"v{k}"], bound, reports[f"/v{k}"])


def test_verify_finds_a_changed_mask(tmp_path):
    """Within the bound, but one valid cell has become a missing one."""
    source, copy = tmp_path / "a.nc", tmp_path / "b.nc"
    for path, value in ((source, -0.001), (copy, -0.002)):
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("x", 1000)
            variable = file.createVariable("v", "f4", ("x",), chunksizes=(1000,))
            variable.missing_value = np.array([-5.0, -0.002], "f4")
            variable[:] = np.r_[np.linspace(1, 2, 999), value]
    run_neve("convert", copy, tmp_path / "c.nc", "--bound", "abs=0.01")
    done = run_neve("verify", source, tmp_path / "c.nc", expect=3)
    assert "1 cells are missing in only one of the original and the copy (0 and 1 are missing)" in (
        done.err
    )


def test_no_fill_value_at_all(tmp_path):
    """With `--fill none` declared values are values, and verify does not ask for more."""
    source, copy = tmp_path / "a.nc", tmp_path / "b.nc"
    with netCDF4.Dataset(source, "w") as file:
        file.createDimension("x", 1000)
        variable = file.createVariable("v", "f4", ("x",), fill_value=1.5)
        variable[:] = np.linspace(1, 2, 1000)
    run_neve("convert", source, copy, "--bound", "abs=0.01", "--fill", "none")
    run_neve("verify", source, copy)
