// SPDX-License-Identifier: BSD-3-Clause
// How long the chunks of a one-dimensional dataset of boxes are to be.
#pragma once

#include <hdf5.h>

#include "io/datafile/boxed_frames.hpp"
#include "io/datafile/copy.hpp"
#include "io/datafile/variable.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// Chunks of at most so many bytes, for a list of values.
Extent list_chunk(const Variable& variable, uint64_t max_bytes);

// A chunk has one bound, the tightest of what it holds, but long chunks take fewer bytes a value. Where
// bounds or fill values of components differ, and no size is asked for, a sample of the values is encoded in
// chunks of one box's component and in long ones, and the smaller counts. Errors: as read_elements and
// encode_frame.
Result<Extent> choose_boxed_chunk(hid_t dataset, const Variable& variable, const BoxedPlan& boxed,
                                  const CopyOptions& options);

}  // namespace neve::datafile
