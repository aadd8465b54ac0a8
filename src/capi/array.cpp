// SPDX-License-Identifier: BSD-3-Clause
// neve.h over frame.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "capi/last_error.hpp"
#include "format/frame_header.hpp"
#include "neve/frame.hpp"
#include "neve/neve.h"

namespace {

using neve::Status;
using neve::usage_error;

static_assert(NEVE_MAX_DIMS == neve::max_array_rank);

constexpr int max_threads = 1024;

neve::Result<int> thread_count(int asked) {
  if (asked < 0 || asked > max_threads) {
    return usage_error(fmt::format("threads is {}; 1 to {} are allowed, and 0 for 1", asked, max_threads));
  }
  return std::max(asked, 1);
}

// The caller's struct as this library knows it. Fields that are set and lie past what it knows are refused:
// an option must not be ignored.
template <class Struct>
Status check_struct_bytes(const char* name, const Struct* given, size_t first_version_bytes) {
  if (given->struct_bytes < first_version_bytes) {
    return usage_error(fmt::format("{}.struct_bytes is {}; initialise it with the INIT macro of neve.h ({})",
                                   name, given->struct_bytes, sizeof(Struct)));
  }
  return {};
}

// Two's complement of 64 bits; 0 for floating point, which encode_array refuses an integer fill value of.
uint64_t read_integer(neve::DType dtype, const void* value) {
  if (!neve::is_integer(dtype)) return 0;
  const size_t bytes = neve::dtype_bytes(dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, value, bytes);
  const size_t unused_bits = 64 - 8 * bytes;
  if (!neve::is_signed(dtype)) return bits;
  return static_cast<uint64_t>(static_cast<int64_t>(bits << unused_bits) >> unused_bits);
}

Status read_options(neve::DType dtype, const neve_compress_options* struct_of_caller,
                    neve::ArrayOptions& options) {
  if (neve::is_integer(dtype)) options.bound = {neve::BoundMode::lossless, 0};
  if (struct_of_caller == nullptr) return {};
  // Programs built for neve 0.1 end before the tuning.
  NEVE_TRY(check_struct_bytes("neve_compress_options", struct_of_caller,
                              offsetof(neve_compress_options, arrangement)));
  neve_compress_options known{};
  std::memcpy(&known, struct_of_caller, std::min(sizeof known, struct_of_caller->struct_bytes));
  const neve_compress_options* const given = &known;
  const auto* bytes = reinterpret_cast<const unsigned char*>(struct_of_caller);
  if (given->struct_bytes > sizeof(*given) && std::any_of(bytes + sizeof(*given), bytes + given->struct_bytes,
                                                          [](unsigned char b) { return b != 0; })) {
    return usage_error(
        fmt::format("neve_compress_options has {} bytes, of which neve {} knows {}, and the others are set: "
                    "the program was built "
                    "for a newer neve",
                    given->struct_bytes, neve_version(), sizeof(*given)));
  }
  if (given->bound != nullptr) {
    NEVE_ASSIGN(options.bound, neve::parse_bound(given->bound));
  }
  if (given->codec != nullptr) {
    NEVE_ASSIGN(options.codec, neve::parse_codec(given->codec));
  }
  if (given->effort != nullptr) {
    NEVE_ASSIGN(options.encode.effort, neve::parse_effort(given->effort));
  }
  if (given->arrangement != nullptr) {
    NEVE_ASSIGN(options.tuning.arrangement, neve::parse_arrangement(given->arrangement));
  }
  options.tuning.unit_cells = given->unit_cells;
  options.tuning.block_cells = given->block_cells;
  options.tuning.merge_units = given->merge_units != 0;
  if (given->fill != nullptr) options.fill = *given->fill;
  if (given->integer_fill != nullptr) options.integer_fill = read_integer(dtype, given->integer_fill);
  if (given->method != nullptr) {
    NEVE_ASSIGN(options.tuning.method, neve::parse_lossless_method(given->method));
  }
  options.detect_fill = given->no_fill_detection == 0;
  NEVE_ASSIGN(options.encode.threads, thread_count(given->threads));
  return {};
}

Status compress(int dtype, int ndim, const uint64_t* shape, const void* data,
                const neve_compress_options* given, void** frame, size_t* frame_bytes) {
  if (frame == nullptr || frame_bytes == nullptr) return usage_error("frame or frame_bytes is NULL");
  if (dtype < 0 || dtype >= neve::dtypes) {
    return usage_error(
        fmt::format("dtype is {}; allowed are those of neve_dtype, NEVE_F32 to NEVE_U64", dtype));
  }
  if (ndim < 0 || ndim > NEVE_MAX_DIMS) {
    return usage_error(fmt::format("ndim is {}; 0 to {} are allowed", ndim, NEVE_MAX_DIMS));
  }
  if (ndim > 0 && shape == nullptr) return usage_error(fmt::format("shape is NULL for {} dimensions", ndim));
  const std::span<const uint64_t> sizes(shape, static_cast<size_t>(ndim));
  if (data == nullptr && std::find(sizes.begin(), sizes.end(), 0) == sizes.end()) {
    return usage_error("data is NULL for an array with values");
  }
  neve::ArrayOptions options;
  NEVE_TRY(read_options(static_cast<neve::DType>(dtype), given, options));
  NEVE_ASSIGN(const std::vector<std::byte> bytes,
              neve::encode_array(static_cast<neve::DType>(dtype), sizes, data, options));
  void* const copy = std::malloc(bytes.size());
  if (copy == nullptr) return neve::failure(fmt::format("no memory for a frame of {} bytes", bytes.size()));
  std::memcpy(copy, bytes.data(), bytes.size());
  *frame = copy;
  *frame_bytes = bytes.size();
  return {};
}

neve::Result<neve::Frame> parse(const void* frame, size_t frame_bytes) {
  if (frame == nullptr) return usage_error("frame is NULL");
  return neve::Frame::parse({static_cast<const std::byte*>(frame), frame_bytes});
}

const char* mode_name(neve::BoundMode mode) {
  switch (mode) {
    case neve::BoundMode::abs:
      return "abs";
    case neve::BoundMode::rel:
      return "rel";
    case neve::BoundMode::lossless:
      break;
  }
  return "lossless";
}

Status describe(const void* bytes, size_t frame_bytes, neve_frame_description* description) {
  if (description == nullptr) return usage_error("description is NULL");
  // Programs built for neve 0.1 end before the fill value of integers.
  NEVE_TRY(check_struct_bytes("neve_frame_description", description,
                              offsetof(neve_frame_description, integer_fill)));
  NEVE_ASSIGN(const neve::Frame frame, parse(bytes, frame_bytes));
  const neve::FrameLayout& layout = frame.layout();
  neve_frame_description d{};
  d.struct_bytes = description->struct_bytes;
  d.dtype = static_cast<neve_dtype>(frame.dtype());
  d.is_array = layout.is_array ? 1 : 0;
  d.values = layout.element_count;
  d.value_bytes = layout.element_count * neve::dtype_bytes(frame.dtype());
  d.frame_bytes = frame.header_bytes();
  for (const neve::SectionInfo& section : frame.sections()) d.frame_bytes += section.stored_bytes;
  if (layout.is_array) {
    d.ndim = static_cast<int>(layout.array_shape.size());
    std::copy(layout.array_shape.begin(), layout.array_shape.end(), d.shape);
  } else {
    d.ndim = 1;
    d.shape[0] = layout.element_count;
  }
  d.components = layout.components;
  const neve::ComponentInfo& first = frame.components().front();
  d.bound_mode = mode_name(first.asked.mode);
  d.bound_value = first.asked.mode == neve::BoundMode::lossless ? 0 : first.asked.value;
  d.bound_abs = first.bound_abs;
  d.max_abs_error = first.max_abs_error;
  d.has_fill = first.fill || first.integer_fill ? 1 : 0;
  d.fill = first.fill.value_or(0);
  d.integer_fill = first.integer_fill.value_or(0);
  std::memcpy(description, &d, std::min(sizeof d, description->struct_bytes));
  return {};
}

Status decompress(const void* bytes, size_t frame_bytes, int threads, void* out, size_t out_bytes) {
  if (out == nullptr && out_bytes > 0) return usage_error(fmt::format("out is NULL for {} bytes", out_bytes));
  NEVE_ASSIGN(const int count, thread_count(threads));
  NEVE_ASSIGN(const neve::Frame frame, parse(bytes, frame_bytes));
  return frame.decode(static_cast<std::byte*>(out), out_bytes, count);
}

}  // namespace

const char* neve_version(void) {
#define NEVE_TEXT_OF(number) #number
#define NEVE_TEXT(number) NEVE_TEXT_OF(number)
  return NEVE_TEXT(NEVE_VERSION_MAJOR) "." NEVE_TEXT(NEVE_VERSION_MINOR) "." NEVE_TEXT(NEVE_VERSION_PATCH);
#undef NEVE_TEXT
#undef NEVE_TEXT_OF
}

int neve_compress(int dtype, int ndim, const uint64_t* shape, const void* data,
                  const neve_compress_options* options, void** frame, size_t* frame_bytes) {
  return neve::capi::reported(
      [&] { return compress(dtype, ndim, shape, data, options, frame, frame_bytes); });
}

void neve_free(void* buffer) { std::free(buffer); }

int neve_frame_info(const void* frame, size_t frame_bytes, neve_frame_description* description) {
  return neve::capi::reported([&] { return describe(frame, frame_bytes, description); });
}

int neve_decompress(const void* frame, size_t frame_bytes, int threads, void* out, size_t out_bytes) {
  return neve::capi::reported([&] { return decompress(frame, frame_bytes, threads, out, out_bytes); });
}
