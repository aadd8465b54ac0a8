// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/engine_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/bits/bytes.hpp"
#include "core/engine/quantizer_settings.hpp"
#include "core/engine/ratio_control.hpp"
#include "core/engine/round_codebooks.hpp"
#include "core/math/portable_math.hpp"
#include "core/stream/block_writer.hpp"
#include "core/threads/float_environment.hpp"

namespace neve::engine {

namespace {

constexpr uint32_t min_line = 8;
constexpr uint32_t max_lines = 1U << 16;
constexpr uint32_t min_build_rounds = 4;

// Directions of prediction: sizes of 1 dropped, the slowest merged, lines that are too short given up.
void set_directions(const EngineBuild& build, const EngineOptions& o, stream::Header& header) {
  std::vector<uint64_t> sides;  // fastest first
  for (size_t d = o.shape.size(); d-- > 0;) {
    if (o.shape[d] > 1) sides.push_back(o.shape[d]);
  }
  header.dims = std::clamp<int>(static_cast<int>(sides.size()), 1, static_cast<int>(build.dims));
  if (header.dims >= 2 && sides[0] < min_line) header.dims = 1;
  // (What is too long for an engine is refused.)
  const auto word = [](uint64_t n) { return static_cast<uint32_t>(std::min<uint64_t>(n, UINT32_MAX)); };
  header.line = header.dims >= 2 ? word(sides[0]) : 0;
  header.lines_per_plane = header.dims == 3 ? word(sides[1]) : 0;
}

Status check(const EngineBuild& build, const EngineOptions& o, const stream::Header& h, uint64_t values) {
  if (values == 0) return usage_error("engine: a stream without values");
  if (h.value_total() != values) {
    return usage_error(
        fmt::format("engine: {} values for a shape of {}", values, h.value_total().value_or(0)));
  }
  if (o.block_values < min_stream_block_values || o.block_values > 1U << build.block_bits) {
    return usage_error(fmt::format("engine: blocks of {} values, allowed {}..{}", o.block_values,
                                   min_stream_block_values, 1U << build.block_bits));
  }
  if (h.dims >= 2 && h.line > 1U << build.line_bits) {
    return usage_error(
        fmt::format("engine: lines of {} values, built for {}", h.line, 1U << build.line_bits));
  }
  if (h.dims == 3 && h.lines_per_plane > max_lines) {
    return usage_error(fmt::format("engine: planes of {} lines, at most {}", h.lines_per_plane, max_lines));
  }
  if (!o.restarts && build.lanes > 1) {
    return usage_error(fmt::format("engine: prediction across blocks with {} lanes, needs one", build.lanes));
  }
  if (o.bounds.empty() || o.bounds.size() > max_rungs || o.first_rung >= o.bounds.size()) {
    return usage_error(fmt::format("engine: {} bounds, the first of them number {}; allowed 1..{}",
                                   o.bounds.size(), o.first_rung, max_rungs));
  }
  const uint64_t counted = uint64_t{o.build_rounds} * build.lanes * o.block_values;
  if (o.build_rounds < min_build_rounds || counted >= 1U << 24) {
    return usage_error(
        fmt::format("engine: codebooks of {} rounds, allowed {} and more, of fewer than 2^24 values",
                    o.build_rounds, min_build_rounds));
  }
  if (o.table_shift > 7) return usage_error(fmt::format("engine: table shift {}, at most 7", o.table_shift));
  for (uint32_t rung = 0; rung < o.bounds.size(); ++rung) {
    if (const auto made = quantizer_settings(rung_quantizer(o, rung)); !made.ok()) return made.status();
  }
  return plane_values(build, o, h, values).status();
}

}  // namespace

stream::Header header_of(const EngineBuild& build, const EngineOptions& o) {
  stream::Header header;
  header.dtype = DType::f32;
  header.block_values = o.block_values;
  const Bound follows =
      o.ratio ? Bound{BoundMode::ratio, *o.ratio} : Bound{BoundMode::abs, o.bounds.empty() ? 0 : o.bounds[0]};
  header.asked = o.asked.value_or(follows);
  header.fill = o.fill;
  header.shape = o.shape;
  set_directions(build, o, header);
  return header;
}

Result<uint32_t> plane_values(const EngineBuild& build, const EngineOptions& o, const stream::Header& h,
                              uint64_t values) {
  if (h.dims < 3) return 0U;
  const uint64_t plane = uint64_t{h.line} * h.lines_per_plane;
  if (plane >= (o.restarts ? o.block_values : values)) return 0U;
  if (plane > uint64_t{1} << build.plane_bits) {
    return usage_error(
        fmt::format("engine: planes of {} values, built for {}", plane, uint64_t{1} << build.plane_bits));
  }
  return static_cast<uint32_t>(plane);
}

Quantizer<float> rung_quantizer(const EngineOptions& o, uint32_t rung) {
  const double bound = o.bounds[rung];
  const double step = stream::stream_step<float>(bound, o.range);
  return stream::stream_quantizer<float>(bound, step, o.fill);
}

std::vector<double> bound_ladder(double least, uint32_t rungs) {
  std::vector<double> bounds;
  for (uint32_t i = 0; i < rungs; ++i) bounds.push_back(least * math::exp2(static_cast<double>(i) / 8));
  return bounds;
}

Result<EngineStream> encode_engine_stream(const EngineBuild& build, const EngineOptions& o,
                                          std::span<const float> values) {
  const FloatEnvironment environment;
  const stream::Header header = header_of(build, o);
  NEVE_TRY(check(build, o, header, values.size()));
  EngineStream made;
  stream::write_header(header, made.bytes);
  const uint64_t round_values = uint64_t{build.lanes} * o.block_values;
  const RatioSettings ratio = ratio_settings(build, o);
  RatioControl control(ratio.target, ratio.shift, static_cast<uint32_t>(o.bounds.size()), o.first_rung);
  RoundCodebooks codebooks(o);
  stream::Chunk<float> chunk(header, round_values);
  chunk.restart_every(o.restarts ? 1 : 0);
  std::optional<uint32_t> rung;
  stream::CodeTable codes;
  stream::BlockScratch scratch;
  for (uint64_t begin = 0; begin < values.size(); begin += round_values) {
    EngineRound round;
    const uint64_t before = made.bytes.size();
    round.values = std::min<uint64_t>(round_values, values.size() - begin);
    round.rung = o.ratio ? control.next_rung() : o.first_rung;
    const Quantizer<float> quantizer = rung_quantizer(o, round.rung);
    if (rung != round.rung) chunk.restart(quantizer, true);
    rung = round.rung;
    chunk.add(values.data() + begin, round.values);
    chunk.settle();
    const uint32_t bits = codebooks.choose(chunk.counts(), round);
    control.measured(bits + static_cast<uint32_t>(8 * chunk.side_bytes()));
    stream::make_code_table(codebooks.in_force(), codes);
    for (size_t b = 0; b < chunk.blocks().size(); ++b) {
      round.max_abs_error = std::max<double>(round.max_abs_error, chunk.blocks()[b].max_error);
      const bool is_last = begin + round.values == values.size() && b + 1 == chunk.blocks().size();
      const stream::BlockCodebook codebook{b == 0 ? round.codebook : CodebookKind::kept,
                                           round.offline_codebook, &codebooks.in_force(), &codes};
      stream::append_block(chunk, chunk.blocks()[b], codebook,
                           {o.bounds[round.rung], static_cast<double>(quantizer.step)}, false, is_last,
                           scratch, made.bytes);
    }
    round.bound_abs = o.bounds[round.rung];
    round.stored_bytes = made.bytes.size() - before;
    made.rounds.push_back(round);
    chunk.clear();
  }
  return made;
}

}  // namespace neve::engine
