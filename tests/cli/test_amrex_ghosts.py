# SPDX-License-Identifier: BSD-3-Clause
"""An AMReX plotfile with ghosts around its boxes: its cells arrive, and what stays is named."""

import h5py
import numpy as np
import pytest

REALS = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"


def write(folder, ghosts):
    """One level, one box of 8^3 cells, one field."""
    n = 8 + 2 * ghosts
    values = np.random.default_rng(1).random((n, n, n))
    (folder / "Level_0").mkdir(parents=True)
    (folder / "Header").write_text(
        "HyperCLaw-V1.1\n1\ndensity\n3\n0.5\n0\n0 0 0\n1 1 1\n\n"
        "((0,0,0) (7,7,7) (0,0,0))\n3\n0.125 0.125 0.125\n0\n0\n"
        "0 1 0.5\n3\n0 1\n0 1\n0 1\nLevel_0/Cell\n"
    )
    (folder / "Level_0" / "Cell_H").write_text(
        f"1\n1\n1\n{ghosts}\n(1 0\n((0,0,0) (7,7,7) (0,0,0))\n)\n1\nFabOnDisk: Cell_D_00000 0\n\n"
        f"1,1\n{values.min():.17e},\n\n1,1\n{values.max():.17e},\n\n"
    )
    corners = f"(({-ghosts},{-ghosts},{-ghosts}) ({7 + ghosts},{7 + ghosts},{7 + ghosts}) (0,0,0))"
    (folder / "Level_0" / "Cell_D_00000").write_bytes(
        f"FAB {REALS}{corners} 1\n".encode() + values.tobytes()
    )
    return values[ghosts : n - ghosts, ghosts : n - ghosts, ghosts : n - ghosts]


@pytest.mark.parametrize("ghosts", [0, 1, 2])
@pytest.mark.parametrize("target", ["copy.h5", "copy"])
def test_ghosts_of_amrex_boxes_are_named(neve, tmp_path, ghosts, target):
    values = write(tmp_path / "plt", ghosts)
    outcome = neve("convert", tmp_path / "plt", tmp_path / target, "--to", "auto")
    layers = (
        f"{ghosts}, {ghosts}, {ghosts} layers of ghost cells around its boxes, which are not copied"
    )
    assert (layers in outcome.err) == (ghosts > 0)
    if target == "copy":
        stored = (tmp_path / target / "Level_0" / "Cell_D_00000").read_bytes()
        assert np.array_equal(np.frombuffer(stored[-4096:]), values.ravel())


@pytest.mark.parametrize("ghosts", [0, 2])
def test_info_shows_ghosts(neve, tmp_path, ghosts):
    write(tmp_path / "plt", ghosts)
    (level,) = neve("info", tmp_path / "plt", "--json").json["levels"]
    assert level["ghosts"] == [ghosts] * 3
    words = "2, 2, 2 layers of ghost cells" if ghosts else "no ghost cells"
    assert words in neve("info", tmp_path / "plt").out


@pytest.mark.parametrize("options", [(), ("--ghosts", "drop")])
def test_uncompressed_too(neve, tmp_path, options):
    values = write(tmp_path / "plt", 1)
    outcome = neve("convert", tmp_path / "plt", tmp_path / "x.h5", "--uncompressed", *options)
    assert "1, 1, 1 layers of ghost cells" in outcome.err
    with h5py.File(tmp_path / "x.h5") as f:
        assert np.array_equal(f["level_0/data:datatype=0"][:], values.ravel())
