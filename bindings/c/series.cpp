// SPDX-License-Identifier: BSD-3-Clause
// neve/series.h over series.hpp.
#include "neve/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bindings/c/last_error.hpp"
#include "bindings/c/options.hpp"
#include "neve/options.hpp"
#include "neve/series.hpp"

struct neve_series {
  explicit neve_series(const neve::SeriesOptions& given) : options(given.array), memory(given.rules) {}

  // Of the memory as it is since the last step: texts of choices lie in it.
  const std::vector<neve::Choice>& log() const {
    if (!read_log) read_log = memory.choices();
    return *read_log;
  }

  neve::ArrayOptions options;
  neve::SelectionMemory memory;
  mutable std::optional<std::vector<neve::Choice>> read_log;
};

namespace {

using neve::Status;
using neve::usage_error;
using neve::capi::reported;

Status create(const char* text, neve_series** out) {
  if (out == nullptr) return usage_error("series is NULL");
  *out = nullptr;
  neve::OptionsSoFar so_far;
  so_far.values.bound = {neve::BoundMode::lossless, 0};
  NEVE_ASSIGN(const neve::SeriesOptions options,
              neve::parse_series_options(text == nullptr ? "" : text, std::move(so_far)));
  *out = new neve_series(options);
  return {};
}

// One step as a caller gives it.
struct Step {
  const char* variable;
  int dtype, ndim;
  const uint64_t* shape;
  size_t pieces;
  const void* const* data;

  std::span<const uint64_t> sizes() const { return {shape, static_cast<size_t>(ndim)}; }
};

Status check_step(const Step& step) {
  if (step.variable == nullptr) return usage_error("variable is NULL");
  if (step.dtype < 0 || step.dtype >= neve::dtypes) {
    return usage_error(
        fmt::format("dtype is {}; allowed are those of neve_dtype, NEVE_F32 to NEVE_U64", step.dtype));
  }
  if (step.ndim < 0 || step.ndim > NEVE_MAX_DIMS) {
    return usage_error(fmt::format("ndim is {}; 0 to {} are allowed", step.ndim, NEVE_MAX_DIMS));
  }
  if (step.ndim > 0 && step.shape == nullptr)
    return usage_error(fmt::format("shape is NULL for {} dimensions", step.ndim));
  if (step.pieces > 0 && step.data == nullptr)
    return usage_error(fmt::format("data is NULL for {} pieces", step.pieces));
  const std::span<const uint64_t> sizes = step.sizes();
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return {};
  for (size_t i = 0; i < step.pieces; ++i) {
    if (step.data[i] == nullptr)
      return usage_error(fmt::format("data[{}] is NULL for a piece with values", i));
  }
  return {};
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// All of them, or none.
Status hand_over(const std::vector<std::vector<std::byte>>& made, void** frames, size_t* frame_bytes) {
  std::vector<std::unique_ptr<void, Free>> copies;
  for (const std::vector<std::byte>& frame : made) {
    copies.emplace_back(std::malloc(frame.size()));
    if (!copies.back()) return neve::failure(fmt::format("no memory for a frame of {} bytes", frame.size()));
    std::memcpy(copies.back().get(), frame.data(), frame.size());
  }
  for (size_t i = 0; i < made.size(); ++i) {
    frames[i] = copies[i].release();
    frame_bytes[i] = made[i].size();
  }
  return {};
}

Status encode(neve_series* series, const Step& step, void** frames, size_t* frame_bytes) {
  if (series == nullptr) return usage_error("series is NULL");
  if (step.pieces > 0 && (frames == nullptr || frame_bytes == nullptr))
    return usage_error("frames or frame_bytes is NULL");
  NEVE_TRY(check_step(step));
  series->read_log.reset();
  const auto dtype = static_cast<neve::DType>(step.dtype);
  NEVE_ASSIGN(const auto made, neve::encode_step(
                                   dtype, step.sizes(), step.pieces, [&](size_t i) { return step.data[i]; },
                                   neve::options_for(dtype, series->options), series->memory, step.variable));
  return hand_over(made, frames, frame_bytes);
}

Status count_choices(const neve_series* series, uint64_t* choices, uint64_t* dropped) {
  if (series == nullptr || choices == nullptr)
    return usage_error(series == nullptr ? "series is NULL" : "choices is NULL");
  *choices = series->log().size();
  if (dropped != nullptr) *dropped = series->memory.choices_dropped();
  return {};
}

// A step of one value throughout is coded by codec constant, whatever is kept for the next one.
const char* why_of(const neve::Choice& choice) {
  const bool is_nothing_to_choose =
      choice.reason == neve::ChoiceReason::none && choice.selection.codec == neve::Codec::constant;
  return is_nothing_to_choose ? "there was nothing to choose: one value throughout, or none"
                              : neve::choice_reason_words(choice.reason).data();
}

Status tell_choice(const neve_series* series, uint64_t number, neve_choice* out) {
  if (series == nullptr || out == nullptr)
    return usage_error(series == nullptr ? "series is NULL" : "choice is NULL");
  const std::vector<neve::Choice>& log = series->log();
  if (number >= log.size())
    return usage_error(fmt::format("choice {} asked for; the log has {}", number, log.size()));
  const neve::Choice& of = log[static_cast<size_t>(number)];
  const std::string_view rival = neve::selection_name(of.rival);
  neve_choice told{};
  told.variable = of.variable.c_str();
  told.step = of.step;
  told.method = neve::selection_name(of.selection).data();
  told.reason = neve::choice_reason_name(of.reason).data();
  told.why = why_of(of);
  told.performance = of.performance;
  told.estimate = of.estimate;
  told.rival = rival.empty() ? nullptr : rival.data();
  told.rival_estimate = of.rival_estimate;
  told.raw_bytes = of.raw_bytes;
  told.coded_bytes = of.coded_bytes;
  told.choosing_ns = of.choosing_ns;
  told.coding_ns = of.coding_ns;
  return neve::capi::fill_struct("neve_choice", "series.h", told, out);
}

}  // namespace

int neve_series_create(const char* options, neve_series** series) {
  return reported([&] { return create(options, series); });
}

void neve_series_free(neve_series* series) { delete series; }

int neve_series_step(neve_series* series, const char* variable, int dtype, int ndim, const uint64_t* shape,
                     size_t pieces, const void* const* data, void** frames, size_t* frame_bytes) {
  return reported([&] {
    return encode(series, {variable, dtype, ndim, shape, pieces, data}, frames, frame_bytes);
  });
}

int neve_series_choices(const neve_series* series, uint64_t* choices, uint64_t* dropped) {
  return reported([&] { return count_choices(series, choices, dropped); });
}

int neve_series_choice(const neve_series* series, uint64_t number, neve_choice* choice) {
  return reported([&] { return tell_choice(series, number, choice); });
}
