// SPDX-License-Identifier: BSD-3-Clause
// Bytes that are put aside because memory does not hold them, and that nobody is to keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/files/descriptor.hpp"
#include "neve/status.hpp"

namespace neve::files {

class ScratchFile {
 public:
  // A file that is not there yet. It loses its name at once, so that nothing of it stays, whatever ends the
  // process. `path`: in a private folder, where it has the room of the file that is made there.
  static Result<ScratchFile> make(const std::string& path);
  // An open file that has no name. `path`: for messages.
  ScratchFile(Descriptor nameless, std::string path) : file_(std::move(nameless)), path_(std::move(path)) {}

  // Both are safe in several threads, for ranges that do not meet.
  Status write(uint64_t offset, std::span<const std::byte> bytes) const;
  // A file that ends before is a failure.
  Status read(uint64_t offset, std::span<std::byte> out) const;
  // Gives back the room of all that was written.
  Status clear() const;

 private:
  Descriptor file_;
  std::string path_;  // for messages
};

}  // namespace neve::files
