# SPDX-License-Identifier: BSD-3-Clause
"""each_by_plugin.py FILE OUT.npz ...: whole files by Neve's reader in pvpython."""

import sys

import amr_values
import plugin

for path, out in zip(sys.argv[1::2], sys.argv[2::2]):  # noqa: B905 - the Python of ParaView may be old
    reader = plugin.reader([path])
    reader.UpdatePipeline()
    amr = reader.GetClientSideObject().GetOutputDataObject(0)
    amr_values.save(out, amr_values.blocks_of(amr), amr_values.time_of(amr))
