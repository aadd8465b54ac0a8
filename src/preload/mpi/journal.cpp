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

Status Journal::write(uint64_t at, ByteSpan bytes) {
  if (descriptor_ < 0) {
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    descriptor_ = open_nameless(folder.empty() ? "." : folder);
    if (descriptor_ < 0) return failure(path_ + ": a file beside it: " + std::strerror(errno));
  }
  NEVE_TRY(plotfile::write_fully(descriptor_, static_cast<int64_t>(stored_), bytes, path_));
  entries_.push_back({at, bytes.size(), stored_});
  stored_ += bytes.size();
  end_ = std::max(end_, at + bytes.size());
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

Status Journal::overlay(uint64_t at, std::span<std::byte> out) const {
  for (const Entry& entry : entries_) {
    const uint64_t begin = std::max(entry.at, at), end = std::min(entry.at + entry.bytes, at + out.size());
    if (begin >= end) continue;
    NEVE_TRY(read(entry.stored + (begin - entry.at), out.subspan(begin - at, end - begin)));
  }
  return {};
}

Status Journal::replay(int descriptor, const std::string& name) const {
  constexpr uint64_t most = uint64_t{16} << 20;
  Bytes part;
  for (const Entry& entry : entries_) {
    for (uint64_t done = 0; done < entry.bytes; done += part.size()) {
      part.resize(std::min(most, entry.bytes - done));
      NEVE_TRY(read(entry.stored + done, part));
      NEVE_TRY(plotfile::write_fully(descriptor, static_cast<int64_t>(entry.at + done), part, name));
    }
  }
  return {};
}

}  // namespace neve::pmpi
