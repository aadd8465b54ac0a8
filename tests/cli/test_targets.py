# SPDX-License-Identifier: BSD-3-Clause
"""What lies where a command writes: replaced whole where it was asked for, else left as it is."""

import json
import os
import pathlib
import shutil
import stat

import h5py
import numpy as np
import pytest

from .conftest import BUILD, NEVE, run


def tree(folder):
    """Every entry below a folder: kind, mode and content."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        info = path.lstat()
        if path.is_symlink():
            content = os.readlink(path)
        else:
            content = path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (stat.S_IMODE(info.st_mode), content)
    return found


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def array(tmp_path):
    path = tmp_path / "f.npy"
    np.save(path, np.linspace(0, 1, 5000, dtype="f4"))
    return path


# --- folders --------------------------------------------------------------------------------------


@pytest.fixture
def with_particles(sample_copy):
    particles = sample_copy / "DM" / "Level_0"
    particles.mkdir(parents=True)
    (particles / "DATA_00000").write_bytes(b"positions")
    (sample_copy / "raw_fields").mkdir()
    return sample_copy


@pytest.mark.parametrize("ranks", [None, 2])
def test_a_folder_that_holds_more_is_not_replaced(neve, converted, with_particles, ranks):
    before = tree(with_particles)
    outcome = neve("convert", converted, with_particles, ranks=ranks, expect=2)
    assert "DM/, raw_fields/" in outcome.err and "would lose" in outcome.err
    assert tree(with_particles) == before
    assert os.listdir(with_particles.parent) == ["plt"]


def test_there_and_back_keeps_what_is_no_field(neve, with_particles, tmp_path):
    before = tree(with_particles)
    neve("convert", with_particles, tmp_path / "plt.h5")
    neve("convert", tmp_path / "plt.h5", with_particles, expect=2)
    assert tree(with_particles) == before


@pytest.mark.parametrize("spelling", ["plt", "plt/", "./plt//", "link", "link/", "deep/../plt"])
def test_the_source_itself_is_no_target(neve, sample_copy, spelling):
    folder = sample_copy.parent
    (folder / "link").symlink_to(sample_copy)
    (folder / "deep").mkdir()
    before = tree(folder)
    outcome = neve("convert", sample_copy, f"{folder}/{spelling}", expect=2)
    assert "are the same folder" in outcome.err
    assert tree(folder) == before


def test_nor_of_arrays(neve, array):
    before = tree(array.parent)
    assert "are the same file" in neve("compress", array, array, "--bound", "abs=1", expect=2).err
    neve("compress", array, array.with_suffix(".neve"), "--bound", "abs=1")
    frame = array.with_suffix(".neve")
    assert "are the same file" in neve("decompress", frame, frame, expect=2).err
    frame.unlink()
    assert tree(array.parent) == before


def test_a_plotfile_is_replaced_by_another_of_the_same_parts(
    neve, converted, sample_copy, tmp_path
):
    target = tmp_path / "out"
    for _ in range(2):  # the second over the first
        neve("convert", converted, target, ranks=2)
    neve("convert", sample_copy, target)  # of one rank: fewer data files
    assert neve("verify", sample_copy, target, "--json").json["ok"]
    assert sorted(os.listdir(tmp_path)) == ["out", "plt"]


@pytest.mark.parametrize("header", ["Dear all,\n", None])
def test_a_folder_with_a_file_called_header_is_no_plotfile(neve, converted, tmp_path, header):
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("all of it")
    if header is not None:
        (home / "Header").write_text(header)
    before = tree(tmp_path)
    assert "is not a plotfile" in neve("convert", converted, home, expect=2).err
    assert tree(tmp_path) == before


def test_links_in_a_plotfile_are_not_followed(neve, converted, sample_copy, tmp_path):
    data = next(sample_copy.glob("Level_0/Cell_D_*"))
    elsewhere = tmp_path / "archive"
    elsewhere.mkdir()
    shutil.move(data, elsewhere / data.name)
    data.symlink_to(elsewhere / data.name)
    before = tree(tmp_path)
    assert data.name in neve("convert", converted, sample_copy, expect=2).err
    assert tree(tmp_path) == before


# --- modes ----------------------------------------------------------------------------------------


def test_modes_are_kept_and_new_files_follow_the_umask(neve, array, sample, converted, tmp_path):
    field = tmp_path / "data.h5"
    with h5py.File(field, "w") as f:
        f["v"] = np.arange(30000.0).reshape(100, 300)
    commands = {
        "a.neve": ("compress", array, "a.neve", "--bound", "abs=1e-3"),
        "a.nevs": ("compress", array, "a.nevs", "--bound", "abs=1e-3", "--stream"),
        "b.npy": ("decompress", "a.neve", "b.npy"),
        "p.h5": ("convert", sample, "p.h5"),
        "f.h5": ("convert", sample, "f.h5", "--strategy", "filtered"),
        "r.h5": ("convert", sample, "r.h5", "--uncompressed"),
        "d.h5": ("convert", field, "d.h5"),
        "t.json": ("trace", "run", "-o", "t.json", "--", "dd", "if=/dev/zero", "of=z", "count=1"),
    }
    for mask in ("022", "077"):
        for name, words in commands.items():
            path = tmp_path / name
            for wanted in (None, 0o600, 0o640):
                if wanted is None:
                    path.unlink(missing_ok=True)
                else:
                    path.chmod(wanted)
                line = " ".join(str(w) for w in (NEVE, *words))
                done = run(["sh", "-c", f"cd {tmp_path} && umask {mask} && exec {line}"])
                assert done.code == 0, done.err
                assert mode_of(path) == (0o666 & ~int(mask, 8) if wanted is None else wanted), name


def test_modes_of_a_folders_parts_are_kept(neve, converted, tmp_path):
    target = tmp_path / "out"
    neve("convert", converted, target)
    for path in target.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    target.chmod(0o2750)
    neve("convert", converted, target, ranks=2)  # makes more data files than there were
    assert mode_of(target) == 0o2750
    for path in target.rglob("*"):
        assert mode_of(path) == (0o700 if path.is_dir() else 0o600), path


# --- names that somebody else has put there -------------------------------------------------------


def test_no_link_at_a_temporary_name_is_followed(neve, array, tmp_path):
    """Names that could be guessed, of all writers before they had one way to choose them."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    out = tmp_path / "out"
    out.mkdir()
    neve("compress", array, out / "a.neve", "--bound", "abs=1e-3")
    script = (
        f'ln -sf {victim} "{out}/b.npy.$$.tmp"; ln -sf {victim} "{out}/t.json.tmp$$"; exec "$@"'
    )
    assert (
        run(["sh", "-c", script, "sh", NEVE, "decompress", out / "a.neve", out / "b.npy"]).code == 0
    )
    trace = (NEVE, "trace", "run", "-o", out / "t.json", "--", "dd", "if=/dev/zero", f"of={out}/z")
    assert run(["sh", "-c", script, "sh", *trace, "count=1"]).code == 0
    assert victim.read_text() == "precious"


