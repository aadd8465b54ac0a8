// SPDX-License-Identifier: BSD-3-Clause
#include "rtl/model/engine_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/bits/bytes.hpp"
#include "core/stream/block_writer.hpp"
#include "core/threads/float_environment.hpp"
#include "rtl/model/settings.hpp"

namespace neve::rtl {

namespace {

using stream::Codebook;
using stream::SymbolCounts;

constexpr uint32_t min_line = 8;
constexpr uint32_t max_lines = 1U << 16;
constexpr uint32_t max_rungs = 64;
constexpr uint32_t min_build_rounds = 4;
constexpr uint32_t offer_after_rounds = 3;
constexpr uint32_t header_page = 0x80;
constexpr uint32_t ladder_page = 0x200;
constexpr uint32_t not_open = UINT32_MAX;
constexpr double fixed_point = 65536;

// Directions of prediction: sizes of 1 dropped, the slowest merged, lines that are too short given up.
void set_directions(const EngineBuild& build, const EngineOptions& o, stream::Header& header) {
  std::vector<uint64_t> sides;  // fastest first
  for (size_t d = o.shape.size(); d-- > 0;) {
    if (o.shape[d] > 1) sides.push_back(o.shape[d]);
  }
  header.dims = std::clamp<int>(static_cast<int>(sides.size()), 1, static_cast<int>(build.dims));
  if (header.dims >= 2 && sides[0] < min_line) header.dims = 1;
  header.line = header.dims >= 2 ? static_cast<uint32_t>(sides[0]) : 0;
  header.lines_per_plane = header.dims == 3 ? static_cast<uint32_t>(sides[1]) : 0;
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
  return {};
}

// The plane that blocks look back to; 0 where none looks so far.
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

// A rung's quantizer.
Quantizer<float> rung_quantizer(const EngineOptions& o, uint32_t rung) {
  const double bound = o.bounds[rung];
  const double step = stream::stream_step<float>(bound, o.range);
  return stream::stream_quantizer<float>(bound, step, o.fill);
}

// Sigma of the frequencies, 16.16, rounded down twice (rtl/relative_deviation.sv): the root has 8 more bits.
uint32_t fixed_sigma(const SymbolCounts& counts) {
  uint64_t total = 0;
  uint64_t squares = 0;
  for (const uint32_t c : counts) {
    total += c;
    squares += uint64_t{c} * c;
  }
  if (total == 0) return 0;
  const uint64_t radicand = squares * wide_symbol_count - total * total;
  // Two bits of the radicand for one of the root; eight times two zeros behind it.
  uint64_t root = 0;
  uint64_t rest = 0;
  for (int pair = 32 + 8; pair-- > 0;) {
    rest = rest << 2 | (pair >= 8 ? radicand >> (2 * (pair - 8)) & 3U : 0);
    root <<= 1;
    if (rest >= 2 * root + 1) {
      rest -= 2 * root + 1;
      root += 1;
    }
  }
  return static_cast<uint32_t>((root << 8) / total);
}

// Codebooks as the engine has them: what codebook_choice.sv decides, from counts of the round alone.
class RoundCodebooks {
 public:
  explicit RoundCodebooks(const EngineOptions& o)
      : rule_(o.rule),
        chi_keep_(static_cast<uint32_t>(o.chi_keep * fixed_point)),
        chi_offline_(static_cast<uint32_t>(o.chi_offline * fixed_point)),
        build_rounds_(o.build_rounds),
        table_shift_(o.table_shift) {}

  // The round's codebook comes into force. Returns the bits that its codes count.
  uint32_t choose(const SymbolCounts& counts, EngineRound& round) {
    group(counts);
    const Costs costs = costs_of(counts);
    const Choice choice = decide(costs, chi_of(counts));
    round.codebook = choice.codebook;
    round.why = choice.why;
    round.offline_codebook = choice.codebook == CodebookKind::offline ? costs.offline_codebook : 0;
    switch (choice.codebook) {
      case CodebookKind::kept:
        return costs.kept;
      case CodebookKind::rebuilt:
        in_force_ = offered_;
        return costs.rebuilt;
      case CodebookKind::offline:
        break;
    }
    in_force_ = stream::offline_codebooks()[round.offline_codebook];
    return costs.offline;
  }

