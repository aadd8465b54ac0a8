# SPDX-License-Identifier: BSD-3-Clause
"""NCO: ncks, ncpdq, ncra, ncwa."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .matrix import Reason, Row, assert_same
from .netcdf_tools import computed_by, copied_by
from .sample_files import CHECKPOINT, GROUPS, HDF5, NETCDF, PLOTFILE, Sample, stored_values
from .stranger import run_tool

# A dimension of each kind of file, and a variable whose axis it is. netCDF numbers those without a
# name.
DIMENSIONS = {
    PLOTFILE: ("phony_dim_1", "level_0/data:datatype=0", 0),
    CHECKPOINT: ("phony_dim_3", "level_0/data:datatype=0", 0),
    NETCDF: ("lat", "air", 1),
    GROUPS: ("lat", "ocean/deep/salt", 1),
    HDF5: ("phony_dim_1", "run/phase", 0),
}


def _subset(sample: Sample, folder: Path) -> None:
    dimension, name, axis = DIMENSIONS[sample.kind]
    out = folder / "out.nc"
    run_tool("ncks", "-v", name.rpartition("/")[2], "-d", f"{dimension},1,7,2", sample.path, out)
    wanted = sample.values[name].take(range(1, 8, 2), axis)
    assert_same({name: stored_values(out)[name]}, {name: np.ascontiguousarray(wanted)})


def _averaged(sample: Sample, folder: Path) -> None:
    """Over all dimensions. It crashes on variables of type string, also without the filter."""
    texts = [name.rpartition("/")[2] for name in sample.texts]
    computed_by("ncwa", *(["-x", "-v", ",".join(texts)] if texts else []), "IN", "OUT")(
        sample, folder
    )


NO_RECORDS = Reason(
    "averages over a record dimension, and the file has none", "no variables fit criteria"
)

ROWS = (
    Row("ncks", "copy", copied_by("ncks", "IN", "OUT")),
    Row("ncks", "subset", _subset),
    Row("ncks", "to deflate", copied_by("ncks", "-4", "-L", "1", "IN", "OUT")),
    Row("ncpdq", "pack nothing (`-P upk`)", computed_by("ncpdq", "-P", "upk", "IN", "OUT")),
    Row(
        "ncra",
        "mean over records",
        computed_by("ncra", "IN", "OUT"),
        {kind: NO_RECORDS for kind in (PLOTFILE, CHECKPOINT, HDF5)},
    ),
    Row("ncwa", "mean", _averaged),
)
