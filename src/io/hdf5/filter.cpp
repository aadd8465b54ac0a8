// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string_view>

#include "core/bits/value_types.hpp"
#include "core/status/guarded.hpp"
#include "io/hdf5/decoded_cache.hpp"
#include "io/hdf5/host_hdf5.hpp"
#include "io/hdf5/rewrite_hint.hpp"
#include "io/hdf5/stand_in.hpp"
#include "neve/frame.hpp"

namespace neve::hdf5 {
namespace {

Result<uint64_t> environment_number(const char* name, uint64_t otherwise, uint64_t least, uint64_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr || text[0] == '\0') return otherwise;
  const std::string_view view = text;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc() || end != view.data() + view.size() || value < least || value > most) {
    return usage_error(
        fmt::format("{} is '{}'; a whole number from {} to {} is allowed", name, view, least, most));
  }
  return value;
}

Result<int> thread_count() {
  NEVE_ASSIGN(const uint64_t threads, environment_number("NEVE_THREADS", 1, 1, max_threads));
  return static_cast<int>(threads);
}

Result<DecodedCache*> decoded_cache() {
  constexpr uint64_t mib = uint64_t{1} << 20;
  constexpr uint64_t default_mib = 64;
  constexpr uint64_t max_mib = uint64_t{1} << 20;
  // Read once, with the cache it sizes.
  static const Result<uint64_t> capacity_mib =
      environment_number("NEVE_PLUGIN_CACHE_MIB", default_mib, 0, max_mib);
  if (!capacity_mib.ok()) return capacity_mib.status();
  static DecodedCache cache(*capacity_mib * mib);
  return &cache;
}

RewriteHint& rewrite_hint() {
  static RewriteHint hint;
  return hint;
}

Status check_frame(const FilterParameters& parameters, const Frame& frame) {
  if (frame.dtype() != parameters.dtype) {
    return corrupt(fmt::format("frame holds {} values, the dataset {}", dtype_name(frame.dtype()),
                               dtype_name(parameters.dtype)));
  }
  if (frame.shape().element_count != parameters.chunk_elements()) {
    return corrupt(fmt::format("frame holds {} elements, the dataset's chunks {}",
                               frame.shape().element_count, parameters.chunk_elements()));
  }
  return {};
}

void give_to_hdf5(MallocBytes memory, size_t bytes, size_t* buffer_bytes, void** buffer) {
  std::free(*buffer);
  *buffer = memory.release();
  *buffer_bytes = bytes;  // the true allocation: HDF5 2.2 rejects less
}

Result<size_t> run_filter(bool decode, std::span<const uint32_t> words, size_t bytes, size_t* buffer_bytes,
                          void** buffer) {
  NEVE_ASSIGN(const FilterParameters parameters, parse_words(words));
  const std::span<const std::byte> in(static_cast<const std::byte*>(*buffer), bytes);
  const size_t chunk_bytes = parameters.chunk_bytes();
  if (decode) {
    NEVE_ASSIGN(MallocBytes out, allocate(chunk_bytes));
    NEVE_TRY(decode_chunk(parameters, in, {out.get(), chunk_bytes}));
    give_to_hdf5(std::move(out), chunk_bytes, buffer_bytes, buffer);
    return chunk_bytes;
  }
  if (rewrite_hint().encodes(in)) say_rewrite_hint(in.size());
  NEVE_ASSIGN(const std::vector<std::byte> frame, encode_chunk(parameters, in));
  // HDF5 itself may go on to use the buffer for the next chunk (H5Ocopy of a dataset with chunks in its
  // cache), so it must not become smaller.
  if (frame.size() > *buffer_bytes) {
    NEVE_ASSIGN(MallocBytes out, allocate(frame.size()));
    give_to_hdf5(std::move(out), frame.size(), buffer_bytes, buffer);
  }
  std::memcpy(*buffer, frame.data(), frame.size());
  return frame.size();
}

Result<size_t> run_stand_in(StandIn& stand_in, bool decode, std::span<const uint32_t> words, size_t bytes,
                            size_t* buffer_bytes, void** buffer) {
  if (!decode) return stand_in.encode(bytes, buffer_bytes, buffer);
  NEVE_ASSIGN(const FilterParameters parameters, parse_words(words));
  return StandIn::decode(parameters.chunk_bytes(), buffer_bytes, buffer);
}

// What HDF5 calls big-endian, and may be. Of one byte, and of text, there is no order.
Result<bool> is_big_endian(const HostHdf5& host, hid_t type) {
  if (host.type_size(type) == 1) return false;
  switch (host.type_order(type)) {
    case H5T_ORDER_LE:
    case H5T_ORDER_NONE:
      return false;
    case H5T_ORDER_BE:
      return true;
    default:
      return usage_error(
          "Neve compresses little-endian and big-endian values; this dataset's type has another order");
  }
}

