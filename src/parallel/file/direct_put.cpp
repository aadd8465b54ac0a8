// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/direct_put.hpp"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "io/files/write.hpp"
#include "parallel/file/space.hpp"

namespace neve::mpi {
namespace {

// Small pieces are put together to writes of this size.
constexpr size_t buffer_bytes = size_t{4} << 20;

// Bytes that follow each other in a file, in few writes.
class RegionWriter {
 public:
  RegionWriter(int file, const std::string& path) : file_(file), path_(path) {
    buffer_.reserve(buffer_bytes);
  }

  Status append(uint64_t address, std::span<const std::byte> bytes) {
    if (address != begin_ + buffer_.size() || buffer_.size() + bytes.size() > buffer_bytes) NEVE_TRY(flush());
    if (buffer_.empty()) begin_ = address;
    if (bytes.size() >= buffer_bytes) {
      NEVE_TRY(write(bytes));
      begin_ += bytes.size();
      return {};
    }
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return {};
  }
  Status flush() {
    if (buffer_.empty()) return {};
    NEVE_TRY(write(buffer_));
    begin_ += buffer_.size();
    buffer_.clear();
    return {};
  }

 private:
  // The disk begins at once with what is to be durable in the end.
  Status write(std::span<const std::byte> bytes) {
    NEVE_TRY(files::write_fully(file_, static_cast<int64_t>(begin_), bytes, path_));
    static_cast<void>(::sync_file_range(file_, static_cast<off64_t>(begin_),
                                        static_cast<off64_t>(bytes.size()), SYNC_FILE_RANGE_WRITE));
    return {};
  }

  int file_;
  const std::string& path_;
  std::vector<std::byte> buffer_;
  uint64_t begin_ = 0;  // of what is in the buffer, in the file
};

Status append_unloaded(const Piece& piece, const LoadBytes& load, RegionWriter& writer) {
  const uint64_t bytes = piece.rows.bytes();
  std::vector<std::byte> part(static_cast<size_t>(std::min<uint64_t>(bytes, buffer_bytes)));
  for (uint64_t done = 0; done < bytes; done += part.size()) {
    const std::span of_part(part.data(), static_cast<size_t>(std::min<uint64_t>(part.size(), bytes - done)));
    NEVE_TRY(load(piece.address + done, of_part));
    NEVE_TRY(writer.append(piece.address + done, of_part));
  }
  return {};
}

// Calls visit(begin, end) for each region, in the order of the file.
template <class Visit>
Status visit_regions(std::span<const Piece> pieces, const Visit& visit) {
  for (size_t i = 0; i < pieces.size();) {
    const uint64_t begin = pieces[i].address;
    uint64_t end = begin;
    for (; i < pieces.size() && pieces[i].address == end; ++i) end += pieces[i].rows.bytes();
    NEVE_TRY(visit(begin, end));
  }
  return {};
}

}  // namespace

Status put_directly(const std::string& path, std::span<const Piece> pieces, const LoadBytes& load,
                    bool is_synced, uint64_t& regions) {
  if (pieces.empty()) return {};
  std::vector<Piece> sorted(pieces.begin(), pieces.end());
  std::ranges::sort(sorted, {}, &Piece::address);
  files::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return files::system_failure("cannot open " + path);
  NEVE_TRY(visit_regions(sorted, [&](uint64_t begin, uint64_t end) {
    ++regions;
    return take_range(file.number(), path, begin, end);
  }));
  RegionWriter writer(file.number(), path);
  for (const Piece& piece : sorted) {
    if (piece.rows.first == nullptr) {
      NEVE_TRY(append_unloaded(piece, load, writer));
    } else {
      NEVE_TRY(writer.append(piece.address, {piece.rows.first, static_cast<size_t>(piece.rows.bytes())}));
    }
  }
  NEVE_TRY(writer.flush());
  if (is_synced) NEVE_TRY(files::sync_file(file.number(), path));
  return file.close(path);
}

}  // namespace neve::mpi
