// SPDX-License-Identifier: BSD-3-Clause
// Time steps of one variable, which keep the method that was best for it while it performs as it did.
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
  bool is_recalled = false;  // nothing was weighed
  bool had_drifted = false;  // what was recalled no longer performed as it did: the step was coded again
};

// One step of a variable that is stored in `pieces` (chunks) of one shape; piece(i) gives the values of one,
// which stay until it is called again. Without a selection in the memory each piece is weighed by itself, and
// what won most of them is kept. A step whose recalled selection has drifted is weighed and encoded again at
// once, so that none is stored by a method that has failed it. Only codec auto and lossless without a method
// that is asked for have something to remember. Errors: those of encode_array.
Result<std::vector<std::vector<std::byte>>> encode_step(DType dtype, Span<const uint64_t> shape,
                                                        size_t pieces,
                                                        const std::function<const void*(size_t)>& piece,
                                                        const ArrayOptions& options, SelectionMemory& memory,
                                                        const std::string& variable,
                                                        StepReport* report = nullptr);

}  // namespace neve
#pragma GCC visibility pop
