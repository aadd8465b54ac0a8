# SPDX-License-Identifier: BSD-3-Clause
"""`neve study miniio`: Ziegeler et al., I/O mini-apps and compression, redone by `neve bench
struct` and the other mini-apps: bytes counted, writes timed in pairs, and a model for its machine.
"""
