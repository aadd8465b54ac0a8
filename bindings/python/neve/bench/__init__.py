# SPDX-License-Identifier: BSD-3-Clause
"""Measurements with their recipe: `python -m neve.bench codecs|write|rd`."""
