# SPDX-License-Identifier: BSD-3-Clause
"""Ways of coding the fields of an AMR hierarchy: Neve's, those of papers, and peers'; all in one
process and on the same cells.
"""
