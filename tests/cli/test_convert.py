# SPDX-License-Identifier: BSD-3-Clause
"""Convert, verify and convert back, as the README says."""

import filecmp
import os
import re
import subprocess

import h5py
import numpy as np
import pytest

from .conftest import PLUGIN_DIR, environment, run, shared

FIELDS = [
    "density",
    "Temp",
    "phi_grav",
    "pressure",
    "x_velocity",
    "y_velocity",
    "z_velocity",
    "particle_mass_density",
]


def fields_of(report):
    return [(level["level"], field) for level in report["levels"] for field in level["fields"]]


def test_there_and_verified(neve, sample, converted):
    report = neve("verify", sample, converted, "--json", ranks=2).json
    assert report["ok"] is True
    fields = fields_of(report)
    assert [f["name"] for level, f in fields if level == 0] == FIELDS
    assert [f["name"] for level, f in fields if level == 1] == FIELDS
    for level, f in fields:
        where = (level, f["name"])
        assert 0 < f["max_abs_error"] <= f["bound_abs"], where
        assert f["special_mismatches"] == 0, where
        assert f["psnr_db"] > 60, where
        assert f["ratio"] == pytest.approx(f["raw_bytes"] / f["stored_bytes"]), where
        # What --covered auto leaves out, the finer average brings back within the bound.
        assert f["left_out"]["beyond_bound"] == 0, where
    level_0_cells = 32**3
    assert all(f["cells"] == level_0_cells for level, f in fields if level == 0)
    assert sum(f["raw_bytes"] for _, f in fields) == report["raw_bytes"]
    assert report["stored_bytes"] == os.path.getsize(converted)
    assert report["ratio"] > 5


def test_verify_is_the_same_on_any_number_of_ranks(neve, sample, converted):
    reports = [neve("verify", sample, converted, "--json", ranks=n).json for n in (None, 3)]
    for (_, a), (_, b) in zip(fields_of(reports[0]), fields_of(reports[1]), strict=True):
        assert a.pop("psnr_db") == pytest.approx(b.pop("psnr_db"))  # sums in another order
        assert a == b


def test_how_many_ranks_write_does_not_change_the_errors(neve, sample, tmp_path):
    found = []
    for n in (1, 2, 3):
        path = tmp_path / f"{n}.h5"
        neve("convert", sample, path, ranks=n)
        report = neve("verify", sample, path, "--json").json
        assert report["ok"] is True
        found.append([(f["name"], f["bound_abs"]) for _, f in fields_of(report)])
    assert found[0] == found[1] == found[2]


def test_back_to_a_plotfile(neve, sample, converted, tmp_path):
    back = tmp_path / "back"
    neve("convert", converted, back, ranks=2)
    original = (sample / "Header").read_text().split()
    assert (back / "Header").read_text().split() == original
    for name in ("job_info", "comoving_a"):
        assert filecmp.cmp(sample / name, back / name, shallow=False), name
    # What came back is exactly what the compressed file decodes to.
    report = neve("verify", converted, back, "--json").json
    assert report["ok"] is True
    assert all(f["max_abs_error"] == 0 for _, f in fields_of(report))
    # And within the bound of what went in.
    with_bounds = fields_of(neve("verify", sample, converted, "--json").json)
    plain = fields_of(neve("verify", sample, back, "--json").json)
    for (level, bounded), (_, f) in zip(with_bounds, plain, strict=True):
        assert f["bound_abs"] is None
        worst = max(bounded["bound_abs"], bounded["left_out"]["max_abs_error"])
        assert f["max_abs_error"] <= worst, (level, f["name"])


def test_lossless_is_bit_for_bit(neve, sample, tmp_path):
    path = tmp_path / "exact.h5"
    neve("convert", sample, path, "--bound", "lossless", "--covered", "keep", ranks=2)
    report = neve("verify", sample, path, "--json").json
    assert report["ok"] is True
    for _, f in fields_of(report):
        assert f["max_abs_error"] == 0
        assert f["left_out"]["cells"] == 0
    back = tmp_path / "back"
    neve("convert", path, back)
    assert neve("verify", sample, back).code == 0


