// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/open_file.hpp"

#include <cstring>
#include <filesystem>

#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

std::mutex mutex;
std::vector<std::shared_ptr<OpenFile>> open_files;

// The values of a run that lies before the last of the frames.
Status read_values(OpenFile& file, uint64_t first, uint64_t count, std::byte* out) {
  mpi::Moved moved;
  const int threads = settings().transfer.values.encode.threads;
  return file.writer != nullptr ? file.writer->read(first, count, out, threads, moved)
                                : file.reader->read(first, count, out, threads, moved);
}

uint64_t values_of(const OpenFile& file) {
  return file.writer != nullptr ? file.writer->values() : file.reader->index().values;
}

}  // namespace

Outcome own(const Status& status, bool is_to_say) {
  if (status.ok()) return {};
  if (is_to_say) say(status.message());
  return {MPI_ERR_IO, true};
}

std::shared_ptr<OpenFile> find_open(MPI_File handle) {
  const std::lock_guard lock(mutex);
  for (const auto& file : open_files) {
    if (file->handle == handle) return file;
  }
  return nullptr;
}

std::vector<std::shared_ptr<OpenFile>> find_open(const std::string& path) {
  const std::lock_guard lock(mutex);
  std::vector<std::shared_ptr<OpenFile>> found;
  for (const auto& file : open_files) {
    std::error_code error;
    if (file->path == path || std::filesystem::equivalent(file->path, path, error)) found.push_back(file);
  }
  return found;
}

void add_open(std::shared_ptr<OpenFile> file) {
  const std::lock_guard lock(mutex);
  open_files.push_back(std::move(file));
}

void remove_open(MPI_File handle) {
  const std::lock_guard lock(mutex);
  std::erase_if(open_files, [&](const auto& file) { return file->handle == handle; });
}

void say_plain(OpenFile& file, Reason reason) {
  if (file.has_said || reason == Reason::none) return;
  file.has_said = true;
  if (file.comm && file.comm->rank() != 0) return;
  say(file.path + ": " + std::string(text_of(reason)) + "; the file is passed through as it is");
}

std::optional<DType> dtype_of(const OpenFile& file) {
  if (file.writer != nullptr) return file.writer->dtype();
  return file.reader->index().dtype;
}

uint64_t size_of(OpenFile& file) {
  const auto dtype = dtype_of(file);
  const uint64_t bytes = dtype ? values_of(file) * dtype_bytes(*dtype) : 0;
  return std::max({bytes, file.min_bytes, file.journal.end()});
}

Status read_frame_bytes(OpenFile& file, uint64_t at, std::span<std::byte> out) {
  const auto dtype = dtype_of(file);
  const uint64_t value_bytes = dtype ? dtype_bytes(*dtype) : 1;
  const uint64_t held_bytes = dtype ? values_of(file) * value_bytes : 0;
  const uint64_t end = std::min(at + out.size(), held_bytes);
  const uint64_t here = end > at ? end - at : 0;  // in frames; behind them is what nobody wrote
  std::memset(out.data() + here, 0, out.size() - here);
  if (here > 0 && at % value_bytes == 0 && here % value_bytes == 0) {
    NEVE_TRY(read_values(file, at / value_bytes, here / value_bytes, out.data()));
  } else if (here > 0) {
    const uint64_t first = at / value_bytes;
    Bytes whole(((end + value_bytes - 1) / value_bytes - first) * value_bytes);
    NEVE_TRY(read_values(file, first, whole.size() / value_bytes, whole.data()));
    std::memcpy(out.data(), whole.data() + (at - first * value_bytes), here);
  }
  return {};
}

Status read_bytes(OpenFile& file, uint64_t at, std::span<std::byte> out) {
  NEVE_TRY(read_frame_bytes(file, at, out));
  return file.journal.overlay(at, out);
}

}  // namespace neve::pmpi
