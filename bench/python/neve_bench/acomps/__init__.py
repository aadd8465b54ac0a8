# SPDX-License-Identifier: BSD-3-Clause
"""The ACOMPS slides (Singhal and Sussman, DRBSD-2 2017) redone: what they say stands in `items`,
what is measured in `work`.
"""
