/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct c_stream {
  unsigned char* bytes; /* of malloc */
  size_t size;
  uint64_t chunks, values_of_chunks;
  double max_abs_error;
  int names_are_there;
};

/* Row after row; the rows are counted only at the end. Returns the neve_code. */
int c_encode_rows(const float* values, uint64_t rows, uint64_t row, const char* bound, struct c_stream* out);
/* In pieces of so many bytes. */
int c_decode_pieces(const struct c_stream* stream, size_t piece, float* values, uint64_t* count);

#ifdef __cplusplus
}
#endif
