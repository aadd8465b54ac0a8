# SPDX-License-Identifier: BSD-3-Clause
"""Prints the Python's version, and h5py where it has it."""

import importlib.util
import sys

has_h5py = importlib.util.find_spec("h5py") is not None
print(f"{sys.version_info[0]}.{sys.version_info[1]}", "h5py" if has_h5py else "-")
