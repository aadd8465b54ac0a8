// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/filter_parameters.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "format/codec_choices.hpp"

namespace neve::hdf5 {
namespace {

enum Word : size_t {
  version_word = 0,
  mode_word = 1,
  bound_word = 2,
  codec_word = 4,
  effort_word = 5,
  flags_word = 6,
  fill_word = 7,
  dtype_word = 9,
  dims_word = 10,
  shape_word = 11,
};
static_assert(user_words == dtype_word);

constexpr uint32_t fill_given_flag = 1;
constexpr uint32_t detect_fill_flag = 2;
constexpr uint32_t integer_fill_flag = 4;
constexpr int word_bits = 32;
constexpr uint64_t most_chunk_bytes = 0xffffffff;  // HDF5 refuses chunks of 4 GiB

void append_64_bits(std::vector<uint32_t>* words, uint64_t value) {
  words->push_back(static_cast<uint32_t>(value));
  words->push_back(static_cast<uint32_t>(value >> word_bits));
}

uint64_t read_64_bits(std::span<const uint32_t> words, size_t at) {
  return words[at] | (uint64_t{words[at + 1]} << word_bits);
}

Status bad_word(size_t at, const char* what, uint64_t found, const std::string& allowed) {
  return usage_error(
      fmt::format("Neve filter parameter {} ({}) is {}; allowed: {}", at, what, found, allowed));
}

}  // namespace

uint64_t FilterParameters::chunk_elements() const {
  uint64_t elements = 1;
  for (const uint64_t size : chunk_shape) elements *= size;
  return elements;
}

Status set_dtype(DType dtype, FilterParameters& p) {
  p.dtype = dtype;
  if (!is_integer(dtype)) {
    if (!p.integer_fill) return {};
    const auto whole = static_cast<int64_t>(*p.integer_fill);
    constexpr int64_t exact_in_double = int64_t{1} << 53;
    if (whole > exact_in_double || whole < -exact_in_double) {
      return usage_error(fmt::format("Neve filter: fill value {} is no value of {}: give a number", whole,
                                     dtype_name(dtype)));
    }
    p.fill = static_cast<double>(whole);
    p.integer_fill.reset();
    return {};
  }
  NEVE_TRY(check_integer_choices(dtype, p.bound, p.codec).in("Neve filter"));
  if (p.fill) {
    // Past 2^63 a double may still be a whole u64.
    const double fill = *p.fill;
    constexpr double least = -0x1p63, past = 0x1p64;
    if (!(fill >= least && fill < past) || fill != std::trunc(fill)) {
      return usage_error(
          fmt::format("Neve filter: fill value {} is no value of {}", fill, dtype_name(dtype)));
    }
    p.integer_fill =
        fill < 0 ? static_cast<uint64_t>(static_cast<int64_t>(fill)) : static_cast<uint64_t>(fill);
    p.fill.reset();
  }
  if (p.integer_fill && !holds_integer(dtype, *p.integer_fill)) {
    return usage_error(fmt::format("Neve filter: fill value {} does not fit into {}",
                                   integer_text(DType::i64, *p.integer_fill), dtype_name(dtype)));
  }
  return {};
}

std::vector<uint32_t> to_words(const FilterParameters& p) {
  std::vector<uint32_t> words;
  words.push_back(filter_parameters_version);
  words.push_back(static_cast<uint32_t>(p.bound.mode));
  append_64_bits(&words, p.bound.mode == BoundMode::lossless ? 0 : std::bit_cast<uint64_t>(p.bound.value));
  words.push_back(static_cast<uint32_t>(p.codec));
  words.push_back(static_cast<uint32_t>(p.effort));
  words.push_back((p.fill || p.integer_fill ? fill_given_flag : 0) | (p.detect_fill ? detect_fill_flag : 0) |
                  (p.integer_fill ? integer_fill_flag : 0));
  append_64_bits(&words, p.fill ? std::bit_cast<uint64_t>(*p.fill) : p.integer_fill.value_or(0));
  if (p.chunk_shape.empty()) return words;
  words.push_back(static_cast<uint32_t>(p.dtype));
  words.push_back(static_cast<uint32_t>(p.chunk_shape.size()));
  for (const uint64_t size : p.chunk_shape) append_64_bits(&words, size);
  return words;
}

Result<FilterParameters> parse_user_words(std::span<const uint32_t> words) {
  if (words.empty()) {
    return usage_error(fmt::format("Neve's filter got no parameters; it needs {} words", user_words));
  }
  if (words[version_word] != filter_parameters_version) {
    return bad_word(version_word, "layout version", words[version_word],
                    fmt::format("{} (a newer Neve may have written this)", filter_parameters_version));
  }
  if (words.size() < user_words) {
    return usage_error(
        fmt::format("Neve's filter got {} parameters; it needs {} words", words.size(), user_words));
  }
  FilterParameters p;
  if (words[mode_word] > static_cast<uint32_t>(BoundMode::rel)) {
    return bad_word(mode_word, "bound mode", words[mode_word], "0 lossless, 1 abs, 2 rel");
  }
  p.bound.mode = static_cast<BoundMode>(words[mode_word]);
  p.bound.value = std::bit_cast<double>(read_64_bits(words, bound_word));
  if (p.bound.mode != BoundMode::lossless) NEVE_TRY(check_bound(p.bound));
  if (words[codec_word] > static_cast<uint32_t>(Codec::lossless) ||
      words[codec_word] == static_cast<uint32_t>(Codec::constant)) {
    return bad_word(codec_word, "codec", words[codec_word],
                    "0 automatic, 1 dual_quant, 2 exact, 4 lorenzo_regression, 5 interpolation, 6 context, "
                    "7 lossless");
  }
  p.codec = static_cast<Codec>(words[codec_word]);
  if (words[effort_word] > static_cast<uint32_t>(Effort::max)) {
    return bad_word(effort_word, "effort", words[effort_word], "0 fast, 1 balanced, 2 max");
  }
  p.effort = static_cast<Effort>(words[effort_word]);
  const uint32_t flags = words[flags_word];
  const bool is_given = (flags & fill_given_flag) != 0;
  const bool is_integer_fill = (flags & integer_fill_flag) != 0;
  if (flags > (fill_given_flag | detect_fill_flag | integer_fill_flag) || (is_integer_fill && !is_given)) {
    return bad_word(flags_word, "flags", flags, "0 to 3, 5 and 7");
  }
  const uint64_t fill = read_64_bits(words, fill_word);
  if (is_given && is_integer_fill) p.integer_fill = fill;
  if (is_given && !is_integer_fill) p.fill = std::bit_cast<double>(fill);
  p.detect_fill = (flags & detect_fill_flag) != 0;
  return p;
}

Result<FilterParameters> parse_words(std::span<const uint32_t> words) {
  NEVE_ASSIGN(FilterParameters p, parse_user_words(words));
  if (words.size() < shape_word) {
    return usage_error(
        fmt::format("Neve's filter got {} parameters and no chunk shape: set_local never ran on this dataset",
                    words.size()));
  }
  if (words[dtype_word] >= static_cast<uint32_t>(dtypes)) {
    return bad_word(dtype_word, "dtype", words[dtype_word],
                    "0 f32, 1 f64, 2 i8, 3 u8, 4 i16, 5 u16, 6 i32, 7 u32, 8 i64, 9 u64");
  }
  p.dtype = static_cast<DType>(words[dtype_word]);
  const size_t dims = words[dims_word];
  if (dims < 1 || dims > most_chunk_dims) {
    return bad_word(dims_word, "chunk dimensions", dims, fmt::format("1 to {}", most_chunk_dims));
  }
  if (words.size() != shape_word + 2 * dims) {
    return usage_error(fmt::format("Neve's filter got {} parameters; a chunk of {} dimensions needs {}",
                                   words.size(), dims, shape_word + 2 * dims));
  }
  uint64_t bytes = dtype_bytes(p.dtype);
  for (size_t d = 0; d < dims; ++d) {
    const size_t at = shape_word + 2 * d;
    const uint64_t size = read_64_bits(words, at);
    if (size < 1 || __builtin_mul_overflow(bytes, size, &bytes) || bytes > most_chunk_bytes) {
      return bad_word(at, "chunk size", size, "at least 1, and a chunk smaller than 4 GiB");
    }
    p.chunk_shape.push_back(size);
  }
  return p;
}

}  // namespace neve::hdf5
