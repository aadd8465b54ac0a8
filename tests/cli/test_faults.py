# SPDX-License-Identifier: BSD-3-Clause
"""Every command that writes, under every fault of files: the old or the new is there, and whole.

NEVE_TEST_LONG=1 takes each fault at many places instead of few. NEVE_FAULT_TABLE=FILE appends a
line of JSON for each command and fault: what docs/campaigns.md is made of.
"""

import errno
import json
import os
import pathlib
import random
import re
import shutil
import signal
import stat
import subprocess
import time

import h5py
import numpy as np
import pytest

from .conftest import BUILD, NEVE, SAMPLE, TIMEOUT_SECONDS, environment

LONG = os.environ.get("NEVE_TEST_LONG") == "1"
SHIM = BUILD / "tests" / "libneve_fault_shim.so"
OLD = b"what was there before\n" * 100

# By its name: the words, and what it needs below the folder of the inputs.
FILES = {
    "compress": ("compress", "{in}/f.npy", "{out}", "--bound", "abs=1e-3"),
    "compress stream": ("compress", "{in}/f.npy", "{out}", "--bound", "abs=1e-3", "--stream"),
    "decompress": ("decompress", "{in}/f.neve", "{out}"),
    "convert": ("convert", "{in}/plt", "{out}.h5"),
    "convert, 2 ranks": (2, "convert", "{in}/plt", "{out}.h5"),
    "convert filtered, 2 ranks": (2, "convert", "{in}/plt", "{out}.h5", "--strategy", "filtered"),
    "convert uncompressed, 2 ranks": (2, "convert", "{in}/plt", "{out}.h5", "--uncompressed"),
    "convert checkpoint": ("convert", "{in}/chk.h5", "{out}.h5"),
    "convert data file": ("convert", "{in}/data.h5", "{out}.h5"),
    "trace run": ("trace", "run", "-o", "{out}", "--", "cp", "{in}/f.npy", "/dev/null"),
    "trace report": ("trace", "report", "{in}/t.json", "--plot", "{out}.png"),
    "plot": ("plot", "{in}/plt", "--field", "density", "-o", "{out}.png"),
    "bench report": ("bench", "noise", "--seconds", "0.005", "-o", "{out}.txt"),
}
FOLDERS = {
    "convert to AMReX": ("convert", "{in}/plt.h5", "{out}"),
    "convert to AMReX, 2 ranks": (2, "convert", "{in}/plt.h5", "{out}"),
}
COMMANDS = {**FILES, **FOLDERS}


def words_of(command, inputs, out):
    """The command line, and what it is to make."""
    words = list(COMMANDS[command])
    launcher = ["mpirun", "-n", str(words.pop(0))] if isinstance(words[0], int) else []
    filled = [w.replace("{in}", str(inputs)).replace("{out}", str(out)) for w in words]
    target = next(f for w, f in zip(words, filled, strict=True) if "{out}" in w)
    return [*launcher, str(NEVE), *filled], pathlib.Path(target)


