# SPDX-License-Identifier: BSD-3-Clause
"""Files that lead to other files: followed in their own folder, refused by name outside of it."""

import os
import shutil

import numpy as np
import pytest

from .conftest import run

SECRET = b"root:x:0:0:root\n" * 400


@pytest.fixture
def places(tmp_path):
    """Two folders: files lie in the first, what they must not read in the second."""
    here, outside = tmp_path / "here", tmp_path / "outside"
    here.mkdir()
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    return here, outside


def leads_by_storage(path, target):
    import h5py

    target.write_bytes(SECRET)
    with h5py.File(path, "w") as f:
        f.create_dataset("data", (len(SECRET),), "u1", external=[(str(target), 0, len(SECRET))])


def leads_by_virtual(path, target):
    import h5py

    with h5py.File(target, "w") as f:
        f["x"] = np.arange(2000.0)
    layout = h5py.VirtualLayout((2000,), "f8")
    layout[:] = h5py.VirtualSource(str(target), "x", shape=(2000,))
    with h5py.File(path, "w") as f:
        f.create_virtual_dataset("data", layout)


def leads_by_numbered_sources(path, target):
    import h5py

    pattern = str(target) + "-%b.h5"
    for number in range(3):
        with h5py.File(pattern.replace("%b", str(number)), "w") as f:
            f["x"] = np.full((1, 500), float(number))
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    space = h5py.h5s.create_simple((3, 500), (h5py.h5s.UNLIMITED, 500))
    part = space.copy()
    part.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (1, 1), (1, 500))
    source = h5py.h5s.create_simple((1, 500))
    creation.set_virtual(part, pattern.encode(), b"x", source)
    with h5py.File(path, "w") as f:
        h5py.h5d.create(f.id, b"data", h5py.h5t.IEEE_F64LE, space, dcpl=creation)


def leads_by_source_that_leads_on(path, target):
    """The source lies in the folder, its values do not."""
    import h5py

    near = path.with_name("near.h5")
    leads_by_storage(near, target)
    layout = h5py.VirtualLayout((len(SECRET),), "u1")
    layout[:] = h5py.VirtualSource("near.h5", "data", shape=(len(SECRET),))
    with h5py.File(path, "w") as f:
        f.create_virtual_dataset("data", layout)


def leads_by_link_under_a_virtual(path, target):
    import h5py

    with h5py.File(target, "w") as f:
        f["x"] = np.arange(2000.0)
    layout = h5py.VirtualLayout((2000,), "f8")
    layout[:] = h5py.VirtualSource(".", "away/x", shape=(2000,))
    with h5py.File(path, "w") as f:
        f["away"] = h5py.ExternalLink(str(target), "/")
        f.create_virtual_dataset("data", layout)


