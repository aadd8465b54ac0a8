// SPDX-License-Identifier: BSD-3-Clause
// neve/stream.h over stream.hpp.
#include "neve/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "bindings/c/bound_text.hpp"
#include "bindings/c/last_error.hpp"
#include "bindings/c/options.hpp"
#include "core/catalog/refusals.hpp"
#include "neve/stream.hpp"

struct neve_stream_encoder {
  neve::StreamEncoder encoder;
};

struct neve_stream_decoder {
  neve::StreamDecoder decoder;
};

namespace {

using neve::Status;
using neve::StreamOptions;
using neve::usage_error;
using neve::capi::reported;

static_assert(NEVE_MAX_STREAM_DIMS == neve::max_stream_dims);

template <class Number>
void take(Number given, Number& to) {
  if (given != 0) to = given;
}

Status read_shape(const neve_stream_options& given, StreamOptions& options) {
  if (given.dtype != NEVE_F32 && given.dtype != NEVE_F64) {
    return usage_error(fmt::format("dtype is {}; NEVE_F32 ({}) and NEVE_F64 ({}) are allowed", given.dtype,
                                   static_cast<int>(NEVE_F32), static_cast<int>(NEVE_F64)));
  }
  options.dtype = static_cast<neve::DType>(given.dtype);
  if (given.ndim < 1 || given.ndim > NEVE_MAX_STREAM_DIMS) {
    return neve::out_of_range("ndim", given.ndim, 1, NEVE_MAX_STREAM_DIMS);
  }
  if (given.shape == nullptr) return usage_error(fmt::format("shape is NULL for {} dimensions", given.ndim));
  options.shape.assign(given.shape, given.shape + given.ndim);
  return {};
}

neve::Result<StreamOptions> read_options(const neve_stream_options* given) {
  if (given == nullptr) return usage_error("options is NULL");
  neve_stream_options known{};
  NEVE_TRY(neve::capi::read_struct("neve_stream_options", "stream.h", given, sizeof known, known));
  StreamOptions options;
  NEVE_TRY(read_shape(known, options));
  if (known.bound != nullptr) {
    NEVE_ASSIGN(options.bound, neve::parse_bound(known.bound, neve::BoundUse::array));
  }
  if (known.range != nullptr) options.range = {known.range[0], known.range[1], false};
  if (known.fill != nullptr) options.fill = *known.fill;
  options.dims = known.dims;
  take(known.block_values, options.block_values);
  take(known.chunk_bytes, options.chunk_bytes);
  take(known.tried_bytes, options.tried_bytes);
  options.restart_blocks = known.restart_blocks;
  if (known.rule != nullptr) {
    NEVE_ASSIGN(options.rule, neve::parse_codebook_rule(known.rule));
  }
  if (known.chi != nullptr) {
    options.chi_keep = known.chi[0];
    options.chi_offline = known.chi[1];
  }
  if (known.offline_codebook != nullptr) options.offline_codebook = *known.offline_codebook;
  options.for_engine = known.for_engine != 0;
  return options;
}

// Of a name that is written out as a literal.
const char* literal(std::string_view name) { return name.data(); }

// ---- Compressing.

Status check_live(const neve_stream_encoder* encoder) {
  return encoder != nullptr ? Status() : usage_error("encoder is NULL");
}

Status create(const neve_stream_options* given, neve_stream_encoder** out) {
  if (out == nullptr) return usage_error("encoder is NULL");
  *out = nullptr;
  NEVE_ASSIGN(const StreamOptions options, read_options(given));
  NEVE_ASSIGN(neve::StreamEncoder made, neve::StreamEncoder::create(options));
  *out = new neve_stream_encoder{std::move(made)};
  return {};
}

Status tell_chunk(const neve_stream_encoder* encoder, uint64_t number, neve_stream_chunk* out) {
  NEVE_TRY(check_live(encoder));
  if (out == nullptr) return usage_error("chunk is NULL");
  const neve::Span<const neve::ChunkReport> all = encoder->encoder.reports();
  if (number >= all.size()) {
    return usage_error(fmt::format("chunk {} asked for; {} have left", number, all.size()));
  }
  const neve::ChunkReport& of = all[static_cast<size_t>(number)];
  neve_stream_chunk chunk{};
  chunk.values = of.values;
  chunk.stored_bytes = of.stored_bytes;
  chunk.bound_abs = of.bound_abs;
  chunk.max_abs_error = of.max_abs_error;
  chunk.exact_values = of.exact_values;
  chunk.special_values = of.special_values;
  chunk.raw_values = of.raw_values;
  chunk.codebook = literal(neve::codebook_kind_name(of.codebook));
  chunk.reason = literal(neve::codebook_reason_name(of.reason));
  return neve::capi::fill_struct("neve_stream_chunk", "stream.h", chunk, out);
}

// ---- Decompressing.

Status check_live(const neve_stream_decoder* decoder) {
  return decoder != nullptr ? Status() : usage_error("decoder is NULL");
}

Status check_bytes(const char* name, const void* bytes, size_t size) {
  if (bytes != nullptr || size == 0) return {};
  return usage_error(fmt::format("{} is NULL for {} bytes", name, size));
}

neve::Span<const std::byte> span_of(const void* bytes, size_t size) {
  return {static_cast<const std::byte*>(bytes), size};
}

neve_stream_description described(const neve::StreamInfo& info) {
  neve_stream_description d{};
  d.is_known = 1;
  d.dtype = static_cast<neve_dtype>(info.dtype);
  d.ndim = static_cast<int>(info.shape.size());
  std::copy(info.shape.begin(), info.shape.end(), d.shape);
  d.bound_mode = neve::capi::mode_name(info.bound.mode);
  d.bound_value = info.bound.value;
  d.has_fill = info.fill ? 1 : 0;
  d.fill = info.fill.value_or(0);
  d.dims = info.dims;
  d.block_values = info.block_values;
  d.is_raw = info.is_raw ? 1 : 0;
  return d;
}

Status tell_info(const neve_stream_decoder* decoder, neve_stream_description* out) {
  NEVE_TRY(check_live(decoder));
  if (out == nullptr) return usage_error("description is NULL");
  neve_stream_description d{};
  if (decoder->decoder.has_info()) d = described(decoder->decoder.info());
  d.has_ended = decoder->decoder.has_ended() ? 1 : 0;
  return neve::capi::fill_struct("neve_stream_description", "stream.h", d, out);
}

Status tell_output(const neve_stream_decoder* decoder, const void** values, uint64_t* count) {
  NEVE_TRY(check_live(decoder));
  if (values == nullptr || count == nullptr) return usage_error("values or count is NULL");
  const neve::Span<const std::byte> ready = decoder->decoder.output();
  *values = ready.data();
  *count = ready.empty() ? 0 : ready.size() / neve::dtype_bytes(decoder->decoder.info().dtype);
  return {};
}

// ---- Whole arrays.

Status check_array(const StreamOptions& options, const void* values) {
  const bool is_empty = std::count(options.shape.begin(), options.shape.end(), 0) > 0;
  if (is_empty && options.shape.front() == 0) {
    return usage_error("the slowest size is 0; of a whole array it is known");
  }
  if (values == nullptr && !is_empty) return usage_error("values is NULL for an array with values");
  return {};
}

Status compress(const neve_stream_options* given, const void* values, void** stream, size_t* stream_bytes) {
  if (stream == nullptr || stream_bytes == nullptr) return usage_error("stream or stream_bytes is NULL");
  neve::StreamArrayOptions options;
  NEVE_ASSIGN(options.stream, read_options(given));
  options.detect_fill = given->no_fill_detection == 0;
  NEVE_TRY(check_array(options.stream, values));
  NEVE_ASSIGN(const std::vector<std::byte> bytes,
              neve::encode_stream(options.stream.dtype, options.stream.shape, values, options));
  void* const copy = std::malloc(bytes.size());
  if (copy == nullptr) return neve::failure(fmt::format("no memory for a stream of {} bytes", bytes.size()));
  std::memcpy(copy, bytes.data(), bytes.size());
  *stream = copy;
  *stream_bytes = bytes.size();
  return {};
}

Status best_dims(const neve_stream_options* given, const void* values, int* dims) {
  if (dims == nullptr) return usage_error("dims is NULL");
  NEVE_ASSIGN(const StreamOptions options, read_options(given));
  NEVE_TRY(check_array(options, values));
  NEVE_ASSIGN(*dims, neve::best_stream_dims(options, values));
  return {};
}

Status describe(const void* stream, size_t stream_bytes, neve_stream_description* out) {
  if (out == nullptr) return usage_error("description is NULL");
  if (stream == nullptr) return usage_error("stream is NULL");
  NEVE_ASSIGN(const neve::StreamContents contents, neve::describe_stream(span_of(stream, stream_bytes)));
  neve_stream_description d = described(contents.info);
  d.has_ended = 1;
  d.values = contents.values;
  d.blocks = contents.blocks.size();
  return neve::capi::fill_struct("neve_stream_description", "stream.h", d, out);
}

}  // namespace

