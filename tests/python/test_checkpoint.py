# SPDX-License-Identifier: BSD-3-Clause
"""neve.open of checkpoints: Chombo's, and those of codes with a dataset for each variable."""

import pathlib
import sys

import h5py
import numpy as np
import pytest

import neve

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from chombo_files import LEVELS, Variable, boxes_of, values_of, write  # noqa: E402


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_every_variable_of_every_level(tmp_path, dims):
    path = tmp_path / "ice.hdf5"
    variables = [
        Variable("thickness", ghosts=1),
        Variable("velocity", components=2, ghosts=2, gap=3, reverse=True),
        Variable("silent", ghosts=1, says_ghosts=False),
        Variable("faces", faces=True),
    ]
    write(path, dims, variables, restart=False, empty_level=True)
    with neve.open(path) as file:
        assert file.kind == "Chombo checkpoint"
        assert set(file.components) == {"thickness", "velocity 0", "velocity 1", "silent"}
        assert len(file) == len(LEVELS)
        for level in range(len(LEVELS)):
            for variable in variables[:3]:
                for c in range(variable.components):
                    name = variable.base if variable.components == 1 else f"{variable.base} {c}"
                    field = file[level][name]
                    assert field.ghosts == (variable.ghosts,) * dims
                    for b, box in enumerate(boxes_of(level, dims)):
                        values = values_of(variable, box, b, dims, 100 * level)
                        shape = [
                            hi - lo + 1 + 2 * variable.ghosts for lo, hi in zip(*box, strict=True)
                        ]
                        whole = values.reshape((variable.components, *shape[::-1]))[c].T
                        inner = tuple(np.s_[variable.ghosts : n - variable.ghosts] for n in shape)
                        np.testing.assert_array_equal(field[b], whole[inner])


def test_real_checkpoint_has_the_names_of_its_components(shared_data):
    path = shared_data / "chombo" / "check.000050.3d.hdf5"
    with neve.open(path) as file, h5py.File(path) as raw:
        assert file.kind == "Chombo checkpoint"
        assert file.components[0] == "density" and len(file.components) == 5
        box = file[1].boxes[2]
        begin = int(raw["level_1/data:offsets=0"][2])
        stored = raw["level_1/data:datatype=0"][begin + box.cells : begin + 2 * box.cells]
        np.testing.assert_array_equal(
            file[1]["x-momentum"][2], stored.reshape(box.shape, order="F")
        )
        assert file.slice("density").values.ndim == 2
