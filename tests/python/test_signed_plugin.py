# SPDX-License-Identifier: BSD-3-Clause
"""A signed plugin: HDF5's tool appends a signature, and HDF5s that know none still load it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import neve

CHECKOUT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("NEVE_BUILD_DIR", CHECKOUT / "build"))
PLUGIN = BUILD / "lib" / "plugin" / "libh5neve.so"
SCRIPT = CHECKOUT / "cmake" / "sign_plugin.cmake"
TIMEOUT_SECONDS = 120

MAGIC = b"\x89HPS\r\n\x1a\n"
FOOTER_BYTES = 14

# What h5sign does, for machines without it: signature, then how it was made (1 byte), its length
# (4 bytes), the magic (8 bytes) and the version 1 of this footer.
STAND_IN = f"""#!{sys.executable}
import argparse, pathlib, struct, subprocess
parser = argparse.ArgumentParser()
parser.add_argument("-p", type=pathlib.Path, required=True)
parser.add_argument("-k", required=True)
parser.add_argument("-f", action="store_true")
options = parser.parse_args()
binary, magic = options.p.read_bytes(), {MAGIC!r}
if binary[-9:-1] == magic:
    assert options.f, "already signed"
    length = struct.unpack("<I", binary[-13:-9])[0]
    binary = binary[: -{FOOTER_BYTES} - length]
command = ["openssl", "dgst", "-sha512", "-sign", options.k]
done = subprocess.run(command, input=binary, capture_output=True)
assert done.returncode == 0, done.stderr.decode()
signature = done.stdout
footer = struct.pack("<BI", 3, len(signature)) + magic + bytes([1])
options.p.write_bytes(binary + signature + footer)
"""


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )


def sign(plugin: Path, key: Path, tool: str) -> subprocess.CompletedProcess[str]:
    return run("cmake", f"-DPLUGIN={plugin}", f"-DKEY={key}", f"-DTOOL={tool}", "-P", SCRIPT)


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = shutil.which("h5sign")
    if found is not None:
        return found
    path = tmp_path_factory.mktemp("tool") / "h5sign"
    path.write_text(STAND_IN)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for program in ("openssl", "cmake"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    path = tmp_path_factory.mktemp("key") / "private.pem"
    done = run("openssl", "genrsa", "-out", path, "2048")
    assert done.returncode == 0, done.stderr
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def signed(tool: str, key: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not PLUGIN.exists():
        pytest.skip(f"{PLUGIN} is missing: run `make build`, or name the build in NEVE_BUILD_DIR")
    path = tmp_path_factory.mktemp("signed") / PLUGIN.name
    shutil.copy(PLUGIN, path)
    for _ in range(2):  # the second replaces the first one's signature
        done = sign(path, key, tool)
        assert done.returncode == 0, done.stdout + done.stderr
    return path


def test_the_signature_stands_behind_the_library(signed: Path, key: Path, tmp_path: Path) -> None:
    contents, original = signed.read_bytes(), PLUGIN.read_bytes()
    assert contents[: len(original)] == original
    footer = contents[-FOOTER_BYTES:]
    assert footer[5:13] == MAGIC
    signature = contents[len(original) : -FOOTER_BYTES]
    assert int.from_bytes(footer[1:5], "little") == len(signature) == 256
    (tmp_path / "signature").write_bytes(signature)
    public = run("openssl", "rsa", "-in", key, "-pubout", "-out", tmp_path / "public.pem")
    assert public.returncode == 0, public.stderr
    verify = ["openssl", "dgst", "-sha512", "-verify", tmp_path / "public.pem"]
    done = run(*verify, "-signature", tmp_path / "signature", PLUGIN)
    assert done.stdout.strip() == "Verified OK"


READ = {
    "h5py": "import sys, h5py; print(float(h5py.File(sys.argv[1])['x'][:].sum()))",
    "netCDF4": "import sys, netCDF4; print(float(netCDF4.Dataset(sys.argv[1])['x'][:].sum()))",
}


@pytest.fixture(scope="module")
def compressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import h5py

    path = tmp_path_factory.mktemp("file") / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=range(4000), dtype="f8", **neve.Filter(lossless=True))
    return path


@pytest.mark.parametrize("library", READ)
def test_python_packages_load_it(signed: Path, compressed: Path, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    script = READ[library]
    done = run(sys.executable, "-c", script, compressed, HDF5_PLUGIN_PATH=str(signed.parent))
    assert done.stdout.strip() == "7998000.0", done.stderr


def test_hdf5s_own_tools_load_it(signed: Path, compressed: Path, h5dump: str) -> None:
    done = run(h5dump, "-d", "/x", "-s", "3999", compressed, HDF5_PLUGIN_PATH=str(signed.parent))
    assert "(3999): 3999" in done.stdout, done.stderr


def test_doctor_finds_it(signed: Path, neve_command: Path) -> None:
    done = run(neve_command, "doctor", HDF5_PLUGIN_PATH=str(signed.parent))
    assert done.returncode == 0, done.stdout
    assert str(signed) in done.stdout


@pytest.mark.parametrize(
    "change, message",
    [
        ({"tool": ""}, "h5sign, HDF5's tool for it, was not found"),
        ({"tool": "/bin/false"}, "/bin/false ends with 1"),
        ({"key": Path("/no/such/key")}, "there is no file /no/such/key"),
        ({"plugin": Path("/no/such/plugin.so")}, "there is no file /no/such/plugin.so"),
    ],
)
def test_what_is_missing_is_named(
    signed: Path, key: Path, tool: str, change: dict[str, str | Path], message: str
) -> None:
    what: dict[str, str | Path] = {"plugin": signed, "key": key, "tool": tool, **change}
    before = signed.read_bytes()
    done = sign(Path(what["plugin"]), Path(what["key"]), str(what["tool"]))
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
    assert signed.read_bytes() == before
