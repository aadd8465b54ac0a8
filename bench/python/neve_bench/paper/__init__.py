# SPDX-License-Identifier: BSD-3-Clause
"""What redoing any paper takes: arguments, progress, going on after a kill, page and CSV. What a
paper says and how it is measured is in the package of its name.
"""
