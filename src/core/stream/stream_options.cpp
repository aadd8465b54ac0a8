// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/stream_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/catalog/refusals.hpp"
#include "core/format/frame_header.hpp"
#include "core/status/guarded.hpp"
#include "core/stream/direction_choice.hpp"
#include "core/threads/float_environment.hpp"

namespace neve {

namespace {

using stream::Header;

constexpr std::array<std::string_view, 4> rule_names{"exact_cost", "chi", "always", "never"};
constexpr std::array<std::string_view, 3> kind_names{"kept", "rebuilt", "offline"};
constexpr std::array<std::string_view, 8> reason_names{
    "first", "fewest bytes", "small change", "change", "large change", "missing code", "rule", "raw blocks"};

template <class Number, size_t count>
std::string_view name_of(const std::array<std::string_view, count>& names, Number number) {
  const auto n = static_cast<size_t>(number);
  return n < count ? names[n] : "unknown";
}

// Sizes of 1 predict nothing and are dropped; of what is left the slowest are merged until there are three
// directions, or `most` of them. Those too long for a line of a lane become one direction.
void set_directions(std::span<const uint64_t> shape, int most, Header& header) {
  std::vector<uint64_t> sides;  // fastest first
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1) sides.push_back(shape[d]);
  }
  constexpr uint64_t longest = std::numeric_limits<uint32_t>::max();
  header.dims = std::clamp<int>(static_cast<int>(sides.size()), 1, most > 0 ? most : max_stream_dims);
  if (header.dims == 3 && sides[1] > longest) header.dims = 2;
  if (header.dims >= 2 && sides[0] > longest) header.dims = 1;
  header.line = header.dims >= 2 ? static_cast<uint32_t>(sides[0]) : 0;
  header.lines_per_plane = header.dims == 3 ? static_cast<uint32_t>(sides[1]) : 0;
}

Status check_bound_and_range(const StreamOptions& o) {
  if (o.bound.mode == BoundMode::lossless) {
    return usage_error("stream: bound lossless; allowed: abs=VALUE, rel=VALUE, ratio=VALUE, psnr=VALUE");
  }
  NEVE_TRY(check_bound(o.bound, BoundUse::array));
  if (!o.range.empty &&
      !(std::isfinite(o.range.min) && std::isfinite(o.range.max) && o.range.min <= o.range.max)) {
    return usage_error(
        fmt::format("stream: range {} to {}, must be finite and ascending", o.range.min, o.range.max));
  }
  const bool needs_range = o.bound.mode == BoundMode::rel || o.bound.mode == BoundMode::psnr;
  if (needs_range && o.range.empty) {
    return usage_error(
        fmt::format("stream: bound {} needs the range of the values to come", to_string(o.bound)));
  }
  return {};
}

Status check_extents(const StreamOptions& o) {
  if (o.shape.size() > max_array_rank) {
    return usage_error(fmt::format("stream: {} dimensions, at most {}", o.shape.size(), max_array_rank));
  }
  if (const std::string fault = stream::shape_fault(o.shape); !fault.empty())
    return usage_error(fmt::format("stream: {}", fault));
  if (o.dims < 0 || o.dims > max_stream_dims) {
    return out_of_range("stream: dims", o.dims, 0, max_stream_dims);
  }
  if (o.block_values < min_stream_block_values || o.block_values > max_stream_block_values) {
    return out_of_range("stream: block_values", o.block_values, min_stream_block_values,
                        max_stream_block_values);
  }
  if (o.chunk_bytes < min_stream_chunk_bytes || o.chunk_bytes > max_stream_chunk_bytes) {
    return out_of_range("stream: chunk_bytes", o.chunk_bytes, min_stream_chunk_bytes, max_stream_chunk_bytes);
  }
  if (o.tried_bytes < min_stream_chunk_bytes || o.tried_bytes > max_stream_chunk_bytes) {
    return out_of_range("stream: tried_bytes", o.tried_bytes, min_stream_chunk_bytes, max_stream_chunk_bytes);
  }
  return {};
}

Status check_codebook_options(const StreamOptions& o) {
  if (static_cast<size_t>(o.rule) >= rule_names.size()) {
    return usage_error(
        fmt::format("stream: codebook rule {} unknown; allowed: exact_cost, chi, always, never",
                    static_cast<int>(o.rule)));
  }
  if (o.offline_codebook < -1 || o.offline_codebook >= offline_codebook_count) {
    return usage_error(fmt::format("stream: offline codebook {}, allowed 0..{}, or -1: the best of them",
                                   o.offline_codebook, offline_codebook_count - 1));
  }
  if (!(o.chi_keep >= 0) || !(o.chi_offline >= o.chi_keep)) {
    return usage_error(fmt::format("stream: chi thresholds {} and {}, must be 0 or more and ascending",
                                   o.chi_keep, o.chi_offline));
  }
  return {};
}

}  // namespace

std::string_view codebook_rule_name(CodebookRule rule) { return name_of(rule_names, rule); }
std::string_view codebook_kind_name(CodebookKind kind) { return name_of(kind_names, kind); }
std::string_view codebook_reason_name(CodebookReason reason) { return name_of(reason_names, reason); }

Result<CodebookRule> parse_codebook_rule(std::string_view name) {
  for (size_t r = 0; r < rule_names.size(); ++r) {
    if (name == rule_names[r]) return static_cast<CodebookRule>(r);
  }
  return usage_error(
      fmt::format("codebook rule \"{}\" unknown; allowed: exact_cost, chi, always, never", name));
}

namespace stream {

Status check_options(const StreamOptions& o) {
  if (o.dtype != DType::f32 && o.dtype != DType::f64) {
    return usage_error(fmt::format("stream: values of {}, allowed are f32 and f64", dtype_name(o.dtype)));
  }
  NEVE_TRY(check_bound_and_range(o));
  NEVE_TRY(check_extents(o));
  return check_codebook_options(o);
}

Header header_of(const StreamOptions& options) {
  Header header;
  header.dtype = options.dtype;
  header.block_values = options.block_values;
  header.asked = options.bound;
  header.fill = options.fill;
  header.shape = options.shape;
  set_directions(options.shape, options.dims, header);
  return header;
}

ChunkReport raw_report(uint64_t values, uint64_t special_values, double bound_abs) {
  ChunkReport report;
  report.values = report.exact_values = report.raw_values = values;
  report.special_values = special_values;
  report.bound_abs = bound_abs;
  report.codebook = CodebookKind::kept;
  report.reason = CodebookReason::raw;
  return report;
}

}  // namespace stream

namespace {

template <class T>
int best_dims(const StreamOptions& options, const T* values) {
  const FloatEnvironment environment;
  // A ratio's bound is found later; the choice seldom hangs from it.
  const double bound = options.bound.mode == BoundMode::ratio ? 1e-3 * options.range.width()
                                                              : absolute_bound(options.bound, options.range);
  return stream::choose_dims(stream::header_of(options), values, bound, options.range, !options.for_engine);
}

}  // namespace

Result<int> best_stream_dims(const StreamOptions& options, const void* values) {
  return guarded("choosing a stream's directions", [&]() -> Result<int> {
    NEVE_TRY(stream::check_options(options));
    const uint64_t total = stream::product(options.shape);
    if (values == nullptr && total > 0) {
      return usage_error(fmt::format("stream: its {} values are null", total));
    }
    if (options.dtype == DType::f32) return best_dims(options, static_cast<const float*>(values));
    return best_dims(options, static_cast<const double*>(values));
  });
}

}  // namespace neve
