// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/frame_file.hpp"

#include <algorithm>

#include "core/codecs/frame_values.hpp"
#include "io/plotfile/file.hpp"
#include "parallel/transfer/frame_file_reader.hpp"

namespace neve::cli {
namespace {

// Hands each entry and its frame to `take`.
template <class Take>
Status for_each_frame(const std::string& path, const FrameFileIndex& index, Take&& take) {
  NEVE_ASSIGN(const auto file, plotfile::File::open(path));
  Bytes frame;
  for (size_t i = 0; i < index.entries.size(); ++i) {
    frame.resize(index.entries[i].bytes);
    NEVE_TRY(file->read(static_cast<int64_t>(index.entries[i].at), frame));
    NEVE_TRY(take(index.entries[i], frame).in(path + ": frame " + std::to_string(i)));
  }
  return {};
}

}  // namespace

Result<bool> is_frame_file_at(const std::string& path) {
  NEVE_ASSIGN(const auto file, plotfile::File::open(path));
  Bytes beginning(static_cast<size_t>(std::min<int64_t>(8, file->size_bytes())));
  NEVE_TRY(file->read(0, beginning));
  return is_frame_file(beginning);
}

Result<FrameFileContents> describe_frame_file_at(const std::string& path) {
  FrameFileContents contents;
  NEVE_ASSIGN(contents.index, mpi::read_index(path, contents.file_bytes));
  NEVE_TRY(
      for_each_frame(path, contents.index, [&](const FrameFileEntry& entry, const Bytes& bytes) -> Status {
        NEVE_ASSIGN(const Frame frame, Frame::parse(bytes));
        const ComponentInfo& component = frame.components().front();
        if (contents.frame_bytes == 0) contents.bound = component.asked;
        contents.frame_bytes += entry.bytes;
        contents.max_abs_error = std::max(contents.max_abs_error, component.max_abs_error);
        contents.bound_abs = std::max(contents.bound_abs, component.bound_abs);
        return {};
      }));
  return contents;
}

Result<plotfile::NpyArray> read_frame_file(const std::string& path, int threads) {
  uint64_t file_bytes = 0;
  NEVE_ASSIGN(const FrameFileIndex index, mpi::read_index(path, file_bytes));
  plotfile::NpyArray array;
  array.dtype = index.dtype;
  array.shape = {index.values};
  array.values.resize(index.values * dtype_bytes(index.dtype));
  const ValueRun all{0, index.values};
  NEVE_TRY(for_each_frame(path, index, [&](const FrameFileEntry& entry, const Bytes& frame) {
    return put_values(entry, frame, index.dtype, all, array.values.data(), threads);
  }));
  return array;
}

}  // namespace neve::cli
