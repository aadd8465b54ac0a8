// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/open_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

std::mutex mutex;
std::vector<std::shared_ptr<OpenFile>> open_files;

uint64_t framed_bytes_of(const OpenFile& file) {
  return file.writer != nullptr ? file.writer->bytes() : file.reader->bytes();
}

// Boxes that lie before the end of the pieces.
Status read_held(OpenFile& file, std::span<const FileBox> boxes, std::byte* out) {
  mpi::Moved moved;
  const int threads = settings().transfer.values.encode.threads;
  return file.writer != nullptr ? file.writer->read(boxes, out, threads, moved)
                                : file.reader->read(boxes, out, threads, moved);
}

// What MPI has written of a file that has no frames yet.
Status read_native(const OpenFile& file, std::span<const FileBox> boxes, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  const int descriptor = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failure(file.path + ": " + std::strerror(errno));
  uint64_t before = 0;
  bool is_well = true;
  for (const FileBox& box : boxes) {
    visit_runs(box, 0, max_file_bytes, [&](uint64_t packed, uint64_t place, uint64_t bytes) {
      is_well =
          is_well && ::pread(descriptor, out.data() + before + packed, bytes, static_cast<off_t>(place)) >= 0;
    });
    before += box.bytes();
  }
  const int error = errno;
  ::close(descriptor);
  return is_well ? Status() : failure(file.path + ": " + std::strerror(error));
}

uint64_t native_bytes_of(const OpenFile& file) {
  MPI_Offset bytes = 0;
  return MPI_File_get_size(file.native, &bytes) == MPI_SUCCESS ? static_cast<uint64_t>(bytes) : 0;
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
  // Programs open a file again and again.
  static std::mutex said_mutex;
  static std::set<std::pair<std::string, Reason>> said;
  {
    const std::lock_guard lock(said_mutex);
    if (!said.emplace(file.path, reason).second) return;
  }
  say(file.path + ": " + std::string(text_of(reason)) + "; the file is passed through as it is");
}

uint64_t size_of(OpenFile& file) {
  const uint64_t bytes = file.state == State::framed ? framed_bytes_of(file) : native_bytes_of(file);
  return std::max({bytes, file.min_bytes, file.journal.end()});
}

Status read_frame_bytes(OpenFile& file, std::span<const FileBox> boxes, std::span<std::byte> out) {
  if (file.state != State::framed) return read_native(file, boxes, out);
  const uint64_t end = framed_bytes_of(file);
  const auto is_before_end = [&](const FileBox& box) { return box.end() <= end; };
  if (std::all_of(boxes.begin(), boxes.end(), is_before_end)) return read_held(file, boxes, out.data());
  // What lies behind the pieces is what nobody wrote.
  std::fill(out.begin(), out.end(), std::byte{0});
  uint64_t before = 0;
  std::vector<FileBox> parts;
  for (const FileBox& box : boxes) {
    parts.clear();
    append_byte_slice(box, 0, bytes_of_box_before(box, end), parts);
    NEVE_TRY(read_held(file, parts, out.data() + before));
    before += box.bytes();
  }
  return {};
}

Status read_boxes(OpenFile& file, std::span<const FileBox> boxes, std::span<std::byte> out) {
  NEVE_TRY(read_frame_bytes(file, boxes, out));
  return file.journal.overlay(boxes, out);
}

}  // namespace neve::pmpi
