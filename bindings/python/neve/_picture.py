# SPDX-License-Identifier: BSD-3-Clause
"""What all pictures share: matplotlib without a display, a file that is written or says why not."""

from __future__ import annotations

import io
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from . import _files
from ._errors import FAILURE, Error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160
KINDS = (".png", ".pdf", ".svg")  # that are documented; matplotlib writes others, too


def pyplot() -> ModuleType:
    """matplotlib.pyplot, drawing into files. ImportError where matplotlib is not installed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def write(figure: Figure, path: str | Path, dpi: float = DPI) -> Path:
    """Writes the figure, as a PNG where the name has no suffix; where it has written it."""
    path = Path(path)
    if not path.suffix:
        path = path.with_name(path.name + ".png")
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise Error(f"{path}: a picture is {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    picture = io.BytesIO()
    try:
        figure.savefig(picture, dpi=dpi, format=path.suffix[1:])
    except ValueError as error:
        raise Error(f"{path}: cannot write the picture: {error}", FAILURE) from None
    _files.write_bytes(path, picture.getvalue())
    return path


def save(figure: Figure, path: str | Path) -> None:
    """Writes a figure of pyplot's, and closes it."""
    try:
        write(figure, path)
    finally:
        pyplot().close(figure)
