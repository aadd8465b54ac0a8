# SPDX-License-Identifier: BSD-3-Clause
"""TAC: each level compressed alone in three dimensions, its unit blocks first merged to cuboids or
padded to one array (Wang et al., "TAC: Optimizing Error-Bounded Lossy Compression for
Three-Dimensional Adaptive Mesh Refinement Simulations", HPDC 2022).
"""
