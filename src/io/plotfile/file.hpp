// SPDX-License-Identifier: BSD-3-Clause
// Files as values: opened once, read at an offset, every failure a Status that names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/files/write.hpp"
#include "neve/status.hpp"

namespace neve::plotfile {

class File {
 public:
  // Regular files only: a directory or a pipe under a data file's name is refused here, not half-way.
  static Result<std::shared_ptr<File>> open(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  int64_t size_bytes() const { return size_bytes_; }

  // Fills `out` from `offset` on. A file that ends before is corrupt: whoever asks learned the size
  // elsewhere.
  Status read(int64_t offset, std::span<std::byte> out) const;
  // Two outputs that follow each other in the file.
  Status read(int64_t offset, std::span<std::byte> first, std::span<std::byte> second) const;

 private:
  File(std::string path, int fd, int64_t size_bytes);

  std::string path_;
  int fd_;
  int64_t size_bytes_;
};

// The whole file as text.
Result<std::string> read_text(const std::string& path);

using files::sync_path;
using files::write_fully;

}  // namespace neve::plotfile
