# SPDX-License-Identifier: BSD-3-Clause
"""by_plugin.py OUT.npz LEVELS TIME FIELDS FILE...: Neve's reader in pvpython. LEVELS 0: all; TIME
-: the first; FIELDS -: all, else a list with commas.
"""

import json
import sys

import amr_values
import plugin

out, levels, time, fields = sys.argv[1:5]
reader = plugin.reader(sys.argv[5:])
reader.Levels = int(levels)
reader.UpdatePipelineInformation()
times = reader.TimestepValues
print(json.dumps([times] if isinstance(times, float) else list(times)))
if fields != "-":
    reader.Fields = fields.split(",")
if time == "-":
    reader.UpdatePipeline()
else:
    reader.UpdatePipeline(float(time))
amr = reader.GetClientSideObject().GetOutputDataObject(0)
amr_values.save(out, amr_values.blocks_of(amr), amr_values.time_of(amr))
