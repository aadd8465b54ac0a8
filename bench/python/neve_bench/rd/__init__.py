# SPDX-License-Identifier: BSD-3-Clause
"""The rate-distortion study of one file: `neve bench rd FILE`."""
