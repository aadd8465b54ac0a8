// SPDX-License-Identifier: BSD-3-Clause
#include "cli/array_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mpi/temporary.hpp"
#include "neve/stream.hpp"
#include "plotfile/file.hpp"

namespace neve::cli {

Result<std::vector<std::byte>> read_file(const std::string& path) {
  NEVE_ASSIGN(const std::shared_ptr<plotfile::File> file, plotfile::File::open(path));
  std::vector<std::byte> bytes(static_cast<size_t>(file->size_bytes()));
  NEVE_TRY(file->read(0, bytes));
  return bytes;
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  NEVE_ASSIGN(mpi::Temporary temporary, mpi::Temporary::beside(path, mpi::Temporary::Kind::file));
  const int file = ::open(temporary.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return failure(fmt::format("cannot create {}: {}", temporary.path(), std::strerror(errno)));
  Status written = plotfile::write_fully(file, 0, bytes, path);
  if (::close(file) != 0 && written.ok()) {
    written = failure(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  NEVE_TRY(written);
  return temporary.commit();
}

namespace {

Result<DecodedArray> decode_frame_array(std::span<const std::byte> bytes, int threads) {
  NEVE_ASSIGN(const Frame frame, Frame::parse(bytes));
  const FrameLayout& layout = frame.layout();
  if (layout.components != 1 || layout.boxes.size() > 1 || layout.is_split) {
    return usage_error(fmt::format("the frame holds {} boxes of {} components, not one array",
                                   layout.boxes.size(), layout.components));
  }
  DecodedArray decoded;
  decoded.array.dtype = frame.dtype();
  decoded.array.shape = layout.array_shape;
  decoded.array.values.resize(layout.element_count * dtype_bytes(frame.dtype()));
  NEVE_TRY(frame.decode(decoded.array.values.data(), decoded.array.values.size(), threads));
  decoded.bound_abs = frame.components().front().bound_abs;
  decoded.fill = frame.components().front().fill;
  decoded.codec = "none";
  uint64_t most_cells = 0;
  for (const SectionInfo& section : frame.sections()) {
    if (section.cells < most_cells) continue;
    most_cells = section.cells;
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

Result<DecodedArray> decode_compressed(std::span<const std::byte> bytes, int threads) {
  return is_stream(bytes) ? decode_stream_array(bytes) : decode_frame_array(bytes, threads);
}

}  // namespace neve::cli
