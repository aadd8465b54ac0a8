/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams in C: values compressed as they arrive, block after block, in bounded memory.
 *
 *   uint64_t shape[] = {0, 512};                                  (rows of 512, as many as come)
 *   neve_stream_options options = NEVE_STREAM_OPTIONS_INIT;
 *   options.dtype = NEVE_F32;
 *   options.ndim = 2;
 *   options.shape = shape;
 *   options.bound = "abs=1e-3";
 *   neve_stream_encoder* encoder = NULL;
 *   neve_stream_encoder_create(&options, &encoder);
 *   while (next_row(row)) {
 *     neve_stream_encoder_push(encoder, row, 512);
 *     neve_stream_encoder_output(encoder, &bytes, &size);
 *     fwrite(bytes, 1, size, file);
 *     neve_stream_encoder_clear_output(encoder);
 *   }
 *   neve_stream_encoder_finish(encoder);                          (then the last output, as above)
 *   neve_stream_encoder_free(encoder);
 *
 * Nothing is collective, and nothing needs MPI. Distinct encoders and decoders may be used by distinct
 * threads. Functions that return int return a neve_code (neve.h), and neve_last_error() describes the error:
 * NEVE_USAGE, NEVE_CORRUPT of what is decoded, NEVE_FAILURE (no memory). Inputs stay the caller's and are not
 * kept.
 */
#ifndef NEVE_STREAM_H
#define NEVE_STREAM_H

#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Most dimensions of a stream's shape. */
#define NEVE_MAX_STREAM_DIMS 3

typedef struct neve_stream_options {
  size_t struct_bytes;
  int dtype;             /* NEVE_F32 or NEVE_F64 */
  int ndim;              /* 1..NEVE_MAX_STREAM_DIMS */
  const uint64_t* shape; /* slowest first. The slowest size may be 0: the stream ends with
                            neve_stream_encoder_finish */
  const char* bound;   /* "abs=0.5", "ratio=10"; with a range, or in neve_stream_compress, also "rel=1e-3" and
                          "psnr=60". NULL: "rel=1e-3" */
  const double* range; /* smallest and largest of all values to come; NULL: not known */
  const double* fill;  /* the value that means "no data"; it comes back bit for bit. NULL: none */
  int no_fill_detection; /* of neve_stream_compress: non-zero: none is looked for if `fill` is NULL */
  /* Fields below that are NULL or 0 are chosen automatically. */
  int dims;                /* directions that prediction uses, the fastest first: 1 to 3 */
  uint32_t block_values;   /* values of a block: 256 to 2^24 */
  uint64_t chunk_bytes;    /* values that are held back until their codebook is chosen: 1 KiB to 1 GiB */
  uint64_t tried_bytes;    /* with a ratio or psnr: values that are tried under several bounds */
  uint32_t restart_blocks; /* prediction restarts after so many blocks, which then decode alone; 0: never */
  const char* rule;  /* when a chunk gets a codebook of its own: "exact_cost", "chi", "always", "never" */
  const double* chi; /* of rule "chi": up to the first the codebook is kept, above the second an offline
                        one is taken */
  const int* offline_codebook; /* points to the number of the only one that may be taken, 0 to 15; -1: any */
  int for_engine;              /* non-zero: only blocks that Neve's hardware decoder reads */
} neve_stream_options;

#define NEVE_STREAM_OPTIONS_INIT \
  { sizeof(neve_stream_options), NEVE_F32, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0 }

/* ---- Compressing. ---- */

typedef struct neve_stream_encoder neve_stream_encoder;

/* On success the caller frees *encoder; else it is NULL. */
int neve_stream_encoder_create(const neve_stream_options* options, neve_stream_encoder** encoder);
/* `encoder` may be NULL. */
void neve_stream_encoder_free(neve_stream_encoder* encoder);

/* The next `count` values of the stream. More than the shape has, or after the end: NEVE_USAGE. */
int neve_stream_encoder_push(neve_stream_encoder* encoder, const void* values, uint64_t count);
/* Makes output of the values pushed so far, although their chunk is not full. */
int neve_stream_encoder_flush(neve_stream_encoder* encoder);
/* Ends the stream. NEVE_USAGE where values are missing. */
int neve_stream_encoder_finish(neve_stream_encoder* encoder);

/* Output that is ready, and has not been cleared; it belongs to the encoder until the next call that changes
 * it. */
