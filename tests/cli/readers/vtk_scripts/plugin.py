# SPDX-License-Identifier: BSD-3-Clause
"""Neve's reader in pvpython, loaded as docs/paraview.md says."""

import inspect
import os

# Python 3.11 has no such function, and ParaView 5.11 asks for it when it loads any plugin.
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec

from paraview import simple

simple.LoadPlugin(os.environ["NEVE_READER"], ns=globals())


def reader(names):
    return NeveReader(FileNames=names)  # noqa: F821 - the plugin brings it
