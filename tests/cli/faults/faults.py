# SPDX-License-Identifier: BSD-3-Clause
"""Every command that writes, and a place where its target is already there.

NEVE_FAULT_TABLE=FILE appends a line of JSON for each command and fault: what docs/campaigns.md is
made of.
"""

import errno
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import time

import h5py
import numpy as np

from ..conftest import BUILD, NEVE, SAMPLE, TIMEOUT_SECONDS, environment

# Each fault at many places instead of few.
LONG = os.environ.get("NEVE_TEST_LONG") == "1"
SHIM = BUILD / "tests" / "libneve_fault_shim.so"
OLD = b"what was there before\n" * 100

# Which call is made to fail, and how.
CALLS = {
    "no room to write": ("write", errno.ENOSPC),
    "over quota": ("write", errno.EDQUOT),
    "short write": ("write", "short"),
    "fsync fails": ("sync", errno.EIO),
    "rename fails": ("rename", errno.EIO),
    "nothing can be made": ("make", errno.EACCES),
}


def failing(fault, number, folder, log=None):
    """For a process whose call `number` below the folder is to fail; each is a line of `log`."""
    call, kind = CALLS[fault]
    shim = {"LD_PRELOAD": SHIM, "NEVE_SHIM": f"{call}:{number}:{kind}", "NEVE_SHIM_UNDER": folder}
    if log:
        shim["NEVE_SHIM_LOG"] = log
    return {name: str(value) for name, value in shim.items()}


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
    "convert to VTKHDF": ("convert", "{in}/plt", "{out}.vtkhdf"),
    "trace run": ("trace", "run", "-o", "{out}", "--", "cp", "{in}/f.npy", "/dev/null"),
    "trace report": ("trace", "report", "{in}/t.json", "--plot", "{out}.png"),
    "trace report page": ("trace", "report", "{in}/t.json", "--html", "{out}.html"),
    "choices": ("choices", "{in}/logged/data.h5", "-o", "{out}.png"),
    "choices page": ("choices", "{in}/logged/data.h5", "-o", "{out}.html"),
    "plot": ("plot", "{in}/plt", "--field", "density", "-o", "{out}.png"),
    "export": ("export", "{in}/plt", "{out}.npy", "--field", "density"),
    "export fields": ("export", "{in}/plt", "{out}.nc", "--field", "density,Temp"),
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


def entries_below(folder):
    """Folders may go while they are walked: a killed rank's mpirun may still be cleaning up."""
    walked = os.walk(folder)  # which passes over what is gone
    return sorted(pathlib.Path(at, name) for at, below, files in walked for name in below + files)


def snapshot(folder):
    """Every entry: kind, mode, content."""
    found = {}
    for path in entries_below(pathlib.Path(folder)):
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
        if path.suffix == ".html":
            page = path.read_text()
            return page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
        if self.command == "bench report":
            return re.search(r"^portable .* 1\.00\n\Z", path.read_text(), re.M) is not None
        if self.command == "export":
            return np.load(path).shape == (32, 32, 32)
        if self.command == "export fields":
            with h5py.File(path) as file:
                return [file[name].shape for name in ("density", "Temp")] == [(32, 32, 32)] * 2
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
