// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/filter_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/format/codec_choices.hpp"
#include "core/math/portable_math.hpp"
#include "core/options/idle.hpp"

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
  missing_word = 9,
};
static_assert(min_user_words == missing_word);

enum Flag : uint32_t {
  fill_given = 1,
  detect_fill = 2,
  integer_fill = 4,
  written_once = 8,
  range_given = 16,
  bound_already = 32,
  zero_padding = 64,
  big_endian = 128,
};
constexpr uint32_t flags_of_layout_1 = fill_given | detect_fill | integer_fill;
constexpr uint32_t flags_of_layout_2 =
    flags_of_layout_1 | written_once | range_given | bound_already | zero_padding | big_endian;

constexpr int word_bits = 32;
constexpr uint64_t max_chunk_bytes = 0xffffffff;  // HDF5 refuses chunks of 4 GiB

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

uint64_t FilterParameters::chunk_bytes() const { return chunk_elements() * dtype_bytes(dtype); }

Status set_dtype(DType dtype, FilterParameters& p) {
  p.dtype = dtype;
  if (!is_integer(dtype)) {
    if (!p.integer_fill) return {};
    const auto whole = static_cast<int64_t>(*p.integer_fill);
    constexpr int64_t exact_in_double = int64_t{1} << 53;
    if (whole > exact_in_double || whole < -exact_in_double) {
      return usage_error(
          fmt::format("Neve filter: fill value {} of {}: whole numbers beyond 2^53 are for integers; give a "
                      "floating-point number (Python: fill=float(...))",
                      whole, dtype_name(dtype)));
    }
    p.fill = static_cast<double>(whole);
    p.integer_fill.reset();
    return {};
  }
  NEVE_TRY(check_integer_choices(dtype, p.bound, p.codec).in("Neve filter"));
  // All of them are kept, whatever they mean.
  p.missing.clear();
  p.range.reset();
  if (p.fill) {
    // Past 2^63 a double may still be a whole u64.
    const double fill = *p.fill;
    constexpr double least = -0x1p63, past = 0x1p64;
    if (!(fill >= least && fill < past) || fill != math::trunc(fill)) {
      return usage_error(
          fmt::format("Neve filter: fill value {} is not a value of type {}", fill, dtype_name(dtype)));
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

Status check_range(const ValueRange& range, std::string_view what) {
  if (std::isfinite(range.min) && std::isfinite(range.max) && range.min <= range.max) return {};
  return usage_error(fmt::format("Neve filter {} is {} to {}; allowed: finite values, the lower one first",
                                 what, range.min, range.max));
}

Bound bound_in_range(const Bound& bound, const ValueRange& range) {
  if (bound.mode != BoundMode::rel) return bound;
  const double width = std::min(range.max - range.min, std::numeric_limits<double>::max());
  const double value = bound.value * width;
  return value > 0 ? Bound{BoundMode::abs, value} : Bound{BoundMode::lossless, 0};
}

CodecTuning tuning_of(const FilterParameters& p) {
  CodecTuning tuning;
  tuning.candidates = p.candidates;
  tuning.speed_weight = p.speed_weight;
  tuning.ratio_weight = p.ratio_weight;
  return tuning;
}

std::vector<uint32_t> words_on_methods(const FilterParameters& p) {
  if (tuning_of(p) == CodecTuning()) return {};
  std::vector<uint32_t> words = {p.candidates.bits};
  append_64_bits(&words, std::bit_cast<uint64_t>(p.speed_weight));
  append_64_bits(&words, std::bit_cast<uint64_t>(p.ratio_weight));
  return words;
}

namespace {

// What is said of methods where none is chosen would do nothing.
Status check_methods_are_chosen(const FilterParameters& p) {
  const std::vector<options::CodecUse> uses = {options::use_of("", p.codec, p.effort, p.bound, tuning_of(p))};
  return options::refuse_idle_codec_options({[](std::string_view) { return false; }}, uses).in("Neve filter");
}

}  // namespace

Status check_promises(const FilterParameters& p) {
  NEVE_TRY(check_keeps_bound(p.bound, p.codec).in("Neve filter"));
  NEVE_TRY(check_methods_are_chosen(p));
  if (p.is_written_once || p.has_bound_already || p.bound.mode == BoundMode::lossless) return {};
  if (p.bound.mode == BoundMode::rel) {
    return usage_error(fmt::format(
        "Neve filter: {} needs the range of the whole variable, and HDF5 shows a filter one chunk at a time, "
        "perhaps to be changed later; give data=ARRAY or range=(LOWEST, HIGHEST) beside it, or rewrite=False "
        "(flag 8 of word 6) where each chunk is written once, for a bound of each chunk's own range",
        to_string(p.bound)));
  }
  if (repeats_values(p.codec)) return {};
  return usage_error(fmt::format(
      "Neve filter: codec {} adds its error again whenever a part of a chunk is rewritten; give "
      "rewrite=False "
      "(flag 8 of word 6) where each chunk is written once, or one of the codecs auto, dual_quant, exact, "
      "lossless",
      codec_name(p.codec)));
}

ArrayOptions array_options(const FilterParameters& p) {
  ArrayOptions options;
  options.bound = {BoundMode::lossless, 0};
  options.encode.effort = p.effort;
  options.tuning = tuning_of(p);
  if (is_integer(p.dtype)) {
    options.codec = p.codec;
    options.integer_fill = p.integer_fill;
    options.detect_fill = p.detect_fill;
    return options;
  }
  const bool was_of_chunk = p.bound.mode == BoundMode::rel && !p.is_written_once;
  if (p.has_bound_already || was_of_chunk) {
    options.codec = can_keep_every_bit(p.codec) ? p.codec : Codec::automatic;
    return options;
  }
  options.bound = p.bound;
  options.codec = p.codec;
  options.fill = p.fill;
  options.detect_fill = p.detect_fill;
  if (p.bound.mode == BoundMode::lossless) return options;
  options.missing.fills = p.missing;
  options.missing.is_mask = p.fill || !p.missing.empty();
  if (!p.is_written_once) {
    options.lattice = Lattice{p.range.value_or(ValueRange{})};
  } else {
    // An absolute bound needs no range, and zeros among values may be many.
    options.missing.has_zero_padding = p.has_zero_padding && p.bound.mode == BoundMode::rel;
  }
  return options;
}

std::vector<uint32_t> to_words(const FilterParameters& p) {
  std::vector<uint32_t> words;
  const auto append_number = [&](double value) { append_64_bits(&words, std::bit_cast<uint64_t>(value)); };
  const std::vector<uint32_t> of_methods = words_on_methods(p);
  words.push_back(of_methods.empty() ? filter_layout_without_methods : filter_parameters_version);
  words.push_back(static_cast<uint32_t>(p.bound.mode));
  append_number(p.bound.mode == BoundMode::lossless ? 0 : p.bound.value);
  words.push_back(static_cast<uint32_t>(p.codec));
  words.push_back(static_cast<uint32_t>(p.effort));
  words.push_back((p.fill || p.integer_fill ? fill_given : 0U) | (p.detect_fill ? detect_fill : 0U) |
                  (p.integer_fill ? integer_fill : 0U) | (p.is_written_once ? written_once : 0U) |
                  (p.range ? range_given : 0U) | (p.has_bound_already ? bound_already : 0U) |
                  (p.has_zero_padding ? zero_padding : 0U) | (p.is_big_endian ? big_endian : 0U));
  append_64_bits(&words, p.fill ? std::bit_cast<uint64_t>(*p.fill) : p.integer_fill.value_or(0));
  words.push_back(static_cast<uint32_t>(p.missing.size()));
  for (const double value : p.missing) append_number(value);
  if (p.range) {
    append_number(p.range->min);
    append_number(p.range->max);
  }
  words.insert(words.end(), of_methods.begin(), of_methods.end());
  if (p.chunk_shape.empty()) return words;
  words.push_back(static_cast<uint32_t>(p.dtype));
  words.push_back(static_cast<uint32_t>(p.chunk_shape.size()));
  for (const uint64_t size : p.chunk_shape) append_64_bits(&words, size);
  return words;
}

namespace {

// The filter's number alone (h5repack -f UD=466,0,0, nccopy -F "*,466"). NCO gives variables that had no
// filter the number of the one that others have, and a parameter 0.
bool asks_for_nothing(std::span<const uint32_t> words) {
  return words.empty() || (words.size() == 1 && words[0] == 0);
}

Status check_count(std::span<const uint32_t> words, size_t needed) {
  if (words.size() >= needed) return {};
  return usage_error(fmt::format("Neve's filter got {} parameters; it needs {}", words.size(), needed));
}

// "0 auto, 1 dual_quant, ...": the numbers that word may have.
std::string codec_numbers() {
  std::string text;
  for (int number = 0; number < codecs; ++number) {
    const auto codec = static_cast<Codec>(number);
    if (!check_codec(codec).ok()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, codec_name(codec));
  }
  return text;
}

Status parse_choices(std::span<const uint32_t> words, FilterParameters& p) {
  if (words[mode_word] > static_cast<uint32_t>(BoundMode::rel)) {
    return bad_word(mode_word, "bound mode", words[mode_word], "0 lossless, 1 abs, 2 rel");
  }
  p.bound.mode = static_cast<BoundMode>(words[mode_word]);
  p.bound.value = std::bit_cast<double>(read_64_bits(words, bound_word));
  if (p.bound.mode != BoundMode::lossless) NEVE_TRY(check_bound(p.bound));
  if (words[codec_word] >= static_cast<uint32_t>(codecs) ||
      !check_codec(static_cast<Codec>(words[codec_word])).ok()) {
    return bad_word(codec_word, "codec", words[codec_word], codec_numbers());
  }
  p.codec = static_cast<Codec>(words[codec_word]);
  if (words[effort_word] > static_cast<uint32_t>(Effort::max)) {
    return bad_word(effort_word, "effort", words[effort_word], "0 fast, 1 balanced, 2 max");
  }
  p.effort = static_cast<Effort>(words[effort_word]);
  return {};
}

Status parse_flags(std::span<const uint32_t> words, FilterParameters& p) {
  const uint32_t flags = words[flags_word];
  const bool is_old = words[version_word] == 1;
  const bool is_given = (flags & fill_given) != 0, is_integer_fill = (flags & integer_fill) != 0;
  if ((flags & ~(is_old ? flags_of_layout_1 : flags_of_layout_2)) != 0 || (is_integer_fill && !is_given)) {
    return bad_word(flags_word, "flags", flags,
                    is_old ? "0 to 3, 5 and 7" : "sums of 1, 2, 4 (only with 1), 8, 16, 32, 64 and 128");
  }
  const uint64_t fill = read_64_bits(words, fill_word);
  if (is_given && is_integer_fill) p.integer_fill = fill;
  if (is_given && !is_integer_fill) p.fill = std::bit_cast<double>(fill);
  p.detect_fill = (flags & detect_fill) != 0;
  p.is_written_once = (flags & written_once) != 0;
  p.has_bound_already = (flags & bound_already) != 0;
  p.has_zero_padding = (flags & zero_padding) != 0;
  p.is_big_endian = (flags & big_endian) != 0;
  if ((flags & range_given) != 0) p.range = ValueRange{0, 0, false};
  return {};
}

// Of layout 2 what follows the fill value. Returns the words it ends at.
Result<size_t> parse_values(std::span<const uint32_t> words, FilterParameters& p) {
  NEVE_TRY(check_count(words, missing_word + 1));
  const size_t count = words[missing_word];
  if (count > max_missing) {
    return bad_word(missing_word, "further missing values", count, fmt::format("0 to {}", max_missing));
  }
  size_t at = missing_word + 1;
  NEVE_TRY(check_count(words, at + 2 * count + (p.range ? 4 : 0)));
  const auto next_number = [&] {
    at += 2;
    return std::bit_cast<double>(read_64_bits(words, at - 2));
  };
  for (size_t i = 0; i < count; ++i) p.missing.push_back(next_number());
  if (p.range) {
    const size_t range_at = at;
    const double lowest = next_number(), highest = next_number();
    p.range = ValueRange{lowest, highest, false};
    NEVE_TRY(check_range(*p.range, fmt::format("parameter {} (range)", range_at)));
  }
  return at;
}

// Of layout 3 what follows at `at`. Returns the words it ends at.
Result<size_t> parse_methods(std::span<const uint32_t> words, size_t at, FilterParameters& p) {
  NEVE_TRY(check_count(words, at + method_words));
  p.candidates.bits = words[at];
  p.speed_weight = std::bit_cast<double>(read_64_bits(words, at + 1));
  p.ratio_weight = std::bit_cast<double>(read_64_bits(words, at + 3));
  NEVE_TRY(check_tuning(tuning_of(p)).in(fmt::format("Neve filter parameter {} (methods)", at)));
  return at + method_words;
}

// Behind the user's part stands what the filter adds to a dataset, or nothing.
Status check_end(std::span<const uint32_t> words, size_t user_words) {
  if (words.size() == user_words) return {};
  const size_t dims_word = user_words + 1, shape_word = user_words + 2;
  const size_t dims = words.size() > dims_word ? words[dims_word] : 0;
  if (dims >= 1 && dims <= max_chunk_dims && words.size() == shape_word + 2 * dims) return {};
  return usage_error(
      fmt::format("Neve's filter got {} parameters; allowed: the user's {}, or {} + 2 D with what the filter "
                  "adds to a dataset of D dimensions, 1 to {}",
                  words.size(), user_words, shape_word, max_chunk_dims));
}

Result<UserParameters> read_user_part(std::span<const uint32_t> words) {
  if (asks_for_nothing(words)) {
    UserParameters user;
    user.parameters.bound = {BoundMode::lossless, 0};
    user.words = words.size();
    return user;
  }
  if (words[version_word] < 1 || words[version_word] > filter_parameters_version) {
    return bad_word(version_word, "layout version", words[version_word],
                    fmt::format("1 to {} (a newer Neve may have written this)", filter_parameters_version));
  }
  NEVE_TRY(check_count(words, min_user_words));
  UserParameters user;
  NEVE_TRY(parse_choices(words, user.parameters));
  NEVE_TRY(parse_flags(words, user.parameters));
  user.words = min_user_words;
  if (words[version_word] > 1) {
    NEVE_ASSIGN(user.words, parse_values(words, user.parameters));
  }
  if (words[version_word] > filter_layout_without_methods) {
    NEVE_ASSIGN(user.words, parse_methods(words, user.words, user.parameters));
  }
  return user;
}

}  // namespace

Result<UserParameters> parse_user_words(std::span<const uint32_t> words) {
  NEVE_ASSIGN(UserParameters user, read_user_part(words));
  NEVE_TRY(check_end(words, user.words));
  return user;
}

Result<FilterParameters> parse_words(std::span<const uint32_t> words) {
  NEVE_ASSIGN(UserParameters user, read_user_part(words));
  FilterParameters& p = user.parameters;
  p.has_bound_already = p.has_bound_already || (!words.empty() && words[version_word] == 1);
  const size_t dtype_word = user.words, dims_word = dtype_word + 1, shape_word = dims_word + 1;
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
  if (dims < 1 || dims > max_chunk_dims) {
    return bad_word(dims_word, "chunk dimensions", dims, fmt::format("1 to {}", max_chunk_dims));
  }
  if (words.size() != shape_word + 2 * dims) {
    return usage_error(fmt::format("Neve's filter got {} parameters; a chunk of {} dimensions needs {}",
                                   words.size(), dims, shape_word + 2 * dims));
  }
  uint64_t bytes = dtype_bytes(p.dtype);
  for (size_t d = 0; d < dims; ++d) {
    const size_t at = shape_word + 2 * d;
    const uint64_t size = read_64_bits(words, at);
    if (size < 1 || __builtin_mul_overflow(bytes, size, &bytes) || bytes > max_chunk_bytes) {
      return bad_word(at, "chunk size", size, "at least 1, and a chunk smaller than 4 GiB");
    }
    p.chunk_shape.push_back(size);
  }
  return std::move(p);
}

}  // namespace neve::hdf5