def test_field_rules(neve, sample, tmp_path):
    path = tmp_path / "rules.h5"
    report = neve(
        *("convert", sample, path, "--json", "--bound", "rel=1e-2"),
        *("--field", "Temp:abs=0.5", "--field", "density:lossless"),
    ).json
    by_name = {f["name"]: f for level, f in fields_of(report) if level == 0}
    assert by_name["Temp"]["bound_abs"] == 0.5
    assert by_name["Temp"]["bound"] == "abs=0.5"
    assert by_name["density"]["bound"] == "lossless"
    assert by_name["density"]["bound_abs"] == 0
    assert by_name["pressure"]["bound"] == "rel=0.01"
    assert set(report["seconds"]) == {"read", "plan", "encode", "place", "write", "sync", "total"}
    verified = {f["name"]: f for level, f in fields_of(neve("verify", sample, path, "--json").json)}
    assert verified["Temp"]["max_abs_error"] <= 0.5
    assert verified["density"]["max_abs_error"] == 0


@pytest.mark.parametrize("ranks", [None, 2])
def test_arrangements(neve, sample, tmp_path, ranks):
    path = tmp_path / "arranged.h5"
    options = ["--arrangement", "cluster", "--unit", "16"]
    options += ["--field", "Temp:arrangement=linear,unit=8", "--field", "density:codec=exact"]
    report = neve("convert", sample, path, "--json", *options, ranks=ranks).json
    expected = {"Temp": "linear 8", "density": "cluster 16", "pressure": "cluster 16"}
    for source in (report, neve("info", path, "--json").json):
        for f in (f for level in source["levels"] for f in level["fields"]):
            if f["name"] in expected:
                assert f["arrangement"] == expected[f["name"]]
    assert "dual_quant, linear 8" in neve("info", path).out
    assert neve("verify", sample, path, "--json").json["ok"] is True


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_the_values(neve, sample, tmp_path, threads):
    path = tmp_path / "threads.h5"
    neve("convert", sample, path, "--threads", threads, "--chunk-size", "1MiB")
    assert neve("verify", sample, path, "--json").json["ok"] is True


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("strategy", ["filtered", "amrex-1d"])
def test_strategies(neve, sample, tmp_path, strategy, ranks):
    path = tmp_path / "other.h5"
    options = ("--strategy", strategy, "--json")
    report = neve("convert", sample, path, *options, ranks=ranks).json
    verified = neve("verify", sample, path, "--json").json
    assert verified["ok"] is True
    assert report["stored_bytes"] == os.path.getsize(path)
    assert 0 < report["codec_bytes"] < report["stored_bytes"]
    for level, f in fields_of(report):
        assert 0 < f["codec_bytes"] < f["stored_bytes"], (level, f["name"])
    chunks = [(level["chunks"], level["chunk_elements"]) for level in report["levels"]]
    if strategy == "filtered":
        # The one box of level 0 is one rank's; HDF5 gets one chunk from each rank that holds any.
        assert chunks[0] == (1, 32**3 * len(FIELDS))
        assert 1 <= chunks[1][0] <= (ranks or 1)
    else:
        assert chunks[0] == (32**3 * len(FIELDS) // 1024, 1024)
        assert all(f["left_out_cells"] == 0 for _, f in fields_of(report))
    names = [entry for entry in os.listdir(tmp_path) if entry != "other.h5"]
    assert names == []


@pytest.mark.parametrize("ranks", [None, 3])
def test_uncompressed(neve, sample, tmp_path, ranks):
    ways = [
        ("independent", 0),
        ("collective", 0),
        ("aggregated", 0),
        ("aggregated", 1),
        ("skeleton", 0),
    ]
    contents = set()
    writes = {}
    for strategy, boxes in ways:
        path = tmp_path / f"{strategy}{boxes}.hdf5"
        more = ("--aggregate-boxes", boxes) if boxes else ()
        options = ("--uncompressed", "--strategy", strategy, *more, "--json")
        report = neve("convert", sample, path, *options, ranks=ranks).json
        assert report["data_bytes"] == report["raw_bytes"] == (32**3 + 12288) * len(FIELDS) * 8
        assert report["stored_bytes"] == os.path.getsize(path)
        writes[strategy, boxes] = report["mpi_writes"]
        contents.add(path.read_bytes())
    assert len(contents) == 1
    count = ranks or 1
    assert writes["independent", 0] == 4
    assert writes["aggregated", 0] == 2 * count
    assert writes["skeleton", 0] == count
    assert writes["collective", 0] == writes["aggregated", 1] >= 2 * count

    info = neve("info", path, "--json").json
    assert [level["chunks"] for level in info["levels"]] == [0, 0]
    assert [level["ghosts"] for level in info["levels"]] == [[0, 0, 0]] * 2
    assert all(f["codec"] == "none" for level in info["levels"] for f in level["fields"])
    verified = neve("verify", sample, path, "--json").json
    assert verified["ok"] is True
    assert all(f["max_abs_error"] == 0 for _, f in fields_of(verified))
    # What is compressed from it is what is compressed from the original, but for the boxes' order.
    neve("convert", path, tmp_path / "again.h5")
    assert neve("verify", sample, tmp_path / "again.h5", "--json").json["ok"] is True
    plain = neve("info", path).out
    assert "(uncompressed)" in plain


def test_covered_keep_and_drop(neve, sample, tmp_path):
    left_out = {}
    for choice in ("keep", "drop"):
        path = tmp_path / f"{choice}.h5"
        said = neve("convert", sample, path, "--covered", choice).out.splitlines()
        assert [line for line in said if line.startswith("covered cells: ")] != []
        assert [line for line in said if line.startswith(f"{path}: ")] != []
        report = neve("verify", sample, path, "--json").json
        left_out[choice] = [f["left_out"]["cells"] for level, f in fields_of(report) if level == 0]
    assert set(left_out["keep"]) == {0}
    assert min(left_out["drop"]) > 0


def test_cross_level_prediction(neve, sample, tmp_path):
    """Smaller, within its bounds, back to AMReX; the plugin alone refuses it in plain words."""
    paths = {name: tmp_path / f"{name}.h5" for name in ("plain", "crossed", "again")}
    options = ("--codec", "context", "--json")
    plain = neve("convert", sample, paths["plain"], *options, ranks=2).json
    crossed = neve("convert", sample, paths["crossed"], *options, "--cross-level", ranks=2).json
    assert crossed["codec_bytes"] < plain["codec_bytes"]
    nested = {f["name"] for level, f in fields_of(crossed) if f["arrangement"] == "nested"}
    assert nested and "nested" in neve("info", paths["crossed"]).out
    report = neve("verify", sample, paths["crossed"], "--json", ranks=3).json
    assert report["ok"] is True
    for level, f in fields_of(report):
        assert f["max_abs_error"] <= f["bound_abs"], (level, f["name"])
    neve("convert", paths["crossed"], tmp_path / "back")
    back = neve("verify", paths["crossed"], tmp_path / "back", "--json").json
    assert all(f["max_abs_error"] == 0 for level, f in fields_of(back))
    # An ordinary file of it is one that HDF5 reads; the crossed one is not.
    neve("convert", paths["crossed"], paths["again"], "--bound", "rel=1e-4")
    dump = ["h5dump", "--enable-error-stack", "-d", "/level_1/data:datatype=0", "-c", "4"]
    for name in ("again", "crossed"):
        outcome = run([*dump, paths[name]], HDF5_PLUGIN_PATH=str(PLUGIN_DIR))
        assert ("cross-level prediction" in outcome.err) == (name == "crossed"), outcome.err
        assert (re.search(r"\(0\): .*\d", outcome.out) is None) == (name == "crossed")


def test_cross_level_prediction_is_refused_where_it_means_nothing(neve, sample, tmp_path):
    for options in (["--uncompressed"], ["--strategy", "amrex-1d"]):
        outcome = neve("convert", sample, tmp_path / "x.h5", "--cross-level", *options, expect=2)
        assert "cross-level" in outcome.err


@pytest.mark.parametrize("values", [1024, 4096, 1 << 20])
def test_amrex_chunks_have_the_size_that_is_asked_for(neve, sample, tmp_path, values):
    path = tmp_path / "x.h5"
    asked = () if values == 1024 else ("--chunk-values", values)
    neve("convert", sample, path, "--strategy", "amrex-1d", *asked, ranks=2)
    assert neve("verify", sample, path, "--json").json["ok"] is True
    with h5py.File(path) as file:
        for level in (0, 1):
            assert file[f"level_{level}/data:datatype=0"].chunks == (values,)


def test_info(neve, sample, converted):
    info = neve("info", converted, "--json").json
    assert info["kind"] == "Neve HDF5 plotfile"
    assert info["components"] == FIELDS
    assert [level["boxes"] for level in info["levels"]] == [1, 3]
    density = info["levels"][0]["fields"][0]
    assert density["name"] == "density"
    assert density["bound"] == "rel=0.001"
    assert 0 < density["max_abs_error"] <= density["bound_abs"]
    assert density["stored_bytes"] > 0
    text = neve("info", converted).out
    assert "density" in text and "rel=0.001" in text
    of_plotfile = neve("info", sample, "--json").json
    assert of_plotfile["kind"] == "AMReX plotfile"
    assert of_plotfile["components"] == FIELDS
    assert of_plotfile["time"] == info["time"] == 0.000477355925744804


def test_json_alone_is_on_stdout_and_progress_is_not(neve, sample, tmp_path):
    outcome = neve("convert", sample, tmp_path / "x.h5", "--json", ranks=2)
    assert outcome.json["ranks"] == 2
    assert "\r" not in outcome.err  # stderr is no terminal here


def test_chombo_file(neve, tmp_path):
    source = shared("chombo/ramp.000020.3d.hdf5")
    path = tmp_path / "ramp.h5"
    neve("convert", source, path, ranks=2)
    report = neve("verify", source, path, "--json", ranks=2).json
    assert report["ok"] is True
    assert len(report["levels"]) == 3


def test_warpx_keeps_what_no_average_brings_back(neve, tmp_path):
    archive = shared("amr/warpx_lwfa_plt000301.tar.xz")
    subprocess.run(["tar", "-xf", archive, "-C", tmp_path], check=True)
    source = next(p.parent for p in tmp_path.rglob("Header") if (p.parent / "Level_0").is_dir())
    path = tmp_path / "warpx.h5"
    neve("convert", source, path, ranks=2)
    report = neve("verify", source, path, "--json", ranks=2).json
    assert report["ok"] is True
    rho = [f for level, f in fields_of(report) if level == 0 and f["name"] == "rho"]
    assert rho and rho[0]["left_out"]["cells"] == 0
    assert all(f["left_out"]["beyond_bound"] == 0 for _, f in fields_of(report))


@pytest.mark.parametrize("name", ["cns_rt_plt00450", "nyx_za64_plt00088"])
def test_other_plotfiles(neve, tmp_path, name):
    source = shared(f"amr/{name}")
    path = tmp_path / "x.h5"
    neve("convert", source, path, ranks=2)
    assert neve("verify", source, path, "--json", ranks=2).json["ok"] is True


def test_an_array_becomes_a_plotfile(neve, tmp_path):
    rng = np.random.default_rng(1)
    array = np.cumsum(rng.normal(size=(20, 30, 40)), axis=2).astype(np.float32)
    source = tmp_path / "walk.npy"
    np.save(source, array)
    path = tmp_path / "walk.h5"
    neve("convert", source, path, "--bound", "abs=0.01", ranks=2)
    report = neve("verify", source, path, "--json").json
    assert report["ok"] is True
    ((_, field),) = fields_of(report)
    assert field["cells"] == array.size
    assert 0 < field["max_abs_error"] <= 0.01


class TestUnmodifiedTools:
    def test_h5dump(self, converted):
        with_plugin = run(
            ["h5dump", "-d", "/level_0/data:datatype=0", "-c", "4", "-m", "%.17g", converted],
            HDF5_PLUGIN_PATH=str(PLUGIN_DIR),
        )
        assert with_plugin.code == 0, with_plugin.err
        assert re.search(r"\(0\): .*\d", with_plugin.out)

    def test_h5dump_without_the_plugin_says_which_filter(self, converted, tmp_path):
        without = run(
            [
                "h5dump",
                "--enable-error-stack",
                "-d",
                "/level_0/data:datatype=0",
                "-c",
                "4",
                converted,
            ],
            HDF5_PLUGIN_PATH=str(tmp_path),
        )
        # Debian's h5dump ends with 0 all the same and prints no value.
        assert "required filter 'neve' is not registered" in without.err
        assert "(0):" not in without.out

    def python(self, code, **changes):
        import sys

        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=240,
            env=environment(**changes),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_h5py_finds_the_same_layout_whatever_the_strategy(self, neve, sample, tmp_path):
        for strategy in ("skeleton", "filtered", "amrex-1d"):
            options = ("--strategy", strategy, "--codec", "dual_quant", "--covered", "keep")
            neve("convert", sample, tmp_path / f"{strategy}.h5", *options, ranks=2)
        code = f"""
import os, h5py, numpy as np
folder = {str(tmp_path)!r}
files = [h5py.File(os.path.join(folder, s + ".h5")) for s in ("skeleton", "filtered", "amrex-1d")]
def described(f):
    found = {{}}
    def visit(name, thing):
        found[name] = sorted((k, np.asarray(v).tolist()) for k, v in thing.attrs.items())
        if isinstance(thing, h5py.Dataset) and not name.endswith(("=0", "neve_fields")):
            found[name].append(thing[()].tolist())
        if name.endswith("data:datatype=0"):
            plist = thing.id.get_create_plist()
            found[name] += [str(thing.dtype), plist.get_filter(0)[0], plist.get_nfilters()]
    f.visititems(visit)
    return found
for other in files[1:]:
    a, b = described(files[0]), described(other)
    assert list(a) == list(b)
    for name in a:
        assert a[name] == b[name], name
def box(level, i):
    offsets = level["data:offsets=0"][()]
    boxes = level["boxes"][()]
    cells = np.prod([boxes[i][3 + d] - boxes[i][d] + 1 for d in range(3)])
    return level["data:datatype=0"][offsets[i] : offsets[i] + cells * {len(FIELDS)}]
for name, boxes in (("level_0", 1), ("level_1", 3)):
    bounds = files[0][name]["neve_fields"]["bound_abs"]
    for i in range(boxes):
        first, filtered, amrex = (box(f[name], i) for f in files)
        assert first.tobytes() == filtered.tobytes()
        apart = np.abs(first - amrex).reshape(len(bounds), -1).max(axis=1)
        assert (apart <= 2 * bounds).all(), apart / bounds
print("same")
"""
        assert self.python(code, HDF5_PLUGIN_PATH=str(PLUGIN_DIR)).strip() == "same"

    def test_h5py_reads_what_neve_reads(self, neve, converted, tmp_path):
        back = tmp_path / "back"
        neve("convert", converted, back)
        code = f"""
import h5py, numpy as np
with h5py.File({str(converted)!r}) as f:
    level = f["level_1"]
    data = level["data:datatype=0"][()]
    offsets = level["data:offsets=0"][()]
    boxes = level["boxes"][()]
    assert np.isfinite(data).all()
    print(len(boxes), data.dtype, repr(float(data[offsets[0]])))
"""
        out = self.python(code, HDF5_PLUGIN_PATH=str(PLUGIN_DIR)).split()
        assert out[:2] == ["3", "float64"]

    def test_uncompressed_files_need_no_plugin(self, neve, sample, tmp_path):
        path = tmp_path / "plain.hdf5"
        options = ("--uncompressed", "--strategy", "aggregated")
        neve("convert", sample, path, *options, ranks=3)
        code = f"""
import h5py, neve, numpy as np, yt
yt.set_log_level("error")
path, original = {str(path)!r}, neve.open({str(sample)!r})
ours = neve.open(path)
assert ours.kind == "Neve HDF5" and ours.levels[1].ref_ratio == (1, 1, 1)
assert ours.levels[1].dx == original.levels[1].dx
file = h5py.File(path)
data = yt.load(path)
assert type(data).__name__ == "ChomboDataset", type(data)
for number, level in enumerate(ours.levels):
    group = file[f"level_{{number}}"]
    assert group["data:datatype=0"].chunks is None
    # One number each: Chombo's reader takes nothing else for an attribute of a level.
    for name in group.attrs:
        assert np.ndim(group.attrs[name]) == 0, name
    assert list(level.boxes) == sorted(level.boxes), "Chombo's order"
    offsets = group["data:offsets=0"][()]
    for c, name in enumerate(ours.components):
        for b, box in enumerate(level.boxes):
            stored = group["data:datatype=0"][offsets[b] : offsets[b + 1]]
            stored = stored.reshape(len(ours.components), -1)[c].reshape(box.shape, order="F")
            wanted = original.levels[number][name][original.levels[number].boxes.index(box)]
            assert stored.tobytes("F") == wanted.tobytes("F")
            assert level[name][b].tobytes("F") == wanted.tobytes("F")
            assert level[name].bound_abs == 0
            grid = [
                g for g in data.index.grids
                if g.Level == number and tuple(g.get_global_startindex()) == box.lo
            ]
            assert np.asarray(grid[0]["chombo", name]).tobytes("F") == wanted.tobytes("F")
print("equal")
"""
        assert self.python(code).strip() == "equal"

    @pytest.mark.parametrize("strategy", ["skeleton", "filtered", "amrex-1d"])
    def test_yt_agrees_to_the_bit(self, neve, sample, converted, tmp_path, strategy):
        if strategy != "skeleton":
            converted = tmp_path / "other.h5"
            neve("convert", sample, converted, "--strategy", strategy, ranks=2)
        back = tmp_path / "back"
        neve("convert", converted, back)
        code = f"""
import numpy as np, yt
yt.set_log_level("error")
packed = yt.load({str(converted)!r})
plain = yt.load({str(back)!r}, hint="AMReXDataset")
assert type(packed).__name__ == "ChomboDataset", type(packed)
assert packed.index.num_grids == plain.index.num_grids == 4
for field in ("density", "x_velocity"):
    compared = 0
    for grid in packed.index.grids:
        for other in plain.index.grids:
            if grid.Level == other.Level and (
                grid.get_global_startindex() == other.get_global_startindex()
            ).all():
                a = np.asarray(grid["chombo", field])
                b = np.asarray(other["boxlib", field])
                if grid.Level == 0:
                    # Left-out covered cells: only Neve returns the finer average.
                    keep = np.asarray(grid.child_mask)
                    a, b = a[keep], b[keep]
                assert a.shape == b.shape and a.tobytes() == b.tobytes(), (field, grid)
                compared += 1
    assert compared == 4, compared
print("equal")
"""
        assert self.python(code, HDF5_PLUGIN_PATH=str(PLUGIN_DIR)).strip() == "equal"
