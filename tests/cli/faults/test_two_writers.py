# SPDX-License-Identifier: BSD-3-Clause
"""Two commands at once that write to one name."""

import pytest

from ..conftest import TIMEOUT_SECONDS
from .faults import COMMANDS, LONG, note, put_back


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
