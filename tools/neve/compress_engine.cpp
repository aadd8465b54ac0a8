// SPDX-License-Identifier: BSD-3-Clause
// `neve compress --stream --engine`: what the driver of Neve's hardware engine asks of it, and the bytes that
// come out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/catalog/refusals.hpp"
#include "core/codecs/array_part.hpp"
#include "core/engine/engine_stream.hpp"
#include "core/select/asked_target.hpp"
#include "tools/common/console.hpp"
#include "tools/neve/compress_stream.hpp"

namespace neve::cli {
namespace {

using engine::EngineBuild;
using engine::EngineOptions;
using engine::EngineRound;

// The engine that the command stands for: parameters of rtl/engine.sv.
EngineBuild build_of(const StreamArgs& args) {
  return {.lanes = args.lanes,
          .block_bits = 12,
          .dims = static_cast<uint32_t>(args.dims == 0 ? max_stream_dims : args.dims),
          .line_bits = 12,
          .plane_bits = 16};
}

// A ladder of bounds around one that is usual, which the engine climbs until the ratio is met.
void set_ladder(double ratio, const ValueRange& range, EngineOptions& options) {
  constexpr double usual_share = 1e-3;
  constexpr uint32_t rungs_of_octave = 8;
  const double largest = std::max(std::abs(range.min), std::abs(range.max));
  const double width = range.width() > 0 ? range.width() : std::max(largest, 1e-30);
  const uint32_t first = engine::max_rungs / 2;
  options.bounds = engine::bound_ladder(
      std::ldexp(usual_share * width, -static_cast<int>(first / rungs_of_octave)), engine::max_rungs);
  options.first_rung = first;
  options.ratio = ratio;
}

Status set_bound(const Bound& bound, EngineOptions& options) {
  if (bound.mode == BoundMode::ratio) {
    set_ladder(bound.value, options.range, options);
    return {};
  }
  if (bound.mode != BoundMode::abs && bound.mode != BoundMode::rel) {
    return usage_error(
        fmt::format("--engine: bound {}; allowed: abs=VALUE, rel=VALUE, ratio=VALUE", to_string(bound)));
  }
  options.bounds = {absolute_bound(bound, options.range)};
  return {};
}

Result<EngineOptions> engine_options(const plotfile::NpyArray& array, const ArrayOptions& common,
                                     const StreamArgs& args) {
  NEVE_TRY(check_bound(common.bound, BoundUse::array));
  EngineOptions options;
  options.shape = array.shape;
  options.block_values = args.block.value_or(options.block_values);
  if (args.restart.value_or(1) > 1) return out_of_range("--engine: --restart", *args.restart, 0, 1);
  options.restarts = args.restart.value_or(1) == 1;
  NEVE_ASSIGN(options.rule, parse_codebook_rule(args.rule));
  options.chi_keep = args.chi[0];
  options.chi_offline = args.chi[1];
  FrameBox box;
  box.size[0] = static_cast<int64_t>(array.values.size() / sizeof(float));
  if (box.size[0] > 0) {
    NEVE_ASSIGN(const ArrayMeasure found, measure_array(array.dtype, box, array.values.data(), common));
    options.range = found.range;
    options.fill = found.fill;
  }
  options.asked = common.bound;
  NEVE_TRY(set_bound(common.bound, options));
  return options;
}

nlohmann::ordered_json round_json(const EngineRound& round) {
  const bool is_offline = round.codebook == CodebookKind::offline;
  return {{"values", round.values},
          {"stored_bytes", round.stored_bytes},
          {"bound_abs", round.bound_abs},
          {"max_abs_error", round.max_abs_error},
          {"codebook", codebook_kind_name(round.codebook)},
          {"offline_codebook",
           is_offline ? nlohmann::ordered_json(round.offline_codebook) : nlohmann::ordered_json()},
          {"why", round.why}};
}

std::string rounds_text(const std::vector<EngineRound>& rounds, uint32_t lanes) {
  std::map<CodebookKind, size_t> of_kind;
  for (const EngineRound& round : rounds) ++of_kind[round.codebook];
  std::string text = fmt::format("{} round{} of {} lane{}: codebooks", rounds.size(),
                                 rounds.size() == 1 ? "" : "s", lanes, lanes == 1 ? "" : "s");
  const char* between = " ";
  for (const auto& [kind, count] : of_kind) {
    text += fmt::format("{}{} {}", between, codebook_kind_name(kind), count);
    between = ", ";
  }
  return text + "\n";
}

Status check_ratio(const Bound& bound, size_t raw_bytes, size_t stored_bytes) {
  if (bound.mode != BoundMode::ratio || bound.best_effort) return {};
  const double reached = static_cast<double>(raw_bytes) / static_cast<double>(stored_bytes);
  if (is_ratio_met(bound, reached)) return {};
  return usage_error(
      fmt::format("--engine: bound {}: the engine's loop reached {:.5g}; ask for less, for more values, or "
                  "for best effort",
                  to_string(bound), reached));
}

}  // namespace

Result<StreamOutcome> encode_as_engine(const plotfile::NpyArray& array, const ArrayOptions& common,
                                       const StreamArgs& args) {
  if (array.dtype != DType::f32) {
    return usage_error(fmt::format("--engine: the values are {}; allowed is f32", dtype_name(array.dtype)));
  }
  NEVE_ASSIGN(const EngineOptions options, engine_options(array, common, args));
  const std::span<const float> values(reinterpret_cast<const float*>(array.values.data()),
                                      array.values.size() / sizeof(float));
  NEVE_ASSIGN(engine::EngineStream made, engine::encode_engine_stream(build_of(args), options, values));
  NEVE_TRY(check_ratio(common.bound, array.values.size(), made.bytes.size()));
  StreamOutcome outcome;
  outcome.parts_name = "rounds";
  outcome.parts = nlohmann::ordered_json::array();
  for (const EngineRound& round : made.rounds) {
    outcome.bound_abs = std::max(outcome.bound_abs, round.bound_abs);
    outcome.max_abs_error = std::max(outcome.max_abs_error, round.max_abs_error);
    outcome.parts.push_back(round_json(round));
  }
  outcome.parts_text = rounds_text(made.rounds, args.lanes);
  outcome.bytes = std::move(made.bytes);
  return outcome;
}

}  // namespace neve::cli
