// SPDX-License-Identifier: BSD-3-Clause
// A checkpoint as Chombo, BISICLES and other codes on top of Chombo write it.
#pragma once

#include "io/hdf5/plotfile_header.hpp"

namespace neve::hdf5 {

// Fills all but CheckpointHeader::kind and reason; `file` becomes the header's. A variable is a dataset
// `<name>:datatype=0` that every level with boxes has, with the same components and ghosts and with values of
// one type; its name is `<name>`, its components those of the root where it is Chombo's one "data". What is
// none is among `others`, with the reason. Levels end before the first one without boxes.
// Errors: corrupt; usage (no variable at all).
Status read_chombo_checkpoint(Handle file, uint64_t file_bytes, CheckpointHeader* header);

}  // namespace neve::hdf5