  const Codebook& in_force() const { return *in_force_; }

 private:
  // Bits of the round's codes by each codebook; not_open where there is no such codebook.
  struct Costs {
    uint32_t kept = not_open;
    uint32_t rebuilt = not_open;
    uint32_t offline = not_open;
    uint8_t offline_codebook = 0;
  };
  struct Choice {
    CodebookKind codebook = CodebookKind::offline;
    std::string_view why;
  };

  // Counts of rounds become a codebook, which is on offer some rounds later.
  void group(const SymbolCounts& counts) {
    for (size_t s = 0; s < counts.size(); ++s) group_[s] += counts[s];
    if (++group_rounds_ == build_rounds_) {
      // What did not occur counts once: the codebook serves rounds to come.
      SymbolCounts built = group_;
      for (uint32_t& c : built) c = std::max(c, 1U);
      next_ = stream::make_codebook(built);
      age_ = 0;
      group_.fill(0);
      group_rounds_ = 0;
      offered_.reset();
    } else if (next_ && age_ < offer_after_rounds) {
      ++age_;
    }
    if (next_ && age_ == offer_after_rounds) offered_ = next_;
  }

  bool may_rebuild() const { return offered_ && rule_ != CodebookRule::never; }

  Costs costs_of(const SymbolCounts& counts) const {
    Costs costs;
    for (size_t b = 0; b < stream::offline_codebooks().size(); ++b) {
      const auto bits = static_cast<uint32_t>(stream::coded_bits(stream::offline_codebooks()[b], counts));
      if (bits < costs.offline) {
        costs.offline = bits;
        costs.offline_codebook = static_cast<uint8_t>(b);
      }
    }
    const uint64_t kept = in_force_ ? stream::coded_bits(*in_force_, counts) : UINT64_MAX;
    costs.kept = static_cast<uint32_t>(std::min<uint64_t>(kept, not_open));
    if (may_rebuild()) {
      const auto table = static_cast<uint32_t>(stream::codebook_bytes(*offered_) >> table_shift_);
      costs.rebuilt = static_cast<uint32_t>(stream::coded_bits(*offered_, counts)) + 8 * table;
    }
    return costs;
  }

  // How far the frequencies are from those of the round before.
  uint32_t chi_of(const SymbolCounts& counts) {
    const uint32_t sigma = fixed_sigma(counts);
    const uint32_t chi = sigma > last_sigma_ ? sigma - last_sigma_ : last_sigma_ - sigma;
    last_sigma_ = sigma;
    return chi;
  }

  Choice decide(const Costs& costs, uint32_t chi) const {
    switch (rule_) {
      case CodebookRule::always:
        return own_or_offline("always", "always, none on offer");
      case CodebookRule::never:
        return in_force_ ? Choice{CodebookKind::kept, "never"}
                         : Choice{CodebookKind::offline, "never, first"};
      case CodebookRule::chi:
        return by_chi(costs, chi);
      case CodebookRule::exact_cost:
        break;
    }
    return by_cost(costs);
  }
  Choice own_or_offline(std::string_view own, std::string_view none_on_offer) const {
    return may_rebuild() ? Choice{CodebookKind::rebuilt, own} : Choice{CodebookKind::offline, none_on_offer};
  }
  Choice by_chi(const Costs& costs, uint32_t chi) const {
    if (!in_force_) return {CodebookKind::offline, "chi, first"};
    if (chi > chi_offline_) return {CodebookKind::offline, "chi, large change"};
    if (chi <= chi_keep_ && costs.kept != not_open) return {CodebookKind::kept, "chi, small change"};
    return own_or_offline("chi, change", "chi, change, none on offer");
  }
  static Choice by_cost(const Costs& costs) {
    if (costs.kept != not_open && costs.kept <= std::min(costs.rebuilt, costs.offline)) {
      return {CodebookKind::kept, "cost, kept"};
    }
    if (costs.offline <= costs.rebuilt) return {CodebookKind::offline, "cost, offline"};
    return {CodebookKind::rebuilt, "cost, rebuilt"};
  }

