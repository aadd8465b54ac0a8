// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "io/plotfile/file.hpp"
#include "neve/stream.hpp"

namespace neve::cli {

Result<std::vector<std::byte>> read_file(const std::string& path) {
  NEVE_ASSIGN(const std::shared_ptr<plotfile::File> file, plotfile::File::open(path));
  std::vector<std::byte> bytes(static_cast<size_t>(file->size_bytes()));
  NEVE_TRY(file->read(0, bytes));
  return bytes;
}

namespace {

Result<DecodedArray> decode_frame_array(std::span<const std::byte> bytes, int threads) {
  NEVE_ASSIGN(const Frame frame, Frame::parse(bytes));
  NEVE_TRY(frame.check_stands_alone(bytes.size()));
  const FrameShape& shape = frame.shape();
  if (shape.components != 1 || frame.box_count() > 1 || shape.is_split) {
    return usage_error(fmt::format("the frame holds {} boxes of {} components, not one array",
                                   frame.box_count(), shape.components));
  }
  DecodedArray decoded;
  decoded.array.dtype = frame.dtype();
  decoded.array.shape = shape.array_shape;
  decoded.array.values.resize(shape.element_count * dtype_bytes(frame.dtype()));
  NEVE_TRY(frame.decode(decoded.array.values.data(), decoded.array.values.size(), threads));
  decoded.bound_abs = frame.components().front().bound_abs;
  decoded.fill = frame.components().front().fill;
  decoded.codec = "none";
  uint64_t max_cells = 0;
  for (const SectionInfo& section : frame.sections()) {
    if (section.cells < max_cells) continue;
    max_cells = section.cells;
    decoded.codec = codec_name(section.codec);
  }
  return decoded;
}

Result<DecodedArray> decode_stream_array(std::span<const std::byte> bytes) {
  NEVE_ASSIGN(const StreamContents contents, describe_stream(bytes));
  DecodedArray decoded;
  decoded.array.dtype = contents.info.dtype;
  decoded.array.shape = contents.info.shape;
  decoded.array.values.resize(contents.values * dtype_bytes(contents.info.dtype));
  NEVE_TRY(decode_stream(bytes, decoded.array.values.data(), decoded.array.values.size()));
  for (const StreamBlock& block : contents.blocks) {
    decoded.bound_abs = std::max(decoded.bound_abs, block.bound_abs);
  }
  decoded.fill = contents.info.fill;
  decoded.codec = "stream";
  return decoded;
}

}  // namespace

Status check_is_compressed(std::span<const std::byte> bytes, const std::string& path,
                           const std::string& kinds) {
  constexpr std::string_view magic = "NEVE";
  const bool is_frame =
      bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
  if (is_frame || is_stream(bytes)) return {};
  return {Code::corrupt, fmt::format("{} is of no kind that is read here; allowed: {}", path, kinds)};
}

Result<DecodedArray> decode_compressed(std::span<const std::byte> bytes, int threads) {
  return is_stream(bytes) ? decode_stream_array(bytes) : decode_frame_array(bytes, threads);
}

}  // namespace neve::cli