int neve_stream_encoder_output(const neve_stream_encoder* encoder, const void** bytes, size_t* size);
int neve_stream_encoder_clear_output(neve_stream_encoder* encoder);
/* Starts the next stream of the same options; keeps buffers, so that small streams cost no allocation. */
int neve_stream_encoder_reset(neve_stream_encoder* encoder);

/* A chunk that has left since the beginning or the last reset. */
typedef struct neve_stream_chunk {
  size_t struct_bytes;
  uint64_t values;
  uint64_t stored_bytes;
  double bound_abs;
  double max_abs_error;
  uint64_t exact_values;   /* kept bit for bit, apart from the codes */
  uint64_t special_values; /* of these NaN, infinite, -0, fill, or too far from what is predicted */
  uint64_t raw_values;     /* in raw blocks */
  const char* codebook;    /* "kept", "rebuilt", "offline". Not to be freed, as the next */
  const char* reason;      /* why */
} neve_stream_chunk;

#define NEVE_STREAM_CHUNK_INIT \
  { sizeof(neve_stream_chunk), 0, 0, 0, 0, 0, 0, 0, NULL, NULL }

/* How many there are. */
int neve_stream_encoder_chunks(const neve_stream_encoder* encoder, uint64_t* chunks);
int neve_stream_encoder_chunk(const neve_stream_encoder* encoder, uint64_t number, neve_stream_chunk* chunk);

/* ---- Decompressing. ---- */

typedef struct neve_stream_decoder neve_stream_decoder;

/* On success the caller frees *decoder; else it is NULL. */
int neve_stream_decoder_create(neve_stream_decoder** decoder);
/* `decoder` may be NULL. */
void neve_stream_decoder_free(neve_stream_decoder* decoder);

/* The next bytes of the stream, cut anywhere. Whole blocks are decoded at once. After NEVE_CORRUPT nothing
 * more is decoded. */
int neve_stream_decoder_push(neve_stream_decoder* decoder, const void* bytes, size_t size);
/* NEVE_CORRUPT where the stream has not ended. */
int neve_stream_decoder_finish(const neve_stream_decoder* decoder);

/* Decoded values that are ready, and have not been cleared; they belong to the decoder until the next call
 * that changes it. *count values of the stream's type. */
int neve_stream_decoder_output(const neve_stream_decoder* decoder, const void** values, uint64_t* count);
int neve_stream_decoder_clear_output(neve_stream_decoder* decoder);

typedef struct neve_stream_description {
  size_t struct_bytes;
  int is_known; /* 0: the header has not come yet, and all below is 0 */
  int has_ended;
  neve_dtype dtype;
  int ndim;
  uint64_t shape[NEVE_MAX_STREAM_DIMS]; /* slowest first; the slowest may be 0 until the stream has ended */
  const char* bound_mode;               /* as asked for: "abs", "rel", "ratio" or "psnr". Not to be freed */
  double bound_value;
  int has_fill;
  double fill;
  int dims; /* directions that prediction uses; 0: none, the stream is raw */
  uint32_t block_values;
  int is_raw;
  uint64_t values; /* of a whole stream (neve_stream_info), else 0 */
  uint64_t blocks; /* likewise */
} neve_stream_description;

#define NEVE_STREAM_DESCRIPTION_INIT \
  { sizeof(neve_stream_description), 0, 0, NEVE_F32, 0, {0}, NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

int neve_stream_decoder_info(const neve_stream_decoder* decoder, neve_stream_description* description);

/* ---- Whole arrays. ---- */

/* Compresses a whole array: the range is scanned where the bound needs it, a fill value is detected, and the
 * directions of prediction are chosen where the options leave them open. The slowest size is not 0. On
 * success *stream points to *stream_bytes bytes, which the caller frees with neve_free(). */
int neve_stream_compress(const neve_stream_options* options, const void* values, void** stream,
                         size_t* stream_bytes);
/* How many directions suit an array best, by a sample: noise adds up with each. */
int neve_stream_best_dims(const neve_stream_options* options, const void* values, int* dims);

/* *answer is 1 where bytes begin like a stream, else 0. */
int neve_is_stream(const void* bytes, size_t size, int* answer);
/* Describes a whole stream without decoding its values. */
int neve_stream_info(const void* stream, size_t stream_bytes, neve_stream_description* description);
/* Decompresses a whole stream into `out`, which has exactly its values (neve_stream_info). */
int neve_stream_decompress(const void* stream, size_t stream_bytes, void* out, size_t out_bytes);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
