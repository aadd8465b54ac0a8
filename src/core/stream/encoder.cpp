// SPDX-License-Identifier: BSD-3-Clause
// Values into blocks (CEAZ, section 3): a chunk is quantized, predicted and counted as values come; when it
// is full its codebook is chosen and its blocks leave.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/catalog/refusals.hpp"
#include "core/format/frame_header.hpp"
#include "core/math/portable_math.hpp"
#include "core/select/asked_target.hpp"
#include "core/status/guarded.hpp"
#include "core/stream/block_writer.hpp"
#include "core/stream/chunk.hpp"
#include "core/stream/codebook_choice.hpp"
#include "core/stream/direction_choice.hpp"
#include "core/threads/float_environment.hpp"
#include "neve/stream.hpp"

namespace neve {

namespace {

using stream::BlockHeader;
using stream::Chunk;
using stream::Codebook;
using stream::CodebookChoice;
using stream::Codebooks;
using stream::Header;

constexpr std::array<std::string_view, 4> rule_names{"exact_cost", "chi", "always", "never"};
constexpr std::array<std::string_view, 3> kind_names{"kept", "rebuilt", "offline"};
constexpr std::array<std::string_view, 7> reason_names{
    "first", "fewest bytes", "small change", "change", "large change", "missing code", "rule"};

template <class Number, size_t count>
std::string_view name_of(const std::array<std::string_view, count>& names, Number number) {
  const auto n = static_cast<size_t>(number);
  return n < count ? names[n] : "unknown";
}

// Under a ratio or a PSNR the chunk's values are kept, and tried under several bounds.
constexpr uint64_t tried_chunk_bytes = uint64_t{4} << 20;

constexpr double psnr_above_db = 0.5;
constexpr int max_tries = 20;
// Bounds that are so close are as good as the same; those of a ratio that it is met under are so, too.
constexpr double same_octaves = 0.04, near_octaves = 0.2;

// A code takes a bit at least.
constexpr double max_ratio_per_value_bit = 0.9;

uint64_t product(std::span<const uint64_t> sizes) {
  uint64_t total = 1;
  for (const uint64_t size : sizes) total *= size;
  return total;
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
  const double max_ratio = max_ratio_per_value_bit * 8 * static_cast<double>(dtype_bytes(o.dtype));
  if (o.bound.mode == BoundMode::ratio && o.bound.value > max_ratio && !o.bound.best_effort) {
    return usage_error(fmt::format("stream: ratio {} of {}, at most {}: a code takes a bit at least",
                                   o.bound.value, dtype_name(o.dtype), max_ratio));
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

Status check_options(const StreamOptions& o) {
  if (o.dtype != DType::f32 && o.dtype != DType::f64) {
    return usage_error(fmt::format("stream: values of {}, allowed are f32 and f64", dtype_name(o.dtype)));
  }
  NEVE_TRY(check_bound_and_range(o));
  NEVE_TRY(check_extents(o));
  return check_codebook_options(o);
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

struct StreamEncoder::State {
  virtual ~State() = default;
  virtual Status push(const void* values, uint64_t count) = 0;
  virtual void flush() = 0;
  virtual Status finish() = 0;
  virtual void reset() = 0;

  Bytes output;
  std::vector<ChunkReport> reports;
  Status broken;  // why nothing more can be pushed, until the next reset
};

namespace {

template <class T>
class Encoder final : public StreamEncoder::State {
 public:
  Encoder(const StreamOptions& options, Header header)
      : options_(options),
        header_(std::move(header)),
        total_(header_.value_total()),
        is_tried_(options.bound.mode == BoundMode::ratio || options.bound.mode == BoundMode::psnr),
        chunk_values_(chunk_values(options, total_, is_tried_)),
        chunk_(header_, chunk_values_),
        codebooks_(options.rule, options.chi_keep, options.chi_offline, options.offline_codebook) {
    stream::write_header(header_, header_bytes_);
    chunk_.restart_every(options.restart_blocks);
    if (options.bound.mode == BoundMode::psnr) chunk_.measure_squares(options.range.width());
    reset();
  }

  void reset() override {
    output.assign(header_bytes_.begin(), header_bytes_.end());
    reports.clear();
    codebooks_.reset();
    chunk_.reset();
    pending_.clear();
    pushed_ = 0;
    stored_bytes_ = 0;
    raw_bytes_ = 0;
    is_finished_ = false;
    has_step_ = false;
    if (!is_tried_) set_bound(absolute_bound(options_.bound, options_.range), options_.range);
  }

  Status push(const void* values, uint64_t count) override {
    if (is_finished_) return usage_error("stream: values after its end");
    if (values == nullptr && count > 0) {
      return usage_error(fmt::format("stream: its next {} values are null", count));
    }
    if (count > max_elements - pushed_) {
      return usage_error(fmt::format("stream: {} values after {}; at most {}", count, pushed_, max_elements));
    }
    if (total_ && count > *total_ - pushed_) {
      return usage_error(fmt::format("stream: {} values after {} of {}", count, pushed_, *total_));
    }
    const FloatEnvironment environment;
    pushed_ += count;
    const T* next = static_cast<const T*>(values);
    while (count > 0) {
      const uint64_t held = is_tried_ ? pending_.size() : chunk_.values();
      const uint64_t n = std::min(count, chunk_values_ - held);
      if (is_tried_) {
        pending_.insert(pending_.end(), next, next + n);
      } else {
        chunk_.add(next, n);
      }
      next += n;
      count -= n;
      // The last chunk waits for finish(), which marks its last block.
      const bool is_last = total_ && pushed_ == *total_ && count == 0;
      if (held + n == chunk_values_ && !is_last) close_chunk(false);
    }
    return {};
  }

  void flush() override {
    if ((is_tried_ ? pending_.size() : chunk_.values()) > 0) close_chunk(false);
  }

  Status finish() override {
    if (is_finished_) return usage_error("stream: finished twice");
    if (total_ && pushed_ != *total_) {
      return usage_error(fmt::format("stream: {} values of {} are missing", *total_ - pushed_, *total_));
    }
    const uint64_t inner = product(std::span(header_.shape).subspan(header_.shape.empty() ? 0 : 1));
    if (!total_ && pushed_ % inner != 0) {
      return usage_error(
          fmt::format("stream: {} values, no multiple of the {} of its faster directions", pushed_, inner));
    }
    const FloatEnvironment environment;
    close_chunk(true);
    is_finished_ = true;
    return check_ratio();
  }

 private:
  // What the whole stream has come to.
  Status check_ratio() const {
    if (options_.bound.mode != BoundMode::ratio || options_.bound.best_effort || raw_bytes_ == 0) return {};
    const double reached =
        static_cast<double>(raw_bytes_) / static_cast<double>(stored_bytes_ + header_bytes_.size());
    return is_ratio_met(options_.bound, reached) ? Status() : unreachable_ratio(options_.bound, reached);
  }

  static uint64_t chunk_values(const StreamOptions& options, std::optional<uint64_t> total, bool is_tried) {
    const uint64_t bytes = is_tried ? std::min(options.chunk_bytes, tried_chunk_bytes) : options.chunk_bytes;
    const uint64_t values = std::max<uint64_t>(1, bytes / sizeof(T));
    return total ? std::min(values, std::max<uint64_t>(1, *total)) : values;
  }

  void set_bound(double bound_abs, const ValueRange& range) {
    bound_abs_ = bound_abs;
    step_ = stream::stream_step<T>(bound_abs, range);
    chunk_.restart(stream::stream_quantizer<T>(bound_abs, step_, header_.fill), true);
    has_step_ = true;
  }

  void close_chunk(bool is_last) {
    if (is_tried_ && !pending_.empty()) try_bounds();
    if (!has_step_) set_bound(0, {});  // a stream without values
    chunk_.settle();
    const uint64_t before = output.size();
    ChunkReport report;
    report.values = chunk_.values();
    if (chunk_.values() > 0) {
      const CodebookChoice choice = codebooks_.choose(chunk_.counts());
      const stream::CodeTable& codes = codebooks_.take(choice);
      for (size_t b = 0; b < chunk_.blocks().size(); ++b) {
        const stream::BlockCodebook codebook{b == 0 ? choice.kind : CodebookKind::kept,
                                             choice.offline_codebook, &codebooks_.rebuilt(), &codes};
        stream::append_block(chunk_, chunk_.blocks()[b], codebook, {bound_abs_, step_},
                             is_last && b + 1 == chunk_.blocks().size(), codes_, output);
      }
      report.codebook = choice.kind;
      report.offline_codebook = choice.kind == CodebookKind::offline ? choice.offline_codebook : -1;
      report.reason = choice.reason;
      report.chi = choice.chi;
      report.kept_bits = choice.kept_bits;
      report.rebuilt_bits = choice.rebuilt_bits;
      report.offline_bits = choice.offline_bits;
    } else if (is_last) {
      // Everything has left already: an empty block says that this was all.
      BlockHeader last;
      last.is_last = true;
      output.resize(before + stream::block_header_bytes);
      stream::write_block_header(last, output.data() + before);
    }
    report.stored_bytes = output.size() - before;
    report.bound_abs = bound_abs_;
    report.max_abs_error = chunk_.max_error();
    report.exact_values = chunk_.exact_values();
    report.special_values = chunk_.special_values();
    stored_bytes_ += report.stored_bytes;
    raw_bytes_ += report.values * sizeof(T);
    if (report.values > 0) reports.push_back(report);
    chunk_.clear();
    pending_.clear();
  }

  // --- ratio and PSNR ----------------------------------------------------------------------------------

  double tried_bits() {
    chunk_.settle();
    uint64_t bytes = chunk_.side_bytes() + chunk_.blocks().size() * stream::block_header_bytes;
    return (static_cast<double>(codebooks_.choose(chunk_.counts()).bits) + 8 * static_cast<double>(bytes)) /
           static_cast<double>(chunk_.values());
  }

  ValueRange pending_range() const {
    FrameBox box;
    box.size[0] = static_cast<int64_t>(pending_.size());
    const auto range = scan_range(options_.dtype, box, dense_box_data(pending_.data(), box), 0, header_.fill);
    return range.ok() ? *range : ValueRange{};  // of the encoder's own values: never an error
  }

  void try_bounds() {
    const ValueRange range = pending_range();
    if (options_.bound.mode == BoundMode::ratio) {
      try_for_ratio(range);
    } else {
      try_for_psnr(range);
    }
  }

  void encode_pending(double bound_abs, const ValueRange& range) {
    chunk_.rewind();
    set_bound(bound_abs, range);
    chunk_.add(pending_.data(), pending_.size());
  }

  // The bits a value that are left for the chunk, to make up for what those before it missed.
  double due_bits() const {
    const auto n = static_cast<double>(pending_.size());
    const double asked_bits = 8.0 * sizeof(T) / options_.bound.value;
    const double due_bytes = (static_cast<double>(raw_bytes_) + n * sizeof(T)) / options_.bound.value -
                             static_cast<double>(stored_bytes_ + header_bytes_.size());
    // (The first one makes up for the stream's header.)
    const double least = raw_bytes_ == 0 ? 0.05 : 0.75;
    return std::clamp(8 * due_bytes / n, least * asked_bits, 1.3 * asked_bits);
  }

  // eb' = 2^(B - B target) eb (CEAZ, equation 2), corrected until it is the smallest bound that gets there.
  void try_for_ratio(const ValueRange& range) {
    const double target_bits = due_bits();
    const auto is_near = [&](double bits) {
      return std::abs(math::log(bits / target_bits)) <= math::log(1 + ratio_tolerance);
    };
    // The bound in force first: where it does, prediction goes on.
    if (has_step_) {
      chunk_.add(pending_.data(), pending_.size());
      if (is_near(tried_bits())) return;
    }
    const double width = range.width() > 0 ? range.width() : std::max(1e-30, std::abs(range.max));
    constexpr double rounding = 0.997;  // of blocks to whole bytes
    const SearchTarget target{target_bits * (1 + ratio_tolerance) * rounding, target_bits, 1};
    BoundSearch search = search_up_to(width, has_step_ && bound_abs_ > 0 ? bound_abs_ : 1e-3 * width, target);
    double met = 0, met_bits = 0;
    double most = width, most_bits = std::numeric_limits<double>::infinity();
    for (int i = 0; i < max_tries && !search.is_exhausted() && search.octaves() > same_octaves; ++i) {
      const double tried = search.bound();
      encode_pending(tried, range);
      const double bits = tried_bits();
      search.tell(bits);
      if (bits <= target.limit) met = tried, met_bits = bits;
      if (bits * (1 + ratio_tolerance) < most_bits) most = tried, most_bits = bits;
      if (met > 0 && is_near(met_bits) && search.octaves() <= near_octaves) break;
    }
    const double chosen = met > 0 ? met : most;
    if (chosen != bound_abs_) encode_pending(chosen, range);
  }

  void try_for_psnr(const ValueRange& range) {
    const double width = options_.range.width();
    const double safe = absolute_bound(options_.bound, options_.range);
    const auto chunk_psnr = [&] { return psnr_of(chunk_.squares(), chunk_.ordinary()); };
    const double target_db = options_.bound.value;
    const auto is_near = [&](double db) { return db >= target_db && db <= target_db + psnr_above_db; };
    if (has_step_) {
      chunk_.add(pending_.data(), pending_.size());
      if (is_near(chunk_psnr())) return;
    }
    if (width <= 0) return encode_pending(safe, range);
    BoundSearch search =
        search_up_to(width, std::sqrt(3.0) * safe, {target_db, target_db + psnr_above_db / 2, db_per_octave});
    double best = 0;
    for (int i = 0; i < max_tries && !search.is_exhausted() && search.octaves() > same_octaves; ++i) {
      const double tried = search.bound();
      encode_pending(tried, range);
      const double db = chunk_psnr();
      search.tell(db);
      if (db >= target_db) best = std::max(best, tried);
      if (is_near(db)) return;
    }
    const double chosen = best > 0 ? best : safe;
    if (chosen != bound_abs_) encode_pending(chosen, range);
  }

  StreamOptions options_;
  Header header_;
  Bytes header_bytes_;
  std::optional<uint64_t> total_;
  bool is_tried_;
  uint64_t chunk_values_;
  Chunk<T> chunk_;
  Codebooks codebooks_;
  RawVector<std::byte> codes_;
  std::vector<T> pending_;  // the chunk's values, under a ratio or a PSNR
  double bound_abs_ = 0;
  double step_ = 0;
  bool has_step_ = false;
  uint64_t pushed_ = 0;
  uint64_t stored_bytes_ = 0;
  uint64_t raw_bytes_ = 0;
  bool is_finished_ = false;
};

}  // namespace

StreamEncoder::StreamEncoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
StreamEncoder::StreamEncoder(StreamEncoder&&) noexcept = default;
StreamEncoder& StreamEncoder::operator=(StreamEncoder&&) noexcept = default;
StreamEncoder::~StreamEncoder() = default;

namespace {

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

template <class T>
int best_dims(const StreamOptions& options, const T* values) {
  const FloatEnvironment environment;
  // A ratio's bound is found later; the choice seldom hangs from it.
  const double bound = options.bound.mode == BoundMode::ratio ? 1e-3 * options.range.width()
                                                              : absolute_bound(options.bound, options.range);
  return stream::choose_dims(header_of(options), values, bound, options.range);
}

}  // namespace

Result<int> best_stream_dims(const StreamOptions& options, const void* values) {
  return guarded("choosing a stream's directions", [&]() -> Result<int> {
    NEVE_TRY(check_options(options));
    const uint64_t total = product(options.shape);
    if (values == nullptr && total > 0) {
      return usage_error(fmt::format("stream: its {} values are null", total));
    }
    if (options.dtype == DType::f32) return best_dims(options, static_cast<const float*>(values));
    return best_dims(options, static_cast<const double*>(values));
  });
}

Result<StreamEncoder> StreamEncoder::create(const StreamOptions& options) {
  return guarded("a stream's encoder", [&]() -> Result<StreamEncoder> {
    NEVE_TRY(check_options(options));
    Header header = header_of(options);
    if (options.dtype == DType::f32) {
      return StreamEncoder(std::make_unique<Encoder<float>>(options, std::move(header)));
    }
    return StreamEncoder(std::make_unique<Encoder<double>>(options, std::move(header)));
  });
}

// After an exception the chunk is neither what was pushed nor what left: no further call may go on with it.
template <class Work>
Status StreamEncoder::change(const Work& work) {
  NEVE_TRY(state_->broken);
  return guarded("encoding a stream", [&]() -> Status {
    try {
      return work();
    } catch (...) {
      state_->broken = caught_exception("stream: an earlier call failed");
      throw;
    }
  });
}

Status StreamEncoder::push(const void* values, uint64_t count) {
  return change([&] { return state_->push(values, count); });
}
Status StreamEncoder::flush() {
  return change([&]() -> Status {
    state_->flush();
    return {};
  });
}
Status StreamEncoder::finish() {
  return change([&] { return state_->finish(); });
}
Span<const std::byte> StreamEncoder::output() const { return state_->output; }
void StreamEncoder::clear_output() { state_->output.clear(); }
void StreamEncoder::reset() {
  state_->reset();
  state_->broken = {};
}
Span<const ChunkReport> StreamEncoder::reports() const { return state_->reports; }

}  // namespace neve
