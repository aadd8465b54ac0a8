// SPDX-License-Identifier: BSD-3-Clause
// neve.h over frame.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bindings/c/bound_text.hpp"
#include "bindings/c/last_error.hpp"
#include "bindings/c/options.hpp"
#include "core/format/frame_header.hpp"
#include "neve/frame.hpp"
#include "neve/neve.h"

namespace {

using neve::Status;
using neve::usage_error;

static_assert(NEVE_MAX_DIMS == neve::max_array_rank);

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
  NEVE_TRY(neve::capi::read_options(static_cast<neve::DType>(dtype), given, nullptr, options));
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

Status describe(const void* bytes, size_t frame_bytes, neve_frame_description* description) {
  if (description == nullptr) return usage_error("description is NULL");
  // Programs built for neve 0.1 end before the fill value of integers.
  NEVE_TRY(neve::capi::check_struct_bytes("neve_frame_description", "neve.h", description,
                                          offsetof(neve_frame_description, integer_fill)));
  if (bytes == nullptr) return usage_error("frame is NULL");
  NEVE_ASSIGN(const neve::FrameDescription frame,
              neve::describe_frame({static_cast<const std::byte*>(bytes), frame_bytes}));
  const neve::FrameShape& shape = frame.shape;
  neve_frame_description d{};
  d.struct_bytes = description->struct_bytes;
  d.dtype = static_cast<neve_dtype>(frame.dtype);
  d.is_array = shape.is_array ? 1 : 0;
  d.values = shape.element_count;
  d.value_bytes = shape.element_count * neve::dtype_bytes(frame.dtype);
  d.frame_bytes = frame.frame_bytes;
  if (shape.is_array) {
    d.ndim = static_cast<int>(shape.array_shape.size());
    std::copy(shape.array_shape.begin(), shape.array_shape.end(), d.shape);
  } else {
    d.ndim = 1;
    d.shape[0] = shape.element_count;
  }
  d.components = shape.components;
  const neve::ComponentInfo& first = frame.components.front();
  d.bound_mode = neve::capi::mode_name(first.asked.mode);
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
  NEVE_ASSIGN(const int count, neve::capi::thread_count(threads));
  NEVE_ASSIGN(const neve::Frame frame, parse(bytes, frame_bytes));
  NEVE_TRY(frame.check_stands_alone(frame_bytes));
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
