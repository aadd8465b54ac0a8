// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/c/options.hpp"

#include <cstddef>
#include <utility>

#include "core/format/codec_choices.hpp"
#include "core/options/value_text.hpp"
#include "neve/options.hpp"

namespace neve::capi {
namespace {

static_assert(NEVE_MAX_THREADS == max_threads);

// Two's complement of 64 bits; 0 for floating point, which encode_array refuses an integer fill value of.
uint64_t read_integer(DType dtype, const void* value) {
  if (!is_integer(dtype)) return 0;
  const size_t bytes = dtype_bytes(dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, value, bytes);
  const size_t unused_bits = 64 - 8 * bytes;
  if (!is_signed(dtype)) return bits;
  return static_cast<uint64_t>(static_cast<int64_t>(bits << unused_bits) >> unused_bits);
}

template <class T>
Status read_text(const char* text, T& value) {
  return text == nullptr ? Status() : options::parse_value(text, value);
}

Status read_texts(const neve_compress_options& known, ArrayOptions& options) {
  if (known.bound != nullptr) {
    NEVE_ASSIGN(options.bound, parse_bound(known.bound, BoundUse::array));
  }
  NEVE_TRY(read_text(known.codec, options.codec));
  NEVE_TRY(read_text(known.effort, options.encode.effort));
  NEVE_TRY(read_text(known.arrangement, options.tuning.arrangement));
  return read_text(known.method, options.tuning.method);
}

}  // namespace

Result<int> thread_count(int asked) {
  if (asked == 0) return 1;
  const Status status = check_threads(asked);
  if (!status.ok()) return usage_error(status.message() + ", and 0 for 1");
  return asked;
}

Status read_options(DType dtype, const neve_compress_options* given, ArrayOptions& options) {
  if (is_integer(dtype)) options.bound = {BoundMode::lossless, 0};
  if (given == nullptr) return {};
  neve_compress_options known{};
  // Programs built for neve 0.1 end before the tuning.
  NEVE_TRY(read_struct("neve_compress_options", "neve.h", given, offsetof(neve_compress_options, arrangement),
                       known));
  NEVE_TRY(read_texts(known, options));
  options.tuning.unit_cells = known.unit_cells;
  options.tuning.block_cells = known.block_cells;
  options.tuning.merge_units = known.merge_units != 0;
  if (known.fill != nullptr) options.fill = *known.fill;
  if (known.integer_fill != nullptr) options.integer_fill = read_integer(dtype, known.integer_fill);
  options.detect_fill = known.no_fill_detection == 0;
  NEVE_ASSIGN(options.encode.threads, thread_count(known.threads));
  if (known.options != nullptr) {
    NEVE_ASSIGN(options, parse_array_options(known.options, std::move(options)));
    options = options_for(dtype, std::move(options));
  }
  return is_integer(dtype) ? Status() : check_keeps_bound(options.bound, options.codec);
}

}  // namespace neve::capi
