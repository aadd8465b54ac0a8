// SPDX-License-Identifier: BSD-3-Clause
// What the stored chunks of a dataset say of themselves: by which methods they are coded, and how well.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "io/datafile/variable.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::datafile {

// "context", "lossless zstd"; "as they are" of a chunk that skips the filter.
std::string chunk_method_text(Codec codec, LosslessMethod method, bool skips_filter);

struct FrameSurvey {
  uint64_t chunks = 0;                      // stored
  uint64_t looked_at = 0;                   // of them
  std::map<std::string, uint64_t> methods;  // chunks by chunk_method_text; "damaged": no frame
  double bound_abs = 0, max_abs_error = 0;  // the largest
};

// Looks at all chunks of a small dataset, and at some of a large one, evenly from the first to the last;
// not at very large chunks. Decodes nothing. Nothing where Neve's is not the last filter, whose frames the
// chunks are. Errors: corrupt.
Result<std::optional<FrameSurvey>> survey_frames(hid_t dataset, const Variable& variable);

}  // namespace neve::datafile
