# SPDX-License-Identifier: BSD-3-Clause
"""The one exception of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FAILURE, USAGE, BOUND_VIOLATED, CORRUPT, PLUGIN_MISSING = 1, 2, 3, 4, 5


class Error(ValueError):
    """Something Neve refused; the message names the thing, the value found and what is allowed.

    `code` is the exit code of the `neve` command for the same refusal: 1 failure, 2 usage, 3 bound
    violated, 4 corrupt input, 5 HDF5 plugin missing. `report` is what neve.verify() has compared,
    where that is what failed.
    """

    def __init__(self, message: str, code: int = USAGE, report: Mapping[str, Any] | None = None):
        super().__init__(message)
        self.code = code
        self.report = report
