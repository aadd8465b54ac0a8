# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are killed leave the old or the new, and the next run clears up."""

import os
import random
import signal
import time

import pytest

from .faults import COMMANDS, LONG, note, put_back


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
