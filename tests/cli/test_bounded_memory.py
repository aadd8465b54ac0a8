# SPDX-License-Identifier: BSD-3-Clause
"""Conversions of plotfiles and checkpoints hold a few chunks, however large the source is."""

import itertools

import numpy as np
import pytest

from .amrex_files import REALS, box_text
from .conftest import peak_bytes

FIELDS = 10
# Values, and frames where they are as large, would be 184 MB each.
MOST_ABOVE_A_TRIVIAL_RUN = 120 * 2**20


def write_boxes(folder, boxes_a_side, cells, fields):
    """One level of a cube of boxes, whose fields are waves of the cells' numbers."""
    (folder / "Level_0").mkdir(parents=True)
    n = boxes_a_side * cells
    boxes = list(itertools.product(range(boxes_a_side), repeat=3))
    x = np.arange(n) / n
    places, regions, offsets, low, high = [], [], [0], [], []
    with open(folder / "Level_0" / "Cell_D_00000", "wb") as file:
        for box in boxes:
            lo = np.array(box) * cells
            places.append(box_text((lo, lo + cells - 1)))
            regions += [f"{a / n:.17g} {(a + cells) / n:.17g}" for a in lo]
            waves = [np.sin((9 + d) * x[a : a + cells]) for d, a in enumerate(lo)]
            cube = waves[2][:, None, None] + waves[1][None, :, None] * waves[0][None, None, :]
            values = np.stack([cube * 1.7**f + np.cos(300 * cube) * 1e-3 for f in range(fields)])
            file.write(f"FAB {REALS}{places[-1]} {fields}\n".encode())
            file.write(values.tobytes())
            offsets.append(file.tell())
            low.append(values.min(axis=(1, 2, 3)))
            high.append(values.max(axis=(1, 2, 3)))
    table = [
        f"{len(boxes)},{fields}\n"
        + "".join("".join(f"{v:.17e}," for v in row) + "\n" for row in rows)
        + "\n"
        for rows in (low, high)
    ]
    (folder / "Level_0" / "Cell_H").write_text(
        f"1\n1\n{fields}\n0\n({len(boxes)} 0\n"
        + "".join(place + "\n" for place in places)
        + f")\n{len(boxes)}\n"
        + "".join(f"FabOnDisk: Cell_D_00000 {offset}\n" for offset in offsets[:-1])
        + "\n"
        + "".join(table)
    )
    names = "".join(f"f{f}\n" for f in range(fields))
    dx = f"{1 / n:.17g}"
    (folder / "Header").write_text(
        f"HyperCLaw-V1.1\n{fields}\n{names}3\n0\n0\n0 0 0 \n1 1 1 \n\n"
        f"((0,0,0) ({n - 1},{n - 1},{n - 1}) (0,0,0)) \n0 \n{dx} {dx} {dx} \n0\n0\n"
        f"0 {len(boxes)} 0\n0\n" + "".join(r + "\n" for r in regions) + "Level_0/Cell\n"
    )


@pytest.fixture(scope="module")
def trivial_bytes():
    return peak_bytes("convert", "--help")


@pytest.fixture(scope="module")
def plotfile(tmp_path_factory):
    """184 MB in 1331 boxes."""
    folder = tmp_path_factory.mktemp("bounded") / "plt"
    write_boxes(folder, 11, 12, FIELDS)
    return folder


def values_of(folder):
    return (folder / "Level_0" / "Cell_D_00000").read_bytes()


SMALL_CHUNKS = ("--chunk-size", "2MiB")
WAYS = {
    "threads": (*SMALL_CHUNKS, "--threads", 2),
    "lossless": (*SMALL_CHUNKS, "--bound", "lossless"),
    "covered": (*SMALL_CHUNKS, "--covered", "auto"),
    "uncompressed": ("--uncompressed",),
}


@pytest.mark.parametrize("way", WAYS)
def test_there_and_back(neve, plotfile, trivial_bytes, tmp_path, way):
    there, again, back = (tmp_path / name for name in ("there.h5", "again.h5", "back"))
    for source, made, options in (
        (plotfile, there, WAYS[way]),
        (there, again, WAYS[way]),
        (again, back, ()),
    ):
        peak = peak_bytes("convert", source, made, *options)
        assert peak - trivial_bytes < MOST_ABOVE_A_TRIVIAL_RUN, made
    if way in ("lossless", "uncompressed"):
        assert values_of(back) == values_of(plotfile)
    else:
        assert neve("verify", plotfile, there, "--json").json["ok"]


def test_one_large_array(trivial_bytes, tmp_path):
    """A box that is cut over many chunks."""
    np.save(tmp_path / "a.npy", np.sin(np.arange(2**24) * 1e-3).reshape(256, 256, 256))
    peak = peak_bytes("convert", tmp_path / "a.npy", tmp_path / "a.h5", *SMALL_CHUNKS)
    assert peak - trivial_bytes < MOST_ABOVE_A_TRIVIAL_RUN


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name", ["b.h5", "b"])
def test_a_box_that_is_damaged_leaves_the_earlier_file(neve, tmp_path, ranks, name):
    """Its header is found to be another box's only when it is read, between others."""
    write_boxes(tmp_path / "plt", 4, 8, 2)
    neve("convert", tmp_path / "plt", tmp_path / "b.h5")
    neve("convert", tmp_path / "plt", tmp_path / "b")
    cells = tmp_path / "plt" / "Level_0" / "Cell_D_00000"
    values = cells.read_bytes()
    at = values.index(b"((16,16,16)")
    cells.write_bytes(values[:at] + b"((17,16,16)" + values[at + 11 :])
    made = tmp_path / name
    before = made.read_bytes() if made.is_file() else values_of(made)
    files = sorted(tmp_path.iterdir())
    failed = neve("convert", tmp_path / "plt", made, ranks=ranks, expect=None)
    assert failed.code != 0
    assert len(set(failed.messages())) == 1
    assert "FAB box is ((17,16,16)" in failed.messages()[0]
    assert before == (made.read_bytes() if made.is_file() else values_of(made))
    assert sorted(tmp_path.iterdir()) == files