  CodebookRule rule_;
  uint32_t chi_keep_;
  uint32_t chi_offline_;
  uint32_t build_rounds_;
  uint32_t table_shift_;
  SymbolCounts group_{};
  uint32_t group_rounds_ = 0;
  std::optional<Codebook> next_;  // built, on offer after some rounds
  std::optional<Codebook> offered_;
  uint32_t age_ = 0;
  std::optional<Codebook> in_force_;
  uint32_t last_sigma_ = 0;
};

// rtl/ratio_control.sv.
class RatioControl {
 public:
  RatioControl(uint32_t target, uint32_t shift, uint32_t rungs, uint32_t first)
      : target_(target), shift_(shift), last_rung_(static_cast<int64_t>(rungs) - 1), rung_(first) {}

  uint32_t next_rung() {
    const size_t round = asked_++;
    if (round < 2) return static_cast<uint32_t>(rung_);
    const int64_t miss = int64_t{bits_[round - 2]} - target_;
    missed_ += miss;
    const int64_t half = shift_ == 0 ? 0 : int64_t{1} << (shift_ - 1);
    const int64_t moves =
        std::clamp<int64_t>((miss + (missed_ >> 2) + half) >> shift_, -max_moves, max_moves);
    if (round - 2 >= rung_since_ && rung_ + moves != rung_) {
      rung_since_ = round;
      rung_ = std::clamp<int64_t>(rung_ + moves, 0, last_rung_);
    }
    return static_cast<uint32_t>(rung_);
  }
  void measured(uint32_t bits) { bits_.push_back(bits); }

