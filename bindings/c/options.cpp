// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/c/options.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "core/catalog/refusals.hpp"
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
Status read_text(const char* key, const char* text, T& value, std::set<std::string>& given) {
  if (text == nullptr) return {};
  given.insert(key);
  return options::parse_value(text, value);
}

Status read_texts(const neve_compress_options& known, OptionsSoFar& so_far) {
  ArrayOptions& options = so_far.values;
  if (known.bound != nullptr) {
    so_far.given.insert("bound");
    NEVE_ASSIGN(options.bound, parse_bound(known.bound, BoundUse::array));
  }
  NEVE_TRY(read_text("codec", known.codec, options.codec, so_far.given));
  NEVE_TRY(read_text("effort", known.effort, options.encode.effort, so_far.given));
  NEVE_TRY(read_text("arrangement", known.arrangement, options.tuning.arrangement, so_far.given));
  return read_text("method", known.method, options.tuning.method, so_far.given);
}

Status read_fields(DType dtype, const neve_compress_options& known, OptionsSoFar& so_far) {
  NEVE_TRY(read_texts(known, so_far));
  ArrayOptions& options = so_far.values;
  options.tuning.unit_cells = known.unit_cells;
  options.tuning.block_cells = known.block_cells;
  options.tuning.merge_units = known.merge_units != 0;
  if (known.fill != nullptr) options.fill = *known.fill;
  if (known.integer_fill != nullptr) options.integer_fill = read_integer(dtype, known.integer_fill);
  options.detect_fill = known.no_fill_detection == 0;
  NEVE_ASSIGN(options.encode.threads, thread_count(known.threads));
  return {};
}

}  // namespace

Result<int> thread_count(int asked) {
  if (asked == 0) return 1;
  if (!check_threads(asked).ok()) return out_of_range("threads", asked, 0, max_threads);
  return asked;
}

Status read_options(DType dtype, const neve_compress_options* given, const char* bound,
                    ArrayOptions& options) {
  OptionsSoFar so_far;
  so_far.dtype = dtype;
  if (is_integer(dtype)) so_far.values.bound = {BoundMode::lossless, 0};
  neve_compress_options known{};
  if (given != nullptr) {
    // Programs built for neve 0.1 end before the tuning.
    NEVE_TRY(read_struct("neve_compress_options", "neve.h", given,
                         offsetof(neve_compress_options, arrangement), known));
    NEVE_TRY(read_fields(dtype, known, so_far));
  }
  if (bound != nullptr) {
    so_far.given.insert("bound");
    NEVE_ASSIGN(so_far.values.bound, parse_bound(bound, BoundUse::array));
  }
  if (known.options == nullptr) {
    NEVE_ASSIGN(options, parse_array_options("", std::move(so_far)));
    return {};
  }
  NEVE_ASSIGN(options, parse_array_options(known.options, std::move(so_far)));
  options = options_for(dtype, std::move(options));
  return {};
}

}  // namespace neve::capi