void reverse_bytes(std::span<const std::byte> from, size_t value_bytes, std::byte* to) {
  for (size_t i = 0; i < from.size(); i += value_bytes) {
    std::reverse_copy(from.data() + i, from.data() + i + value_bytes, to + i);
  }
}

// Whether the bits of a floating point type of 4 or 8 bytes are those of IEEE 754: HDF5 has types whose sign,
// exponent and mantissa lie elsewhere.
bool is_ieee(const HostHdf5& host, hid_t type, size_t bytes) {
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  if (host.float_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0) return false;
  const bool is_float = bytes == 4;
  const size_t wanted_mantissa = is_float ? 23 : 52, wanted_bias = is_float ? 127 : 1023;
  return sign == 8 * bytes - 1 && exponent == wanted_mantissa && mantissa == 0 &&
         mantissa_bits == wanted_mantissa && exponent_bits == sign - exponent &&
         host.float_bias(type) == wanted_bias && host.float_norm(type) == H5T_NORM_IMPLIED;
}

// What a dataset's values are compressed as. `keeps_bits`: characters, enumerations, bit fields and half
// precision are then as good as unsigned integers of their size.
Result<DType> dtype_of(const HostHdf5& host, hid_t type, bool keeps_bits) {
  const H5T_class_t type_class = host.type_class(type);
  const size_t bytes = host.type_size(type);
  const bool is_float = type_class == H5T_FLOAT && (bytes == 4 || bytes == 8) && is_ieee(host, type, bytes);
  if (is_float) return bytes == 4 ? DType::f32 : DType::f64;
  const bool has_integer_size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  const bool is_as_good = keeps_bits && ((type_class == H5T_STRING && bytes == 1) || type_class == H5T_ENUM ||
                                         type_class == H5T_BITFIELD || type_class == H5T_FLOAT);
  if (has_integer_size && type_class == H5T_INTEGER) {
    return integer_type(bytes, host.type_sign(type) == H5T_SGN_2);
  }
  if (has_integer_size && is_as_good) return integer_type(bytes, false);
  return usage_error(fmt::format(
      "Neve compresses IEEE floating point of 4 and 8 bytes and integers of 1, 2, 4 and 8, and, "
      "lossless, other floating point, characters and enumerations; this dataset's type has HDF5 class "
      "{} and {} bytes",
      static_cast<int>(type_class), bytes));
}

// Words of a user who writes some more than any layout has are told so by their number.
Result<UserParameters> read_user_words(const HostHdf5& host, int id, hid_t creation, unsigned& flags,
                                       std::vector<unsigned>& words) {
  unsigned config = 0;
  size_t count = max_words;
  words.resize(max_words);
  if (host.filter_words(creation, id, &flags, &count, words.data(), 0, nullptr, &config) < 0 ||
      count > max_words) {
    return usage_error(
        fmt::format("Neve's filter got {} parameters; at most {} are allowed", count, max_words));
  }
  words.resize(count);
  return parse_user_words(words);
}

// The filters that HDF5 brings, by what people call them.
std::string filter_text(H5Z_filter_t id, const char* name) {
  switch (id) {
    case H5Z_FILTER_DEFLATE:
      return "gzip (deflate)";
    case H5Z_FILTER_SHUFFLE:
      return "shuffle";
    case H5Z_FILTER_FLETCHER32:
      return "fletcher32";
    case H5Z_FILTER_SZIP:
      return "szip";
    case H5Z_FILTER_NBIT:
      return "nbit";
    case H5Z_FILTER_SCALEOFFSET:
      return "scaleoffset";
    default:
      return fmt::format("{} ({})", id, name);
  }
}

// HDF5 knows the parameters of the first only.
Status check_stands_once(const HostHdf5& host, int neve, hid_t creation, int first_behind, int count) {
  for (int i = first_behind; i < count; ++i) {
    unsigned flags = 0, config = 0;
    size_t words = 0;
    const H5Z_filter_t id =
        host.filter_at(creation, static_cast<unsigned>(i), &flags, &words, nullptr, 0, nullptr, &config);
    if (is_neve_filter(id) || id == neve)
      return usage_error("Neve's filter stands twice in the dataset's pipeline; once is allowed");
  }
  return {};
}

