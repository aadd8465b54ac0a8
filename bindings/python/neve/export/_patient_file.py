# SPDX-License-Identifier: BSD-3-Clause
"""A file for h5py whose writes never fail: HDF5 cannot close a file that it could not write, and
complains of it until the process has ended. The first failure is kept for whoever asks.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


class PatientFile(io.RawIOBase):
    """`failure` is the first error of a write; what is written after it is lost."""

    def __init__(self, path: Path):
        self._file = path.open("w+b", buffering=0)
        self.failure: OSError | None = None

    def write(self, data: Buffer, /) -> int:
        with memoryview(data).cast("B") as rest:
            size = len(rest)
            done = 0
            while done < size and self.failure is None:
                try:
                    done += self._file.write(rest[done:])
                except OSError as error:
                    self.failure = error
            if self.failure is not None:  # the position is where HDF5 expects it
                self._file.seek(size - done, os.SEEK_CUR)
            return size

    def truncate(self, size: int | None = None, /) -> int:
        try:
            return self._file.truncate(size)
        except OSError as error:
            self.failure = self.failure or error
            return size or 0

    def readinto(self, buffer: Buffer, /) -> int | None:
        count: int | None = self._file.readinto(buffer)
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            self.failure = self.failure or error
        super().close()