 private:
  static constexpr int64_t max_moves = 32;
  int64_t target_;
  uint32_t shift_;
  int64_t last_rung_;
  int64_t rung_;
  int64_t missed_ = 0;
  size_t asked_ = 0;
  size_t rung_since_ = 0;
  std::vector<uint32_t> bits_;
};

// Bits of a round that the ratio leaves, and its values' logarithm for the loop.
struct RatioSettings {
  uint32_t target = 0;
  uint32_t shift = 0;
};
RatioSettings ratio_settings(const EngineBuild& build, const EngineOptions& o) {
  const double values = static_cast<double>(build.lanes) * o.block_values;
  const double bits = 32 * values / o.ratio.value_or(1) - 8.0 * stream::block_header_bytes * build.lanes;
  RatioSettings s;
  s.target = static_cast<uint32_t>(std::max(1.0, bits));
  // Eight rungs to a bit of every value.
  s.shift = static_cast<uint32_t>(std::max(0.0, std::round(std::log2(values / 8))));
  return s;
}

Status put_registers(const EngineBuild& build, const EngineOptions& o, const stream::Header& h,
                     uint64_t values, const Bytes& header, EngineModel& model) {
  std::vector<RegisterWrite>& r = model.registers;
  NEVE_ASSIGN(const uint32_t plane, plane_values(build, o, h, values));
  const uint64_t lines = h.dims == 1 ? 0 : o.block_values / h.line;
  const auto has_fill = static_cast<uint32_t>(o.fill.has_value());
  r.push_back({0x01, static_cast<uint32_t>(h.dims) | static_cast<uint32_t>(o.rule) << 4 | has_fill << 8 |
                         static_cast<uint32_t>(o.restarts) << 9 |
                         static_cast<uint32_t>(o.ratio.has_value()) << 10 | o.table_shift << 12});
  r.push_back({0x02, h.dims == 1 ? 0xffff : h.line - 1});
  r.push_back({0x03, h.dims == 3 ? h.lines_per_plane - 1 : 0xffff});
  r.push_back({0x04, plane});
  r.push_back({0x05, h.dims == 1 ? 0 : o.block_values % h.line});
  r.push_back({0x06, h.dims == 3 ? static_cast<uint32_t>(lines % h.lines_per_plane) : 0});
  r.push_back({0x07, o.block_values});
  r.push_back({0x08, static_cast<uint32_t>(values)});
  r.push_back({0x09, static_cast<uint32_t>(values >> 32)});
  r.push_back({0x0a, std::bit_cast<uint32_t>(static_cast<float>(o.fill.value_or(0)))});
  r.push_back({0x0b, static_cast<uint32_t>(header.size() / 4)});
  r.push_back({0x0c, static_cast<uint32_t>(o.chi_keep * fixed_point)});
  r.push_back({0x0d, static_cast<uint32_t>(o.chi_offline * fixed_point)});
  r.push_back({0x0e, o.build_rounds});
  const RatioSettings ratio = ratio_settings(build, o);
  r.push_back({0x0f, ratio.target});
  r.push_back({0x10, ratio.shift << 16 | static_cast<uint32_t>(o.bounds.size() - 1) << 8 | o.first_rung});
  for (size_t at = 0; at < header.size(); at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, header.data() + at, 4);
    r.push_back({static_cast<uint32_t>(header_page + at / 4), word});
  }
  for (uint32_t rung = 0; rung < o.bounds.size(); ++rung) {
    const Quantizer<float> q = rung_quantizer(o, rung);
    if (const auto made = quantizer_settings(q); !made.ok()) return made.status();
    const auto bound = std::bit_cast<uint64_t>(o.bounds[rung]);
    const std::array<uint32_t, 5> words{std::bit_cast<uint32_t>(q.step),
                                        std::bit_cast<uint32_t>(q.inverse_step),
                                        std::bit_cast<uint32_t>(q.tolerance), static_cast<uint32_t>(bound),
                                        static_cast<uint32_t>(bound >> 32)};
    for (uint32_t w = 0; w < words.size(); ++w) r.push_back({ladder_page + 8 * rung + w, words[w]});
  }
  return {};
}

}  // namespace

std::vector<double> bound_ladder(double least, uint32_t rungs) {
  std::vector<double> bounds;
  for (uint32_t i = 0; i < rungs; ++i) bounds.push_back(least * std::exp2(static_cast<double>(i) / 8));
  return bounds;
}

Result<EngineModel> model_engine(const EngineBuild& build, const EngineOptions& o,
                                 std::span<const float> values) {
  const FloatEnvironment environment;
  stream::Header header;
  header.dtype = DType::f32;
  header.block_values = o.block_values;
  header.asked =
      o.ratio ? Bound{BoundMode::ratio, *o.ratio} : Bound{BoundMode::abs, o.bounds.empty() ? 0 : o.bounds[0]};
  header.fill = o.fill;
  header.shape = o.shape;
  set_directions(build, o, header);
  NEVE_TRY(check(build, o, header, values.size()));

  EngineModel model;
  stream::write_header(header, model.stream);
  NEVE_TRY(put_registers(build, o, header, values.size(), model.stream, model));

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
      const bool is_last = begin + round.values == values.size() && b + 1 == chunk.blocks().size();
      const stream::BlockCodebook codebook{b == 0 ? round.codebook : CodebookKind::kept,
                                           round.offline_codebook, &codebooks.in_force(), &codes};
      stream::append_block(chunk, chunk.blocks()[b], codebook,
                           {o.bounds[round.rung], static_cast<double>(quantizer.step)}, false, is_last,
                           scratch, model.stream);
    }
    model.rounds.push_back(round);
    chunk.clear();
  }
  return model;
}

}  // namespace neve::rtl
