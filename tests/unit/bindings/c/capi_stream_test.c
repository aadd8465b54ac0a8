/* SPDX-License-Identifier: BSD-3-Clause
 * stream.h as a C program uses it; capi_stream_test.cpp calls this and looks at what came back. */
#include "capi_stream_test.h"

#include <neve/stream.h>
#include <stdlib.h>
#include <string.h>

/* Appends what is ready of the encoder's output. */
static int drain(neve_stream_encoder* encoder, struct c_stream* out) {
  const void* bytes = NULL;
  size_t size = 0;
  const int code = neve_stream_encoder_output(encoder, &bytes, &size);
  if (code != NEVE_OK) return code;
  if (size > 0) {
    out->bytes = realloc(out->bytes, out->size + size);
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
  }
  return neve_stream_encoder_clear_output(encoder);
}

int c_encode_rows(const float* values, uint64_t rows, uint64_t row, const char* bound, struct c_stream* out) {
  const uint64_t shape[] = {0, row};
  neve_stream_options options = NEVE_STREAM_OPTIONS_INIT;
  options.ndim = 2;
  options.shape = shape;
  options.bound = bound;
  options.chunk_bytes = 1 << 16;
  options.block_values = 4096;
  neve_stream_encoder* encoder = NULL;
  int code = neve_stream_encoder_create(&options, &encoder);
  for (uint64_t r = 0; r < rows && code == NEVE_OK; ++r) {
    code = neve_stream_encoder_push(encoder, values + r * row, row);
    if (code == NEVE_OK && r == rows / 2) code = neve_stream_encoder_flush(encoder);
    if (code == NEVE_OK) code = drain(encoder, out);
  }
  if (code == NEVE_OK) code = neve_stream_encoder_finish(encoder);
  if (code == NEVE_OK) code = drain(encoder, out);
  if (code == NEVE_OK) code = neve_stream_encoder_chunks(encoder, &out->chunks);
  for (uint64_t c = 0; c < out->chunks && code == NEVE_OK; ++c) {
    neve_stream_chunk chunk = NEVE_STREAM_CHUNK_INIT;
    code = neve_stream_encoder_chunk(encoder, c, &chunk);
    out->values_of_chunks += chunk.values;
    if (chunk.max_abs_error > out->max_abs_error) out->max_abs_error = chunk.max_abs_error;
    out->names_are_there = chunk.codebook != NULL && chunk.reason != NULL;
  }
  neve_stream_encoder_free(encoder);
  return code;
}

int c_decode_pieces(const struct c_stream* stream, size_t piece, float* values, uint64_t* count) {
  neve_stream_decoder* decoder = NULL;
  int code = neve_stream_decoder_create(&decoder);
  *count = 0;
  for (size_t begin = 0; begin < stream->size && code == NEVE_OK; begin += piece) {
    const size_t size = stream->size - begin < piece ? stream->size - begin : piece;
    const void* ready = NULL;
    uint64_t ready_count = 0;
    code = neve_stream_decoder_push(decoder, stream->bytes + begin, size);
    if (code == NEVE_OK) code = neve_stream_decoder_output(decoder, &ready, &ready_count);
    if (code == NEVE_OK && ready_count > 0) memcpy(values + *count, ready, ready_count * sizeof *values);
    *count += ready_count;
    if (code == NEVE_OK) code = neve_stream_decoder_clear_output(decoder);
  }
  if (code == NEVE_OK) code = neve_stream_decoder_finish(decoder);
  neve_stream_decoder_free(decoder);
  return code;
}
