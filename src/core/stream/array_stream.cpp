// SPDX-License-Identifier: BSD-3-Clause
// Whole arrays as streams.
#include <fmt/format.h>

#include <algorithm>

#include "core/codecs/array_part.hpp"
#include "core/format/array_shape.hpp"
#include "core/status/guarded.hpp"
#include "core/stream/stream_options.hpp"
#include "neve/stream.hpp"

namespace neve {

namespace {

struct Encoded {
  std::vector<std::byte> bytes;
  std::vector<ChunkReport> reports;

  double bound_abs() const {
    double largest = 0;
    for (const ChunkReport& chunk : reports) largest = std::max(largest, chunk.bound_abs);
    return largest;
  }
  double max_error() const {
    double largest = 0;
    for (const ChunkReport& chunk : reports) largest = std::max(largest, chunk.max_abs_error);
    return largest;
  }
};

Result<Encoded> encode_with(const StreamOptions& options, const void* values, uint64_t total) {
  NEVE_ASSIGN(StreamEncoder encoder, StreamEncoder::create(options));
  NEVE_TRY(encoder.push(values, total));
  NEVE_TRY(encoder.finish());
  return Encoded{{encoder.output().begin(), encoder.output().end()},
                 {encoder.reports().begin(), encoder.reports().end()}};
}

// A ratio's bound is known when it has been found: where other directions suit it better, it is found again.
Result<Encoded> encode_in_best_dims(StreamOptions options, const void* values, uint64_t total) {
  NEVE_ASSIGN(options.dims, best_stream_dims(options, values));
  NEVE_ASSIGN(Encoded first, encode_with(options, values, total));
  if (options.bound.mode != BoundMode::ratio || first.bound_abs() == 0) return first;
  StreamOptions found = options;
  found.bound = {BoundMode::abs, first.bound_abs()};
  found.dims = 0;
  StreamOptions again = options;
  NEVE_ASSIGN(again.dims, best_stream_dims(found, values));
  if (again.dims == options.dims) return first;
  Result<Encoded> second = encode_with(again, values, total);
  if (second.ok() && second->max_error() < first.max_error()) return second;
  return first;
}

// The array's own range and fill value.
Status measure(const void* values, uint64_t total, bool detects_fill, StreamOptions& stream) {
  if (total > 0 && (stream.dtype == DType::f32 || stream.dtype == DType::f64)) {
    FrameBox box;
    box.size[0] = static_cast<int64_t>(total);
    ArrayOptions measured;
    measured.fill = stream.fill;
    measured.detect_fill = detects_fill;
    NEVE_ASSIGN(const ArrayMeasure found, measure_array(stream.dtype, box, values, measured));
    stream.range = found.range;
    stream.fill = found.fill;
  }
  // Nothing to be relative to: whatever there is is kept as it is.
  const bool needs_range = stream.bound.mode == BoundMode::rel || stream.bound.mode == BoundMode::psnr;
  if (needs_range && stream.range.empty) stream.range = {0, 0, false};
  return {};
}

Result<std::vector<std::byte>> encode(DType dtype, std::span<const uint64_t> shape, const void* values,
                                      const StreamArrayOptions& options, std::vector<ChunkReport>* reports) {
  StreamOptions stream = options.stream;
  stream.dtype = dtype;
  stream.shape.assign(shape.begin(), shape.end());
  NEVE_ASSIGN(const uint64_t total, count_values(shape));
  if (total > 0 && values == nullptr)
    return usage_error(fmt::format("stream: its {} values are null", total));
  NEVE_TRY(measure(values, total, options.detect_fill, stream));
  stream.tried_bytes = stream.chunk_bytes;  // all values are there
  // (Without values any size may be 0, which an encoder would take for an open one.)
  const bool is_empty = total == 0 && !stream.for_engine;
  if (is_empty) stream.shape = {0};
  NEVE_ASSIGN(Encoded made, stream.dims == 0 && total > 0 ? encode_in_best_dims(stream, values, total)
                                                          : encode_with(stream, values, total));
  stream.shape.assign(shape.begin(), shape.end());
  // An encoder that has sent its first chunk cannot do better than raw blocks.
  const stream::Header header = stream::header_of(stream);
  if (is_empty || (!stream.for_engine && stream::raw_stream_bytes(header) < made.bytes.size())) {
    for (ChunkReport& chunk : made.reports) {
      const uint64_t stored_bytes = chunk.stored_bytes;
      chunk = stream::raw_report(chunk.values, chunk.special_values, chunk.bound_abs);
      chunk.stored_bytes = stored_bytes;
    }
    made.bytes.clear();
    stream::write_raw_stream(header, values, made.bytes);
  }
  if (reports != nullptr) *reports = std::move(made.reports);
  return std::move(made.bytes);
}

}  // namespace

Result<std::vector<std::byte>> encode_stream(DType dtype, Span<const uint64_t> shape, const void* values,
                                             const StreamArrayOptions& options,
                                             std::vector<ChunkReport>* reports) {
  return guarded("encoding a stream", [&] { return encode(dtype, shape, values, options, reports); });
}

}  // namespace neve
