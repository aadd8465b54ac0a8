// SPDX-License-Identifier: BSD-3-Clause
// Time steps of one variable: the method that was best is kept while it performs as well as before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "neve/frame.hpp"
#include "neve/selection_memory.hpp"
#include "neve/span.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

struct StepReport {
  uint64_t raw_bytes = 0, frame_bytes = 0;
  Selection selection;       // of most raw bytes
  bool is_recalled = false;  // used without comparison
  bool had_drifted =
      false;  // the recalled method no longer performed as well as before: the step was coded again
};

// Encodes one step of a variable that is stored in `pieces` (chunks) of one shape. piece(i) returns the
// values of one piece, which stay valid until the next call. Without a selection in the memory, a choice is
// made for each piece, and the one that won most pieces is remembered. If the recalled selection no longer
// performs as well, a new choice is made and the step is encoded again at once. Only codecs auto and lossless
// without a given method have something to remember. Errors: those of encode_array.
Result<std::vector<std::vector<std::byte>>> encode_step(DType dtype, Span<const uint64_t> shape,
                                                        size_t pieces,
                                                        const std::function<const void*(size_t)>& piece,
                                                        const ArrayOptions& options, SelectionMemory& memory,
                                                        const std::string& variable,
                                                        StepReport* report = nullptr);

}  // namespace neve
#pragma GCC visibility pop