WAYS = [
    leads_by_storage,
    leads_by_virtual,
    leads_by_numbered_sources,
    leads_by_source_that_leads_on,
    leads_by_link_under_a_virtual,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_data_files_lead_no_further_than_their_folder(neve, places, way):
    here, outside = places
    source, copy = here / "data.h5", here / "copy.h5"
    way(source, outside / "target")
    for command in (("convert", source, copy), ("info", source), ("verify", source, source)):
        outcome = neve(*command, expect=2)
        assert "outside/target" in outcome.err and "--follow-external" in outcome.err, command
    assert not copy.exists() and not any("neve-part" in n for n in os.listdir(here))
    neve("convert", source, copy, "--follow-external")
    assert neve("verify", source, copy, "--follow-external", "--json").json["ok"]
    neve("info", source, "--follow-external")


def loops_in_one(here):
    import h5py

    layout = h5py.VirtualLayout((1000,), "f8")
    layout[:] = h5py.VirtualSource(".", "v", shape=(1000,))
    with h5py.File(here / "data.h5", "w") as f:
        f.create_virtual_dataset("v", layout)


def loops_over_files(here):
    import h5py

    for name, other, path in (("data.h5", "b.h5", "group/v"), ("b.h5", "data.h5", "alias")):
        layout = h5py.VirtualLayout((1000,), "f8")
        layout[:] = h5py.VirtualSource(other, path, shape=(1000,))
        with h5py.File(here / name, "w") as f:
            f.create_virtual_dataset("group/v", layout)
            f["alias"] = h5py.SoftLink("/group/v")


def virtual_over_a_link(path, linked, source=(".", "away/v")):
    import h5py

    layout = h5py.VirtualLayout((1000,), "f8")
    layout[:] = h5py.VirtualSource(*source, shape=(1000,))
    with h5py.File(path, "w") as f:
        f.create_virtual_dataset("v", layout)
        f["away"] = h5py.ExternalLink(linked, "/")


def loops_over_a_link(here):
    virtual_over_a_link(here / "data.h5", "b.h5")
    virtual_over_a_link(here / "b.h5", "data.h5", ("data.h5", "v"))


LOOPS = [loops_in_one, loops_over_files, loops_over_a_link]


@pytest.mark.parametrize("way", LOOPS, ids=lambda w: w.__name__)
def test_virtual_datasets_that_lead_to_themselves_are_not_read(neve, places, way):
    here, _ = places
    way(here)
    source = here / "data.h5"
    before = sorted(os.listdir(here))
    for command in (("convert", source, here / "copy.h5"), ("verify", source, source)):
        outcome = neve(*command, expect=4)
        assert "a virtual dataset, leads to itself" in outcome.err, command
    assert sorted(os.listdir(here)) == before


def test_virtual_datasets_of_virtual_datasets_are_read(neve, places):
    import h5py

    here, _ = places
    with h5py.File(here / "data.h5", "w") as f:
        f["v0"] = np.arange(1000.0)
        for i in range(1, 6):
            layout = h5py.VirtualLayout((1000,), "f8")
            layout[:] = h5py.VirtualSource(".", f"v{i - 1}", shape=(1000,))
            f.create_virtual_dataset(f"v{i}", layout)
    neve("convert", here / "data.h5", here / "copy.h5")
    assert neve("verify", here / "data.h5", here / "copy.h5", "--json").json["ok"]


def test_objects_at_the_same_place_of_two_files_are_two(neve, places):
    import h5py

    here, _ = places
    with h5py.File(here / "plain.h5", "w") as f:
        f["x"] = np.arange(1000.0)
    virtual_over_a_link(here / "b.h5", "plain.h5", ("plain.h5", "x"))
    virtual_over_a_link(here / "data.h5", "b.h5")
    neve("convert", here / "data.h5", here / "copy.h5")
    assert neve("verify", here / "data.h5", here / "copy.h5", "--json").json["ok"]


def test_what_is_missing_of_a_dataset_is_said(neve, places):
    """HDF5 reads fill values, or zeros, and says nothing; a copy would have them for good."""
    import h5py

    here, _ = places
    source, copy = here / "data.h5", here / "copy.h5"
    (here / "short.bin").write_bytes(bytes(100))
    layout = h5py.VirtualLayout((2000,), "f8")
    for i, name in enumerate(("there.h5", "gone.h5")):
        layout[1000 * i : 1000 * (i + 1)] = h5py.VirtualSource(name, "x", shape=(1000,))
    with h5py.File(here / "there.h5", "w") as f:
        f["x"] = np.arange(1000.0)
    with h5py.File(source, "w") as f:
        f.create_virtual_dataset("v", layout, fillvalue=-1)
        f.create_dataset("s", (1000,), "f8", external=[("short.bin", 0, 8000)])
    here_before = os.getcwd()
    os.chdir(here)  # HDF5 looks for external storage there
    try:
        outcome = neve("convert", source, copy)
        verdict = neve("verify", source, copy, "--json")
        text = neve("verify", source, copy).out
    finally:
        os.chdir(here_before)
    assert "/v: gone.h5 is not there" in outcome.err and "/v: there.h5" not in outcome.err
    assert "/s: short.bin has 100 bytes where 8000 are needed" in outcome.err
    assert [what.split(":")[0] for what in verdict.json["missing_sources"]] == ["/s", "/v"]
    assert "MISSING in the original: /v: gone.h5" in text


@pytest.mark.parametrize(
    "way",
    [leads_by_storage, leads_by_virtual, leads_by_link_under_a_virtual],
    ids=lambda w: w.__name__,
)
def test_pipes_in_the_folder_are_not_opened(neve, places, way):
    here, _ = places
    source, pipe = here / "data.h5", here / "pipe"
    way(source, pipe)
    pipe.unlink()
    os.mkfifo(pipe)
    for command in (("convert", source, here / "copy.h5"), ("verify", source, source)):
        outcome = neve(*command, expect=1)
        assert "here/pipe, which is not a regular file" in outcome.err, command
    assert sorted(os.listdir(here)) == ["data.h5", "pipe"]


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_what_lies_in_the_folder_is_followed(neve, places, way):
    here, _ = places
    below = here / "below"
    below.mkdir()
    source, copy = here / "data.h5", here / "copy.h5"
    way(source, below / "target")
    neve("convert", source, copy)
    assert neve("verify", source, copy, "--json").json["ok"]


def test_a_symbolic_link_in_the_folder_is_where_it_leads(neve, places):
    here, outside = places
    source = here / "data.h5"
    (here / "inside").symlink_to(outside / "secret")
    leads_by_storage(source, here / "inside")
    assert "inside" in neve("convert", source, here / "copy.h5", expect=2).err
    # The file's own folder is the one it really lies in.
    real = outside / "real.h5"
    leads_by_storage(real, outside / "values")
    (here / "link.h5").symlink_to(real)
    neve("convert", here / "link.h5", here / "copy.h5")


def test_links_of_a_data_file_stay_links(neve, places):
    import h5py

    here, outside = places
    source, copy = here / "data.h5", here / "copy.h5"
    with h5py.File(outside / "other.h5", "w") as f:
        f["x"] = np.arange(10)
    with h5py.File(source, "w") as f:
        f["away"] = h5py.ExternalLink(str(outside / "other.h5"), "/x")
        f["near"] = np.arange(3)
        f["soft"] = h5py.SoftLink("/near")
    neve("convert", source, copy)
    with h5py.File(copy) as f:
        link = f.get("away", getlink=True)
        assert (link.filename, link.path) == (str(outside / "other.h5"), "/x")


def with_side_file(path, target):
    """A file that HDF5 stores elsewhere, among those that go into an AMReX plotfile."""
    import h5py

    with h5py.File(path, "r+") as f:
        f.create_dataset(
            "neve/side_files/stolen", (len(SECRET),), "u1", external=[(str(target), 0, len(SECRET))]
        )


def with_linked_level(path, target):
    import h5py

    with h5py.File(path, "r+") as f, h5py.File(target, "w") as other:
        f.copy("level_0", other)
        del f["level_0"]
        f["level_0"] = h5py.ExternalLink(str(target), "/level_0")


def test_plotfiles_lead_no_further_than_their_folder(neve, places, converted):
    here, outside = places
    for way, target in (
        (with_side_file, outside / "secret"),
        (with_linked_level, outside / "level.h5"),
    ):
        path = here / f"{way.__name__}.h5"
        shutil.copy(converted, path)
        way(path, target)
        commands = [
            ("convert", path, here / "back"),
            ("info", path),
            ("verify", converted, path),
            ("verify", path, converted),
            ("plan", path, "--ranks", 2),
        ]
        for command in commands:
            outcome = neve(*command, expect=2)
            assert str(target) in outcome.err and "--follow-external" in outcome.err, command
        assert not (here / "back").exists()
        neve("info", path, "--follow-external")
        neve("convert", path, here / way.__name__, "--follow-external")
    assert (here / "with_side_file" / "stolen").read_bytes() == SECRET
    near = here / "near.h5"
    shutil.copy(converted, near)
    with_linked_level(near, here / "level.h5")
    assert neve("verify", converted, near, "--json").json["ok"]


def test_checkpoints_lead_no_further_than_their_folder(neve, places):
    import h5py

    here, outside = places
    grid = ("--grid", "bisicles", "--box-cells", 2, "--components", 3)
    options = ("--strategies", "skeleton", "--repeats", 1, "--keep", "--folder", here)
    neve("bench", "chombo", "--file", "checkpoint", *grid, *options, ranks=2)
    path = here / "neve_chombo_skeleton.h5"
    with h5py.File(path, "r+") as f, h5py.File(outside / "level.h5", "w") as other:
        f.copy("level_1", other)
        del f["level_1"]
        f["level_1"] = h5py.ExternalLink(str(outside / "level.h5"), "/level_1")
    for command in (("info", path), ("convert", path, here / "copy.h5"), ("verify", path, path)):
        assert str(outside / "level.h5") in neve(*command, expect=2).err, command
    neve("convert", path, here / "copy.h5", "--follow-external")
    assert neve("verify", path, here / "copy.h5", "--follow-external", "--json").json["ok"]


def test_every_rank_refuses_alike(neve, places, converted):
    here, outside = places
    path = here / "plt.h5"
    shutil.copy(converted, path)
    with_side_file(path, outside / "secret")
    outcome = neve("convert", path, here / "back", ranks=2, expect=2)
    assert len(outcome.messages()) == 1


def test_pieces_of_an_amrex_plotfile_lie_in_it(neve, places, sample_copy):
    here, outside = places
    plt = here / "plt"
    shutil.move(sample_copy, plt)
    piece = next(plt.glob("Level_0/Cell_D_*"))
    # As a whole it may lie anywhere, and its pieces elsewhere within it.
    (here / "link").symlink_to(plt)
    shutil.move(piece, plt / "moved")
    piece.symlink_to(plt / "moved")
    neve("info", here / "link")
    piece.unlink()
    shutil.move(plt / "moved", outside / "moved")
    piece.symlink_to(outside / "moved")
    assert str(outside / "moved") in neve("info", plt, expect=2).err
    neve("convert", plt, here / "out.h5", "--follow-external")
    piece.unlink()
    shutil.copy(outside / "moved", piece)
    (plt / "job_info").unlink(missing_ok=True)
    (plt / "job_info").symlink_to(outside / "secret")
    outcome = neve("convert", plt, here / "small.h5")
    assert "job_info, which is not a field: it is not copied" in outcome.err


@pytest.mark.parametrize("way", [with_side_file, with_linked_level])
def test_pictures_and_python_refuse_alike(places, converted, way):
    import sys

    here, outside = places
    path, target = here / "plt.h5", outside / "secret"
    shutil.copy(converted, path)
    way(path, target)
    script = (
        "import sys, neve\n"
        "try:\n"
        "    neve.open(sys.argv[1])\n"
        "    raise SystemExit('it was opened')\n"
        "except neve.Error as error:\n"
        "    assert error.code == 2 and sys.argv[2] in str(error), error\n"
        "neve.open(sys.argv[1], follow_external=True).close()\n"
    )
    outcome = run([sys.executable, "-c", script, path, target])
    assert outcome.code == 0, outcome.err
    plot = [sys.executable, "-m", "neve.plot", path, "--field", "density", "-o", here / "out.png"]
    assert run(plot).code == 2
    assert run([*plot, "--follow-external"]).code == 0
    export = [sys.executable, "-m", "neve.export", path, here / "out.npy", "--field", "density"]
    assert run(export).code == 2
    assert run([*export, "--follow-external"]).code == 0
