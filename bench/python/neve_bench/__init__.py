# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of `neve bench` that are written in Python."""
