// SPDX-License-Identifier: BSD-3-Clause
// What this rank alone has written into a file, until a collective call puts it there: among frames, or into
// a plain file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/format/file_box.hpp"
#include "neve/status.hpp"
#include "preload/mpi/write_plan.hpp"

namespace neve::pmpi {

class Journal {
 public:
  // The bytes lie in a file without a name in the folder of `path`: they may be more than fit into memory.
  explicit Journal(std::string path) : path_(std::move(path)) {}
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  struct Entry {
    WritePlan plan;
    uint64_t stored;  // where in the journal's file
  };

  bool is_empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  // One more than the last byte written.
  uint64_t end() const { return end_; }

  // Adds an entry: `fill` calls what it is given with part after part of the plan's bytes.
  using Take = std::function<Status(ByteSpan part)>;
  Status write(const WritePlan& plan, const std::function<Status(const Take&)>& fill);
  // The bytes of an entry.
  Status read(const Entry& entry, Bytes& out) const;
  // Puts what was written there over `out`, the packed bytes of the boxes.
  Status overlay(std::span<const FileBox> boxes, std::span<std::byte> out) const;
  // Writes all of it into an open file, in the order in which it was written.
  Status replay(int descriptor, const std::string& name) const;
  void clear();

 private:
  Status read(uint64_t stored, std::span<std::byte> out) const;
  Status overlay_run(uint64_t at, std::span<std::byte> out) const;

  std::string path_;
  int descriptor_ = -1;
  uint64_t stored_ = 0, end_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace neve::pmpi
