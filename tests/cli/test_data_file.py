# SPDX-License-Identifier: BSD-3-Clause
"""netCDF-4 and other HDF5 data files: converted, read by other tools, verified, interrupted."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from . import data_files
from .conftest import NEVE, TIMEOUT_SECONDS, climate, environment, run_as_stranger, shared

TOOL = pathlib.Path(__file__).with_name("data_files.py")


@pytest.fixture(scope="module")
def netcdf(tmp_path_factory):
    path = tmp_path_factory.mktemp("netcdf") / "all.nc"
    data_files.make_netcdf(path)
    return path


@pytest.fixture(scope="module")
def small(neve, netcdf):
    path = netcdf.with_name("small.nc")
    neve("convert", netcdf, path)
    return path


def assert_read_alike(reader, a, b):
    run_as_stranger(sys.executable, TOOL, reader, a, b)


def dump(path):
    if shutil.which("ncdump") is None:
        pytest.skip("ncdump is not installed")
    said = run_as_stranger("ncdump", "-p", "9,17", path)
    return said.split("\n", 1)[1]  # the first line names the file


def variables_of(report):
    return {v["name"]: v for v in report["variables"]}


def leftovers(directory, name):
    return [p.name for p in directory.iterdir() if p.name.startswith(f".{name}.neve-part")]


@pytest.mark.parametrize("reader", ["netcdf4", "xarray", "h5py"])
def test_readers_find_everything(netcdf, small, reader):
    assert_read_alike(reader, netcdf, small)


def test_ncdump_finds_everything(netcdf, small):
    assert dump(small) == dump(netcdf)


def test_the_filter_is_there_and_the_report_says_what_stays(neve, netcdf, tmp_path):
    path = tmp_path / "out.nc"
    report = neve("convert", netcdf, path, "--json").json
    variables = variables_of(report)
    assert report["stored_bytes"] == path.stat().st_size
    assert not leftovers(tmp_path, "out.nc")
    for name in ("/temp", "/wind", "/static", "/ocean/deep/salt", "/packed", "/counts", "/flags"):
        assert variables[name]["coded"], name
        assert variables[name]["bound"] == "lossless" and variables[name]["max_abs_error"] == 0
        assert sum(variables[name]["methods"].values()) == variables[name]["chunks"] > 0
        assert variables[name]["stored_bytes"] < variables[name]["raw_bytes"]
    assert variables["/temp"]["chunk"] == [2, 20, 37]
    assert variables["/wind"]["chunk"] == [4, 2, 16, 16]
    reasons = {name: v["why_not"] for name, v in variables.items() if not v["coded"]}
    assert reasons["/names"] == reasons["/letters"] == "string"
    assert reasons["/height"] == "a single value"
    assert reasons["/big_endian"] == "f32 big-endian"
    assert reasons["/lat"] == "under 2048 bytes"
    assert reasons["/pairs"] == "compound"
    info = variables_of(neve("info", path, "--json").json)
    assert info["/temp"]["filters"] == ["neve (466)"]
    assert info["/temp"]["bound"] == "lossless"
    text = neve("info", path).out
    assert "/ocean/deep/salt" in text and "neve (466)" not in text and "lossless " in text
    assert "copied unchanged: string" in neve("convert", netcdf, path).out


def test_plain_hdf5_is_kept_whole(neve, tmp_path):
    source, copy = tmp_path / "all.h5", tmp_path / "small.h5"
    data_files.make_hdf5(source)
    report = variables_of(neve("convert", source, copy, "--json").json)
    assert_read_alike("h5py", source, copy)
    assert neve("verify", source, copy, "--json").json["ok"] is True
    assert copy.read_bytes()[:13] == b"#!user block\n"
    # A chunk that was never written stays a hole.
    assert report["/holes"]["chunks"] == 1


@pytest.mark.parametrize("order", [False, True])
@pytest.mark.parametrize("members", [8, 9, 40])
def test_groups_of_many_members(neve, tmp_path, members, order):
    """HDF5 keeps the links of more than eight in a heap of their own."""
    import h5py

    source, copy = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w", libver="latest", track_order=order) as f:
        for path in ("PRODUCT", "PRODUCT/deeper"):
            group = f.create_group(path, track_order=order)
            for i in reversed(range(members)):
                group[f"v{i}"] = np.arange(1000.0 + i)
            group.create_group("empty")
    neve("convert", source, copy)
    assert neve("verify", source, copy, "--json").json["ok"]
    assert_read_alike("h5py", source, copy)
    with h5py.File(source) as a, h5py.File(copy) as b:
        for path in ("PRODUCT", "PRODUCT/deeper"):
            assert list(a[path]) == list(b[path])


def test_data_that_grows_later_finds_fill_values(neve, netcdf, tmp_path):
    """What a partial chunk holds beyond its end shows when the dataset grows."""
    copy = tmp_path / "grows.nc"
    neve("convert", netcdf, copy)
    script = (
        "import sys, h5py, numpy as np\n"
        "with h5py.File(sys.argv[1], 'r+') as f:\n"
        "    before = f['temp'][...]\n"
        "    f['temp'].resize(12, axis=0)\n"
        "    assert (f['temp'][11] == np.float32(1e20)).all()\n"
        "    assert (f['temp'][:11] == before).all()\n"
        "    f['temp'][11] = 3\n"
        "with h5py.File(sys.argv[1]) as f:\n"
        "    assert (f['temp'][11] == 3).all() and (f['temp'][:11] == before).all()\n"
    )
    run_as_stranger(sys.executable, "-c", script, copy)


def test_threads_make_the_same_frames(neve, netcdf, small, tmp_path):
    import h5py

    path = tmp_path / "threads.nc"
    neve("convert", netcdf, path, "--threads", 3)
    with h5py.File(small) as a, h5py.File(path) as b:
        for name in ("temp", "wind", "ocean/deep/salt"):
            one, other = a[name].id, b[name].id
            assert one.get_num_chunks() == other.get_num_chunks() > 0
            for i in range(one.get_num_chunks()):
                offset = one.get_chunk_info(i).chunk_offset
                assert one.read_direct_chunk(offset) == other.read_direct_chunk(offset)


def test_bounds_by_rule(neve, netcdf, tmp_path):
    path, rules = tmp_path / "lossy.nc", tmp_path / "rules.toml"
    rules.write_text(
        "# temperatures to a hundredth\n"
        '[[rule]]\nmatch = "temp"\nbound = "abs=0.01"\nfill = 1e20\n'
        '[[rule]]\nmatch = ["/ocean/*", "static"]\nbound = "rel=1e-3"\ncodec = "interpolation"\n'
        '[[rule]]\nmatch = "wind"\nmethod = "shuffle-zstd"\ncodec = "lossless"\n'
    )
    report = neve(
        "convert", netcdf, path, "--rules", rules, "--field", "static:unchanged", "--json"
    ).json
    variables = variables_of(report)
    assert variables["/temp"]["bound_abs"] == 0.01
    assert 0 < variables["/temp"]["max_abs_error"] <= 0.01
    salt = variables["/ocean/deep/salt"]
    assert salt["bound"] == "rel=0.001" and 0 < salt["max_abs_error"] <= salt["bound_abs"]
    assert list(variables["/wind"]["methods"]) == ["lossless shuffle-zstd"]
    assert variables["/static"]["why_not"] == "a rule"
    verdict = variables_of(neve("verify", netcdf, path, "--json").json)
    assert verdict["/temp"]["ok"] and verdict["/temp"]["bound_abs"] == 0.01
    assert verdict["/temp"]["max_abs_error"] == variables["/temp"]["max_abs_error"]
    assert verdict["/temp"]["special_mismatches"] == 0
    assert verdict["/wind"]["bound_abs"] == 0


def test_bound_of_all(neve, netcdf, tmp_path):
    path = tmp_path / "lossy.nc"
    lossy = neve("convert", netcdf, path, "--bound", "rel=1e-3", "--json").json
    temp = variables_of(lossy)["/temp"]
    # Of the range without fill values.
    assert temp["bound_abs"] < 0.1
    assert neve("verify", netcdf, path, "--json").json["ok"] is True


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--field", "tmp:abs=1"), "'tmp' matches no variable"),
        (("--field", "names:abs=1"), "gives a bound"),
        (("--field", "packed:abs=1"), "gives a bound"),
        (("--field", "temp:quality=9"), "temp"),
        (("--strategy", "aggregated"), "--strategy has no meaning"),
        (("--chunk-size", "1KiB"), "65536"),
        (("--rules", "RULES"), "'bond' is not a key"),
    ],
)
def test_mistakes_are_named(neve, netcdf, tmp_path, options, words):
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nmatch = "temp"\nbond = "abs=1"\n')
    options = [rules if o == "RULES" else o for o in options]
    outcome = neve("convert", netcdf, tmp_path / "out.nc", *options, expect=2)
    assert words in outcome.err
    assert not (tmp_path / "out.nc").exists() and not leftovers(tmp_path, "out.nc")


def test_source_and_target_the_same(neve, netcdf, tmp_path):
    copy = tmp_path / "a.nc"
    shutil.copy(netcdf, copy)
    assert "same file" in neve("convert", copy, copy, expect=2).err


def test_verify_finds_every_difference(neve, netcdf, small, tmp_path):
    def changed(name, script):
        path = tmp_path / f"{name}.nc"
        shutil.copy(small, path)
        begin = "import sys, netCDF4\nf = netCDF4.Dataset(sys.argv[1], 'a')\n"
        run_as_stranger(sys.executable, "-c", begin + script, path)
        return path

    for name, script, words in (
        ("value", "f['wind'][0, 0, 0, 0] = 9\n", "/wind"),
        ("attribute", "f['temp'].units = 'C'\n", "attribute units differs"),
        ("missing", "del f['ocean/deep'].note\n", "attribute note is missing"),
        ("string", "f['names'][0] = 'two'\n", "/names holds other values"),
        ("longer", "f['time'][11] = 1\n", "/time has extent"),
        ("more", "f.createVariable('more', 'f4', ())\n", "/more is only in the copy"),
    ):
        outcome = neve("verify", netcdf, changed(name, script), expect=3)
        assert words in outcome.err, (name, outcome.err)


def test_chunks_cut_anew(neve, netcdf, tmp_path):
    path = tmp_path / "anew.nc"
    report = variables_of(neve("convert", netcdf, path, "--chunk-size", "64KiB", "--json").json)
    assert report["/temp"]["chunk"] == [11, 20, 37]
    assert report["/static"]["chunk"] == [20, 37]
    assert neve("verify", netcdf, path, "--json").json["ok"] is True


CLIMATE = [
    "A1B_north_america.nc",
    "TREFHT.B06.67.atm.1890-1999ANN.nc",
    "basin_mask.nc",
    "ctorca.nc",
    "foam.ocean.nc",
    "global_oce_latlon_d0000-0360.nc",
    "hybrid_height.nc",
    "nemo_1m_20150101-20150201_grid-T.nc",
    "ostia_monthly.nc",
    "rectilinear_grid_3D.nc",
    "wrfout_ci_test_file.nc",
]


@pytest.mark.parametrize("bound", ["lossless", "rel=1e-3"])
@pytest.mark.parametrize("name", CLIMATE)
def test_no_variable_grows(neve, tmp_path, name, bound):
    source, copy = climate(name, tmp_path), tmp_path / name
    report = neve("convert", source, copy, "--bound", bound, "--threads", 2, "--json").json
    grown = {
        v["name"]: (v["stored_before"], v["stored_bytes"])
        for v in report["variables"]
        if v["stored_bytes"] > v["stored_before"]
    }
    assert not grown
    assert neve("verify", source, copy, "--json").json["ok"] is True
    for v in report["variables"]:
        if "frames_bytes_at_least" in v:
            assert v["why_not"] == "frames would be no smaller" and not v["coded"]


def make_small_as_it_is(path):
    """Variables that no frame makes smaller, beside some that frames do."""
    import h5py

    rng = np.random.default_rng(7)
    packed = {"compression": "gzip", "compression_opts": 9, "shuffle": True}
    with h5py.File(path, "w", track_order=True) as f:
        waves = np.cumsum(rng.normal(size=(100, 400)), axis=1).astype("f4")
        f.create_dataset("first", data=waves, chunks=(10, 400), **packed)
        # Little chunks of one value: gzip takes less than a frame's head.
        steps = np.repeat(np.arange(400, dtype="f4"), 50).reshape(400, 50)
        f.create_dataset("steps", data=steps, chunks=(1, 50), maxshape=(None, 50), **packed)
        noise = rng.integers(0, 2**32, 1000, dtype=np.uint32).view("f4")
        f.create_dataset("noise", data=noise)
        f.create_dataset("tiny", data=waves[0, :3], chunks=(3,))
        f.create_dataset("scalar", data=np.float32(3))
        f.create_dataset("last", data=waves + 1)
        f["steps"].attrs["twin"] = f["noise"].ref
        f["again"] = f["steps"]


STAY = {"/steps", "/noise", "/tiny"}


def test_what_frames_would_make_larger_stays_as_it_is(neve, tmp_path):
    import h5py

    source, copy = tmp_path / "source.h5", tmp_path / "copy.h5"
    make_small_as_it_is(source)
    outcome = neve("convert", source, copy, "--threads", 3, "--explain")
    assert "/steps: copied unchanged: frames would be no smaller" in outcome.out
    report = variables_of(neve("convert", source, copy, "--json").json)
    kept = {name for name, v in report.items() if "frames_bytes_at_least" in v}
    assert kept == STAY
    for name in kept:
        v = report[name]
        assert v["stored_bytes"] == v["stored_before"] and not v["coded"]
        assert v["frames_bytes_at_least"] > 0
    assert report["/first"]["coded"] and report["/last"]["coded"]
    assert copy.stat().st_size < source.stat().st_size
    assert neve("verify", source, copy, "--json").json["ok"] is True
    assert_read_alike("h5py", source, copy)
    with h5py.File(source) as a, h5py.File(copy) as b:
        assert list(a) == list(b)  # in the order of their creation
        assert b["steps"].compression == "gzip" and b["steps"].shuffle
        assert b["steps"].chunks == (1, 50) and b["noise"].chunks is None
        assert b[b["steps"].attrs["twin"]] == b["noise"]
        for i in range(a["steps"].id.get_num_chunks()):
            at = a["steps"].id.get_chunk_info(i).chunk_offset
            assert a["steps"].id.read_direct_chunk(at) == b["steps"].id.read_direct_chunk(at)


def test_a_codec_asked_for_by_name_is_used_all_the_same(neve, tmp_path):
    source, copy = tmp_path / "source.h5", tmp_path / "copy.h5"
    make_small_as_it_is(source)
    rule = ("--field", "steps:codec=lossless")
    report = variables_of(neve("convert", source, copy, *rule, "--json").json)
    assert report["/steps"]["coded"] and report["/steps"]["stored_bytes"] > 0
    assert not report["/noise"]["coded"]
    of_all = variables_of(neve("convert", source, copy, "--codec", "lossless", "--json").json)
    assert of_all["/steps"]["coded"] and of_all["/tiny"]["coded"]


def test_a_copy_of_a_copy_does_not_grow(neve, netcdf, small, tmp_path):
    again = tmp_path / "again.nc"
    report = neve("convert", small, again, "--json").json
    assert all(v["stored_bytes"] <= v["stored_before"] for v in report["variables"])
    assert neve("verify", netcdf, again, "--json").json["ok"] is True


@pytest.fixture(scope="module")
def long_source(tmp_path_factory):
    """Large enough to be interrupted: slow to encode at effort max."""
    import h5py

    path = tmp_path_factory.mktemp("long") / "long.h5"
    rng = np.random.default_rng(3)
    with h5py.File(path, "w") as f:
        for v in range(6):
            values = np.cumsum(rng.normal(size=(24, 100, 120)), axis=1).astype("f4")
            f.create_dataset(f"v{v}", data=values, chunks=(1, 100, 120))
    return path


@pytest.mark.parametrize("steps", [0, 3, 2000])
@pytest.mark.parametrize("kind", ["f4", "S10"])
def test_virtual_datasets_that_can_grow(neve, tmp_path, steps, kind):
    """HDF5 lets no dataset without chunks grow, and a virtual one has none."""
    import h5py

    source, copy = tmp_path / "a.h5", tmp_path / "b.h5"
    with h5py.File(tmp_path / "steps.h5", "w") as f:
        d = f.create_dataset("s", (steps, 10), kind, maxshape=(None, 10), chunks=(4, 10))
        if steps:
            d[:] = np.arange(steps * 10).reshape(steps, 10).astype(kind)
    layout = h5py.VirtualLayout((min(steps, 1), 30), kind, maxshape=(None, 30))
    end = h5py.h5s.UNLIMITED
    mapped = h5py.VirtualSource("steps.h5", "s", (min(steps, 1), 10), maxshape=(None, 10))
    layout[0:end, 10:20] = mapped[0:end, :]
    with h5py.File(source, "w", libver=("v110", "v110")) as f:
        f.create_virtual_dataset("v", layout, fillvalue=7 if kind == "f4" else None)
    neve("convert", source, copy)
    assert neve("verify", source, copy, "--json").json["ok"]
    assert_read_alike("h5py", source, copy)
    with h5py.File(copy) as f:
        assert f["v"].maxshape == (None, 30) and f["v"].shape == (steps, 30)
        assert not f["v"].is_virtual


def test_a_filter_that_hdf5_lacks_is_named(neve, tmp_path):
    import h5py

    with h5py.File(tmp_path / "a.h5", "w") as f:
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk((1000,))
        creation.set_filter(40123, h5py.h5z.FLAG_OPTIONAL)  # else HDF5 makes no such dataset
        space = h5py.h5s.create_simple((1000,))
        made = h5py.h5d.create(f.id, b"d", h5py.h5t.IEEE_F32LE, space, creation)
        made.write_direct_chunk((0,), bytes(100))
    outcome = neve("convert", tmp_path / "a.h5", tmp_path / "b.h5", expect=5)
    assert "HDF5 filter unnamed (40123)" in outcome.err and "HDF5_PLUGIN_PATH" in outcome.err
    assert not (tmp_path / "b.h5").exists()
    neve("verify", tmp_path / "a.h5", tmp_path / "a.h5")  # the same chunks hold the same values


@pytest.mark.parametrize("chunk_bytes", [None, 200_000, 65_536])
def test_frames_that_are_given_up_leave_no_space(neve, tmp_path, chunk_bytes):
    """Noise that deflate packs as well, between fields that frames pack better."""
    import h5py

    rng = np.random.default_rng(1)
    source, copy = tmp_path / "a.h5", tmp_path / "b.h5"
    with h5py.File(source, "w") as f:
        options = {"compression": "gzip", "compression_opts": 9}
        for v in range(3):
            tiles = np.tile(rng.random(3000).astype("f4"), 300).reshape(900, 1000)
            f.create_dataset(f"tiles{v}", data=tiles, chunks=(900, 1000), **options)
            noise = rng.random((900, 1000)).astype("f4")
            f.create_dataset(f"noise{v}", data=noise, chunks=(300, 1000), shuffle=True, **options)
    options = ("--chunk-size", chunk_bytes) if chunk_bytes else ()
    report = neve("convert", source, copy, "--json", *options).json
    assert neve("verify", source, copy, "--json").json["ok"]
    reasons = [v.get("why_not", "") for v in report["variables"]]
    assert sum(why.startswith("frames would be no smaller") for why in reasons) == 3
    values = sum(v["stored_bytes"] for v in report["variables"])
    assert copy.stat().st_size < values + 20_000
    assert copy.stat().st_size <= source.stat().st_size


def lines_of(log):
    try:
        return log.read_bytes().count(b"\n")
    except FileNotFoundError:  # it has just ended
        return 0


def kill_after(command, watch, lines):
    """SIGKILL once the growing file's log holds so many lines. False when it ended before."""
    process = subprocess.Popen(
        [str(w) for w in command], env=environment(), stdout=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < end:
            if process.poll() is not None:
                return False
            logs = watch.parent.glob(f".{watch.name}.neve-part/*.log")
            if sum(lines_of(log) for log in logs) >= lines:
                process.send_signal(signal.SIGKILL)
                process.wait()
                return True
            time.sleep(0.001)
        raise AssertionError("nothing was written")
    finally:
        process.kill()
        process.wait()


def test_more_values_than_can_be_counted_are_told_with_their_number(neve, tmp_path):
    source = tmp_path / "a.h5"
    with h5py.File(source, "w") as file:
        file.create_dataset("a", (2**62, 3), "f8", chunks=(1024, 3))
    told = neve("info", source, expect=4).err
    assert f"/a: its {2**62} x 3 elements of 8 bytes; allowed are up to {2**64 - 1} bytes" in told


def test_killed_and_gone_on_with(neve, long_source, tmp_path):
    path = tmp_path / "out.h5"
    path.write_bytes(b"what was there before")
    command = [NEVE, "convert", long_source, path, "--threads", 2]
    kills = [kill_after(command, path, lines) for lines in (1, 10, 40, 90)]
    assert kills[0] and kills[1]
    assert path.read_bytes() == b"what was there before"
    outcome = neve(*command[1:], "--json")
    assert "continuing an interrupted copy" in outcome.err
    report = outcome.json
    kept = sum(v["resumed_chunks"] for v in report["variables"])
    assert 0 < kept <= 144 and all(v["chunks"] == 24 for v in report["variables"])
    assert not leftovers(tmp_path, "out.h5")
    assert neve("verify", long_source, path, "--json").json["ok"] is True


def test_killed_and_gone_on_with_beside_what_stays(neve, long_source, tmp_path):
    import h5py

    source, path, whole = tmp_path / "in.h5", tmp_path / "out.h5", tmp_path / "whole.h5"
    shutil.copy(long_source, source)
    with h5py.File(source, "r+") as f:
        for number in range(3):  # by name between the others, which are slow
            steps = np.repeat(np.arange(300, dtype="f4"), 40).reshape(300, 40)
            f.create_dataset(f"v{number}b", data=steps, chunks=(1, 40), compression="gzip")
    neve("convert", source, whole, "--threads", 2)
    command = [NEVE, "convert", source, path, "--threads", 2]
    assert all(kill_after(command, path, lines) for lines in (5, 40, 130))
    report = neve(*command[1:], "--json").json
    kept = {v["name"] for v in report["variables"] if "frames_bytes_at_least" in v}
    assert kept == {"/v0b", "/v1b", "/v2b"}
    assert sum(v.get("resumed_chunks", 0) for v in report["variables"]) >= 24
    assert neve("verify", source, path, "--json").json["ok"] is True
    assert not leftovers(tmp_path, "out.h5")
    assert_read_alike("h5py", whole, path)
    assert path.stat().st_size == whole.stat().st_size


def test_what_is_damaged_or_of_other_options_is_not_trusted(neve, long_source, tmp_path):
    path = tmp_path / "out.h5"
    command = [NEVE, "convert", long_source, path]
    assert kill_after(command, path, 20)
    part = tmp_path / ".out.h5.neve-part" / "0"
    data = bytearray(part.read_bytes())
    data[len(data) // 2 :] = os.urandom(len(data) - len(data) // 2)
    part.write_bytes(data)
    log = part.with_name(part.name + ".log")
    lines = log.read_text()
    log.write_text(lines[:-9])  # the last line was half written
    kept = sum(v["resumed_chunks"] for v in neve(*command[1:], "--json").json["variables"])
    # A loaded machine kills late, so the number of chunks is what the log says, not 20.
    assert 0 < kept < lines.count("\n")
    assert neve("verify", long_source, path, "--json").json["ok"] is True

    assert kill_after(command, path, 5)
    outcome = neve(*command[1:], "--field", "v0:method=zstd,codec=lossless", "--json")
    assert "starting over" in outcome.err
    assert all(v["resumed_chunks"] == 0 for v in outcome.json["variables"])
    assert kill_after(command, path, 5)
    outcome = neve(*command[1:], "--restart", "--json")
    assert all(v["resumed_chunks"] == 0 for v in outcome.json["variables"])
    assert not leftovers(tmp_path, "out.h5")


def test_two_at_once_do_not_mix(neve, long_source, tmp_path):
    path = tmp_path / "out.h5"
    first = subprocess.Popen(
        [str(NEVE), "convert", str(long_source), str(path)],
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    try:
        while first.poll() is None and not leftovers(tmp_path, "out.h5"):
            time.sleep(0.001)
        second = neve("convert", long_source, path, expect=None)
        if first.poll() is None:
            assert second.code == 1 and "being written by another process" in second.err
        assert first.wait(TIMEOUT_SECONDS) == 0
    finally:
        first.kill()
        first.wait()
    assert neve("verify", long_source, path, "--json").json["ok"] is True


@pytest.mark.parametrize(
    "name",
    [
        "A1B_north_america.nc",
        "basin_mask.nc",
        "global_oce_latlon_d0000-0360.nc",
        "hybrid_height.nc",
        "nemo_1m_20150101-20150201_grid-T.nc",
        "ostia_monthly.nc",
        "wrfout_ci_test_file.nc",
    ],
)
def test_real_files(neve, tmp_path, name):
    source, copy = shared(f"climate/{name}"), tmp_path / name
    neve("convert", source, copy, "--threads", 2)
    assert neve("verify", source, copy, "--json").json["ok"] is True
    assert_read_alike("netcdf4", source, copy)
    assert_read_alike("xarray", source, copy)
    assert dump(source) == dump(copy)


def test_chunks_that_are_only_copied_need_no_filter(neve, tmp_path):
    """h5py's lzf is in no plugin: with `unchanged` its chunks are copied and compared."""
    source, copy = tmp_path / "a.h5", tmp_path / "b.h5"
    values = (np.arange(40000) % 97).reshape(200, 200).astype("f4")
    with h5py.File(source, "w") as file:
        file.create_dataset("l", data=values, compression="lzf", chunks=(50, 200), shuffle=True)
        file.create_dataset("s", data=values.astype("S4"), compression="lzf")
        file.create_dataset("x", data=values, chunks=(50, 200))
    refused = neve("convert", source, copy, "--bound", "abs=1", expect=5)
    assert "filter lzf (32000), which HDF5 cannot find" in refused.err
    assert "or copy it unchanged: --field /l:unchanged" in refused.err
    assert not copy.exists()
    neve("convert", source, copy, "--bound", "abs=1", "--field", "/l:unchanged")
    neve("verify", source, copy)
    with h5py.File(copy) as file:
        assert file["l"].compression == "lzf" and file["l"].shuffle
        assert np.array_equal(file["l"][()], values)
        assert np.array_equal(file["s"][()], values.astype("S4"))
    with h5py.File(copy, "r+") as file:
        file["l"][3, 3] += 1
    assert "lzf (32000)" in neve("verify", source, copy, expect=5).err


def test_values_that_are_read_need_their_filter(neve, tmp_path):
    """Texts of variable length are not copied chunk by chunk."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        text = file.create_dataset("u", (3,), h5py.string_dtype(), compression="lzf")
        text[0] = "abc"
    refused = neve("convert", tmp_path / "a.h5", tmp_path / "b.h5", expect=5)
    assert "/u: it is stored with HDF5 filter lzf (32000)" in refused.err
    assert not (tmp_path / "b.h5").exists()


def test_a_converted_file_is_changed_without_a_further_error(neve, tmp_path):
    """What has its bound already is encoded again bit for bit."""
    source, copy = tmp_path / "a.h5", tmp_path / "b.h5"
    rng = np.random.default_rng(2)
    values = (280 + np.cumsum(rng.standard_normal((40, 60)), axis=1)).astype("f4")
    with h5py.File(source, "w") as file:
        file.create_dataset("x", data=values, chunks=(20, 60))
    neve("convert", source, copy, "--bound", "abs=0.1", "--effort", "balanced")
    script = (
        "import sys, h5py, numpy as np\n"
        "file = h5py.File(sys.argv[1], 'r+')\n"
        "before = file['x'][()]\n"
        "for i in range(30): file['x'][i, 2 * i] = 1.2345; file.flush()\n"
        "after = file['x'][()]\n"
        "changed = before.view('u4') != after.view('u4')\n"
        "assert changed.sum() == 30 and (after[changed] == np.float32(1.2345)).all()\n"
    )
    run_as_stranger(sys.executable, "-c", script, str(copy))


def test_names_that_are_no_utf_8_are_told_in_json(neve, tmp_path):
    path = tmp_path / "bad.h5"
    with h5py.File(path, "w") as file:
        file[b"bad\xffname"] = np.zeros(2000, "f4")
    assert neve("info", path, "--json").json["variables"][0]["name"] == "/bad\ufffdname"
    report = neve("convert", path, tmp_path / "out.h5", "--json").json
    assert [v["name"] for v in report["variables"]] == ["/bad\ufffdname"]
