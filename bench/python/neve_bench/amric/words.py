# SPDX-License-Identifier: BSD-3-Clause
"""The words of the report, each explained once."""

from __future__ import annotations

WORDS = (
    ("ratio", "raw bytes of all cells over stored bytes"),
    (
        "PSNR",
        "that of footnote 2 of the paper, over the cells that are stored, each error in units of "
        "its level's range, to which the bounds are relative",
    ),
    (
        "at equal PSNR",
        "geometric mean over the PSNRs that two curves share; above 1 the first is ahead",
    ),
    ("unit", "a block of cells, of the paper's side, in which boxes are cut before they are coded"),
    (
        "band (border error)",
        "rms error beside the borders of levels over that elsewhere, errors in units of the bound; "
        "1: nothing is seen of the borders",
    ),
    (
        "jump",
        "rms jump of the error from level to level across their borders, over that between "
        "neighbours within the levels",
    ),
    (
        "prepare, encode, write, sync",
        "stages of a write, of the slowest rank: ranges, covered cells, places, padding and copies "
        "into buffers; coding; the calls that write; fsync",
    ),
    (
        "call",
        "seconds until the call that writes comes back to the simulation; where Neve writes behind "
        "(neve-behind), the rest is done meanwhile",
    ),
    (
        "PAPER:METHOD,SETTING=VALUE",
        "a way of coding: amric:adaptive (AMRIC's SZ_L/R with Eq. 1), amric:sle (blocks of 6 in "
        "each unit), amric:lm (units merged in a line), amric:interp (SZ_Interp, units in a "
        "cluster), amric:interp-linear (units in a line), amrex:1d (AMReX's chunks of a run of "
        "values), tac:auto, zmesh:lr, neve:auto (Neve's choice; effort fast, balanced or max). "
        "neve bench rd --list-ways lists all of them",
    ),
    (
        "nocomp, amrex:N, amric-lr, amric-interp, padded-lr, per-rank-lr, per-field-lr",
        "ways of writing a file: without compression; AMReX's 1D chunks of N values; AMRIC's two; "
        "its SZ_L/R with chunks padded to the largest rank, a dataset for each rank, a dataset for "
        "each field",
    ),
)