int neve_stream_encoder_create(const neve_stream_options* options, neve_stream_encoder** encoder) {
  return reported([&] { return create(options, encoder); });
}

void neve_stream_encoder_free(neve_stream_encoder* encoder) { delete encoder; }

int neve_stream_encoder_push(neve_stream_encoder* encoder, const void* values, uint64_t count) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(encoder));
    if (values == nullptr && count > 0)
      return usage_error(fmt::format("values is NULL for {} values", count));
    return encoder->encoder.push(values, count);
  });
}

int neve_stream_encoder_flush(neve_stream_encoder* encoder) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(encoder));
    return encoder->encoder.flush();
  });
}

int neve_stream_encoder_finish(neve_stream_encoder* encoder) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(encoder));
    return encoder->encoder.finish();
  });
}

int neve_stream_encoder_output(const neve_stream_encoder* encoder, const void** bytes, size_t* size) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(encoder));
    if (bytes == nullptr || size == nullptr) return usage_error("bytes or size is NULL");
    const neve::Span<const std::byte> ready = encoder->encoder.output();
    *bytes = ready.data();
    *size = ready.size();
    return {};
  });
}

int neve_stream_encoder_clear_output(neve_stream_encoder* encoder) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(encoder));
    encoder->encoder.clear_output();
    return {};
  });
}

