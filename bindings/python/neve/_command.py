# SPDX-License-Identifier: BSD-3-Clause
"""The neve command: where it is, and running it from Python."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from ._errors import FAILURE, Error
from ._no_command import why_no_command
from ._progress import Bar

PathLike = str | os.PathLike[str]

# What a program that is to end gets to do so, before it is ended.
_GRACE_SECONDS = 5


def command_path() -> Path:
    """The neve command: the one that called us, else the package's own, in the checkout that of
    the build.
    """
    found = os.environ.get("NEVE_COMMAND")
    path = Path(found) if found else Path(__file__).parent / "bin" / "neve"
    if not path.exists():
        missing = f"{path}: no neve command" if found else why_no_command(str(path.parent))
        raise Error(missing, FAILURE)
    return path.resolve()


class Answer(NamedTuple):
    code: int
    report: dict[str, Any]
    notes: tuple[str, ...]  # what it said beside its report, a line each


def word_of_path(path: PathLike) -> str:
    """A path as an argument, which no option begins like."""
    text = os.fspath(path)
    return f"./{text}" if text.startswith("-") else text


def words_of_options(caller: str, options: Mapping[str, Any]) -> list[str]:
    """Keywords as the command's options: chunk_size="4MiB" is --chunk-size=4MiB, None none, True
    the option alone; a list gives it several times. The command itself knows what there is.
    """
    words = []
    for name, value in options.items():
        if name in ("json", "help"):
            raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")
        option = "--" + name.replace("_", "-")
        several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike))
        for one in value if several else [value]:
            if one is not None:
                words.append(option if one is True else f"{option}={_text(one)}")
    return words


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def ask(
    command: str, words: list[str], bar: Bar | None = None, allowed: tuple[int, ...] = ()
) -> Answer:
    """Runs `neve command words... --json` in a process of its own, as h5py's HDF5 and the command's
    must not meet in one. An exit code other than 0 and those `allowed` is neve.Error.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _run([str(command_path()), command, *words, "--json"], out, err, bar)
        report, said = _read(out), _read(err)
    notes = tuple(line.removeprefix("neve ") for line in said.splitlines())
    if code < 0:
        raise Error(f"{command}: ended by {signal.Signals(-code).name}", FAILURE)
    if code not in (0, *allowed) or not report:
        raise Error(
            "\n".join(notes) or f"{command}: exit code {code}, and not a word", code or FAILURE
        )
    return Answer(code, json.loads(report), notes)


# By which a launcher of MPI programs tells a process that it is one of many.
_RANKS = (
    *("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANKID", "MV2_COMM_WORLD_RANK"),
    *("SLURM_PROCID", "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK", "PALS_RANKID"),
)
_OF_LAUNCHERS = re.compile(
    r"(OMPI_(COMM_WORLD|MCA|UNIVERSE|FILE|FIRST|APP|NUM|REMOTE|COMMAND|ARGV)|PMI|MV2_|MPI_|HYDI?_|SLURM_"
    r"|FLUX_|JSM_|PALS_)"
)


def _without_launcher(variables: Mapping[str, str]) -> dict[str, str]:
    """Of a rank of a program that calls us: the command that it runs is no rank, but alone."""
    if not any(name in variables for name in _RANKS):
        return dict(variables)
    return {name: value for name, value in variables.items() if not _OF_LAUNCHERS.match(name)}


def _start(
    words: list[str], out: IO[bytes], err: IO[bytes], listener: int | None = None
) -> subprocess.Popen[bytes]:
    environment = {**_without_launcher(os.environ), "NEVE_PYTHON": sys.executable}
    if listener is not None:
        environment["NEVE_PROGRESS_FD"] = str(listener)
    return subprocess.Popen(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        pass_fds=[] if listener is None else [listener],
    )


def _run(words: list[str], out: IO[bytes], err: IO[bytes], bar: Bar | None) -> int:
    if bar is None:
        with _start(words, out, err) as process:
            return _ended(process)
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, encoding="utf-8", errors="replace") as lines:
        try:
            process = _start(words, out, err, write_end)
        finally:
            os.close(write_end)
        with process, bar:
            return _ended(process, lines, bar)


def _ended(
    process: subprocess.Popen[bytes], lines: Iterable[str] = (), bar: Bar | None = None
) -> int:
    """The exit code. What interrupts the wait ends the command, too."""
    try:
        for line in lines:
            if bar is not None:
                bar.show(line)
        return process.wait()
    except BaseException:
        process.terminate()
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        raise


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", errors="surrogateescape")
