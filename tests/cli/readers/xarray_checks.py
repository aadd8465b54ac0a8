# SPDX-License-Identifier: BSD-3-Clause
"""What xarray makes of a file of Neve: of a plotfile or checkpoint against neve.open, box by box,
of a data file against h5py. A difference is an AssertionError.
"""

import h5py
import numpy as np
import pytest

import neve

xarray = pytest.importorskip("xarray", reason="xarray is not installed")


def with_datatree(path):
    """xarray.open_datatree: every value of every level or group."""
    if holds_levels(path):
        with xarray.open_datatree(path, engine="neve") as tree:
            check_levels(tree, path)
    else:
        with xarray.open_datatree(path, decode_cf=False) as tree:
            check_groups(tree, path)


def with_dask(path):
    """The same in dask's chunks, and dask's mean of every field or variable."""
    pytest.importorskip("dask", reason="dask is not installed")
    if holds_levels(path):
        with xarray.open_datatree(path, engine="neve", chunks={}) as tree:
            check_levels(tree, path)
            nodes = [node.to_dataset() for node in tree.children.values()]
            check_means(nodes)
    else:
        with xarray.open_datatree(path, decode_cf=False, chunks={}) as tree:
            check_groups(tree, path)
            check_means([node.to_dataset() for node in tree.subtree])


def holds_levels(path):
    try:
        neve.open(path).close()
    except neve.Error:
        return False
    return True


def check_levels(tree, path):
    with neve.open(path) as plotfile:
        assert list(tree.children) == [f"level_{n}" for n in range(len(plotfile))]
        for level, node in zip(plotfile, tree.children.values(), strict=True):
            data = node.to_dataset()
            fields = [variable.attrs.get("field", name) for name, variable in data.items()]
            assert fields == list(level)
            for name, field in zip(data, fields, strict=True):
                check_field(data[name].values, level, field)


def check_field(values, level, field):
    """`values` on the hull of the level's boxes: those of each box to the bit, else NaN."""
    corners = np.array(level.boxes)
    first = corners[:, 0].min(axis=0)
    rest = np.ones(values.shape, bool)
    assert values.shape == tuple(corners[:, 1].max(axis=0) - first + 1)
    for (lo, hi), box in zip(level.boxes, level[field], strict=True):
        where = tuple(slice(a - o, b - o + 1) for a, b, o in zip(lo, hi, first, strict=True))
        assert values.dtype == box.dtype and values[where].tobytes() == box.tobytes(), field
        rest[where] = False
    assert np.isnan(values[rest]).all(), field


def check_groups(tree, path):
    found = {}
    for node in tree.subtree:
        for name, variable in node.to_dataset(inherit=False).variables.items():
            found[f"{node.path.strip('/')}/{name}".strip("/")] = variable.values
    compared = 0
    with h5py.File(path) as file:
        for name, values in found.items():
            if name in file and file[name].dtype.kind in "fiu":
                assert values.tobytes() == file[name][()].tobytes(), name
                compared += 1
    assert compared, "no variable of numbers"


def check_means(datasets):
    for data in datasets:
        for name, variable in data.data_vars.items():
            if variable.dtype.kind in "fiu" and variable.ndim:
                assert variable.chunks is not None, name
                found = float(variable.astype("f8").mean())
                wanted = np.nanmean(variable.values.astype("f8"))
                np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=name)
