# SPDX-License-Identifier: BSD-3-Clause
"""Names of a file in a message."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[^\s,'\"]+")


def listed(names: Iterable[str], most: int | None = None) -> str:
    """With commas between them; quoted where a name has a comma, a space or a quote, so that
    nobody takes it for two. Of more than `most` the first ones.
    """
    words = [name if _PLAIN.fullmatch(name) else repr(name) for name in names]
    more = ["..."] if most is not None and len(words) > most else []
    return ", ".join(words[:most] + more)
