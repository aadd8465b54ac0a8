// SPDX-License-Identifier: BSD-3-Clause
// Whole arrays as streams.
#include "core/codecs/array_part.hpp"
#include "core/format/array_shape.hpp"
#include "core/status/guarded.hpp"
#include "core/stream/stream_options.hpp"
#include "neve/stream.hpp"

namespace neve {

namespace {

// Of a chunk whose values are part of a raw stream.
void report_raw(ChunkReport& chunk) {
  ChunkReport raw;
  raw.values = chunk.values;
  raw.exact_values = chunk.values;
  raw.raw_values = chunk.values;
  raw.stored_bytes = chunk.stored_bytes;
  raw.special_values = chunk.special_values;
  raw.bound_abs = chunk.bound_abs;
  raw.codebook = CodebookKind::kept;
  raw.reason = CodebookReason::raw;
  chunk = raw;
}

Result<std::vector<std::byte>> encode(DType dtype, std::span<const uint64_t> shape, const void* values,
                                      const StreamArrayOptions& options, std::vector<ChunkReport>* reports) {
  StreamOptions stream = options.stream;
  stream.dtype = dtype;
  stream.shape.assign(shape.begin(), shape.end());
  NEVE_ASSIGN(const uint64_t total, count_values(shape));
  if (total > 0 && (dtype == DType::f32 || dtype == DType::f64)) {
    FrameBox box;
    box.size[0] = static_cast<int64_t>(total);
    ArrayOptions measured;
    measured.fill = stream.fill;
    measured.detect_fill = options.detect_fill;
    NEVE_ASSIGN(const ArrayMeasure found, measure_array(dtype, box, values, measured));
    stream.range = found.range;
    stream.fill = found.fill;
  }
  // Nothing to be relative to: whatever there is is kept as it is.
  const bool needs_range = stream.bound.mode == BoundMode::rel || stream.bound.mode == BoundMode::psnr;
  if (needs_range && stream.range.empty) stream.range = {0, 0, false};
  if (stream.dims == 0 && total > 0) {
    NEVE_ASSIGN(stream.dims, best_stream_dims(stream, values));
  }
  NEVE_ASSIGN(StreamEncoder encoder, StreamEncoder::create(stream));
  NEVE_TRY(encoder.push(values, total));
  NEVE_TRY(encoder.finish());
  if (reports != nullptr) reports->assign(encoder.reports().begin(), encoder.reports().end());
  // An encoder that has sent its first chunk cannot do better than raw blocks.
  const stream::Header header = stream::header_of(stream);
  if (!stream.for_engine && stream::raw_stream_bytes(header) < encoder.output().size()) {
    if (reports != nullptr) {
      for (ChunkReport& chunk : *reports) report_raw(chunk);
    }
    Bytes raw;
    stream::write_raw_stream(header, values, raw);
    return raw;
  }
  return std::vector<std::byte>(encoder.output().begin(), encoder.output().end());
}

}  // namespace

Result<std::vector<std::byte>> encode_stream(DType dtype, Span<const uint64_t> shape, const void* values,
                                             const StreamArrayOptions& options,
                                             std::vector<ChunkReport>* reports) {
  return guarded("encoding a stream", [&] { return encode(dtype, shape, values, options, reports); });
}

}  // namespace neve
