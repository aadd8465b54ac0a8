# SPDX-License-Identifier: BSD-3-Clause
"""What all pictures share: matplotlib without a display, a file that is written or says why not."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from ._errors import FAILURE, Error

DPI = 160


def pyplot() -> ModuleType:
    """matplotlib.pyplot, drawing into files. ImportError where matplotlib is not installed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def save(figure, path: str | Path) -> None:
    """Writes the figure and closes it."""
    try:
        figure.savefig(path, dpi=DPI)
    except (OSError, ValueError) as error:
        raise Error(f"{path}: cannot write the picture: {error}", FAILURE) from None
    finally:
        pyplot().close(figure)
