// SPDX-License-Identifier: BSD-3-Clause
// Time steps of one variable: the method that was best is kept while it performs as well as before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
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
  // The recalled method no longer performed as before: the step was compared after it was coded, and coded
  // again where another was better.
  bool had_drifted = false;
};

// Encodes one step of a variable that is stored in `pieces` (chunks) of one shape. piece(i) returns the
// values of one piece, which stay valid until the next call; it may be called more than once for a piece.
//
// Only codecs auto and lossless without a given method have something to choose. Where every bit is kept, a
// small sample of each step tells whether its values are still like those of the step at which methods were
// compared last. If not, or after steps_between_trials, methods (those of tuning.candidates) are compared
// before the step is coded, by the whole of a small step and by parts of a larger one, and the best one is
// taken if it is better by more than 0.4 times delta. With a bound that allows errors, codecs are compared
// for each piece, and what won most of them is kept. Where the performance of what is kept has left its own
// by more than delta, it is chosen anew, and the step encoded again at once. memory.choices() has a record of
// each step. Errors: those of encode_array, and of check_choice_rules.
Result<std::vector<std::vector<std::byte>>> encode_step(DType dtype, Span<const uint64_t> shape,
                                                        size_t pieces,
                                                        const std::function<const void*(size_t)>& piece,
                                                        const ArrayOptions& options, SelectionMemory& memory,
                                                        const std::string& variable,
                                                        StepReport* report = nullptr);

// A selection in one word: the method of codec lossless, else the codec; empty where there is none. Written
// out as a literal.
std::string_view selection_name(const Selection& selection);

}  // namespace neve
#pragma GCC visibility pop
