# SPDX-License-Identifier: BSD-3-Clause
"""What measurements do with the cells of a level that a finer one covers."""

from __future__ import annotations

import argparse

# AMRIC leaves such cells out, and recorded figures were made with this.
# bench/harness/covered.hpp says the same.
DEFAULT = "auto"


def add_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--covered",
        choices=["auto", "drop", "keep"],
        default=DEFAULT,
        help="cells that a finer level covers: auto (left out where the average of the finer cells "
        f"is within the bound; AMRIC leaves them out), drop, keep ({DEFAULT})",
    )