def neve(*words, **changes):
    done = subprocess.run(
        [str(NEVE), *map(str, words)], env=environment(**changes), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(1)
    np.save(folder / "f.npy", np.cumsum(rng.normal(size=(40, 5000)), axis=1).astype("f4"))
    neve("compress", folder / "f.npy", folder / "f.neve", "--bound", "abs=1e-3")
    shutil.copytree(SAMPLE, folder / "plt")
    neve("convert", folder / "plt", folder / "plt.h5")
    options = ("--file", "checkpoint", "--box-cells", "8", "--strategies", "skeleton")
    neve("bench", "chombo", *options, "--repeats", "1", "--folder", folder, "--keep")
    (folder / "neve_chombo_skeleton.h5").rename(folder / "chk.h5")
    with h5py.File(folder / "data.h5", "w") as file:
        for v in range(3):
            values = np.cumsum(rng.normal(size=(8, 100, 100)), axis=1).astype("f4")
            file.create_dataset(f"v{v}", data=values, chunks=(1, 100, 100))
    neve("trace", "run", "-o", folder / "t.json", "--", "cp", folder / "f.npy", folder / "copy")
    return folder


def snapshot(folder):
    """Every entry: kind, mode, content."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        try:
            info = path.lstat()
            content = os.readlink(path) if path.is_symlink() else None
            if stat.S_ISREG(info.st_mode):
                content = path.read_bytes()
        except FileNotFoundError:
            continue  # a killed rank's mpirun may still be cleaning up
        found[str(path.relative_to(folder))] = (
            stat.S_IFMT(info.st_mode),
            stat.S_IMODE(info.st_mode),
            content,
        )
    return found


class Place:
    """A folder with an earlier result and a bystander, and what a command may make of them."""

    def __init__(self, command, inputs, folder):
        self.command, self.folder = command, folder
        (folder / "bystander").write_bytes(OLD)
        self.words, self.target = words_of(command, inputs, folder / "result")
        self.inputs = inputs
        self.put_earlier()
        self.before = snapshot(folder)

    def put_earlier(self):
        if self.command in FOLDERS:
            shutil.copytree(SAMPLE, self.target)
            for path in [self.target, *self.target.rglob("*")]:
                path.chmod(0o700 if path.is_dir() else 0o600)
        elif self.command == "trace run":
            shutil.copy(self.inputs / "t.json", self.target)
        else:
            self.target.write_bytes(OLD)
        if self.command not in FOLDERS:
            self.target.chmod(0o640)

    def run(self, prefix=(), **changes):
        process = self.start(prefix, **changes)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
        return subprocess.CompletedProcess(self.words, process.returncode, out, err)

    def start(self, prefix=(), wrapper=(), **changes):
        """`prefix` before all words, `wrapper` before the command of each rank."""
        at = self.words.index(str(NEVE))
        return subprocess.Popen(
            [*prefix, *self.words[:at], *wrapper, *self.words[at:]],
            env=environment(**changes),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def is_whole(self):
        """Is the target the new one, complete?"""
        path = self.target
        if self.command.startswith("trace run"):
            return json.loads(path.read_text())["neve_trace"] == 1
        if path.suffix == ".png":
            return path.read_bytes()[:4] == b"\x89PNG" and path.read_bytes()[-8:-4] == b"IEND"
        if self.command == "bench report":
            return re.search(r"^portable .* 1\.00\n\Z", path.read_text(), re.M) is not None
        if self.command == "decompress":
            return np.load(path).shape == (40, 5000)
        if self.command.startswith("compress"):
            copy = self.inputs / f"check{os.getpid()}.npy"
            neve("decompress", path, copy)
            shape = np.load(copy).shape
            copy.unlink()
            return shape == (40, 5000)
        source = next(w for w in self.words if str(self.inputs) in w)
        return json.loads(neve("verify", source, path, "--json").stdout)["ok"]

    def is_of_target(self, path):
        return path.split("/")[0] == self.target.name

    def target_in(self, found):
        return {k: v for k, v in found.items() if self.is_of_target(k)}

    def check(self, code, err=""):
        """After a run that was not killed; "kept" or "new"."""
        aside = re.search(r"is written; the earlier one is now (\S+), because", err)
        if aside:
            self.take_away(pathlib.Path(aside[1]))
        after = snapshot(self.folder)
        others = {k: v for k, v in self.before.items() if not self.is_of_target(k)}
        found = {k: v for k, v in after.items() if not self.is_of_target(k)}
        for told in (others, found):
            for path in [p for p in told if self.is_resumable(p)]:
                del told[path]
        assert others == found, err
        if self.target_in(after) == self.target_in(self.before) and code != 0:
            return "kept"
        is_told = aside or "its name may not last" in err
        assert code == 0 or is_told, f"exit {code}, but it is new: {err}"
        assert self.is_whole(), err
        if self.target.is_file() and not self.target.is_symlink():
            assert stat.S_IMODE(self.target.stat().st_mode) == 0o640
        return "new"

    def take_away(self, earlier):
        """What a run has named as the place of the earlier folder, whole."""
        found = {f"{self.target.name}/{k}": v for k, v in snapshot(earlier).items()}
        before = self.target_in(self.before)
        del before[self.target.name]
        assert found == before
        shutil.rmtree(earlier.parent)

    def is_resumable(self, path):
        """What an interrupted copy of a data file keeps, for the same command to go on; what a
        traced program has told, for the report."""
        kept = {"convert data file": f".{self.target.name}.neve-part"}
        kept["trace run"] = f"{self.target.name}.parts"
        return self.command in kept and path.startswith(kept[self.command])

    def check_killed(self):
        """After SIGKILL: old or new, and nothing else but what the next run clears away."""
        after = snapshot(self.folder)
        for path, found in self.before.items():
            assert self.is_of_target(path) or after[path] == found, path
        left = {p.split("/")[0] for p in after} - {p.split("/")[0] for p in self.before}
        name = self.target.name
        allowed = (f".{name}.neve-tmp-", f".{name}.neve-part", f"{name}.parts")
        assert all(p.startswith(allowed) for p in left), left
        is_old = self.target_in(after) == self.target_in(self.before)
        assert is_old or self.is_whole()
        return "kept" if is_old else "new"

    def check_next_run(self):
        for _ in range(20):  # mpirun may end before the last of the ranks that it stops has gone
            done = self.run()
            assert done.returncode == 0, done.stderr
            if set(os.listdir(self.folder)) <= {"bystander", self.target.name}:
                return
            time.sleep(0.2)
        raise AssertionError(sorted(os.listdir(self.folder)))


@pytest.fixture
def place(inputs, tmp_path):
    return lambda command, folder=tmp_path: Place(command, inputs, folder)


def note(command, fault, outcomes, hits=None):
    if table := os.environ.get("NEVE_FAULT_TABLE"):
        line = {"command": command, "fault": fault, "hits": hits}
        line.update({o: outcomes.count(o) for o in ("kept", "new")})
        with open(table, "a") as file:
            file.write(json.dumps(line) + "\n")


def put_back(place_of):
    """The earlier result again, for the next fault."""
    for path in place_of.folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    (place_of.folder / "bystander").write_bytes(OLD)
    place_of.put_earlier()


# --- calls that fail ------------------------------------------------------------------------------

CALLS = {
    "no room to write": ("write", errno.ENOSPC),
    "over quota": ("write", errno.EDQUOT),
    "short write": ("write", "short"),
    "fsync fails": ("sync", errno.EIO),
    "rename fails": ("rename", errno.EIO),
    "nothing can be made": ("make", errno.EACCES),
}
FIRST_NUMBERS = (1, 2, 3)
NUMBERS = range(1, 200) if LONG else FIRST_NUMBERS
PYTHON_COMMANDS = ("plot", "trace report")


@pytest.mark.parametrize("fault", CALLS)
@pytest.mark.parametrize("command", COMMANDS)
def test_calls_that_fail(place, tmp_path_factory, command, fault):
    call, kind = CALLS[fault]
    if command == "convert filtered, 2 ranks" and kind == "short":
        pytest.skip("HDF5's H5Dcreate waits for a rank whose write was short (docs/guarantees.md)")
    here = place(command)
    # Later writes are HDF5's own, and where one fails it may wait for that rank.
    is_hdf5s = command == "convert filtered, 2 ranks" and call == "write"
    log = tmp_path_factory.mktemp("log") / "hits"
    outcomes, hits = [], 0
    for number in FIRST_NUMBERS if is_hdf5s else NUMBERS:
        log.unlink(missing_ok=True)
        shim = {
            "LD_PRELOAD": str(SHIM),
            "NEVE_SHIM": f"{call}:{number}:{kind}",
            "NEVE_SHIM_UNDER": str(here.folder),
            "NEVE_SHIM_LOG": str(log),
        }
        done = here.run(**shim)
        hit = log.read_text().count("\n") if log.exists() else 0
        if hit == 0:
            assert done.returncode == 0, done.stderr
            put_back(here)
            break  # there are fewer such calls
        hits += hit
        outcomes.append(here.check(done.returncode, done.stderr))
        put_back(here)
    assert hits > 0, f"no {call} was hit"
    note(command, fault, outcomes, hits)


# --- limits and devices ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_file_size_limit(place, command):
    here = place(command)
    outcomes = []
    limits = (0, 1, 100, 4096, 20000, 100000, 200000) if LONG else (100, 20000)

    for size in limits:
        # Of the ranks alone: mpirun has files of its own. So has its transport by shared memory.
        limited = ("env", "--ignore-signal=XFSZ", "prlimit", f"--fsize={size}")
        done = here.run(wrapper=limited, OMPI_MCA_btl="self,tcp")
        outcomes.append(here.check(done.returncode, done.stderr))
        put_back(here)
    note(command, "file size limit", outcomes)


@pytest.fixture
def mounted(tmp_path):
    """Mounts file systems of the options asked for."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    mounts = []

    def mount(options):
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "neve-test", folder],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            pytest.skip(f"mounting a file system needs more rights: {done.stderr.strip()}")
        mounts.append(folder)
        return folder

    yield mount
    for path in mounts:
        subprocess.run(["umount", "-l", path], check=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_full_disk(place, mounted, command):
    folder = mounted("size=4m")
    here = place(command, folder)
    outcomes = []
    for free in (0, 4096, 16384, 65536, 131072, 262144) if LONG else (0, 16384, 65536):
        filler = folder / "filler"
        room = os.statvfs(folder)
        filler.write_bytes(bytes(max(room.f_bavail * room.f_frsize - free, 0)))
        here.before = snapshot(folder)
        done = here.run()
        outcomes.append(here.check(done.returncode, done.stderr))
        put_back(here)
    assert "kept" in outcomes, "it was never too full"
    note(command, "full disk", outcomes)


@pytest.mark.parametrize("command", COMMANDS)
def test_read_only_folder(place, mounted, command):
    folder = mounted("size=4m")
    here = place(command, folder)
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    done = here.run()
    assert done.returncode != 0
    assert here.check(done.returncode, done.stderr) == "kept"
    assert "Read-only file system" in done.stderr
    note(command, "read-only folder", ["kept"])


# --- SIGKILL --------------------------------------------------------------------------------------


def seconds_of(here):
    began = time.monotonic()
    done = here.run()
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began


def kill(process):
    """SIGKILL to it and to its group. False where it had ended before."""
    if process.poll() is not None:
        return False
    os.killpg(process.pid, signal.SIGKILL)  # not waited for yet, so its group is still there
    return True


@pytest.mark.parametrize("command", COMMANDS)
def test_killed(place, command):
    here = place(command)
    lasting = seconds_of(here)
    put_back(here)
    chance = random.Random(command)
    wanted = 40 if LONG else 4
    outcomes, hits = [], 0
    for attempt in range(10 * wanted):  # a machine may be slow to tell, and the command quick
        process = here.start()
        if attempt % 2 == 0:  # once it has begun to write
            while process.poll() is None and len(os.listdir(here.folder)) == len(
                {k.split("/")[0] for k in here.before}
            ):
                time.sleep(0.0005)
            time.sleep(chance.uniform(0, 0.01))
        else:
            time.sleep(chance.uniform(0, lasting))
        hits += kill(process)
        process.communicate()
        outcomes.append(here.check_killed())
        here.check_next_run()
        put_back(here)
        if hits == wanted:
            break
    assert hits > 0, "it had always ended before"
    note(command, "SIGKILL", outcomes, hits)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_long_paths(place, tmp_path, command):
    deep = tmp_path / ("d" * 200) / ("e" * 200)
    deep.mkdir(parents=True)
    here = place(command, deep)
    done = here.run()
    assert done.returncode == 0, done.stderr
    assert here.check(0) == "new"
    note(command, "path of 400 bytes", ["new"])


@pytest.mark.parametrize("command", COMMANDS)
def test_symbolic_links(place, tmp_path, command):
    here = place(command)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place_of_target = elsewhere / "result"
    shutil.move(here.target, place_of_target)
    here.target.symlink_to(place_of_target)
    done = here.run()
    assert done.returncode == 0, done.stderr
    assert here.target.is_symlink() and here.is_whole()
    assert os.listdir(elsewhere) == ["result"]
    here.target.unlink()
    here.target.symlink_to(tmp_path / "nowhere")
    before = snapshot(tmp_path)
    done = here.run()
    assert done.returncode != 0 and "symbolic link" in done.stderr, done.stderr
    assert snapshot(tmp_path) == before
    note(command, "symbolic links", ["new", "kept"])


@pytest.mark.parametrize("command", COMMANDS)
def test_two_at_once(place, command):
    here = place(command)
    outcomes = []
    for _ in range(20 if LONG else 3):
        both = [here.start(), here.start()]
        codes = [(p.communicate(timeout=TIMEOUT_SECONDS)[1], p.returncode)[::-1] for p in both]
        assert any(code == 0 for code, _ in codes), codes
        # Where a second one may not write at the same time it says so.
        assert all(code == 0 or "being written by another" in err for code, err in codes), codes
        outcomes.append(here.check(0))
        put_back(here)
    note(command, "two writers", outcomes)


# --- benchmarks, and the study --------------------------------------------------------------------

BENCHMARKS = {
    "bench struct": (
        "--grid",
        "16,16,16",
        "--steps",
        "2",
        "--outputs",
        "hdf5,netcdf",
        "--keep",
    ),
    "bench chombo": (
        "--box-cells",
        "8",
        "--repeats",
        "1",
        "--strategies",
        "skeleton,compressed",
        "--keep",
    ),
    "bench amr": ("--blocks", "2,2,2", "--block-cells", "4", "--methods", "skeleton", "--keep"),
    "bench disk": ("--mib", "1", "--repeats", "2"),
}


@pytest.mark.parametrize("fault", CALLS)
@pytest.mark.parametrize("bench", BENCHMARKS)
def test_benchmarks_keep_all_or_nothing(tmp_path, tmp_path_factory, bench, fault):
    call, kind = CALLS[fault]
    if bench == "bench disk" and call == "rename":
        pytest.skip("it renames nothing")
    log = tmp_path_factory.mktemp("log") / "hits"
    words = [str(NEVE), *bench.split(), *BENCHMARKS[bench], "--folder", str(tmp_path)]
    (tmp_path / "bystander").write_bytes(OLD)
    subprocess.run(words, env=environment(), capture_output=True, check=True)
    kept = set(os.listdir(tmp_path))
    before = snapshot(tmp_path)
    for name in kept - {"bystander"}:
        (tmp_path / name).unlink()
    outcomes, hits = [], 0
    for number in range(1, 100) if LONG else (1, 3):
        log.unlink(missing_ok=True)
        done = subprocess.run(
            words,
            env=environment(
                LD_PRELOAD=str(SHIM),
                NEVE_SHIM=f"{call}:{number}:{kind}",
                NEVE_SHIM_UNDER=str(tmp_path),
                NEVE_SHIM_LOG=str(log),
            ),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        hits += log.exists()
        left = set(os.listdir(tmp_path))
        assert left == (kept if done.returncode == 0 else {"bystander"}), (
            number,
            left,
            done.stderr,
        )
        outcomes.append("new" if done.returncode == 0 else "kept")
        for name in left - {"bystander"}:
            (tmp_path / name).unlink()
        if not log.exists():
            break
    assert hits > 0
    assert before["bystander"] == snapshot(tmp_path)["bystander"]
    note(bench, fault, outcomes, hits)


@pytest.mark.parametrize("fault", ["no room to write", "over quota", "short write"])
def test_raw_values_that_mpi_loses_are_found(tmp_path, fault):
    """Open MPI's collective writes may say that all was written when it was not."""
    call, kind = CALLS[fault]
    (tmp_path / "bystander").write_bytes(OLD)
    options = ("--grid", "16,16,16", "--steps", "1", "--outputs", "raw", "--folder", str(tmp_path))
    done = subprocess.run(
        [str(NEVE), "bench", "struct", *options],
        env=environment(
            LD_PRELOAD=str(SHIM), NEVE_SHIM=f"{call}:1:{kind}", NEVE_SHIM_UNDER=str(tmp_path)
        ),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode in (1, 3)  # the writer found it, or the comparison
    assert "neve bench struct: " in done.stderr
    assert os.listdir(tmp_path) == ["bystander"]
    assert (tmp_path / "bystander").read_bytes() == OLD


def test_a_killed_study_leaves_no_files(tmp_path):
    """Its scratch folder goes with the next run, and nothing else of that name does."""
    folder = tmp_path / "study"
    command = [str(NEVE), "bench", "study", "two-cores", "--into", str(folder)]
    folder.mkdir()
    mine = folder / "neve-study-files-mine"
    mine.mkdir()
    (mine / "thesis").write_bytes(OLD)
    for _ in range(3 if LONG else 1):
        process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and not (folder / "scratch").exists():
            time.sleep(0.01)
        time.sleep(0.2)
        process.kill()
        process.wait()
    assert (folder / "scratch").exists()
    noted = pathlib.Path(json.loads((folder / "scratch").read_text()))
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + TIMEOUT_SECONDS
    while noted.exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait()
    assert not noted.exists()
    assert (mine / "thesis").read_bytes() == OLD
    note("study", "SIGKILL", ["kept"])
