# SPDX-License-Identifier: BSD-3-Clause
"""`neve study acb`: Devendran et al., aggregated collective buffering for Chombo, redone by the
model of `neve plan`, the Chombo I/O benchmark and `neve trace`.
"""
