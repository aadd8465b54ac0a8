// SPDX-License-Identifier: BSD-3-Clause
// Values into blocks (CEAZ, section 3): a chunk is quantized, predicted and counted as values come; when it
// is full its codebook is chosen and its blocks leave.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/format/frame_header.hpp"
#include "core/kernels/portable.hpp"
#include "core/math/portable_math.hpp"
#include "core/select/asked_target.hpp"
#include "core/status/guarded.hpp"
#include "core/stream/chunk.hpp"
#include "core/stream/chunk_writer.hpp"
#include "core/stream/stream_options.hpp"
#include "core/threads/float_environment.hpp"
#include "neve/stream.hpp"

namespace neve {

namespace {

using stream::Chunk;
using stream::ChunkPlan;
using stream::ChunkWriter;
using stream::Codebooks;
using stream::Header;

constexpr double psnr_above_db = 0.5;
constexpr int max_tries = 20;
// Bounds that are so close are as good as the same; those of a ratio that it is met under are so, too.
constexpr double same_octaves = 0.04, near_octaves = 0.2;

}  // namespace

struct StreamEncoder::State {
  virtual ~State() = default;
  virtual Status push(const void* values, uint64_t count) = 0;
  virtual Status flush() = 0;
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
        writer_(Codebooks(options.rule, options.chi_keep, options.chi_offline, options.offline_codebook,
                          options.for_engine ? stream::SymbolOrder::pipeline : stream::SymbolOrder::exact)) {
    stream::write_header(header_, header_bytes_);
    if (!options.for_engine) chunk_.keep_other_writings(header_bytes_.size());
    chunk_.restart_every(options.restart_blocks);
    if (options.bound.mode == BoundMode::psnr) chunk_.measure_squares(options.range.width());
    reset();
  }

  void reset() override {
    output.assign(header_bytes_.begin(), header_bytes_.end());
    reports.clear();
    writer_.reset();
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
    pushed_ += count;
    const T* next = static_cast<const T*>(values);
    while (count > 0) {
      const uint64_t held = is_tried_ ? pending_.size() : chunk_.values();
      const uint64_t n = std::min(count, chunk_values_ - held);
      // The last chunk waits for finish(), which marks its last block.
      const bool is_last = total_ && pushed_ == *total_ && n == count;
      const bool is_full = held + n == chunk_values_;
      if (is_tried_) {
        pending_.insert(pending_.end(), next, next + n);
      } else {
        chunk_.add(next, n, is_last || is_full);
      }
      next += n;
      count -= n;
      if (is_full && !is_last) close_chunk(false);
    }
    return {};
  }

  Status flush() override {
    if (is_finished_) return usage_error("stream: flushed after its end");
    if ((is_tried_ ? pending_.size() : chunk_.values()) > 0) close_chunk(false);
    return {};
  }

  Status finish() override {
    if (is_finished_) return usage_error("stream: finished twice");
    if (total_ && pushed_ != *total_) {
      return usage_error(fmt::format("stream: {} values of {} are missing", *total_ - pushed_, *total_));
    }
    const uint64_t slice = stream::slice_values(header_.shape);
    if (!total_ && pushed_ % slice != 0) {
      return usage_error(
          fmt::format("stream: {} values, no multiple of the {} of its faster directions", pushed_, slice));
    }
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
    const uint64_t bytes =
        is_tried ? std::min(options.chunk_bytes, options.tried_bytes) : options.chunk_bytes;
    const uint64_t values = std::max<uint64_t>(1, bytes / sizeof(T));
    return total ? std::min(values, std::max<uint64_t>(1, *total)) : values;
  }

  void set_bound(double bound_abs, const ValueRange& range) {
    bound_abs_ = bound_abs;
    step_ = options_.for_engine ? stream::stream_step<T>(bound_abs, range)
                                : stream::longest_step<T>(bound_abs, range);
    chunk_.restart(stream::stream_quantizer<T>(bound_abs, step_, header_.fill), true);
    has_step_ = true;
  }

  void close_chunk(bool is_last) {
    if (is_tried_ && !pending_.empty()) try_bounds();
    if (!has_step_) set_bound(0, {});  // a stream without values
    chunk_.settle();
    const uint64_t before = output.size();
    ChunkReport report;
    if (chunk_.values() > 0) {
      ChunkPlan plan = writer_.plan(chunk_);
      const bool is_raw_stream = is_last && raw_stream_is_smaller(plan);
      if (is_raw_stream) plan.make_raw(chunk_.blocks().size());
      report = report_of(plan);
      if (is_raw_stream) {
        write_raw_stream();
      } else {
        writer_.write(chunk_, plan, {bound_abs_, step_}, is_last, output);
      }
    } else if (is_last && raw_stream_is_smaller({})) {
      write_raw_stream();
    } else if (is_last) {
      // Everything has left already.
      stream::append_empty_last_block(output);
    }
    report.stored_bytes = output.size() - std::min<uint64_t>(before, output.size());
    stored_bytes_ += report.stored_bytes;
    raw_bytes_ += report.values * sizeof(T);
    if (report.values > 0) reports.push_back(report);
    chunk_.clear();
    pending_.clear();
  }

