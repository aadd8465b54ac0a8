# SPDX-License-Identifier: BSD-3-Clause
"""The plugin file: what it needs, what it shows, and what it says when it refuses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import neve

CHECKOUT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("NEVE_BUILD_DIR", CHECKOUT / "build"))
FOLDER = BUILD / "lib" / "plugin"
FILTER_ID = 466
# Layout 1, abs, the bits of 1e-3, codec automatic, effort fast, detect fill, no fill value.
WORDS = (1, 1, 0xD2F1A9FC, 0x3F50624D, 0, 0, 2, 0, 0)
BOUND = 1e-3
TIMEOUT_SECONDS = 60


@pytest.fixture(scope="module")
def plugin() -> Path:
    path = FOLDER / "libh5neve.so"
    if not path.exists():
        pytest.skip(f"{path} is missing: run `make build`, or name the build in NEVE_BUILD_DIR")
    return path


def output_of(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@pytest.fixture
def compressed(plugin: Path, tmp_path: Path) -> Path:
    """A file with one chunk in /x, written by h5py in a process of its own."""
    path = tmp_path / "a.h5"
    script = (
        "import sys, h5py, numpy as np\n"
        "with h5py.File(sys.argv[1], 'w') as f:\n"
        "    f.create_dataset('x', data=np.sin(np.arange(5000) / 50), chunks=(5000,),\n"
        f"                     compression={FILTER_ID}, compression_opts={WORDS})\n"
    )
    done = output_of(sys.executable, "-c", script, path, HDF5_PLUGIN_PATH=str(FOLDER))
    assert done.returncode == 0, done.stderr
    return path


def flip_byte(path: Path, from_end: int = 1) -> None:
    """Damage the chunk of /x, counted from its end."""
    with h5py.File(path, "r") as file:
        place = file["x"].id.get_chunk_info(0)
    with open(path, "r+b") as raw:
        raw.seek(place.byte_offset + place.size - from_end)
        byte = raw.read(1)[0]
        raw.seek(-1, os.SEEK_CUR)
        raw.write(bytes([byte ^ 1]))


def h5py_read(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    script = "import sys, h5py; print(float(h5py.File(sys.argv[1])['x'][:].sum()))"
    return output_of(sys.executable, "-c", script, path, **environment)


def test_it_is_alone_in_its_folder(plugin):
    assert [entry.name for entry in FOLDER.iterdir()] == [plugin.name]


def test_it_shows_two_symbols_and_needs_no_hdf5(plugin):
    symbols = output_of(tool("nm"), "-D", "--defined-only", plugin).stdout.split("\n")
    names = sorted(line.split()[-1] for line in symbols if line)
    assert names == ["H5PLget_plugin_info", "H5PLget_plugin_type"]
    undefined = output_of(tool("nm"), "-D", "--undefined-only", plugin).stdout
    # Weak ones ("w", zstd's hooks for tracers) need nobody.
    wanted = [line.split()[-1] for line in undefined.split("\n") if line and " w " not in line]
    assert not [name for name in wanted if name.startswith(("H5", "MPI", "ZSTD", "XXH", "hwy"))]


def test_it_needs_none_of_the_libraries_a_host_may_bring(plugin):
    needed = output_of(tool("ldd"), plugin).stdout
    assert "libc.so" in needed
    for library in ("hdf5", "mpi", "hwy", "zstd", "xxhash", "stdc++"):
        assert library not in needed, needed


def test_h5dump_and_h5py_read_the_same_values(compressed, h5dump):
    done = h5py_read(compressed, HDF5_PLUGIN_PATH=str(FOLDER))
    assert done.returncode == 0, done.stderr
    expected = np.sin(np.arange(5000) / 50).sum()
    assert abs(float(done.stdout) - expected) <= 5000 * BOUND
    dump = output_of(
        h5dump, "-y", "-m", "%.17g", "-d", "/x", compressed, HDF5_PLUGIN_PATH=str(FOLDER)
    )
    assert dump.returncode == 0, dump.stderr
    inside = dump.stdout[dump.stdout.index("DATA {") + 6 : dump.stdout.rindex("}")]
    values = np.array(inside.replace("}", "").replace(",", " ").split(), float)
    assert float(done.stdout) == pytest.approx(values.sum(), abs=1e-9)
    assert np.abs(values - np.sin(np.arange(5000) / 50)).max() <= BOUND


DAMAGE = "frame: section 0 (component 0) does not match its checksum"


def test_damage_is_named_on_the_error_stack(compressed, h5dump):
    flip_byte(compressed)
    done = h5py_read(compressed, HDF5_PLUGIN_PATH=str(FOLDER))
    assert done.returncode != 0
    assert DAMAGE in done.stderr
    dump = output_of(
        h5dump, "--enable-error-stack", "-d", "/x", compressed, HDF5_PLUGIN_PATH=str(FOLDER)
    )
    assert dump.returncode != 0
    assert f"in neve_decode(): {DAMAGE}" in dump.stderr


def test_a_bad_environment_is_named(compressed):
    for name, message in {
        "NEVE_THREADS": "NEVE_THREADS is 'x'; a whole number from 1 to 1024 is allowed",
        "NEVE_PLUGIN_CACHE_MIB": (
            "NEVE_PLUGIN_CACHE_MIB is 'x'; a whole number from 0 to 1048576 is allowed"
        ),
    }.items():
        done = h5py_read(compressed, HDF5_PLUGIN_PATH=str(FOLDER), **{name: "x"})
        assert done.returncode != 0
        assert message in done.stderr


@pytest.mark.parametrize("mib", ["0", "1"])
def test_values_do_not_depend_on_what_is_remembered(compressed, mib):
    remembered = h5py_read(compressed, HDF5_PLUGIN_PATH=str(FOLDER))
    other = h5py_read(compressed, HDF5_PLUGIN_PATH=str(FOLDER), NEVE_PLUGIN_CACHE_MIB=mib)
    assert other.returncode == 0, other.stderr
    assert other.stdout == remembered.stdout


def test_without_the_plugin_hdf5_names_its_cure_or_the_filter(compressed, tmp_path, h5dump):
    done = h5py_read(compressed, HDF5_PLUGIN_PATH=str(tmp_path))
    assert done.returncode != 0
    assert "OSError" in done.stderr
    assert "HDF5_PLUGIN_PATH" in done.stderr or "required filter 'neve'" in done.stderr
    dump = output_of(
        h5dump, "--enable-error-stack", "-d", "/x", compressed, HDF5_PLUGIN_PATH=str(tmp_path)
    )
    assert dump.returncode != 0
    assert "required filter 'neve' is not registered" in dump.stderr


@pytest.mark.parametrize("exponent_bits", [8, 11])
def test_floats_of_another_layout_are_refused_unless_lossless(tmp_path, exponent_bits):
    """HDF5 has floating point types of one's own; a bound on their bits would be none on values."""
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(31, 31 - exponent_bits, exponent_bits, 0, 31 - exponent_bits)
    kind.set_ebias(2 ** (exponent_bits - 1) - 1)
    values = np.linspace(-5, 5, 4000)
    for options, is_lossless in (({"abs": 0.01}, False), ({"lossless": True}, True)):
        with h5py.File(tmp_path / f"{is_lossless}.h5", "w") as file:
            creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            creation.set_chunk((999,))
            words = tuple(neve.Filter(**options)["compression_opts"])
            creation.set_filter(466, h5py.h5z.FLAG_MANDATORY, words)
            make = (file.id, b"d", kind, h5py.h5s.create_simple(values.shape), creation)
            if exponent_bits != 8 and not is_lossless:
                with pytest.raises((ValueError, RuntimeError), match="IEEE"):
                    h5py.h5d.create(*make)
                continue
            data = h5py.h5d.create(*make)
            data.write(h5py.h5s.ALL, h5py.h5s.ALL, values, mtype=h5py.h5t.NATIVE_DOUBLE)
        with h5py.File(tmp_path / f"{is_lossless}.h5") as file:
            back = np.empty_like(values)
            data = h5py.h5d.open(file.id, b"d")
            data.read(h5py.h5s.ALL, h5py.h5s.ALL, back, mtype=h5py.h5t.NATIVE_DOUBLE)
            limit = 2.0 ** (exponent_bits - 31 + 3) if is_lossless else 0.01
            assert abs(back - values).max() <= limit
