// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "io/plotfile/file.hpp"

namespace neve::pmpi {
namespace {

// A file without a name, where the file system has such files; else one that loses its name at once.
int open_nameless(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return descriptor;
  std::string name = folder + "/.neve-journal-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

Journal::~Journal() { clear(); }

void Journal::clear() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  stored_ = end_ = 0;
  entries_.clear();
}

Status Journal::write(const WritePlan& plan, const std::function<Status(const Take&)>& fill) {
  if (descriptor_ < 0) {
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    descriptor_ = open_nameless(folder.empty() ? "." : folder);
    if (descriptor_ < 0) return failure(path_ + ": a file beside it: " + std::strerror(errno));
  }
  uint64_t end = stored_;
  NEVE_TRY(fill([&](ByteSpan part) {
    const auto at = static_cast<int64_t>(end);
    end += part.size();
    return plotfile::write_fully(descriptor_, at, part, path_);
  }));
  entries_.push_back({plan, stored_});
  stored_ = end;
  for (const FileBox& box : plan.boxes) end_ = std::max(end_, box.end());
  return {};
}

Status Journal::read(uint64_t stored, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(stored + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failure(path_ + ": reading back: " + std::strerror(n == 0 ? EIO : errno));
    done += static_cast<size_t>(n);
  }
  return {};
}

Status Journal::read(const Entry& entry, Bytes& out) const {
  out.resize(entry.plan.bytes);
  return read(entry.stored, out);
}

Status Journal::overlay_run(uint64_t at, std::span<std::byte> out) const {
  for (const Entry& entry : entries_) {
    uint64_t stored = entry.stored;
    for (const FileBox& box : entry.plan.boxes) {
      Status status;
      visit_runs(box, at, out.size(), [&](uint64_t packed, uint64_t place, uint64_t bytes) {
        if (status.ok()) status = read(stored + packed, out.subspan(place - at, bytes));
      });
      NEVE_TRY(status);
      stored += box.bytes();
    }
  }
  return {};
}

Status Journal::overlay(std::span<const FileBox> boxes, std::span<std::byte> out) const {
  if (is_empty()) return {};
  uint64_t before = 0;
  for (const FileBox& box : boxes) {
    Status status;
    visit_runs(box, 0, max_file_bytes, [&](uint64_t packed, uint64_t place, uint64_t bytes) {
      if (status.ok()) status = overlay_run(place, out.subspan(before + packed, bytes));
    });
    NEVE_TRY(status);
    before += box.bytes();
  }
  return {};
}

Status Journal::replay(int descriptor, const std::string& name) const {
  constexpr uint64_t most = uint64_t{16} << 20;
  Bytes part;
  for (const Entry& entry : entries_) {
    uint64_t stored = entry.stored;
    for (const FileBox& box : entry.plan.boxes) {
      Status status;
      visit_runs(box, 0, max_file_bytes, [&](uint64_t packed, uint64_t place, uint64_t bytes) {
        for (uint64_t done = 0; status.ok() && done < bytes; done += part.size()) {
          part.resize(std::min(most, bytes - done));
          status = read(stored + packed + done, part);
          if (!status.ok()) return;
          status = plotfile::write_fully(descriptor, static_cast<int64_t>(place + done), part, name);
        }
      });
      NEVE_TRY(status);
      stored += box.bytes();
    }
  }
  return {};
}

}  // namespace neve::pmpi
