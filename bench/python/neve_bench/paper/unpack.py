# SPDX-License-Identifier: BSD-3-Clause
"""Archives of plotfiles, unpacked into a study's folder, once."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from pathlib import Path, PurePosixPath

from neve._errors import CORRUPT, FAILURE, Error

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")
MOST_MEMBERS = 1_000_000
SHARE_OF_FREE = 0.5  # of the disk's free bytes, that an archive may fill
COPY_BYTES = 1 << 20


def is_archive(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES) and path.is_file()


def stem(path: Path) -> str:
    """The name without the suffix of an archive."""
    longest = max((s for s in SUFFIXES if path.name.lower().endswith(s)), key=len)
    return path.name[: -len(longest)]


def unpacked(archive: Path, into: Path) -> Path:
    """The folder that holds what was in it. One that was not unpacked whole is unpacked again."""
    stat = archive.stat()
    identity = f"{archive.name} {stat.st_size} {stat.st_mtime_ns}"
    folder = into / f"{stem(archive)}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        with tarfile.open(archive) as tar:
            _unpack(archive, tar, partial)
        partial.rename(folder)
    except (tarfile.TarError, EOFError, ValueError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        if isinstance(error, Error):
            raise
        raise Error(f"{archive.name}: no archive, or a damaged one: {error}", CORRUPT) from None
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise Error(f"{archive.name}: cannot unpack: {error.strerror or error}", FAILURE) from None
    return folder


def _unpack(archive: Path, tar: tarfile.TarFile, folder: Path) -> None:
    """Files and folders alone: a link could lead out of the folder."""
    room = int(SHARE_OF_FREE * shutil.disk_usage(folder).free)
    for number, member in enumerate(tar):
        place = PurePosixPath(member.name)
        if number >= MOST_MEMBERS:
            raise Error(f"{archive.name}: more than {MOST_MEMBERS} members", CORRUPT)
        if place.is_absolute() or ".." in place.parts:
            raise Error(f"{archive.name}: {member.name!r} lies outside of the archive", CORRUPT)
        target = folder.joinpath(*place.parts)
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        if not member.isreg():
            raise Error(
                f"{archive.name}: {member.name!r} is a link or a device; allowed are files and "
                "folders",
                CORRUPT,
            )
        room -= member.size
        if room < 0:
            raise Error(f"{archive.name}: holds more than half of what the disk has free", FAILURE)
        target.parent.mkdir(parents=True, exist_ok=True)
        source = tar.extractfile(member)
        with source, open(target, "xb") as file:
            shutil.copyfileobj(source, file, COPY_BYTES)
