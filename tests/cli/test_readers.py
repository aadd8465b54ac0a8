# SPDX-License-Identifier: BSD-3-Clause
"""docs/readers.md: what each tool makes of each kind of Neve's files.

Every tool runs as a stranger, unmodified. What it gives is compared, bit for bit, with what Neve's
own decoder makes of the stored frames. NEVE_WRITE_TABLE=1 writes the page's table anew.
"""

import os

import pytest

import neve as package

from .readers import cdo_tools, hdf5_tools, nco_tools, netcdf_tools, python_libraries, yt_reader
from .readers.matrix import run_row
from .readers.page import made_table, shown_table, without_versions, write_table
from .readers.sample_files import CHECKPOINT, KINDS, make_samples
from .readers.stranger import end_processes

FAMILIES = (hdf5_tools, netcdf_tools, nco_tools, cdo_tools, python_libraries, yt_reader)
ROWS = [row for family in FAMILIES for row in family.ROWS]


@pytest.fixture(scope="module")
def samples(neve, tmp_path_factory):
    yield make_samples(tmp_path_factory.mktemp("readers"), neve)
    end_processes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_tool_does_what_the_page_says(samples, tmp_path, row, kind):
    run_row(row, samples[kind], tmp_path)


def test_no_library_ends_with_damaged_memory():
    """Behind the cells above: a reader that overran a buffer dies when it ends."""
    assert all(status == 0 for status in end_processes().values())


def test_the_page_shows_every_cell_and_no_other():
    if os.environ.get("NEVE_WRITE_TABLE"):
        write_table(ROWS)
    assert without_versions(shown_table()) == without_versions(made_table(ROWS))


def test_boxes_of_a_checkpoint_hold_the_values_of_its_datasets(samples):
    """neve.open, box by box, against the frames decoded one by one."""
    sample = samples[CHECKPOINT]
    with package.open(sample.path) as file:
        for number, level in enumerate(file):
            values = sample.values[f"level_{number}/data:datatype=0"]
            offsets = sample.values[f"level_{number}/data:offsets=0"]
            for box, begin in enumerate(offsets[: len(level.boxes)]):
                for component, name in enumerate(file.components):
                    cells = level[name][box].size
                    found = values[begin + component * cells :][:cells]
                    assert found.tobytes() == level[name][box].tobytes(order="F")


def test_the_samples_are_compressed(samples):
    for sample in samples.values():
        assert sample.path.stat().st_size < sample.plain.stat().st_size