  ChunkReport report_of(const ChunkPlan& plan) const {
    ChunkReport report = stream::raw_report(chunk_.values(), chunk_.special_values(), bound_abs_);
    if (plan.all_raw) return report;
    report.raw_values = 0;
    for (size_t b = 0; b < chunk_.blocks().size(); ++b) {
      const auto& block = chunk_.blocks()[b];
      if (plan.block_is_raw(b)) {
        report.raw_values += block.values;
        continue;
      }
      const T largest = plan.has_extra_bits ? block.classed_max_error : block.max_error;
      report.max_abs_error = std::max(report.max_abs_error, static_cast<double>(largest));
    }
    report.exact_values = chunk_.exact_values(plan.has_extra_bits);
    report.extra_bits = plan.extra_bits;
    const stream::CodebookChoice& choice = plan.codebook;
    report.codebook = choice.kind;
    report.offline_codebook = choice.kind == CodebookKind::offline ? choice.offline_codebook : -1;
    report.reason = choice.reason;
    report.chi = choice.chi;
    report.kept_bits = choice.kept_bits;
    report.rebuilt_bits = choice.rebuilt_bits;
    report.offline_bits = choice.offline_bits;
    return report;
  }

  Header closed_header() const {
    Header header = header_;
    if (!total_) header.shape[0] = pushed_ / stream::slice_values(header_.shape);
    return header;
  }

  // Whether nothing has left yet, and header and blocks would take more than the values.
  bool raw_stream_is_smaller(const ChunkPlan& plan) const {
    const bool has_left = !reports.empty() || output.size() != header_bytes_.size();
    const auto& blocks = chunk_.blocks();
    if (options_.for_engine || has_left) return false;
    if (!std::all_of(blocks.begin(), blocks.end(), [](const auto& b) { return b.has_raw; })) return false;
    const uint64_t as_blocks = blocks.empty() ? stream::block_header_bytes : plan.bytes;
    return stream::raw_stream_bytes(closed_header()) <= header_bytes_.size() + as_blocks;
  }

  // In place of the header.
  void write_raw_stream() {
    std::vector<T> values;
    values.reserve(chunk_.values());
    for (const auto& block : chunk_.blocks()) {
      const std::span<const T> of_block = chunk_.raw(block);
      values.insert(values.end(), of_block.begin(), of_block.end());
    }
    output.clear();
    stream::write_raw_stream(closed_header(), values.data(), output);
  }

  // --- ratio and PSNR ----------------------------------------------------------------------------------

  double tried_bits() {
    chunk_.settle();
    return 8 * static_cast<double>(writer_.plan(chunk_).bytes) / static_cast<double>(chunk_.values());
  }

  double tried_psnr() {
    chunk_.settle();
    const ChunkPlan plan = writer_.plan(chunk_);
    return psnr_of(chunk_.squares(plan.has_extra_bits), chunk_.ordinary());
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
    chunk_.add(pending_.data(), pending_.size(), true);
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

  // Bits a value that runs of equal values take as they are, at least.
  double bits_of_runs() const {
    size_t runs = 1;
    for (size_t i = 1; i < pending_.size(); ++i) {
      runs += portable::bits(pending_[i]) != portable::bits(pending_[i - 1]) ? 1 : 0;
    }
    const double of_run = 8.0 * (sizeof(T) + sizeof(uint16_t)) + 1;
    return of_run * static_cast<double>(runs) / static_cast<double>(pending_.size());
  }

  // eb' = 2^(B - B target) eb (CEAZ, equation 2), corrected until it is the smallest bound that gets there.
  void try_for_ratio(const ValueRange& range) {
    const double target_bits = due_bits();
    const auto is_near = [&](double bits) {
      return std::abs(math::log(bits / target_bits)) <= math::log(1 + ratio_tolerance);
    };
    // The bound in force first: where it does, prediction goes on.
    if (has_step_) {
      chunk_.add(pending_.data(), pending_.size(), true);
      if (is_near(tried_bits())) return;
    }
    const double width = range.width();
    // One value and specials: what is kept as it is takes next to nothing, or no bound helps.
    if (width == 0) return encode_pending(0, range);
    constexpr double rounding = 0.997;  // of blocks to whole bytes
    const SearchTarget target{target_bits * (1 + ratio_tolerance) * rounding, target_bits, 1};
    if (bits_of_runs() <= target.limit) return encode_pending(0, range);
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
    const double target_db = options_.bound.value;
    const auto is_near = [&](double db) { return db >= target_db && db <= target_db + psnr_above_db; };
    if (has_step_) {
      chunk_.add(pending_.data(), pending_.size(), true);
      if (is_near(tried_psnr())) return;
    }
    if (width <= 0) return encode_pending(safe, range);
    BoundSearch search =
        search_up_to(width, std::sqrt(3.0) * safe, {target_db, target_db + psnr_above_db / 2, db_per_octave});
    double best = 0;
    for (int i = 0; i < max_tries && !search.is_exhausted() && search.octaves() > same_octaves; ++i) {
      const double tried = search.bound();
      encode_pending(tried, range);
      const double db = tried_psnr();
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
  ChunkWriter<T> writer_;
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

Result<StreamEncoder> StreamEncoder::create(const StreamOptions& options) {
  return guarded("a stream's encoder", [&]() -> Result<StreamEncoder> {
    const FloatEnvironment environment;
    NEVE_TRY(stream::check_options(options));
    Header header = stream::header_of(options);
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
    const FloatEnvironment environment;
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
  return change([&] { return state_->flush(); });
}
Status StreamEncoder::finish() {
  return change([&] { return state_->finish(); });
}
Span<const std::byte> StreamEncoder::output() const { return state_->output; }
void StreamEncoder::clear_output() { state_->output.clear(); }
void StreamEncoder::reset() {
  const FloatEnvironment environment;
  state_->reset();
  state_->broken = {};
}
Span<const ChunkReport> StreamEncoder::reports() const { return state_->reports; }

}  // namespace neve
