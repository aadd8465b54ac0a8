# SPDX-License-Identifier: BSD-3-Clause
"""Where the neve command is, for what is measured by running it."""

from __future__ import annotations

import os
from pathlib import Path

from ._errors import FAILURE, Error


def command_path() -> Path:
    """The neve command: the one that called us, else the build's."""
    found = os.environ.get("NEVE_COMMAND")
    path = Path(found) if found else Path("build/bin/neve")
    if not path.exists():
        raise Error(
            f"{path}: no neve command; run this by `neve ...`, or from the checkout after "
            "`make build`",
            FAILURE,
        )
    return path.resolve()