# --- traces ---------------------------------------------------------------------------------------

DD = ("--", "dd", "if=/dev/zero", "count=3", "bs=1000")


def test_a_folder_called_parts_is_not_emptied(neve, tmp_path):
    parts = tmp_path / "run1.parts"
    parts.mkdir()
    (parts / "mesh_0.vtk").write_text("a user's")
    before = tree(tmp_path)
    outcome = neve("trace", "run", "-o", tmp_path / "run1", *DD, f"of={tmp_path}/z", expect=2)
    assert "mesh_0.vtk is no part of a trace" in outcome.err
    assert tree(tmp_path) == before, "refused before the program was started"


def test_nor_one_with_files_that_only_have_the_names_of_parts(neve, tmp_path):
    parts = tmp_path / "t.json.parts"
    for name, text in (("x.part", "first part of three"), ("y.reduced.json", '{"a": 1}')):
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir()
        (parts / name).write_text(text)
        before = tree(tmp_path)
        neve("trace", "run", "-o", tmp_path / "t.json", *DD, f"of={tmp_path}/z", expect=2)
        assert tree(tmp_path) == before


def test_a_link_called_parts_is_refused(neve, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "t.json.parts").symlink_to(tmp_path / "mine")
    before = tree(tmp_path)
    neve("trace", "run", "-o", tmp_path / "t.json", *DD, f"of={tmp_path}/z", expect=2)
    assert tree(tmp_path) == before


