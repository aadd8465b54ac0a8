# SPDX-License-Identifier: BSD-3-Clause
"""What each tool makes of each kind of Neve's files: a module for each family of tools, whose ROWS
tests/cli/test_readers.py runs and docs/readers.md shows.
"""