// Neve's filter must see values. Filters ahead of it make other bytes of them: within a bound these decode to
// anything, and without one only shuffles are sure to leave as many as there were.
Status check_filters_ahead(const HostHdf5& host, int neve, hid_t creation, bool keeps_bits) {
  const int count = host.filter_count(creation);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    size_t words = 0;
    char name[64] = {};
    const H5Z_filter_t id = host.filter_at(creation, static_cast<unsigned>(i), &flags, &words, nullptr,
                                           sizeof name - 1, name, &config);
    if (id < 0) return failure("HDF5 does not report the dataset's filters");
    if (id == neve) return check_stands_once(host, neve, creation, i + 1, count);
    constexpr H5Z_filter_t bitshuffle = 32008;
    if (keeps_bits && (id == H5Z_FILTER_SHUFFLE || id == bitshuffle)) continue;
    return usage_error(fmt::format(
        "filter {} stands before Neve's, which then does not see the dataset's values; leave it out{}",
        filter_text(id, name),
        id == H5Z_FILTER_SHUFFLE ? " (h5py: shuffle=False, also where an encoding was taken "
                                   "from another file)"
                                 : ""));
  }
  return {};
}

bool is_same_fill(const FilterParameters& p, double fill) {
  if (!p.fill) return false;
  return p.dtype == DType::f32 ? static_cast<float>(*p.fill) == static_cast<float>(fill) : *p.fill == fill;
}

// The dataset's own fill value, which stands in cells that nobody wrote, and what HDF5 fills edge chunks up
// with: the same, or zeros.
Status add_dataset_fill(const HostHdf5& host, hid_t creation, hid_t type, FilterParameters& p) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
  if (host.fill_is_defined(creation, &defined) < 0 || host.fill_time(creation, &time) < 0) {
    return failure("HDF5 does not report the dataset's fill value");
  }
  p.has_zero_padding = defined != H5D_FILL_VALUE_USER_DEFINED || time == H5D_FILL_TIME_NEVER;
  if (defined != H5D_FILL_VALUE_USER_DEFINED) return {};
  std::byte bytes[sizeof(double)] = {};
  if (host.fill_value(creation, type, bytes) < 0) {
    return failure("HDF5 does not report the dataset's fill value");
  }
  if (p.is_big_endian) std::reverse(bytes, bytes + dtype_bytes(p.dtype));
  double fill = 0;
  if (p.dtype == DType::f32) {
    float narrow = 0;
    std::memcpy(&narrow, bytes, sizeof narrow);
    fill = static_cast<double>(narrow);
  } else {
    std::memcpy(&fill, bytes, sizeof fill);
  }
  const bool is_known = std::find(p.missing.begin(), p.missing.end(), fill) != p.missing.end();
  // NaN and infinities come back as they are.
  if (!std::isfinite(fill) || is_known || is_same_fill(p, fill)) return {};
  if (p.range && (p.range->min == fill || p.range->max == fill)) {
    return usage_error(
        fmt::format("Neve filter: the range {} to {} ends at the dataset's own fill value, which is no "
                    "value; give fill={} together with data=, or a range without it",
                    p.range->min, p.range->max, fill));
  }
  if (p.missing.size() == max_missing) {
    return usage_error(fmt::format(
        "Neve filter: {} missing values beside the dataset's own fill value; at most {} are allowed",
        p.missing.size(), max_missing - 1));
  }
  p.missing.push_back(fill);
  return {};
}

Status add_dataset_words(const HostHdf5& host, int id, hid_t creation, hid_t type) {
  unsigned flags = 0;
  std::vector<unsigned> words;
  NEVE_ASSIGN(UserParameters user, read_user_words(host, id, creation, flags, words));
  FilterParameters& parameters = user.parameters;
  NEVE_ASSIGN(const DType dtype, dtype_of(host, type, parameters.bound.mode == BoundMode::lossless));
  NEVE_ASSIGN(parameters.is_big_endian, is_big_endian(host, type));
  // These are the properties of another dataset, whose values are copied: they have lost their bound's worth.
  const bool is_copy = words.size() > user.words;
  const bool is_repeatable = is_copy && words.front() > 1 && !parameters.is_written_once;
  if (is_copy && !is_repeatable) parameters.has_bound_already = true;
  NEVE_TRY(set_dtype(dtype, parameters));
  NEVE_TRY(check_promises(parameters));

  hsize_t shape[max_chunk_dims] = {};
  const int dims = host.chunk_shape(creation, max_chunk_dims, shape);
  if (dims < 1 || dims > static_cast<int>(max_chunk_dims)) {
    return usage_error(fmt::format("a chunk of {} dimensions; Neve takes 1 to {}", dims, max_chunk_dims));
  }
  parameters.chunk_shape.assign(shape, shape + dims);
  const bool keeps_bits = array_options(parameters).bound.mode == BoundMode::lossless;
  NEVE_TRY(check_filters_ahead(host, id, creation, keeps_bits));
  if (!is_integer(dtype)) NEVE_TRY(add_dataset_fill(host, creation, type, parameters));
  words = to_words(parameters);
  if (host.modify_filter(creation, id, flags, words.size(), words.data()) < 0) {
    return failure("HDF5 refuses the filter's parameters");
  }
  return {};
}