def test_an_older_trace_stays_until_there_is_a_new_one(neve, tmp_path):
    trace = tmp_path / "t.json"
    neve("trace", "run", "-o", trace, *DD, f"of={tmp_path}/z")
    earlier = trace.read_bytes()
    neve("trace", "run", "-o", trace, "--", "true", expect=1)  # uses no file
    assert trace.read_bytes() == earlier
    assert not (tmp_path / "t.json.parts").exists()
    script = (
        f"dd if=/dev/zero of={tmp_path}/y count=1; cmp {trace} {tmp_path}/same && kill -9 $PPID"
    )
    (tmp_path / "same").write_bytes(earlier)
    neve("trace", "run", "-o", trace, "--", "sh", "-c", f"cd {tmp_path}; {script}", expect=None)
    assert trace.read_bytes() == earlier, "the command was killed while its program ran"
    assert "/y" in neve("trace", "report", trace).out, "what the killed run told is read"
    neve("trace", "run", "-o", trace, *DD, f"of={tmp_path}/x")
    found = json.loads(trace.read_text())["files"]
    assert [f["path"] for f in found] == [f"{tmp_path}/x"], "nothing of the runs before"
    assert not (tmp_path / "t.json.parts").exists()


# --- benchmarks -----------------------------------------------------------------------------------


BENCHMARKS = {
    "struct": "--grid 16,16,16 --steps 1 --outputs raw,hdf5,netcdf",
    "cartiso": "--grid 12,12,12 --steps 1 --outputs raw,hdf5",
    "unstruct": "--points 400 --steps 1 --outputs raw,hdf5",
    "amr": "--blocks 2,2,2 --block-cells 4 --steps 1 --methods skeleton",
    "chombo": "--box-cells 8 --repeats 1 --strategies skeleton",
    "ensemble": "--nx 16 --ny 16 --layers 2 --members 2 --cycles 1 --outputs 1 --methods zlib",
}


@pytest.mark.parametrize("bench", BENCHMARKS)
def test_a_benchmark_removes_nothing_that_an_earlier_one_kept(neve, tmp_path, bench):
    words = ("bench", bench, *BENCHMARKS[bench].split(), "--folder", tmp_path)
    neve(*words, "--keep")
    kept = tree(tmp_path)
    assert kept and not any(name.startswith(".") for name in kept)
    neve(*words)
    assert tree(tmp_path) == kept
    outcome = neve(*words, "--keep", expect=2)
    assert "exists, and an earlier run may have kept it" in outcome.err
    assert tree(tmp_path) == kept


def test_nor_anything_else_of_the_same_name(neve, tmp_path):
    (tmp_path / "neve_disk_000000").write_text("mine")
    (tmp_path / ".neve-bench-mpi-plain").write_text("mine")
    (tmp_path / "neve_chombo_skeleton.h5").mkdir()
    before = tree(tmp_path)
    neve("bench", "disk", "--folder", tmp_path, "--mib", "1", "--repeats", "1")
    neve("bench", "mpi", "--folder", tmp_path, "--megabytes", "1", "--repeats", "1", ranks=2)
    neve("bench", "chombo", *BENCHMARKS["chombo"].split(), "--folder", tmp_path)
    assert tree(tmp_path) == before


# --- long names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks, mpi", [(None, "ompio"), (2, "ompio"), (2, "romio321")])
def test_long_paths_are_written(neve, sample, tmp_path, ranks, mpi):
    deep = tmp_path / ("d" * 200) / ("e" * 120) / "run:1"
    deep.mkdir(parents=True)
    name = "n" * 252 + ".h5"
    for target in (deep / "p.h5", deep / name, tmp_path / name, deep / ("n" * 255)):
        neve("convert", sample, target, ranks=ranks, OMPI_MCA_io=mpi)
        assert neve("verify", sample, target, "--json").json["ok"]
    for strategy in ("filtered", "independent"):
        neve("convert", sample, deep / "p.h5", "--strategy", strategy, ranks=ranks, OMPI_MCA_io=mpi)
    neve(
        "bench",
        "struct",
        *BENCHMARKS["struct"].split(),
        "--folder",
        deep,
        ranks=ranks,
        OMPI_MCA_io=mpi,
    )
    assert set(os.listdir(deep)) == {"n" * 255, name, "p.h5"}


def test_names_that_are_too_long_are_refused_by_name(neve, array, sample, tmp_path):
    for words in (("compress", "--bound", "abs=1", array), ("convert", sample)):
        outcome = neve(*words, tmp_path / ("n" * 253 + ".h5"), expect=2)
        assert "its name has 256 bytes; at most 255 are allowed" in outcome.err
    assert os.listdir(tmp_path) == ["f.npy"]


def test_frame_files_at_long_paths(neve, tmp_path):
    deep = tmp_path / ("d" * 200) / ("e" * 100)
    deep.mkdir(parents=True)
    path = deep / "field.bin"
    program = ("mpirun", "-n", "2", BUILD / "bin" / "pmpi_program", "write_at", path, "1e-3")
    neve("mpi", "run", "--bound", "abs=1e-3", "--files", "*", "--", *program)
    assert neve("info", path).code == 0
