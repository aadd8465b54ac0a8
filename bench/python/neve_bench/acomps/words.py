# SPDX-License-Identifier: BSD-3-Clause
"""The words of the report, each explained once."""

from __future__ import annotations

WORDS = (
    (
        "B, BW, BWXOR",
        "the slides' preprocessing: bytes of a value that are skewed apart from those that are "
        "noise; these grouped by their place in the value; the same of values that were XORed "
        "with the one before",
    ),
    ("the nine", "B-, BW- and BWXOR- with LZO, zlib and bzip2, by Neve's implementation of them"),
    (
        "Neve's own",
        "the ten other methods of codec lossless, and the choice among all nineteen",
    ),
    (
        "WCR, WCS, performance",
        "weights of ratio and of speed; speed x WCS + ratio x WCR, with the speed in 100 MB/s",
    ),
    ("delta", "a method is kept while its performance stays within this fraction of what it was"),
    (
        "typical, measured speeds",
        "those of Neve's table, which are the same everywhere; those of this run",
    ),
    ("kept", "performance reached over the best that was to be had, by step"),
    (
        "blind",
        "steps in a row at which a rival performs better than the method in use by more than delta "
        "(and 3 %)",
    ),
    ("drift, rival, due, first", "why a method was chosen again, as the log of a series has it"),
    ("only CS, only CR", "the choice by speed alone (WCS 1), and by ratio alone (WCR 1)"),
    (
        "by the model",
        "seconds measured here, and bytes counted here over a bandwidth that is stated",
    ),
    (
        "imitated storage",
        "neve bench ensemble --storage: to each phase, the bytes that it read and wrote over a "
        "bandwidth are added",
    ),
)