constexpr herr_t hdf5_failed = -1;
constexpr size_t filter_failed = 0;

}  // namespace

// Runs inside H5Dcreate: what the user asked for becomes what the decoder needs.
herr_t set_local(int id, hid_t creation, hid_t type, void* caller) noexcept {
  const HostHdf5 host = find_host_hdf5(caller);
  if (!host.can_describe_datasets()) {
    host.report("neve_set_local", "Neve's filter cannot reach the HDF5 library that called it");
    return hdf5_failed;
  }
  try {
    const Status status = add_dataset_words(host, id, creation, type);
    if (status.ok()) return 0;
    host.report("neve_set_local", status.message());
  } catch (...) {
    host.report("neve_set_local", caught_exception("").message());
  }
  return hdf5_failed;
}

size_t run_callback(unsigned flags, size_t word_count, const unsigned* words, size_t bytes,
                    size_t* buffer_bytes, void** buffer) noexcept {
  void* const caller = __builtin_return_address(0);
  const bool decode = (flags & H5Z_FLAG_REVERSE) != 0;
  const char* const function = decode ? "neve_decode" : "neve_encode";
  try {
    StandIn* const stand_in = StandIn::current();
    const Result<size_t> done =
        stand_in == nullptr
            ? run_filter(decode, {words, word_count}, bytes, buffer_bytes, buffer)
            : run_stand_in(*stand_in, decode, {words, word_count}, bytes, buffer_bytes, buffer);
    if (done.ok()) return *done;
    find_host_hdf5(caller).report(function, done.status().message());
  } catch (...) {
    find_host_hdf5(caller).report(function, caught_exception("").message());
  }
  return filter_failed;
}

Result<std::vector<std::byte>> encode_chunk(const FilterParameters& parameters,
                                            std::span<const std::byte> chunk) {
  const uint64_t expected = parameters.chunk_bytes();
  if (chunk.size() != expected) {
    return usage_error(
        fmt::format("a chunk of {} bytes; this dataset's chunks have {}", chunk.size(), expected));
  }
  ArrayOptions options = array_options(parameters);
  NEVE_ASSIGN(options.encode.threads, thread_count());
  std::vector<std::byte> reversed;
  if (parameters.is_big_endian) {
    reversed.resize(chunk.size());
    reverse_bytes(chunk, dtype_bytes(parameters.dtype), reversed.data());
    chunk = reversed;
  }
  return encode_array(parameters.dtype, parameters.chunk_shape, chunk.data(), options);
}

namespace {

// The cache holds values as frames have them: two datasets of either byte order may hold the same frame.
Status decode_little_endian(const FilterParameters& parameters, std::span<const std::byte> bytes,
                            std::span<std::byte> out) {
  NEVE_ASSIGN(DecodedCache * cache, decoded_cache());
  const FrameKey key = cache->capacity_bytes() > 0 ? frame_key(bytes) : FrameKey{};
  if (cache->capacity_bytes() > 0) {
    const DecodedCache::Values values = cache->find(key);
    if (values != nullptr && values->size() == out.size()) {
      std::memcpy(out.data(), values->data(), out.size());
      rewrite_hint().decoded(values);
      return {};
    }
  }
  NEVE_ASSIGN(const Frame frame, Frame::parse(bytes));
  NEVE_TRY(check_frame(parameters, frame));
  NEVE_ASSIGN(const int threads, thread_count());
  NEVE_TRY(frame.decode(out.data(), out.size(), threads));
  if (out.size() <= cache->capacity_bytes()) {
    auto values = std::make_shared<const std::vector<std::byte>>(out.begin(), out.end());
    rewrite_hint().decoded(values);
    cache->insert(key, std::move(values));
  }
  return {};
}

}  // namespace

Status decode_chunk(const FilterParameters& parameters, std::span<const std::byte> bytes,
                    std::span<std::byte> out) {
  NEVE_TRY(decode_little_endian(parameters, bytes, out));
  if (parameters.is_big_endian) {
    const std::vector<std::byte> decoded(out.begin(), out.end());
    reverse_bytes(decoded, dtype_bytes(parameters.dtype), out.data());
  }
  return {};
}

}  // namespace neve::hdf5