int neve_stream_encoder_reset(neve_stream_encoder* encoder) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(encoder));
    encoder->encoder.reset();
    return {};
  });
}

int neve_stream_encoder_chunks(const neve_stream_encoder* encoder, uint64_t* chunks) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(encoder));
    if (chunks == nullptr) return usage_error("chunks is NULL");
    *chunks = encoder->encoder.reports().size();
    return {};
  });
}

int neve_stream_encoder_chunk(const neve_stream_encoder* encoder, uint64_t number, neve_stream_chunk* chunk) {
  return reported([&] { return tell_chunk(encoder, number, chunk); });
}

int neve_stream_decoder_create(neve_stream_decoder** decoder) {
  return reported([&]() -> Status {
    if (decoder == nullptr) return usage_error("decoder is NULL");
    *decoder = nullptr;
    *decoder = new neve_stream_decoder;
    return {};
  });
}

void neve_stream_decoder_free(neve_stream_decoder* decoder) { delete decoder; }

int neve_stream_decoder_push(neve_stream_decoder* decoder, const void* bytes, size_t size) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(decoder));
    NEVE_TRY(check_bytes("bytes", bytes, size));
    return decoder->decoder.push(span_of(bytes, size));
  });
}

int neve_stream_decoder_finish(const neve_stream_decoder* decoder) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(decoder));
    return decoder->decoder.finish();
  });
}

int neve_stream_decoder_output(const neve_stream_decoder* decoder, const void** values, uint64_t* count) {
  return reported([&] { return tell_output(decoder, values, count); });
}

int neve_stream_decoder_clear_output(neve_stream_decoder* decoder) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(decoder));
    decoder->decoder.clear_output();
    return {};
  });
}

int neve_stream_decoder_info(const neve_stream_decoder* decoder, neve_stream_description* description) {
  return reported([&] { return tell_info(decoder, description); });
}

int neve_stream_compress(const neve_stream_options* options, const void* values, void** stream,
                         size_t* stream_bytes) {
  return reported([&] { return compress(options, values, stream, stream_bytes); });
}

int neve_stream_best_dims(const neve_stream_options* options, const void* values, int* dims) {
  return reported([&] { return best_dims(options, values, dims); });
}

int neve_is_stream(const void* bytes, size_t size, int* answer) {
  return reported([&]() -> Status {
    if (answer == nullptr) return usage_error("answer is NULL");
    NEVE_TRY(check_bytes("bytes", bytes, size));
    *answer = neve::is_stream(span_of(bytes, size)) ? 1 : 0;
    return {};
  });
}

int neve_stream_info(const void* stream, size_t stream_bytes, neve_stream_description* description) {
  return reported([&] { return describe(stream, stream_bytes, description); });
}

int neve_stream_decompress(const void* stream, size_t stream_bytes, void* out, size_t out_bytes) {
  return reported([&]() -> Status {
    if (stream == nullptr) return usage_error("stream is NULL");
    return neve::decode_stream(span_of(stream, stream_bytes), static_cast<std::byte*>(out), out_bytes);
  });
}
