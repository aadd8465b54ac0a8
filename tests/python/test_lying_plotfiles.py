# SPDX-License-Identifier: BSD-3-Clause
"""A plotfile whose boxes, sizes or places cannot be is refused by neve.open, as by the command."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import neve


def attribute(group: str, name: str, value: object) -> Callable[[h5py.File], None]:
    def edit(file: h5py.File) -> None:
        held = np.array(file[group].attrs[name])
        changed = np.empty_like(held)
        if held.dtype.names:
            for part in held.dtype.names:
                changed[part] = value
        else:
            changed[...] = value
        file[group].attrs.modify(name, changed)

    return edit


def box(number: int, **corners: int) -> Callable[[h5py.File], None]:
    def edit(file: h5py.File) -> None:
        boxes = file["level_1/boxes"][()]
        for name, value in corners.items():
            boxes[name][number] = value
        file["level_1/boxes"][...] = boxes

    return edit


def offset(number: int | slice, value: int) -> Callable[[h5py.File], None]:
    def edit(file: h5py.File) -> None:
        file["level_1/data:offsets=0"][number] = value

    return edit


def without_boxes(file: h5py.File) -> None:
    held = file["level_0/boxes"]
    empty = held[:0]
    del file["level_0/boxes"]
    file["level_0"]["boxes"] = empty


def boxes_of_another_kind(file: h5py.File) -> None:
    del file["level_1/boxes"]
    file["level_1"]["boxes"] = np.zeros(3)


def boxes_are_a_group(file: h5py.File) -> None:
    del file["level_1/boxes"]
    file["level_1"].create_group("boxes")


LIES = {
    "no dimensions": attribute("Chombo_global", "SpaceDim", 0),
    "nine dimensions": attribute("Chombo_global", "SpaceDim", 9),
    "boxes without corners": boxes_of_another_kind,
    "boxes are a group": boxes_are_a_group,
    "no levels": attribute("/", "num_levels", 0),
    "fewer than no levels": attribute("/", "num_levels", -1),
    "no fields": attribute("/", "num_components", 0),
    "fewer than no fields": attribute("/", "num_components", -1),
    "no boxes": without_boxes,
    "ratio 0": attribute("level_0", "neve_ref_ratio", 0),
    "ratio below 0": attribute("level_0", "neve_ref_ratio", -2),
    "another ratio": attribute("level_0", "neve_ref_ratio", 3),
    "box upside down": box(0, hi_i=-3),
    "box outside its domain": box(0, lo_k=0, hi_k=2**31 - 1),
    "box as large as numbers go": box(
        0,
        **{f"lo_{n}": -(2**31) for n in "ijk"},
        **{f"hi_{n}": 2**31 - 1 for n in "ijk"},
    ),
    "boxes that overlap": box(1, lo_i=0, lo_j=0, lo_k=0, hi_i=63, hi_j=63, hi_k=63),
    "domain upside down": attribute("level_0", "prob_domain", -5),
    "no cell size": attribute("level_0", "neve_dx", 0.0),
    "cell size no number": attribute("level_0", "neve_dx", np.nan),
    "place no number": attribute("neve", "prob_lo", np.nan),
    "values before the dataset": offset(0, -4),
    "values of two boxes in one place": offset(slice(None), 0),
    "values behind the dataset": offset(1, 2**62),
}


@pytest.mark.parametrize("lie", LIES)
def test_it_is_refused(converted: Path, neve_command: Path, tmp_path: Path, lie: str) -> None:
    path = tmp_path / "lie.h5"
    shutil.copy(converted, path)
    with h5py.File(path, "r+") as file:
        LIES[lie](file)
    with pytest.raises(neve.Error) as refused:
        neve.open(path)
    assert refused.value.code == 4
    assert str(path) in str(refused.value)
    done = subprocess.run([neve_command, "info", path], capture_output=True, timeout=60)
    assert done.returncode == 4


def test_a_finer_level_without_boxes_is_none(
    converted: Path, neve_command: Path, tmp_path: Path
) -> None:
    path = tmp_path / "coarse.h5"
    shutil.copy(converted, path)
    with h5py.File(path, "r+") as file:
        empty = file["level_1/boxes"][:0]
        del file["level_1/boxes"]
        file["level_1"]["boxes"] = empty
        attribute("level_0", "neve_ref_ratio", 1)(file)
    with neve.open(path) as plotfile:
        assert len(plotfile) == 1
    done = subprocess.run([neve_command, "info", path], capture_output=True, timeout=60)
    assert done.returncode == 0
