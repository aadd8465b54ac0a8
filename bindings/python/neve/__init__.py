# SPDX-License-Identifier: BSD-3-Clause
"""Neve: error-bounded compression of arrays, HDF5 datasets and AMR plotfiles.

Importing it is enough for h5py (and yt on top of it) to read files that Neve compressed.
"""

from __future__ import annotations

from . import _plugin
from ._array import compress, decompress, explain, info
from ._choice import Choice, ChoiceLog
from ._choice_log import read_choices
from ._core import set_simd_target, simd_target, simd_targets
from ._errors import Error
from ._filter import Filter, filter_parameters, filter_text, guess_chunks
from ._plugin import plugin_dir
from ._report import Report
from ._series import Series
from ._stream import StreamDecoder, StreamEncoder, best_stream_dims
from ._whole_files import convert, convert_series, doctor, file_info, verify
from ._yt import load_yt
from .plotfile import open  # noqa: A004 - neve.open, as gzip.open and h5py.File would have it

__version__ = "0.1.0"
__all__ = [
    "Choice",
    "ChoiceLog",
    "Error",
    "Filter",
    "Report",
    "Series",
    "StreamDecoder",
    "StreamEncoder",
    "best_stream_dims",
    "compress",
    "convert",
    "convert_series",
    "decompress",
    "doctor",
    "explain",
    "file_info",
    "filter_parameters",
    "filter_text",
    "guess_chunks",
    "info",
    "load_yt",
    "open",
    "plugin_dir",
    "read_choices",
    "set_simd_target",
    "simd_target",
    "simd_targets",
    "verify",
]

_plugin.register()
